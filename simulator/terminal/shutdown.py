"""The process always ends: soon after its work is done, and at once at the second Ctrl-C.

An agent may leave threads that never end, handlers that hang at the end of the process, and output
where none belongs. None of it may hold up the command or stand in what it prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Generator
from typing import TextIO, TypeVar

T = TypeVar("T")

GRACE = 5.0
"""Seconds that a process has to end once its work is done."""


class _Process:
    """What is to be known when the process ends."""

    is_command = False
    has_agent = False
    code = 1


def note_agent_made() -> None:
    """Somebody else's code may be at work from now on."""
    _Process.has_agent = True


def note_command_began() -> None:
    """Nothing is known of any agent yet."""
    _Process.is_command, _Process.has_agent = True, False


def owns_process() -> bool:
    """Whether this process is ours to end: in somebody else's program it is not."""
    return _Process.is_command


def note_command_done(code: object) -> None:
    """The command has printed all: what agents print later goes to stderr, and time is short."""
    if not _Process.has_agent:
        return
    _Process.code = code if isinstance(code, int) else 0 if code is None else 1
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        if sys.stdout.fileno() == 1:
            os.dup2(2, 1)
    sys.stdout = sys.stderr
    threading.Thread(target=_watch, name="end", daemon=True).start()


def _watch() -> None:
    from mmrag.agents.external.daemon_threads import count_abandoned_calls

    threading.main_thread().join()
    if not count_abandoned_calls():
        time.sleep(GRACE)
    end_now(_Process.code)


def end_now(code: int) -> None:
    """End the process without asking anybody; programs that agents run are stopped."""
    from mmrag.agents.external.child_process import stop_all

    stop_all()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


@contextlib.contextmanager
def stdout_aside() -> Generator[TextIO]:
    """Standard output for the command alone; whatever else is written there goes to stderr.

    That holds for `print`, for what C code writes, and for programs that an agent starts. Those
    that agents run in are stopped in the end.
    """
    from mmrag.agents.external.child_process import stop_all

    out, kept = sys.stdout, None
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        if out.fileno() == 1:
            out.flush()
            kept = os.dup(1)
            os.dup2(2, 1)
            out = os.fdopen(os.dup(kept), "w", encoding=out.encoding, errors=out.errors)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield out
    finally:
        stop_all()
        out.flush()
        if kept is not None:
            out.close()
            os.dup2(kept, 1)
            os.close(kept)


async def heeding_ctrl_c(work: Awaitable[T]) -> T:
    """Do the work of a command's event loop; the first Ctrl-C cancels it, the second ends all."""
    first = signal.getsignal(signal.SIGINT)
    if not callable(first) or threading.current_thread() is not threading.main_thread():
        return await work
    asked = False

    def asked_to_end(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            end_now(130)
        asked = True
        first(number, frame)  # pyright: ignore[reportArgumentType]  # the frame it was given

    signal.signal(signal.SIGINT, asked_to_end)
    try:
        return await work
    finally:
        if not asked:
            signal.signal(signal.SIGINT, first)
