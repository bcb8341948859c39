"""How a run looks while it goes on: a bar, and a table with one row per condition."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmrag.errors import MmragError
from mmrag.records import NOT_ASKED

if TYPE_CHECKING:
    from rich.console import Console

    from simulator.run.runner import Progress

REDRAWN = 0.5
"""Seconds between two drawings in a notebook."""

ROWS = 26
"""Conditions that are shown; a run with more shows the last ones it worked on."""


class CostCap(MmragError):
    """The money that was set aside for a run is spent."""


class LiveCounts:
    """Counts by condition, fed by the runner after every conversation."""

    def __init__(self) -> None:
        self.conditions: dict[str, dict[str, float]] = {}
        self.cost = 0.0
        """Dollars for replies and verdicts."""
        self.began = time.monotonic()

    def add(self, progress: Progress) -> None:
        """Count one conversation."""
        from mmrag.records import outcome_word

        row = self.conditions.pop(progress.degradation, None) or {}
        self.conditions[progress.degradation] = row  # last worked on stands last
        row["conversations"] = row.get("conversations", 0) + 1
        for result in progress.results:
            name = outcome_word(result)
            row[name] = row.get(name, 0) + (not result.step)
            if result.reply is not None:
                row["seconds"] = row.get("seconds", 0.0) + result.seconds
                row["replies"] = row.get("replies", 0) + 1
            spent = sum(part.usage.cost for part in (result.reply, result.verdict) if part)
            row["cost"] = row.get("cost", 0.0) + spent
            self.cost += spent

    @property
    def done(self) -> int:
        """Conversations counted."""
        return int(sum(row["conversations"] for row in self.conditions.values()))

    def table(self) -> Any:
        """The counts as a rich table."""
        from rich.table import Table

        table = Table(
            "condition", "conversations", "correct", "missing", "incorrect", "unscored",
            "not asked", "s/turn", "cost", box=None, pad_edge=False,
        )  # fmt: skip
        for column in table.columns[1:]:
            column.justify = "right"
        for name, row in list(self.conditions.items())[-ROWS:]:
            correct = row.get("perfect", 0) + row.get("acceptable", 0)
            others = (row.get(one, 0) for one in ("missing", "incorrect", "unscored", NOT_ASKED))
            replies = row.get("replies", 0)
            table.add_row(
                name,
                f"{row['conversations']:.0f}",
                *(f"{n:.0f}" for n in (correct, *others)),
                f"{row.get('seconds', 0.0) / replies:.2f}" if replies else "–",
                f"${row.get('cost', 0.0):.3f}",
            )
        return table


@contextlib.contextmanager
def live_table(
    total: int, *, max_cost: float | None = None, shown: bool = True
) -> Generator[Callable[[Progress], None], None, None]:
    """A bar and a table on stderr or in a notebook; elsewhere, now and then a line.

    With `max_cost` the run ends with `CostCap` once what it cost, its judge and resumed turns
    included, reaches that many dollars. Conversations in flight then are resumed like any
    interrupted one.
    """
    tally = LiveCounts()
    with _view(tally, total) if shown else contextlib.nullcontext(_nothing) as show:

        def advance(progress: Progress) -> None:
            tally.add(progress)
            show()
            if max_cost is not None and tally.cost >= max_cost and tally.done < total:
                raise CostCap(
                    f"the run has cost ${tally.cost:.2f} and --max-cost is ${max_cost:.2f}. What "
                    "was committed is kept; go on with a higher --max-cost."
                )

        yield advance


def cost_of(folder: Path) -> float:
    """What a run has cost, its judge included."""
    from simulator.store.run_store import RunReader

    with RunReader(folder) as run:
        return sum(
            part.usage.cost
            for result in run.results()
            for part in (result.reply, result.verdict)
            if part is not None
        )


def _nothing() -> None:
    pass


def _view(tally: LiveCounts, total: int) -> contextlib.AbstractContextManager[Callable[[], None]]:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return _notebook(tally, total)
    return _terminal(tally, total, console) if console.is_terminal else _log(tally, total)


@contextlib.contextmanager
def _log(tally: LiveCounts, total: int) -> Generator[Callable[[], None]]:
    from simulator.terminal.progress import PlainProgress

    plain = PlainProgress()
    plain("conversations", 0, total)
    yield lambda: plain("conversations", tally.done, total)


@contextlib.contextmanager
def _terminal(tally: LiveCounts, total: int, console: Console) -> Generator[Callable[[], None]]:
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("conversations"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip
    task = bar.add_task("", total=total)

    class View:
        def __rich__(self) -> Group:
            return Group(bar, tally.table())

    with Live(View(), console=console, refresh_per_second=4):
        yield lambda: bar.update(task, completed=tally.done)


@contextlib.contextmanager
def _notebook(tally: LiveCounts, total: int) -> Generator[Callable[[], None]]:
    """One output of the cell, drawn anew; rich's own would need ipywidgets."""
    from importlib import import_module

    from simulator.terminal.rich_text import as_html

    page: Any = import_module("IPython.display")

    def drawn() -> Any:
        return page.HTML(as_html(f"conversations: {tally.done:,} of {total:,}", tally.table()))

    output, last = page.display(drawn(), display_id=True), time.monotonic()

    def show() -> None:
        nonlocal last
        if time.monotonic() - last > REDRAWN:
            output.update(drawn())
            last = time.monotonic()

    try:
        yield show
    finally:
        output.update(drawn())
