"""Searches and models that fail in the turns that a fault meets, and are themselves in all others.

They stand outside of any cache: what goes wrong is never kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from mmrag.agent_hooks import warm
from mmrag.errors import ServiceError
from mmrag.protocols import Completion, GenerateOptions, Message, Model, Resources
from mmrag.records import Evidence
from mmrag.search.search_wrappers import Ask, Found, WrappedImageSearch, WrappedWebSearch
from simulator.faults import current_fault

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


class FailingWebSearch(WrappedWebSearch):
    """A web search that fails where a fault says so."""

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is found, or what comes instead of it."""
        del way
        return _searched("web", ask, items, k)


class FailingImageSearch(WrappedImageSearch):
    """An image search that fails where a fault says so."""

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is found, or what comes instead of it."""
        del way
        return _searched("pictures", ask, items, k)


class FailingModel:
    """A model that fails where a fault says so."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def warm(self) -> None:
        """Load the model, where it says how: a fault is a turn's, and this is before any."""
        await warm(self._model)

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """Generate one completion, or what comes instead of it."""
        what = current_fault.failure_of_part("model")
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


def _searched(part: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
    what = current_fault.failure_of_part(part)
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
