"""What a run would take: turns from the data, tokens, cost and time from turns measured before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.records import Record

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts

LOOKED_AT = 2000
"""Turns of an earlier run that are measured."""


class Estimate(Record, frozen=True, kw_only=True):
    """What a run would take. What follows `measured_on` is None where nothing was measured."""

    sessions: int
    conditions: int
    without_picture: int
    """Of the sessions."""
    without_picture_held: int
    """Conditions under which those are asked."""
    conversations: int
    turns: int
    turns_asked: int
    """Before wearers give up."""
    measured_on: str | None
    """The earlier run."""
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    """Of agent and judge, in US dollars."""
    judge_cost: float | None
    """None too where that run has another judge."""
    seconds: float | None


def estimate(parts: Parts, out: Path, *, concurrency: int, like: Path | None = None) -> Estimate:
    """Turns of a run, and what they would take if they are like those of an earlier run.

    The earlier run is `like`, else `out` itself, else the run beside it with the same agent that
    has most turns. Without one nothing is guessed. Tokens and cost are the agent's and the judge's;
    if that run has another judge, the agent's alone.
    """
    plan = parts.plan(concurrency)
    times, alone = (len(plan.conditions(picture=picture)) for picture in (True, False))
    sessions = conversations = turns = without = 0
    for _, session in parts.sessions():
        held = alone if session.capture is None else times
        sessions += 1
        without += session.capture is None
        conversations += held
        turns += held * len(session.turns)
    measured = _measured(parts.settings.agent, out, like)
    found = Estimate(
        sessions=sessions, conditions=times, without_picture=without, without_picture_held=alone,
        conversations=conversations, turns=turns, turns_asked=turns, measured_on=None,
        input_tokens=None, output_tokens=None, cost=None, judge_cost=None, seconds=None,
    )  # fmt: skip
    if measured is None:
        return found
    asked = round(turns * measured["asked_share"])
    known = measured["judge"] == parts.judge.id
    tokens = {
        name: round(asked * (measured[name] + (measured[f"judge_{name}"] if known else 0.0)))
        for name in ("input_tokens", "output_tokens")
    }
    judge_cost = asked * measured["judge_cost"] if known else None
    at_once = max(1, min(concurrency, conversations, measured["capacity"] or concurrency))
    return msgspec.structs.replace(
        found, **tokens, turns_asked=asked, measured_on=measured["run"], judge_cost=judge_cost,
        cost=asked * measured["cost"] + (judge_cost or 0.0),
        seconds=asked * measured["seconds"] / at_once,
    )  # fmt: skip


def _measured(agent: str, out: Path, like: Path | None) -> dict[str, Any] | None:
    if like is not None:
        return _measure(like)
    beside = sorted(out.parent.iterdir()) if out.parent.is_dir() else []
    return _best(agent, [out]) or _best(agent, [path for path in beside if path.is_dir()])


def _best(agent: str, folders: Iterable[Path]) -> dict[str, Any] | None:
    from mmrag.errors import MmragError
    from simulator.run.run_config import read_config
    from simulator.store.run_reader import RunReader

    best: dict[str, Any] | None = None
    for folder in folders:
        try:
            with RunReader(folder) as run:
                if read_config(run).agent != agent:
                    continue
            found = _measure(folder)
        except MmragError:
            continue  # not a run, or one that cannot be read: no measure of anything
        if found is not None and (best is None or found["turns"] > best["turns"]):
            best = found
    return best


def _measure(folder: Path) -> dict[str, Any] | None:
    """Means over the first turns of a run."""
    from itertools import islice

    from mmrag.records import Status
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as run:
        results = list(islice(run.results(), LOOKED_AT))
        capacity = (run.meta("plan") or {}).get("capacity")
        judge = run.meta("judge")
    asked = [r for r in results if r.status is not Status.SKIPPED_AFTER_STOP]
    replies = [r.reply for r in asked if r.reply is not None]
    if not replies:
        return None
    count = len(replies)
    verdicts = [r.verdict for r in asked if r.verdict is not None]
    taken = {"": replies, "judge_": verdicts}
    return {
        "run": str(folder),
        "turns": count,
        "capacity": capacity,
        "asked_share": len(asked) / len(results),
        "seconds": sum(r.seconds for r in asked) / len(asked),
        "judge": judge,
        **{
            f"{whose}{name}": sum(getattr(part.usage, name) for part in parts) / count
            for whose, parts in taken.items()
            for name in ("input_tokens", "output_tokens", "cost")
        },
    }
