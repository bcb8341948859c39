"""The examples that CRAG and CRAG-MM publish for their graders, in our own words and names."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import JudgeItem, Outcome
from simulator.run.results.official import ScoredReply, as_in_kit

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
    (verdict,) = judge.judge_many([msgspec.convert(example, JudgeItem)])
    wanted = Outcome(example["outcome"])
    same = verdict.outcome.is_correct == wanted.is_correct and (
        (verdict.outcome is Outcome.MISSING) == (wanted is Outcome.MISSING)
    )
    assert same != (example["id"] in KNOWN_MISSES), verdict.reason


GRADING = [
    json.loads(line)
    for line in (Path(__file__).parent / "crag_grading_examples.jsonl").read_text().splitlines()
]
"""The 35 examples in the prompt of CRAG's public evaluation, in our own words and names.

Two contradict each other: a wrong name beside the right answer is right in 03, a wrong season in 04
is wrong.
"""


@pytest.mark.parametrize("protocol", ["strict", "crag"])
def test_each_grading_example_is_graded_as_published(judge: BuiltinJudge, protocol: str) -> None:
    items = [msgspec.convert(example, JudgeItem) for example in GRADING]
    assert len(items) == 35
    wrong: list[tuple[str, str]] = []
    for example, item, verdict in zip(GRADING, items, judge.judge_many(items), strict=True):
        turn = TurnScore(session_id="a", turn_index=0, outcome=verdict.outcome)
        found = as_in_kit(ScoredReply(turn=turn, item=item), protocol).outcome
        if merged(found) != merged(Outcome(example["outcome"])):
            wrong.append((example["id"], verdict.reason))
    assert not wrong


def merged(outcome: Outcome) -> str:
    return "correct" if outcome.is_correct else str(outcome)
