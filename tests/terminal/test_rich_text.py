"""Markdown in a terminal and in a pipe."""

from __future__ import annotations

import io

from simulator.terminal.rich_text import show_markdown

SAID = "### A against B\n\n<details><summary>All</summary>\n\n| a | b |\n|---|--:|\n| **1** | 2 |\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_table_and_a_pipe_the_markdown() -> None:
    drawn, piped = Terminal(), io.StringIO()
    show_markdown(SAID, drawn)
    show_markdown(SAID, piped)
    assert piped.getvalue() == f"{SAID}\n"
    assert "A against B" in drawn.getvalue()
    assert not any(mark in drawn.getvalue() for mark in ("<details>", "###", "|", "**"))
