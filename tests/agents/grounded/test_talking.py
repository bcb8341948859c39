"""What a wearer says that the thing is."""

from __future__ import annotations

import asyncio

import pytest
from test_grounded import NAME, agent

from mmrag.agents.grounded.scene_records import Candidate, Scene, named_scene
from mmrag.agents.grounded.wearer_hints import introduced
from mmrag.records import Evidence, Exchange, Query


def asked(text: str, *before: str) -> Query:
    history = tuple(Exchange(query=one, reply="I don't know") for one in before)
    return Query(text=text, history=history)


@pytest.mark.parametrize(
    ("text", "question", "names"),
    [
        ("How heavy is it? (This is Alder Kettle.)", "How heavy is it?", ("Alder Kettle",)),
        ("Which is older? (These are Ash and Elm Jar.)", "Which is older?", ("Ash", "Elm Jar")),
        ("Who wrote it (It is Nell and the Glory)", "Who wrote it", ("Nell and the Glory",)),
        ("How heavy is it?", "How heavy is it?", ()),
        ("Is it lighter (and cheaper)?", "Is it lighter (and cheaper)?", ()),
        ("(This is Alder Kettle.)", "(This is Alder Kettle.)", ()),
    ],
)
def test_a_name_in_brackets_is_taken_out(text: str, question: str, names: tuple[str]) -> None:
    query, said = introduced(asked(text))
    assert (query.text, said) == (question, names)


def test_so_it_is_out_of_the_questions_before() -> None:
    query, _ = introduced(
        asked("And if I take three? (This is Ash.)", "What is it? (This is Ash.)")
    )
    assert [one.query for one in query.history] == ["What is it?"]


def test_what_is_said_is_what_is_in_view() -> None:
    page = Evidence(id="1", source="image-kg", text="Ash", score=0.4)
    seen = Candidate(name="Ash", confidence=0.4, source="image-kg", evidence=(page,))
    scene = named_scene(Scene(main=Candidate(name="Elm", confidence=0.6, source="ocr"),
                              beside=(seen,)), ("Ash", "Oak"))  # fmt: skip
    assert scene.main == Candidate(name="Ash", confidence=1.0, source="said", evidence=(page,))
    assert [one.name for one in scene.beside] == ["Oak"]


def test_a_thing_that_is_named_needs_no_picture() -> None:
    question = "What's this kettle's weight?"
    bare = asyncio.run(agent().answer(asked(question)))
    assert bare.abstained
    named = asyncio.run(agent().answer(asked(f"{question} (This is {NAME}.)")))
    assert named.text == "900 g"
