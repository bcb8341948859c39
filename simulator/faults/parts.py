"""Searches and models that fail in the turns that a fault meets, and are themselves in all others.

They stand outside of any cache: what goes wrong is never kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from mmrag.errors import ServiceError, UsageError
from mmrag.images import LazyImage
from mmrag.protocols import (
    Completion,
    GenerateOptions,
    ImageSearch,
    Message,
    Model,
    NearestWebSearch,
    RegionImageSearch,
    Resources,
    VectorImageSearch,
    WebSearch,
    WholeImageSearch,
)
from mmrag.records import Evidence
from simulator.faults import turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

Found = list[tuple[Evidence, ...]]

SLOW = 3.0
"""Seconds that a slow part takes longer."""

_NEVER = 1e9


def with_faults(resources: Resources) -> Resources:
    """The same parts, able to fail."""
    web, pictures, models = resources.web_search, resources.image_search, resources.model
    pages = resources.pages
    return msgspec.structs.replace(
        resources,
        image_search=None if pictures is None else FailingImageSearch(pictures),
        web_search=None if web is None else FailingWebSearch(web),
        model=None if models is None else lambda spec: FailingModel(models(spec)),
        pages=None if pages is None else lambda cut: FailingWebSearch(pages(cut)),
    )


class FailingWebSearch:
    """A web search that fails where a fault says so."""

    def __init__(self, search: WebSearch) -> None:
        self._search = search

    def search_text(self, queries: Sequence[str], k: int = 50) -> Found:
        """The k best passages for each query."""
        return _searched("web", self._search.search_text, queries, k)

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> Found:
        """The same by cosine alone, where the search behind it can."""
        search = self._search
        ask = search.search_nearest if isinstance(search, NearestWebSearch) else search.search_text
        return _searched("web", ask, queries, k)


class FailingImageSearch:
    """An image search that fails where a fault says so."""

    def __init__(self, search: ImageSearch) -> None:
        self._search = search

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> Found:
        """The k best items for each picture."""
        return _searched("pictures", self._search.search_images, images, k)

    def search_regions(self, images: Sequence[LazyImage], k: int = 30) -> Found:
        """By regions alone, where the search behind it can."""
        own = self._search
        ask = own.search_regions if isinstance(own, RegionImageSearch) else own.search_images
        return _searched("pictures", ask, images, k)

    def search_whole(self, images: Sequence[LazyImage], k: int = 30) -> Found:
        """By whole pictures, where the search behind it can."""
        own = self._search
        ask = own.search_whole if isinstance(own, WholeImageSearch) else own.search_images
        return _searched("pictures", ask, images, k)

    def search_vectors(self, vectors: NDArray[Any], k: int = 30) -> Found:
        """By vectors, where the search behind it can."""
        own = self._search
        if not isinstance(own, VectorImageSearch):
            raise UsageError("this image search takes pictures only, no embeddings.")
        return _searched("pictures", lambda _rows, k: own.search_vectors(vectors, k), [*vectors], k)


class FailingModel:
    """A model that fails where a fault says so."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """Generate one completion, or what comes instead of it."""
        what = turn.now("model")
        if what in ("busy", "down"):
            code = "429: too many requests" if what == "busy" else "503: service unavailable"
            raise ServiceError(f"the model answers HTTP {code} (fault model-{what}).")
        if what in ("slow", "hang"):
            await asyncio.sleep(SLOW if what == "slow" else _NEVER)
        said = await self._model.generate(messages, options)
        if what == "garbage":
            return msgspec.structs.replace(said, text=_senseless(said.text), logprobs=())
        if what == "empty":
            return msgspec.structs.replace(said, text="", logprobs=())
        if what == "cut":
            half = said.text[: len(said.text) // 2]
            return msgspec.structs.replace(said, text=half, finish="length", logprobs=())
        return said


def _searched(
    part: str, ask: Callable[[Sequence[T], int], Found], items: Sequence[T], k: int
) -> Found:
    what = turn.now(part)
    if what == "failing":
        raise ServiceError(f"the search of {part} failed (fault {part}-failing).")
    if what == "empty":
        return [() for _ in items]
    if what == "slow":
        time.sleep(SLOW)
    if what == "wrong":
        return [found[k : 2 * k] for found in ask(items, 2 * k)]
    found = ask(items, k)
    return [_stale(hits) for hits in found] if what == "stale" else found


def _stale(hits: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Without the newer half of what is dated; without the best where nothing is."""
    dates = sorted(hit.date for hit in hits if hit.date)
    if not dates:
        return hits[1:]
    known = dates[(len(dates) - 1) // 2]
    return tuple(hit for hit in hits if not hit.date or hit.date <= known)


def _senseless(text: str) -> str:
    """As long as the text, of its letters, each word turned round."""
    return " ".join(word[::-1] for word in reversed(text.split())) + " \ufffd"
