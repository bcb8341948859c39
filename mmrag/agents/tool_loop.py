"""A model with tools: it asks for calls, is told what they gave, and answers in the end.

The loop is bounded in rounds, calls and seconds. A call with a wrong name or wrong arguments is
explained to the model, twice; whoever goes on like that, or calls for ever, has its tools taken
away and is asked for an answer from what it has. Every call is a step of the trace.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mmrag.agents.trace import OpenStep, Trace
from mmrag.errors import Denied, MmragError, error_text
from mmrag.protocols import Completion, GenerateOptions, Message, Model
from mmrag.records import Evidence, Record, Usage
from mmrag.tools import CallRequest, Tool, arguments_of

ANSWER_NOW = "Call no more tools. Answer the question now with what you have, or say: I don't know"
"""What a model is told whose tools were taken away."""

_NO_MORE = "no more calls are made in this turn."

_STORED = 2000
"""Characters of a result that a trace keeps."""


class ToolBounds(Record, frozen=True, kw_only=True):
    """How far a model may go with tools in one turn."""

    rounds: int = 6
    """Times that it may ask for calls."""
    calls: int = 12
    seconds: float = 30.0
    """For all calls together, the model's own time left out."""
    told: int = 2
    """Wrong names and arguments that are explained to it."""
    characters: int = 6000
    """Of a result that the model is shown."""


class Answer(Record, frozen=True, kw_only=True):
    """What the model said in the end."""

    text: str
    usage: Usage = Usage()
    citations: tuple[str, ...] = ()
    """Ids of the evidence that its calls gave."""


async def answer_with_tools(
    model: Model,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    trace: Trace,
    *,
    at: str | None = None,
    options: GenerateOptions = GenerateOptions(),
    bounds: ToolBounds = ToolBounds(),
) -> Answer:
    """Let a model call tools until it answers, within bounds. `at` is the time of the question."""
    loop = _Loop({tool.name: tool for tool in tools}, trace, at, bounds)
    said, usage = list(messages), Usage()
    offered = msgspec.structs.replace(options, tools=tuple(tool.schema() for tool in tools))
    while loop.goes_on:
        done = await _generate(model, said, offered, trace)
        usage += done.usage
        if not done.calls:
            return Answer(text=done.text, usage=usage, citations=tuple(loop.citations))
        said.append(Message(role="assistant", text=done.text, calls=done.calls))
        said += [
            Message(role="tool", text=await loop.call(request), call_id=request.id)
            for request in done.calls
        ]
        loop.rounds += 1
    if tools:  # without any, nothing was taken away: the prompt is all that is said
        said.append(Message(role="user", text=ANSWER_NOW))
    done = await _generate(model, said, options, trace)
    return Answer(text=done.text, usage=usage + done.usage, citations=tuple(loop.citations))


async def _generate(
    model: Model, said: Sequence[Message], options: GenerateOptions, trace: Trace
) -> Completion:
    with trace.step("generate") as step:
        done = await model.generate(said, options)
        step.info |= {"model": done.model, "finish": done.finish, "calls": len(done.calls)}
    return done


class _Loop:
    """What has been used up, and how a call is made."""

    def __init__(
        self, tools: Mapping[str, Tool], trace: Trace, at: str | None, bounds: ToolBounds
    ) -> None:
        self.rounds = 0
        self.citations: list[str] = []
        self._tools, self._trace, self._at, self._bounds = tools, trace, at, bounds
        self._calls = self._told = 0
        self._seconds = bounds.seconds

    @property
    def goes_on(self) -> bool:
        """Whether the model may ask for calls once more."""
        return bool(self._tools) and self.rounds < self._bounds.rounds and self._goes_on

    async def call(self, request: CallRequest) -> str:
        """Make one call; what the model is told of it."""
        with self._trace.step(f"tool {request.name[:80]}") as step:
            step.info["arguments"] = request.arguments[:_STORED]
            said = await self._result(request, step)
            step.info["gave"] = said[:_STORED]
        most = self._bounds.characters
        cut = f"… ({len(said) - most:,} more characters)" if len(said) > most else ""
        return said[:most] + cut

    async def _result(self, request: CallRequest, step: OpenStep) -> str:
        if not self._goes_on:
            return _refusal(_NO_MORE, step)
        self._calls += 1
        arguments = arguments_of(request, self._tools)
        if isinstance(arguments, str):
            self._told += 1
            return _refusal(arguments if self._told <= self._bounds.told else _NO_MORE, step)
        began = time.perf_counter()
        try:
            found = await self._asked(self._tools[request.name], arguments)
        except TimeoutError:
            return _refusal("the tool took too long.", step)
        except Denied:
            raise
        except MmragError as error:
            return _refusal(str(error), step)
        except Exception as error:  # a tool may be anybody's
            return _refusal(error_text(error), step)
        finally:
            self._seconds -= time.perf_counter() - began
        self._cite(request, self._tools[request.name], found, step)
        return found

    async def _asked(self, tool: Tool, arguments: dict[str, Any]) -> str:
        def ask() -> str:
            return msgspec.json.encode(tool.call(arguments, self._at)).decode()

        return await asyncio.wait_for(asyncio.to_thread(ask), self._seconds)

    def _cite(self, request: CallRequest, tool: Tool, found: str, step: OpenStep) -> None:
        name = f"{request.name}({request.arguments[:200]})"
        self.citations.append(name)
        step.found([Evidence(source=tool.source, id=name, score=1.0, text=found[:_STORED])])

    @property
    def _goes_on(self) -> bool:
        bounds = self._bounds
        return self._calls < bounds.calls and self._seconds > 0 and self._told <= bounds.told


def _refusal(problem: str, step: OpenStep) -> str:
    step.info["refused"] = problem[:_STORED]
    return msgspec.json.encode({"error": problem}).decode()
