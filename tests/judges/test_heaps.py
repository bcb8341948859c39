"""Who names every colour or day has named none, with commas or without."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem

COLOUR = ("What colour is the door?", "green")


def is_right(asked: tuple[str, str], reply: str) -> bool:
    question, reference = asked
    item = JudgeItem(question=question, references=(reference,), prediction=reply)
    (verdict,) = BuiltinJudge().judge_many([item])
    return verdict.outcome.is_correct


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (COLOUR, "red green blue yellow black white orange"),
        (COLOUR, "red green blue"),
        (COLOUR, "green (or blue)"),
        (COLOUR, "green/blue"),
        (COLOUR, "Probably green, though blue is just as likely."),
        (("In which month?", "March"), "January February March April"),
        (("Which day does it close?", "Monday"), "Sunday Monday Tuesday"),
        (("Which way does it face?", "north"), "north or south"),
        (("When was it built?", "1987"), "reference: 1987. My answer: 1990"),
    ],
)
def test_a_heap_answers_nothing(asked: tuple[str, str], reply: str) -> None:
    assert not is_right(asked, reply)


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (COLOUR, "green"),
        (COLOUR, "Green, not blue."),
        (COLOUR, "It is green with a red frame."),
        (COLOUR, "dark green"),
        (("Is the door green or blue?", "green"), "green"),
        (("Which colours does the flag have?", "green and white"), "green and white"),
        (("What colour is it?", "gray"), "Gray (or grey)."),
        (("Which side?", "west"), "The west side, at North Street and 3rd/4th Avenue"),
        (("Which car is it?", "Civic"), "Honda Civic Type R"),
        (("Where is it?", "Boston"), "Downtown Boston Massachusetts USA"),
        (("Which watch is it?", "116610LN"), "Rolex Submariner. Reference: 116610LN."),
        (("Where is it from?", "John 3:16"), "It is a Bible quote. Reference: John 3:16."),
        (("How many gold medals?", "3"), "Gold: 3"),
        (("When is it due?", "5 pm"), "Expected: 5 pm"),
    ],
)
def test_one_among_other_words_is_an_answer(asked: tuple[str, str], reply: str) -> None:
    assert is_right(asked, reply)
