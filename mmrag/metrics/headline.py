"""The headline: truthfulness as experienced, beside its own shares of right, missing and wrong.

Everything that shows figures takes them from here, from sums per conversation: `mmrag score`,
reports, comparisons and the app. As experienced, the turns after a stop are missing. As answered,
the second view, only what was asked and scored counts. docs/scoring.md says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmrag.metrics.statistics import bootstrap_replicates, normal_quantile, percentile_interval

Floats: TypeAlias = NDArray[np.floating[Any]]

HEADLINE = "as_experienced"
VIEWS = (HEADLINE, "as_answered")

SPANS = {
    "accuracy": (0.0, 1.0),
    "missing": (0.0, 1.0),
    "hallucination_rate": (0.0, 1.0),
    "truthfulness_score": (-1.0, 1.0),
}
"""Figure → what a single turn may add to it."""
RATES = tuple(SPANS)


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are made; one choice for a whole report."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95


class Sums(NamedTuple):
    """Of each conversation: how much of its turns is right and missing, and how many there are."""

    right: Floats
    missing: Floats
    counted: Floats
    unjudged: Floats
    """Turns with a reply and without a verdict. They are not counted."""


def rates(sums: Sums, how: IntervalOptions) -> dict[str, dict[str, Any]]:
    """The four figures of a view; bounds instead where missing verdicts could move them too far."""
    right, missing, counted, unjudged = sums
    wrong = counted - right - missing
    tops = dict(zip(RATES, (right, missing, wrong, right - wrong), strict=True))
    found = ratios(tops, counted, how)
    return figures_or_bounds(found, int(unjudged.sum()), _half(right - wrong, counted))


def figures_or_bounds(
    found: dict[str, dict[str, Any]], unjudged: int, half: float | None
) -> dict[str, dict[str, Any]]:
    """The figures, or their bounds where the missing verdicts could move truthfulness farther
    than half its interval: who lacks a verdict is no sample of the others."""
    if not unjudged:
        return found
    limits = {name: _ends(figure, unjudged, *SPANS[name]) for name, figure in found.items()}
    truth, (low, high) = found["truthfulness_score"]["estimate"], limits["truthfulness_score"]
    if truth is not None and half is not None and max(truth - low, high - truth) <= half:
        return found
    return {
        name: bounds(*limits[name], unjudged, n=figure["n"], sessions=figure["sessions"])
        for name, figure in found.items()
    }


def bounds(low: float, high: float, unjudged: int, *, n: int, sessions: int) -> dict[str, Any]:
    """What is known of a figure that lacks verdicts: all of them wrong, and all of them right."""
    none = figure(None, None, None, n, sessions)
    return {**none, "bounds": [low, high], "unjudged": unjudged}


def bounds_note(limits: Sequence[float], unjudged: int, counted: float) -> str:
    """Why there are bounds and no figure, in a sentence.

    >>> bounds_note([-0.25, 0.5], 3, 5)
    '3 of 8 turns have a reply and no verdict: truthfulness lies between −25.0 and +50.0 points.'
    """
    low, high = (
        f"{100 * end:+.1f}".replace("-", "−") if round(end, 3) else "0.0" for end in limits
    )
    whole = unjudged + round(counted)
    return (
        f"{unjudged:,} of {whole:,} turns have a reply and no verdict: truthfulness lies between "
        f"{low} and {high} points."
    )


def conversation_mean(
    score: Floats,
    sums: Sums,
    how: IntervalOptions,
    *,
    is_bounded: bool = False,
    clusters: ArrayLike | None = None,
) -> dict[str, Any]:
    """The multi-turn score: the mean over conversations of (right − wrong) / turns. `clusters`
    numbers the session of each, where one is held several times."""
    size = sums.counted + (sums.unjudged if is_bounded else 0)
    has = size > 0

    def means(top: Floats) -> Floats:
        return np.divide(top, size, out=np.zeros(len(size)), where=has)

    if is_bounded:
        low, high = (float(means(score + s * sums.unjudged)[has].mean()) for s in (-1, 1))
        many, unjudged = int(has.sum()), int(sums.unjudged.sum())
        return bounds(low, high, unjudged, n=many, sessions=many)
    top, bottom = means(score), has * 1.0
    if clusters is not None:
        top, bottom = (np.bincount(clusters, one).astype(float) for one in (top, bottom))
    return ratios({"mean": top}, bottom, how)["mean"]


def ratios(
    tops: Mapping[str, Floats], bottom: Floats, how: IntervalOptions
) -> dict[str, dict[str, Any]]:
    """Σ top / Σ bottom for several figures that share a denominator, with intervals.

    One entry per session. Sessions without a counted item are left out: to draw them again would
    change nothing.
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


def figure(
    estimate: float | None, low: float | None, high: float | None, n: int, sessions: int
) -> dict[str, Any]:
    """A figure as it stands in report.json."""
    return {"estimate": estimate, "low": low, "high": high, "n": n, "sessions": sessions}


def _ends(figure: dict[str, Any], unjudged: int, least: float, most: float) -> tuple[float, float]:
    known, whole = (figure["estimate"] or 0.0) * figure["n"], figure["n"] + unjudged
    return (known + least * unjudged) / whole, (known + most * unjudged) / whole


def _half(top: Floats, bottom: Floats) -> float | None:
    """Half the 95 % interval of a ratio, without resampling; None of a single conversation."""
    present = bottom > 0
    many = int(present.sum())
    if many < 2:
        return None
    influence = top[present] - top.sum() / bottom.sum() * bottom[present]
    error = np.sqrt(many / (many - 1) * np.square(influence).sum()) / bottom.sum()
    return normal_quantile(0.975) * float(error)
