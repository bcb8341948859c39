"""The figures at the top: one condition in all three protocols, with intervals and coverage.

They are computed from sums per conversation and equal those of `mmrag score` number for number
(tests/reports/figures/test_headline.py), several hundred times faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.reports.read.frame import OUTCOMES, Frame
from simulator.reports.read.session_sums import (
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
        "crag-mm": _official(frame, rows, units, "crag-mm", stop_first=False),
        "kddcup25": _official(frame, rows, units, "kddcup25", stop_first=True),
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
        "two_strike_rate": _struck(frame, frame["score"], frame["scored"])[units.present] * 1.0,
        "successful_turns": success,
    }
    return {
        **ratios({"multi_turn_score": score}, has, how),
        **ratios(others, ones, how),
        "mean_turns": figure(
            float(planned.mean()) if len(planned) else None, None, None, len(planned), len(planned)
        ),
    }


def _struck(frame: Frame, score: Floats, scored: Mask) -> Mask:
    """Units in which two consecutive scored turns failed, cut or not."""
    number, failed = frame["unit"][scored], score[scored] <= 0
    pairs = failed[1:] & failed[:-1] & (number[1:] == number[:-1])
    return np.bincount(number[1:][pairs], minlength=len(frame.starts)) > 0


def _official(
    frame: Frame, rows: Mask, units: Units, protocol: str, *, stop_first: bool
) -> dict[str, Any]:
    """A public kit's figures, its rules for replies and its quirks included (docs/scoring.md)."""
    right, missed, wrong = frame.shares(f"{protocol}:")
    outcome, exact, both, kept = (
        frame[f"{protocol}:{name}"] for name in ("outcome", "exact", "both", "kept")
    )
    scored = frame["asked"] & (outcome != OUTCOMES.index("unscored"))
    after = np.where(kept, scored, True)
    size = units.sums(where=after)
    talks = size > 0
    sums = units.sums(np.where(kept, right - wrong, 0.0), after)
    is_correct = (outcome <= OUTCOMES.index("acceptable")) * 1.0
    struck = _struck(frame, is_correct, scored)[units.present]
    chosen = rows & (after if stop_first else scored)
    total = int(chosen.sum())
    missed = np.where(both > 0, 1.0, missed)
    if stop_first:
        right, missed, exact = right * kept, np.where(kept, missed, 1.0), exact * kept
    correct, missing = float(right[chosen].sum()), float(missed[chosen].sum())
    share = 1 / total if total else 0.0
    return {
        "total": total,
        "exact_match": int(exact[chosen].sum()) * share,
        "accuracy": correct * share,
        "missing": missing * share,
        "hallucination_rate": (total - correct - missing) * share,
        "truthfulness_score": (2 * correct + missing) / total - 1 if total > 1 else 0.0,
        "multi_turn_score": float((sums[talks] / size[talks]).mean()) if talks.any() else 0.0,
        "two_strike_rate": float(struck.mean()) if len(struck) else 0.0,
    }
