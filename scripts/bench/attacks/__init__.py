"""Attacks on mmrag by area; `scripts/bench/attack.py` runs them and counts."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """One try: what was done, and what went wrong (None: all as promised)."""

    what: str
    fault: str | None = None


def line_of(said: str, names: str = "") -> str | None:
    """What is wrong with a refusal: one line begins with `error:` and `names` something."""
    lines = [line for line in said.splitlines() if line.lower().startswith(("error:", "usage:"))]
    if "Traceback" in said or not lines:
        return f"no error in a line: {said[-500:]}"
    return None if names in said else f"does not name {names}: {said[-500:]}"
