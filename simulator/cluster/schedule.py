"""Which conversation a worker holds next, and what becomes of those whose worker died.

A worker is given all conditions of a session, since much of what they ask is the same. A
conversation whose worker died goes to another one; if that dies too, it goes to one that holds
nothing else, and twice at that: only the guilty is quarantined, not who was there when machines
died for other reasons.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import groupby

import msgspec

from mmrag.records import Session

ALONE = 2
"""After as many deaths a conversation is held by a worker that holds nothing else."""

DEATHS = 4
"""Workers that a conversation may cost before it is quarantined."""


class QueuedConversation(msgspec.Struct):
    """One conversation that is to be held."""

    position: int
    session_id: str
    degradation: str
    turns: int
    deaths: list[str] = []
    """Why each of its workers ended."""


class WorkerSeat(msgspec.Struct, eq=False):
    """A place of a worker, as the schedule sees it."""

    own: deque[QueuedConversation] = msgspec.field(
        default_factory=lambda: deque[QueuedConversation]()
    )
    in_hand: int = 0
    is_alone: bool = False


class Schedule:
    """Gives every conversation out until it is done. Belongs to one event loop."""

    def __init__(self, work: Iterator[tuple[int, Session, str]], seats: list[WorkerSeat]) -> None:
        self._groups = groupby(
            (QueuedConversation(place, session.id, degradation, len(session.turns))
             for place, session, degradation in work),
            key=lambda item: item.position,
        )  # fmt: skip
        self._seats = seats
        self._again: deque[QueuedConversation] = deque()
        self._suspects: deque[QueuedConversation] = deque()
        self._confined: WorkerSeat | None = None
        """Whose worker takes nothing new but suspects, one at a time."""
        self._is_read = False
        self._changed = asyncio.Event()
        self.asked_again = 0
        """Conversations that were given out again: each may repeat one turn."""

    async def take(self, seat: WorkerSeat) -> QueuedConversation | None:
        """The next conversation for a worker; None when there is nothing more and will not be."""
        while True:
            item = self._offer(seat)
            if item is not None:
                seat.in_hand += 1
                return item
            if self.is_over():
                self._wake()
                return None
            self._changed.clear()
            await self._changed.wait()

    def done(self, seat: WorkerSeat) -> None:
        """A worker is through with a conversation."""
        seat.in_hand -= 1
        if seat.is_alone:
            seat.is_alone = False
            self._confined = None
        self._wake()

    def died(self, seat: WorkerSeat, item: QueuedConversation, reason: str) -> bool:
        """A worker died over a conversation. False: it is to be quarantined, not tried again."""
        self._confined = None if self._confined is seat else self._confined
        item.deaths.append(reason)
        if len(item.deaths) >= DEATHS:
            return False
        self.again(item)
        return True

    def again(self, item: QueuedConversation) -> None:
        """Give out once more a conversation that somebody was at."""
        self.asked_again += 1
        self.put_back(item)

    def put_back(self, item: QueuedConversation) -> None:
        """Give out once more a conversation that nobody was at."""
        (self._suspects if len(item.deaths) >= ALONE else self._again).append(item)
        self._wake()

    def _offer(self, seat: WorkerSeat) -> QueuedConversation | None:
        if seat.is_alone:
            return None
        if self._suspects and self._confined in (None, seat):
            self._confined = seat
            if seat.in_hand:
                return None  # once the others have ended
            seat.is_alone = True
            return self._suspects.popleft()
        if self._again:
            return self._again.popleft()
        if not seat.own:
            group = next(self._groups, None)
            seat.own.extend(group[1] if group else ())
            self._is_read = self._is_read or group is None
        fullest = seat if seat.own else max(self._seats, key=lambda other: len(other.own))
        if not fullest.own:
            return None
        return fullest.own.popleft() if fullest is seat else fullest.own.pop()

    def is_over(self) -> bool:
        """Whether every conversation was given out and is done."""
        waiting = self._again or self._suspects or any(seat.own for seat in self._seats)
        return self._is_read and not waiting and not any(seat.in_hand for seat in self._seats)

    def _wake(self) -> None:
        self._changed.set()
