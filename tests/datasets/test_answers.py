"""Answers in files: everybody's own lines."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from garage_rows import PASSAGES, garage_row

from mmrag.errors import DataError, UsageError
from mmrag.judges.measure_registry import label_measurers
from mmrag.metrics.grounding import GARAGE, Support
from mmrag.records import Status
from simulator.application.measure import measure
from simulator.datasets import open_data
from simulator.datasets.broken import problem_of
from simulator.datasets.papers.answered import Answered, session_of
from simulator.datasets.papers.answers import read_answers
from simulator.run.config import make_config
from simulator.store.run_store import RunReader
from simulator.world.language.graded_answers import FORMS, graded_answers
from simulator.world.sessions import mini_folder

OWN = {"question": "How long is it?", "answer": "40 m [2].", "contexts": ["It is old.", "40 m."]}


def read(tmp_path: Path, *rows: Any) -> list[Answered]:
    path = tmp_path / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(read_answers(path))


def test_a_line_with_contexts(tmp_path: Path) -> None:
    [found] = read(tmp_path, OWN)
    assert ([p.id for p in found.case.passages], found.case.citations) == (["1", "2"], ("2",))
    assert (found.case.should_deflect, found.id) == (None, "1")


def test_a_line_with_labelled_passages_and_annotations(tmp_path: Path) -> None:
    row = {
        "id": "a", "query": "How long is it?", "response": "40 m.", "ground_truth": "40 m",
        "passages": [
            {"id": "w", "text": "It is 40 m.", "label": "answers", "provider": "web"},
            {"text": "It was 38 m.", "label": "outdated", "date": "2020-01-01"}
        ],
        "citations": ["w"], "evidence": ["w"],
        "annotations": {"support": ["supported"], "eligibility": "no_issues"}, "popularity": "tail"
    }  # fmt: skip
    [found] = read(tmp_path, row)
    assert (found.case.references, [p.id for p in found.case.passages]) == (("40 m",), ["w", "2"])
    assert found.case.annotations.support == (Support.SUPPORTED,)
    assert found.case.should_deflect is False
    assert found.popularity == "tail"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"question": "q"}, "answer"), ({"question": "q", "answer": 3}, "str"),
        ({**OWN, "passages": [{"title": "x"}]}, "text"),
        ({**OWN, "passages": [{"text": "x", "label": "good"}]}, "no label"),
        ({**OWN, "passages": [{"text": "x", "id": "a"}, {"text": "y", "id": "a"}]}, "same id"),
        ({**OWN, "annotations": {"support": ["maybe"]}}, "maybe"),
        ('{"question": "q", "answer": NaN}', "NaN"), ("[1]", "not a JSON object"), ("{", "no JSON")
    ]
)  # fmt: skip
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
    monkeypatch.setattr("simulator.datasets.papers.answers.MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match="longer than"):
        read(tmp_path, {**OWN, "answer": "x" * 2000})
    assert read(tmp_path, "\ufeff" + json.dumps(OWN))[0].case.answer == "40 m [2]."


def test_what_a_file_says_of_its_questions_can_be_sliced_by(tmp_path: Path) -> None:
    [own] = read(tmp_path, OWN | {"meta": {"site": "museum", "floor": 2}})
    assert session_of(own).turns[0].meta == {"site": "museum", "floor": "2"}


# -- graded answers


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return list(graded_answers(mini_folder(), count=200, seed=3))


def test_the_same_seed_gives_the_same_lines(lines: list[dict[str, Any]]) -> None:
    again = list(graded_answers(mini_folder(), count=20, seed=3))
    assert again == lines[:20]
    assert list(graded_answers(mini_folder(), count=20, seed=4)) != again


def test_every_form_and_label_is_there(lines: list[dict[str, Any]]) -> None:
    assert {line["meta"]["form"] for line in lines} == set(FORMS)
    labels = {p["label"] for line in lines for p in line["passages"]}
    assert labels == {"answers", "related", "outdated", "irrelevant", "unknown"}


def test_labels_fit_the_passages(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        form, notes = line["meta"]["form"], line["annotations"]
        there = {p["label"] for p in line["passages"]}
        assert notes["should_deflect"] == ("answers" not in there)
        assert notes["deflects"] == form.endswith("declining")
        assert len(notes["support"]) == len(notes["relevant_support"]) >= 1
        places = {p["id"]: p["label"] for p in line["passages"]}
        cited = [places[i] for i in re.findall(r"\[(\d+)\]", line["answer"])]
        if form == "right":
            assert cited == ["answers"]
        if form == "out of date":
            assert cited == ["outdated"]
        if form == "padded":
            assert cited[0] == "answers"
            assert cited[1] not in ("answers", "related")


def test_the_forms_get_the_figures_that_they_must(tmp_path: Path, lines: Any) -> None:
    path = tmp_path / "world.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    expected = {  # eligibility, unadjusted factuality, factuality, uRAF, RAF
        "right": (1, 1, 1, 1, 1),
        "right and related": (1, 1, 1, 1, 1),
        "out of date": (1, 1, 1, 0, 0),
        "wrong": (1, 0, 0, 0, 0),
        "beside the point": (0, 1, 0, 1, 0),
        "padded": (1, 1, 1, 0, 0),
        "unfounded": (1, 0, 0, 0, 0),
        "denied": (1, 0, 0, 0, 0),
        "swapped": (1, 0, 0, 0, 0),
        "needless declining": (0, 1, 0, 1, 0),
    }
    garage = label_measurers()[1]
    for answered, line in zip(read_answers(path), lines, strict=True):
        found = {m.measure: m.value for m in asyncio.run(garage.measure(answered.case, GARAGE))}
        form = line["meta"]["form"]
        if form in ("rightly declining", "invented"):
            assert found["deflection_true_positive"] == float(form == "rightly declining")
            assert found["raf"] is None
        else:
            assert tuple(found[name] for name in GARAGE[:5]) == expected[form], form
            assert found["deflection_false_positive"] == float(form == "needless declining")


# -- garage


def written(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "GaRAGe_benchmark.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read_garage(tmp_path: Path, *rows: Any) -> list[Any]:
    return list(read_answers(written(tmp_path, *rows)))


def test_a_row(tmp_path: Path) -> None:
    [found] = read_garage(tmp_path, garage_row())
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
    [found] = read_garage(tmp_path, garage_row(answer="It is 38 m [cite_3], by Ines Dahl [2]."))
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
    found = read_garage(tmp_path, *rows)
    assert [one.case.should_deflect for one in found] == [True, True, False]
    assert found[1].case.references == ()


BROKEN: list[tuple[Any, str]] = [
    ("{", "line 2: is no JSON"),
    ("[1]", "line 2: is no JSON object"),
    (garage_row(sample_id="x", grounding=None), "grounding is no list of passages"),
    (garage_row(sample_id="x", grounding=[{"text": "a"}] * 5), "passage 1 has no text 'cite_1'"),
    (garage_row(sample_id="x", grounding=["a"] * 5), "passage 1 has no text 'cite_1'"),
    (garage_row(sample_id="x", evidence_cited=["YES"]), "1 tags in evidence_cited for 5"),
    (garage_row(sample_id="x", evidence_correct="UNKNOWN"), "no list of tags in evidence_correct"),
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
    assert (first.capture, first.query_time) == (None, "2031-02-03")
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
