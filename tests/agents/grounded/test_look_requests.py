"""When the grounded agent asks for another picture, and what it makes of a wearer's words."""

from __future__ import annotations

import asyncio

import pytest
from PIL import Image
from test_grounded import NAME, agent

from mmrag.agents.grounded.abstain import Calibration
from mmrag.agents.grounded.agent import GroundedAgent
from mmrag.agents.grounded.grounded_parts import Parts
from mmrag.agents.grounded.look_requests import (
    MOST_LOOKS,
    REQUEST,
    split_repeated_query,
    wants_look,
)
from mmrag.agents.grounded.scene_records import Candidate, Finding, Scene, named_scene
from mmrag.agents.grounded.wearer_hints import split_introductions
from mmrag.agents.reply_format import ABSTAIN
from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import Evidence, Exchange, Query
from mmrag.search.in_memory_search import MemoryImageSearch, MemoryWebSearch

QUESTION = "How heavy is this kettle?"
ASKED = Exchange(query=QUESTION, reply=REQUEST, ask="look")
CALIBRATION = Calibration(bias=2.0, weights={}, luck=0.2)  # reading goes well in 88 %


def picture(colour: str = "white") -> LazyImage:
    return LazyImage.from_pil(Image.new("RGB", (64, 64), colour))


def query(text: str = QUESTION, *history: Exchange, **more: object) -> Query:
    return Query(text=text, image=picture(), history=history, may_ask=True, **more)


def scene(confidence: float) -> Scene:
    return Scene(main=Candidate(name="Alder Brook Kettle", confidence=confidence, source="ocr"))


@pytest.mark.parametrize(
    "said",
    ["I've gone closer. How heavy is this kettle?",
     "I mean the kettle on the left. How heavy is this kettle?",
     "Let me put it another way: What does this kettle weigh?"],
)  # fmt: skip
def test_a_question_that_is_put_again_is_one_question(said: str) -> None:
    earlier = Exchange(query="What is this kettle called?", reply="Alder Brook Kettle")
    heard = split_repeated_query(query(said, earlier, ASKED))
    assert heard.query.text in (QUESTION, "What does this kettle weigh?")
    assert (heard.query.history, heard.requests) == ((earlier,), 1)


def test_a_request_that_came_to_nothing_is_a_turn_without_an_answer() -> None:
    heard = split_repeated_query(query("And how tall is it?", ASKED))
    assert heard.query.history == (Exchange(query=QUESTION, reply=ABSTAIN),)
    assert heard.requests == 0


def test_what_follows_an_answer_is_left_as_it_is() -> None:
    said = Exchange(query="How tall is it?", reply="3 m")
    text = "Of the two kettles here, take the one that weighs more: how tall is it?"
    assert split_repeated_query(query(text, said)).query.text == text


@pytest.mark.parametrize(
    ("recognition", "asks"), [(0.1, True), (0.5, True), (0.7, True), (0.95, False), (1.0, False)]
)
def test_it_asks_where_doubt_about_the_thing_is_worth_it(recognition: float, asks: bool) -> None:
    finding = Finding(text="900 g", recognition=recognition)
    assert (
        wants_look(split_repeated_query(query()), finding, scene(recognition), CALIBRATION, 0.5)
        is asks
    )


def test_it_does_not_ask_where_reading_is_the_trouble() -> None:
    poor = Calibration(bias=-2.0, weights={}, luck=0.2)
    assert not wants_look(
        split_repeated_query(query()), Finding(text="x", recognition=0.5), scene(0.5), poor, 0.5
    )


def test_it_asks_once_a_question_and_never_where_nobody_hears_or_a_look_came_to_nothing() -> None:
    finding = Finding(text="900 g", recognition=0.3)

    def asks(query: Query) -> bool:
        return wants_look(split_repeated_query(query), finding, scene(0.3), CALIBRATION, 0.5)

    again = "I've gone closer. " + QUESTION
    one = (picture("black"),)
    assert asks(query())
    assert not asks(query(again, ASKED, earlier=one))
    assert asks(query("How tall is this kettle?", ASKED, earlier=one))
    assert not asks(query("How tall is this kettle?", ASKED))  # no picture came of it
    assert not asks(query(earlier=one * MOST_LOOKS))
    assert not asks(Query(text=QUESTION, image=picture()))
    assert not asks(Query(text=QUESTION, may_ask=True))


def test_an_earlier_picture_counts_where_it_showed_the_thing_better() -> None:
    name = "Alder Brook Kettle"
    good, bad = picture("red"), picture("black")
    hits = (
        Evidence(source="image-kg", id="7", score=0.9, text=name, attributes={"weight": "900 g"}),
    )
    search = MemoryImageSearch({good.sha256: hits}, default=())
    agent = GroundedAgent(
        Resources(image_search=search, web_search=MemoryWebSearch(())),
        Parts.choose({"ocr": "off", "ask": "off"}), calibration=Calibration(bias=5.0, weights={}),
    )  # fmt: skip
    alone = Query(text=QUESTION, image=bad, may_ask=True)
    both = Query(text=QUESTION, image=bad, earlier=(good,), may_ask=True)
    assert asyncio.run(agent.answer(alone)).text == ABSTAIN
    assert asyncio.run(agent.answer(both)).text == "900 g"


# -- talking


def asked(text: str, *before: str) -> Query:
    history = tuple(Exchange(query=one, reply="I don't know") for one in before)
    return Query(text=text, history=history)


@pytest.mark.parametrize(
    ("text", "question", "names"),
    [
        ("How heavy is it? (This is Alder Kettle.)", "How heavy is it?", ("Alder Kettle",)),
        ("Which is older? (These are Ash and Elm Jar.)", "Which is older?", ("Ash", "Elm Jar")),
        (
            "Which is longer? (These are Nell and the Glory, Ash, and Elm.)",
            "Which is longer?",
            ("Nell and the Glory", "Ash", "Elm"),
        ),
        ("Who wrote it (It is Nell and the Glory)", "Who wrote it", ("Nell and the Glory",)),
        ("How heavy is it?", "How heavy is it?", ()),
        ("Is it lighter (and cheaper)?", "Is it lighter (and cheaper)?", ()),
        ("(This is Alder Kettle.)", "(This is Alder Kettle.)", ()),
    ],
)
def test_a_name_in_brackets_is_taken_out(text: str, question: str, names: tuple[str]) -> None:
    query, said = split_introductions(asked(text))
    assert (query.text, said) == (question, names)


def test_so_it_is_out_of_the_questions_before() -> None:
    query, _ = split_introductions(
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
