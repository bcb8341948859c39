"""Work that is asked for twice is done once: model completions and searches, keyed by content.

A sweep asks the same questions under 26 conditions, many of them at the same moment. What does not
depend on the picture has the same key under all of them. A key holds everything that matters: the
part's id, every message with the hashes of its pictures, all options. Errors and empty results are
never kept, nor is sampling without a seed. Equal requests that overlap wait for the first.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar, cast

import msgspec

from mmrag.agent_hooks import warm
from mmrag.passages import PassageOptions
from mmrag.protocols import (
    Completion,
    GenerateOptions,
    ImageSearch,
    Message,
    Model,
    Resources,
    WebSearch,
)
from mmrag.records import Evidence, Record, Usage, encode
from mmrag.search.search_wrappers import Ask, Found, WrappedImageSearch, WrappedWebSearch
from mmrag.search.session_passages import searched_passages
from mmrag.turn_clock import forget_first_word

T = TypeVar("T")

MAX_BYTES = 256 * 1024 * 1024
"""What a cache holds at most, roughly; the least recently used goes first."""


class CacheStats(Record, frozen=True, kw_only=True):
    """How often a cache helped."""

    hits: int = 0
    misses: int = 0
    saved: Usage = Usage()
    """Usage of the completions that were not generated again."""


class Cache:
    """Results by key, bounded, safe to use from any thread."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max = max_bytes
        self._size = 0
        self._held: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._flying: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()
        self._stats = CacheStats()

    @property
    def stats(self) -> CacheStats:
        """Hits and misses so far."""
        return self._stats

    def claim(self, key: str) -> tuple[Any, Future[Any] | None]:
        """(value, None) on a hit; (None, future) if somebody is at it; (None, None) if it is ours.

        Who gets (None, None) must call `settle` with this key, whatever happens.
        """
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                self._count(hits=1)
                return self._held[key][0], None
            flying = self._flying.get(key)
            if flying is not None:
                return None, flying
            self._flying[key] = Future()
            self._count(misses=1)
            return None, None

    def settle(self, key: str, value: Any = None, size: int = 0) -> None:
        """End a claim; None means that there is nothing to keep, and those who wait try again."""
        with self._lock:
            flying = self._flying.pop(key)
            if value is not None:
                self._held[key] = (value, size)
                self._size += size
                while self._size > self._max and len(self._held) > 1:
                    _, (_, freed) = self._held.popitem(last=False)
                    self._size -= freed
        flying.set_result(value is not None)

    def saved(self, usage: Usage) -> None:
        """Count usage that a hit saved."""
        with self._lock:
            self._stats = msgspec.structs.replace(self._stats, saved=self._stats.saved + usage)

    def _count(self, hits: int = 0, misses: int = 0) -> None:
        stats = self._stats
        self._stats = msgspec.structs.replace(
            stats, hits=stats.hits + hits, misses=stats.misses + misses
        )


class CachedModel:
    """A model whose completions are shared. A completion from the cache keeps its usage, so that
    records do not depend on who came first; what was really saved is in the cache's `stats`."""

    def __init__(self, model: Model, id: str, cache: Cache) -> None:  # noqa: A002
        self._model = model
        self._id = id
        self._cache = cache

    async def warm(self) -> None:
        """Load the model, where it says how."""
        await warm(self._model)

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """Generate, or give what was generated for the very same request."""
        forget_first_word()
        if options.temperature > 0 and options.seed is None:
            return await self._model.generate(messages, options)
        key = _digest("model", self._id, encode([list(messages), options]))
        while True:
            found, flying = self._cache.claim(key)
            if found is not None:
                self._cache.saved(found.usage)
                return found
            if flying is None:
                break
            await asyncio.shield(asyncio.wrap_future(flying))
        kept: Completion | None = None
        try:
            done = await self._model.generate(messages, options)
            kept = done if done.text.strip() or done.calls else None
        finally:
            self._cache.settle(key, kept, 400 + len(kept.text) if kept else 0)
        return done


