"""How an assistant bears a bad search stands beside how it bears low light."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from called_command import mmrag
from test_faults import held, made

from simulator.application.execution import drop_failed_turns
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.results.run_scoring import failure_note, fault_note
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


def test_a_report_says_what_each_fault_did_and_how_many_turns_met_it(tmp_path: Path) -> None:
    held(tmp_path / "run", made(), "web-failing@3", "picture-late@5", "model-slow@1")
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50))
    run = json.loads((tmp_path / "report" / "report.json").read_text())["runs"][0]
    points = {point["condition"]: point for point in run["robustness"]["points"]}
    turns = pd.read_parquet(tmp_path / "report" / "turns.parquet")
    for condition, point in points.items():
        rows = turns[turns.condition == condition]
        assert point["fault"]["met"] == rows.met_fault.sum() > 0
        assert point["fault"]["turns"] == 24
        failed = (rows.status == "agent_error").sum()
        assert point["fault"]["failed"] == failed
        assert bool(failed) is (condition == "web-failing@3")
    assert points["picture-late@5"]["fault"]["met"] == 6  # the first turn of each conversation
    page = (tmp_path / "report" / "report.html").read_text()
    assert "the web search raises an error" in page
    assert "the picture is not there yet at the first question" in page


def test_a_failure_that_a_fault_made_is_not_asked_again(tmp_path: Path) -> None:
    held(tmp_path / "run", made(), "web-failing@3")
    with RunReader(tmp_path / "run") as run:
        before = run.turn_counts()
        assert before["agent_error"] > 0
        assert failure_note(run) is None
    with RunStore(tmp_path / "run") as store:
        assert drop_failed_turns(store) == 0
    with RunReader(tmp_path / "run") as run:
        assert run.turn_counts() == before


def test_a_condition_in_which_every_turn_failed_is_told_of(tmp_path: Path) -> None:
    """It has no change from clean, and was left out where the hardest condition is named."""
    held(tmp_path / "run", made(), "web-failing@5", "model-garbage@5")
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50))
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Under <b>web-failing@5</b> not one turn could be scored" in page
    assert "Under <b>model-garbage@5</b>" not in page
    assert "The largest loss" not in page


def test_a_run_says_beforehand_and_afterwards_that_a_fault_is_not_felt(tmp_path: Path) -> None:
    said = mmrag(
        "run", "--data", "mini", "--limit", "2", "--agent", "random", "--search", "none",
        "--judge", "exact", "--faults", "web-empty@5,network-loss@5", "--out", str(tmp_path / "r"),
    ).stderr  # fmt: skip
    flat = " ".join(said.split())
    assert "this run searches nothing, so no turn will feel web-empty@5." in flat
    assert "no turn felt web-empty@5: this assistant does not use what fails there" in flat
    with RunReader(tmp_path / "r") as run:
        assert fault_note(run, ("network-loss@5",), seed=0) is None  # felt
        assert fault_note(run, ("picture-missing@5",), seed=0) is None  # not held at all
