"""Answers in files: everybody's own lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmrag.errors import DataError, UsageError
from mmrag.metrics.grounding import Support
from simulator.datasets.papers.answer_files import read_answers
from simulator.datasets.papers.answered_record import Answered, session_of

OWN = {"question": "How long is it?", "answer": "40 m [2].", "contexts": ["It is old.", "40 m."]}


def read(tmp_path: Path, *rows: Any) -> list[Answered]:
    path = tmp_path / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(read_answers(path))


def test_a_line_with_contexts(tmp_path: Path) -> None:
    [found] = read(tmp_path, OWN)
    assert [p.id for p in found.case.passages] == ["1", "2"]
    assert found.case.citations == ("2",)
    assert found.case.should_deflect is None
    assert found.id == "1"


def test_a_line_with_labelled_passages_and_annotations(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "query": "How long is it?",
        "response": "40 m.",
        "ground_truth": "40 m",
        "passages": [
            {"id": "w", "text": "It is 40 m.", "label": "answers", "provider": "web"},
            {"text": "It was 38 m.", "label": "outdated", "date": "2020-01-01"},
        ],
        "citations": ["w"],
        "evidence": ["w"],
        "annotations": {"support": ["supported"], "eligibility": "no_issues"},
        "popularity": "tail",
    }
    [found] = read(tmp_path, row)
    assert found.case.references == ("40 m",)
    assert [p.id for p in found.case.passages] == ["w", "2"]
    assert found.case.annotations.support == (Support.SUPPORTED,)
    assert found.case.should_deflect is False
    assert found.popularity == "tail"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"question": "q"}, "answer"),
        ({"question": "q", "answer": 3}, "str"),
        ({**OWN, "passages": [{"title": "x"}]}, "text"),
        ({**OWN, "passages": [{"text": "x", "label": "good"}]}, "not a label"),
        ({**OWN, "passages": [{"text": "x", "id": "a"}, {"text": "y", "id": "a"}]}, "same id"),
        ({**OWN, "annotations": {"support": ["maybe"]}}, "maybe"),
        ('{"question": "q", "answer": NaN}', "NaN"),
        ("[1]", "not a JSON object"),
        ("{", "not JSON"),
    ],
)
def test_bad_lines_say_where_and_what(tmp_path: Path, row: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read(tmp_path, OWN, row)
    assert "line 2" in str(caught.value)


def test_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        list(read_answers(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="no line"):
        read(tmp_path, "")
    with pytest.raises(DataError, match="twice"):
        read(tmp_path, {**OWN, "id": "a"}, {**OWN, "id": "a"})
    monkeypatch.setattr("simulator.datasets.papers.answer_files.MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match="longer than"):
        read(tmp_path, {**OWN, "answer": "x" * 2000})
    assert read(tmp_path, "\ufeff" + json.dumps(OWN))[0].case.answer == "40 m [2]."


def test_what_a_file_says_of_its_questions_can_be_sliced_by(tmp_path: Path) -> None:
    [own] = read(tmp_path, OWN | {"meta": {"site": "museum", "floor": 2}})
    assert session_of(own).turns[0].meta == {"site": "museum", "floor": "2"}
