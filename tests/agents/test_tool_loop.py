"""A model that is given tools: what it is told, how far it may go, what the trace keeps."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from mmrag.agents import agents
from mmrag.agents.tool_loop import ANSWER_NOW, ToolBounds, answer_with_tools
from mmrag.agents.trace import Trace
from mmrag.cache import Cache, cache_resources
from mmrag.errors import ServiceTimeout, UsageError
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message, Resources
from mmrag.records import Query
from mmrag.tools import CallRequest, Tool

NOW = "2031-05-04T10:00"


def tool(name: str = "price", call: Any = None) -> Tool:
    def price(arguments: dict[str, Any], at: str | None) -> Any:
        return {"of": arguments["name"], "price": 14.2, "at": at}

    return Tool(
        name=name,
        description="The price of a thing.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
            "required": ["name"],
        },
        call=call or price,
    )


def asks(name: str, arguments: str, id: str = "1") -> tuple[CallRequest, ...]:  # noqa: A002
    return (CallRequest(id=id, name=name, arguments=arguments),)


PRICE = asks("price", '{"name": "Alder Kettle"}')


def run(model: ScriptedModel, tools: list[Tool], bounds: ToolBounds = ToolBounds()) -> Any:
    trace = Trace()
    question = [Message(role="user", text="How much is the Alder Kettle?")]
    found = asyncio.run(
        answer_with_tools(model, question, tools, trace, at=NOW, bounds=bounds)
    )  # fmt: skip
    return found, [step for step in trace.steps if step.name.startswith("tool ")]


def told(model: ScriptedModel) -> list[str]:
    return [m.text for m in model.calls[-1] if m.role == "tool"]


def test_a_call_is_made_and_its_result_goes_back_to_the_model() -> None:
    model = ScriptedModel([PRICE, "$14.20"])
    found, steps = run(model, [tool()])
    assert (found.text, found.usage.calls) == ("$14.20", 2)
    assert model.options[0].tools[0]["function"]["name"] == "price"
    *_, asked, result = model.calls[1]
    assert (asked.role, asked.calls) == ("assistant", PRICE)
    assert (result.role, result.call_id) == ("tool", "1")
    assert result.text == '{"of":"Alder Kettle","price":14.2,"at":"2031-05-04T10:00"}'
    [step] = steps
    assert step.name == "tool price"
    assert step.info == {"arguments": '{"name": "Alder Kettle"}', "gave": result.text}
    assert (step.evidence[0].source, found.citations) == ("kg", (step.evidence[0].id,))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (asks("prize", "{}"), "no tool is called 'prize'. There is price."),
        (asks("price", "{}"), "the arguments lack 'name'."),
        (asks("price", '{"name": 3}'), "'name' has to be of type string, not 3."),
        (asks("price", '{"name": "a", "day": 2}'), "no 'days' called 'day'"),
        (asks("price", '{"name": "a", "days": 0}'), "'days' has to be at least 1, not 0."),
        (asks("price", '{"name": "a", "days": true}'), "of type integer"),
        (asks("price", '["a"]'), "of type object"),
        (asks("price", '{"name": '), "no JSON"),
        (asks("price", "[" * 100_000), "no JSON"),
    ],
    ids=range(9),
)
def test_a_wrong_call_is_explained_to_the_model(wrong: tuple[CallRequest, ...], says: str) -> None:
    model = ScriptedModel([wrong, PRICE, "$14.20"])
    found, steps = run(model, [tool()])
    assert found.text == "$14.20"
    assert says in told(model)[0]
    assert says in steps[0].info["refused"]
    assert not steps[0].evidence


def test_it_is_told_twice_and_then_asked_for_an_answer_without_tools() -> None:
    model = ScriptedModel([asks("a", "{}"), asks("b", "{}"), asks("c", "{}"), "I don't know"])
    found, _ = run(model, [tool()])
    assert (found.text, len(model.calls)) == ("I don't know", 4)
    assert ["no tool is called" in text for text in told(model)] == [True, True, False]
    assert (model.calls[-1][-1].text, model.options[-1].tools) == (ANSWER_NOW, ())


def test_a_model_that_calls_for_ever_is_bounded() -> None:
    model = ScriptedModel(lambda _messages: PRICE)
    found, steps = run(model, [tool()], ToolBounds(rounds=4))
    assert (len(model.calls), len(steps)) == (5, 4)
    assert found.text == "", "it never said anything"


def test_many_calls_at_once_are_bounded_too() -> None:
    model = ScriptedModel([PRICE * 50, "$14.20"])
    made: list[str] = []
    found, steps = run(
        model, [tool(call=lambda a, at: made.append(a["name"]) or 1)], ToolBounds(calls=3)
    )
    assert (found.text, len(made), len(steps)) == ("$14.20", 3, 50)
    assert "no more calls" in steps[-1].info["refused"]


def test_a_tool_that_hangs_costs_its_seconds_and_the_model_is_told() -> None:
    hang = threading.Event()
    model = ScriptedModel([PRICE, "I don't know"])
    found, steps = run(model, [tool(call=lambda a, at: hang.wait(5))], ToolBounds(seconds=0.2))
    hang.set()
    assert found.text == "I don't know"
    assert "took too long" in steps[0].info["refused"]
    assert steps[0].seconds < 5, "it was waited for"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (UsageError("nothing here is called 'Alder'."), "nothing here is called"),
        (ServiceTimeout("the KG server did not answer within 2 s."), "did not answer"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError"),
    ],
)
def test_what_a_tool_raises_is_said_to_the_model(fault: Exception, says: str) -> None:
    def fails(arguments: dict[str, Any], at: str | None) -> Any:
        raise fault

    model = ScriptedModel([PRICE, "I don't know"])
    found, steps = run(model, [tool(call=fails)])
    assert found.text == "I don't know"
    assert says in told(model)[0]
    assert says in steps[0].info["refused"]


def test_an_endless_result_is_cut_before_the_model_sees_it() -> None:
    model = ScriptedModel([PRICE, "much"])
    _, [step] = run(model, [tool(call=lambda a, at: "x" * 1_000_000)])
    assert len(told(model)[0]) < 6100
    assert "994,002 more characters" in told(model)[0]
    assert len(step.info["gave"]) == 2000


def test_the_agent_gets_the_runs_tools_and_every_call_is_in_its_reply() -> None:
    model = ScriptedModel([PRICE, "$14.20"])
    resources = cache_resources(Resources(model=lambda _: model, tools=(tool(),)), Cache())
    agent = agents.create("tool-user:model=m", resources=resources)
    reply = asyncio.run(agent.answer(Query(text="How much is it?", query_time=NOW)))
    assert reply.text == "$14.20"
    assert [s.name for s in reply.trace] == ["generate", "tool price", "generate"]
    assert NOW in model.calls[0][0].text, "the model knows when it is asked"


def test_a_model_without_tools_is_asked_as_it_would_be_without_the_loop() -> None:
    model = ScriptedModel("14.2")
    found, _ = run(model, [])
    assert found.text == "14.2"
    assert model.calls == [(Message(role="user", text="How much is the Alder Kettle?"),)]
