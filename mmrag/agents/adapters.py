"""Anybody's agent: a Python class, a program that speaks JSON lines, an HTTP endpoint.

What goes over the wire is one object per turn: `{id, session_id, turn_index, query, query_time,
domain, history: [{query, reply}], image: {media_type, base64}}`; what comes back is
`{id, text, confidence?, citations?}`. Whatever else comes back is an `AgentError`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import inspect
import math
import os
import shlex
import signal
import subprocess
import weakref
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from mmrag.agents.readiness import capacity, warm
from mmrag.errors import AgentError, ServiceTimeout, SpecError, Unavailable
from mmrag.protocols import Agent, Resources
from mmrag.records import Query, Reply

MAX_LINE = 4 << 20
"""Longest answer that is read, in bytes."""

_CHUNK = 1 << 16


class _Answer(msgspec.Struct):
    text: str
    id: str | None = None
    confidence: float | None = None
    citations: tuple[str, ...] = ()


def request_of(query: Query, number: str) -> dict[str, Any]:
    """A turn as JSON. References are never part of a query, so none can leak."""
    return {
        "id": number,
        "session_id": query.session_id,
        "turn_index": query.turn_index,
        "query": query.text,
        "query_time": query.query_time,
        "domain": query.domain,
        "history": [{"query": e.query, "reply": e.reply} for e in query.history],
        "image": {
            "media_type": _media_type(query.image.data),
            "base64": base64.b64encode(query.image.data).decode(),
        },
    }


def python(*, resources: Resources, name: str, **options: str) -> Agent:
    """`python:name=package.module/Class`: a class with `answer(query)`, plain or async.

    Its constructor gets `resources` if it asks for it, and the other options as strings.
    """
    module, _, attribute = name.replace("/", ":").rpartition(":")
    if not module or not attribute:
        raise SpecError(f"python:name={name}: write package.module/Class.")
    try:
        made = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SpecError(
            f"python:name={name}: {error}. Is the module on PYTHONPATH, and the class in it?"
        ) from error
    wanted = inspect.signature(made).parameters
    keywords: dict[str, Any] = dict(options)
    if "resources" in wanted:
        keywords["resources"] = resources
    agent = made(**keywords)
    if not callable(getattr(agent, "answer", None)):
        raise SpecError(f"python:name={name}: it has no method `answer(query)`.")
    return PythonAgent(agent)


class PythonAgent:
    """An object with `answer`, whatever it returns: a Reply, a text, or an awaitable of these."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.capacity = capacity(agent)
        """What the object says of itself."""

    async def warm(self) -> None:
        """Make the object ready, if it can be."""
        await warm(self._agent)

    async def answer(self, query: Query) -> Reply:
        """Ask it; plain methods run in a thread."""
        method = self._agent.answer
        if inspect.iscoroutinefunction(method):
            said = await method(query)
        else:
            said = await asyncio.to_thread(method, query)
            if inspect.isawaitable(said):
                said = await said
        return as_reply(said)


def as_reply(said: object) -> Reply:
    """What an agent returned, as a Reply in its own words.

    Nothing is mended, an empty text least of all, and no text is taken for an abstention: that is
    the judge's word. The engine bounds the length.
    """
    if isinstance(said, Reply):
        return said
    if isinstance(said, str):
        return Reply(text=said)
    what = "None" if said is None else f"an object of type {type(said).__name__}"
    raise AgentError(f"the agent returned {what}; return a text or a Reply.")


def command(
    *, resources: Resources, run: str, seconds: str = "60", processes: str = "1"
) -> CommandAgent:
    """`command:run=python my_agent.py`: a program that answers JSON lines with JSON lines."""
    del resources
    arguments = shlex.split(run)
    if not arguments:
        raise SpecError("command needs a program: command:run=python my_agent.py.")
    return CommandAgent(
        arguments,
        seconds=_above_0("seconds", seconds),
        processes=round(_above_0("processes", processes)),
    )


