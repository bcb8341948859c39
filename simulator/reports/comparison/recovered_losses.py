"""How much of what a degradation costs another run wins back, by asking to see more, say."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.metrics.headline import HEADLINE, Floats, IntervalOptions
from mmrag.metrics.statistics import bootstrap_replicates, percentile_interval
from simulator.reports.read.session_sums import view_values
from simulator.reports.read.turn_frame import TurnFrame


def recovered_losses(
    first: TurnFrame, second: TurnFrame, how: IntervalOptions
) -> list[dict[str, Any]]:
    """Per degradation that both were held under: the baseline's loss, and the other's share of it.

    In truthfulness as experienced, over the sessions that both have under clean and under it. The
    share is (other degraded − baseline degraded) / (baseline clean − baseline degraded). It is
    given where the interval of that loss is above 0: a share of what may be nothing says nothing.
    """
    names = [n for n in first.conditions if n != "clean" and n in second.conditions]
    if "clean" not in first.conditions:
        return []
    return [_of(name, first, second, how) for name in names]


def _of(name: str, first: TurnFrame, second: TurnFrame, how: IntervalOptions) -> dict[str, Any]:
    clean, degraded, other = (_sums(first, "clean"), _sums(first, name), _sums(second, name))
    both = sorted(clean.keys() & degraded.keys() & other.keys())
    table = np.array([[*clean[s], degraded[s][0], other[s][0]] for s in both]).reshape(-1, 4)
    turns = float(table[:, 1].sum())
    lost, won = table[:, 0] - table[:, 2], table[:, 3] - table[:, 2]
    share = low = high = None
    if lost.sum() > 0 and how.resamples and len(both) > 1:
        tops = np.stack([lost, won], axis=1)
        sizes = np.stack([table[:, 1], lost], axis=1)
        drawn = bootstrap_replicates(tops, sizes, resamples=how.resamples, seed=how.seed)
        ends = [percentile_interval(d, clusters=len(both), level=how.level) for d in drawn.T]
        if (ends[0][0] or 0.0) > 0:
            share, (low, high) = float(won.sum() / lost.sum()), ends[1]
    return {
        "condition": name,
        "sessions": len(both),
        "lost": float(lost.sum() / turns) if turns else None,
        "won": float(won.sum() / turns) if turns else None,
        "share": {"estimate": share, "low": low, "high": high},
    }


def _sums(frame: TurnFrame, condition: str) -> dict[str, tuple[float, float]]:
    """Session → truthfulness summed over its turns, and their number."""
    counted, values = view_values(frame, HEADLINE)
    rows = frame.condition(condition) & counted
    score: Floats = values["truthfulness_score"]
    found: dict[str, tuple[float, float]] = {}
    for number in np.unique(frame["session"][rows]).tolist():
        mine = rows & (frame["session"] == number)
        found[frame.sessions[number]] = (float(score[mine].sum()), float(mine.sum()))
    return found
