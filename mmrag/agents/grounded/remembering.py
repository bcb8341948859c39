"""What an agent remembers between turns: bounded, and the same when it is worked out again.

Only results that depend on nothing but their key are kept, so that a conversation taken up again
by a fresh agent goes on as it would have gone on.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from mmrag.protocols import WebSearch
from mmrag.records import Evidence

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lately(Generic[K, V]):
    """The results used last, by key. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """What is remembered, which is then the newest; None where nothing is."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember, and forget what was used longest ago."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


class RememberedWeb:
    """A web search that is asked the same query once: the turns of a conversation repeat them."""

    def __init__(self, search: WebSearch, most: int = 1024) -> None:
        self._search = search
        self._known: Lately[tuple[str, int], tuple[Evidence, ...]] = Lately(most)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best passages for each query; those not remembered are searched in one batch."""
        found: dict[str, Any] = {query: self._known.get((query, k)) for query in queries}
        new = [query for query, hits in found.items() if hits is None]
        if new:
            for query, hits in zip(new, self._search.search_text(new, k), strict=True):
                found[query] = hits
                self._known.put((query, k), hits)
        return [found[query] for query in queries]
