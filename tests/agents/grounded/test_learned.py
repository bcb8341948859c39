"""The learned planner and reader: what people say and write, beyond any one grammar."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from mmrag.agents.grounded.agent import SentenceMeaning
from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.learned.cues import answering
from mmrag.agents.grounded.learned.heads import read_weights
from mmrag.agents.grounded.learned.planner import LearnedPlanner
from mmrag.agents.grounded.learned.reading import LearnedReader
from mmrag.agents.grounded.learned.spans import joined, propose
from mmrag.agents.grounded.learned.times import hour_in, moment_in, number_in
from mmrag.agents.grounded.plan import GROUP
from mmrag.agents.grounded.scene import Candidate, Scene
from mmrag.errors import DataError
from mmrag.records import Evidence

NOW = "2031-02-10T12:00"
PAGE = Evidence(
    id="p",
    source="web",
    title="Marrow Vale Kettle",
    score=1.0,
    text="Marrow Vale Kettle came out in 2024. After a week with Marrow Vale Kettle on the hob we no "
    "longer felt the 900 g. Ada Torvick drew every line of Marrow Vale Kettle. I rather like it.",
)


@cache
def planner() -> LearnedPlanner:
    return LearnedPlanner(SentenceMeaning())


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("hey, how heavy's this kettle", "lookup"),
        ("With 60 dollars, how many of these could I take home?", "fits"),
        ("Out of all these mugs, which is the cheapest?", "extreme"),
        ("how long until this shop closes", "minutes-left"),
        ("What's the weight of this kettle in pounds?", "convert"),
        ("Is this heavier than the Harrow Lane Kettle?", "compare"),
    ],
)
def test_questions_in_nobodys_form_are_planned(question: str, operation: str) -> None:
    assert planner().plan(question, Talk(), NOW).operation == operation


@pytest.mark.parametrize("question", ["", "\u200b", "\u00ad\ufeff", "\ud800", "this \u200b kettle"])
def test_what_nobody_can_read_is_planned_all_the_same(question: str) -> None:
    assert planner().plan(question, Talk(), NOW).operation


def test_a_relation_is_gone_through() -> None:
    plan = planner().plan("When was the firm that makes this kettle founded?", Talk(), NOW)
    assert plan.subject.path == ("the firm that makes",)
    assert "founded" in plan.ask


def test_the_cheapest_in_view_is_the_least_of_a_group() -> None:
    plan = planner().plan("Which of these kettles is the cheapest?", Talk(), NOW)
    assert (plan.subject.kind, plan.larger) == (GROUP, False)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how heavy is this kettle", "900 g"),
        ("Who designed this kettle?", "Ada Torvick"),
        ("what year did this kettle come out", "2024"),
    ],
)
def test_values_are_read_from_prose_in_nobodys_form(question: str, answer: str) -> None:
    plan = planner().plan(question, Talk(), NOW)
    scene = Scene(main=Candidate(name="Marrow Vale Kettle", confidence=1.0, source="ocr"))
    found = LearnedReader(SentenceMeaning()).read(plan, scene, Desk([PAGE]), NOW)
    assert found is not None
    assert found.text == answer


def test_what_no_line_states_is_not_answered() -> None:
    plan = planner().plan("where was this kettle made, which town", Talk(), NOW)
    scene = Scene(main=Candidate(name="Marrow Vale Kettle", confidence=1.0, source="ocr"))
    assert LearnedReader(SentenceMeaning()).read(plan, scene, Desk([PAGE]), NOW) is None


def test_spans_end_with_what_is_counted() -> None:
    said = "It has sold 1,379,818 units since 3 May 2027, 20 to 35 metres high, in Port Ashel."
    kinds = {s.text: s.kind for s in propose(said)}
    assert kinds["1,379,818 units"] == "count"
    assert kinds["3 May 2027"] == "date"
    assert kinds["20 to 35 metres"] == "length"
    assert kinds["Port Ashel"] == "name"


def test_spoken_numbers_hours_and_days() -> None:
    assert [number_in(t) for t in ("a hundred euros", "fifty-five", "a dozen", "some")] == [
        100.0,
        55.0,
        12.0,
        None,
    ]
    assert [hour_in(t) for t in ("half past six", "quarter to nine tonight", "8 pm", "soon")] == [
        "18:30",
        "20:45",
        "20:00",
        "",
    ]
    said = ("last March", "two years ago", "yesterday", "some day")
    assert [moment_in(t, NOW) for t in said] == ["2030-03", "2029-02", "2031-02-09", ""]


def test_a_question_word_rules_kinds_out() -> None:
    assert "mass" not in answering("Who built it?")
    assert answering("how heavy is it") == {"mass"}
    assert answering("what is it like") == frozenset()


def test_weights_of_another_make_are_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "reader.safetensors"
    file.write_bytes(b"nothing")
    with pytest.raises(DataError, match="planner=rules,reader=rules"):
        read_weights(file)


@pytest.mark.parametrize(
    ("text", "said", "kind"),
    [
        ("It has sixteen strings.", "sixteen strings", "count"),
        ("It was built in ninety days.", "ninety days", "duration"),
        ("A mark is at a hundred and fourteen metres.", "a hundred and fourteen metres", "length"),
        ("It is four and a half inches wide.", "four and a half inches", "length"),
        ("It took twenty-nine years.", "twenty-nine years", "duration"),
        ("It is 35 per cent fat.", "35 per cent", "share"),
        ("The hall has 518,000 square metres.", "518,000 square metres", "area"),
        ("Its light is seen for 18 nautical miles.", "18 nautical miles", "length"),
        ("The fine is 300 Australian dollars.", "300 Australian dollars", "money"),
    ],
)
def test_numbers_are_read_to_their_end(text: str, said: str, kind: str) -> None:
    assert (said, kind) in [(s.text, s.kind) for s in propose(text)]


@pytest.mark.parametrize(
    ("text", "said", "kind"),
    [
        ("It has a case of brown Bakelite.", "brown Bakelite", "text"),
        ("It served for lining the moulds of cannonballs.", "moulds of cannonballs", "text"),
        (
            "It is found in Africa, Asia and southern Europe.",
            "Africa, Asia and southern Europe",
            "list",
        ),
    ],
)
def test_neighbours_may_be_one_value(text: str, said: str, kind: str) -> None:
    assert any(s.text.endswith(said) and s.kind == kind for s in joined(propose(text), text))
