"""Attacks on mmrag by area; `scripts/bench/attack.py` runs them and counts."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """One try: what was done, and what went wrong (None: all as promised)."""

    what: str
    fault: str | None = None
