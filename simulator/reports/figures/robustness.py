"""How an assistant breaks: curves over severity, paired drops, and the stage that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmrag.metrics.headline import HEADLINE, Floats, IntervalOptions, figure
from mmrag.metrics.statistics import bootstrap_replicates, holm, percentile_interval
from simulator.ears.spoken_conditions import KINDS as SPOKEN
from simulator.ears.spoken_conditions import QUIET
from simulator.faults.fault_kinds import KINDS as FAULTS
from simulator.faults.fault_kinds import kind_of_fault
from simulator.reports.figures.slices import Dimension
from simulator.reports.read.evidence import STAGES
from simulator.reports.read.paired_turns import (
    Pairs,
    change_standouts,
    match,
    rate_differences,
    slice_differences,
)
from simulator.reports.read.session_sums import Mask, view_values
from simulator.reports.read.turn_frame import TurnFrame, kind_and_severity

ALPHA = 0.05


def robustness(
    frame: TurnFrame,
    headlines: dict[str, Any],
    kinds: list[Dimension],
    how: IntervalOptions,
    *,
    min_n: int = 20,
) -> dict[str, Any] | None:
    """Everything about clean against degraded; None for a run without both."""
    degraded = [name for name in frame.conditions if name != "clean"]
    if "clean" not in frame.conditions or not degraded:
        return None
    clean = frame.condition("clean")
    points = [
        {
            **_point(change["condition"], headlines, change["change"]),
            "fault": _fault(frame, change["condition"], frame.condition(change["condition"])),
        }
        for change in changes_from_clean(frame, how)
    ]
    return {
        "view": HEADLINE,
        "clean": headlines["clean"]["strict"][HEADLINE]["truthfulness_score"],
        "points": points,
        "largest_loss": largest_loss(points),
        "curves": _curves(frame, headlines, how),
        "slices": _slices(frame, clean, kinds, how, min_n),
    }


def changes_from_clean(frame: TurnFrame, how: IntervalOptions) -> list[dict[str, Any]]:
    """Each other condition's change of truthfulness, paired and tested, Holm over all of them."""
    if "clean" not in frame.conditions:
        return []
    clean = frame.condition("clean")
    changes = {
        name: rate_differences(match(frame, clean, frame, frame.condition(name)), how)
        for name in frame.conditions
        if name != "clean"
    }
    found = {name: change["truthfulness_score"] for name, change in changes.items()}
    adjusted = holm({n: 1.0 if one["p"] is None else one["p"] for n, one in found.items()})
    return [
        {"condition": name, "change": {**change, "p_holm": adjusted[name]}}
        for name, change in found.items()
    ]


def largest_loss(points: Sequence[dict[str, Any]]) -> int | None:
    """Which point loses most, of those that lose beyond chance; None where none does."""
    sure = [
        (point["change"]["estimate"], place)
        for place, point in enumerate(points)
        if point["change"]["estimate"] is not None and point["change"]["p_holm"] <= ALPHA
    ]
    change, place = min(sure, default=(0.0, None))
    return place if change < 0 else None


def failing_stages(frame: TurnFrame) -> list[dict[str, Any]]:
    """Per condition: where scored turns ended, and how often each step of the work succeeded."""
    return [
        _stages_of(frame, name, frame.condition(name) & frame["scored"])
        for name in frame.conditions
    ]


def _stages_of(frame: TurnFrame, name: str, rows: Mask) -> dict[str, Any]:
    whole = int(rows.sum())
    counts = {stage: int((rows & frame.is_a("stage", stage)).sum()) for stage in STAGES}
    kind, severity = kind_and_severity(name)
    found: dict[str, Any] = {
        "condition": name,
        "kind": kind,
        "severity": severity,
        "n": whole,
        "counts": counts,
        "shares": {stage: count / whole if whole else 0.0 for stage, count in counts.items()},
    }
    for step in ("entity_found", "passage_found", "used", "abstained"):
        known = rows & (frame[step] >= 0)
        many = int(known.sum())
        found[step] = {"n": many, "share": float(frame[step][known].mean()) if many else None}
    return found


