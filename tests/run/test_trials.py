"""What trials say a calibration would have made of conversations, by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_runs import make_session

from mmrag.agents.grounded.abstain import Calibration
from mmrag.errors import DataError
from mmrag.records import Outcome, Reply, Status, Step, TurnResult, Verdict
from simulator.run.calibration_trials import Trial, play, risk_coverage, trials_of

SPEAKS = Calibration(bias=5.0, weights={})


def trial(marks: str) -> Trial:
    """A conversation that was held without abstention: c right, i wrong, - without an answer."""
    session = make_session(1, turns=len(marks))
    results = []
    for index, mark in enumerate(marks):
        step = Step(name="verifier", info={"features": {"match": 1.0}})
        results.append(
            TurnResult(
                session_id=session.id, turn_index=index, status=Status.ANSWERED,
                reply=Reply(text="x", trace=() if mark == "-" else (step,)),
                verdict=Verdict(
                    outcome=Outcome.PERFECT if mark == "c" else Outcome.INCORRECT, judge="hand"
                ),
            )
        )  # fmt: skip
    return tuple(results)


@pytest.mark.parametrize(
    ("marks", "score"),
    [
        ("cc", 1.0),
        ("iicc", -2 / 4),  # nobody hears the last two
        ("iiic", -2 / 4),  # the third failure comes after the end
        ("icic", 0.0),  # never two in a row
        ("i-c", -1 / 3),  # silence is a failure as well
        ("-ic", -1 / 3),
        ("cii", -1 / 3),
    ],
)
def test_a_conversation_ends_with_the_second_failure_in_a_row(marks: str, score: float) -> None:
    assert play(SPEAKS, [trial(marks)]).score == pytest.approx(score)


def test_shares_count_what_is_said_after_a_stop_too() -> None:
    made = play(SPEAKS, [trial("iicc"), trial("c-")])
    assert made.score == pytest.approx((-2 / 4 + 1 / 2) / 2)
    assert (made.right, made.wrong) == pytest.approx((3 / 6, 2 / 6))


def test_who_never_speaks_earns_nothing() -> None:
    made = play(Calibration(bias=-5.0, weights={}), [trial("ccii")])
    assert (made.score, made.right, made.wrong) == (0.0, 0.0, 0.0)


def test_risk_falls_as_the_bar_rises() -> None:
    slope = Calibration(bias=0.0, weights={"match": 2.0})
    rows = [{"match": -1.0}, {"match": 1.0}]  # chances .12 and .88
    points = {p.threshold: p for p in risk_coverage(slope, rows, [False, True], 4)}
    assert (points[0.0].coverage, points[0.0].risk) == (0.5, 0.5)
    assert (points[0.5].coverage, points[0.5].risk) == (0.25, 0.0)
    assert (points[0.95].coverage, points[0.95].risk) == (0.0, 0.0)


def test_an_answer_that_was_kept_back_is_no_sample() -> None:
    (turn,) = trial("c")
    assert turn.reply is not None
    for speaks, candidate, refused in (
        (False, "7", True),
        (False, None, False),
        (True, "7", False),
    ):
        step = Step(name="abstention", info={"speaks": speaks, "candidate": candidate})
        held = replace(turn, reply=replace(turn.reply, trace=(*turn.reply.trace, step)))
        if refused:
            with pytest.raises(DataError, match="kept back"):
                trials_of([held])
        else:
            assert trials_of([held]) == [(held,)]
