"""`tool-user:model=SPEC`: a chat model that is given the run's tools and decides what to call."""

from __future__ import annotations

from mmrag.agent_hooks import warm
from mmrag.agents.ask_line import parse_ask_line
from mmrag.agents.prompt_templates import render_prompt
from mmrag.agents.reply_format import without_thoughts
from mmrag.agents.tool_loop import ToolBounds, answer_with_tools
from mmrag.agents.trace import Trace
from mmrag.errors import SpecError
from mmrag.protocols import GenerateOptions, Message, Model, Resources
from mmrag.records import Query, Reply
from mmrag.tools import Tool


class ToolUser:
    """Gives a model the question, the conversation so far, the picture, and all tools."""

    def __init__(
        self, model: Model, tools: tuple[Tool, ...], bounds: ToolBounds = ToolBounds()
    ) -> None:
        self._model = model
        self._tools = tools
        self._bounds = bounds

    async def warm(self) -> None:
        """Load the model, where it is one of this process."""
        await warm(self._model)

    async def answer(self, query: Query) -> Reply:
        """Let the model call tools until it answers."""
        trace = Trace()
        system = render_prompt(
            "tool_user", picture=query.image is not None, query_time=query.query_time or "",
            tools=bool(self._tools), gaze=query.gaze, may_ask=query.may_ask,
        )  # fmt: skip
        before: list[Message] = []
        for turn in query.history:
            before += (Message(role="user", text=turn.query),
                       Message(role="assistant", text=turn.reply))  # fmt: skip
        found = await answer_with_tools(
            self._model,
            [
                Message(role="system", text=system),
                *before,
                Message(role="user", text=query.text, images=query.images),
            ],
            self._tools,
            trace,
            at=query.query_time,
            options=GenerateOptions(max_tokens=300),
            bounds=self._bounds,
        )
        reply = Reply(
            text=without_thoughts(found.text),
            citations=found.citations,
            trace=trace.steps,
            usage=found.usage,
        )
        return parse_ask_line(reply, query)


def make(
    *, resources: Resources, model: str, rounds: str = "6", calls: str = "12", seconds: str = "30"
) -> ToolUser:
    """`tool-user:model=SPEC,rounds=6,calls=12,seconds=30`, with `--tools`: see docs/agents.md."""
    try:
        bounds = ToolBounds(rounds=int(rounds), calls=int(calls), seconds=float(seconds))
    except ValueError as error:
        raise SpecError(f"tool-user: rounds, calls and seconds are numbers ({error}).") from error
    return ToolUser(resources.client(model), resources.tools, bounds)
