"""How much of a score is chance: repeats of the same turns, and the sources of its variance.

A table has a row per turn and a column per repeat; a score is 1, 0 or −1 (NaN where a repeat has
none: such a turn is left out). Definitions are in docs/measures.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmrag.errors import UsageError
from mmrag.metrics.statistics import Interval, cluster_bootstrap
from mmrag.records import Record


class Budget(Record, frozen=True, kw_only=True):
    """Variance of one run's headline (the mean score), by source. Sources add up to the total,
    unless one of them came out below nothing and was cut to it."""

    headlines: tuple[float, ...]
    """Of each repeat, over the same turns."""
    total: float
    conversations: float
    """Which conversations were drawn."""
    repeats: float
    """What the assistant says to the same question another time."""
    judge: float | None = None
    """What the judge says of the same reply another time, where that was measured."""
    turns: int
    sessions: int


class Repeats(Record, frozen=True, kw_only=True):
    """How alike repeats are, turn by turn."""

    repeats: int
    turns: int
    pass_hat: tuple[float, ...]
    """Chance that k tries are all right, for k from 1 on: pass^k."""
    variance: float
    """Of the score of a turn over repeats, on average."""
    flips: Interval
    """Chance that two repeats of a turn come to different outcomes."""


def budget(
    scores: ArrayLike, sessions: Sequence[Hashable], *, judge_variance: float | None = None
) -> Budget:
    """Split the variance of a headline; `judge_variance` is that of a turn's score by the judge.

    Linearised as for ratios: a conversation's share of the variance is its residual, squared.

    >>> budget([[1, 1], [0, 0]], ["a", "b"]).repeats
    0.0
    """
    table, codes = _whole(scores, sessions)
    turns = len(table)
    many = int(codes.max()) + 1
    sums = np.stack([np.bincount(codes, column, many) for column in table.T], axis=1)
    sizes = np.bincount(codes, minlength=many)[:, None]
    headlines = sums.sum(axis=0) / turns
    residuals = ((sums - headlines * sizes) ** 2).sum(axis=0) / turns**2
    total = float(residuals.mean()) * many / max(many - 1, 1)
    again = float(sums.var(axis=1, ddof=1).sum()) / turns**2
    judge = None if judge_variance is None else min(judge_variance / turns, again)
    return Budget(
        headlines=tuple(map(float, headlines)),
        total=total,
        conversations=max(total - again, 0.0),
        repeats=again - (judge or 0.0),
        judge=judge,
        turns=turns,
        sessions=many,
    )


def repeats(
    scores: ArrayLike, sessions: Sequence[Hashable], *, resamples: int = 10_000, seed: int = 0
) -> Repeats:
    """How alike the repeats of every turn are."""
    table, codes = _whole(scores, sessions)
    return Repeats(
        repeats=table.shape[1],
        turns=len(table),
        pass_hat=pass_hat(table),
        variance=float(table.var(axis=1, ddof=1).mean()),
        flips=_interval(_within(table), codes, resamples, seed),
    )


def pass_hat(scores: ArrayLike) -> tuple[float, ...]:
    """Chance that k of k tries are right, for each k up to the number of repeats.

    >>> pass_hat([[1, 1], [1, 0]])
    (0.75, 0.5)
    """
    table = np.asarray(scores, float)
    tries = table.shape[1]
    right = (table > 0).sum(axis=1)
    return tuple(
        float(np.mean([math.comb(int(c), k) / math.comb(tries, k) for c in right]))
        for k in range(1, tries + 1)
    )


def flips(
    one: Sequence[Sequence[Any]],
    other: Sequence[Sequence[Any]] | None,
    sessions: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Chance that a turn asked one way and another comes to different outcomes.

    Without an `other` way: asked the same way twice. Rows are turns, with each try's outcome.
    """
    if other is None:
        rates = [_share(itertools.combinations(row, 2)) for row in one]
    else:
        rates = [_share(itertools.product(a, b)) for a, b in zip(one, other, strict=True)]
    known = [(rate, s) for rate, s in zip(rates, sessions, strict=True) if rate is not None]
    return _interval([rate for rate, _ in known], [s for _, s in known], resamples, seed)


def beyond(
    one: Sequence[Sequence[Any]],
    other: Sequence[Sequence[Any]],
    sessions: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """How much more often two ways differ than the first does from itself: its own doing.

    >>> beyond([["c", "c"], ["c", "c"]], [["c", "c"], ["i", "i"]], ["a", "b"]).estimate
    0.5
    """
    found = [
        (between - within, session)
        for a, b, session in zip(one, other, sessions, strict=True)
        if (between := _share(itertools.product(a, b))) is not None
        and (within := _share(itertools.combinations(a, 2))) is not None
    ]
    return _interval([rate for rate, _ in found], [s for _, s in found], resamples, seed)


def mean_variance(scores: Sequence[Sequence[float | None]]) -> float:
    """Of a turn's score over its tries, on average; tries without a score are left out.

    >>> mean_variance([[1, -1], [1, None, 1]])
    1.0
    """
    known = [[score for score in row if score is not None] for row in scores]
    found = [float(np.var(row, ddof=1)) for row in known if len(row) > 1]
    return sum(found) / len(found) if found else 0.0


def _share(pairs: Any) -> float | None:
    found = [a != b for a, b in pairs]
    return sum(found) / len(found) if found else None


def _within(table: NDArray[np.float64]) -> list[float]:
    return [_share(itertools.combinations(row, 2)) or 0.0 for row in table.tolist()]


def _whole(
    scores: ArrayLike, sessions: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    table = np.asarray(scores, float)
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError("noise is measured on two repeats or more of the same turns.")
    known = np.isfinite(table).all(axis=1)
    if not known.any():
        raise UsageError("no turn was scored in every repeat, so nothing can be compared.")
    order = {name: place for place, name in enumerate(dict.fromkeys(sessions))}
    codes = np.array([order[name] for name in sessions], np.int64)[known]
    return table[known], np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _interval(
    rates: Sequence[float], sessions: Sequence[Hashable] | NDArray[Any], resamples: int, seed: int
) -> Interval:
    if not len(rates):
        return Interval(estimate=None, low=None, high=None, n=0)
    return cluster_bootstrap(rates, list(sessions), resamples=resamples, seed=seed)
