"""`mmrag score` says what it scores: what is missing, and whose turns are whose."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from called_command import mmrag
from small_runs import ByNumber, done, make_session, run_all, write

from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs
from simulator.run.results.run_scoring import ScoreOptions, run_state, score_run
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


@pytest.fixture
def broken_off(tmp_path: Path) -> Path:
    """Of six conversations one is whole, one broke off after a turn, one before any, three lack."""
    talks = [make_session(n, turns=3) for n in range(3)]
    turns = [[done(talks[n], i, "c") for i in range(many)] for n, many in enumerate((3, 1, 0))]
    held = zip(talks, turns, strict=True)
    return write(tmp_path / "run", *held, plan={"sessions": 6, "degradations": ["clean"]})


def test_an_unfinished_run_is_scored_with_a_warning(broken_off: Path) -> None:
    done = mmrag("score", str(broken_off), "--json")
    shown = json.loads(done.stdout)
    assert shown["state"] == {
        "finished": False, "conversations": 3, "expected_conversations": 6, "not_begun": 3,
        "broken_off": 2, "turns": 4, "missing_turns": 5,
    }  # fmt: skip
    (warning,) = shown["warnings"]
    assert "run is not finished (3 of 6 not begun, 2 broken off, 5 turns missing)" in warning
    told = mmrag("score", str(broken_off))
    assert warning in told.stderr
    assert "truthfulness" in told.stdout


def test_score_and_report_say_the_same(broken_off: Path) -> None:
    with RunReader(broken_off) as run:
        options = ReportOptions(resamples=0)
        report = build_report(*load_report_runs([run], options), options)
        assert f"the {report['warnings'][0]}" == score_run(run)["warnings"][0]  # its name is "run"
        state = report["runs"][0]["state"]
        assert {k: v for k, v in state.items() if k != "statuses"} == msgspec.structs.asdict(
            run_state(run)
        )


def test_a_finished_run_has_nothing_to_warn_of(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(n) for n in range(3)], ByNumber())
    with RunStore(tmp_path / "run") as store:
        store.set_meta("finished", True)
        found = score_run(store)
    assert (found["state"]["finished"], found["warnings"]) == (True, [])
    assert mmrag("score", str(tmp_path / "run")).stderr == ""


def test_a_session_named_like_a_degraded_one_is_another(tmp_path: Path) -> None:
    """`a` under low-light@2 was all wrong; the session called `a@low-light@2` was all right."""
    degraded = msgspec.structs.replace(make_session(0, degradation="low-light@2"), id="a")
    namesake = msgspec.structs.replace(make_session(1), id="a@low-light@2")
    whose = ((degraded, "i"), (namesake, "c"))
    held = [(talk, [done(talk, i, letter) for i in range(4)]) for talk, letter in whose]
    write(tmp_path / "run", *held, finished=True)
    with RunReader(tmp_path / "run") as run:
        found = score_run(run, ScoreOptions(resamples=0))["all"]
    assert found["sessions"] == 2
    assert found["two_strike_rate"] == 0.5
    assert found["correct"] == 4
    assert found["hallucination"] == 2
    table = mmrag("score", str(tmp_path / "run")).stdout
    rows = {
        line.split()[0]: line.split()[2]
        for line in table.splitlines()
        if "@" in line or line.startswith("clean")
    }
    assert rows == {"clean": "100.0%", "low-light@2": "0.0%"}
