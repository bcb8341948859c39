"""Programs that agents run in: one line of JSON out, one line in, stopped with all they started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec

from mmrag.errors import AgentError, ServiceTimeout, Unavailable

MAX_LINE = 4 << 20
"""Longest answer that is read, in bytes."""

_CHUNK = 1 << 16


class ChildProcess:
    """A child process and its two pipes, which a loop watches only while it waits for an answer.

    asyncio's own subprocesses live and die with the loop that started them: one that is idle when
    its loop closes can be neither asked nor put away any more.
    """

    def __init__(self, arguments: list[str]) -> None:
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # so that whatever it starts can be stopped with it
            )
        except OSError as error:
            raise Unavailable(
                f"the program {arguments[0]!r} cannot be started ({error.strerror})."
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            os.set_blocking(pipe.fileno(), False)
        _RUNNING.add(self)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    async def ask(self, request: dict[str, Any], seconds: float | None) -> bytes:
        """One line out, one line in."""
        try:
            async with asyncio.timeout(seconds):
                await self._send(msgspec.json.encode(request) + b"\n")
                line = await self._line()
        except TimeoutError as error:
            raise ServiceTimeout(f"the program did not answer within {seconds:g} s.") from error
        except OSError as error:
            raise AgentError(f"the program broke off ({error.strerror}).") from error
        if not line:
            raise AgentError("the program ended without an answer; see its standard error.")
        return line

    def stop(self) -> None:
        """Kill it and what it started, let go of its pipes, and collect it."""
        _RUNNING.discard(self)
        if self._in.closed:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._in.close()
        self._out.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    async def _send(self, data: bytes) -> None:
        loop, pipe, left = asyncio.get_running_loop(), self._in.fileno(), memoryview(data)
        while left:
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:  # the pipe is full
                await _ready(pipe, loop.add_writer, loop.remove_writer)

    async def _line(self) -> bytes:
        """Up to the end of the line; what came of it when the program ended."""
        loop, pipe, line = asyncio.get_running_loop(), self._out.fileno(), bytearray()
        while not line.endswith(b"\n"):
            try:
                part = os.read(pipe, _CHUNK)
            except BlockingIOError:  # nothing yet
                await _ready(pipe, loop.add_reader, loop.remove_reader)
                continue
            if not part:
                break
            line += part
            if len(line) > MAX_LINE:
                raise AgentError(f"the program's line is longer than {MAX_LINE >> 20} MiB.")
        return bytes(line)


async def _ready(pipe: int, watch: Callable[..., object], forget: Callable[[int], object]) -> None:
    """Wait until a pipe can be written to or read from."""
    happened = asyncio.Event()
    watch(pipe, happened.set)
    try:
        await happened.wait()
    finally:
        forget(pipe)


_RUNNING: set[ChildProcess] = set()


def stop_all(programs: set[ChildProcess] = _RUNNING) -> None:
    """Stop programs; all that this process runs, if nothing else is said."""
    while programs:
        programs.pop().stop()
