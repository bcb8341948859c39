"""Anybody's agent: a Python class or function, a program that speaks JSON lines, an HTTP endpoint.

What goes over the wire is one object per turn: `{id, session_id, turn_index, query, query_time,
domain, history: [{query, reply}], image: {media_type, base64} or null, passages?, gaze?}`; what
comes back is `{id, text, confidence?, citations?, ask?}`. `gaze: [x, y]` is where the wearer looks,
as shares of the picture, where a run gives it; `handed` says how many passages, the first ones, a
stage hands over as right. With `sound=on` a spoken question brings `sound: {media_type, base64}`,
and `query` is what a recogniser heard. A wearer who hears what is asked back
(docs/wearer.md) adds `may_ask: true`, `earlier: [image, …]` where more pictures were taken, and
`ask` in the history. An endpoint may stream: server-sent events of `{"text": "a piece"}`, any of
them with the other fields, and at the end `[DONE]`. Whatever else comes back is an `AgentError`.
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
import types
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, cast

import httpx
import msgspec

from mmrag.agent_hooks import capacity, warm
from mmrag.agents.external.child_process import MAX_LINE, ChildProcess, stop_all
from mmrag.agents.external.foreign_code import ForeignCode
from mmrag.agents.external.reply_checks import HUGE_REPLY
from mmrag.errors import AgentError, ServiceTimeout, SpecError, UsageError
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError, Events
from mmrag.files.images import LazyImage, media_type
from mmrag.protocols import Agent, Resources
from mmrag.records import Query, Reply
from mmrag.registry import unknown_name_message
from mmrag.turn_clock import FirstWordTimer


class _Answer(msgspec.Struct):
    text: str
    id: str | None = None
    confidence: float | None = None
    citations: tuple[str, ...] = ()
    ask: str | None = None


def query_as_json(query: Query, number: str) -> dict[str, Any]:
    """A turn as JSON. References are never part of a query, so none can leak."""
    turn: dict[str, Any] = {
        "id": number,
        "session_id": query.session_id,
        "turn_index": query.turn_index,
        "query": query.text,
        "query_time": query.query_time,
        "domain": query.domain,
        "history": [
            {"query": e.query, "reply": e.reply, **({"ask": e.ask} if e.ask else {})}
            for e in query.history
        ],
        "image": None if query.image is None else _sent(query.image),
    }
    if query.gaze is not None:
        turn["gaze"] = query.gaze
    if query.sound is not None:
        encoded = base64.b64encode(query.sound).decode()
        turn["sound"] = {"media_type": "audio/wav", "base64": encoded}
    if query.may_ask:
        turn |= {"may_ask": True, "earlier": [_sent(image) for image in query.earlier]}
    if query.passages:
        turn["passages"] = [
            {"id": p.id, "title": p.title, "text": p.text, "url": p.url, "date": p.date,
             "provider": p.provider}
            for p in query.passages
        ]  # fmt: skip
    if query.handed:
        turn["handed"] = query.handed
    return turn


def _sent(image: LazyImage) -> dict[str, str]:
    kind = "image/avif" if image.data[4:12] == b"ftypavif" else media_type(image.data)
    encoded = base64.b64encode(image.data).decode()
    return {"media_type": kind or "image/jpeg", "base64": encoded}


def python(*, resources: Resources, name: str, **options: str) -> Agent:
    """`python:name=package.module/Thing`: a class with `answer(query)`, or a function of the query.

    Either may be plain or async, or a generator of the reply's pieces. A class's constructor
    gets `resources` if it asks for it, and the other options as strings; a function has none.
    """
    made = _named(name)
    if not isinstance(made, type):
        return _of_function(made, name, options)
    keywords: dict[str, Any] = dict(options)
    if takes_resources(name):
        keywords["resources"] = resources
    agent = made(**keywords)
    if not callable(getattr(agent, "answer", None)):
        raise SpecError(f"python:name={name}: it has no method `answer(query)`.")
    return PythonAgent(agent)


def takes_resources(name: str) -> bool:
    """Whether `python:name=…` names a class that asks for the run's searches and models."""
    made = _named(name)
    return isinstance(made, type) and "resources" in inspect.signature(made).parameters


