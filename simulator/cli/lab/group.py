"""`mmrag lab`: experiments beside a run."""

from __future__ import annotations

import typer

from simulator.cli.lab.crag import crag_recall, crag_tables
from simulator.cli.lab.degrade import degrade_command
from simulator.cli.lab.sweep import sweep
from simulator.cli.measure import wikieval


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Experiments: degrade, sweep, wikieval, crag-tables, crag-recall.",
    )
    group.command("degrade")(degrade_command)
    for command in (sweep, wikieval):
        group.command()(command)
    group.command("crag-tables")(crag_tables)
    group.command("crag-recall")(crag_recall)
    app.add_typer(group, name="lab")
