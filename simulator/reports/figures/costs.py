"""Where the time and the money went."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.reports.read.session_sums import Mask
from simulator.reports.read.turn_frame import TurnFrame

PERCENTILES = (50, 90, 95, 99)
TO_FIRST = (50, 90, 99)
"""Percentiles of the time to the first word; those of a turn's time are to its last."""


def costs(frame: TurnFrame, rows: Mask) -> dict[str, Any]:
    """Latency percentiles, the waterfall of steps, tokens and cost over the asked turns. Figures
    are the agent's own; what judging it took stands beside them, and in `total_cost`."""
    asked = rows & frame["asked"]
    return {
        "asked": int(asked.sum()),
        "latency": _latency(frame, asked),
        "waterfall": _waterfall(frame, asked),
        **_spending(frame, asked),
    }


def latency_by_condition(frame: TurnFrame) -> list[dict[str, Any]]:
    """Percentiles for each condition."""
    return [
        {"condition": name, **_latency(frame, frame.condition(name) & frame["asked"])}
        for name in frame.conditions
    ]


def _latency(frame: TurnFrame, asked: Mask) -> dict[str, Any]:
    """Seconds until the last word is there, and until the first; declared ones are among them."""
    known = asked & np.isfinite(frame["last_word"])
    seconds, first = frame["last_word"][known], frame["first_word"][known]
    if not len(seconds):
        none = {"n": 0, "mean": None, "max": None, **{f"p{p}": None for p in PERCENTILES}}
        return {**none, "first": {f"p{p}": None for p in TO_FIRST}}
    return {
        "n": len(seconds),
        "mean": float(seconds.mean()),
        "max": float(seconds.max()),
        **{f"p{p}": float(np.percentile(seconds, p)) for p in PERCENTILES},
        "first": {f"p{p}": float(np.percentile(first, p)) for p in TO_FIRST},
    }


def _waterfall(frame: TurnFrame, asked: Mask) -> list[dict[str, Any]]:
    """Per step: when it begins on average, how long it takes, in how many turns it happens."""
    steps: list[dict[str, Any]] = []
    replied = int((asked & (frame["abstained"] >= 0)).sum())
    for column in frame.columns:
        if not column.startswith("step_seconds:"):
            continue
        name = column.partition(":")[2]
        seconds, start = frame[column][asked], frame[f"step_start:{name}"][asked]
        known = np.isfinite(seconds) & np.isfinite(start)
        if not known.any():
            continue
        steps.append(
            {
                "step": name,
                "start": float(start[known].mean()),
                "seconds": float(seconds[known].mean()),
                "p95": float(np.percentile(seconds[known], 95)),
                "share": float(known.sum() / replied) if replied else 0.0,
            }
        )
    return sorted(steps, key=lambda step: (step["start"], step["step"]))


def _spending(frame: TurnFrame, asked: Mask) -> dict[str, Any]:
    turns = int(asked.sum())
    right = int((asked & frame["scored"] & (frame["score"] > 0)).sum())
    talks = len(np.unique(frame["unit"][asked])) if turns else 0
    cost = float(np.nansum(frame["cost"][asked]))
    judging = float(np.nansum(frame["judge_cost"][asked]))
    given = int(frame["input_tokens"][asked].sum())
    written = int(frame["output_tokens"][asked].sum())
    return {
        "input_tokens": given,
        "output_tokens": written,
        "calls": int(frame["calls"][asked].sum()),
        "cost": cost,
        "tokens_per_turn": (given + written) / turns if turns else None,
        "cost_per_conversation": cost / talks if talks else None,
        "cost_per_correct_turn": cost / right if right else None,
        "judge": {
            **{
                name: int(frame[f"judge_{name}"][asked].sum())
                for name in ("input_tokens", "output_tokens", "calls")
            },
            "cost": judging,
        },
        "total_cost": cost + judging,
    }
