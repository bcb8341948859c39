"""docs/reference.md is what the command line says today."""

from __future__ import annotations

from scripts import reference
from simulator.cli import build_command


def test_the_page_is_what_the_command_line_says() -> None:
    assert reference.PAGE.read_text() == reference.page(), "run python scripts/reference.py"


def test_every_command_and_option_is_on_the_page() -> None:
    sections = dict(section.split("\n", 1) for section in reference.page().split("\n## ")[1:])
    known = dict(reference.commands(build_command()))
    assert sections.keys() == known.keys()
    for path, command in known.items():
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        names = [name for parameter in shown for name in parameter.opts]
        options = {name for name in names if name.startswith("--")} - {"--help"}
        assert not {name for name in options if name not in sections[path]}, path
