"""Who names every colour, day or capital has named none, with commas or without."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem

COLOUR = ("What colour is the door?", "green")
CAPITAL = ("What is the capital?", "Canberra")


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
        (CAPITAL, "Sydney Melbourne Canberra Perth Brisbane"),
        (CAPITAL, "Sydney Canberra Perth Brisbane Hobart Darwin Melbourne"),
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
        (("Who led Germany?", "Merkel"), "Angela Dorothea Merkel"),
        (("Who is the chancellor?", "Merkel"), "Chancellor Angela Dorothea Merkel"),
        (("How many gold medals?", "3"), "Gold: 3"),
        (("When is it due?", "5 pm"), "Expected: 5 pm"),
    ],
)
def test_one_among_other_words_is_an_answer(asked: tuple[str, str], reply: str) -> None:
    assert is_right(asked, reply)
