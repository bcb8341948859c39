"""How sure a figure is: intervals, tests and effects over sessions. Vectorised numpy throughout.

Turns of one conversation are not independent, so everything that can resamples *sessions*
(clusters). Every function is pure: randomness comes from a generator keyed by `seed`, and the same
arguments give the same numbers on every machine. Definitions are in docs/measures.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmrag.errors import UsageError
from mmrag.records import Record

Floats = NDArray[np.float64]
Counts = NDArray[Any]

_CHUNK = 4_000_000
"""Random weights held at once: 32 MB, whatever the number of resamples."""


class Interval(Record, frozen=True, kw_only=True):
    """A figure with its interval. Whatever cannot be known is None, never NaN."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    """Items (turns) under the figure."""
    clusters: int = 0
    """Sessions under the figure; 0 where items stand alone."""
    level: float = 0.95


class SignificanceResult(Record, frozen=True, kw_only=True):
    """Outcome of a comparison of two runs on the same items."""

    __test__ = False  # keeps pytest from collecting it by its name

    difference: float
    """First minus second."""
    p: float
    n: int
    clusters: int = 0
    detectable: float | None = None
    """Smallest true difference found with 80 % power at α = .05 by a comparison of this size."""


def cluster_bootstrap(
    values: ArrayLike,
    clusters: Sequence[Hashable] | NDArray[Any],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Mean of `values` over items with an interval that resamples whole clusters.

    The interval is the percentile interval, widened for few clusters as by a t distribution
    (Hesterberg 2015); it needs at least two clusters, else its ends are None.

    >>> cluster_bootstrap([1, 0, 1, 1], ["a", "a", "b", "c"]).estimate
    0.75
    """
    data = _numbers(values)
    codes, count = _codes(clusters, len(data))
    sums, sizes = (np.bincount(codes, of, count) for of in (data, np.ones(len(data))))
    replicates = bootstrap_replicates(sums, sizes, resamples=resamples, seed=seed)[:, 0]
    low, high = percentile_interval(replicates, clusters=count)
    estimate = float(sums.sum() / len(data)) if len(data) else None
    return Interval(estimate=estimate, low=low, high=high, n=len(data), clusters=count)


def bootstrap_replicates(
    sums: ArrayLike, sizes: ArrayLike, *, resamples: int = 10_000, seed: int = 0
) -> Floats:
    """Resampled values of Σ sums / Σ sizes, one row per resample, one column per figure.

    For figures that are not means over turns: give one row per session. A resample in which no
    session of a figure was drawn is NaN in its column; drop it before taking percentiles.
    """
    top, bottom = np.asarray(sums, float), np.asarray(sizes, float)
    if top.shape != bottom.shape or top.ndim not in (1, 2):
        raise UsageError("sums and sizes must have one shape: sessions, or sessions × figures.")
    if top.ndim == 1:
        top, bottom = top[:, None], bottom[:, None]
    return _ratio_replicates(top, bottom, resamples, seed)


def wilson(successes: float, n: int) -> Interval:
    """Wilson's interval of a plain rate; honest for few items and near 0 or 1.

    >>> interval = wilson(8, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4902, 0.9433)
    """
    if n < 0 or not 0 <= successes <= max(n, 0):
        raise UsageError(f"{successes} successes of {n} items is impossible.")
    if n == 0:
        return Interval(estimate=None, low=None, high=None, n=0)
    rate, z = successes / n, normal_quantile(0.975)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (rate * (1 - rate) / n + z * z / (4 * n * n)) ** 0.5
    # At 0 and n the ends are exactly 0 and 1; rounding must not cut the estimate off.
    return Interval(
        estimate=rate,
        low=min(max(middle - half, 0.0), rate),
        high=max(min(middle + half, 1.0), rate),
        n=n,
    )


