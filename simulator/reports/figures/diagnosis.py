"""Where an assistant breaks: what each stage of the truth that is handed over wins, turn by turn.

Read from the top, 100 points fall to the score: what is lost although everything was told, then to
reading, searching, recognising and finding. Each loss is a paired difference of the headline.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from mmrag.metrics.headline import HEADLINE, IntervalOptions
from mmrag.metrics.statistics import holm
from mmrag.partial_records import CountedSession, ResultText
from simulator.faults.fault_kinds import kind_of_fault
from simulator.reports.figures.headline import headline
from simulator.reports.figures.slices import dimensions
from simulator.reports.read.paired_turns import (
    Pairs,
    difference_of_differences,
    match,
    rate_differences,
    slice_differences,
)
from simulator.reports.read.session_sums import Mask
from simulator.reports.read.turn_frame import TurnFrame
from simulator.stages.truth_stage_names import BLIND, LOSSES, STAGES, WHOLE, split_stage
from simulator.store.run_reader import RunReader

Chain = list[tuple[str, Mask]]
"""(stage, its rows), from the whole question on."""

IGNORES = "every reply is word for word that without it, so finding and recognising are one loss"
"""Of a box that an agent makes nothing of."""

_PAIRS = 5
"""Times that a first question must have been asked again with another picture to show anything."""


def diagnosis(
    frame: TurnFrame, run: RunReader, how: IntervalOptions, *, min_n: int = 20
) -> dict[str, Any]:
    """The waterfall of every degradation, what each costs at which stage, and slices of the first.

    A stage that no session has, or that changes nothing by design of the agent, is left out by
    name: the loss that it would divide is told as one.
    """
    asked = {stage: None for c in frame.conditions if (stage := split_stage(c)[1])}
    left_out = [
        {"stage": stage, "why": why, "sessions": many}
        for stage, (why, many) in ((run.meta("plan") or {}).get("left_out") or {}).items()
    ]
    pointed = next((stage for stage in asked if stage not in BLIND), None)
    ignored, sees = _looks(frame, run)
    if pointed and ignored:
        del asked[pointed]
        left_out.append({"stage": pointed, "why": IGNORES, "sessions": len(frame.sessions)})
    stages = sorted(asked, key=lambda stage: list(STAGES).index(stage.partition(":")[0]))
    whole = [c for c in frame.conditions if not split_stage(c)[1] and not kind_of_fault(c)]
    chains = {condition: _chain(frame, condition, stages) for condition in whole}
    falls = [_fall(frame, condition, chain, how) for condition, chain in chains.items()]
    return {
        "view": HEADLINE,
        "stages": [{"stage": s, "handed": STAGES[s.partition(":")[0]]} for s in (WHOLE, *stages)],
        "left_out": left_out,
        "sees": sees,
        "falls": falls,
        "costs": _costs(frame, chains, how),
        "slices": _slices(frame, chains[whole[0]], how, min_n),
    }


def diagnosis_sentences(found: dict[str, Any]) -> list[str]:
    """What each degradation costs at which stage, a sentence each."""
    lines: list[str] = []
    for cost in found["costs"]:
        parts = ", ".join(f"{_points(part)} to {part['loss']}" for part in cost["parts"])
        lines.append(f"Of what {cost['condition']} costs ({_points(cost['whole'])}), {parts}.")
    for one in found["left_out"]:
        lines.append(f"Left out: {one['stage']} ({one['why']}; {one['sessions']} conversations).")
    if not found["sees"]:
        lines.append(
            "This agent seems not to look: to a first question it says word for word the same "
            "whatever the picture."
        )
    return lines


def _points(figure: dict[str, Any]) -> str:
    if figure["estimate"] is None:
        return "unknown"
    span = ""
    if figure["low"] is not None:
        span = f" [{100 * figure['low']:.1f}, {100 * figure['high']:.1f}]"
    return f"{100 * figure['estimate']:.1f}{span}".replace("-", "−")


def _chain(frame: TurnFrame, condition: str, stages: Sequence[str]) -> Chain:
    """Rows of each stage, of the sessions that have all of them."""
    names = [condition]
    for stage in stages:
        alone = stage in BLIND or condition == "clean"
        names.append(stage if alone else f"{condition}/{stage}")
    masks = [frame.condition(name) for name in names]
    shared = np.ones(len(frame.sessions), bool)
    for mask in masks:
        has = np.zeros(len(frame.sessions), bool)
        has[frame["session"][mask]] = True
        shared &= has
    kept = shared[frame["session"]]
    return [(stage, mask & kept) for stage, mask in zip((WHOLE, *stages), masks, strict=True)]


def _fall(frame: TurnFrame, condition: str, chain: Chain, how: IntervalOptions) -> dict[str, Any]:
    top = headline(frame, chain[-1][1], how)["strict"][HEADLINE]["truthfulness_score"]
    score = headline(frame, chain[0][1], how)
    losses: list[dict[str, Any]] = [
        {**_rest(top), "loss": _name(chain[-1][0], ""), "to": "", "from": chain[-1][0]}
    ]
    for (stage, rows), (later, more) in reversed(list(pairwise(chain))):
        change = rate_differences(match(frame, rows, frame, more), how)["truthfulness_score"]
        losses.append({**change, "loss": _name(stage, later), "from": stage, "to": later})
    tested: dict[str, float] = {
        str(one["loss"]): one["p"] for one in losses if one["p"] is not None
    }
    adjusted = holm(tested)
    return {
        "condition": condition,
        "sessions": score["sessions"],
        "losses": [{**loss, "p_holm": adjusted.get(loss["loss"])} for loss in losses],
        "score": score["strict"][HEADLINE]["truthfulness_score"],
    }


def _rest(top: dict[str, Any]) -> dict[str, Any]:
    """What is missing to 100 points where everything was told."""
    flipped = {
        "estimate": None if top["estimate"] is None else 1 - top["estimate"],
        "low": None if top["high"] is None else 1 - top["high"],
        "high": None if top["low"] is None else 1 - top["low"],
    }
    return {**{k: v for k, v in top.items() if k != "bounds"}, **flipped, "p": None}


def _name(stage: str, later: str) -> str:
    """What is lost between two stages; several losses are one where a stage between is left out."""
    names = list(STAGES)
    start = names.index(stage.partition(":")[0])
    end = names.index(later.partition(":")[0]) if later else len(names)
    return " and ".join(LOSSES[name] for name in names[start:end])


def _costs(
    frame: TurnFrame, chains: dict[str, Chain], how: IntervalOptions
) -> list[dict[str, Any]]:
    """Per degradation, of how many points of its cost each stage that has a picture takes."""
    if "clean" not in chains:
        return []
    found: list[dict[str, Any]] = []
    clean = chains["clean"]
    for condition, chain in chains.items():
        if condition == "clean":
            continue
        parts: list[dict[str, Any]] = []
        steps = zip(pairwise(clean), pairwise(chain), strict=True)
        for ((stage, rows), (later, more)), ((_, rows_too), (_, more_too)) in steps:
            if stage in BLIND:
                continue
            before, after = match(frame, rows, frame, more), match(frame, rows_too, frame, more_too)
            change = difference_of_differences(before, after, how)
            parts.append({**change, "loss": _name(stage, later)})
        lost = match(frame, chain[0][1], frame, clean[0][1])
        whole = rate_differences(lost, how)["truthfulness_score"]
        found.append({"condition": condition, "whole": whole, "parts": parts})
    return found


def _slices(
    frame: TurnFrame, chain: Chain, how: IntervalOptions, min_n: int
) -> list[dict[str, Any]]:
    kinds = [d for d in dimensions(frame) if d.name != "quality"]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (stage, one), (later, more) in pairwise(chain):
        pairs: Pairs = match(frame, one, frame, more)
        for entry in slice_differences(pairs, kinds, how, min_n=min_n):
            key = entry["dimension"], entry["slice"]
            row = rows.setdefault(key, {"dimension": key[0], "slice": key[1], "losses": {}})
            row |= {"n": entry["n"], "small": entry["small"]}
            row["losses"][_name(stage, later)] = {
                name: entry[name] for name in ("estimate", "low", "high", "p_holm")
            }
    return list(rows.values())


def _looks(frame: TurnFrame, run: RunReader) -> tuple[bool, bool]:
    """Whether an agent that is not always right says the same with a box as without, every time,
    and whether what it says to a first question ever changes with the picture."""
    whole = frame.only([c for c in frame.conditions if not split_stage(c)[1]])
    if bool((whole["score"][whole["scored"]] > 0).all()):
        return False, True
    first: dict[str, list[str]] = {}
    said: dict[tuple[str, str, int], str | None] = {}
    pointed: dict[tuple[str, str, int], str | None] = {}
    sessions, turns = msgspec.json.Decoder(CountedSession), msgspec.json.Decoder(ResultText)
    for record, rows in run.raw():
        session = run.decoded(sessions, record)
        if session.stage in BLIND:
            continue
        into = pointed if session.stage else said
        for row, *_ in rows:
            turn = run.decoded(turns, row)
            key = session.id, split_stage(session.degradation)[0], turn.turn_index
            into[key] = None if turn.reply is None else turn.reply.text
            if not session.stage and turn.turn_index == 0 and turn.reply is not None:
                first.setdefault(turn.query, []).append(turn.reply.text)
    pairs = sum(len(texts) - 1 for texts in first.values())
    sees = pairs < _PAIRS or any(len(set(texts)) > 1 for texts in first.values())
    return all(said.get(key) == text for key, text in pointed.items()), sees
