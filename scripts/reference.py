"""Write docs/reference.md from the command line, so that no page lists options by hand.

    python scripts/reference.py [--check]

With `--check` nothing is written, and a committed page that differs is an error.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import ui.command
from simulator.cli import build_command
from simulator.cli.options.settings import PANELS

RANGE = re.compile(r" \[[\d.<=]*x[<>]=[\d.]+\]|; [\d.<=]*x[<>]=[\d.]+(?=\])")
"""Bounds of a number: left out, because the error of a wrong one names them."""

PAGE = Path(__file__).parents[1] / "docs/reference.md"
HEAD = """# Commands and options

Made by `python scripts/reference.py` from `mmrag COMMAND --help`. Specs: [agents](agents.md),
[models](models.md), [judges](judges.md), [search](search.md). Arguments in braces are required;
`…` may be repeated; a default stands in brackets; `[--json]` prints JSON. *As NAME*: described at
that command, as are arguments at the first command that takes them.
"""


def commands(group: Any, path: str = "mmrag") -> Iterator[tuple[str, Any]]:
    """Every command, depth first, in the order of the help."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", _of_ui(name) if name in ("ui", "bundle") else command


def _of_ui(name: str) -> Any:
    """The command behind the one that looks it up when it is called."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(getattr(ui.command, name))
    return typer.main.get_command(app)


def section(path: str, command: Any, known: dict[tuple[str, str], str]) -> str:
    """One command: what it does, its examples, and a row per argument and option.

    Options that an earlier command has in the same words are only named, and arguments stand in the
    first line alone; `known` says where.
    """
    context = typer.Context(command, info_name=path)
    text, _, examples = inspect.cleandoc(command.help or "").partition("\n\n\b\n")
    _, *arguments = command.collect_usage_pieces(context)
    as_json = ["[--json]"] if any(map(_is_plain_json, command.params)) else []
    usage = " ".join([path, *as_json, *arguments])
    shown = [usage, *examples.splitlines()]
    lines = [f"## {path}", "", " ".join(text.split()), "", *(f"    {line}" for line in shown)]
    panels = {panel: list[str]() for panel in PANELS.values()}
    earlier: dict[str, list[str]] = {}
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None or parameter.name == "help" or _is_plain_json(parameter):
            continue
        panel = getattr(parameter, "rich_help_panel", None) or PANELS["keep"]
        name, said = (" ".join(part.split()).replace("|", "\\|") for part in record)
        name = re.sub(r" <(list)?.*>$", lambda kind: " …" if kind[1] else "", name)
        argument = parameter.param_type_name == "argument"
        if argument:
            said = said.replace("; required]", "]").removesuffix("[required]").rstrip()
        said = RANGE.sub("", said).replace("[default: ", "[")
        if (place := known.setdefault((name, said), path)) != path:
            if not argument:
                earlier.setdefault(place, []).append(f"`{name.partition(' ')[0]}`")
            continue
        panels[panel].append(f"|`{name}`|{said}|")
    full = [panel for panel, rows in panels.items() if rows]
    for panel in full:
        lines += ["", f"|{panel if full[1:] else ''}||", "|---|---|", *panels[panel]]
    if earlier:
        same = (
            f"As [{place}](#{place.replace(' ', '-')}): {', '.join(names)}."
            for place, names in earlier.items()
        )
        lines += ["", " ".join(same)]
    return "\n".join(lines) + "\n"


def _is_plain_json(parameter: Any) -> bool:
    """Whether it is the `--json` that the head of the page explains."""
    return getattr(parameter, "help", None) == "Print JSON for a program."


def page() -> str:
    known: dict[tuple[str, str], str] = {}
    return "\n".join([HEAD, *(section(*one, known) for one in commands(build_command()))])


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is not what the command line says: run python scripts/reference.py")
