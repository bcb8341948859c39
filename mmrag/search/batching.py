"""Batching of calls from many threads without waiting for company.

Whoever comes while nobody works starts at once with what is there; all who come meanwhile form the
next batch. So a lone caller pays nothing, and a crowd shares its work.
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
        self.error: BaseException | None = None
        self.ready = threading.Event()


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
        with self._lock:
            self._waiting.append(call)
            leads = not self._busy
            self._busy = True
        if leads:
            self._serve()
        call.ready.wait()
        if call.error is not None:
            raise call.error
        assert call.results is not None
        return call.results

    def _serve(self) -> None:
        while True:
            with self._lock:
                taken = self._take()
                if not taken:
                    self._busy = False
                    return
            self._run(taken)

    def _take(self) -> list[_Call[A, B]]:
        taken: list[_Call[A, B]] = []
        total = 0
        while self._waiting and (not taken or total + len(self._waiting[0].items) <= self._max):
            taken.append(self._waiting.pop(0))
            total += len(taken[-1].items)
        return taken

    def _run(self, calls: list[_Call[A, B]]) -> None:
        try:
            results = list(self._work([item for call in calls for item in call.items]))
            first = 0
            for call in calls:
                call.results = results[first : first + len(call.items)]
                first += len(call.items)
        except BaseException as error:
            if len(calls) > 1:  # one caller's bad item must not fail the others
                for call in calls:
                    self._run([call])
                return
            calls[0].error = error
        finally:
            if len(calls) == 1 or calls[0].results is not None:
                for call in calls:
                    call.ready.set()
