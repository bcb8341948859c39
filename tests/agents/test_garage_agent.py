"""GaRAGe's answering agent: what a model is shown of a published row, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from garage_rows import PASSAGES, garage_row

from mmrag.agents import agents
from mmrag.errors import SpecError
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Query, Reply
from simulator.datasets import open_data
from simulator.run.engine import query_of
from simulator.run.runner import Rules

SAID = "It is 40 m long [cite_1]. Ines Dahl built it [cite_2].\nIt was measured in 2022 [cite_3]."


def ask(tmp_path: Path, said: str = SAID) -> tuple[Reply, ScriptedModel]:
    path = tmp_path / "garage.jsonl"
    path.write_text(json.dumps(garage_row()), encoding="utf-8")
    [session] = open_data(f"garage:{path}")
    model = ScriptedModel(said)
    agent = agents.create("garage:model=m", resources=Resources(model=lambda _: model))
    query = query_of(session, session.turns[0], (), Rules())
    return asyncio.run(agent.answer(query)), model


def test_a_model_is_shown_every_passage_with_its_date(tmp_path: Path) -> None:
    _, model = ask(tmp_path)
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
    reply, model = ask(tmp_path)
    [[message]] = model.calls
    assert "Write a complete answer" in message.text
    assert "one sentence" not in message.text
    assert model.options[0].max_tokens == 1024
    assert reply.text == SAID
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
