"""The headline corrected for the judge's errors: by hand, in the page, refused if it misleads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mmrag.errors import ConflictError, DataError
from mmrag.metrics.correction import JudgeCalibration, save_calibration
from mmrag.metrics.headline import Uncertainty
from simulator.cli import build
from simulator.reports.certainty.corrected import check_calibration, corrected
from simulator.reports.read.frame import load_frame
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_store import RunReader

HOW = Uncertainty(resamples=200)


def of_run(sweep: Path, *counts: tuple[int, int]) -> dict:
    with RunReader(sweep) as run:
        frame = load_frame(run, stop=StopPolicy.parse("strikes(2)"), agent_errors="unscored")
        judge = run.meta("judge")
        known = JudgeCalibration(judge=judge, outcomes=("correct", "incorrect"), counts=counts)
        found = corrected(
            frame, frame.condition("clean"), check_calibration(known, judge, "r"), HOW
        )
        rows = frame.condition("clean") & (frame["scored"] | ~frame["kept"])
        score = np.where(frame["kept"], frame["score"], 0)[rows]  # as the headline counts
    shares = {"correct": score > 0, "incorrect": score < 0, "missing": score == 0}
    judged = {name: float(those.mean()) for name, those in shares.items()}
    return {**found, "judged": judged}


def test_a_judge_that_never_errs_changes_nothing(sweep: Path) -> None:
    found = of_run(sweep, (10**6, 0), (0, 10**6))
    assert found["accuracy"]["estimate"] == pytest.approx(found["judged"]["correct"], abs=1e-9)
    assert found["hallucination_rate"]["estimate"] == pytest.approx(
        found["judged"]["incorrect"], abs=1e-9
    )
    low, high = found["truthfulness_score"]["low"], found["truthfulness_score"]["high"]
    assert low < found["truthfulness_score"]["estimate"] < high


def test_known_errors_are_undone_by_hand(sweep: Path) -> None:
    found = of_run(sweep, (900, 100), (50, 950))  # people in rows: misses 10 %, passes 5 %
    judged = found["judged"]
    answered = judged["correct"] + judged["incorrect"]
    by_hand = (judged["correct"] - 0.05 * answered) / (0.90 - 0.05)
    assert found["accuracy"]["estimate"] == pytest.approx(by_hand, abs=1e-6)
    assert found["missing"]["estimate"] == pytest.approx(judged["missing"], abs=1e-6)
    assert found["truthfulness_score"]["estimate"] == pytest.approx(
        2 * by_hand - answered, abs=1e-6
    )


def test_few_verdicts_widen_the_interval(sweep: Path) -> None:
    def width(scale: int) -> float:
        found = of_run(sweep, (9 * scale, scale), (scale, 9 * scale))["truthfulness_score"]
        return found["high"] - found["low"]

    assert width(3) > 1.2 * width(1000)


def test_a_calibration_of_something_else_is_refused(sweep: Path) -> None:
    known = JudgeCalibration(
        judge="other/1", outcomes=("correct", "incorrect"), counts=((5, 1), (1, 5))
    )
    with pytest.raises(ConflictError, match="other/1"):
        check_calibration(known, "rules/1", "r")
    odd = JudgeCalibration(judge="rules/1", outcomes=("good", "bad"), counts=((5, 1), (1, 5)))
    with pytest.raises(DataError, match="good"):
        check_calibration(odd, "rules/1", "r")


def test_the_report_shows_it(sweep: Path, tmp_path: Path) -> None:
    with RunReader(sweep) as run:
        judge = run.meta("judge")
    save_calibration(
        JudgeCalibration(
            judge=judge, outcomes=("correct", "incorrect"), counts=((90, 10), (5, 95))
        ),
        tmp_path / "human.calibration.json",
    )
    out = tmp_path / "report"
    done = CliRunner().invoke(
        build(),
        ["report", str(sweep), "--out", str(out), "--resamples", "50", "--failures", "0",
         "--calibration", str(tmp_path / "human.calibration.json")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads((out / "report.json").read_text())
    assert report["options"]["calibration"]["counts"] == [[90, 10], [5, 95]]
    page = (out / "report.html").read_text()
    assert "corrected for the judge" in page
    estimate = report["runs"][0]["conditions"][0]["corrected"]["accuracy"]["estimate"]
    assert f'value="{estimate!r}"' in page
