"""The fast headline against scoring itself, number for number."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted_runs import make_session as planted_session
from planted_runs import plant
from small_runs import done, write

from mmrag.metrics.headline import RATES, IntervalOptions
from mmrag.records import Outcome, Reply, Verdict, Vote
from simulator.reports.figures.headline import headline
from simulator.reports.read.turn_frame import load_turn_frame
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader


@pytest.mark.parametrize("condition", ["clean", "low-light@5"])
@pytest.mark.parametrize("stop", ["strikes(2)", "strikes(1)", "never"])
@pytest.mark.parametrize("agent_errors", ["unscored", "incorrect"])
def test_equals_scoring_in_every_protocol(
    sweep: Path, condition: str, stop: str, agent_errors: str
) -> None:
    with RunReader(sweep) as run:
        frame = load_turn_frame(run, stop=StopPolicy.parse(stop), agent_errors=agent_errors)
        ours = headline(frame, frame.condition(condition), IntervalOptions(resamples=100))
        for protocol in ("crag-mm", "kddcup25", "strict"):
            options = ScoreOptions(
                protocol=protocol,
                stop=stop,
                degradation=condition,
                resamples=100,
                agent_errors=agent_errors,
            )
            theirs = score_run(run, options)["all"]
            if protocol == "strict":
                _same_strict(ours, theirs)
                continue
            for rate in (*RATES, "exact_match", "total"):
                assert ours[protocol][rate] == pytest.approx(theirs[rate], abs=1e-12), rate
            score = theirs["mean_multi_turn_conversation_score"]
            assert ours[protocol]["multi_turn_score"] == pytest.approx(score, abs=1e-12)


def _same_strict(ours: dict, theirs: dict) -> None:
    for view, same in (("as_answered", theirs["as_answered"]), ("as_experienced", theirs)):
        for rate in RATES:
            found = ours["strict"][view][rate]
            assert found["estimate"] == pytest.approx(same[rate], abs=1e-12)
            low, high = same["intervals"][rate]
            assert (found["low"], found["high"]) == pytest.approx((low, high), abs=1e-12)
            assert found["n"] == same["total"]
    for name in ("early_stop_rate", "two_strike_rate", "successful_turns"):
        assert ours["strict"][name]["estimate"] == pytest.approx(theirs[name], abs=1e-12)
    score = ours["strict"]["multi_turn_score"]
    assert score["estimate"] == pytest.approx(
        theirs["mean_multi_turn_conversation_score"], abs=1e-12
    )
    interval = theirs["intervals"]["mean_multi_turn_conversation_score"]
    assert [score["low"], score["high"]] == pytest.approx(interval, abs=1e-12)
    assert ours["coverage"] == pytest.approx(theirs["coverage"], abs=1e-12)


def test_one_turn_in_all_has_the_kits_quirk(tmp_path: Path) -> None:
    folder = plant(tmp_path / "run", sessions=1, failures=0, base=0.98, spread=0, stop="strikes(1)")
    with RunReader(folder) as run:
        frame = load_turn_frame(run, stop=StopPolicy.parse("never"))
    rows = frame["turn"] == 0
    found = headline(frame, rows, IntervalOptions(resamples=0))
    assert found["scored"] == 1
    assert found["crag-mm"]["truthfulness_score"] == 0.0
    assert found["strict"]["as_answered"]["truthfulness_score"]["estimate"] != 0.0


def test_equals_scoring_where_a_panel_voted_and_a_kit_hears_otherwise(tmp_path: Path) -> None:
    """Votes are averaged, and each kit's own rules hold, in reports as in `mmrag score`."""
    session = planted_session(6)
    exact = session.turns[1].reference.text.upper()
    said = ["I don’t know, but it is", exact, "no idea", "I don't know", "other", "more"]
    judges = (Outcome.PERFECT, Outcome.INCORRECT), (Outcome.MISSING, Outcome.PERFECT)
    votes = [tuple(Vote(judge="j", outcome=vote) for vote in of) for of in judges]
    verdicts = [Verdict(outcome=of[1].outcome, judge="p", votes=of) for of in votes]
    turns = [
        done(session, i, "c", reply=Reply(text=text), verdict=verdicts[i % 2])
        for i, text in enumerate(said)
    ]
    write(tmp_path / "run", (session, turns), judge="p")
    with RunReader(tmp_path / "run") as run:
        for stop in ("never", "strikes(2)", "strikes(1)"):
            frame = load_turn_frame(run, stop=StopPolicy.parse(stop))
            ours = headline(frame, frame.condition("clean"), IntervalOptions(resamples=0))
            for protocol in ("crag-mm", "kddcup25"):
                theirs = score_run(run, ScoreOptions(protocol=protocol, stop=stop))["all"]
                for rate in (*RATES, "exact_match", "total"):
                    assert ours[protocol][rate] == pytest.approx(theirs[rate], abs=1e-12), rate
                score = theirs["mean_multi_turn_conversation_score"]
                assert ours[protocol]["multi_turn_score"] == pytest.approx(score, abs=1e-12)
            strict = score_run(run, ScoreOptions(stop=stop, resamples=0))["all"]
            views = {"as_answered": strict["as_answered"], "as_experienced": strict}
            for view, same in views.items():
                for rate in RATES:
                    estimate = ours["strict"][view][rate]["estimate"]
                    assert estimate == pytest.approx(same[rate], abs=1e-12)
