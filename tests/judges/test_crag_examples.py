"""The 22 examples that CRAG and CRAG-MM publish for their graders, in our own words and names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parent / "crag_examples.jsonl").read_text().splitlines()
]
KNOWN_MISSES = {"08", "11", "18", "22"}
"""A contradiction between the lines, a list in a sentence, "lion" for lion-dog, a mixed-up name."""


@pytest.fixture(scope="module")
def judge() -> BuiltinJudge:
    return BuiltinJudge()


def test_there_are_twenty_two() -> None:
    assert len(EXAMPLES) == 22


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_an_example_is_graded_as_published(judge: BuiltinJudge, example: dict[str, str]) -> None:
    item = JudgeItem(
        question=example["question"],
        references=tuple(example["references"]),
        prediction=example["prediction"],
    )
    (verdict,) = judge.judge_many([item])
    wanted = Outcome(example["outcome"])
    same = verdict.outcome.is_correct == wanted.is_correct and (
        (verdict.outcome is Outcome.MISSING) == (wanted is Outcome.MISSING)
    )
    assert same != (example["id"] in KNOWN_MISSES), verdict.reason
