"""Fields of yes and no, ratios, and lengths in two units: what a judge once misread."""

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
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "Gluten free: no, vegan: yes",
            True,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "It is vegan but not gluten free.",
            True,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "Vegan: yes. Gluten free: no.",
            True,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "Gluten free: yes / Vegan: no",
            False,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "Gluten free: no",
            False,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "Vegan: yes",
            False,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "It is gluten free and vegan.",
            False,
        ),
        (
            "Is it gluten free, and is it vegan?",
            "Gluten free: no / Vegan: yes",
            "It is vegan. It contains gluten.",
            True,
        ),
        (
            "What does the label say?",
            "Gluten free: no / Vegan: yes",
            "Gluten free no, vegan yes",
            True,
        ),
        ("Is it vegan?", "yes", "Gluten free: no, vegan: yes", True),
        ("Is it gluten free?", "no", "Gluten free: no, vegan: yes", True),
        ("Is it gluten free?", "yes", "Gluten free: no, vegan: yes", False),
        ("Is it vegan?", "no", "Gluten free: no, vegan: yes", False),
    ],
)
def test_each_field_is_compared_with_its_own(
    question: str, reference: str, reply: str, right: bool
) -> None:
    assert is_right(question, reference, reply) is right


@pytest.mark.parametrize(
    ("question", "reference", "reply", "right"),
    [
        ("What is the aspect ratio?", "16:9", "32:18", True),
        ("What is the aspect ratio?", "16:9", "16 to 9", True),
        ("What is the ratio of flour to water?", "2:1", "4:2", True),
        ("What is the ratio of flour to water?", "2:1", "two to one", True),
        ("What is the ratio of flour to water?", "two to one", "2:1", True),
        ("What is the ratio of flour to water?", "2:1", "one to two", False),
        ("What was the final score?", "2:1", "4:2", False),
        ("What is the scale of the map?", "1:50,000", "1:25,000", False),
        ("What is the scale of the map?", "1:50,000", "1 : 50 000", True),
        ("What is the scale of the map?", "1:50,000", "1:50000", True),
        ("What is the scale of the map?", "1:25,000", "1:50,000", False),
        ("Which ratio is larger, 3:1 or 2:1?", "3:1", "3:1 is larger than 2:1.", True),
        ("Which ratio is larger, 3:1 or 2:1?", "3:1", "2:1 is larger than 3:1.", False),
        ("Which ratio is larger, 3:1 or 2:1?", "3:1", "2:1 is smaller than 3:1.", True),
        (
            "Is the ratio of flour to water larger than 1:1?",
            "yes, 2:1",
            "Yes, it is 2:1, more than 1:1.",
            True,
        ),
        ("What is the ratio of flour to water?", "2:1", "2:1, not 1:2", True),
        ("What is the ratio of flour to water?", "2:1", "1:2, not 2:1", False),
        ("What is the ratio of boys to girls?", "3:2", "3 boys to 2 girls", True),
        ("What is the ratio of boys to girls?", "3:2", "2 boys to 3 girls", False),
    ],
)
def test_a_ratio_is_compared_as_one(question: str, reference: str, reply: str, right: bool) -> None:
    assert is_right(question, reference, reply) is right


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
