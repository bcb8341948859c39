"""`mmrag measure` as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from measuring_parts import Reader, write_run

from mmrag.models import models
from simulator.application.measure_run_or_file import measure
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_reader import RunReader

LINES = [
    {
        "id": "good",
        "question": "How long is the bridge?",
        "answer": "The bridge is 40 m long [1].",
        "passages": [
            {"text": "The bridge is 40 m long.", "label": "answers", "provider": "web"},
            {"text": "The bridge is 38 m long.", "label": "outdated", "provider": "private"},
        ],
        "references": ["The bridge is 40 m long."],
        "evidence": ["1"],
    },
    {
        "id": "stale",
        "question": "How long is the bridge?",
        "answer": "The bridge is 38 m long [2].",
        "passages": [
            {"text": "The bridge is 40 m long.", "label": "answers"},
            {"text": "The bridge is 38 m long.", "label": "outdated"},
        ],
        "references": ["The bridge is 40 m long."],
        "evidence": ["1"],
    },
]

Call = Callable[..., Any]


@pytest.fixture
def reader() -> Iterator[Reader]:
    """A model by the name `reads`, for the time of a test."""
    model = Reader()
    models._targets["reads"] = lambda: model  # pyright: ignore[reportPrivateUsage]
    yield model
    del models._targets["reads"]  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return path


def call(*words: object) -> dict[str, Any]:
    return json.loads(mmrag("measure", *words, "--json").stdout)


def refused(*words: object, code: int = 2) -> str:
    return mmrag("measure", *words, code=code).stderr


def cells(shown: dict[str, Any]) -> dict[str, float | None]:
    return {
        name: cell and cell["estimate"]
        for table in shown["tables"]
        for row in table["rows"]
        for name, cell in zip(table["measures"], row["cells"], strict=True)
    }


def test_a_file_of_answers(answers: Path, reader: Reader) -> None:
    shown = call(answers, "--measures", "garage,faithfulness", "--model", "reads")
    found = cells(shown)
    assert found["faithfulness"] == 1.0
    assert (found["factuality"], found["raf"]) == (0.5, 0.5)
    assert (found["unadjusted_factuality"], found["unadjusted_raf"]) == (1.0, 0.5)
    assert found["attribution_f1"] == 0.5
    assert shown["cost"] == pytest.approx(0.001 * len(set(reader.prompts)))
    assert shown["folder"] == str(answers.with_suffix(".measured"))
    again = call(answers, "--measures", "garage,faithfulness", "--model", "reads")
    assert again["rows"] == 0
    assert cells(again) == found


def test_a_run_is_measured_where_it_is(tmp_path: Path, reader: Reader) -> None:
    write_run(tmp_path / "run")
    shown = call(tmp_path / "run", "--measures", "raf", "--model", "reads")
    assert shown["rows"] == 6
    assert cells(shown)["raf"] == 0.5
    [by_time] = [s for s in shown["slices"] if s["dimension"] == "dynamism"]
    assert [g["slice"] for g in by_time["groups"]] == ["fast-changing", "static"]
    assert reader.prompts


def test_the_report_has_a_section(tmp_path: Path, reader: Reader) -> None:
    write_run(tmp_path / "run")
    call(tmp_path / "run", "--model", "reads")
    report = make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50))
    found = report["runs"][0]["measured"]
    assert [len(table["rows"]) for table in found["tables"]] == [1, 1, 1, 1]
    assert {s["dimension"] for s in found["slices"]} == {"dynamism"}
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    for title in ("Ragas", "GaRAGe, Table 2", "GaRAGe, Table 3", "GaRAGe, Table 4", "Figures 5"):
        assert title in page
    path = "runs.0.measured.tables.1.rows.0.cells.4.estimate"  # RAF
    assert f'<data data-path="{path}" data-kind="percent" value="0.5">50.0 %</data>' in page
    write_run(tmp_path / "bare")
    bare = make_report([tmp_path / "bare"], tmp_path / "other", ReportOptions(resamples=0))
    assert bare["runs"][0]["measured"] is None


def test_python_takes_an_object_for_a_model(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    model = Reader()
    found = measure(tmp_path / "run", "raf", model=model)
    assert (found.rows, found.cost) == (6, pytest.approx(0.001 * len(model.prompts)))
    assert found.tables[0]["rows"][0]["judge"].startswith("garage/1:Reader+")


def test_people_read_a_table(answers: Path) -> None:
    done = mmrag("measure", answers, "--judge", "labels")
    assert "Eligibility and factuality (GaRAGe, Table 2)" in done.stdout
    assert "│ labels/1" in done.stdout


def test_the_encoder_is_marked_approximate(answers: Path) -> None:
    shown = call(answers, "--measures", "faithfulness")
    [table] = shown["tables"]
    assert table["rows"][0]["approximate"]
    assert cells(shown)["faithfulness"] == 1.0


def test_max_cost(answers: Path, reader: Reader) -> None:
    assert "--max-cost" in refused(
        answers, "--model", "reads", "--measures", "garage", "--max-cost", 0.001,
        "--concurrency", 1, code=1,
    )  # fmt: skip
    assert len(reader.prompts) < 8
    asked = list(reader.prompts)
    shown = call(answers, "--model", "reads", "--measures", "garage")
    assert len(set(reader.prompts)) == len(reader.prompts)
    assert shown["cost"] == pytest.approx(0.001 * len(reader.prompts))
    assert reader.prompts[: len(asked)] == asked


def test_nothing_is_made_of_a_bad_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(LINES[0]) + "\n{", encoding="utf-8")
    assert "line 2" in refused(path, code=1)
    assert not path.with_suffix(".measured").exists()


def test_another_files_answers_are_not_mixed_in(answers: Path, tmp_path: Path) -> None:
    call(answers, "--judge", "labels", "--out", tmp_path / "run")
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(LINES[0]), encoding="utf-8")
    write_run(tmp_path / "real")
    for taken in ("run", "real"):
        told = refused(other, "--judge", "labels", "--out", tmp_path / taken)
        assert "another --out" in told
    with RunReader(tmp_path / "run") as run:
        assert len(run.session_keys()) == 2


def test_impossible_requests(answers: Path, tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    assert "--out is for a FILE" in refused(tmp_path / "run", "--out", tmp_path / "x")
    assert "encoder or labels" in refused(answers, "--judge", "builtin")
    assert "no measure is called" in refused(answers, "--measures", "blue")
    (tmp_path / "empty").mkdir()
    assert "is not a run" in refused(tmp_path / "empty", code=1)


def test_why_a_measure_has_no_figure_is_said(answers: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"question": "How long?", "answer": "40 m.", "contexts": ["40 m."]}))
    said = mmrag("measure", bare, "--measures", "crud").stdout
    assert "0: there is no reference" in " ".join(said.split())
    make_report([bare.with_suffix(".measured")], tmp_path / "report", ReportOptions())
    assert "</data>: there is no reference" in (tmp_path / "report/report.html").read_text()
    told = mmrag("measure", answers, "--measures", "crud").stdout
    assert "there is no reference" not in told
