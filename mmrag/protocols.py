"""The contracts of the replaceable parts: one method each, so that a fake is five lines.

Everything is structural (`typing.Protocol`): a class that has the method is the part. What a
search may offer besides is a protocol of its own, which whoever uses it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from mmrag.errors import SpecError
from mmrag.files.images import LazyImage
from mmrag.records import Evidence, Json, JudgeItem, Query, Record, Reply, Usage, Verdict
from mmrag.tools import CallRequest, Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mmrag.metrics.bert_score import TokenVectors
    from mmrag.passages import PassageOptions


class Agent(Protocol):
    """The thing under test."""

    async def answer(self, query: Query) -> Reply:
        """Answer one turn. On failure raise: the engine types it. Never return an error as text."""
        ...


class Message(Record, frozen=True, kw_only=True):
    """One message to a model."""

    role: str
    """system, user, assistant, or tool: what a call gave."""
    text: str
    images: tuple[LazyImage, ...] = ()
    calls: tuple[CallRequest, ...] = ()
    """Of an assistant: the tools that it asked for."""
    call_id: str = ""
    """Of a tool: the id of the call that this answers."""


class GenerateOptions(Record, frozen=True, kw_only=True):
    """How a model is to generate."""

    max_tokens: int = 75
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    json_schema: dict[str, Any] | None = None
    """Ask for structured output where the endpoint offers it."""
    tools: tuple[Json, ...] = ()
    """Schemas of the tools that the model may ask for (`Tool.schema`)."""


class Completion(Record, frozen=True, kw_only=True):
    """What a model generated."""

    text: str
    usage: Usage = Usage()
    model: str = ""
    """Name and revision as the server reported it."""
    finish: str = "stop"
    logprobs: tuple[tuple[str, float], ...] = ()
    """Token and log-probability, when asked for."""
    calls: tuple[CallRequest, ...] = ()
    """Tools that the model wants called before it goes on."""


class Model(Protocol):
    """A language or vision-language model."""

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """Generate one completion. Raises `ServiceError` after bounded retries."""
        ...


class ImageSearch(Protocol):
    """Search of the image knowledge graph. Batch first; safe to call from several threads."""

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """The k best items for each picture, best first."""
        ...


@runtime_checkable
class WholeImageSearch(ImageSearch, Protocol):
    """An image search that can leave regions out."""

    def search_whole(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """By the whole picture alone, as the published index is used."""
        ...


@runtime_checkable
class VectorImageSearch(ImageSearch, Protocol):
    """An image search that also takes vectors of its own encoder."""

    def search_vectors(
        self, vectors: NDArray[np.float32], k: int = 30
    ) -> list[tuple[Evidence, ...]]:
        """The k best items for each vector."""
        ...


class WebSearch(Protocol):
    """Search of web pages. Batch first; safe to call from several threads."""

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best passages for each query, best first, no page twice."""
        ...


@runtime_checkable
class NearestWebSearch(WebSearch, Protocol):
    """A web search that can also rank by its vectors alone."""

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> list[tuple[Evidence, ...]]:
        """By cosine alone, as the published index is used."""
        ...


class Encoder(Protocol):
    """Turns pictures or texts into unit vectors."""

    @property
    def id(self) -> str:
        """Name and revision; part of every index's fingerprint."""
        ...

    def encode(self, items: Sequence[Any]) -> NDArray[np.float32]:
        """One L2-normalised row per item."""
        ...


@runtime_checkable
class TokenEncoder(Protocol):
    """A text encoder that also gives a vector per token, as BERTScore compares them."""

    @property
    def token_id(self) -> str:
        """Name, revision and layer: whatever changes these vectors."""
        ...

    def token_vectors(self, items: Sequence[str]) -> list[TokenVectors]:
        """One L2-normalised row per token of each text."""
        ...


class Reranker(Protocol):
    """Scores passages against a query, higher is better."""

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in the given order."""
        ...


class Judge(Protocol):
    """Decides whether a reply is right."""

    @property
    def id(self) -> str:
        """Name, version and a hash of whatever steers it; stands in every one of its verdicts."""
        ...

    async def judge(self, item: JudgeItem) -> Verdict:
        """One verdict. A judge that cannot decide returns `unscored` with the reason."""
        ...


class Resources(msgspec.Struct, kw_only=True):
    """What an agent's factory may draw on. Anything may be absent: it says what it misses."""

    image_search: ImageSearch | None = None
    web_search: WebSearch | None = None
    model: Callable[[str], Model] | None = None
    """Model spec → client."""
    tools: tuple[Tool, ...] = ()
    """Functions that an agent may call, or give to a model to call (`agents/tool_loop.py`)."""
    pages: Callable[[PassageOptions], WebSearch] | None = None
    """A search over the run's pages (and over what sessions bring), cut and ranked another way."""
    seed: int = 0

    def client(self, spec: str) -> Model:
        """The client of a model; `SpecError` where none can be made."""
        if self.model is None:
            raise SpecError(f"model={spec}: no models are available here.")
        return self.model(spec)
