"""`mmrag judge stress`: how far a judge can be played, angle by angle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag

from mmrag.judges import stress
from mmrag.judges.stress import StressPair, read_pairs, tally
from mmrag.records import Outcome

PAIRS = [
    {"id": "1", "angle": "negation", "question": "Which city?", "references": ["Paris"],
     "prediction": "Paris", "outcome": "perfect"},
    {"id": "2", "angle": "negation", "question": "Which city?", "references": ["Paris"],
     "prediction": "Not Paris.", "outcome": "incorrect"},
    {"id": "3", "angle": "refusal", "question": "Which city?", "references": ["Paris"],
     "prediction": "I don't know.", "outcome": "missing"},
    {"id": "4", "angle": "refusal", "question": "Which city?", "references": ["Paris"],
     "prediction": "It is Paris.", "outcome": "acceptable"},
]  # fmt: skip


@pytest.fixture
def halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of its own: two pairs open, two held."""
    for name, rows in (("open", PAIRS[:2]), ("held", PAIRS[2:])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    monkeypatch.setattr(stress, "FOLDER", tmp_path)
    return tmp_path


def run(*arguments: object) -> str:
    return mmrag("judge", "stress", *arguments).stdout


def test_a_judge_that_always_says_perfect_is_shown_to_accept_what_is_wrong(halves: Path) -> None:
    found = json.loads(run("--judge", "fixed:outcome=perfect", "--half", "both", "--json"))
    assert found["angles"]["negation"] | {"interval": None} == {
        "n": 2, "right": 1, "accepted": 1, "rejected": 0, "unscored": 0, "interval": None,
    }  # fmt: skip
    assert found["angles"]["refusal"]["accepted"] == 1
    assert (found["all"]["n"], found["all"]["right"], found["all"]["accepted"]) == (4, 2, 2)
    low, high = found["all"]["interval"]
    assert low < 0.5 < high
    assert found["judge"] == "fixed:perfect"


def test_the_table_has_a_line_for_each_angle_and_one_for_all(halves: Path) -> None:
    lines = run("--judge", "fixed:outcome=incorrect", "--half", "both").splitlines()
    assert any(line.split()[:2] == ["negation", "2"] for line in lines)
    assert any(line.split()[:2] == ["refusal", "2"] for line in lines)
    assert any(line.split()[:3] == ["all", "4", "1"] for line in lines)


def test_halves_are_told_apart(halves: Path) -> None:
    angles = json.loads(run("--half", "held", "--json"))["angles"]
    assert list(angles) == ["refusal"]


def test_a_limit_holds_for_each_angle(halves: Path) -> None:
    assert json.loads(run("--half", "both", "--limit", "1", "--json"))["all"]["n"] == 2


def test_a_half_that_is_not_there_is_told(halves: Path) -> None:
    (halves / "held.jsonl").unlink()
    assert "held" in mmrag("judge", "stress", "--half", "held", code=2).stderr
    assert json.loads(run("--half", "both", "--json"))["all"]["n"] == 2


def test_missing_is_no_kind_of_wrong() -> None:
    pair = StressPair(angle="refusal", question="q", references=("r",), prediction="p",
                outcome=Outcome.MISSING)  # fmt: skip
    (angle,) = tally([pair], [Outcome.INCORRECT])
    assert (angle.right, angle.accepted, angle.rejected) == (0, 0, 0)


def test_the_suite_that_is_shipped_can_be_read() -> None:
    pairs = read_pairs("open")
    assert len(pairs) >= 750
    assert len({pair.angle for pair in pairs}) == 22
    share = sum(pair.outcome.is_correct for pair in pairs) / len(pairs)
    assert 0.3 < share < 0.5
