"""The figures at the top: one condition in all three protocols, with intervals and coverage.

They are computed from sums per conversation and equal those of `mmrag score` number for number
(tests/reports/test_headline.py), several hundred times faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.reports.frame import Frame
from simulator.reports.units import (
    RATES,
    VIEWS,
    Floats,
    Mask,
    Uncertainty,
    Units,
    figure,
    ratios,
    view_values,
)


def headline(frame: Frame, rows: Mask, how: Uncertainty) -> dict[str, Any]:
    """All three protocols over some rows (whole conversations)."""
    units = Units(frame, rows)
    views = {view: _view(frame, units, view, how) for view in VIEWS}
    talk = _conversations(frame, units, how)
    asked = int((rows & frame["asked"]).sum())
    scored = views["as_answered"]["truthfulness_score"]["n"]
    return {
        "sessions": len(units.present),
        "turns": int(rows.sum()),
        "asked": asked,
        "scored": scored,
        "coverage": scored / asked if asked else None,
        "strict": {**views, **talk},
        "crag-mm": _official(frame, rows, "as_answered", talk),
        "kddcup25": _official(frame, rows, "as_experienced", talk),
        "not_asked": int((rows & ~frame["asked"]).sum()),
    }


def _view(frame: Frame, units: Units, view: str, how: Uncertainty) -> dict[str, Any]:
    counted, values = view_values(frame, view)
    bottom = units.sums(where=counted)
    return ratios({name: units.sums(values[name], counted) for name in RATES}, bottom, how)


def conversation_scores(frame: Frame, units: Units) -> tuple[Floats, Floats]:
    """Per unit (correct − incorrect)/turns after the stop, and whether it has one."""
    counted, values = view_values(frame, "as_experienced")
    size = units.sums(where=counted)
    total = units.sums(values["truthfulness_score"], counted)
    return np.divide(total, size, out=np.zeros(len(size)), where=size > 0), (size > 0) * 1.0


def _conversations(frame: Frame, units: Units, how: Uncertainty) -> dict[str, Any]:
    score, has = conversation_scores(frame, units)
    kept, planned = units.sums(frame["kept"]), units.sums()
    ones = np.ones(len(planned))
    success = units.sums((frame["score"] > 0) & frame["kept"] & frame["scored"])
    others = {
        "early_stop_rate": (kept < planned) * 1.0,
        "two_strike_rate": _struck(frame)[units.present] * 1.0,
        "successful_turns": success,
    }
    return {
        **ratios({"multi_turn_score": score}, has, how),
        **ratios(others, ones, how),
        "mean_turns": figure(
            float(planned.mean()) if len(planned) else None, None, None, len(planned), len(planned)
        ),
    }


def _struck(frame: Frame) -> Mask:
    """Units in which two consecutive scored turns failed, cut or not."""
    number = frame["unit"][frame["scored"]]
    failed = frame["score"][frame["scored"]] <= 0
    pairs = failed[1:] & failed[:-1] & (number[1:] == number[:-1])
    return np.bincount(number[1:][pairs], minlength=len(frame.starts)) > 0


def _official(frame: Frame, rows: Mask, view: str, talk: dict[str, Any]) -> dict[str, Any]:
    """A public kit's figures, its quirks included (docs/scoring.md)."""
    counted, values = view_values(frame, view)
    chosen = rows & counted
    total = int(chosen.sum())
    correct = int(values["accuracy"][chosen].sum())
    missing = int(values["missing"][chosen].sum())
    exact = frame["exact"] > 0
    if view == "as_experienced":
        exact &= frame["kept"]
    share = 1 / total if total else 0.0
    truthfulness = (2 * correct + missing) / total - 1 if total > 1 else 0.0
    return {
        "total": total,
        "exact_match": int((exact & chosen).sum()) * share,
        "accuracy": correct / total if total else 0.0,
        "missing": missing / total if total else 0.0,
        "hallucination_rate": (total - correct - missing) / total if total else 0.0,
        "truthfulness_score": truthfulness,
        "multi_turn_score": talk["multi_turn_score"]["estimate"] or 0.0,
    }