def _point(name: str, headlines: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    kind, severity = kind_and_severity(name)
    clean = headlines["clean"]["strict"][HEADLINE]["truthfulness_score"]
    relative = None
    if clean["estimate"] and (clean["low"] or 0) > 0 and change["estimate"] is not None:
        relative = -change["estimate"] / clean["estimate"]
    return {
        "condition": name,
        "kind": kind,
        "severity": severity,
        "truthfulness": headlines[name]["strict"][HEADLINE]["truthfulness_score"],
        "change": change,
        "relative_drop": relative,
    }


def _fault(frame: TurnFrame, name: str, rows: Mask) -> dict[str, Any] | None:
    """What a fault does, how many of the turns asked felt it, and how many came to nothing."""
    kind = kind_of_fault(name)
    if kind is None:
        return None
    asked = rows & frame["asked"]
    return {
        "what": FAULTS[kind],
        "turns": int(asked.sum()),
        "met": int((asked & (frame["met_fault"] == 1)).sum()),
        "failed": int((asked & ~frame["scored"]).sum()),
    }


def _curves(
    frame: TurnFrame, headlines: dict[str, Any], how: IntervalOptions
) -> list[dict[str, Any]]:
    """Per kind the truthfulness at each severity and the area under it.

    0 is clean; of a noise it is the question said in quiet, where that was asked, so that the
    curve is of the noise and not of speech.
    """
    tops, sizes = _by_condition(frame)
    present = (sizes > 0).any(axis=1)
    tops, sizes = tops[present], sizes[present]
    replicates = None
    if how.resamples and len(tops) > 1:
        replicates = bootstrap_replicates(tops, sizes, resamples=how.resamples, seed=how.seed)
    whole = sizes.sum(axis=0)
    values = np.divide(tops.sum(axis=0), whole, out=np.zeros(len(whole)), where=whole > 0)
    curves: list[dict[str, Any]] = []
    for kind, members in _kinds(frame).items():
        at = [0, *(severity for severity, _ in members)]
        start = severity_zero(kind, frame.conditions)
        columns = [frame.conditions.index(start), *(column for _, column in members)]
        held = (headlines[frame.conditions[column]] for column in columns)
        if any(one["strict"][HEADLINE]["truthfulness_score"]["estimate"] is None for one in held):
            continue
        weights = _trapezoid(at)
        low = high = None
        if replicates is not None:
            low, high = percentile_interval(
                replicates[:, columns] @ weights, clusters=len(tops), level=how.level
            )
        curves.append(
            {
                "kind": kind,
                "start": start,
                "severities": at,
                "truthfulness": [float(values[c]) for c in columns],
                "area": figure(
                    float(values[columns] @ weights),
                    low,
                    high,
                    int(whole[columns].sum()),
                    len(tops),
                ),
                "lost_area": float(values[columns[0]] - values[columns] @ weights),
            }
        )
    return curves


def severity_zero(kind: str, conditions: Sequence[str]) -> str:
    """The condition of a kind's severity 0."""
    return QUIET if kind in SPOKEN and QUIET in conditions else "clean"


def _by_condition(frame: TurnFrame) -> tuple[Floats, Floats]:
    """Session × condition: sum of scores, and number of turns that count."""
    counted, values = view_values(frame, HEADLINE)
    many, width = len(frame.sessions), len(frame.conditions)
    cell = frame["session"][counted].astype(np.int64) * width + frame["condition"][counted]
    score = values["truthfulness_score"][counted]
    tops = np.bincount(cell, score, many * width).reshape(many, width)
    sizes = np.bincount(cell, minlength=many * width).reshape(many, width)
    return tops.astype(float), sizes.astype(float)


def _kinds(frame: TurnFrame) -> dict[str, list[tuple[int, int]]]:
    """Kind → its (severity, column) in order of severity."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for column, name in enumerate(frame.conditions):
        kind, severity = kind_and_severity(name)
        if kind != "clean" and severity:
            kinds.setdefault(kind, []).append((severity, column))
    return {kind: sorted(members) for kind, members in kinds.items()}


def _trapezoid(at: list[int]) -> Floats:
    """Weights that make a mean over severities from values at some of them."""
    weights = np.zeros(len(at))
    for i in range(len(at) - 1):
        width = (at[i + 1] - at[i]) / (at[-1] - at[0])
        weights[i] += width / 2
        weights[i + 1] += width / 2
    return weights


def _slices(
    frame: TurnFrame, clean: Mask, kinds: list[Dimension], how: IntervalOptions, min_n: int
) -> dict[str, Any]:
    """Per slice the change from clean to all degradations together, conversations paired."""
    pairs = [
        match(frame, clean, frame, frame.condition(name))
        for name in frame.conditions
        if name != "clean"
    ]
    joined = Pairs(
        frame,
        frame,
        np.concatenate([p.rows for p in pairs]),
        np.concatenate([p.others for p in pairs]),
        np.concatenate([p.cluster for p in pairs]),
        pairs[0].clusters,
    )
    about = [d for d in kinds if d.name != "quality"]
    table = slice_differences(joined, about, how, min_n=min_n)
    standouts = change_standouts(joined, about)
    worse = [entry for entry in standouts["found"] if entry["difference"] < 0]
    found = {(entry["dimension"], entry["slice"]): entry["p_holm"] for entry in worse}
    lost = [
        {**entry, "p_holm": found[entry["dimension"], entry["slice"]]}
        for entry in table
        if (entry["dimension"], entry["slice"]) in found
    ]
    worst = min(lost, key=lambda entry: entry["estimate"], default=None)
    return {"table": table, "worst": worst, "standouts": standouts}
