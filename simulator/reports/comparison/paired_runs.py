"""Runs of the same sessions set against each other: paired differences, flips, tests.

The first run is the baseline; every difference is another run minus the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from mmrag.errors import ConflictError, SpecError
from mmrag.metrics.headline import HEADLINE, IntervalOptions, figure
from mmrag.records import Record
from simulator.message_text import counted
from simulator.reports.comparison.recovered_losses import recovered_losses
from simulator.reports.figures.headline import headline
from simulator.reports.figures.report import (
    LoadedRun,
    ReportOptions,
    lacking_verdicts,
    load_report_runs,
    main_condition,
    opening_figures,
)
from simulator.reports.figures.slices import dimensions
from simulator.reports.read.paired_turns import (
    Pairs,
    change_standouts,
    flip_counts,
    match,
    multi_turn_difference,
    rate_differences,
    slice_differences,
)
from simulator.reports.read.session_sums import Mask
from simulator.reports.read.turn_frame import TurnFrame
from simulator.run.results.run_scoring import (
    completed_by,
    is_human_played,
    language_note,
    run_state,
)
from simulator.run.run_config import RunConfig, changed_settings
from simulator.store.run_reader import RunReader

SCHEMA_VERSION = 1
"""Version of compare.json."""

LISTED = 40
"""Flipped turns that are listed for each pair of runs."""


class ComparedRun(Record, frozen=True, kw_only=True):
    """A run, or one condition of it: `RUN` or `RUN@CONDITION`, e.g. `runs/a@low-light@3`."""

    folder: str
    condition: str | None = None

    @classmethod
    def parse(cls, text: str) -> ComparedRun:
        """A folder that exists is a folder; else what follows the first fitting `@` is a condition.

        >>> ComparedRun.parse("runs/a@low-light@3")
        ComparedRun(folder='runs/a', condition='low-light@3')
        """
        if Path(text).is_dir() or "@" not in text:
            return cls(folder=text)
        places = [found.start() for found in re.finditer("@", text)]
        for place in places:
            if Path(text[:place]).is_dir():
                return cls(folder=text[:place], condition=text[place + 1 :])
        return cls(folder=text[: places[0]], condition=text[places[0] + 1 :])


@dataclass(frozen=True)
class _Side:
    name: str
    loaded: LoadedRun
    rows: Mask
    condition: str | None


def compare_runs(
    sides: Sequence[ComparedRun], options: ReportOptions = ReportOptions()
) -> dict[str, Any]:
    """Compare runs with the first of them, over the sessions that both have. Raises `ConflictError`
    where they have none in common, or other questions in one."""
    if len(sides) < 2:
        raise SpecError("a comparison needs a baseline and at least one other run.")
    folders = list(dict.fromkeys(side.folder for side in sides))
    readers = [RunReader(folder) for folder in folders]
    try:
        loaded, stop, agent_errors = load_report_runs(readers, options)
        by_folder = dict(zip(folders, loaded, strict=True))
        chosen = [_choose(side, by_folder[side.folder]) for side in sides]
        _same_judge(chosen)
        how = IntervalOptions(resamples=options.resamples, seed=options.seed)
        baseline = chosen[0]
        summaries = [_summary(side, how) for side in chosen]
        lacking = filter(
            None,
            [
                lacking_verdicts(side.loaded.run, one["name"], one)
                for side, one in zip(chosen, summaries, strict=True)
            ],
        )
        unfinished = [
            run_state(side.loaded.run).warning(side.name, completed_by(side.loaded.run))
            for side in chosen
        ]
        compared = [_compare(baseline, other, how, options) for other in chosen[1:]]
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "comparison",
            "title": options.title
            or " against ".join([", ".join(side.name for side in chosen[1:]), baseline.name]),
            "warnings": [*lacking, *_left_out(compared), *filter(None, unfinished)],
            "options": {
                **msgspec.structs.asdict(options),
                "stop": str(stop),
                "agent_errors": agent_errors,
                "level": how.level,
            },
            "judge": baseline.loaded.run.meta("judge"),
            "language": _language(chosen),
            "sides": summaries,
            "comparisons": compared,
            "gates": [],
        }
    finally:
        for reader in readers:
            reader.close()


def _left_out(comparisons: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Where the runs do not hold the same conversations, over which they were compared."""
    for one in comparisons:
        only = [
            f"{counted(many, 'conversation')} only in {one[side]}"
            for side, many in one["left_out"].items()
            if many
        ]
        if only:
            shared = counted(one["sessions"], "conversation")
            yield f"Compared over the {shared} that both have; left out: {', '.join(only)}."


