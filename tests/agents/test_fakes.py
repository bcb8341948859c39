from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from garage_rows import PASSAGES, garage_row

from mmrag.agents import agents
from mmrag.agents.prompt_templates import render_prompt
from mmrag.agents.trace import Trace, watch_steps
from mmrag.errors import DataError, SpecError
from mmrag.files.images import LazyImage
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message, Resources
from mmrag.records import Evidence, Query, Reply
from simulator.datasets import open_data
from simulator.run.engine import query_of
from simulator.run.runner import Rules


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
    assert (replies, model.calls[0][0].text) == (["first", "second", "second"], "hello there")
    echo = ScriptedModel(lambda asked: asked[-1].text.upper())
    assert asyncio.run(echo.generate(messages)).text == "HELLO THERE"


# -- tracing


def test_steps_nest_and_keep_what_was_found() -> None:
    trace = Trace()
    with trace.step("web", queries=2) as outer:
        with trace.step("rerank") as inner:
            inner.found([Evidence(source="web", id="a", score=1.0)])
        outer.info["kept"] = 1
    (web,) = trace.steps
    assert (web.info, web.steps[0].evidence[0].id) == ({"queries": 2, "kept": 1}, "a")
    assert 0 <= web.steps[0].seconds <= web.seconds
    assert web.start <= web.steps[0].start


def test_a_step_that_fails_is_in_the_trace() -> None:
    trace = Trace()
    with pytest.raises(ValueError, match="no"), trace.step("read"):
        raise ValueError("no")
    assert [step.name for step in trace.steps] == ["read"]


def test_watchers_see_their_own_context_only() -> None:
    async def work(name: str, seen: list[str]) -> None:
        with watch_steps(lambda step: seen.append(step.name)):
            await asyncio.sleep(0)
            with Trace().step(name):
                await asyncio.sleep(0)

    async def both() -> tuple[list[str], list[str]]:
        one: list[str] = []
        two: list[str] = []
        await asyncio.gather(work("a", one), work("b", two))
        return one, two

    assert asyncio.run(both()) == (["a"], ["b"])
    with Trace().step("nobody watches"):
        pass


# -- prompts

SOURCES = {
    (True, True): "on the picture, on facts you were given and on facts you are sure of.",
    (True, False): "on the picture and on facts you are sure of.",
    (False, True): "on facts you were given and on facts you are sure of.",
    (False, False): "on facts you are sure of.",
}


@pytest.mark.parametrize(("picture", "searches"), SOURCES)
def test_what_an_answer_must_rest_on(picture: bool, searches: bool) -> None:
    text = render_prompt(
        "baseline_system", multi_turn=False, searches=searches, picture=picture, gaze=None,
        may_ask=False, brief=True,
    )  # fmt: skip
    assert f"1. What you say must rest {SOURCES[picture, searches]}\n" in text


@pytest.mark.parametrize(
    ("answer", "tokens", "asks"), [("brief", 75, "one sentence"), ("full", 1280, "Answer in full")]
)
def test_rag_asks_for_as_much_as_the_task_wants(answer: str, tokens: int, asks: str) -> None:
    """CRUD-RAG's references are paragraphs, and 75 tokens of them are no answer."""
    model = ScriptedModel("x")
    resources = Resources(model=lambda _: model)
    agent = agents.create(f"rag:model=m,answer={answer}", resources=resources)
    asyncio.run(agent.answer(Query(text="?")))
    assert model.options[0].max_tokens == tokens
    assert asks in model.calls[0][0].text


def test_an_answer_that_is_neither() -> None:
    with pytest.raises(SpecError, match="choose brief or full"):
        agents.create("rag:reader=builtin,answer=long", resources=Resources())


# -- garage agent

SAID = "It is 40 m long [cite_1]. Ines Dahl built it [cite_2].\nIt was measured in 2022 [cite_3]."


def ask_agent(tmp_path: Path, said: str = SAID) -> tuple[Reply, ScriptedModel]:
    path = tmp_path / "garage.jsonl"
    path.write_text(json.dumps(garage_row()), encoding="utf-8")
    [session] = open_data(f"garage:{path}")
    model = ScriptedModel(said)
    agent = agents.create("garage:model=m", resources=Resources(model=lambda _: model))
    query = query_of(session, session.turns[0], (), Rules())
    return asyncio.run(agent.answer(query)), model


def test_a_model_is_shown_every_passage_with_its_date(tmp_path: Path) -> None:
    _, model = ask_agent(tmp_path)
    [[message]] = model.calls
    shown = message.text
    for number, (_, date, provider, text) in enumerate(PASSAGES, start=1):
        source = {"ent": "private"}.get(provider, provider)
        assert f"[cite_{number}] ({source}, {date})\n{text}\n" in shown
    assert "### Date of the question\n2031-02-03\n" in shown
    assert "### Question\nHow long is Port Olm's bridge now?\n### Answer" in shown
    for label in ("outdated\n", "answers\n", "irrelevant\n"):
        assert label not in shown


def test_a_full_answer_with_citations_is_asked_for_and_kept(tmp_path: Path) -> None:
    reply, model = ask_agent(tmp_path)
    [[message]] = model.calls
    assert "Write a complete answer" in message.text
    assert "one sentence" not in message.text
    assert (model.options[0].max_tokens, reply.text) == (1024, SAID)
    assert reply.citations == ("cite_1", "cite_2", "cite_3")
    [step] = [step for step in reply.trace if step.evidence]
    assert [item.id for item in step.evidence] == [f"cite_{n}" for n in range(1, 6)]


def test_without_passages_or_models() -> None:
    model = ScriptedModel("There is not enough grounding for an answer.")
    agent = agents.create("garage:model=m", resources=Resources(model=lambda _: model))
    reply = asyncio.run(agent.answer(Query(text="How long is it?")))
    assert reply.citations == ()
    with pytest.raises(SpecError, match="no models"):
        agents.create("garage:model=m", resources=Resources())
