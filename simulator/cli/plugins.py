"""Commands that other packages bring: found by name in the entry points, never imported here."""

from __future__ import annotations

import sys

import typer

from mmrag.errors import Unavailable

_GROUP = "mmrag.commands"
_PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def register(app: typer.Typer) -> None:
    """Add a line of help for each; the rest happens when one is called."""

    @app.command(context_settings=_PASS_ON)
    def ui(context: typer.Context) -> None:
        """Open the Gradio app: replay, compare, robustness, lab, live."""
        _call("ui", context.args)

    @app.command(context_settings=_PASS_ON)
    def bundle(context: typer.Context) -> None:
        """Write a run as a folder or a file that opens without Python: replay and report."""
        _call("bundle", context.args)


def _call(name: str, arguments: list[str]) -> None:
    from importlib.metadata import entry_points  # a fifth of the time that --help takes

    found = [point for point in entry_points(group=_GROUP) if point.name == name]
    if not found:
        raise Unavailable(f"`mmrag {name}` is not installed here; run ./scripts/demo once.")
    command = typer.Typer(add_completion=False, rich_markup_mode=None)
    command.command(name=name)(found[0].load())
    sys.argv = [f"mmrag {name}", *arguments]
    run = typer.main.get_command(command)
    # what is wrong with an option is told as for every other command
    if code := run(arguments, prog_name=f"mmrag {name}", standalone_mode=False):
        raise typer.Exit(code)
