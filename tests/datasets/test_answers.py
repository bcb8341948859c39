"""Answers in files: everybody's own lines and GaRAGe's rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmrag.errors import DataError, UsageError
from mmrag.metrics.grounding import Support
from simulator.datasets import open_data
from simulator.datasets.answered import Answered, session_of
from simulator.datasets.answers import read_answers
from simulator.run.config import make_config

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
        ({**OWN, "passages": [{"text": "x", "label": "good"}]}, "no label"),
        ({**OWN, "passages": [{"text": "x", "id": "a"}, {"text": "y", "id": "a"}]}, "same id"),
        ({**OWN, "annotations": {"support": ["maybe"]}}, "maybe"),
        ('{"question": "q", "answer": NaN}', "NaN"),
        ("[1]", "not a JSON object"),
        ("{", "no JSON"),
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
    monkeypatch.setattr("simulator.datasets.answers.MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match="longer than"):
        read(tmp_path, {**OWN, "answer": "x" * 2000})
    assert read(tmp_path, "\ufeff" + json.dumps(OWN))[0].case.answer == "40 m [2]."


def garage_row(**more: Any) -> dict[str, Any]:
    """An invented row with the fields and the oddities of the published file."""
    row: dict[str, Any] = {
        "sample_id": "s1",
        "question_date": "2031-02-03 10:00:00",
        "question": "How long is Port Olm's bridge now?",
        "grounding": [
            {"text": "[1] The bridge is 40 m long.", "age": "3 days", "date": "2031-01-31",
             "provider": "web"},
            {"text": "[2] The bridge was built by Ines Dahl.", "age": "", "provider": "ent"},
            {"text": "[3] The bridge is 38 m long.", "age": "9 years", "provider": "web"},
            {"text": "[4] The bridge is 39 m long.", "provider": "web"},
            {"text": "[5] Cats purr.", "provider": "ent"},
        ],
        "question_sensitive": "YES",
        "question_type": "Fast-Changing",
        "question_complexity": "Simple w. condition",
        "question_category": "Autos & Vehicles",
        "question_popularity": "Tail",
        "evidence_relevant": ["YES", "YES", "YES", "YES", "NO"],
        "evidence_correct": [
            "ANSWER-THE-QUESTION", "RELATED-INFORMATION", "OUTDATED", "UNKNOWN", "",
        ],
        "answer_generate": "It is 40 m long [1].",
        "evidence_cited": ["YES", "NO", "NO", "NO", "NO"],
        "question_tag": "web",
    }  # fmt: skip
    return row | more


def test_a_row_of_garage(tmp_path: Path) -> None:
    [found] = read(tmp_path, garage_row())
    case = found.case
    assert [p.label for p in case.passages] == [
        "answers", "related", "outdated", "unknown", "irrelevant",
    ]  # fmt: skip
    assert case.passages[0].text == "The bridge is 40 m long."
    assert [p.provider for p in case.passages] == ["web", "private", "web", "web", "private"]
    assert (case.citations, case.expected) == (("1",), ("1",))
    assert case.should_deflect is False
    assert (found.domain, found.query_type) == ("autos-&-vehicles", "simple-w-condition")
    assert (found.dynamism, found.popularity) == ("fast-changing", "tail")


def test_a_models_answer_to_a_row_of_garage(tmp_path: Path) -> None:
    [found] = read(tmp_path, garage_row(answer="It is 38 m [3], by Ines Dahl [2]."))
    assert found.case.citations == ("3", "2")
    assert found.case.expected == ("1",)
    assert found.case.references == ("It is 40 m long [1].",)


def test_garages_oddities(tmp_path: Path) -> None:
    one = garage_row(evidence_relevant="YES, YES, YES, YES, NO", sample_id=7)
    two = garage_row(answer_generate="There is not enough grounding for an answer.", sample_id=8)
    bare = ["A text alone."]
    three = garage_row(
        grounding=bare, evidence_relevant=["NO"], evidence_correct=None, evidence_cited=None,
        question_sensitive="NO", sample_id=9,
    )  # fmt: skip
    found = read(tmp_path, one, two, three)
    assert [a.id for a in found] == ["7", "8", "9"]
    assert [a.case.should_deflect for a in found] == [False, True, True]
    assert found[2].case.passages[0].text == "A text alone."
    assert found[2].dynamism == "static"
    with pytest.raises(DataError, match="2 tags in evidence_cited for 5"):
        read(tmp_path, garage_row(evidence_cited=["YES", "NO"]))


def test_garages_questions_are_data_for_an_agent(tmp_path: Path) -> None:
    path = tmp_path / "garage.jsonl"
    rows = [garage_row(), garage_row(sample_id="s2", answer_generate="Not enough grounding.")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    source = open_data(f"garage:{path}")
    first, second = source
    assert len(source) == 2
    assert source.fingerprint.startswith("garage-")
    assert first.capture is None
    assert first.passages[0].label == "answers"
    assert first.turns[0].reference.evidence == ("1",)
    assert first.turns[0].extra["annotations"] == {"should_deflect": False}
    assert second.turns[0].extra["annotations"] == {"should_deflect": True}


def test_what_a_file_says_of_its_questions_can_be_sliced_by(tmp_path: Path) -> None:
    [own] = read(tmp_path, OWN | {"meta": {"site": "museum", "floor": 2}})
    assert session_of(own).turns[0].meta == {"site": "museum", "floor": "2"}
    [row] = read(tmp_path, garage_row(topic_tag="Finance"))
    assert session_of(row).turns[0].meta["topic_tag"] == "finance"


def test_long_answers_are_not_cut_unless_that_is_asked_for() -> None:
    assert make_config({"data": "garage:g.jsonl"}).max_tokens == 0
    assert make_config({"data": "garage:g.jsonl", "max_tokens": 75}).max_tokens == 75
    assert make_config({"data": "mini"}).max_tokens == 75
