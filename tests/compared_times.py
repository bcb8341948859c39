"""How long something takes beside something else: the same on a slow machine and on a busy one."""

from __future__ import annotations

import time
from collections.abc import Callable


def times_as_long(one: Callable[[], object], other: Callable[[], object], calls: int = 3) -> float:
    """Processor time of one call as a multiple of the other's, each the least of some."""
    return _least(one, calls) / _least(other, calls)


def _least(call: Callable[[], object], calls: int) -> float:
    taken: list[float] = []
    for _ in range(calls):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)
