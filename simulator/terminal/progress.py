"""How long work looks while it goes on: bars in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

Advance = Callable[[str, int, int], None]
"""Takes the name of a stage, how much of it is done, and how much there is."""

EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


class PlainProgress:
    """Now and then a line on stderr, for logs: work of seconds stays silent, hours do not. A
    stage's first call starts its clock: what was done before is no part of its pace."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: dict[str, tuple[float, int]] = {}
        self._told = clock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Say how far a stage is, unless something was said a moment ago."""
        now = self._clock()
        began, first = self._began.setdefault(stage, (now, done))
        if now - self._told < EVERY:
            return
        self._told = now
        line = f"{stage}: {done:,} of {total:,}"
        if first < done < total:
            left = (now - began) / (done - first) * (total - done)
            line += f", about {_duration(left)} left"
        sys.stderr.write(f"{line}\n")


def print_to_stderr(text: str) -> None:
    """One line on stderr, where progress is shown."""
    from rich.console import Console

    Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"


@contextlib.contextmanager
def progress_bars(*, shown: bool = True) -> Generator[Advance, None, None]:
    """Bars on stderr for work in named stages: each call says (stage, done, total). Where stderr is
    no terminal, now and then a line."""
    if not shown:
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainProgress()
        return
    with Bar(*columns, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance
