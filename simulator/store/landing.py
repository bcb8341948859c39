"""Waiting in an event loop for what a store writes, at one wake-up for many turns.

A commit ends the waiting of as many conversations as had a turn in it. Told one by one, each of
them wakes the loop through its pipe, which costs more than writing the turn did.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from concurrent.futures import Future


class Landing:
    """Belongs to one event loop; the store's thread tells it what is on disk."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: deque[tuple[asyncio.Future[None], Future[None]]] = deque()
        self._is_told = False

    async def of(self, written: Future[None]) -> None:
        """Return when it is on disk; raise what kept it from there."""
        waiting = self._loop.create_future()
        written.add_done_callback(lambda done: self._add(waiting, done))
        await waiting

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
            if waiting.done():  # the conversation was cancelled
                continue
            error = done.exception()
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error)
