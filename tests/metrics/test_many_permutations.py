"""The batched permutation test against the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from mmrag.errors import UsageError
from mmrag.metrics.statistics import cluster_permutation, cluster_permutations


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
