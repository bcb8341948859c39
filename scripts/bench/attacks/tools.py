"""What `--tools` takes (21), and tools that hang, raise, say junk or too much.

A spec is a toolbox or one line; a tool of anybody's costs its own call and no more.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mmrag.agents.external.daemon_threads import DaemonThreads
from mmrag.agents.tool_loop import ToolBounds, answer_with_tools
from mmrag.agents.trace import Trace
from mmrag.errors import MmragError
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.tools import CallRequest, Tool
from scripts.bench.attacks import Case
from simulator.parts.toolboxes import toolboxes

TRIES = 400
PIECES = ("crag-kg", "world", "none", ":", ",", "=", "world=", "url=", "seconds=", "mini", "(", ")",
          "http://127.0.0.1:9", "http://[::1", "file:///etc/passwd", "/dev/zero", "nan", "1e999",
          "-1", "\x00", "\ud800", "x" * 5000, "../..", " ", "seconds=0.01", "'")  # fmt: skip
ARGUMENTS = ("{}", "", "null", "[]", '{"query": ', '{"query": 1e400}', "[" * 50_000,
             '{"query": "\\ud800"}', '{"query": "q", "more": 1}', '{"query": {"a": [1]}}',
             '{"query": "' + "x" * 200_000 + '"}')  # fmt: skip


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def _raise(error: BaseException) -> Any:
    raise error


TOOLS: dict[str, Callable[[], Any]] = {
    "hangs": lambda: time.sleep(30),
    "raises": lambda: _raise(ValueError("\ud800" * 100)),
    "raises ours": lambda: _raise(MmragError("x" * 10_000_000)),
    "exits": lambda: _raise(SystemExit(0)),
    "interrupts": lambda: _raise(KeyboardInterrupt()),
    "stops": lambda: _raise(StopIteration()),
    "junk": lambda: object(),
    "bytes": lambda: b"\xff" * 1000,
    "nan": lambda: float("nan"),
    "deep": lambda: _nested(100_000),
    "huge": lambda: "x" * 50_000_000,
    "many": lambda: list(range(1_000_000)),
    "endless": itertools.count,
    "surrogate": lambda: "\ud800",
    "number": lambda: 10**5000,
    "itself": lambda: (lambda own: own.append(own) or own)([]),
}


class _Calls:
    """A model that calls a tool twice, in a way of its own, and then answers."""

    def __init__(self, name: str, arguments: str) -> None:
        self._call, self.asked = (name, arguments), 0

    async def generate(
        self, messages: list[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        self.asked += 1
        if self.asked > 2 or not options.tools:
            return Completion(text="done")
        name, arguments = self._call
        return Completion(text="", calls=(CallRequest(id="c", name=name, arguments=arguments),))


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Specs and tools in turn."""
    chance, kinds = random.Random(seed), itertools.cycle(TOOLS)
    for number in range(TRIES):
        if number % 2:
            text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 6)))
            yield Case("a spec", _fault(lambda t=text: _spec(t), text))
            continue
        kind = next(kinds)
        name = chance.choice(("look", "look", "look", "other", "", "x" * 10_000, "\x1b[31m"))
        arguments = chance.choice((*ARGUMENTS, '{"query": "q"}', '{"query": "q"}'))
        yield Case(f"a tool: {kind}", _fault(lambda k=kind, n=name, a=arguments: _called(k, n, a)))


def _fault(work: Callable[[], str | None], about: str = "") -> str | None:
    began = time.monotonic()
    try:
        wrong = work()
    except BaseException as error:
        wrong = f"{type(error).__name__}: {error}"
    if time.monotonic() - began > 20:
        wrong = "took more than 20 s"
    return wrong and f"{wrong} {about!r}"[:300]


def _spec(text: str) -> str | None:
    try:
        toolboxes.create(text)
    except MmragError as error:
        return "more than a line" if "\n" in str(error) else None
    return None


def _called(kind: str, name: str, arguments: str) -> str | None:
    def call(_arguments: dict[str, Any], _at: str | None) -> Any:
        return TOOLS[kind]()

    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tool = Tool(name="look", description="Look.", parameters=schema, call=call)
    model, trace = _Calls(name, arguments), Trace()

    async def ask() -> str:
        asyncio.get_running_loop().set_default_executor(DaemonThreads())  # as a run does
        bounds = ToolBounds(seconds=0.5)
        answer = await answer_with_tools(model, [], [tool], trace, bounds=bounds)
        return answer.text

    said = asyncio.run(ask())
    return None if said == "done" else f"said {said[:100]}"
