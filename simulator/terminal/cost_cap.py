"""A run's conversations as they are counted, and the money that they may cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import MmragError
from simulator.terminal.progress import progress_bars

if TYPE_CHECKING:
    from mmrag.records import TurnResult
    from simulator.run.runner import Progress


class CostCapReached(MmragError):
    """The money that was set aside for a run is spent."""


@contextlib.contextmanager
def conversation_progress(
    total: int, *, max_cost: float | None = None, shown: bool = True
) -> Generator[Callable[[Progress], None], None, None]:
    """A bar of the conversations; elsewhere, now and then a line.

    With `max_cost` the run ends with `CostCapReached` once what it cost, its judge and resumed
    turns included, reaches that many dollars. Conversations in flight then are resumed like any
    interrupted one.
    """
    done, cost = 0, 0.0
    with progress_bars(shown=shown) as bar:
        bar("conversations", 0, total)

        def advance(progress: Progress) -> None:
            nonlocal done, cost
            done, cost = done + 1, cost + sum(map(_cost, progress.results))
            bar("conversations", done, total)
            if max_cost is not None and cost >= max_cost and done < total:
                raise CostCapReached(
                    f"the run has cost ${cost:.2f} and --max-cost is ${max_cost:.2f}. What "
                    "was committed is kept; continue with a higher --max-cost."
                )

        yield advance


def cost_of(folder: Path) -> float:
    """What a run has cost, its judge included."""
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as run:
        return sum(map(_cost, run.results()))


def _cost(result: TurnResult) -> float:
    return sum(part.usage.cost for part in (result.reply, result.verdict) if part)
