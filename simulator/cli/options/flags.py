"""Arguments and options that several commands have, so that they are called alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.options.settings import PANELS

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
OldCondition = Annotated[str | None, typer.Option("--degradation", hidden=True)]
"""How `--condition` was spelt."""
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
Concurrency = Annotated[
    int, typer.Option(min=1, max=4096, help="Conversations at once.", rich_help_panel=PANELS["run"])
]
