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

    @property
    def seconds(self) -> float:
        """Time on the clock."""
        since, until = self._since, self._until
        now = time.perf_counter() if until is None else until
        return max(0.0, now - (since() if callable(since) else since))

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

    def stop(self) -> None:
        """The turn is over; what happens later to the clock is not its time."""
        if self._until is None:
            self._until = time.perf_counter()


CLOCK: ContextVar[TurnClock | None] = ContextVar("mmrag_turn_clock", default=None)
"""The clock of the turn that is being asked, where there is one."""