def _language(sides: Sequence[_Side]) -> str | None:
    """Whose words the questions were in; where the sides differ, which side had which."""
    notes = {side.name: language_note(side.loaded.run) for side in sides}
    if len(set(notes.values())) == 1:
        return notes[sides[0].name]
    return " ".join(f"{name}: {note}" for name, note in notes.items() if note) or None


def _compare(
    baseline: _Side, other: _Side, how: IntervalOptions, options: ReportOptions
) -> dict[str, Any]:
    first, second = baseline.loaded.frame, other.loaded.frame
    left_out = _unshared(baseline, other)
    pairs = match(first, baseline.rows, second, other.rows)
    kinds = dimensions(first)
    rates = rate_differences(pairs, how)
    return {
        "baseline": baseline.name,
        "other": other.name,
        "settings": _settings(baseline.loaded.config, other.loaded.config),
        "turns": len(pairs.rows),
        "sessions": len(np.unique(pairs.cluster)),
        "left_out": left_out,
        **({"shared": _shared(baseline, other, pairs, how)} if any(left_out.values()) else {}),
        HEADLINE: rates,
        "multi_turn_score": _talk_difference(pairs, rates, how),
        "costs": _costs(pairs),
        **_won_back(baseline, other, how),
        "flips": flip_counts(pairs),
        "flipped": _flipped_turns(baseline, other, pairs),
        "slices": slice_differences(pairs, kinds, how, min_n=options.min_n),
        "standouts": change_standouts(pairs, kinds),
        "first": None
        if other.condition
        else opening_figures(other.loaded, how, min_n=options.min_n),
    }


def _shared(
    baseline: _Side, other: _Side, pairs: Pairs, how: IntervalOptions
) -> list[dict[str, Any]]:
    """Both headlines over the sessions that both have, which their difference is of."""
    found: list[dict[str, Any]] = []
    for side, paired in ((baseline, pairs.rows), (other, pairs.others)):
        sessions = side.loaded.frame["session"]
        rows = side.rows & np.isin(sessions, sessions[paired])
        found.append(_summary(replace(side, rows=rows), how))
    return found


def _talk_difference(
    pairs: Pairs, rates: dict[str, dict[str, Any]], how: IntervalOptions
) -> dict[str, Any]:
    """Of the multi-turn score; unknown where the rates lack verdicts."""
    if "bounds" in rates["truthfulness_score"]:
        return {**figure(None, None, None, 0, 0), "p": None, "detectable": None}
    return multi_turn_difference(pairs, how)


def _won_back(baseline: _Side, other: _Side, how: IntervalOptions) -> dict[str, Any]:
    """Of whole runs with a clean and other conditions: what of their cost the other wins back, and
    whether it could ask back for it."""
    if baseline.condition is not None or other.condition is not None:
        return {}
    found = recovered_losses(baseline.loaded.frame, other.loaded.frame, how)
    config = other.loaded.config
    asked_back = config is not None and config.answers_back
    return {"won_back": found, "asked_back": asked_back} if found else {}


def _choose(side: ComparedRun, loaded: LoadedRun) -> _Side:
    frame = loaded.frame
    if side.condition is None:
        main = main_condition(frame)
        name = f"{loaded.name}@{main}" if len(frame.conditions) > 1 else loaded.name
        return _Side(name, loaded, frame.condition(main), None)
    if side.condition not in frame.conditions:
        raise SpecError(
            f"{side.folder} has no condition {side.condition!r}; "
            f"there is {', '.join(frame.conditions)}."
        )
    name = f"{loaded.name}@{side.condition}"
    return _Side(name, loaded, frame.condition(side.condition), side.condition)


def _same_judge(sides: Sequence[_Side]) -> None:
    judges = {side.name: str(side.loaded.run.meta("judge")) for side in sides}
    if len(set(judges.values())) > 1:
        each = "; ".join(f"{name}: {judge}" for name, judge in judges.items())
        raise ConflictError(
            f"the runs were judged by different judges ({each}). Give them the same one with "
            "`mmrag judge run RUN --judge SPEC`, then compare again."
        )


