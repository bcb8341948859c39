"""`mmrag crag-tables`: the CRAG paper's tables of one's own systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.flags import AsJson


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("crag-tables", hidden=True)(crag_tables)


def crag_tables(
    systems: Annotated[
        list[Path], typer.Argument(metavar="RUN|FILE...", help="Runs, or files of outcomes.")
    ],
    traffic: Annotated[
        Path | None, typer.Option(help="JSON of question type → weight (or domain → these).")
    ] = None,
    human: Annotated[
        Path | None, typer.Option(help="People's outcomes of the first run's turns: Table 10.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print CRAG's Tables 3, 4, 5 (and 11), 6 and 10 of systems that answered its questions."""
    from simulator.evaluation.crag_tables import as_markdown, read_system, tables

    found = tables([read_system(place) for place in systems], traffic, human)
    typer.echo(json.dumps(found, indent=2) if as_json else as_markdown(found))
