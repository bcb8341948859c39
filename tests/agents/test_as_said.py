"""What other people's agents say is recorded as they said it; what it is worth is a judge's word."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from answering import Asked, answering
from PIL import Image

from mmrag.agent_hooks import warm
from mmrag.agents import agents
from mmrag.agents.ask_line import parse_ask_line
from mmrag.agents.external.adapters import CommandAgent, command
from mmrag.agents.external.kits import KitAgent
from mmrag.agents.external.reply_checks import checked
from mmrag.agents.paper.baselines import BaselineAgent
from mmrag.agents.reply_format import make_reply
from mmrag.agents.tool_user import ToolUser
from mmrag.errors import AgentError
from mmrag.files.images import LazyImage
from mmrag.judges import make_judge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import (
    Capture,
    Exchange,
    Query,
    Reference,
    Reply,
    Session,
    Status,
    Turn,
    TurnResult,
)
from simulator.run.engine import hold_conversation

PICTURE = LazyImage.from_pil(Image.new("RGB", (8, 8)))
SAID = [
    "I don't know, but it is Paris", "I'm not sure. It looks like a Toyota.",
    "I can't tell the exact year; about 1920.", "Unknown Pleasures",
    "  two\nlines,  as they\tstand ", '{"answer": "900 g"}', "I don't know", ""
]  # fmt: skip
RIGHT = ["Paris", "a Toyota", "1920", "Unknown Pleasures"]


def ask(agent, text: str) -> Reply:
    return asyncio.run(agent.answer(Query(text=text, image=PICTURE)))


class Echo:
    """Says what it is asked, as a class, and as an agent of the kits."""

    def answer(self, query: Query) -> str:
        return query.text

    def batch_generate_response(self, queries, images, message_histories):
        return list(queries)


@pytest.mark.parametrize("text", SAID)
def test_classes_and_kit_agents_are_quoted(text: str, monkeypatch) -> None:
    module = types.ModuleType("echoes")
    module.Echo = Echo  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "echoes", module)
    for agent in (
        agents.create("python:name=echoes/Echo", resources=Resources()),
        KitAgent(Echo()),
    ):
        reply = ask(agent, text)
        assert (reply.text, reply.abstained) == (text, False)


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("name", ["llm-only", "task3"])
def test_model_agents_are_quoted(name: str, text: str) -> None:
    rewriting = ["a rewritten query"] if name == "task3" else []
    model = ScriptedModel([*rewriting, text])
    agent = agents.create(f"{name}:model=m", resources=Resources(model=lambda _spec: model))
    reply = ask(agent, "What is it?")
    assert (reply.text, reply.abstained) == (text, False)


def test_what_a_model_only_thinks_is_not_said() -> None:
    model = ScriptedModel("<think>Paris? No.</think>\nUnknown Pleasures")
    agent = agents.create("llm-only:model=m", resources=Resources(model=lambda _spec: model))
    assert ask(agent, "Which album?").text == "Unknown Pleasures"


PROGRAM = """
import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    print(json.dumps({"id": turn["id"], "text": turn["query"], "confidence": 0.5}), flush=True)
"""


def test_programs_are_quoted() -> None:
    agent = CommandAgent([sys.executable, "-c", PROGRAM])

    async def talk() -> list[Reply]:
        return [await agent.answer(Query(text=text, image=PICTURE)) for text in SAID]

    replies = asyncio.run(talk())
    assert [reply.text for reply in replies] == SAID
    assert {reply.confidence for reply in replies} == {0.5}
    assert not any(reply.abstained for reply in replies)


def test_endpoints_are_quoted() -> None:
    def quoted(asked: Asked) -> bytes:
        return json.dumps({"text": json.loads(asked.body)["query"], "citations": ["7"]}).encode()

    with answering(quoted) as server:
        agent = agents.create(f"http:url={server.url}/", resources=Resources())
        for text in SAID:
            reply = ask(agent, text)
            assert (reply.text, reply.citations) == (text, ("7",))


class Says:
    def __init__(self, replies: list[str]) -> None:
        self.replies = replies

    def answer(self, query: Query) -> str:
        return self.replies[query.turn_index]


def held(replies: list[str], references: list[str], monkeypatch) -> list[TurnResult]:
    """A conversation with an agent of somebody else's, judged by the built-in judge."""
    module = types.ModuleType("sayers")

    class Bound(Says):
        def __init__(self) -> None:
            super().__init__(replies)

    module.Says = Bound  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sayers", module)
    agent = agents.create("python:name=sayers/Says", resources=Resources())
    session = Session(
        id="s",
        capture=Capture(image=PICTURE),
        turns=tuple(
            Turn(index=i, id=f"t{i}", query=f"Question {i}?", reference=Reference(text=text))
            for i, text in enumerate(references)
        ),
    )

    async def forget(*_: TurnResult) -> None:
        pass

    async def run() -> list[TurnResult]:
        await warm(agent)
        return await hold_conversation(
            session, agent, make_judge("builtin"), forget, stop=two_strikes
        )

    return asyncio.run(run())


