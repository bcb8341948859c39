"""Plain right replies that a rule once took for something else."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.judges import judges
from mmrag.records import JudgeItem


def outcome(question: str, reference: str, reply: str) -> str:
    item = JudgeItem(question=question, references=(reference,), prediction=reply)
    return str(asyncio.run(judges.create("builtin").judge(item)).outcome)


@pytest.mark.parametrize(
    ("question", "reference", "reply"),
    [
        ("Who was this book written by?", "George Orwell", "Orwell"),
        ("When was this song written?", "March 1965", "1965"),
        ("What is prohibited by this sign?", "Smoking", "No smoking"),
        ("What does this cola lack?", "sugar", "It comes without sugar."),
        ("Who wrote this book?", "Jane Austen", "Emma, a novel by Jane Austen."),
        ("Who painted this?", "Van Gogh", "Starry Night, a painting by Vincent van Gogh."),
        ("When was he first elected?", "2008", "He was elected in 2008 after returning to Rome."),
        ("Which way do I go?", "Line 2 then Line 5", "Line 2 → Line 5"),
        ("What was the final score?", "2:1", "Bayern vs Dortmund\nScore: 2:1"),
        ("What was the verdict?", "guilty", "The trial ended in 1995.\nVerdict: guilty"),
        ("Is this headset wireless?", "yes", "It is wireless."),
        ("Is this the red line?", "No", "No, sorry, this is the blue line."),
        ("Can I pay by card?", "No", "No, sorry, they take cash only."),
        ("Is it allowed to smoke here?", "No", "No, sorry, smoking is banned here."),
        ("Who is this man?", "Tim Cook", "Great Question. Tim Cook."),
        ("Where am I?", "Times Square", "New York. Times Square."),
        ("Who wrote it?", "Mark Twain", "Samuel Clemens. He used the pen name Mark Twain."),
        (
            "Which building is it?",
            "The Empire State Building",
            "Art Deco. The Empire State Building.",
        ),
        ("Who is this woman?", "Marie Curie", "Nobel Laureate. Marie Curie."),
        ("Which city is this?", "New York City", "Big Apple. It is New York City."),
        ("Which river is this?", "River Thames", "Tower Bridge. It crosses the River Thames."),
        ("Is the shop open?", "No", "The shop is closed, sorry, come back tomorrow."),
        ("What colour did you say it was?", "Red", "I said red."),
        ("What colour did you say it was?", "Red", "I said it is red."),
        ("When does it open?", "9 am", "Closed before 9 am"),
        ("When does it open?", "9 am", "It stays closed overnight and reopens 9 am"),
        ("When does it close?", "6 pm", "Not open past 6 pm"),
        ("When does it close?", "5 pm", "No longer open after 5 pm"),
    ],
)
def test_a_plain_right_reply_is_right(question: str, reference: str, reply: str) -> None:
    assert outcome(question, reference, reply) == "perfect"


def test_silence_is_no_way_to_say_that_nobody_knows() -> None:
    assert outcome("What is it called?", "unknown", "") == "missing"
    assert outcome("What is it called?", "unknown", "Nobody knows.") == "perfect"


@pytest.mark.parametrize(
    ("question", "reference", "reply"),
    [
        ("What colour is it?", "red", "I'm not sure. Blue."),
        ("What make is it?", "Honda", "I can't tell you much about it. Toyota."),
    ],
)
def test_a_guess_behind_a_refusal_is_a_guess(question: str, reference: str, reply: str) -> None:
    assert outcome(question, reference, reply) == "incorrect"


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Did it open in 2001?", "In 2004"),
        ("Is the museum open on Mondays?", "Every Tuesday"),
        ("Was the tower finished before 1900?", "In 1931"),
        ("Is the sale today?", "Last week"),
        ("Was it built in the 19th century?", "In 1931"),
        ("Did he arrive in March?", "Since May"),
        ("Is it on this morning?", "Every night"),
    ],
)
def test_another_time_is_no_yes(question: str, reply: str) -> None:
    assert outcome(question, "Yes", reply) == "incorrect"


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Did this bridge ever collapse?", "In 1940"),
        ("Has he won the race?", "Twice"),
        ("Has the shop opened yet?", "Last week"),
        ("Does the fountain run?", "Every evening"),
    ],
)
def test_a_time_is_a_yes_where_none_was_asked_about(question: str, reply: str) -> None:
    assert outcome(question, "Yes", reply) == "perfect"


def test_a_clause_of_another_time_is_still_told_from_that_asked_for() -> None:
    assert outcome("When does it open?", "9 am", "It closes at 9 am.") == "incorrect"
