"""How many requests run at once: grows while a server copes, less when it asks or gets slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_OVER = 16
"""Answers over which the time of one is averaged."""

_FORGOTTEN = 1.002

_STEADY, _SLOW = 2.0, 4.0
"""Times the usual: up to which more are sent, and above which fewer."""


class AdaptiveLimit:
    """Additive growth on success, multiplicative cut when rate-limited (as TCP does it).

    After a cut, requests that were sent before it do not cut again: one burst of refusals is one
    signal. Where answers take several times as long as they did, requests only wait for each other
    at the server: one fewer a round. `pause` holds back all new ones, for a server in trouble.

    Each process has its own for an endpoint. Together they share what it bears as connections
    share a line: whoever is refused halves its own.
    """

    def __init__(self, start: float = 4, most: float = 64) -> None:
        self.limit = float(start)
        """Requests that may run at once, now."""
        self._most = float(most)
        self._running = 0
        self._generation = 0
        self._open_at = 0.0
        self._usual: float | None = None
        self._lately = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[int]:
        """Waits for room; yields a mark to be given to `refused`."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < max(1, int(self.limit)))
            self._running += 1
        try:
            loop = asyncio.get_running_loop()
            while (wait := self._open_at - loop.time()) > 0:
                await asyncio.sleep(wait)
            yield self._generation
        finally:
            async with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def succeeded(self, seconds: float) -> None:
        """One more request at once per round of successes, as long as they are about as quick."""
        if self._usual is None:
            self._usual = self._lately = seconds
        self._lately += (seconds - self._lately) / _OVER
        # the quickest that it was lately: forgotten slowly, as answers may become longer for good
        self._usual = min(self._usual * _FORGOTTEN, self._lately)
        if self._lately > _SLOW * self._usual:
            self.limit = max(1.0, self.limit - 1.0 / self.limit)
        elif self._lately <= _STEADY * self._usual:
            self.limit = min(self._most, self.limit + 1.0 / self.limit)

    def refused(self, mark: int) -> None:
        """The server asked for less (429)."""
        if mark == self._generation:
            self._generation += 1
            self.limit = max(1.0, self.limit / 2)

    def pause(self, seconds: float) -> None:
        """The server is in trouble (5xx, refused connections): nobody asks until then."""
        self._open_at = max(self._open_at, asyncio.get_running_loop().time() + seconds)
