"""Intervals and tests: hand-computed values, known laws, honest ends. Coverage over 1,000 simulated
runs stands in docs/benchmarks/judges.md."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmrag.errors import UsageError
from mmrag.metrics.statistics import (
    bootstrap_replicates,
    cluster_bootstrap,
    cluster_permutation,
    cluster_permutations,
    cluster_standard_error,
    holm,
    mcnemar,
    minimum_detectable_effect,
    percentile_interval,
    wilson,
)


def test_wilson_by_hand() -> None:
    # p = 8/10, z = 1.959964: centre (0.8 + z²/20)/(1 + z²/10) = 0.71672, half 0.22655.
    found = wilson(8, 10)
    assert found.low == pytest.approx(0.490162, abs=1e-6)
    assert found.high == pytest.approx(0.943318, abs=1e-6)


def test_wilson_at_the_ends() -> None:
    none, all_ = wilson(0, 20), wilson(20, 20)
    assert (none.low, all_.high) == (0.0, 1.0)
    assert none.high == pytest.approx(0.161125, abs=1e-6)  # z²/(n + z²)
    assert wilson(0, 0).estimate is None
    assert wilson(0, 0).low is None
    with pytest.raises(UsageError):
        wilson(3, 2)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_holds_its_estimate(successes: int, n: int) -> None:
    successes = min(successes, n)
    found = wilson(successes, n)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_bootstrap_estimates_are_plain_means() -> None:
    values = [1, 0, -1, 1, 1, 0]
    clusters = ["a", "a", "b", "b", "c", "d"]
    found = cluster_bootstrap(values, clusters, resamples=500)
    assert (found.estimate, (found.n, found.clusters)) == (pytest.approx(2 / 6), (6, 4))


def test_one_cluster_has_no_interval() -> None:
    found = cluster_bootstrap([1, 0, 1], ["a"] * 3, resamples=100)
    assert (found.estimate, found.low, found.high) == (pytest.approx(2 / 3), None, None)


def test_bootstrap_is_the_same_every_time_and_in_any_naming() -> None:
    rng = np.random.default_rng(3)
    values, ids = rng.choice([-1, 0, 1], 300), np.repeat(np.arange(100), 3)
    first = cluster_bootstrap(values, ids, resamples=800, seed=5)
    named = cluster_bootstrap(values, [f"session {i}" for i in ids], resamples=800, seed=5)
    assert first == named
    assert first != cluster_bootstrap(values, ids, resamples=800, seed=6)


def test_more_sessions_than_fit_a_chunk_are_drawn_from_one_stream() -> None:
    """What an earlier version gave: published intervals and p values stay what they were."""
    first, second = np.arange(5003) % 7.0, np.arange(5003) % 5.0 + 1.03
    found = cluster_bootstrap(first, np.arange(5003), resamples=999, seed=3)
    assert (found.low, found.high) == pytest.approx((2.943416135592912, 3.0554379961052653))
    tested = cluster_permutation(first, second, np.arange(5003), resamples=999, seed=3)
    assert tested.p == 0.3745
    both = np.stack([first - second, first - second + 0.07], axis=1)
    many = cluster_permutations(both, np.ones((5003, 2)), resamples=999, seed=3)
    assert [one.p for one in many] == [0.3745, 0.2565]


def test_clustering_widens_the_interval_as_much_as_turns_repeat() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat(rng.choice([0.0, 1.0], 200), 4)  # four identical turns per session
    ids = np.repeat(np.arange(200), 4)
    whole = cluster_bootstrap(values, ids, resamples=4_000)
    naive = cluster_bootstrap(values, np.arange(800), resamples=4_000)
    ratio = (whole.high - whole.low) / (naive.high - naive.low)
    assert ratio == pytest.approx(2.0, rel=0.06)  # √4


def test_bootstrap_matches_the_normal_interval_on_many_sessions() -> None:
    rng = np.random.default_rng(1)
    values, ids = rng.normal(size=3_000), np.repeat(np.arange(1_000), 3)
    found = cluster_bootstrap(values, ids, resamples=6_000)
    error = cluster_standard_error(values, ids)
    assert error is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_replicates_of_other_figures() -> None:
    found = bootstrap_replicates([2.0, 4.0], [1.0, 1.0], resamples=2_000)
    assert set(np.unique(found)) == {2.0, 3.0, 4.0}  # both twice, or each once
    assert np.mean(found == 3.0) == pytest.approx(0.5, abs=0.04)
    low, high = percentile_interval(found[:, 0], clusters=2)
    assert (low, high) == (2.0, 4.0)


def test_nan_is_refused_and_shapes_are_checked() -> None:
    with pytest.raises(UsageError, match="NaN"):
        cluster_bootstrap([math.nan], ["a"])
    with pytest.raises(UsageError, match="cluster ids"):
        cluster_bootstrap([1.0], [])
    with pytest.raises(UsageError, match="same items"):
        cluster_permutation([1.0], [1.0, 2.0], ["a"])


def test_permutation_by_enumeration() -> None:
    # Three sessions with differences 1, 2, 4: of 8 sign patterns only ±7 reach |7|: p = 2/8, ties
    # counted half: 1/8.
    found = cluster_permutation([1, 2, 4], [0, 0, 0], ["a", "b", "c"], resamples=40_000)
    assert (found.difference, found.p) == (pytest.approx(7 / 3), pytest.approx(1 / 8, abs=0.006))


def test_permutation_of_equal_runs() -> None:
    found = cluster_permutation([1, 0, 1], [1, 0, 1], ["a", "b", "c"], resamples=100)
    assert (found.p, found.difference) == (1.0, 0.0)
    assert cluster_permutation([], [], []).p == 1.0


def test_permutation_sees_a_real_difference_and_names_the_detectable_one() -> None:
    rng = np.random.default_rng(2)
    ids = np.repeat(np.arange(300), 3)
    base = rng.choice([0.0, 1.0], 900)
    better = np.maximum(base, rng.random(900) < 0.3)
    found = cluster_permutation(better, base, ids, resamples=2_000)
    assert found.p < 0.001
    assert found.detectable is not None
    assert 0 < found.detectable < found.difference


def test_correlated_turns_do_not_fool_the_permutation_test() -> None:
    """A small version of the bench: sessions whose turns all move together."""
    rng = np.random.default_rng(4)
    hits = naive_hits = 0
    for seed in range(150):
        ids = np.repeat(np.arange(40), 5)
        shift = np.repeat(rng.normal(size=40), 5)
        zero = np.zeros(200)
        hits += cluster_permutation(shift, zero, ids, resamples=300, seed=seed).p <= 0.05
        naive_hits += (
            cluster_permutation(shift, zero, range(200), resamples=300, seed=seed).p <= 0.05
        )
    assert hits <= 17  # 5 % of 150 plus three standard errors
    assert naive_hits > 45  # the naive test calls noise significant every third time


def test_mcnemar_by_hand() -> None:
    # Of 10 flips at most 1 went the other way: 2·(1 + 10)/2¹⁰.
    assert mcnemar(1, 9) == pytest.approx(22 / 1024)
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 0) == 1.0


def test_holm_by_hand() -> None:
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    # sorted: .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 → at least .06
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(found) == ["a", "b", "c", "d"]
    assert holm({}) == {}


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_holm_never_lowers_and_keeps_order(p_values: dict[str, float]) -> None:
    found = holm(p_values)
    assert all(p_values[name] <= found[name] <= 1 for name in p_values)
    ranked = sorted(p_values, key=lambda name: p_values[name])
    assert all(found[a] <= found[b] for a, b in itertools.pairwise(ranked))


def test_minimum_detectable_effect_by_hand() -> None:
    # z(.975) + z(.8) = 1.959964 + 0.841621
    assert minimum_detectable_effect(0.02) == pytest.approx(0.05603, abs=1e-5)


def test_cluster_standard_error_by_hand() -> None:
    # Residual sums of sessions: (1 + 0 − 2·.75) = −.5, (2 − 2·.75) = .5; k/(k−1) = 2; n = 4:
    # √(2·(.25 + .25))/4 = .25
    assert cluster_standard_error([1, 0, 1, 1], ["a", "a", "b", "b"]) == pytest.approx(0.25)
    assert cluster_standard_error([1, 0], ["a", "a"]) is None


# -- many permutations


def test_one_column_is_the_plain_test() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(60), 4)
    first = rng.choice([1.0, 0.0, -1.0], 240, p=[0.5, 0.2, 0.3])
    second = rng.choice([1.0, 0.0, -1.0], 240, p=[0.4, 0.2, 0.4])
    plain = cluster_permutation(first, second, clusters, seed=3)
    sums = np.bincount(clusters, first - second)[:, None]
    (many,) = cluster_permutations(sums, np.full((60, 1), 4.0), seed=3)
    assert many.difference == pytest.approx(plain.difference)
    assert (many.n, many.clusters) == (plain.n, plain.clusters)
    assert many.p == pytest.approx(plain.p, abs=0.01)
    assert many.detectable == pytest.approx(plain.detectable, rel=1e-9)


def test_many_columns_keep_their_level() -> None:
    rng = np.random.default_rng(2)
    differences = rng.choice([-1.0, 0.0, 1.0], (150, 400))
    found = cluster_permutations(differences, np.ones((150, 400)), resamples=2000)
    share = np.mean([test.p < 0.05 for test in found])
    assert 0.02 < share < 0.08


def test_columns_without_items_or_differences() -> None:
    none, still = cluster_permutations(np.zeros((5, 2)), [[0.0, 1.0]] * 5)
    assert (none.n, none.p, none.detectable) == (0, 1.0, None)
    assert (still.n, still.p, still.difference) == (5, 1.0, 0.0)


def test_shapes_must_match() -> None:
    with pytest.raises(UsageError, match="one shape"):
        cluster_permutations(np.zeros((3, 2)), np.zeros((3, 1)))


def test_what_could_be_seen_is_not_known_where_nothing_varies():
    [same] = cluster_permutations([[0.0], [0.0], [0.0]], [[2], [1], [3]])
    assert same.detectable is None
    [other] = cluster_permutations([[1.0], [0.0], [0.0]], [[2], [1], [3]])
    assert other.detectable > 0
    assert cluster_permutation([1.0, 0.0], [1.0, 0.0], ["a", "b"]).detectable is None
