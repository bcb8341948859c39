"""Amounts of money and shares: cents are no share of a hundred."""

from __future__ import annotations

import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome


@pytest.mark.parametrize(
    ("reference", "reply", "outcome"),
    [
        ("$0.88", "$0.88", Outcome.PERFECT),
        ("$0.88", "$1.96", Outcome.INCORRECT),
        ("$0.50", "50 cents", Outcome.PERFECT),
        ("0.25", "25%", Outcome.PERFECT),
        ("a quarter", "25 %", Outcome.PERFECT),
    ],
)
def test_amounts(reference: str, reply: str, outcome: Outcome) -> None:
    item = JudgeItem(question="How much was it?", references=(reference,), prediction=reply)
    assert BuiltinJudge().judge_many([item])[0].outcome is outcome
