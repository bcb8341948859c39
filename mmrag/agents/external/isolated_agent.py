"""An agent in processes of its own, which can be stopped: for agents that cannot be trusted.

Each process is a program that makes the agent (`simulator/parts/agent_process.py` is one)
and speaks lines of JSON. A turn that times out, or whose process died, costs that process: another
is started for the next turn, off its clock. All turns of a conversation go to the same place, one
at a time.
"""

from __future__ import annotations

import asyncio
import time
import weakref
import zlib
from typing import Any

import msgspec

from mmrag import errors
from mmrag.agents.external.adapters import query_as_json
from mmrag.agents.external.child_process import ChildProcess, stop_all
from mmrag.errors import AgentError, ServiceTimeout
from mmrag.records import Query, Reply, decode_as
from mmrag.turn_clock import CLOCK, TurnClock


class IsolatedReply(msgspec.Struct, omit_defaults=True):
    """What comes back for a line: a reply, an error, or neither when the agent is ready."""

    id: str
    reply: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    kind: str = "AgentError"
    """Name of a class of `mmrag.errors`."""
    first_word: float | None = None
    """Seconds of the turn before it, of a reply that streamed."""


class IsolatedAgent:
    """Asks an agent that lives in other processes, as if it lived here."""

    def __init__(
        self,
        arguments: list[str],
        hello: dict[str, Any],
        *,
        processes: int = 1,
        ready_seconds: float | None = None,
    ) -> None:
        self.capacity = processes
        """A process answers one turn at a time."""
        self.takes_sound = True
        """The process leaves it out where its agent wants none."""
        running: set[ChildProcess] = set()
        make = _Start(arguments, hello, ready_seconds or None, running)
        self._places = [_Place(make) for _ in range(processes)]
        weakref.finalize(self, stop_all, running)

    async def warm(self) -> None:
        """Start the processes; each makes the agent and its `warm()`."""
        await asyncio.gather(*(place.ready() for place in self._places))

    async def answer(self, query: Query) -> Reply:
        """Ask the process that has this conversation; starting one is not the agent's time."""
        clock = CLOCK.get() or TurnClock()
        clock.stand()
        whose = zlib.crc32(query.session_id.encode("utf-8", "surrogatepass"))
        place = self._places[whose % len(self._places)]
        async with place.turn:
            await place.ready()
            clock.start()
            began = time.perf_counter()
            said = await place.ask(_named(query, place.number()))
            if said.first_word is not None:
                clock.word(began + said.first_word)
        if said.error is not None:
            raise _error(said)
        return decode_as(Reply, said.reply)


def _named(query: Query, number: str) -> dict[str, Any]:
    """A turn with its picture's name, which error messages call it by."""
    turn = query_as_json(query, number)
    return turn if query.image is None else {**turn, "name": query.image.name}


class _Start:
    """How a process is started."""

    def __init__(
        self,
        arguments: list[str],
        hello: dict[str, Any],
        seconds: float | None,
        running: set[ChildProcess],
    ) -> None:
        self._arguments, self._hello = arguments, hello
        self._seconds, self._running = seconds, running

    def start(self) -> ChildProcess:
        program = ChildProcess(self._arguments)
        self._running.add(program)
        return program

    async def greet(self, program: ChildProcess) -> None:
        try:
            said = _decode(await program.ask({**self._hello, "id": "0"}, self._seconds))
        except ServiceTimeout as error:
            raise AgentError(
                f"the agent was not ready within {self._seconds or 0:g} s. "
                "Give it longer with --ready-seconds."
            ) from error
        if said.error is not None:
            raise _error(said)

    def stop(self, program: ChildProcess) -> None:
        self._running.discard(program)
        program.stop()


class _Place:
    """A process, or the place of one that has to be started."""

    def __init__(self, make: _Start) -> None:
        self.turn = asyncio.Lock()
        self._make = make
        self._program: ChildProcess | None = None
        self._number = 0

    def number(self) -> str:
        self._number += 1
        return str(self._number)

    async def ready(self) -> None:
        if self._program is not None and self._program.alive:
            return
        self._drop()
        self._program = self._make.start()
        healthy = False
        try:
            await self._make.greet(self._program)
            healthy = True
        finally:
            if not healthy:
                self._drop()

    async def ask(self, request: dict[str, Any]) -> IsolatedReply:
        assert self._program is not None
        healthy = False
        try:
            said = _decode(await self._program.ask(request, None))
            if said.id != request["id"]:
                raise AgentError(f"the process answered {said.id!r}, not {request['id']!r}.")
            healthy = True
            return said
        finally:
            if not healthy:  # too late, dead, or out of step
                self._drop()

    def _drop(self) -> None:
        if self._program is not None:
            self._make.stop(self._program)
            self._program = None


def _decode(line: bytes) -> IsolatedReply:
    try:
        return msgspec.json.decode(line, type=IsolatedReply)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AgentError(f"the agent's process wrote no answer: {error}.") from error


def _error(said: IsolatedReply) -> Exception:
    kind = getattr(errors, said.kind, AgentError)
    return kind(said.error)
