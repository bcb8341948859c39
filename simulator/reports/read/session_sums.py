"""Sums per conversation, from which every rate, interval and test of a report follows.

A unit is one session under one condition. Resampling whole units is the same as resampling
sessions, and sums per unit are all that this needs, so nothing here grows with the turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.metrics.headline import HEADLINE, RATES, Floats, IntervalOptions, Sums, figure
from mmrag.metrics.statistics import bootstrap_replicates, percentile_interval
from simulator.reports.read.turn_frame import TurnFrame

Mask = NDArray[np.bool_]


def view_values(frame: TurnFrame, view: str) -> tuple[Mask, dict[str, Floats]]:
    """Which turns count in a view, and what each is worth for each of `RATES`.

    As answered: the turns that were asked and scored. As experienced: turns after the stop count as
    missing, whether they were asked or not.
    """
    kept, cut = frame["kept"], view == HEADLINE
    counted = np.where(kept, frame["scored"], True) if cut else frame["scored"]
    right, missed, wrong = frame.shares()
    if cut:
        right, missed, wrong = right * kept, np.where(kept, missed, 1.0), wrong * kept
    return counted, dict(zip(RATES, (right, missed, wrong, right - wrong), strict=True))


def view_sums(frame: TurnFrame, units: ConversationSums, view: str) -> Sums:
    """Per unit what a view comes to, for `mmrag.metrics.headline`."""
    counted, values = view_values(frame, view)
    unjudged = frame.unjudged & frame["kept"] if view == HEADLINE else frame.unjudged
    return Sums(
        right=units.sums(values["accuracy"], counted),
        missing=units.sums(values["missing"], counted),
        counted=units.sums(where=counted),
        unjudged=units.sums(where=unjudged),
    )


def columns_of_ratios(tops: Floats, bottoms: Floats, how: IntervalOptions) -> list[dict[str, Any]]:
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


class ConversationSums:
    """Sums per unit of some rows of a frame."""

    def __init__(self, frame: TurnFrame, rows: Mask | None = None) -> None:
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


def by_session(frame: TurnFrame, tops: Floats, units: ConversationSums) -> Floats:
    """Sums per session over all its conditions, one row per session of the run."""
    many, width = len(frame.sessions), tops.shape[1]
    cell = units.sessions.astype(np.int64)[:, None] * width + np.arange(width)
    return np.bincount(cell.ravel(), tops.ravel(), many * width).reshape(many, width).astype(float)
