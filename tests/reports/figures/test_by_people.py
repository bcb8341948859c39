"""The headline with people's verdicts taken in: by hand, in the page, honest about who chose."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from called_command import mmrag
from frames import make_frame

from mmrag.metrics.headline import Uncertainty
from simulator.application.finished_run import load_run
from simulator.application.run_verdicts import Verdicts
from simulator.people.human_verdicts import FILE
from simulator.people.judged import OUTCOMES, STRATA, JudgedTurn
from simulator.people.queue import draw
from simulator.reports.certainty.by_people import Known, corrected_by_people


@pytest.fixture
def run(sweep: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sweep, tmp_path / "sweep"))


def read_queue(run: Path, size: int, say, person: str = "anna") -> None:
    verdicts = Verdicts(run)
    for one in verdicts.queue(size):
        verdicts.say(
            one.session_id, one.turn_index, say(one), person=person,
            degradation=one.degradation, drawn=True,
        )  # fmt: skip


WORD = {"correct": "right", "missing": "missing", "incorrect": "wrong"}


def truth(found: dict, name: str = "corrected") -> float:
    return found[name]["truthfulness_score"]["estimate"]


def test_nobody_has_spoken(run: Path) -> None:
    assert Verdicts(run).corrected() is None


def test_people_who_agree_with_the_judge_change_nothing(run: Path) -> None:
    read_queue(run, 40, lambda one: WORD[one.outcome])
    for condition in ("clean", "low-light@5"):
        found = Verdicts(run).corrected(condition)
        for rate in ("accuracy", "missing", "hallucination_rate", "truthfulness_score"):
            judged, corrected = found["judged"][rate], found["corrected"][rate]
            assert corrected["estimate"] == pytest.approx(judged["estimate"])
            assert corrected["n"] == judged["n"]
            assert corrected["low"] < corrected["estimate"] < corrected["high"]
        width = [found[k]["truthfulness_score"] for k in ("judged", "corrected")]
        assert width[1]["high"] - width[1]["low"] > width[0]["high"] - width[0]["low"]


def test_a_turn_people_chose_counts_for_itself_alone(run: Path) -> None:
    turns = load_run(run).turns()
    clean = turns[(turns.degradation == "clean") & (turns.outcome != "unscored")]
    scored = clean[clean.status.isin(["answered", "abstained"])]
    right = scored[scored.outcome == "perfect"].iloc[0]
    verdicts = Verdicts(run)
    verdicts.say(right.session_id, int(right.turn_index), "wrong", person="anna")
    found = verdicts.corrected("clean")
    n = found["judged"]["accuracy"]["n"]
    assert truth(found) == pytest.approx(truth(found, "judged") - 2 / n)
    assert found["corrected"]["truthfulness_score"]["low"] is None
    assert found["corrected"]["drawn"] == 0
    assert truth(verdicts.corrected("low-light@5")) == pytest.approx(
        truth(verdicts.corrected("low-light@5"), "judged")
    )
    verdicts.say(right.session_id, int(right.turn_index), "withdrawn", person="anna")
    assert verdicts.corrected("clean") is None


def test_drawn_turns_speak_for_those_nobody_read(run: Path) -> None:
    """Every second "correct" is wrong: half of all that was judged correct falls."""
    number = iter(range(10_000))

    def say(one) -> str:
        if one.outcome != "correct":
            return WORD[one.outcome]
        return "wrong" if next(number) % 2 else "right"

    read_queue(run, 60, say)
    found = Verdicts(run).corrected("clean")
    heard = list(Verdicts(run).log().verdicts)
    queue = {one.key: one for one in Verdicts(run).queue(60)}
    mine = [v for v in heard if queue[v.key].outcome == "correct"]
    share = np.mean([str(v.said) == "wrong" for v in mine])
    assert 0.4 < share < 0.6
    by_hand = truth(found, "judged") - 2 * share * found["judged"]["accuracy"]["estimate"]
    assert truth(found) == pytest.approx(by_hand)


def test_the_report_takes_them_in_and_says_so(run: Path, tmp_path: Path) -> None:
    read_queue(run, 12, lambda one: "wrong")
    mmrag("report", str(run), "--out", str(tmp_path / "r"), "--resamples", "50", "--failures", "0")
    report = json.loads((tmp_path / "r" / "report.json").read_text())
    for condition in report["runs"][0]["conditions"]:
        found = condition["corrected"]
        assert (found["by"], found["verdicts"], found["people"], found["drawn"]) == (
            "people", 12, 1, 12,
        )  # fmt: skip
        asked = 1 - condition["not_asked"] / found["accuracy"]["n"]  # the others stay missing
        assert found["truthfulness_score"]["estimate"] < -0.9 * asked
    page = (tmp_path / "r" / "report.html").read_text()
    assert "strict, corrected for the judge" in page
    assert "drawn by the queue" in page


def test_a_report_without_them_is_as_before(run: Path, tmp_path: Path) -> None:
    (run / FILE).write_bytes(b"not ours\n")
    mmrag("report", str(run), "--out", str(tmp_path / "r"), "--resamples", "0", "--failures", "0")
    report = json.loads((tmp_path / "r" / "report.json").read_text())
    assert report["runs"][0]["conditions"][0]["corrected"] is None


def test_the_interval_holds_the_truth() -> None:
    """A judge that errs in 6 % where it is sure and 35 % where not, and believes too much."""
    inside = 0
    for trial in range(60):
        frame = make_frame(seed=trial, answers=0)
        luck = np.random.default_rng([trial, 3])
        true = frame["score"].astype(int)
        doubt = luck.random(len(true)) < 0.12
        errs = luck.random(len(true)) < np.where(doubt, 0.35, 0.06)
        judged = np.where(errs, np.where(true > 0, -1, 1), true)
        keys = [
            (f"s{s}", "clean", int(t)) for s, t in zip(frame["session"], frame["turn"], strict=True)
        ]
        name = {1: "correct", 0: "missing", -1: "incorrect"}
        turns = [
            JudgedTurn(key, name[int(j)], "unsure" if d else "")
            for key, j, d in zip(keys, judged, doubt, strict=True)
        ]
        counts = np.zeros((STRATA, 3))
        place = {key: number for number, key in enumerate(keys)}
        for turn in draw(turns, 50, seed=trial):
            counts[turn.stratum, OUTCOMES.index(name[int(true[place[turn.key]])])] += 1
        frame.columns["score"] = judged.astype(np.int8)
        known = Known({turn.key: turn.stratum for turn in turns}, counts, 50, 1)
        rows = frame.condition("clean")
        found = corrected_by_people(frame, rows, known, Uncertainty(resamples=300))
        figure = found["truthfulness_score"]
        inside += figure["low"] <= 0.36 <= figure["high"]  # 0.6 right, 0.24 wrong of each hundred
    assert 54 <= inside <= 60
