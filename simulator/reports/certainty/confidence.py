"""Does the assistant know what it knows? Risk against coverage, and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.metrics.statistics import wilson
from simulator.reports.read.frame import Frame
from simulator.reports.read.session_sums import Mask

POINTS = 60
BINS = 10


def confidence(frame: Frame, rows: Mask) -> dict[str, Any] | None:
    """Curve and bins over the replies that came with a confidence; None where none did."""
    scored = rows & frame["scored"]
    stated = scored & ~np.isnan(frame["confidence"])
    spoken = stated & (frame["score"] != 0)
    if not spoken.any():
        return None
    sure = frame["confidence"][spoken].clip(0, 1)
    right = frame["score"][spoken] > 0
    return {
        "scored": int(scored.sum()),
        "with_confidence": int(stated.sum()),
        "answered": int(spoken.sum()),
        **_risk(sure, right, int(scored.sum())),
        **_calibration(sure, right),
    }


def _risk(sure: Any, right: Any, scored: int) -> dict[str, Any]:
    """Answering only above a threshold: share of turns answered, share of answers wrong.

    Replies with the same confidence are let through together. Abstentions stay abstentions, so the
    coverage ends where the assistant itself stopped.
    """
    order = np.argsort(-sure, kind="stable")
    sure, right = sure[order], right[order]
    wrong = np.cumsum(~right)
    answered = np.arange(1, len(sure) + 1)
    last = np.flatnonzero(np.r_[sure[1:] != sure[:-1], True])
    risk = wrong[last] / answered[last]
    gain = (answered[last] - 2 * wrong[last]) / scored
    best = int(np.argmax(gain))
    steps = np.unique(np.linspace(0, len(last) - 1, POINTS).round().astype(int))
    widths = np.diff(np.r_[0, answered[last]])
    return {
        "curve": [
            {
                "threshold": float(sure[last[i]]),
                "coverage": float(answered[last[i]] / scored),
                "risk": float(risk[i]),
                "truthfulness": float(gain[i]),
            }
            for i in steps
        ],
        "area_under_risk": float((risk * widths).sum() / len(sure)),
        "now": {"truthfulness": float(gain[-1]), "coverage": float(len(sure) / scored)},
        "best": {
            "threshold": float(sure[last[best]]),
            "truthfulness": float(gain[best]),
            "coverage": float(answered[last[best]] / scored),
        },
    }


def _calibration(sure: Any, right: Any) -> dict[str, Any]:
    bins: list[dict[str, Any]] = []
    error = 0.0
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        here = place == number
        n = int(here.sum())
        rate = wilson(int(right[here].sum()), n)
        mean = float(sure[here].mean()) if n else None
        if mean is not None and rate.estimate is not None:
            error += n / len(sure) * abs(mean - rate.estimate)
        bins.append(
            {
                "from": number / BINS,
                "to": (number + 1) / BINS,
                "n": n,
                "confidence": mean,
                "accuracy": rate.estimate,
                "low": rate.low,
                "high": rate.high,
            }
        )
    return {
        "bins": bins,
        "expected_error": error,
        "brier": float(np.square(sure - right).mean()),
    }
