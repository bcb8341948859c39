"""export, import: doors to the tools that people have (docs/doors.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.options.flags import RunFolder
from simulator.message_text import counted


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(export)
    app.command(name="import")(bring_in)


def export(
    folder: RunFolder,
    out: Annotated[str, typer.Argument(help="File or folder to write, or a collector's address.")],
    to: Annotated[
        str | None, typer.Option(help="parquet, jsonl, inspect, mlflow or otel; else by the name.")
    ] = None,
) -> None:
    """Write a run for another tool: tables, Inspect, MLflow, OpenTelemetry."""
    from simulator.application.stored_run import load_run

    typer.secho(f"{counted(load_run(folder).export(out, to), 'turn')} written to {out}.", err=True)


def bring_in(
    file: Annotated[
        Path, typer.Argument(help="Kits' rows or answers (.jsonl, .csv); Inspect logs; traces.")
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", help="otel: traces; other formats are recognised from the file."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; else runs/NAME.")] = None,
    data: Annotated[
        str | None, typer.Option(help="What was asked, with pictures and references.")
    ] = None,
    split: Annotated[str, typer.Option(help="Of the data.")] = "multi-turn",
) -> None:
    """Import another system's answers as a run: to replay, judge, report and compare them."""
    import shlex

    from mmrag.errors import SpecError
    from simulator.exchange.imports import import_file, import_traces
    from simulator.parts.run_parts import Parts
    from simulator.run.results.run_scoring import verdict_cure
    from simulator.run.run_config import RunConfig
    from simulator.store.run_reader import RunReader

    folder = out or Path("runs") / file.stem
    if source not in (None, "otel"):
        raise SpecError(f"--from {source!r}: only traces have to be named, as --from otel.")
    bring = import_traces if source else import_file
    asked = None if data is None else Parts(RunConfig(data=data, split=split)).source
    count = bring(file, folder, None if asked is None else lambda: iter(asked))
    with RunReader(folder) as run:
        judged, lacking = run.meta("judge"), run.replies_without_reference()
        cure = verdict_cure(run)
    typer.secho(f"{counted(count, 'turn')} brought in.", err=True)
    if judged is None and lacking:
        typer.secho(cure, err=True)
    if judged is None and lacking < count:
        typer.secho(f"Nobody has judged them: mmrag judge run {shlex.quote(str(folder))}", err=True)
    typer.echo(f"run: {folder}")
