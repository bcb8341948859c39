"""What `--isolate` starts: makes the agent of a config and answers turns, a line of JSON for each.

It is a program of its own so that it can be stopped, whatever the agent does. What the agent prints
goes to stderr, out of the way of the answers. The program ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import base64
import os
import queue
import resource
import sys
import threading
from typing import Any

import msgspec

from mmrag.agent_hooks import warm
from mmrag.agents.external.daemon_threads import DaemonThreads
from mmrag.agents.external.foreign_code import call_contained
from mmrag.agents.external.isolated_agent import IsolatedReply
from mmrag.agents.external.reply_checks import checked
from mmrag.errors import MmragError, error_text
from mmrag.files.images import LazyImage
from mmrag.protocols import Agent
from mmrag.records import Exchange, Passage, Query, encode
from mmrag.search.session_passages import set_searched_passages
from mmrag.turn_clock import CLOCK, TurnClock
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig


class Hello(msgspec.Struct):
    """The first line: what to make."""

    id: str
    config: RunConfig
    memory: int | None = None
    """Bytes of address space (`RLIMIT_AS`)."""


def main() -> None:
    """Greet, then answer turn by turn."""
    lines, out = _pipes()
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(DaemonThreads())
        hello = msgspec.json.decode(lines.get(), type=Hello)
        agent: list[Agent] = []
        out(runner.run(_told(hello.id, _made(hello, agent))))
        while agent:
            turn = msgspec.json.decode(lines.get())
            out(runner.run(_told(turn["id"], _answered(agent[0], turn))))
    os._exit(1)


def _pipes() -> tuple[queue.SimpleQueue[bytes], Any]:
    """Where lines come from and go to, out of reach of the agent's `input` and `print`."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in source:
            lines.put(line)
        os._exit(0)  # whoever asked is gone

    def write(line: bytes) -> None:
        target.write(line + b"\n")
        target.flush()

    threading.Thread(target=read, name="lines", daemon=True).start()
    return lines, write


async def _told(number: str, work: Any) -> bytes:
    clock = TurnClock()
    CLOCK.set(clock)
    try:
        reply = msgspec.Raw(await work)
        said = IsolatedReply(id=number, reply=reply, first_word=clock.first_word)
    except MmragError as error:
        said = IsolatedReply(id=number, error=error_text(error), kind=type(error).__name__)
    except Exception as error:
        said = IsolatedReply(id=number, error=error_text(error))
    return msgspec.json.encode(said)


async def _made(hello: Hello, made: list[Agent]) -> bytes:
    if hello.memory is not None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = hello.memory if most == resource.RLIM_INFINITY else min(hello.memory, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    agent = Parts(hello.config).make_agent(cached=True, seconds=0)
    await warm(agent)
    made.append(agent)
    return b"null"


async def _answered(agent: Agent, turn: dict[str, Any]) -> bytes:
    held, sound = turn["image"], turn.get("sound")
    picture = None
    if held is not None:
        picture = LazyImage.from_bytes(base64.b64decode(held["base64"]), name=turn["name"])
    query = Query(
        text=turn["query"],
        image=picture,
        history=tuple(Exchange(**exchange) for exchange in turn["history"]),
        session_id=turn["session_id"],
        turn_index=turn["turn_index"],
        query_time=turn["query_time"],
        domain=turn["domain"],
        passages=tuple(Passage(**passage) for passage in turn.get("passages", ())),
        handed=turn.get("handed", 0),
        may_ask=turn.get("may_ask", False),
        gaze=tuple(turn["gaze"]) if "gaze" in turn else None,
        sound=base64.b64decode(sound["base64"])
        if sound and getattr(agent, "takes_sound", False)
        else None,
        earlier=tuple(
            LazyImage.from_bytes(base64.b64decode(image["base64"]), name=turn["name"])
            for image in turn.get("earlier", ())
        ),
    )
    set_searched_passages(query.passages, query.handed)
    return encode(checked(await call_contained(lambda: agent.answer(query))))


if __name__ == "__main__":
    sys.exit(main())
