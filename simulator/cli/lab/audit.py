"""audit: which outcomes of a run flip when its turns are asked again, and why."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from simulator.cli.options.flags import AsJson, RunFolder
from simulator.cli.options.settings import numbers


def audit(
    folder: RunFolder,
    concurrency: Annotated[str, typer.Option(help="Turns at once; the fewest are usual.")] = "1,16",
    batch: Annotated[str, typer.Option(help="Turns in a batch.")] = "1,8",
    repeats: Annotated[int, typer.Option(min=2, max=99, help="Times in each way.")] = 3,
    turns: Annotated[int, typer.Option(min=1, help="How many turns to draw.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the draw, orders and intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ask a sample of a run's turns again in several ways, and say how often outcomes flip.

    The agent is asked (turns × repeats) times for each way. The run's report shows what was found.
    """
    from simulator.experiments.audit import audit as ask_again
    from simulator.terminal.shutdown import stdout_aside

    at_once = numbers("concurrency", concurrency, "1,16", least=1)
    sizes = numbers("batch", batch, "1,8", least=1)
    with stdout_aside() as printed:
        found = ask_again(
            folder, concurrency=at_once, batch=sizes, repeats=repeats, turns=turns, seed=seed
        )
        if as_json:
            typer.echo(json.dumps(found, indent=2), file=printed)
        else:
            _print(found, printed)


def _print(found: dict[str, Any], printed: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "cause", "flips", "beyond repeats", "other words",
        title=f"{found['turns']} turns of {found['sessions']} sessions, {found['repeats']} times",
    )  # fmt: skip
    for cause in found["causes"]:
        cells = [_cell(cause[name]) for name in ("flips", "beyond", "words")]
        table.add_row(cause["cause"], *cells)
    Console(file=printed).print(table)


def _cell(figure: dict[str, Any] | None) -> str:
    if figure is None or figure["estimate"] is None:
        return "–"
    if figure["low"] is None:
        return f"{figure['estimate']:.1%}"
    return f"{figure['estimate']:.1%}  [{figure['low']:.1%}, {figure['high']:.1%}]"