class CommandAgent:
    """A program that is started once and asked turn by turn; started again when it died.

    Its programs belong to no event loop: one that is idle when a loop ends is asked under the next,
    and all are stopped with the agent at the latest.
    """

    def __init__(self, arguments: list[str], *, seconds: float = 60.0, processes: int = 1) -> None:
        self._arguments = arguments
        self._seconds = seconds
        self.capacity = max(1, processes)
        """A program answers one turn at a time."""
        self._idle: list[_Program] = []
        self._running: set[_Program] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._places = asyncio.Semaphore(self.capacity)
        self._number = 0
        weakref.finalize(self, _stop_all, self._running)

    async def answer(self, query: Query) -> Reply:
        """One line out, one line in."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._places, self._loop = asyncio.Semaphore(self.capacity), loop
        async with self._places:
            program = self._take()
            healthy = False
            try:
                self._number += 1
                number = str(self._number)
                answer = await program.ask(request_of(query, number), self._seconds)
                if answer.id not in (None, number):
                    raise AgentError(f"the program answered request {answer.id!r}, not {number!r}.")
                healthy = True
            finally:
                if healthy:
                    self._idle.append(program)
                else:  # out of step, dead, or cancelled in the middle
                    self._running.discard(program)
                    program.stop()
        return _reply(answer)

    async def close(self) -> None:
        """Stop the programs."""
        self._idle.clear()
        _stop_all(self._running)

    def _take(self) -> _Program:
        while self._idle:
            program = self._idle.pop()
            if program.alive:
                return program
            self._running.discard(program)
            program.stop()
        program = _Program(self._arguments)
        self._running.add(program)
        return program


def _stop_all(programs: set[_Program]) -> None:
    while programs:
        programs.pop().stop()


class _Program:
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

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    async def ask(self, request: dict[str, Any], seconds: float) -> _Answer:
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
        return _decode(line, "the program")

    def stop(self) -> None:
        """Kill it and what it started, let go of its pipes, and collect it."""
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


def http(*, resources: Resources, url: str, seconds: str = "60", key_env: str = "") -> HttpAgent:
    """`http:url=http://localhost:9000/answer`: the request is POSTed, the answer is JSON."""
    del resources
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"http:url={url}: write http://… or https://….")
    return HttpAgent(url, seconds=_above_0("seconds", seconds), key_env=key_env)


class HttpAgent:
    """An agent behind one POST per turn. Not retried: a retry may be a second opinion."""

    def __init__(self, url: str, *, seconds: float = 60.0, key_env: str = "") -> None:
        self._url = url
        self._seconds = seconds
        self._key_env = key_env

    async def answer(self, query: Query) -> Reply:
        """Ask the endpoint."""
        headers = {"content-type": "application/json"}
        if self._key_env and (key := os.environ.get(self._key_env)):
            headers["authorization"] = f"Bearer {key}"
        try:
            async with (
                asyncio.timeout(self._seconds),
                httpx.AsyncClient(timeout=self._seconds) as client,
                client.stream(
                    "POST",
                    self._url,
                    headers=headers,
                    content=msgspec.json.encode(request_of(query, "0")),
                ) as response,
            ):
                parts: list[bytes] = []
                async for part in response.aiter_bytes():
                    parts.append(part)
                    if sum(map(len, parts)) > MAX_LINE:
                        raise AgentError(
                            f"{self._url}: the answer is larger than {MAX_LINE >> 20} MiB."
                        )
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ServiceTimeout(f"{self._url}: no answer within {self._seconds:g} s.") from error
        except httpx.HTTPError as error:
            raise AgentError(
                f"{self._url}: {type(error).__name__}; is the agent running?"
            ) from error
        if response.status_code != 200:
            raise AgentError(f"{self._url}: HTTP {response.status_code}.")
        return _reply(_decode(b"".join(parts), self._url))


def _above_0(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise SpecError(f"{name}={text}: give a number above 0.")
    return value


def _decode(data: bytes, where: str) -> _Answer:
    try:
        return msgspec.json.decode(data, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        shown = data[:120].decode("utf-8", "replace")
        raise AgentError(
            f'{where} answered {shown!r}: {error}. An answer is one line {{"text": …}}.'
        ) from error


def _reply(answer: _Answer) -> Reply:
    confidence = answer.confidence
    if confidence is not None and not 0 <= confidence <= 1:
        confidence = None
    return Reply(text=answer.text, citations=answer.citations, confidence=confidence)


def _media_type(data: bytes) -> str:
    if data.startswith(b"\x89PNG"):
        return "image/png"
    if data[8:12] == b"WEBP":
        return "image/webp"
    return "image/jpeg"