def _unshared(baseline: _Side, other: _Side) -> dict[str, int]:
    """How many sessions only one side has. Refuse sides that share none, or not its questions."""
    first, second = baseline.loaded.frame, other.loaded.frame
    ours, theirs = _sessions(first, baseline.rows), _sessions(second, other.rows)
    shared = ours.keys() & theirs.keys()
    if not shared:
        words = [
            f"{len(names)} only in {where} (such as {', '.join(sorted(names)[:3])})"
            for names, where in ((ours, baseline.name), (theirs, other.name))
        ]
        raise ConflictError(
            f"the runs share no session: {'; '.join(words)}. Run both on the same data."
        )
    differing = sorted(name for name in shared if ours[name] != theirs[name])
    if differing:
        raise ConflictError(
            f"session {differing[0]} has other questions or references in {other.name} than in "
            f"{baseline.name} ({len(differing)} sessions differ): the runs are of different "
            "versions of the data. Make both on the same one."
        )
    return {"baseline": len(ours) - len(shared), "other": len(theirs) - len(shared)}


def _sessions(frame: TurnFrame, rows: Mask) -> dict[str, int]:
    """Session → a hash of its questions and references."""
    numbers = np.unique(frame["session"][rows]).tolist()
    return {frame.sessions[number]: frame.questions[number] for number in numbers}


def _settings(first: RunConfig | None, second: RunConfig | None) -> dict[str, list[str]]:
    """Settings that differ, as [baseline, other]."""
    if first is None or second is None:
        return {}
    return {name: [str(a), str(b)] for name, (a, b) in changed_settings(first, second).items()}


def _summary(side: _Side, how: IntervalOptions) -> dict[str, Any]:
    return {
        "name": side.name,
        "judge": side.loaded.run.meta("judge"),
        "finished": bool(side.loaded.run.meta("finished")),
        "by_person": is_human_played(side.loaded.run),
        **headline(side.loaded.frame, side.rows, how),
    }


def _costs(pairs: Pairs) -> dict[str, dict[str, float | None]]:
    """Mean per asked turn on each side, and the difference."""
    found: dict[str, dict[str, float | None]] = {}
    asked = pairs.first["asked"][pairs.rows] & pairs.second["asked"][pairs.others]
    for name in ("seconds", "input_tokens", "output_tokens", "cost"):
        first = pairs.first[name][pairs.rows][asked].astype(float)
        second = pairs.second[name][pairs.others][asked].astype(float)
        known = np.isfinite(first) & np.isfinite(second)
        if not known.any():
            found[name] = {"baseline": None, "other": None, "difference": None}
            continue
        a, b = float(first[known].mean()), float(second[known].mean())
        found[name] = {"baseline": a, "other": b, "difference": b - a}
    return found


def _flipped_turns(baseline: _Side, other: _Side, pairs: Pairs) -> list[dict[str, Any]]:
    """Turns that became wrong, then turns that became right, in the data set's order."""
    both, _ = pairs.difference("as_answered", "accuracy")
    right = pairs.first["score"][pairs.rows] > 0
    right_too = pairs.second["score"][pairs.others] > 0
    found: list[dict[str, Any]] = []
    for name, where in (("lost", both & right & ~right_too), ("won", both & ~right & right_too)):
        for place in np.flatnonzero(where)[: LISTED // 2].tolist():
            row, row_too = int(pairs.rows[place]), int(pairs.others[place])
            found.append({"flip": name, **_turn(baseline, other, row, row_too)})
    return found


def _turn(baseline: _Side, other: _Side, row: int, row_too: int) -> dict[str, Any]:
    frame = baseline.loaded.frame
    session_id = frame.sessions[int(frame["session"][row])]
    index = int(frame.turn_index[row])
    degradation = frame.names("degradation")[int(frame["degradation"][row])]
    session = baseline.loaded.run.session(session_id, degradation)
    replies = [_reply(side, session_id, at) for side, at in ((baseline, row), (other, row_too))]
    return {
        "session": session_id,
        "turn": index + 1,
        "condition": degradation,
        "question": session.turns[index].query[:300],
        "reference": session.turns[index].reference.text[:300],
        "baseline": replies[0],
        "other": replies[1],
    }


def _reply(side: _Side, session_id: str, row: int) -> str:
    frame = side.loaded.frame
    index = int(frame.turn_index[row])
    degradation = frame.names("degradation")[int(frame["degradation"][row])]
    for result in side.loaded.run.turns(session_id, degradation):
        if result.turn_index == index and result.reply is not None:
            return result.reply.text[:300]
    return ""
