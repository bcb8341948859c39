"""How many requests run at once: grows while a server copes, halves when it asks for less."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """Additive growth on success, multiplicative cut when rate-limited (as TCP does it).

    After a cut, requests that were sent before it do not cut again: one burst of refusals is one
    signal. `pause` holds back all new requests, for a server that is restarting.
    """

    def __init__(self, start: float = 4, most: float = 64) -> None:
        self.limit = float(start)
        """Requests that may run at once, now."""
        self._most = float(most)
        self._running = 0
        self._generation = 0
        self._open_at = 0.0
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

    def succeeded(self) -> None:
        """One more request at once per round of successes."""
        self.limit = min(self._most, self.limit + 1.0 / self.limit)

    def refused(self, mark: int) -> None:
        """The server asked for less (429)."""
        if mark == self._generation:
            self._generation += 1
            self.limit = max(1.0, self.limit / 2)

    def pause(self, seconds: float) -> None:
        """The server is in trouble (5xx, refused connections): nobody asks until then."""
        self._open_at = max(self._open_at, asyncio.get_running_loop().time() + seconds)