def _named(name: str) -> Any:
    module, _, attribute = name.replace("/", ":").rpartition(":")
    if not module or not attribute:
        raise SpecError(f"python:name={name}: write package.module/Class, or a function.")
    try:
        loaded = importlib.import_module(module)
    except (ImportError, AttributeError) as error:
        raise SpecError(
            f"python:name={name}: {error}. Is the module on PYTHONPATH? "
            "For a module in this folder: export PYTHONPATH=."
        ) from error
    if not hasattr(loaded, attribute):
        places = {n: str(getattr(held, "__module__", "")) for n, held in vars(loaded).items()
                  if callable(held) and not n.startswith("_")}  # fmt: skip
        near = [n for n, at in places.items() if at.split(".")[0] == module.split(".")[0]]
        near.sort(key=lambda n: places[n] != module)  # its own before those of its package
        missing = unknown_name_message(f"class or function of {module}", attribute, near[:20])
        raise SpecError(f"python:name={name}: {missing}")
    return getattr(loaded, attribute)


def check_takes_query(answer: Callable[..., Any], name: str) -> None:
    """Refuse a function that cannot be called with one argument."""
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # of C code: nobody can tell
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise UsageError(
            f"{name}{signature} cannot be asked ({error}): it is called with one argument, "
            "the query."
        ) from error


def _of_function(made: Any, name: str, options: dict[str, str]) -> PythonAgent:
    if not callable(made):
        kind = type(made).__name__
        raise SpecError(f"python:name={name}: it is of type {kind}; name a class or a function.")
    if options:
        given = ", ".join(options)
        raise SpecError(f"python:name={name}: a function takes no options ({given}); a class does.")
    check_takes_query(made, f"python:name={name}: {getattr(made, '__name__', '')}")
    return PythonAgent(types.SimpleNamespace(answer=made))


class PythonAgent:
    """An object with `answer`, whatever it returns: a Reply, a text, an awaitable of these, or a
    generator, plain or async, of pieces of text; the last may be a Reply with all that is no text.

    It runs outside (`foreign_code.py`): plain methods in threads, async ones in an event loop of
    the agent's own, so that one that hangs holds up nothing but its own turn.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._outside = ForeignCode()
        self.capacity = capacity(agent)
        self.takes_sound = bool(getattr(agent, "takes_sound", False))
        """What the object says of itself."""

    async def warm(self) -> None:
        """Make the object ready, if it can be."""
        await warm(self._agent, self._outside.run)

    async def answer(self, query: Query) -> Reply:
        """Ask it."""
        said = await self._outside.run(self._agent.answer, query)
        if inspect.isgenerator(said):
            steps = cast("Generator[object]", said)
            return await self._outside.call(lambda: _joined_plainly(steps))
        if inspect.isasyncgen(said):
            pieces = cast("AsyncGenerator[object]", said)
            return await self._outside.wait_for(lambda: _joined(pieces))
        return as_reply(said)


async def _joined(pieces: AsyncGenerator[object]) -> Reply:
    """A streamed reply as a whole; nothing of it where the generator raises in the middle."""
    whole = _Pieces()
    async with contextlib.aclosing(pieces):
        async for piece in pieces:
            whole.add(piece)
    return whole.reply


def _joined_plainly(pieces: Generator[object]) -> Reply:
    whole = _Pieces()
    with contextlib.closing(pieces):
        for piece in pieces:
            whole.add(piece)
    return whole.reply


class _Pieces:
    """A reply that comes in pieces: texts run together, of all else the last that was given."""

    def __init__(self) -> None:
        self._words, self._reply = FirstWordTimer(), _NOTHING

    def add(self, piece: object) -> None:
        said = as_reply(piece)
        self._words.add(said.text)
        given = {name: getattr(said, name) for name in _NOTHING.__struct_fields__}
        given = {name: x for name, x in given.items() if x != getattr(_NOTHING, name)}
        self._reply = msgspec.structs.replace(self._reply, **given)
        if self._words.length > HUGE_REPLY:
            raise AgentError(f"the reply has more than {HUGE_REPLY:,} characters")

    @property
    def reply(self) -> Reply:
        return msgspec.structs.replace(self._reply, text=self._words.text)


_NOTHING = Reply(text="")


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
    *, resources: Resources, run: str, seconds: str = "60", processes: str = "1", sound: str = "off"
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
        takes_sound=_on("sound", sound),
    )


class CommandAgent:
    """A program that is started once and asked turn by turn; started again when it died.

    Its programs belong to no event loop: one that is idle when a loop ends is asked under the next,
    and all are stopped with the agent at the latest.
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        seconds: float = 60.0,
        processes: int = 1,
        takes_sound: bool = False,
    ) -> None:
        self._arguments, self.takes_sound = arguments, takes_sound
        self._seconds = seconds
        self.capacity = max(1, processes)
        """A program answers one turn at a time."""
        self._idle: list[ChildProcess] = []
        self._running: set[ChildProcess] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._places = asyncio.Semaphore(self.capacity)
        self._number = 0
        weakref.finalize(self, stop_all, self._running)

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
                line = await program.ask(query_as_json(query, number), self._seconds)
                answer = _decode(line, "the program")
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
        stop_all(self._running)

    def _take(self) -> ChildProcess:
        while self._idle:
            program = self._idle.pop()
            if program.alive:
                return program
            self._running.discard(program)
            program.stop()
        program = ChildProcess(self._arguments)
        self._running.add(program)
        return program


