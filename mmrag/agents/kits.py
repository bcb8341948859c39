"""Agents written for the public CRAG-MM kits, unchanged.

The kits call `batch_generate_response(queries, images, message_histories)`; the 2026 kit adds
`rag_context_list=` and `domains=`. They construct `Agent(search_pipeline)` and ask for a batch size
of 1 to 16 through `get_batch_size()`. Here turns of different conversations that are waiting at
the same moment form the batch; an empty batch never reaches the agent.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Sequence
from typing import Any

from mmrag.agents.adapters import as_reply
from mmrag.errors import AgentError, SpecError
from mmrag.protocols import Resources
from mmrag.records import Query, Reply
from mmrag.search.public import UnifiedSearchPipeline

_GATHER = 0.02
"""Seconds that a batch waits for other conversations."""


def kit(*, resources: Resources, name: str, rag_context: str = "off", **options: str) -> KitAgent:
    """`kit:name=agents.my_agent/MyAgent`. `rag_context=on` fills `rag_context_list`."""
    module, _, attribute = name.replace("/", ":").rpartition(":")
    if not module:
        raise SpecError(f"kit:name={name}: write package.module/Class.")
    try:
        made = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SpecError(f"kit:name={name}: {error}. Is the kit's folder on PYTHONPATH?") from error
    wanted = inspect.signature(made).parameters
    takes = [p for p in wanted.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    pipeline = SearchPipeline(resources)
    agent = made(pipeline, **options) if takes and takes[0].name not in options else made(**options)
    return KitAgent(agent, pipeline if rag_context == "on" else None)


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

    def __init__(self, agent: Any, context: SearchPipeline | None = None) -> None:
        if not callable(getattr(agent, "batch_generate_response", None)):
            raise SpecError(
                f"{type(agent).__name__} has no batch_generate_response, so it is no kit agent."
            )
        self._agent = agent
        self._context = context
        size = agent.get_batch_size() if hasattr(agent, "get_batch_size") else 1
        self.batch_size = max(1, min(16, int(size)))
        """As the kits clip it."""
        self.capacity = self.batch_size
        """One batch at a time; who waits for the next one waits off the clock."""
        wanted = inspect.signature(agent.batch_generate_response).parameters
        anything = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        self._takes_context = anything or "rag_context_list" in wanted
        self._takes_domains = anything or "domains" in wanted
        self._waiting: list[tuple[Query, asyncio.Future[Reply]]] = []
        self._running: asyncio.Task[None] | None = None

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
            batch = [(q, f) for q, f in self._waiting[: self.batch_size] if not f.done()]
            del self._waiting[: self.batch_size]
            if not batch:
                continue
            try:
                said = await asyncio.to_thread(self._call, [q for q, _ in batch])
                replies = [as_reply(text) for text in said]
            except Exception as error:  # the agent is somebody else's code
                for _, future in batch:
                    if not future.done():
                        problem = AgentError(f"{type(error).__name__}: {str(error)[:500]}")
                        future.set_exception(problem)
                continue
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():
                    future.set_result(reply)

    def _call(self, queries: Sequence[Query]) -> list[Any]:
        keywords: dict[str, Any] = {}
        if self._takes_context:
            keywords["rag_context_list"] = [self._search(q) for q in queries]
        if self._takes_domains:
            keywords["domains"] = [q.domain for q in queries]
        said = self._agent.batch_generate_response(
            [q.text for q in queries],
            [q.image.pil() for q in queries],
            [_messages(q) for q in queries],
            **keywords,
        )
        if not isinstance(said, list | tuple) or len(said) != len(queries):
            shown = (
                f"{len(said)} replies" if isinstance(said, list | tuple) else type(said).__name__
            )
            raise AgentError(f"{shown} for {len(queries)} queries; return one text for each.")
        return list(said)

    def _search(self, query: Query) -> list[dict[str, Any]]:
        return self._context(query.text) if self._context is not None else []


def _messages(query: Query) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = []
    for exchange in query.history:
        messages += [
            {"role": "user", "content": exchange.query},
            {"role": "assistant", "content": exchange.reply},
        ]
    return messages
