"""The same turns twice: under two conditions of a run, or in two runs. Differences and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.headline import HEADLINE, RATES, SPANS, Floats, IntervalOptions, bounds
from mmrag.metrics.statistics import cluster_permutations, holm, mcnemar
from simulator.reports.figures.headline import conversation_scores
from simulator.reports.figures.slices import LEAST_SESSIONS, UNTESTED, Dimension, standouts_of
from simulator.reports.read.session_sums import (
    ConversationSums,
    Mask,
    columns_of_ratios,
    view_values,
)
from simulator.reports.read.turn_frame import TurnFrame

PERMUTATIONS = 10_000
_TURNS = 4096
"""More than a session has."""


@dataclass(frozen=True)
class Pairs:
    """Matched rows of two frames. `cluster` numbers the sessions, the same on both sides."""

    first: TurnFrame
    second: TurnFrame
    rows: NDArray[np.int64]
    """Rows of the first frame."""
    others: NDArray[np.int64]
    """Rows of the second frame, in the same order."""
    cluster: NDArray[np.int64]
    clusters: int

    def difference(self, view: str, rate: str) -> tuple[Mask, Floats]:
        """Which pairs count in a view, and second − first for each pair."""
        counted, values = view_values(self.first, view)
        counted_too, values_too = view_values(self.second, view)
        both = counted[self.rows] & counted_too[self.others]
        return both, values_too[rate][self.others] - values[rate][self.rows]

    def flips(self) -> tuple[Mask, Mask, Mask]:
        """Pairs as the headline counts them, one after a stop as missing: all, lost and won."""
        both, _ = self.difference(HEADLINE, "accuracy")
        was, now = (
            ((frame["score"] > 0) & frame["kept"])[rows]
            for frame, rows in ((self.first, self.rows), (self.second, self.others))
        )
        return both, both & was & ~now, both & ~was & now

    def unknown(self) -> tuple[Mask, Mask]:
        """Pairs that the headline would count, were there a verdict on the first, or the second."""
        sides: list[tuple[Mask, Mask]] = []
        for frame, rows in ((self.first, self.rows), (self.second, self.others)):
            counted, _ = view_values(frame, HEADLINE)
            lacking = frame.unjudged & frame["kept"]
            sides.append(((counted | lacking)[rows], lacking[rows]))
        whole = sides[0][0] & sides[1][0]
        return sides[0][1] & whole, sides[1][1] & whole

    def per_session(self, where: Mask, values: Floats | None = None) -> Floats:
        """Sums per session of the pairs that count."""
        weights = None if values is None else values[where]
        return np.bincount(self.cluster[where], weights, self.clusters).astype(float)


def match(first: TurnFrame, rows: Mask, second: TurnFrame, others: Mask) -> Pairs:
    """Match rows of one condition on either side by session id and turn."""
    a, b = np.flatnonzero(rows), np.flatnonzero(others)
    place = {name: number for number, name in enumerate(first.sessions)}
    renamed = np.array([place.get(name, -1) for name in second.sessions], np.int64)
    cluster_a, cluster_b = first["session"][a].astype(np.int64), renamed[second["session"][b]]
    key_a = cluster_a * _TURNS + first["turn"][a]
    key_b = np.where(cluster_b < 0, -1 - np.arange(len(b)), cluster_b * _TURNS + second["turn"][b])
    _, at, at_other = np.intersect1d(key_a, key_b, assume_unique=True, return_indices=True)
    return Pairs(first, second, a[at], b[at_other], cluster_a[at], len(first.sessions))


def rate_differences(pairs: Pairs, how: IntervalOptions) -> dict[str, dict[str, Any]]:
    """Rate of the headline → paired difference with interval, p and minimum detectable effect."""
    parts = [pairs.difference(HEADLINE, rate) for rate in RATES]
    found = _with_tests(
        [pairs.per_session(where, values) for where, values in parts],
        [pairs.per_session(where) for where, _ in parts],
        how,
    )
    return _bounded(pairs, dict(zip(RATES, found, strict=True)))


def difference_of_differences(first: Pairs, second: Pairs, how: IntervalOptions) -> dict[str, Any]:
    """How much more the truthfulness of the same turns rises in the second comparison."""
    changes: list[tuple[NDArray[np.int64], Floats]] = []
    for pairs in (first, second):
        both, change = pairs.difference(HEADLINE, "truthfulness_score")
        keys = pairs.cluster * _TURNS + pairs.first["turn"][pairs.rows]
        changes.append((keys[both], change[both]))
    (keys, before), (keys_too, after) = changes
    shared, at, at_too = np.intersect1d(keys, keys_too, assume_unique=True, return_indices=True)
    clusters = shared // _TURNS
    tops = np.bincount(clusters, after[at_too] - before[at], first.clusters).astype(float)
    sizes = np.bincount(clusters, minlength=first.clusters).astype(float)
    return _with_tests([tops], [sizes], how)[0]


def _bounded(pairs: Pairs, figures: dict[str, Any]) -> dict[str, Any]:
    """The differences, or their bounds where missing verdicts could move that of truthfulness out
    of its interval: all against the second run … all for it."""
    lacks, lacks_too = pairs.unknown()
    unknown = lacks | lacks_too
    if not unknown.any():
        return figures
    found: dict[str, dict[str, Any]] = {}
    for rate, figure in figures.items():
        least, most = SPANS[rate]
        first, second = (view_values(f, HEADLINE)[1][rate] for f in (pairs.first, pairs.second))
        mine, theirs = first[pairs.rows][unknown], second[pairs.others][unknown]
        here, there = lacks[unknown], lacks_too[unknown]
        known = (figure["estimate"] or 0.0) * figure["n"]
        low = np.where(there, least, theirs) - np.where(here, most, mine)
        high = np.where(there, most, theirs) - np.where(here, least, mine)
        whole = figure["n"] + int(unknown.sum())
        ends = (float(known + low.sum()) / whole, float(known + high.sum()) / whole)
        limits = bounds(*ends, int(unknown.sum()), n=figure["n"], sessions=figure["sessions"])
        found[rate] = {**limits, "p": None, "detectable": None}
    truth, (low, high) = figures["truthfulness_score"], found["truthfulness_score"]["bounds"]
    if truth["low"] is not None and truth["low"] <= low and high <= truth["high"]:
        return figures
    return found


def multi_turn_scores(pairs: Pairs) -> tuple[Mask, Floats, Floats]:
    """Which sessions have a multi-turn score on both sides, and each one's on either side."""
    sides: list[tuple[Floats, Floats]] = []
    for frame, rows, clusters in (
        (pairs.first, pairs.rows, pairs.cluster),
        (pairs.second, pairs.others, pairs.cluster),
    ):
        chosen = np.zeros(len(frame), bool)
        chosen[rows] = True
        units = ConversationSums(frame, chosen)
        score, has = conversation_scores(frame, units)
        where = np.zeros(units.many, np.int64)
        where[frame["unit"][rows]] = clusters
        cluster = where[units.present]
        sides.append(
            (
                np.bincount(cluster, score * has, pairs.clusters).astype(float),
                np.bincount(cluster, has, pairs.clusters).astype(float),
            )
        )
    has, has_too = sides[0][1], sides[1][1]
    first, second = (np.divide(t, h, out=np.zeros(len(t)), where=h > 0) for t, h in sides)
    return (has > 0) & (has_too > 0), first, second


