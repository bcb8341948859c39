"""Sums per conversation, from which every rate, interval and test of a report follows.

A unit is one session under one condition. Resampling whole units is the same as resampling
sessions, and sums per unit are all that this needs, so nothing here grows with the turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.statistics import bootstrap_replicates, percentile_interval
from simulator.reports.read.frame import Frame

Floats: TypeAlias = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]

RATES = ("accuracy", "missing", "hallucination_rate", "truthfulness_score")
"""The four figures of a view, under the names that scoring gives them."""

VIEWS = ("as_answered", "as_experienced")


@dataclass(frozen=True)
class Uncertainty:
    """How intervals are made; one choice for a whole report."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95


def figure(
    estimate: float | None, low: float | None, high: float | None, n: int, sessions: int
) -> dict[str, Any]:
    """A figure as it stands in report.json."""
    return {"estimate": estimate, "low": low, "high": high, "n": n, "sessions": sessions}


def view_values(frame: Frame, view: str) -> tuple[Mask, dict[str, Floats]]:
    """Which turns count in a view, and what each is worth for each of `RATES`.

    As answered: the turns that were asked and scored. As experienced: turns after the stop count as
    missing, whether they were asked or not.
    """
    kept, cut = frame["kept"], view == "as_experienced"
    counted = np.where(kept, frame["scored"], True) if cut else frame["scored"]
    right, missed, wrong = frame.shares()
    if cut:
        right, missed, wrong = right * kept, np.where(kept, missed, 1.0), wrong * kept
    return counted, {
        "accuracy": right,
        "missing": missed,
        "hallucination_rate": wrong,
        "truthfulness_score": right - wrong,
    }


def ratios(
    tops: Mapping[str, Floats], bottom: Floats, how: Uncertainty
) -> dict[str, dict[str, Any]]:
    """Σ top / Σ bottom for several figures that share a denominator, with intervals.

    One entry per session. Sessions without a counted item are left out, as scoring does, so that
    the intervals are those of `mmrag score`.
    """
    present = bottom > 0
    many, whole = int(present.sum()), float(bottom.sum())
    if not many:
        return {name: figure(None, None, None, 0, 0) for name in tops}
    table = np.stack([top[present] for top in tops.values()], axis=1)
    replicates = None
    if how.resamples and many > 1:
        below = np.repeat(bottom[present][:, None], table.shape[1], axis=1)
        replicates = bootstrap_replicates(table, below, resamples=how.resamples, seed=how.seed)
    found: dict[str, dict[str, Any]] = {}
    for column, name in enumerate(tops):
        low = high = None
        if replicates is not None:
            low, high = percentile_interval(replicates[:, column], clusters=many, level=how.level)
        estimate = float(table[:, column].sum() / whole)
        found[name] = figure(estimate, low, high, round(whole), many)
    return found


def columns_of_ratios(tops: Floats, bottoms: Floats, how: Uncertainty) -> list[dict[str, Any]]:
    """As `ratios`, for figures that each have a denominator of their own (one column each)."""
    many = (bottoms > 0).sum(axis=0)
    replicates = None
    if how.resamples and len(tops) > 1:
        replicates = bootstrap_replicates(tops, bottoms, resamples=how.resamples, seed=how.seed)
    found: list[dict[str, Any]] = []
    for column in range(tops.shape[1]):
        whole, clusters = float(bottoms[:, column].sum()), int(many[column])
        if not clusters:
            found.append(figure(None, None, None, 0, 0))
            continue
        low = high = None
        if replicates is not None and clusters > 1:
            low, high = percentile_interval(
                replicates[:, column], clusters=clusters, level=how.level
            )
        estimate = float(tops[:, column].sum() / whole)
        found.append(figure(estimate, low, high, round(whole), clusters))
    return found


class Units:
    """Sums per unit of some rows of a frame."""

    def __init__(self, frame: Frame, rows: Mask | None = None) -> None:
        self.frame = frame
        self.rows = np.ones(len(frame), bool) if rows is None else rows
        self.number = frame["unit"]
        self.many = len(frame.starts)
        present = np.bincount(self.number[self.rows], minlength=self.many) > 0
        self.present = np.flatnonzero(present)
        """Units with at least one of the rows."""

    def sums(self, values: NDArray[Any] | None = None, where: Mask | None = None) -> Floats:
        """Per present unit the sum of a column over the rows (their number without one)."""
        chosen = self.rows if where is None else self.rows & where
        weights = None if values is None else values[chosen].astype(float)
        total = np.bincount(self.number[chosen], weights, self.many)
        return total[self.present].astype(float)

    @property
    def sessions(self) -> NDArray[np.int32]:
        """The session of each present unit."""
        return self.frame["session"][self.frame.starts[self.present]]


def by_session(frame: Frame, tops: Floats, units: Units) -> Floats:
    """Sums per session over all its conditions, one row per session of the run."""
    many, width = len(frame.sessions), tops.shape[1]
    cell = units.sessions.astype(np.int64)[:, None] * width + np.arange(width)
    return np.bincount(cell.ravel(), tops.ravel(), many * width).reshape(many, width).astype(float)
