"""How long something takes beside something else: the same on a slow machine and on a busy one."""

from __future__ import annotations

import time
from collections.abc import Callable


def times_as_long(one: Callable[[], object], other: Callable[[], object]) -> float:
    """Processor time of one call as a multiple of the other's, each the least of three."""
    return _least(one) / _least(other)


def _least(call: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(3):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)