def http(
    *, resources: Resources, url: str, seconds: str = "60", key_env: str = "", sound: str = "off"
) -> HttpAgent:
    """`http:url=http://localhost:9000/answer`: the request is POSTed, the answer is JSON."""
    del resources
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"http:url={url}: write http://… or https://….")
    return HttpAgent(
        url, seconds=_above_0("seconds", seconds), key_env=key_env, takes_sound=_on("sound", sound)
    )


class HttpAgent:
    """An agent behind one POST per turn. Not retried: a retry may be a second opinion."""

    def __init__(
        self, url: str, *, seconds: float = 60.0, key_env: str = "", takes_sound: bool = False
    ) -> None:
        self._url, self.takes_sound = url, takes_sound
        self._seconds = seconds
        self._key_env = key_env

    async def answer(self, query: Query) -> Reply:
        """Ask the endpoint."""
        headers = {"content-type": "application/json", **ASK_PLAIN}
        if self._key_env and (key := os.environ.get(self._key_env, "").strip()):
            headers["authorization"] = f"Bearer {key}"
        try:
            async with (
                asyncio.timeout(self._seconds),
                httpx.AsyncClient(timeout=self._seconds) as client,
                client.stream(
                    "POST",
                    self._url,
                    headers=headers,
                    content=msgspec.json.encode(query_as_json(query, "0")),
                ) as response,
            ):
                if response.status_code != 200:
                    raise AgentError(f"{self._url}: HTTP {response.status_code}.")
                if Events.are_in(response.headers):
                    return _reply(await _streamed(response, self._url))
                body = Body(response.headers, MAX_LINE)
                async for part in response.aiter_raw():
                    body.add(part)
                data = body.data()
        except BodyError as error:
            raise AgentError(f"{self._url}: the answer cannot be used: {error}.") from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ServiceTimeout(f"{self._url}: no answer within {self._seconds:g} s.") from error
        except httpx.ConnectError as error:
            raise AgentError(
                f"cannot reach {self._url} ({error}); is the agent running?"
            ) from error
        except httpx.LocalProtocolError:  # its text shows the headers, and so the key
            cure = f"Check the key in {self._key_env}." if self._key_env else "Check the URL."
            raise AgentError(f"{self._url}: the request cannot be sent. {cure}") from None
        except httpx.HTTPError as error:
            why = str(error).rstrip(". ") or "the connection broke off"
            raise AgentError(f"{self._url}: {why}.") from error
        return _reply(_decode(data, self._url))


async def _streamed(response: httpx.Response, where: str) -> _Answer:
    """An answer of many events, up to the last one."""
    events, words, answer = Events(response.headers, MAX_LINE), FirstWordTimer(), _Answer(text="")
    async for event in events.each(response.aiter_raw()):
        if event == Events.DONE:
            answer.text = words.text
            return answer
        said = _decode(event, where)
        words.add(said.text)
        if said.confidence is not None:
            answer.confidence = said.confidence
        answer.citations = said.citations or answer.citations
        answer.ask = said.ask or answer.ask
    raise AgentError(f"{where}: the stream broke off after {words.length:,} characters.")


def _above_0(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise SpecError(f"{name}={text}: give a number above 0.")
    return value


def _on(name: str, text: str) -> bool:
    if text not in ("on", "off"):
        raise SpecError(f"{name}={text}: write on or off.")
    return text == "on"


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
    return Reply(
        text=answer.text, citations=answer.citations, confidence=confidence, ask=answer.ask
    )
