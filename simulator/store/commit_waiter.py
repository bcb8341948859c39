"""Waiting in an event loop for what a store writes, at one wake-up for many turns.

A commit ends the waiting of as many conversations as had a turn in it. Told one by one, each of
them wakes the loop through its pipe, which costs more than writing the turn did. They go on side by
side, so their next turns are over together again: these are given to the store together too, and
share a commit.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Generic, TypeVar

T = TypeVar("T")

_THREADS, _TOGETHER = 4, 8
"""One thread alone would be slow where others keep the processors busy."""


class WorkBatcher(Generic[T]):
    """Work of threads for many who wait in an event loop: who come together are done together. What
    fails is done again for each alone, so that everybody hears of their own fault only."""

    def __init__(self, work: Callable[..., object]) -> None:
        self._work = work
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._at_work = 0

    async def of(self, item: T) -> None:
        """Return when the work is done for the item; raise what was wrong with it."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((item, done))
        if len(self._waiting) == 1:  # else somebody has, or is at work and will
            loop.call_soon(self._go_on, loop)
        await done

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting and self._at_work < _THREADS:
            now, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
            self._at_work += 1
            work = loop.run_in_executor(None, self._errors, [item for item, _ in now])
            work.add_done_callback(partial(self._tell, loop, [done for _, done in now]))

    def _tell(
        self,
        loop: asyncio.AbstractEventLoop,
        waiting: list[asyncio.Future[None]],
        work: asyncio.Future[list[Exception | None]],
    ) -> None:
        self._at_work -= 1
        if work.cancelled():  # and so are all who wait
            return
        for done, error in zip(waiting, work.result(), strict=True):
            _settle(done, error)
        self._go_on(loop)

    def _errors(self, items: list[T]) -> list[Exception | None]:
        try:
            self._work(*items)
        except Exception as error:
            if len(items) == 1:
                return [error]
            return [found for item in items for found in self._errors([item])]
        return [None] * len(items)


class CommitWaiter:
    """Belongs to one event loop; the store's thread tells it what is on disk."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._writes: list[tuple[Callable[[], Future[None]], asyncio.Future[None]]] = []
        self._done: deque[tuple[asyncio.Future[None], Future[None]]] = deque()
        self._is_told = False

    async def of(self, write: Callable[[], Future[None]]) -> None:
        """Return when what is written is on disk; raise what kept it from there.

        `write` gives it to the store, after all who run in this step of the loop have come here.
        """
        waiting = self._loop.create_future()
        if not self._writes:
            self._loop.call_soon(self._write)
        self._writes.append((write, waiting))
        await waiting

    def _write(self) -> None:
        writes, self._writes = self._writes, []
        for write, waiting in writes:  # also for a conversation that was cancelled meanwhile
            try:
                written = write()
            except Exception as error:
                _settle(waiting, error)
            else:
                written.add_done_callback(partial(self._add, waiting))

    def _add(self, waiting: asyncio.Future[None], done: Future[None]) -> None:
        self._done.append((waiting, done))
        if not self._is_told:
            self._is_told = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._is_told = False  # first: what is added from here on calls again
        while self._done:
            waiting, done = self._done.popleft()
            _settle(waiting, done.exception())


def _settle(waiting: asyncio.Future[None], error: BaseException | None) -> None:
    """Nobody waits where the conversation was cancelled, which Ctrl-C may do between two steps."""
    with contextlib.suppress(asyncio.InvalidStateError):
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)
