"""Batching of calls from many threads without waiting for company.

Whoever comes while nobody works starts at once with what is there; all who come meanwhile form the
next batch. So a lone caller pays nothing, and a crowd shares its work. A batch is worked off by the
first of its callers, who then hands the lead on: nobody stays longer than for their own batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")

MAX_ITEMS = 512


class _Call(Generic[A, B]):
    def __init__(self, items: Sequence[A]) -> None:
        self.items = items
        self.results: list[B] | None = None
        self.error: Exception | None = None
        self.leads = False
        self.alone = False
        self.left = False
        self.woken = threading.Event()


class Batcher(Generic[A, B]):
    """Joins concurrent calls of a function over lists into fewer calls over longer lists.

    >>> Batcher(lambda numbers: [n * n for n in numbers])([1, 2, 3])
    [1, 4, 9]
    """

    def __init__(
        self, work: Callable[[Sequence[A]], Iterable[B]], max_items: int = MAX_ITEMS
    ) -> None:
        self._work = work
        self._max = max_items
        self._lock = threading.Lock()
        self._waiting: list[_Call[A, B]] = []
        self._busy = False

    def __call__(self, items: Sequence[A]) -> list[B]:
        """Results of `items` in their order."""
        if not items:
            return []
        call = _Call[A, B](items)
        try:
            self._come(call)
            call.woken.wait()
            while call.results is None and call.error is None:  # it leads
                self._run(self._take())
        finally:
            self._leave(call)
        if call.error is not None:
            raise call.error
        assert call.results is not None
        return call.results

    def _come(self, call: _Call[A, B]) -> None:
        with self._lock:
            self._waiting.append(call)
            if not self._busy:
                self._busy = True
                self._promote(call)

    def _leave(self, call: _Call[A, B]) -> None:
        """Hand the lead to the first who waits; a caller who was interrupted waits no more."""
        with self._lock:
            call.left = True
            if call in self._waiting:
                self._waiting.remove(call)
            if not call.leads:
                return
            if self._waiting:
                self._promote(self._waiting[0])
            else:
                self._busy = False

    def _promote(self, call: _Call[A, B]) -> None:
        call.leads = True
        call.woken.set()

    def _take(self) -> list[_Call[A, B]]:
        with self._lock:  # whoever leads stands first
            taken = [self._waiting.pop(0)]
            total = len(taken[0].items)
            while self._waiting and not (taken[0].alone or self._waiting[0].alone):
                total += len(self._waiting[0].items)
                if total > self._max:
                    break
                taken.append(self._waiting.pop(0))
            return taken

    def _run(self, calls: list[_Call[A, B]]) -> None:
        try:
            results = list(self._work([item for call in calls for item in call.items]))
            first = 0
            for call in calls:
                call.results = results[first : first + len(call.items)]
                first += len(call.items)
                call.woken.set()
        except Exception as error:
            if len(calls) == 1:
                calls[0].error = error
                return
            for call in calls:  # one caller's bad item must not fail the others
                call.alone = True
            self._put_back(calls)
        except BaseException:  # Ctrl-C is for who leads; the others are worked off without it
            self._put_back([call for call in calls[1:] if not call.woken.is_set()])
            raise

    def _put_back(self, calls: list[_Call[A, B]]) -> None:
        with self._lock:
            self._waiting[:0] = [call for call in calls if not call.left]
