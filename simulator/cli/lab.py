"""`mmrag lab`: experiments beside a run."""

from __future__ import annotations

import typer

from simulator.cli.audit import audit
from simulator.cli.crag import crag_recall, crag_tables
from simulator.cli.degrade import degrade_command
from simulator.cli.load import load
from simulator.cli.measure import wikieval
from simulator.cli.sweep import sweep


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Experiments: degrade, sweep, audit, load, wikieval, crag-tables, crag-recall.",
    )
    group.command("degrade")(degrade_command)
    for command in (sweep, audit, load, wikieval):
        group.command()(command)
    group.command("crag-tables")(crag_tables)
    group.command("crag-recall")(crag_recall)
    app.add_typer(group, name="lab")
