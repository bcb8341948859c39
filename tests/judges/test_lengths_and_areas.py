"""Lengths in two units, and areas: what a judge once misread."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem


def is_right(question: str, reference: str, reply: str) -> bool:
    item = JudgeItem(question=question, references=(reference,), prediction=reply)
    return BuiltinJudge().judge_many([item])[0].outcome.is_correct


@pytest.mark.parametrize(
    ("question", "reference", "reply", "right"),
    [
        ("How long is the rope?", "102 cm", "1 m 2 cm", True),
        ("How long is the rope?", "1.02 m", "1 m 2 cm", True),
        ("How long is the rope?", "1 m 2 cm", "102 cm", True),
        ("How long is the rope?", "1 m 2 cm", "2 cm", False),
        ("How long is the rope?", "3.5 km", "3 km 500 m", True),
        ("How long is it?", "2.3 cm", "2 cm 3 mm", True),
        ("How large is the room?", "20 square metres", "20 m2", True),
        ("How large is the room?", "20 m²", "20 square metres", True),
        ("How large is the room?", "20 m 2", "20 square metres", True),
    ],
)
def test_a_length_may_be_told_in_two_units_and_an_area_in_one(
    question: str, reference: str, reply: str, right: bool
) -> None:
    assert is_right(question, reference, reply) is right