def multi_turn_difference(pairs: Pairs, how: IntervalOptions) -> dict[str, Any]:
    """Paired difference of the multi-turn score."""
    both, first, second = multi_turn_scores(pairs)
    ones = both * 1.0
    return _with_tests([(second - first) * ones], [ones], how)[0]


def slice_differences(
    pairs: Pairs, kinds: list[Dimension], how: IntervalOptions, *, min_n: int = 20
) -> list[dict[str, Any]]:
    """Per slice the paired difference in truthfulness; Holm over all slices that are tested.

    `kinds` are dimensions of the first frame: a pair belongs where its first turn does. What was
    retrieved is left out: it is an outcome of the first run, and pairs chosen by an outcome differ
    by regression to the mean alone.
    """
    both, difference = pairs.difference(HEADLINE, "truthfulness_score")
    tops: list[Floats] = []
    sizes: list[Floats] = []
    names: list[tuple[str, str]] = []
    for dimension in kinds:
        if dimension.name == "grounding":
            continue
        codes = dimension.codes[pairs.rows]
        for number, name in enumerate(dimension.slices):
            where = both & (codes == number)
            if where.any():
                tops.append(pairs.per_session(where, difference))
                sizes.append(pairs.per_session(where))
                names.append((dimension.name, name))
    if not names:
        return []
    found = _with_tests(tops, sizes, how)
    table: list[dict[str, Any]] = [
        {"dimension": d, "slice": s, **test, "small": test["n"] < min_n}
        for (d, s), test in zip(names, found, strict=True)
    ]
    testable: dict[str, float] = {
        str(place): entry["p"]
        for place, entry in enumerate(table)
        if entry["sessions"] >= LEAST_SESSIONS and entry["slice"] not in UNTESTED
    }
    adjusted = holm(testable)
    for place, entry in enumerate(table):
        entry["p_holm"] = adjusted.get(str(place))
    return table


def change_standouts(pairs: Pairs, kinds: list[Dimension]) -> dict[str, Any]:
    """Slices that changed more, or less, than the rest of their dimension, one after the other."""
    both, difference = pairs.difference(HEADLINE, "truthfulness_score")
    return standouts_of(
        kinds,
        pairs.rows[both],
        pairs.cluster[both],
        difference[both],
        pairs.clusters,
        all_asked=bool(pairs.first["asked"].all() and pairs.second["asked"].all()),
    )


def flip_counts(pairs: Pairs) -> dict[str, Any]:
    """How many turns became right or wrong, with McNemar's test on them."""
    both, _ = pairs.difference("as_answered", "accuracy")
    right = pairs.first["score"][pairs.rows][both] > 0
    right_too = pairs.second["score"][pairs.others][both] > 0
    lost, won = int((right & ~right_too).sum()), int((~right & right_too).sum())
    return {
        "pairs": int(both.sum()),
        "both_right": int((right & right_too).sum()),
        "lost": lost,
        "won": won,
        "neither": int((~right & ~right_too).sum()),
        "mcnemar_p": mcnemar(lost, won),
    }


def _with_tests(
    tops: list[Floats], sizes: list[Floats], how: IntervalOptions
) -> list[dict[str, Any]]:
    """Mean differences over sessions: interval by bootstrap, p by permutation. Where there is no
    estimate there is nothing to test, and so no p."""
    top, size = np.stack(tops, axis=1), np.stack(sizes, axis=1)
    kept = (size > 0).any(axis=1)
    figures = columns_of_ratios(top[kept], size[kept], how)
    tests = cluster_permutations(top[kept], size[kept], resamples=PERMUTATIONS, seed=how.seed)
    return [
        {**figure, "p": None, "detectable": None}
        if figure["estimate"] is None
        else {**figure, "p": test.p, "detectable": test.detectable}
        for figure, test in zip(figures, tests, strict=True)
    ]
