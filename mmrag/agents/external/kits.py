"""Agents written for the public CRAG-MM kits, unchanged.

The kits call `batch_generate_response(queries, images, message_histories)`; the 2026 kit adds
`rag_context_list=` and `domains=`. The 2025 kit makes `Agent(search_pipeline=…)`, the 2026 kit
`Agent(model_name=…, is_multi_turn=…)`, and both ask for a batch size of 1 to 16 through
`get_batch_size()`. Here turns of different conversations that are waiting at the same moment form
the batch; an empty batch never reaches the agent.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mmrag.agents.external.adapters import as_reply
from mmrag.agents.external.foreign_code import ForeignCode
from mmrag.agents.external.kit_context import Context, context_builder
from mmrag.agents.external.kit_loader import load_kit_agent
from mmrag.errors import AgentError, SpecError
from mmrag.protocols import Resources
from mmrag.records import Query, Reply
from mmrag.search.serving.public_package import UnifiedSearchPipeline
from mmrag.search.session_passages import set_searched_passages
from mmrag.torchvision_fix import ensure_torchvision

if TYPE_CHECKING:
    from PIL.Image import Image

_GATHER = 0.02
"""Seconds that a batch waits for other conversations."""

_SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}


def kit(*, resources: Resources, name: str, rag_context: str = "off", **options: str) -> KitAgent:
    """`kit:name=agents.my_agent/MyAgent`; other options go to the agent, `model_name=…` say.

    `rag_context=on` fills `rag_context_list` as the 2026 kit does, one text for each query.
    """
    if rag_context not in ("on", "off"):
        raise SpecError(f"rag_context={rag_context}: on or off.")
    _stand_in(resources)
    ensure_torchvision()  # theirs comes with transformers and vllm, which import it
    made = load_kit_agent(name)
    pipeline = SearchPipeline(resources)
    context = context_builder(pipeline) if rag_context == "on" else None
    return KitAgent(made(**_arguments(made, pipeline, options)), context)


def takes_search(name: str) -> bool:
    """Whether an agent says by its constructor that it searches: one that takes anything is given
    the search as well, but need not use it."""
    _stand_in(SearchPipeline.current)
    ensure_torchvision()
    return "search_pipeline" in inspect.signature(load_kit_agent(name)).parameters


class SearchPipeline(UnifiedSearchPipeline):
    """What the kits call `search_pipeline`: the public package's call over a run's searches.

    Where the package is not installed it also stands in for `cragmm_search.search`, so that agents
    that import it run. Made by an agent itself, with whatever names of models and data sets, it
    searches what the run searches.
    """

    current = Resources()
    """Of the kit agent that was made last."""

    def __init__(self, resources: Resources | None = None, **_published: Any) -> None:
        searched = resources or self.current
        self._images, self._web = searched.image_search, searched.web_search
        self._regions = False


class KitAgent:
    """Batches turns for `batch_generate_response`, as many as `get_batch_size()` allows."""

    def __init__(self, agent: Any, context: Context | None = None) -> None:
        if not callable(getattr(agent, "batch_generate_response", None)):
            raise SpecError(
                f"{type(agent).__name__} has no batch_generate_response, so it is not a kit agent."
            )
        self.agent = agent
        self._outside = ForeignCode()
        self._context = context
        size = agent.get_batch_size() if hasattr(agent, "get_batch_size") else 1
        self.batch_size = max(1, min(16, int(size)))
        """As the kits clip it."""
        self.capacity = self.batch_size
        """One batch at a time; who waits for the next one waits off the clock."""
        self.turns_per_call = self.batch_size
        """A call may take a turn's time for each turn that the agent takes at once."""
        wanted = inspect.signature(agent.batch_generate_response).parameters
        anything = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        self._takes_context = anything or "rag_context_list" in wanted
        self._takes_domains = anything or "domains" in wanted
        self._waiting: list[tuple[Query, asyncio.Future[Reply]]] = []
        self._running: asyncio.Task[None] | None = None
        self._call: asyncio.Task[list[Reply]] | None = None

    async def ready(self) -> None:
        """Wait for the end of the call that is going on: a turn asked now is not part of it."""
        while self._call is not None and not self._call.done():
            await asyncio.wait([self._call])

    async def answer(self, query: Query) -> Reply:
        """Wait for company for a moment, then be answered together."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((query, future))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._serve())
        return await future

    async def _serve(self) -> None:
        while self._waiting:
            if len(self._waiting) < self.batch_size:
                await asyncio.sleep(_GATHER)
            batch = self._next_batch()
            if not batch:
                continue
            call = self._call = asyncio.create_task(self._asked([q for q, _ in batch]))
            wanted = asyncio.gather(*(f for _, f in batch), return_exceptions=True)
            await asyncio.wait((call, wanted), return_when=asyncio.FIRST_COMPLETED)
            if not call.done():  # all turns of the batch have timed out
                call.cancel()
                continue
            problem = call.exception()
            replies = [None] * len(batch) if problem else call.result()
            for (_, future), reply in zip(batch, replies, strict=True):
                if future.done():
                    continue
                if reply is None:
                    future.set_exception(problem or AgentError("no reply"))
                else:
                    future.set_result(reply)
            await wanted

    def _next_batch(self) -> list[tuple[Query, asyncio.Future[Reply]]]:
        """Turns that may be asked at once: they search the same."""
        first = self._waiting[: self.batch_size]
        alike = [(q, f) for q, f in first if q.passages == first[0][0].passages]
        taken = {id(future) for _, future in alike}
        self._waiting = [pair for pair in self._waiting if id(pair[1]) not in taken]
        return [(q, f) for q, f in alike if not f.done()]

    async def _asked(self, queries: Sequence[Query]) -> list[Reply]:
        set_searched_passages(queries[0].passages, queries[0].handed)
        said = await self._outside.call(lambda: self._ask(queries))
        return [as_reply(text) for text in said]

    def _ask(self, queries: Sequence[Query]) -> list[Any]:
        keywords: dict[str, Any] = {}
        if self._takes_context:
            keywords["rag_context_list"] = [self._context_of(q) for q in queries]
        if self._takes_domains:
            keywords["domains"] = [q.domain or "other" for q in queries]
        said = self.agent.batch_generate_response(
            [q.text for q in queries],
            [_picture_of(q) for q in queries],
            [_messages(q) for q in queries],
            **keywords,
        )
        if not isinstance(said, list | tuple) or len(said) != len(queries):
            shown = (
                f"{len(said)} replies" if isinstance(said, list | tuple) else type(said).__name__
            )
            raise AgentError(f"{shown} for {len(queries)} queries; return one text for each.")
        return list(said)

    def _context_of(self, query: Query) -> str:
        return "" if self._context is None else self._context(query.text, _picture_of(query))


def _picture_of(query: Query) -> Image:
    """The picture; a grey one where there is none, because kits give their agents always one."""
    if query.image is not None:
        return query.image.pil()
    from PIL import Image as pil

    return pil.new("RGB", (336, 336), (128, 128, 128))


def _messages(query: Query) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = []
    for exchange in query.history:
        messages += [
            {"role": "user", "content": exchange.query},
            {"role": "assistant", "content": exchange.reply},
        ]
    return messages


def _stand_in(resources: Resources) -> None:
    """Let `cragmm_search.search` be imported where the package is not installed."""
    SearchPipeline.current = resources
    if "cragmm_search" in sys.modules or find_spec("cragmm_search") is not None:
        return
    package, module = ModuleType("cragmm_search"), ModuleType("cragmm_search.search")
    package.__path__ = []
    vars(package)["search"] = module
    vars(module)["UnifiedSearchPipeline"] = SearchPipeline
    sys.modules |= {"cragmm_search": package, "cragmm_search.search": module}


def _arguments(
    made: Callable[..., Any], pipeline: SearchPipeline, options: Mapping[str, str]
) -> dict[str, Any]:
    """What the agent is made with, all by name: the search where it takes one, and the options."""
    wanted = inspect.signature(made).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
    given: dict[str, Any] = {}
    if "search_pipeline" in wanted or anything:
        given["search_pipeline"] = pipeline
    if "is_multi_turn" in wanted:  # the 2026 kit says so of conversations
        given["is_multi_turn"] = True
    unknown = [name for name in options if name not in wanted and not anything]
    if unknown:
        known = ", ".join(name for name in wanted if name != "search_pipeline") or "none"
        raise SpecError(f"the agent has no option {unknown[0]!r}; it has: {known}.")
    for name, text in options.items():
        default = True if name == "is_multi_turn" else getattr(wanted.get(name), "default", None)
        given[name] = _typed(name, text, default)
    return given


def _typed(name: str, text: str, default: object) -> Any:
    """An option as the type that its default has."""
    if isinstance(default, bool):
        if text.lower() not in _SWITCH:
            raise SpecError(f"{name}={text}: on or off.")
        return _SWITCH[text.lower()]
    if isinstance(default, int | float):
        try:
            return type(default)(text)
        except ValueError as error:
            raise SpecError(f"{name}={text}: a number is wanted.") from error
    return text