def cluster_permutation(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable] | NDArray[Any],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> SignificanceResult:
    """Paired test of the mean difference: under no difference a session's two runs may be swapped.

    Swaps whole sessions, so correlated turns do not make it anti-conservative. Two-sided; the
    observed arrangement counts as one, so p is never 0. Grades are few whole numbers, so many
    arrangements tie; ties count half (mid-p), without which the test is needlessly timid.
    `clusters` of unique ids give the naive per-turn test.
    """
    a, b = _numbers(first), _numbers(second)
    if len(a) != len(b):
        raise UsageError(f"paired runs need the same items; got {len(a)} and {len(b)}.")
    codes, count = _codes(clusters, len(a))
    if not len(a):
        return SignificanceResult(difference=0.0, p=1.0, n=0)
    per_cluster = np.bincount(codes, a - b, count)
    observed = abs(per_cluster.sum())
    moving = per_cluster[per_cluster != 0]  # sessions without a difference never change the sum
    # Rounding must not decide a tie between arrangements that are equal in exact arithmetic.
    blur = 1e-9 * max(1.0, float(np.abs(moving).sum()))
    above, ties = 0, 1  # the observed arrangement ties with itself
    rng = generator(seed, "permutation")
    for signs in _swaps(rng, resamples, len(moving)):
        sums = np.abs(signs @ moving)
        above += int((sums > observed + blur).sum())
        ties += int((np.abs(sums - observed) <= blur).sum())
    error = cluster_standard_error(a - b, codes)
    return SignificanceResult(
        difference=float((a - b).mean()),
        p=(above + ties / 2) / (1 + resamples) if len(moving) else 1.0,
        n=len(a),
        clusters=count,
        detectable=minimum_detectable_effect(error) if error else None,
    )


def cluster_permutations(
    differences: ArrayLike, sizes: ArrayLike, *, resamples: int = 10_000, seed: int = 0
) -> list[SignificanceResult]:
    """`cluster_permutation` for many slices at once, from sums per cluster.

    `differences` holds Σ (first − second) and `sizes` the number of items, one row per cluster, one
    column per test. All tests share the same swaps, which is what makes this quick.
    """
    top, size = np.asarray(differences, float), np.asarray(sizes, float)
    if top.ndim != 2 or top.shape != size.shape:
        raise UsageError("differences and sizes must have one shape: clusters × tests.")
    observed = np.abs(top.sum(axis=0))
    blur = 1e-9 * np.maximum(1.0, np.abs(top).sum(axis=0))
    moving = (top != 0).any(axis=1)
    above, ties = np.zeros(top.shape[1]), np.ones(top.shape[1])
    rng = generator(seed, "permutation")
    for signs in _swaps(rng, resamples, int(moving.sum()), top.shape[1]):
        sums = np.abs(signs @ top[moving])
        above += (sums > observed + blur).sum(axis=0)
        ties += (np.abs(sums - observed) <= blur).sum(axis=0)
    p = (above + ties / 2) / (1 + resamples)
    return [_tested(top[:, i], size[:, i], float(p[i])) for i in range(top.shape[1])]


