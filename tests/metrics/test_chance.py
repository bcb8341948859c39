"""What repeats say, by hand: pass^k, flips, and where a headline's variance comes from."""

from __future__ import annotations

import math

import pytest

from mmrag.errors import UsageError
from mmrag.metrics.chance import budget, flips, pass_hat, repeats

# rows: turns; columns: repeats. Two turns of conversation a, one of b.
SCORES = [[1, 1], [1, -1], [-1, -1]]
SESSIONS = ["a", "a", "b"]


def test_the_variance_of_a_headline_is_split_between_its_sources() -> None:
    """Sums per conversation: a 2 and 0, b −1 and −1; headlines 1/3 and −1/3 over 3 turns.

    Repeats: the variance of (2, 0) is 2, of (−1, −1) is 0, over 3² turns: 2/9. In all: residuals
    of the first repeat 2 − 2/3 and −1 − 1/3, of the second 0 + 2/3 and −1 + 1/3; squares 32/9 and
    8/9, times m/(m − 1) = 2, over 3²: 64/81 and 16/81, on average 40/81.
    """
    found = budget(SCORES, SESSIONS)
    assert found.headlines == (1 / 3, -1 / 3)
    assert found.total == pytest.approx(40 / 81)
    assert found.repeats == pytest.approx(2 / 9)
    assert found.conversations == pytest.approx(40 / 81 - 2 / 9)
    assert found.judge is None
    assert (found.turns, found.sessions) == (3, 2)


def test_what_the_judge_alone_does_is_taken_out_of_the_repeats() -> None:
    found = budget(SCORES, SESSIONS, judge_variance=0.5)
    assert found.judge == pytest.approx(0.5 / 3)
    assert found.repeats == pytest.approx(2 / 9 - 0.5 / 3)
    assert budget(SCORES, SESSIONS, judge_variance=9.0).repeats == 0.0  # never below nothing


def test_repeats_that_never_differ_are_no_source_of_variance() -> None:
    found = budget([[1, 1], [0, 0], [-1, -1]], ["a", "b", "c"])
    assert found.repeats == 0.0
    assert found.conversations == found.total > 0


def test_turns_that_a_repeat_lacks_are_left_out() -> None:
    found = budget([*SCORES, [math.nan, 1]], [*SESSIONS, "c"])
    assert found == budget(SCORES, SESSIONS)


def test_pass_to_the_k() -> None:
    """Of 3 tries 3, 2 and 0 right. All 2 of 2: (3 + 1 + 0) of 3 pairs each; all 3: the first."""
    scores = [[1, 1, 1], [1, 0, 1], [-1, 0, -1]]
    assert pass_hat(scores) == pytest.approx((5 / 9, (1 + 1 / 3) / 3, 1 / 3))


def test_repeats_of_a_turn() -> None:
    found = repeats(SCORES, SESSIONS, resamples=200)
    assert found.repeats == 2
    assert found.pass_hat == pytest.approx((0.5, 1 / 3))
    assert found.variance == pytest.approx(2 / 3)  # only the second turn varies: (1, −1) has 2
    assert found.flips.estimate == pytest.approx(1 / 3)
    assert found.flips.n == 3


def test_flips_between_two_ways_of_asking() -> None:
    """Each turn of one way against each of the other: 0 of 2, 1 of 2, 2 of 2."""
    one, other = [["c"], ["c"], ["m"]], [["c", "c"], ["c", "i"], ["i", "c"]]
    found = flips(one, other, ["a", "b", "c"], resamples=200)
    assert found.estimate == pytest.approx(0.5)
    assert (found.n, found.clusters) == (3, 3)
    assert found.low is not None
    assert 0.0 <= found.low <= 0.5


def test_one_try_repeats_nothing() -> None:
    with pytest.raises(UsageError, match="two repeats"):
        budget([[1], [0]], ["a", "b"])
