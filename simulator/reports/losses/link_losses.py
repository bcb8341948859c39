"""What links cost: bytes and seconds of a picture, and the truthfulness lost with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmrag.metrics.headline import HEADLINE, IntervalOptions
from mmrag.metrics.statistics import holm
from simulator.link.device_profiles import split_link
from simulator.reports.read.paired_turns import match, rate_differences
from simulator.reports.read.turn_frame import TurnFrame

POINTS = 5.0
"""Points of truthfulness that the cheapest setting may cost, where nothing else is said."""

NEEDED = 300
"""Conversations times points: fewer could lose as much unseen, where nothing changed (3 / n)."""

EXAMPLES = 20
"""Lost turns that are named."""


def link_losses(
    frame: TurnFrame, headlines: dict[str, Any], how: IntervalOptions, points: float = POINTS
) -> dict[str, Any] | None:
    """Every link beside the same pictures without one, turns paired; None for a run without."""
    rows: list[dict[str, Any]] = []
    for name in frame.conditions:
        before, link = split_link(name)
        if not link:
            continue
        profile, policy = link.split(":")
        here = frame.condition(name)
        first = here & (frame["turn"] == 0)
        size, seconds = frame["link_bytes"][first], frame["link_seconds"][first]
        row: dict[str, Any] = {
            "condition": name,
            "profile": profile,
            "policy": policy,
            "before": before,
            "pictures": int(first.sum()),
            "bytes": _mean(size),
            "seconds": _mean(seconds),
            "seconds_p95": float(np.nanpercentile(seconds, 95)) if len(seconds) else None,
            "truthfulness": headlines[name]["strict"][HEADLINE]["truthfulness_score"],
            "change": None,
            "pairs": None,
            "lost": None,
            "won": None,
            "turns_lost": [],
        }
        if before in frame.conditions:
            row |= _beside(frame, before, name, how)
        rows.append(row)
    if not rows:
        return None
    tested = {r["condition"]: r["change"]["p"] for r in rows if r["change"]}
    adjusted = holm({name: 1.0 if p is None else p for name, p in tested.items()})
    for row in rows:
        if row["change"]:
            row["change"]["p_holm"] = adjusted[row["condition"]]
    firsts = dict.fromkeys(row["before"] for row in rows)
    return {
        "points": points,
        "rows": rows,
        "cheapest": [
            {
                "before": before,
                "condition": cheapest([r for r in rows if r["before"] == before], points),
            }
            for before in firsts
        ],
    }


def cheapest(rows: Sequence[dict[str, Any]], points: float) -> str | None:
    """The setting of fewest bytes that is shown to cost no more than so many points.

    Shown: the whole 95 % interval of the paired change lies above, over enough conversations that
    a loss of so much would have met one (3 / n, for where nothing changed). None where none is.
    """
    good = [
        (row["bytes"], row["condition"])
        for row in rows
        if row["change"]
        and (low := row["change"].get("low")) is not None
        and low >= -points / 100
        and row["change"]["sessions"] * points >= NEEDED
    ]
    return min(good)[1] if good else None


def _beside(frame: TurnFrame, before: str, name: str, how: IntervalOptions) -> dict[str, Any]:
    pairs = match(frame, frame.condition(before), frame, frame.condition(name))
    both, lost, won = pairs.flips()
    return {
        "change": rate_differences(pairs, how)["truthfulness_score"],
        "pairs": int(both.sum()),
        "lost": int(lost.sum()),
        "won": int(won.sum()),
        "turns_lost": [
            {
                "session": frame.sessions[int(frame["session"][pairs.others[at]])],
                "turn": int(frame.turn_index[pairs.others[at]]),
            }
            for at in np.flatnonzero(lost)[:EXAMPLES]
        ],
    }


def _mean(values: Any) -> float | None:
    return float(np.nanmean(values)) if len(values) else None
