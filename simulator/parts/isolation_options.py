"""Where a run's agent lives: in this process, or with `--isolate` in some that can be stopped."""

from __future__ import annotations

import re
from typing import NamedTuple

from mmrag.errors import UsageError
from simulator.run.time_limits import READY_SECONDS

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LEAST = 256 << 20
"""Bytes; Python and the project's own modules take about as much address space."""


class IsolationOptions(NamedTuple):
    """How an agent is kept. No part of a run's settings: a run may be resumed otherwise."""

    isolate: bool = False
    memory: int | None = None
    """Bytes of address space of each process."""
    processes: int | None = None
    """None: one per core, and no more than there are conversations at once."""
    ready_seconds: float = READY_SECONDS

    @staticmethod
    def read(
        isolate: bool, memory: str | None, processes: int | None, ready_seconds: float | None
    ) -> IsolationOptions:
        """What the flags of a command mean."""
        if not isolate and (memory is not None or processes is not None):
            raise UsageError("--isolate-memory and --isolate-processes need --isolate.")
        return IsolationOptions(
            isolate=isolate,
            memory=None if memory is None else _bytes(memory),
            processes=processes,
            ready_seconds=READY_SECONDS if ready_seconds is None else ready_seconds,
        )


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,3})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.I)
    size = float(found[1]) * _UNITS[found[2].upper()] if found else 0
    if size < _LEAST:
        raise UsageError(f"--isolate-memory {text!r}: write at least 256M, as in 4G.")
    return int(size)
