"""The `mmrag` command: it parses flags, calls the application in `simulator.application`, prints.

Each module adds one group of commands and imports nothing heavy at its top: `mmrag --help` must
answer within 0.3 s, so the work of a command is imported inside it.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

from mmrag.errors import MmragError, UsageError, error_text
from simulator.terminal.interruption import Interrupted
from simulator.terminal.shutdown import note_command_began, note_command_done

_MODULES = (
    "runs", "exchange_commands", "plugins", "agents", "world", "search", "reports", "judge",
    "verdicts", "measure", "data", "lab.group",
)  # fmt: skip
"""Modules of this package with a `register(app)`; their order is the order of the help."""


_FIRST = (
    "run", "resume", "score", "report", "compare", "ask", "ui", "data", "world", "index", "doctor",
)  # fmt: skip
"""What most people need, in the order in which they meet it; the help shows it first."""


class _Commands(TyperGroup):
    """All commands: Ctrl-C ends each with a line that says how to resume."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands most people need, then the others."""
        del ctx
        others = [name for name in self.commands if name not in _FIRST]
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, names in (("Commands", _FIRST), ("More commands", others)):
            rows = [(name, self.commands[name].get_short_help_str(width)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Interrupted as end:
            typer.echo(str(end), err=True)
            raise typer.Exit(130) from end
        except typer.BadParameter as error:
            is_typed = error.param is not None and error.__cause__ is not None
            if not is_typed or not error.message.startswith("Input should be "):
                raise
            raise UsageError(_wanted(error)) from error


def _wanted(error: Any) -> str:
    """What an option takes, in one line: Typer says it in Pydantic's words."""
    wanted = error.message.removeprefix("Input should be ").partition(", unable")[0]
    wanted = wanted.replace("a valid integer", "a whole number").replace("a valid ", "a ")
    given = error.__cause__.errors()[0]["input"]
    return f"{max(error.param.opts, key=len)} should be {wanted}, not {str(given)[:40]!r}."


_NO_PLACE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR,
)  # fmt: skip
"""What a folder that nobody may write to, or a full disk, ends a command with."""


@cache
def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        cls=_Commands,
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


@cache
def build_command() -> Any:
    """The whole command line as Click calls it, made once: Typer reads every signature anew."""
    return typer.main.get_command(build())


def main() -> None:
    """Entry point: an expected failure is one paragraph on stderr and a non-zero exit code."""
    note_command_began()
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own begins with 35 MB
    code: object = 1
    try:
        build_command()()
    except MmragError as error:
        typer.secho(f"error: {error_text(error)}", fg="red", err=True)
        code = error.exit_code
        sys.exit(code)
    except OSError as error:
        if error.errno not in _NO_PLACE:
            raise
        place = f"{error.filename}: " if error.filename else ""
        typer.secho(
            f"error: {place}cannot be written ({os.strerror(error.errno)}). Choose a place you may "
            "write to, or make room.",
            fg="red",
            err=True,
        )
        sys.exit(code)
    except SystemExit as end:
        code = end.code
        raise
    finally:
        note_command_done(code)
