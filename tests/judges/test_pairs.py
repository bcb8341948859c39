"""Questions, references and replies with the outcome that a fair person gives, angle by angle.

The fresh pairs were written for a principle before it was mended, and misruled then; the plain ones
say what else each rule must do and must leave alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem, Outcome

PAIRS: dict[tuple[str, str], list[dict[str, Any]]] = {}
for file in ("fresh", "plain"):
    text = (Path(__file__).parent / f"{file}_pairs.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        pair = json.loads(line)
        PAIRS.setdefault((file, pair["angle"]), []).append(pair)


@pytest.mark.parametrize(("file", "angle"), PAIRS)
def test_pairs_are_judged_as_people_judge_them(file: str, angle: str) -> None:
    pairs = PAIRS[file, angle]
    items = [msgspec.convert(pair, JudgeItem) for pair in pairs]
    misruled = [
        (pair["question"], pair["prediction"], verdict.outcome, verdict.reason)
        for pair, verdict in zip(pairs, BuiltinJudge().judge_many(items), strict=True)
        if not same(file, Outcome(pair["outcome"]), verdict.outcome)
    ]
    assert misruled == []


def same(file: str, wanted: Outcome, found: Outcome) -> bool:
    """Of fresh pairs perfect and acceptable are alike."""
    return wanted is found or (file == "fresh" and wanted.is_correct and found.is_correct)
