"""How the built-in judge takes questions, references and replies apart."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin.parsed_question import Target, wordings
from mmrag.judges.builtin.parsed_text import Reading
from mmrag.judges.builtin.rules import rule
from mmrag.judges.builtin.vectors import Pieces, WordVectors
from mmrag.text.numbers import MONTHS, quantities


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    import numpy as np

    names = ["[UNK]", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnop")]
    return WordVectors(Pieces(names), np.eye(len(names), 64, dtype=np.int8) * 100)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("John Ross with a time of 4. 22 seconds set a record", 4.22),
        ("its length is 21,196. 18 kilometers", 21_196.18),
        ("it costs $33. 5 in all", 33.5),
    ],
)
def test_a_number_cut_at_its_point_is_one(text: str, value: float) -> None:
    assert [q.raw for q in Reading(text).quantities] == [value]


@pytest.mark.parametrize("text", ["It was built in 2004. 3 people saw it", "1. 3 eggs\n2. 2 cups"])
def test_the_end_of_a_sentence_is_no_decimal_point(text: str) -> None:
    assert all(q.raw == int(q.raw) for q in Reading(text).quantities)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("They have won it once, in 2010", [1, 2010]),
        ("It was once a church", []),
        ("Once upon a time", []),
        ("all at once", []),
        ("twice", [2]),
        ("three times", [3]),
    ],
)
def test_once_counts_where_it_does_not_mean_formerly(text: str, values: list[int]) -> None:
    assert [q.raw for q in Reading(text).quantities] == values


@pytest.mark.parametrize("text", ["", "no number", "May", "in May", "sixty", "the first", "10 May"])
def test_what_is_passed_over_holds_no_number_and_no_date(text: str) -> None:
    reading = Reading(text)
    assert reading.quantities == quantities(reading.tokens)
    assert bool(reading.dates) == ("10 May" in text)
    assert "may" in MONTHS


def test_places_and_roots_belong_to_the_words() -> None:
    reading = Reading("The drivers of the Golden Gate were driving. They never stopped!")
    assert [reading.words[i] for i in reading.places] == reading.content
    assert (
        reading.roots[reading.words.index("drivers")]
        == reading.roots[reading.words.index("driving")]
    )
    assert reading.stems[reading.roots[0]] == 0
    assert [reading.words[i] for i in reading.denials] == ["never"]
    assert len(reading.words) == len(reading.roots) == len(reading.capital) == len(reading.sentence)


def test_a_short_word_within_another_is_not_held() -> None:
    reading = Reading("He sat on a chair with gannets")
    assert not reading.holds("hair")
    assert reading.holds("chair")
    assert Reading("a hi-fi set").holds("hifi")


def test_an_answer_that_is_explained_stands_alone() -> None:
    found = {
        w.compact for w in wordings("In Mississippi, as Thomas Lanier. He took his name there")
    }
    assert {"mississippi", "mississippiasthomaslanier"} <= found


def test_what_a_reference_says_in_brackets(vectors: WordVectors) -> None:
    known = Target("What was the last US state?", ("Utah (State)", "Utah"), vectors).known
    assert not any(w.compact == "state" for w in known)
    assert any(w.compact == "utah" for w in known)
    known = Target("Which fruit is it?", ("Pear (fruit)",), vectors).known
    assert {w.compact for w in known} == {"pear", "pearfruit"}
    known = Target("Which company?", ("International Business Machines (IBM)",), vectors).known
    assert "ibm" in {w.compact for w in known}


def test_a_reference_that_is_in_the_question_stays(vectors: WordVectors) -> None:
    known = Target("Who won more, NFC or AFC?", ("NFC", "NFL"), vectors).known
    assert {w.compact for w in known} == {"nfc", "nfl"}


def test_core_is_what_aliases_share(vectors: WordVectors) -> None:
    references = ("Utah", "Climate of Utah", "Education in Utah", "Utahn", "UT state")
    core = Target("Which state?", references, vectors).core
    assert max(core, key=lambda root: core[root]) == "utah"


@pytest.mark.parametrize(
    ("question", "references", "reply", "correct"),
    [
        # True and false among their aliases.
        ("Taphephobia is the fear of losing your teeth?", ["False (logic)", "Falsehood", "False"],
         "No, it is the fear of being buried alive.", True),
        # Prose with commas is no list of options.
        ("how many wars held between india and pakistan", ["four"],
         "India and Pakistan have fought four major wars: in 1947, 1965, 1971, and 1999.", None),
        ("which city is this", ["Paris"], "Paris, London, Rome, Berlin, Madrid", False),
        ("how many times have they won the super bowl", ["1"], "They have won it once.", True),
    ],
)  # fmt: skip
def test_rules(
    vectors: WordVectors, question: str, references: list[str], reply: str, correct: bool | None
) -> None:
    ruling = rule(Target(question, tuple(references), vectors), Reading(reply))
    assert (None if ruling is None else ruling.correct) is correct
