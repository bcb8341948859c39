"""The `mmrag` command. This package is the only place that wires concrete classes together.

Each module adds one group of commands and imports nothing heavy at its top: `mmrag --help` must
answer within 0.3 s, so the work of a command is imported inside it.
"""

from __future__ import annotations

import importlib
import sys

import typer

from mmrag.errors import MmragError, words
from simulator.evaluation.ending import command_begins, command_is_done

_MODULES = (
    "runs",
    "plugins",
    "agents",
    "world",
    "search",
    "degrade",
    "reports",
    "judge",
    "measure",
)
"""Modules of this package with a `register(app)`; their order is the order of the help."""


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="mmrag",
        help="A multimodal, multi-turn QA simulator for wearables.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in _MODULES:
        importlib.import_module(f"{__name__}.{name}").register(app)
    return app


def main() -> None:
    """Entry point: an expected failure is one paragraph on stderr and a non-zero exit code."""
    command_begins()
    code: object = 1
    try:
        build()()
    except MmragError as error:
        typer.secho(f"error: {words(error)}", fg="red", err=True)
        code = error.exit_code
        sys.exit(code)
    except SystemExit as end:
        code = end.code
        raise
    finally:
        command_is_done(code)
