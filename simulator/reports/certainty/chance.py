"""How much of the headline is chance: repeats of the run, and what an audit of it found."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import msgspec
import numpy as np

from mmrag.errors import UsageError
from mmrag.metrics import chance as measured
from mmrag.metrics.headline import HEADLINE, Floats, Uncertainty
from simulator.reports.read.frame import Frame, load_frame
from simulator.reports.read.session_sums import view_values
from simulator.run.results.repeats import repeat_folders
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_store import RunReader


def chance(
    run: RunReader, frame: Frame, main: str, stop: StopPolicy, agent_errors: str, how: Uncertainty
) -> dict[str, Any] | None:
    """The sources of the headline's variance; None for a run that was neither repeated nor audited.

    Repeats with verdicts of another judge are left out: they would measure the judges.
    """
    audit: dict[str, Any] | None = run.meta("audit")
    frames = [frame, *_repeats(run, stop, agent_errors)]
    found = _split(frames, main, audit, how) if len(frames) > 1 else None
    if found is None and audit is None:
        return None
    return {"view": HEADLINE, "condition": main, **(found or {"repeats": None}), "audit": audit}


def _repeats(run: RunReader, stop: StopPolicy, agent_errors: str) -> list[Frame]:
    frames: list[Frame] = []
    for folder in repeat_folders(run.folder):
        with RunReader(folder) as other:
            if other.meta("judge") == run.meta("judge") and other.session_keys():
                frames.append(load_frame(other, stop=stop, agent_errors=agent_errors))
    return frames


def _split(
    frames: list[Frame], main: str, audit: dict[str, Any] | None, how: Uncertainty
) -> dict[str, Any] | None:
    keys, table = _aligned(frames, main)
    sessions = [session for session, _ in keys]
    judge = None if audit is None else audit["judge_variance"]
    with contextlib.suppress(UsageError):  # no turn is scored in all of them
        budget = measured.budget(table, sessions, judge_variance=judge)
        again = measured.repeats(table, sessions, resamples=how.resamples, seed=how.seed)
        return {
            "repeats": {**msgspec.to_builtins(again), "pass_hat": list(again.pass_hat)},
            "headlines": list(budget.headlines),
            "turns": budget.turns,
            "sessions": budget.sessions,
            "sources": _sources(budget),
        }
    return None


def _sources(budget: measured.Budget) -> list[dict[str, Any]]:
    parts = {"conversations": budget.conversations, "repeats": budget.repeats}
    if budget.judge is not None:
        parts["judge"] = budget.judge
    whole = sum(parts.values())
    return [
        {
            "source": name,
            "variance": variance,
            "deviation": math.sqrt(variance),
            "share": variance / whole if whole else None,
        }
        for name, variance in parts.items()
    ]


def _aligned(frames: list[Frame], main: str) -> tuple[list[tuple[str, int]], Floats]:
    """Turns that every repeat has, and what they are worth in each; NaN where they do not count."""
    columns = [_worth(frame, main) for frame in frames]
    keys = [key for key in columns[0] if all(key in column for column in columns)]
    return keys, np.array([[column[key] for column in columns] for key in keys], float)


def _worth(frame: Frame, main: str) -> dict[tuple[str, int], float]:
    counted, values = view_values(frame, HEADLINE)
    rows = np.flatnonzero(frame.condition(main))
    score = np.where(counted, values["truthfulness_score"], np.nan)
    return {
        (frame.sessions[int(frame["session"][row])], int(frame["turn"][row])): float(score[row])
        for row in rows
    }