def test_right_answers_that_sound_like_refusals_are_right(monkeypatch) -> None:
    results = held(SAID[:4], RIGHT, monkeypatch)
    assert [result.status for result in results] == [Status.ANSWERED] * 4
    assert all(r.verdict is not None and r.verdict.outcome.is_correct for r in results)


def test_an_empty_reply_is_recorded_as_empty_and_judged_missing(monkeypatch) -> None:
    first, second = held(["", "Paris"], ["Rome", "Paris"], monkeypatch)
    assert first.reply is not None
    assert first.verdict is not None
    assert first.reply.text == ""
    assert (first.status, first.verdict.outcome) == (Status.ABSTAINED, "missing")
    assert second.status is Status.ANSWERED


def test_a_reply_is_cut_by_the_engine_only(monkeypatch) -> None:
    (result,) = held(["word " * 500], ["word"], monkeypatch)
    assert result.reply is not None
    assert len(result.reply.text) == len("word " * 75) - 1


def test_what_anybodys_agent_thinks_is_no_part_of_what_is_recorded(monkeypatch) -> None:
    said = "<think>" + "Rome? " * 500 + "No.</think>\nParis"
    (result,) = held([said], ["Paris"], monkeypatch)
    assert result.reply is not None
    assert result.reply.text == "Paris"


def test_a_title_is_no_abstention_of_the_grounded_agent_either() -> None:
    for title in ("Unknown Pleasures", "Unknown Mortal Orchestra", SAID[0], SAID[1], SAID[2]):
        reply = make_reply(title)
        assert (reply.text, reply.abstained) == (title, False)
    for text in ("Unknown", "Unknown.", "Sorry, I cannot tell.", "No idea"):
        assert make_reply(text).abstained, text


# -- asking back

LIVE = Query(text="How heavy is it?", may_ask=True)


@pytest.mark.parametrize(
    ("said", "text", "ask"),
    [
        ("Closer, please?\nASK: look", "Closer, please?", "look"), ("ASK: which", "", "which"),
        ("It is 3 kg.\nASK: again\n", "It is 3 kg.", "again"), ("ASK: dance", "ASK: dance", None),
        ("ask: look", "ask: look", None),
        ("ASK: look\nIt is 3 kg.", "ASK: look\nIt is 3 kg.", None),
        ("ASK: look, which", "ASK: look, which", None), ("ASK: look\n" * 10, "", "look"),
        ("It is red.\nASK: which\nASK: look", "It is red.", "look")
    ]
)  # fmt: skip
def test_only_the_last_line_asks_and_only_as_the_prompt_has_it(
    said: str, text: str, ask: str | None
) -> None:
    reply = parse_ask_line(Reply(text=said), LIVE)
    assert (reply.text, reply.ask) == (text, ask)
    assert parse_ask_line(Reply(text=said), Query(text="?")) == Reply(text=said)


def test_the_convention_stands_in_the_prompt_only_where_requests_are_heard() -> None:
    for may_ask in (True, False):
        query = Query(text="How heavy is it?", may_ask=may_ask)
        for make in (
            lambda m: BaselineAgent(Resources(), model=m, images=False, web=False, history=True),
            lambda m: ToolUser(m, ()),
        ):
            model = ScriptedModel("Closer?\nASK: look")
            reply = asyncio.run(make(model).answer(query))
            assert ("ASK: look" in model.calls[0][0].text) is may_ask
            assert (reply.ask == "look") is may_ask


def test_a_request_is_judged_as_no_answer_and_an_answer_with_one_as_an_answer() -> None:
    assert Reply(text="Closer?", ask="look").answer == "I don't know"
    assert Reply(text="", ask="which").answer == "I don't know"
    assert Reply(text="It is 3 kg.", ask="look").answer == "It is 3 kg."
    assert Reply(text="Is it 3 kg?").answer == "Is it 3 kg?"


@pytest.mark.parametrize("ask", ["dance", "", "look,which", "LOOK", ["look"] * 10, {}, 3])
def test_what_no_wearer_hears_is_an_error_that_says_what_is_heard(ask: Any) -> None:
    with pytest.raises(AgentError, match="which, look, again"):
        checked(Reply(text="?", ask=ask))
    assert checked(Reply(text="?", ask="look")).ask == "look"


def test_a_program_hears_that_it_may_ask_and_is_heard(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    turn = json.loads(line)\n"
        "    said = {'id': turn['id'], 'text': str(turn['history'])}\n"
        "    if turn.get('may_ask'):\n"
        "        said['ask'] = 'which'\n"
        "    print(json.dumps(said), flush=True)\n"
    )
    agent = command(resources=Resources(), run=f"python {program}")
    history = (Exchange(query="?", reply="Which?", ask="which"),)
    live = Query(text="?", may_ask=True, history=history)
    reply = asyncio.run(agent.answer(live))
    assert reply.ask == "which"
    assert "'ask': 'which'" in reply.text
    assert asyncio.run(agent.answer(Query(text="?"))).ask is None
    asyncio.run(agent.close())
