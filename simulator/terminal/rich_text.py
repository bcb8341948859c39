"""What rich prints in a terminal, and as text and as HTML for a notebook.

The HTML is one `<pre>`: whatever stands in it is escaped, and it has no links and no scripts.
"""

from __future__ import annotations

import io
import sys
from typing import Any, TextIO

_WIDTH = 118


def as_text(*shown: Any) -> str:
    """Plain text without colours.

    >>> as_text("a", "b")
    'a\\nb'
    """
    file = io.StringIO()
    _print(_console(file), shown)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def as_html(*shown: Any) -> str:
    """A piece of a page.

    >>> as_html("1 < 2")
    '<pre style="line-height:1.2">1 &lt; 2\\n</pre>'
    """
    console = _console(io.StringIO())
    _print(console, shown)
    return console.export_html(
        inline_styles=True, code_format='<pre style="line-height:1.2">{code}</pre>'
    )


def show_markdown(text: str, file: TextIO | None = None, *, plain: bool = False) -> None:
    """Draw Markdown in a terminal; a pipe or a file gets it as it is, or `plain`: without marks."""
    to = sys.stdout if file is None else file
    is_terminal = to.isatty()  # rich would also take FORCE_COLOR for a terminal
    if not is_terminal and not plain:
        to.write(f"{text}\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    drawn = Markdown(text, hyperlinks=False)
    if is_terminal:
        Console(file=to, highlight=False, emoji=False).print(drawn)
    else:
        to.write(f"{as_text(drawn)}\n")


def _console(file: io.StringIO) -> Any:
    from rich.console import Console

    return Console(
        file=file, record=True, width=_WIDTH, force_terminal=False, force_jupyter=False,
        highlight=False, emoji=False,
    )  # fmt: skip


def _print(console: Any, shown: tuple[Any, ...]) -> None:
    for part in shown:
        console.print(part, markup=False)