class CachedWebSearch(WrappedWebSearch):
    """A web search whose results are shared; only queries nobody asked before are searched."""

    def __init__(self, search: WebSearch, id: str, cache: Cache) -> None:  # noqa: A002
        super().__init__(search)
        self._id = id
        self._cache = cache

    def around(self, way: str, ask: Ask, items: Sequence[str], k: int) -> Found:
        """What is kept, and what is found of the rest."""
        if searched_passages():  # what is found is this session's alone, and found at once
            return ask(items, k)
        keys = [_digest("web", self._id, f"{way}\x00{k}\x00{q}".encode()) for q in items]
        return _in_one_batch(self._cache, keys, items, lambda missing: ask(missing, k))


class CachedImageSearch(WrappedImageSearch):
    """An image search whose results are shared; the key is the hash of the very pixels searched."""

    def __init__(self, search: ImageSearch, id: str, cache: Cache) -> None:  # noqa: A002
        super().__init__(search)
        self._id = id
        self._cache = cache

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is kept, and what is found of the rest."""
        if way == "search_vectors":  # too quick to be worth keeping
            return ask(items, k)
        keys = [
            _digest("image-kg", self._id, f"{way}\x00{k}\x00{i.sha256}".encode()) for i in items
        ]
        return _in_one_batch(self._cache, keys, items, lambda missing: ask(missing, k))


def cache_resources(resources: Resources, cache: Cache, *, id: str = "") -> Resources:  # noqa: A002
    """The same resources behind a cache. `id` names the index version behind the searches."""
    models, web, pictures = resources.model, resources.web_search, resources.image_search

    def model(spec: str) -> Model:
        assert models is not None  # only given out when there is one
        return CachedModel(models(spec), spec, cache)

    def cut(how: PassageOptions) -> WebSearch:
        assert resources.pages is not None  # only given out when there are some
        return CachedWebSearch(resources.pages(how), f"{id}/{encode(how).decode()}", cache)

    return Resources(
        image_search=None if pictures is None else CachedImageSearch(pictures, id, cache),
        web_search=None if web is None else CachedWebSearch(web, id, cache),
        model=None if models is None else model,
        tools=resources.tools,
        pages=None if resources.pages is None else cut,
        seed=resources.seed,
    )


def _in_one_batch(
    cache: Cache, keys: list[str], items: Sequence[T], search: Callable[[list[T]], Found]
) -> Found:
    """Look every key up, search what is missing in one batch, then wait for what others search."""
    found: dict[str, tuple[Evidence, ...]] = {}
    while True:
        ours: dict[str, T] = {}
        waiting: list[Future[Any]] = []
        for key, item in zip(keys, items, strict=True):
            if key in found or key in ours:
                continue
            value, flying = cache.claim(key)
            if value is not None:
                found[key] = value
            elif flying is None:
                ours[key] = item
            else:
                waiting.append(flying)
        results: Found = []
        try:
            if ours:
                results = search(list(ours.values()))
        finally:
            # one result per key, or none at all after an error: those who wait then try themselves
            padded = [*results, *[()] * (len(ours) - len(results))]
            for key, result in zip(ours, padded, strict=True):
                cache.settle(key, result or None, _size(result))
        found.update(zip(ours, results, strict=True))
        if not waiting:
            return [tuple(_copied(item) for item in found[key]) for key in keys]
        for future in waiting:
            future.result()


def _copied(item: Evidence) -> Evidence:
    """One of one's own: what an agent does to its evidence must not change what others see."""
    return msgspec.structs.replace(item, attributes=_apart(item.attributes))


def _apart(value: Any) -> Any:
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {name: _apart(part) for name, part in held.items()}
    if isinstance(value, list):
        return [_apart(part) for part in cast("list[Any]", value)]
    return value


def _size(result: tuple[Evidence, ...]) -> int:
    return sum(300 + len(item.text) + len(item.title) + len(item.url) for item in result)


def _digest(kind: str, id: str, data: bytes) -> str:  # noqa: A002
    return hashlib.sha256(f"{kind}\x00{id}\x00".encode() + data).hexdigest()
