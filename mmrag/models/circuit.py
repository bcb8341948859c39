"""An endpoint that answered and is gone: everybody waits for it, and no turn is lost to it.

A server that restarts, or a gateway that lost its backend, refuses whatever it is asked. Each turn
would be asked until its retries are used up and fail, for as long as that lasts. So after a few
such refusals in a row, with no answer between them, the circuit is open: nothing more is sent but
one short question now and then, and the clocks of the turns that wait stand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from mmrag.errors import Denied
from mmrag.files.retries import doubled
from mmrag.turn_clock import CLOCK

GONE = (502, 503, 504)
"""What a gateway answers for a server that is not there."""

IN_A_ROW = 3
"""Refusals that open the circuit."""

LONGEST = 15.0
"""Seconds between two questions whether it is back, at most; and after which one that was given up
is tried again, for an app that stays when its run would have ended."""


class Circuit:
    """Belongs to one endpoint and one event loop."""

    def __init__(self, where: str, greet: Callable[[], Awaitable[bool]], patience: float) -> None:
        """`greet` asks something short and says whether anybody answered."""
        self._where = where
        self._greet = greet
        self._patience = patience
        self._in_a_row = 0
        self._answered = False
        self._waiting: asyncio.Task[None] | None = None
        self._given_up = 0.0

    @property
    def is_open(self) -> bool:
        """Whether nothing is to be sent."""
        return self._waiting is not None

    def answered(self) -> None:
        """Somebody is there, whatever it said."""
        self._answered = True
        self._in_a_row = 0

    def refused(self) -> None:
        """Nobody was there. What never answered is no outage but a wrong address."""
        self._in_a_row += self._answered
        if self._in_a_row >= IN_A_ROW and self._waiting is None:
            self._waiting = asyncio.create_task(self._wait())

    async def closed(self) -> bool:
        """Return at once where all is well; else when it is back, and then True.

        Raises `Denied` when it does not come back: a run ends with it and can be gone on with.
        """
        if self._waiting is None or self._is_to_be_tried():
            return False
        clock = CLOCK.get()
        if clock is not None:
            clock.stand()
        try:
            await asyncio.shield(self._waiting)
        finally:
            if clock is not None:
                clock.start()
        return True

    def _is_to_be_tried(self) -> bool:
        """Whether it was given up long enough ago; then one refusal is enough to wait again."""
        if not self._given_up or asyncio.get_running_loop().time() - self._given_up < LONGEST:
            return False
        self._waiting, self._given_up, self._in_a_row = None, 0.0, IN_A_ROW - 1
        return True

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        began, before = loop.time(), 0
        log = logging.getLogger("mmrag.models")
        log.warning("%s: gone; everybody waits for it, %g s at most.", self._where, self._patience)
        while loop.time() - began < self._patience:
            await asyncio.sleep(min(doubled(0.25, before, LONGEST), self._patience))
            before += 1
            if await self._greet():
                log.warning("%s: back after %.0f s.", self._where, loop.time() - began)
                self._in_a_row, self._waiting = 0, None
                return
        self._given_up = loop.time()
        raise Denied(
            f"{self._where}: it answered before, and has been gone for {self._patience:g} s; "
            "nothing more was asked. Start it again and go on with `mmrag resume`, or let runs "
            "wait longer with patience= in its spec."
        )
