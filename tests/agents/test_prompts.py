"""What a chat model reads first: whole sentences, whatever is shown to it."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.agents import agents
from mmrag.agents.templates import render
from mmrag.errors import SpecError
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.records import Query

SOURCES = {
    (True, True): "on the picture, on facts you were given and on facts you are sure of.",
    (True, False): "on the picture and on facts you are sure of.",
    (False, True): "on facts you were given and on facts you are sure of.",
    (False, False): "on facts you are sure of.",
}


@pytest.mark.parametrize(("picture", "searches"), SOURCES)
def test_what_an_answer_must_rest_on(picture: bool, searches: bool) -> None:
    text = render(
        "baseline_system", multi_turn=False, searches=searches, picture=picture, gaze=None,
        may_ask=False, brief=True,
    )  # fmt: skip
    assert f"1. What you say must rest {SOURCES[picture, searches]}\n" in text


@pytest.mark.parametrize(
    ("answer", "tokens", "asks"),
    [("brief", 75, "one sentence"), ("full", 1280, "Answer in full")],
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
