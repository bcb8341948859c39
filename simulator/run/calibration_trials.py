"""What a calibration is fitted on: a run of an agent that never abstains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec

from mmrag.agents.grounded.abstain import Calibration, fit
from mmrag.errors import DataError
from mmrag.records import Record, Status, Step, TurnResult
from simulator.stages.truth_stage_names import split_stage

Trial = tuple[TurnResult, ...]
"""One conversation under one condition."""


class RiskPoint(Record, frozen=True, kw_only=True):
    """What happens to those turns whose probability is at least a threshold."""

    threshold: float
    coverage: float
    risk: float


def trials_of(results: Iterable[TurnResult]) -> list[Trial]:
    """The conversations of a run."""
    held: dict[tuple[str, str], list[TurnResult]] = {}
    for result in results:
        step = _step(result.reply.trace if result.reply else (), "abstention")
        silent = step is not None and not step.info["speaks"] and step.info["candidate"]
        if silent or result.status is Status.SKIPPED_AFTER_STOP:
            raise DataError(
                f"{result.session_id}, turn {result.turn_index}: an answer was kept back or never "
                "asked for, so whether it is right is not known; give a run with --agent "
                "grounded:abstain=off --after-stop generate."
            )
        held.setdefault((result.degradation, result.session_id), []).append(result)
    return [tuple(sorted(turns, key=lambda turn: turn.turn_index)) for turns in held.values()]


def trial_features(trials: Sequence[Trial]) -> tuple[list[dict[str, float]], list[bool]]:
    """Features of every answer of an agent that never abstains, and whether it was right."""
    rows: list[dict[str, float]] = []
    right: list[bool] = []
    for trial in trials:
        for result in trial:
            step = _step(result.reply.trace if result.reply else (), "verifier")
            if step is not None and result.verdict is not None and "features" in step.info:
                rows.append(dict(step.info["features"]))
                right.append(result.verdict.outcome.is_correct)
    return rows, right


_BARS = tuple(percent / 100 for percent in range(35, 100, 5))
_SILENT = 2
"""Silent turns in a row that have a bar of their own; more are as so many: the wearer has left."""


class SimulatedScore(Record, frozen=True, kw_only=True):
    """What a calibration would make of trials that were held without abstention."""

    score: float
    """Mean over the conversations of right turns minus the price of wrong ones, until the second
    failure in a row."""
    right: float
    wrong: float
    """Shares of all turns, those after a stop too."""


def calibrate(
    trials: Sequence[Trial],
    *,
    made_on: str,
    most_wrong: float = 1.0,
    wrong_costs: float = 1.0,
) -> Calibration:
    """Fit the probability of being right on trials held with abstain=off and no stop.

    Turns to which something was handed over tell of reading alone. The bars are those with the
    best conversations among those with which at most `most_wrong` of all turns are answered
    wrongly, where nothing was handed over; a right answer earns 1, a wrong one costs `wrong_costs`.
    """
    rows, right = trial_features(trials)
    if not rows:
        raise DataError(
            "no turn has an answer of grounded with its features; give a run with "
            "--agent grounded:abstain=off --after-stop generate."
        )
    found = fit(rows, right, made_on=made_on)
    held = [_answers(found, trial) for trial in asked_whole(trials)]
    best, bars = SimulatedScore(score=-math.inf, right=0.0, wrong=1.0), (_BARS[-1],) * (_SILENT + 1)
    for tried in itertools.product(_BARS, repeat=_SILENT + 1):
        one = _played(held, msgspec.structs.replace(found, bars=tried), wrong_costs)
        if one.wrong <= most_wrong and (one.score, one.right) > (best.score, best.right):
            best, bars = one, tried
    return msgspec.structs.replace(found, bars=bars)


def asked_whole(trials: Sequence[Trial]) -> list[Trial]:
    """Those in which nothing was handed over; all, where there are none."""
    whole = [trial for trial in trials if not split_stage(trial[0].degradation)[1]]
    return whole or list(trials)


def simulate_calibration(
    calibration: Calibration, trials: Sequence[Trial], *, wrong_costs: float = 1.0
) -> SimulatedScore:
    """What an agent with this calibration would have made of trials held without abstention."""
    return _played([_answers(calibration, trial) for trial in trials], calibration, wrong_costs)


def _played(
    held: Sequence[Sequence[tuple[float, bool]]], calibration: Calibration, wrong_costs: float
) -> SimulatedScore:
    total, turns, right, wrong = 0.0, 0, 0, 0
    for answers in held:
        score = silent = failures = 0
        for chance, is_right in answers:
            speaks = chance > calibration.bar(silent)
            gain = (1 if is_right else -wrong_costs) if speaks else 0
            score += gain if failures < 2 else 0
            right, wrong = right + (gain > 0), wrong + (gain < 0)
            silent = 0 if speaks else silent + 1
            failures = failures if failures == 2 else 0 if gain > 0 else failures + 1
        turns += len(answers)
        total += score / max(len(answers), 1)
    return SimulatedScore(
        score=total / max(len(held), 1), right=right / max(turns, 1), wrong=wrong / max(turns, 1)
    )


def _answers(calibration: Calibration, trial: Trial) -> list[tuple[float, bool]]:
    """The chance that each turn's answer is right (0 without one), and whether it is."""
    found: list[tuple[float, bool]] = []
    for result in trial:
        step = _step(result.reply.trace if result.reply else (), "verifier")
        features = step.info.get("features") if step else None
        right = result.verdict is not None and result.verdict.outcome.is_correct
        found.append((calibration.probability(features) if features is not None else 0.0, right))
    return found


def risk_coverage(
    calibration: Calibration, rows: Sequence[dict[str, float]], right: Sequence[bool], turns: int
) -> list[RiskPoint]:
    """Share of turns answered and share of wrong answers among them, by threshold."""
    chances = [calibration.probability(row) for row in rows]
    points: list[RiskPoint] = []
    for percent in range(0, 100, 5):
        bar = percent / 100
        kept = [ok for p, ok in zip(chances, right, strict=True) if p >= bar]
        points.append(
            RiskPoint(
                threshold=bar,
                coverage=round(len(kept) / turns, 4) if turns else 0.0,
                risk=round(1 - sum(kept) / len(kept), 4) if kept else 0.0,
            )
        )
    return points


def _step(steps: Sequence[Step], name: str) -> Step | None:
    return next((s for s in steps if s.name == name), None)
