"""Markdown in a terminal and in a pipe."""

from __future__ import annotations

import io
from pathlib import Path

from ui_parts import write_run

from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.terminal.rich_text import as_html, as_text, show_markdown

SAID = "### A against B\n\n<details><summary>All</summary>\n\n| a | b |\n|---|--:|\n| **1** | 2 |\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_table_and_a_pipe_the_markdown() -> None:
    drawn, piped, plain = Terminal(), io.StringIO(), io.StringIO()
    show_markdown(SAID, drawn)
    show_markdown(SAID, piped)
    show_markdown(SAID, plain, plain=True)
    assert piped.getvalue() == f"{SAID}\n"
    for shown in (drawn.getvalue(), plain.getvalue()):
        assert "A against B" in shown
        assert not any(mark in shown for mark in ("<details>", "###", "|", "**"))
    assert plain.getvalue().split()[-2:] == ["1", "2"]


def test_a_run_is_called_by_its_name_whatever_that_holds(tmp_path: Path) -> None:
    names = ("a~~b~~ &#x202e;c *d* <e>", "plain")
    sides = [ComparedRun(folder=str(write_run(tmp_path / name, 12))) for name in names]
    drawn = Terminal()
    show_markdown(comparison_markdown(compare_runs(sides)), drawn)
    assert names[0] in " ".join(drawn.getvalue().split())
    assert "\u202e" not in drawn.getvalue()


def test_brackets_are_text() -> None:
    assert as_text("see [bold]x[/bold] [1]") == "see [bold]x[/bold] [1]"
    assert "[bold]x[/bold]" in as_html("[bold]x[/bold]")
