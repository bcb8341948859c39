from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mmrag.agents import agents
from mmrag.errors import DataError, SpecError
from mmrag.files.images import LazyImage
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message, Resources
from mmrag.records import Query, Reply


def ask(agent, session: str = "s", turn: int = 0, text: str = "what is it?") -> Reply:
    query = Query(text=text, image=LazyImage.from_bytes(b"x"), session_id=session, turn_index=turn)
    return asyncio.run(agent.answer(query))


def make(spec: str):
    return agents.create(spec, resources=Resources())


def test_scripted_by_place_then_by_query(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(
        '{"session_id": "s", "turn_index": 1, "reply": "by place"}\n'
        '\n{"query": "what is it?", "reply": "by query"}\n'
    )
    agent = make(f"scripted:file={file}")
    assert ask(agent, turn=1).text == "by place"
    assert ask(agent, turn=2).text == "by query"
    unknown = ask(agent, text="something else")
    assert unknown.text == "I don't know"
    assert unknown.abstained


@pytest.mark.parametrize("text", ["not json", '{"reply": "x"}', '{"query": "x"}', "[]"])
def test_a_broken_script_names_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"query": "a", "reply": "b"}\n' + text + "\n")
    with pytest.raises(DataError, match=r"replies\.jsonl, line 2"):
        make(f"scripted:file={file}")


def test_random_depends_on_the_place_alone() -> None:
    one = [ask(make("random:seed=1"), f"s{i}").text for i in range(60)]
    assert one == [ask(make("random:seed=1"), f"s{i}").text for i in range(60)]
    assert one != [ask(make("random:seed=2"), f"s{i}").text for i in range(60)]
    assert 15 < one.count("I don't know") < 45
    assert all(ask(make("random:abstain=1"), f"s{i}").abstained for i in range(9))


def test_faults_come_at_their_rate() -> None:
    agent = make("faulty:agent=random,errors=0.3,empty=0.2,seed=4")
    texts: list[str] = []
    for i in range(200):
        try:
            texts.append(ask(agent, f"s{i}").text)
        except RuntimeError:
            texts.append("error")
    assert 40 < texts.count("error") < 80
    assert 20 < texts.count("") < 60


@pytest.mark.parametrize(
    "spec", ["scripted", "random:abstain=2", "faulty:errors=0.9,empty=0.9", "faulty:agent=nobody"]
)
def test_nonsense_is_a_spec_error(spec: str) -> None:
    with pytest.raises(SpecError):
        make(spec)


def test_the_scripted_model_keeps_what_it_was_asked() -> None:
    model = ScriptedModel(["first", "second"])
    messages = [Message(role="user", text="hello there")]
    replies = [asyncio.run(model.generate(messages)).text for _ in range(3)]
    assert replies == ["first", "second", "second"]
    assert model.calls[0][0].text == "hello there"
    echo = ScriptedModel(lambda asked: asked[-1].text.upper())
    assert asyncio.run(echo.generate(messages)).text == "HELLO THERE"
