"""GaRAGe's published file: its layout, its labels, and rows that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from garage_rows import PASSAGES, garage_row

from mmrag.errors import DataError
from mmrag.records import Status
from simulator.application.measure_run_or_file import measure
from simulator.datasets import open_data
from simulator.datasets.papers.answer_files import read_answers
from simulator.datasets.unreadable_row import problem_of
from simulator.run.run_config import make_config
from simulator.store.run_reader import RunReader


def written(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "GaRAGe_benchmark.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read(tmp_path: Path, *rows: Any) -> list[Any]:
    return list(read_answers(written(tmp_path, *rows)))


def test_a_row(tmp_path: Path) -> None:
    [found] = read(tmp_path, garage_row())
    case = found.case
    assert [p.id for p in case.passages] == ["cite_1", "cite_2", "cite_3", "cite_4", "cite_5"]
    assert [p.text for p in case.passages] == [text for *_, text in PASSAGES]
    assert [p.date for p in case.passages] == [date for _, date, _, _ in PASSAGES]
    assert [p.provider for p in case.passages] == ["web", "private", "web", "web", "private"]
    assert [p.label for p in case.passages] == [
        "answers", "related", "outdated", "unknown", "irrelevant",
    ]  # fmt: skip
    assert case.citations == case.expected == ("cite_1", "cite_2")
    assert case.should_deflect is False
    assert (found.domain, found.query_type) == ("autos-&-vehicles", "simple-w-condition")
    assert (found.dynamism, found.popularity) == ("fast-changing", "tail")
    assert found.query_time == "2031-02-03"
    assert found.meta == {"question_tag": "web", "topic_tag": "sec"}


def test_a_models_answer_to_a_row(tmp_path: Path) -> None:
    [found] = read(tmp_path, garage_row(answer="It is 38 m [cite_3], by Ines Dahl [2]."))
    assert found.case.citations == ("cite_3", "cite_2")
    assert found.case.expected == ("cite_1", "cite_2")
    assert found.case.references == (garage_row()["answer_generate"],)


def test_where_declining_is_right(tmp_path: Path) -> None:
    """Where the person cites nothing: the 427 rows of the paper, two of them without an answer."""
    none = {"evidence_cited": ["NO"] * 5, "answer_validate": ""}
    long = "There is not enough evidence that it moved. It is 40 m long. [cite_1]"
    rows = [
        garage_row(sample_id="a", answer_generate="There is not enough grounding.", **none),
        garage_row(sample_id="b", answer_generate="", **none),
        garage_row(sample_id="c", answer_generate=long),
    ]
    found = read(tmp_path, *rows)
    assert [one.case.should_deflect for one in found] == [True, True, False]
    assert found[1].case.references == ()


BROKEN: list[tuple[Any, str]] = [
    ("{", "line 2: is not JSON"),
    ("[1]", "line 2: is not a JSON object"),
    (garage_row(sample_id="x", grounding=None), "grounding is not a list of passages"),
    (garage_row(sample_id="x", grounding=[{"text": "a"}] * 5), "passage 1 has no text 'cite_1'"),
    (garage_row(sample_id="x", grounding=["a"] * 5), "passage 1 has no text 'cite_1'"),
    (garage_row(sample_id="x", evidence_cited=["YES"]), "1 tags in evidence_cited for 5"),
    (
        garage_row(sample_id="x", evidence_correct="UNKNOWN"),
        "no list of tags in evidence_correct",
    ),
    (garage_row(sample_id="x", evidence_relevant=["MAYBE"] * 5), "'MAYBE' in evidence_relevant"),
    (garage_row(sample_id="x", question=7), "needs 'question' as a text"),
    (garage_row(), "stands in line 1 too"),
]


@pytest.mark.parametrize(("row", "says"), BROKEN)
def test_a_row_that_cannot_be_used_costs_itself(tmp_path: Path, row: Any, says: str) -> None:
    path = written(tmp_path, garage_row(), row, garage_row(sample_id="last"))
    source = open_data(f"garage:{path}")
    found = list(source)
    assert len(source) == len({session.id for session in found}) == 3
    problems = [problem_of(session) for session in found]
    assert problems[0] is problems[2] is None
    assert says in str(problems[1])
    assert "line 2" in str(problems[1])


def test_measuring_the_file_names_the_row_and_takes_the_others(tmp_path: Path) -> None:
    rows = [garage_row(), "{", garage_row(sample_id="last")]
    found = measure(written(tmp_path, *rows), "attribution_recall", judge="labels")
    assert [word.partition(": ")[0] for word in found.unusable] == [
        "GaRAGe_benchmark.jsonl, line 2"
    ]
    assert found.rows == 2
    with RunReader(found.folder) as run:
        assert [t.status for t in run.turns("line-2", "clean")] == [Status.DATA_ERROR]


def test_the_rows_are_questions_for_an_agent(tmp_path: Path) -> None:
    rows = [garage_row(), garage_row(sample_id="s2", evidence_cited=["NO"] * 5)]
    source = open_data(f"garage:{written(tmp_path, *rows)}")
    first, second = source
    assert source.fingerprint.startswith("garage-")
    assert first.capture is None
    assert first.query_time == "2031-02-03"
    assert first.passages[0].label == "answers"
    assert first.turns[0].reference.evidence == ("cite_1", "cite_2")
    assert first.turns[0].extra["annotations"] == {"should_deflect": False}
    assert second.turns[0].extra["annotations"] == {"should_deflect": True}


def test_a_file_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        open_data(f"garage:{written(tmp_path, '')}")


def test_long_answers_are_not_cut_unless_that_is_asked_for() -> None:
    assert make_config({"data": "garage:g.jsonl"}).max_tokens == 0
    assert make_config({"data": "garage:g.jsonl", "max_tokens": 75}).max_tokens == 75
    assert make_config({"data": "mini"}).max_tokens == 75
