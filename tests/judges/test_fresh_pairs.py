"""Pairs that were written for a principle before it was mended, and misruled then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "fresh_pairs.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("angle", sorted({pair["angle"] for pair in PAIRS}))
def test_each_principle_holds_for_its_fresh_pairs(angle: str) -> None:
    pairs = [pair for pair in PAIRS if pair["angle"] == angle]
    verdicts = BuiltinJudge().judge_many(
        [
            JudgeItem(
                id=str(number),
                question=pair["question"],
                references=tuple(pair["references"]),
                prediction=pair["prediction"],
            )
            for number, pair in enumerate(pairs)
        ]
    )
    misruled = [
        (pair["question"], pair["prediction"], verdict.reason)
        for pair, verdict in zip(pairs, verdicts, strict=True)
        if merged(Outcome(pair["outcome"])) != merged(verdict.outcome)
    ]
    assert misruled == []


def merged(outcome: Outcome) -> str:
    return "correct" if outcome.is_correct else str(outcome)