def _tested(difference: Floats, size: Floats, p: float) -> SignificanceResult:
    many, whole = int((size > 0).sum()), float(size.sum())
    if not whole:
        return SignificanceResult(difference=0.0, p=1.0, n=0)
    mean, detectable = float(difference.sum() / whole), None
    residual = np.square(difference - mean * size).sum()
    if many > 1 and residual > 1e-12:  # where nothing varies it is not known what could be seen
        detectable = minimum_detectable_effect(float(np.sqrt(many / (many - 1) * residual) / whole))
    still = not difference.any()
    return SignificanceResult(
        difference=mean, p=1.0 if still else p, n=round(whole), clusters=many, detectable=detectable
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p of McNemar's test from the two counts of turns that flipped.

    It takes turns for independent: read it beside the cluster permutation test, not instead of it.

    >>> mcnemar(1, 9)
    0.021484375
    """
    if only_first < 0 or only_second < 0:
        raise UsageError("counts of flipped turns cannot be negative.")
    from scipy.special import bdtr

    flipped = only_first + only_second
    return min(1.0, 2.0 * float(bdtr(min(only_first, only_second), flipped, 0.5)))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p of each member of one family, in the order given.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def minimum_detectable_effect(standard_error: float) -> float:
    """The smallest true difference that a two-sided test at α = .05 finds with 80 % power.

    >>> round(minimum_detectable_effect(0.01), 4)
    0.028
    """
    return (normal_quantile(0.975) + normal_quantile(0.8)) * standard_error


def cluster_standard_error(
    values: ArrayLike, clusters: Sequence[Hashable] | NDArray[Any]
) -> float | None:
    """Standard error of the mean over items when items come in clusters; None below two clusters.
    The linearised (sandwich) estimate with the factor k/(k − 1) for k clusters."""
    data = _numbers(values)
    codes, count = _codes(clusters, len(data))
    if count < 2:
        return None
    residual = np.bincount(codes, data - data.mean(), count)
    return float(np.sqrt(count / (count - 1) * np.square(residual).sum()) / len(data))


def normal_quantile(probability: float) -> float:
    """The standard normal quantile."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def generator(seed: int, purpose: str) -> np.random.Generator:
    """An owned generator keyed by a stable hash of the seed and what it is for."""
    digest = hashlib.sha256(f"{purpose}:{seed}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def percentile_interval(
    replicates: Floats, *, clusters: int, level: float = 0.95
) -> tuple[float | None, float | None]:
    """Ends of the widened percentile interval of one figure's resamples; NaNs are left out."""
    from scipy.special import ndtr, stdtrit

    known = replicates[~np.isnan(replicates)]
    if clusters < 2 or not len(known):
        return None, None
    wide = float(stdtrit(clusters - 1, (1 + level) / 2)) * (clusters / (clusters - 1)) ** 0.5
    tail = float(ndtr(-wide))
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def _ratio_replicates(sums: Floats, sizes: Floats, resamples: int, seed: int) -> Floats:
    if resamples < 1:
        raise UsageError("at least one resample is needed.")
    count, figures = sums.shape
    out = np.empty((resamples, figures))
    both = np.concatenate([sums, sizes], axis=1)
    rng, start = generator(seed, "bootstrap"), 0
    whole = resamples * count <= _CHUNK
    for rows in _chunks(resamples, count):
        drawn = _one_draw(resamples, count, seed) if whole else _weights(rng, rows, count)
        totals = drawn.astype(float) @ both
        bottom = totals[:, figures:]
        ratio = np.full((rows, figures), np.nan)
        np.divide(totals[:, :figures], bottom, out=ratio, where=bottom > 0)
        out[start : start + rows] = ratio
        start += rows
    return out


@lru_cache(maxsize=2)
def _one_draw(resamples: int, count: int, seed: int) -> Counts:
    """All weights at once; kept, because a report asks for the same draw dozens of times."""
    return _weights(generator(seed, "bootstrap"), resamples, count)


def _weights(rng: np.random.Generator, rows: int, count: int) -> Counts:
    """How often each of `count` clusters is drawn in each of `rows` resamples."""
    weights = np.empty((rows, count), np.uint16 if count < 1 << 16 else np.uint32)
    start = 0
    for some in _chunks(rows, count, _CHUNK // 16):  # what counting needs is eight times as large
        drawn = rng.integers(0, count, size=(some, count), dtype=np.int32)
        drawn += (np.arange(some, dtype=np.int32) * count)[:, None]
        counted = np.bincount(drawn.ravel(), minlength=some * count)
        weights[start : start + some] = counted.reshape(some, count)
        start += some
    return weights


def _swaps(
    rng: np.random.Generator, resamples: int, count: int, tests: int = 1
) -> Iterator[Floats]:
    """Rows of 1 and −1, `resamples` in all, some at a time: whose two runs are swapped."""
    # drawn by whole chunks, each rounded up to four bytes: of another size it is another stream
    for rows in _chunks(resamples, max(count, tests)):
        bits = np.frombuffer(rng.bytes(rows * ((count + 7) // 8)), np.uint8).reshape(rows, -1)
        start = 0
        for some in _chunks(rows, max(count, tests), _CHUNK // 8):
            signs = np.unpackbits(bits[start : start + some], axis=1, count=count).astype(float)
            signs *= 2
            signs -= 1
            yield signs
            start += some


def _chunks(rows: int, columns: int, most: int = _CHUNK) -> Iterator[int]:
    step = max(1, most // max(columns, 1))
    for start in range(0, rows, step):
        yield min(step, rows - start)


def _numbers(values: ArrayLike) -> Floats:
    data = np.asarray(values, dtype=float)
    if data.ndim != 1:
        raise UsageError("values must be one number per item.")
    if not np.isfinite(data).all():
        raise UsageError(
            "values hold NaN or infinity; leave unscored items out and report coverage."
        )
    return data


def _codes(clusters: Sequence[Hashable] | NDArray[Any], n: int) -> tuple[NDArray[np.int64], int]:
    """Clusters as numbers 0…k−1 in order of first appearance."""
    if len(clusters) != n:
        raise UsageError(f"{n} values need {n} cluster ids; got {len(clusters)}.")
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        unique, codes = np.unique(clusters, return_inverse=True)
        return codes.astype(np.int64), len(unique)
    known: dict[Hashable, int] = {}
    codes = np.fromiter((known.setdefault(c, len(known)) for c in clusters), np.int64, n)
    return codes, len(known)
