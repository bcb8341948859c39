"""The figures at the top: one condition in all three protocols, with intervals and coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmrag.metrics.headline import (
    HEADLINE,
    VIEWS,
    Floats,
    IntervalOptions,
    Sums,
    conversation_mean,
    figure,
    rates,
    ratios,
)
from simulator.reports.read.session_sums import ConversationSums, Mask, view_sums, view_values
from simulator.reports.read.turn_frame import OUTCOMES, TurnFrame


def headline(frame: TurnFrame, rows: Mask, how: IntervalOptions) -> dict[str, Any]:
    """All three protocols over some rows (whole conversations)."""
    units = ConversationSums(frame, rows)
    sums = {view: view_sums(frame, units, view) for view in VIEWS}
    views = {view: rates(sums[view], how) for view in VIEWS}
    is_bounded = "bounds" in views[HEADLINE]["truthfulness_score"]
    talk = _conversations(frame, units, sums[HEADLINE], how, is_bounded=is_bounded)
    asked, scored = int((rows & frame["asked"]).sum()), int((rows & frame["scored"]).sum())
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


def conversation_scores(frame: TurnFrame, units: ConversationSums) -> tuple[Floats, Floats]:
    """Per unit (correct − incorrect)/turns after the stop, and whether it has one."""
    counted, values = view_values(frame, HEADLINE)
    size = units.sums(where=counted)
    total = units.sums(values["truthfulness_score"], counted)
    return np.divide(total, size, out=np.zeros(len(size)), where=size > 0), (size > 0) * 1.0


def _conversations(
    frame: TurnFrame,
    units: ConversationSums,
    lived: Sums,
    how: IntervalOptions,
    *,
    is_bounded: bool,
) -> dict[str, Any]:
    score = 2 * lived.right + lived.missing - lived.counted
    kept, planned = units.sums(frame["kept"]), units.sums()
    ones = np.ones(len(planned))
    success = units.sums((frame["score"] > 0) & frame["kept"] & frame["scored"])
    others = {
        "early_stop_rate": (kept < planned) * 1.0,
        "two_strike_rate": _struck(frame, frame["score"], frame["scored"])[units.present] * 1.0,
        "successful_turns": success,
    }
    return {
        "multi_turn_score": conversation_mean(score, lived, how, is_bounded=is_bounded),
        **ratios(others, ones, how),
        "mean_turns": figure(
            float(planned.mean()) if len(planned) else None, None, None, len(planned), len(planned)
        ),
    }


def _struck(frame: TurnFrame, score: Floats, scored: Mask) -> Mask:
    """Units in which two consecutive scored turns failed, cut or not."""
    number, failed = frame["unit"][scored], score[scored] <= 0
    pairs = failed[1:] & failed[:-1] & (number[1:] == number[:-1])
    return np.bincount(number[1:][pairs], minlength=len(frame.starts)) > 0


def _official(
    frame: TurnFrame, rows: Mask, units: ConversationSums, protocol: str, *, stop_first: bool
) -> dict[str, Any]:
    """A public kit's figures, its rules for replies and its quirks included (docs/scoring.md)."""
    right, missed, wrong = frame.shares(f"{protocol}:")
    outcome, exact, both, kept = (
        frame[f"{protocol}:{name}"] for name in ("outcome", "exact", "both", "kept")
    )
    scored = frame["asked"] & (outcome != OUTCOMES.index("unscored"))
    after = np.where(kept, scored, True)
    is_correct = (outcome <= OUTCOMES.index("acceptable")) * 1.0
    struck = _struck(frame, is_correct, scored)[units.present]
    lacking = frame.unjudged & ~scored
    score = units.sums(np.where(kept, right - wrong, 0.0), after)
    missed = np.where(both > 0, 1.0, missed)
    stopped = Sums(
        units.sums(right * kept, after), units.sums(np.where(kept, missed, 1.0), after),
        units.sums(where=after), units.sums(where=lacking & kept),
    )  # fmt: skip
    asked = Sums(
        units.sums(right, scored), units.sums(missed, scored),
        units.sums(where=scored), units.sums(where=lacking),
    )  # fmt: skip
    without = IntervalOptions(resamples=0)
    found = rates(stopped if stop_first else asked, without)
    is_bounded = "bounds" in found["accuracy"]
    mean = conversation_mean(score, stopped, without, is_bounded=is_bounded)
    every = {**found, "multi_turn_score": mean}
    total = found["accuracy"]["n"]
    figures: dict[str, Any] = {name: one["estimate"] for name, one in every.items()}
    if is_bounded:
        figures["bounds"] = {name: one["bounds"] for name, one in every.items()}
    else:  # of nothing the kits say 0, and so they do of a single turn's truthfulness
        figures = {name: value or 0.0 for name, value in figures.items()}
        figures["truthfulness_score"] *= total > 1
    chosen = rows & (after & kept if stop_first else scored)
    return {
        "total": total,
        "exact_match": int(exact[chosen].sum()) / total if total else 0.0,
        **figures,
        "two_strike_rate": float(struck.mean()) if len(struck) else 0.0,
    }
