"""Ctrl-C is no failure: one line says what is kept and how to go on, and the exit code is 130."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Generator

import typer


@contextlib.contextmanager
def interruptible(kept: str, again: str | None = None) -> Generator[None]:
    """Around work that can be gone on with; `again` is how, else the same command.

    >>> with interruptible("what was built in ix"):
    ...     pass
    """
    try:
        yield
    except KeyboardInterrupt as error:
        # --fresh would throw away what is kept
        same = ["mmrag", *(word for word in sys.argv[1:] if word != "--fresh")]
        go_on = again or shlex.join(same)
        typer.secho(f"interrupted; {kept} is kept. Go on with: {go_on}", err=True)
        raise typer.Exit(130) from error
