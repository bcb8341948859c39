"""An endpoint that answered and is gone: everybody waits for it, and no turn is lost to it.

A server that restarts, or a gateway that lost its backend, refuses whatever it is asked. Each turn
would be asked until its retries are used up and fail, for as long as that lasts. So after a few
such refusals in a row, with no answer between them, the circuit is open: nothing more is sent but
one short question now and then. From the first refusal on, the clocks of the turns that wait stand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

from mmrag.errors import Denied
from mmrag.files.retries import backoff_seconds
from mmrag.turn_clock import CLOCK

T = TypeVar("T")

GONE = (502, 503, 504)
"""What a gateway answers for a server that is not there."""

IN_A_ROW = 3
"""Refusals that open the circuit."""

SILENCE = 45.0
"""Seconds within which an endpoint must have answered anything at all but a probe."""

LONGEST = 15.0
"""Seconds between two questions whether it is back, at most; and after which one that was given up
is tried again, for an app that stays when its run would have ended."""


class Circuit:
    """Belongs to one endpoint and one event loop."""

    def __init__(
        self,
        where: str,
        greet: Callable[[], Awaitable[bool]],
        patience: float,
        silence: float | None = None,
    ) -> None:
        """`greet` asks something short and says whether anybody answered; `silence` is how many
        seconds may pass before the first answer, `SILENCE` if it is not said."""
        self._where = where
        self._greet = greet
        self._patience = patience
        self._in_a_row = 0
        self._answered = False
        self._waiting: asyncio.Task[None] | None = None
        self._given_up = 0.0
        self._silence = SILENCE if silence is None else silence
        self._spoke = False
        self._asked: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is to be sent."""
        return self._waiting is not None

    def greeted(self) -> None:
        """Somebody was there when probed, which does not say that questions are answered."""
        self._answered = True

    def answered(self) -> None:
        """Somebody is there, whatever it said."""
        self._answered = self._spoke = True
        self._in_a_row = 0

    async def first_answer(self, ask: Callable[[], Coroutine[None, None, T]]) -> T:
        """Ask, and wait. Raises `Denied` when nothing was ever answered for too long.

        Else one that hangs would cost each turn its whole time limit, and a judge its retries.
        """
        resume_clock()
        if self._spoke:
            return await ask()
        clock = asyncio.get_running_loop().time
        self._asked = self._asked or clock()
        left = self._asked + self._silence - clock()
        if left > 0:
            asked = asyncio.create_task(ask())
            try:
                await asyncio.wait({asked}, timeout=left)
                if asked.done() or self._spoke:
                    return await asked
            finally:
                asked.cancel()
        raise Denied(
            f"{self._where}: no answer to anything in {self._silence:g} s. If it is as slow as "
            "that, allow more with timeout= (above 60)."
        )

    def refused(self) -> None:
        """Nobody was there. What never answered is no outage but a wrong address."""
        self._asked = None  # which is no silence
        self._in_a_row += self._answered
        if self._in_a_row >= IN_A_ROW and self._waiting is None:
            self._waiting = asyncio.create_task(self._wait())
            # where no turn is left to wait for it, that it was in vain is nobody's error
            self._waiting.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def closed(self) -> bool:
        """Return at once where all is well; else when it is back, and then True.

        The turn's clock stands from the first refusal until it asks again, or gives up: else the
        waits between the refusals that open the circuit would be its time.
        Raises `Denied` when it does not come back: a run ends with it and can be resumed.
        """
        if self._in_a_row and (clock := CLOCK.get()) is not None:
            clock.stand()
        if self._waiting is None or self._is_to_be_tried():
            return False
        await asyncio.shield(self._waiting)
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
            await asyncio.sleep(min(backoff_seconds(0.25, before, LONGEST), self._patience))
            before += 1
            if await self._greet():
                log.warning("%s: back after %.0f s.", self._where, loop.time() - began)
                self._in_a_row, self._waiting = 0, None
                return
        self._given_up = loop.time()
        raise Denied(
            f"{self._where}: it answered before, and has been gone for {self._patience:g} s; "
            "nothing more was asked. Start it again and continue with `mmrag resume`, or let runs "
            "wait longer with patience= in its spec."
        )


def resume_clock() -> None:
    """Let the turn's clock run again, where it stands because somebody was gone."""
    if (clock := CLOCK.get()) is not None:
        clock.resume()
