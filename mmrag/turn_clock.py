"""The clock of a turn: what an agent is timed by, wherever its code runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar


class TurnClock:
    """The time of one turn. It stands while a turn waits in a queue of the agent's own."""

    def __init__(self) -> None:
        self._since: Callable[[], float] | float = time.perf_counter()
        self._until: float | None = None
        self._first: float | None = None

    @property
    def seconds(self) -> float:
        """Time on the clock."""
        until = self._until
        return self._at(time.perf_counter() if until is None else until)

    @property
    def first_word(self) -> float | None:
        """When the first word came; None where the reply came in one piece."""
        return None if self._first is None else min(self._at(self._first), self.seconds)

    def start(self) -> None:
        """The agent begins with this turn now; may be said from any thread."""
        self._since = time.perf_counter()

    def stand(self, alive: Callable[[], float] = time.perf_counter) -> None:
        """The turn waits as long as the agent shows signs of life; `alive` is when it last did."""
        self._since = alive

    def resume(self) -> None:
        """Begin again if it stands: what the turn waited for is there."""
        if callable(self._since):
            self.start()

    def word(self, at: float | None) -> None:
        """When the first word of the reply came, as `time.perf_counter` says; None: it did not."""
        self._first = at

    def stop(self) -> None:
        """The turn is over; what happens later to the clock is not its time."""
        if self._until is None:
            self._until = time.perf_counter()

    def _at(self, moment: float) -> float:
        since = self._since
        return max(0.0, moment - (since() if callable(since) else since))


CLOCK: ContextVar[TurnClock | None] = ContextVar("mmrag_turn_clock", default=None)
"""The clock of the turn that is being asked, where there is one."""


def forget_first_word() -> None:
    """What came so far is not what the turn replies: a model is asked anew, or a draft was held."""
    if (clock := CLOCK.get()) is not None:
        clock.word(None)


class FirstWordTimer:
    """A text that comes in pieces; when its first word comes is on the turn's clock. Of several
    such texts in one turn the last one counts, as a reply is made of it."""

    def __init__(self) -> None:
        self.length = 0
        """In characters."""
        self._pieces: list[str] = []
        self._clock = CLOCK.get()
        self._first: float | None = None
        self._held, self._thinks = "", False

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Take the next piece. What a model thinks before it speaks is no word."""
        self._pieces.append(piece)
        self.length += len(piece)
        if self._clock is None:
            return
        if self._first is None and self._begins(self._held + piece):
            self._first = time.perf_counter()
        if self._first is not None:  # with each piece: a model may have been asked in between
            self._clock.word(self._first)

    def _begins(self, new: str) -> bool:
        """Whether words begin in what is new; holds back what more has to come to be told."""
        if self._thinks:
            _, end, new = new.rpartition("</think>")
            self._thinks = not end
        new = new.lstrip()
        if not self._thinks and new.startswith("<think>"):
            self._thinks = True
            return self._begins(new[7:])
        self._held = new[-7:]
        return not self._thinks and not "<think>".startswith(new)
