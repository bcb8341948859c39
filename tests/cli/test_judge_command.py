"""`mmrag judge` and `mmrag judge calibrate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called_command import mmrag

LINES = [
    {"id": "1", "question": "Which city?", "references": ["Paris"], "prediction": "Paris", "x": 1},
    {"question": "Which city?", "ground_truth": "Paris", "prediction": "I don’t know"},
    {"question": "Which city?", "ground_truth": ["Paris", "Lutetia"], "prediction": "Rome"},
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def run(*arguments: object) -> str:
    return mmrag("judge", *arguments).stdout


def test_lines_come_back_with_verdicts(tmp_path: Path) -> None:
    out = run(write(tmp_path / "a.jsonl", LINES), "--judge", "builtin", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["outcome"] for row in rows] == ["perfect", "missing", "incorrect"]
    assert [row["score"] for row in rows] == [1.0, 0.0, -1.0]
    assert rows[0]["x"] == 1
    assert all(row["judge"].startswith("builtin/") and row["reason"] for row in rows)


def test_summary(tmp_path: Path) -> None:
    out = run(write(tmp_path / "a.jsonl", LINES))
    assert "incorrect      1   33.3%" in out


def test_a_panel_prints_its_votes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", LINES)
    rows = run(path, "--judge", "panel:judges=builtin+exact", "--json").splitlines()
    assert len(json.loads(rows[0])["votes"]) == 2


def test_a_line_separator_inside_a_text_splits_no_line(tmp_path: Path) -> None:
    row = {"question": "q", "references": ["Paris"], "prediction": "a\u2028b \x85 c"}
    assert len(run(write(tmp_path / "a.jsonl", [row]), "--json").split("\n")) == 2


def test_a_lone_surrogate_is_judged_and_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(r'{"question": "q", "references": ["Zürich"], "prediction": "Zürich\ud800"}')
    out = run(path, "--json")
    assert out.isascii()
    assert json.loads(out)["prediction"] == "Zürich\ud800"


def test_calibrate_counts_a_confusion(tmp_path: Path) -> None:
    rows = [LINES[i] | {"human_correct": good} for i, good in ((0, True), (1, False), (2, True))]
    path = write(tmp_path / "human.jsonl", rows)
    shown = json.loads(run("calibrate", path, "--json"))
    assert shown["accuracy"] == pytest.approx(2 / 3)
    assert shown["made_from_this_file"] is False
    assert shown["confusion"]["correct"] == {"correct": 1, "incorrect": 1}
    text = run("calibrate", path)
    assert "accuracy   0.667" in text


def test_calibrate_with_four_outcomes(tmp_path: Path) -> None:
    outcomes = ("acceptable", "missing", "missing")
    rows = [row | {"human_outcome": name} for row, name in zip(LINES, outcomes, strict=True)]
    path = write(tmp_path / "human.jsonl", rows)
    shown = json.loads(run("calibrate", path, "--json"))
    assert shown["confusion"]["missing"] == {"correct": 0, "incorrect": 1, "missing": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1"),
        ("[]", "not a JSON object"),
        ('{"question": "q", "references": ["a"]}', "prediction"),
        ('{"question": "q", "references": 3, "prediction": "a"}', "references"),
        ("", "holds no line"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_broken_files_name_the_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    assert words in mmrag("judge", path, code=1).stderr


def test_other_errors(tmp_path: Path) -> None:
    assert "cannot read" in mmrag("judge", tmp_path / "none.jsonl", code=2).stderr
    path = write(tmp_path / "a.jsonl", LINES)
    told = mmrag("judge", path, "--judge", "bultin", code=2).stderr
    assert "Did you mean builtin" in told
    assert "human_correct" in mmrag("judge", "calibrate", path, code=1).stderr
