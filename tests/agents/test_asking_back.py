"""How chat models and programs ask back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mmrag.agents.ask_line import parse_ask_line
from mmrag.agents.own.adapters import command
from mmrag.agents.own.reply_checks import checked
from mmrag.agents.paper.baselines import Straightforward
from mmrag.agents.tool_user import ToolUser
from mmrag.errors import AgentError
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Exchange, Query, Reply

LIVE = Query(text="How heavy is it?", may_ask=True)


@pytest.mark.parametrize(
    ("said", "text", "ask"),
    [
        ("Closer, please?\nASK: look", "Closer, please?", "look"),
        ("ASK: which", "", "which"),
        ("It is 3 kg.\nASK: again\n", "It is 3 kg.", "again"),
        ("ASK: dance", "ASK: dance", None),
        ("ask: look", "ask: look", None),
        ("ASK: look\nIt is 3 kg.", "ASK: look\nIt is 3 kg.", None),
        ("ASK: look, which", "ASK: look, which", None),
        ("ASK: look\n" * 10, "", "look"),
        ("It is red.\nASK: which\nASK: look", "It is red.", "look"),
    ],
)
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
            lambda m: Straightforward(Resources(), model=m, images=False, web=False, history=True),
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
