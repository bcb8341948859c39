"""load: how many wearers does an assistant bear?"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from mmrag.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(load)


def load(
    agent: Annotated[str, typer.Argument(help="Agent spec, e.g. grounded:ocr=off.")],
    rates: Annotated[str, typer.Option(help="Questions a second, rising.")] = "1,2,4,8",
    seconds: Annotated[float, typer.Option("--for", min=0.1, help="Seconds at each rate.")] = 30.0,
    limit: Annotated[float, typer.Option(min=0.1, help="Seconds that a wearer waits.")] = 10.0,
    pause: Annotated[float, typer.Option(min=0.1, help="Seconds between two questions.")] = 20.0,
    data: Annotated[str, typer.Option(help="Whose questions are asked.")] = "mini",
    search: Annotated[str, typer.Option(help="Index folder, auto or none.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of the moments at which they come.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Ask at rising rates, whether or not the agent keeps up, and say how many wearers it bears.

    Latency counts from the moment at which a question comes, waiting included.
    """
    import msgspec

    from simulator.evaluation.ending import stdout_aside
    from simulator.evaluation.load import load as bear
    from simulator.evaluation.progress import stage_bars
    from simulator.run.config import RunConfig

    settings = RunConfig(agent=agent, data=data, search=search, seed=seed)
    with stdout_aside() as printed:
        with stage_bars() as advance:
            found = bear(
                settings, _rates(rates), seconds=seconds, limit=limit, pause=pause,
                on_progress=advance,
            )  # fmt: skip
        if as_json:
            typer.echo(json.dumps(msgspec.to_builtins(found), indent=2), file=printed)
        else:
            _print(found, printed)


def _print(found: Any, printed: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "questions/s", "asked", "answered", "failed", "given up", "in time", "answers/s", "p50",
        "p95", "p99",
    )  # fmt: skip
    for stage in found.stages:
        table.add_row(
            f"{stage.offered:g}",
            *(str(n) for n in (stage.asked, stage.answered, stage.failed, stage.unanswered)),
            f"{stage.in_time:.1%}",
            f"{stage.throughput:.2f}",
            *("–" if p is None else f"{p:.2f} s" for p in (stage.p50, stage.p95, stage.p99)),
        )
    Console(file=printed).print(table)
    if found.bears is None:
        typer.echo(f"{found.agent} bears none of these rates.", file=printed)
        return
    typer.echo(
        f"{found.agent} bears {found.bears:g} questions a second, as {found.wearers:,} wearers ask "
        f"who each ask every {found.pause:g} s.",
        file=printed,
    )


def _rates(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [0.0]
    if not all(0 < rate <= 10_000 for rate in found):
        raise UsageError(f"--rates {text!r}: write numbers above 0, as in 1,2,4.")
    return found
