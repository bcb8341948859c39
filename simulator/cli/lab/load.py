"""load: how many wearers does an assistant bear?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from mmrag.errors import UsageError
from simulator.cli.options.flags import AsJson
from simulator.counting import counted

if TYPE_CHECKING:
    from simulator.experiments.load import Load

FEW = 100
"""Below so many questions a share of 99 % says little."""


def load(
    agent: Annotated[str, typer.Argument(help="Agent spec, e.g. grounded:ocr=off.")],
    rates: Annotated[str, typer.Option(help="Questions a second, rising.")] = "1,2,4,8",
    seconds: Annotated[float, typer.Option("--for", min=0.1, help="Seconds at each rate.")] = 30.0,
    limit: Annotated[float, typer.Option(min=0.1, help="Seconds that a wearer waits.")] = 10.0,
    pause: Annotated[float, typer.Option(min=0.1, help="Seconds between two questions.")] = 20.0,
    data: Annotated[str, typer.Option(help="Whose questions are asked.")] = "mini",
    search: Annotated[str, typer.Option(help="Index folder, auto or none.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of the moments at which they come.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ask at rising rates, whether or not the agent keeps up, and say how many users it handles.

    Latency includes waiting.
    """
    import msgspec

    from simulator.experiments.load import load as bear
    from simulator.parts.run_parts import Parts
    from simulator.run.config import RunConfig
    from simulator.terminal.progress import stage_bars
    from simulator.terminal.shutdown import stdout_aside

    settings = RunConfig(agent=agent, data=data, search=search, seed=seed)
    parts = Parts(settings, progress=False)
    with stdout_aside() as printed:
        with stage_bars() as advance:
            found = bear(
                parts, _rates(rates), seconds=seconds, limit=limit, pause=pause,
                on_progress=advance,
            )  # fmt: skip
        if as_json:
            typer.echo(json.dumps(msgspec.to_builtins(found), indent=2), file=printed)
        else:
            _print(found, printed)


def _print(found: Load, printed: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table

    heads = ("offered", "asked", "answered", "failed", "late", "in time", "p50", "p95", "p99")
    table = Table(*heads, box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for stage in found.stages:
        table.add_row(
            f"{stage.offered:g}/s",
            str(stage.asked),
            f"{stage.throughput:.2f}/s",
            *(str(n) for n in (stage.failed, stage.unanswered)),
            f"{stage.in_time:.1%}",
            *("–" if p is None else f"{p:.2f} s" for p in (stage.p50, stage.p95, stage.p99)),
        )
    Console(file=printed).print(table)
    for line in _in_words(found):
        typer.echo(line, file=printed)


def _in_words(found: Load) -> list[str]:
    """What it bears, and how far that was looked for."""
    last = found.stages[-1]
    in_time = f"{last.in_time:.1%} of {counted(last.asked, 'question')} within {found.limit:g} s"
    if found.bears is None:
        return [f"{found.agent} bears none of these rates: at {last.offered:g}/s {in_time}."]
    most = "at least " if found.fails_at is None else ""
    lines = [
        f"{found.agent} bears {most}{found.bears:g} questions a second: {most}{found.wearers:,} "
        f"wearers who each ask every {found.pause:g} s."
    ]
    if found.fails_at is None:
        lines.append(f"Its limit was not reached ({in_time}): try higher --rates.")
    else:
        lines.append(f"It does not bear {found.fails_at:g}/s: {in_time}.")
    borne = max(stage.asked for stage in found.stages if stage.offered == found.bears)
    if borne < FEW:
        lines.append(f"That rests on {counted(borne, 'question')}: ask for longer with --for.")
    return lines


def _rates(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [0.0]
    if not all(0 < rate <= 10_000 for rate in found):
        raise UsageError(f"--rates {text!r}: write numbers above 0, as in 1,2,4.")
    return found
