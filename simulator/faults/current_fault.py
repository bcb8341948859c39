"""The fault that the turn being asked meets, wherever in the agent's tasks and threads it matters.

Agents are made once with parts that may fail (`failing_parts.py`), and turns are asked side by
side, so what fails hangs on who asks; asyncio's tasks and threads inherit it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from contextvars import ContextVar

import msgspec

from mmrag.records import Query, Session, Turn
from simulator.faults.fault_kinds import fault_meets_turn, random_fraction

SECONDS = {"network-latency": 1.5, "network-jitter": 1.5, "network-bandwidth": 2.0}
"""How late a question arrives; of jitter the mean."""

DELAYS = {"delay-1": 1.0, "delay-3": 3.0, "delay-9": 9.0}
"""Seconds that a reply is declared to come later. Nobody waits for them but a live wearer."""


class ActiveFault(msgspec.Struct):
    """A fault that meets a turn."""

    kind: str
    draw: float
    """In [0, 1), this turn's own: what is drawn about it is drawn from here."""
    is_felt: bool = False
    """It made a difference: an agent that searches nothing feels no empty search."""
    got: str = ""
    """What the assistant got in place of the wearer's picture or words."""


_NOW: ContextVar[ActiveFault | None] = ContextVar("the fault of this turn", default=None)


def fault_of(condition: str, seed: int, session_id: str, turn_index: int) -> ActiveFault | None:
    """The fault that meets a turn of a conversation under this condition."""
    if not condition or not fault_meets_turn(condition, seed, session_id, turn_index):
        return None
    kind = condition.partition("@")[0]
    return ActiveFault(
        kind=kind, draw=random_fraction(f"{kind} itself", seed, session_id, turn_index)
    )


@contextlib.contextmanager
def under_fault(fault: ActiveFault | None) -> Generator[None]:
    """What is asked within this meets the fault."""
    before = _NOW.set(fault)
    try:
        yield
    finally:
        _NOW.reset(before)


def failure_of_part(part: str) -> str:
    """What is wrong with a part at this moment: `empty` of the `web`, or an empty string."""
    fault = _NOW.get()
    if fault is None or fault.kind.partition("-")[0] != part:
        return ""
    fault.is_felt = True
    return fault.kind.partition("-")[2]


def simulated_delay(session: Session, turn: Turn, fault: ActiveFault | None) -> float:
    """The seconds of a turn that are declared: a fault's, and of the link of a picture that is
    new in this turn; it is sent once, and the turns that follow are about what is there."""
    sent = turn.capture if turn.capture or turn.index else session.capture
    record = sent.degraded if sent is not None else None
    seconds = float(((record or {}).get("link") or {}).get("seconds", 0.0))
    if fault is not None and fault.kind in DELAYS:
        fault.is_felt = True
        seconds += DELAYS[fault.kind]
    return seconds


async def wait_for_network(query: Query) -> None:
    """The time that the wearer's network takes beyond what it usually does."""
    fault = _NOW.get()
    if fault is None or fault.kind not in SECONDS:
        return
    if fault.kind == "network-bandwidth" and query.image is None:
        return
    fault.is_felt = True
    share = fault.draw if fault.kind == "network-jitter" else 0.5
    await asyncio.sleep(SECONDS[fault.kind] * (0.5 + share))
