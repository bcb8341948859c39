"""What trials say a calibration would have made of conversations, by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_runs import done, make_session

from mmrag.agents.grounded.abstain import Calibration
from mmrag.errors import DataError
from mmrag.records import Reply, Step
from simulator.run.calibration_trials import (
    Trial,
    calibrate,
    risk_coverage,
    simulate_calibration,
    trials_of,
)

SPEAKS = Calibration(bias=5.0, weights={})


def held(*turns: tuple[float | None, bool]) -> Trial:
    """Without abstention: how sure it was of an answer, if there is one, and whether right."""
    session = make_session(1, turns=len(turns))
    traces = [
        () if sure is None
        else (Step(name="verifier", info={"features": {"recognition": 1.0, "match": sure}}),)
        for sure, _ in turns
    ]  # fmt: skip
    return tuple(
        done(session, n, "c" if right else "i", reply=Reply(text="x", trace=traces[n]))
        for n, (_, right) in enumerate(turns)
    )


def trial(marks: str) -> Trial:
    """A conversation: c right, i wrong, - without an answer."""
    return held(*((None if mark == "-" else 1.0, mark == "c") for mark in marks))


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
    assert simulate_calibration(SPEAKS, [trial(marks)]).score == pytest.approx(score)


def test_shares_count_what_is_said_after_a_stop_too() -> None:
    made = simulate_calibration(SPEAKS, [trial("iicc"), trial("c-")])
    assert made.score == pytest.approx((-2 / 4 + 1 / 2) / 2)
    assert (made.right, made.wrong) == pytest.approx((3 / 6, 2 / 6))


def test_who_never_speaks_earns_nothing() -> None:
    made = simulate_calibration(Calibration(bias=-5.0, weights={}), [trial("ccii")])
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


def test_a_calibration_played_by_hand() -> None:
    plain = Calibration(bias=0.0, weights={"match": 4.0}, bars=(0.6, 0.9))
    yes, no = (1.0, True), (1.0, False)  # p = .98
    unsure = (0.25, True)  # p = .73
    # right, right; silent is not: .73 > .6; wrong, wrong: over; then it counts for the turns
    one = simulate_calibration(plain, [held(yes, unsure, no, no, yes)])
    assert (one.score, one.right, one.wrong) == pytest.approx((0.0, 0.6, 0.4))
    # p = .5: silent, then .73 is not enough, that is two failures; then .98 is
    two = simulate_calibration(plain, [held((0.0, True), unsure, yes), held(yes)])
    assert (two.score, two.right, two.wrong) == pytest.approx((0.5, 0.5, 0.0))
    assert simulate_calibration(plain, []).score == 0
    dear = simulate_calibration(plain, [held(yes, unsure, no, no, yes)], wrong_costs=2.0)
    assert (dear.score, dear.wrong) == pytest.approx((-0.4, 0.4))


def test_the_dearer_a_wrong_answer_the_surer_an_answer_has_to_be() -> None:
    right_of_20 = {0.3: 12, 0.6: 15, 0.9: 19}
    trials = [held((sure, n < k)) for sure, k in right_of_20.items() for n in range(20)]
    spoken = [
        calibrate(trials, made_on="test", most_wrong=1.0, wrong_costs=costs)
        for costs in (1.0, 2.0, 5.0, 100.0)
    ]
    assert [round(20 * 3 * simulate_calibration(one, trials).right) for one in spoken] == [
        46,
        34,
        19,
        0,
    ]


def test_the_bars_keep_the_wrong_answers_few_and_the_conversations_good() -> None:
    def one(n: int) -> tuple[float, bool]:
        sure = (n % 10) / 10
        return sure, n % 10 > 3 + n % 3

    trials = [held(one(n), one(n // 10), one(n // 100 + n)) for n in range(100)]
    free = calibrate(trials, made_on="test", most_wrong=1.0)
    few = simulate_calibration(free, trials).wrong / 2
    strict = calibrate(trials, made_on="test", most_wrong=few)
    assert (
        simulate_calibration(strict, trials).wrong <= few < simulate_calibration(free, trials).wrong
    )
    assert simulate_calibration(strict, trials).score <= simulate_calibration(free, trials).score
    for bars in ((0.5, 0.5, 0.5), (0.7, 0.7, 0.7), (0.9, 0.9, 0.9)):
        same = simulate_calibration(replace(strict, bars=bars), trials)
        assert same.wrong > few or same.score <= simulate_calibration(strict, trials).score
    none = calibrate(trials, made_on="test", most_wrong=0.0)
    assert simulate_calibration(none, trials).wrong == 0
