"""What a rule says."""

from __future__ import annotations

from typing import NamedTuple


class Ruling(NamedTuple):
    """What a rule decided, and why."""

    correct: bool
    reason: str
    exactly: bool = True
    """False where a right reply is rougher than the reference, so that it is acceptable only."""
