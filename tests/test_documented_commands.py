"""Every command in the README and the docs exists with every option it is shown with.

That they do what is said is tested area by area; this test keeps the texts from naming a command,
an option, a script or a file that is not there.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from simulator.cli import build_command

ROOT = Path(__file__).parent.parent
TEXTS = sorted(
    [
        ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"),
        ROOT / "docs/gate.yml"
    ]
)  # fmt: skip


def commands() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in TEXTS:
        text = re.sub(r"\\\n\s*", "", path.read_text())  # a command told over several lines is one
        lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
        lines += [line.strip() for b in re.findall(r"```\w*\n(.*?)```", text, re.S)
                  for line in b.splitlines()]  # fmt: skip
        lines += [c.replace("\n", " ") for c in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]
        for line in lines:
            line = line.removeprefix("$ ")
            if re.match(r"mmrag [a-z]", line):
                found.append((path.name, line))
    return sorted(set(found))


def options_of(command: Any) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts,
            *parameter.secondary_opts)} | {"--help"}  # fmt: skip


def ui_options(name: str) -> set[str]:
    """Of commands that other packages bring."""
    import ui.command

    app = typer.Typer(add_completion=False)
    app.command()(getattr(ui.command, name))
    return options_of(typer.main.get_command(app))


def test_there_are_commands_to_check() -> None:
    assert len(commands()) > 20


@pytest.mark.parametrize(("text", "line"), commands(), ids=lambda value: value[:60])
def test_the_command_exists(text: str, line: str) -> None:
    words = shlex.split(line.replace("…", " ").replace("|", " "), comments=True)[1:]
    command: Any = build_command()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words.pop(0).rstrip(",;.")
        if command.name == "judge" and name not in command.commands:
            name = "file"  # `mmrag judge FILE` is short for `mmrag judge file FILE`
        assert name in command.commands, f"{text}: mmrag has no command {name!r} ({line})"
        command = command.commands[name]
    known = ui_options(command.name) if command.name in ("ui", "bundle") else options_of(command)
    for word in words:
        if word.startswith("--"):
            option = word.partition("=")[0].rstrip(",;.")
            assert option in known, f"{text}: {command.name} has no {option} ({line})"


def headings(page: Path) -> set[str]:
    """What GitHub calls the headings of a page in links."""
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_and_scripts_lead_somewhere() -> None:
    broken: list[str] = []
    for path in TEXTS:
        text = path.read_text()
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
            page = path.parent / target if target else path
            if not page.exists() or (anchor and anchor not in headings(page)):
                broken.append(f"{path.name}: {target}#{anchor}")
        for script in re.findall(r"(?<![\w/:])((?:scripts|tests)/[a-z][\w/.-]+)", text):
            if not (ROOT / script.rstrip(".")).exists():
                broken.append(f"{path.name}: {script}")
    assert not broken, broken


def test_modules_that_are_named_are_there() -> None:
    others = {"my_agent.py", "pycragapi.py", "utils/retriever.py"}  # a user's, CRAG's, a kit's
    rooms = ("mmrag", "simulator", "ui", "scripts", "tests")
    there = [f"/{path}" for room in rooms for path in (ROOT / room).rglob("*.py")]
    lacking = {
        f"{path.name}: {name}"
        for path in TEXTS
        for name in re.findall(r"`([\w/]+\.py)`", path.read_text())
        if name not in others and not any(one.endswith(f"/{name}") for one in there)
    }
    assert not lacking


def test_tests_that_are_named_are_there() -> None:
    """A promise whose test is not there is tested by nothing."""
    known = "".join(path.read_text() for path in ROOT.glob("tests/**/*.py"))
    lacking = {
        f"{path.name}: {name}"
        for path in TEXTS
        for name in re.findall(r"(?:`|::)(test_\w+)(?=[`\[])", path.read_text())
        if f"def {name}(" not in known
    }
    assert not lacking
