"""`mmrag` as a user calls it, without a process of its own."""

from __future__ import annotations

import contextlib
import io
from typing import NamedTuple

import pytest

from simulator.cli import main


class Done(NamedTuple):
    stdout: str
    stderr: str


def mmrag(*arguments: object, code: int = 0) -> Done:
    """The command as a user calls it, but in this process: an exception is a traceback there."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr("sys.argv", ["mmrag", *map(str, arguments)])
        patch.setattr(
            "simulator.terminal.shutdown.note_agent_made", lambda: None
        )  # this process goes on
        with pytest.raises(SystemExit) as ended:
            main()
    assert (ended.value.code or 0) == code, err.getvalue()
    return Done(out.getvalue(), err.getvalue())
