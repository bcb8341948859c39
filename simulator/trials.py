"""Trials: an agent on some sessions, in memory. What calibration and benches of agents need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from mmrag.agents.grounded.abstain import Calibration, fit, threshold
from mmrag.errors import DataError
from mmrag.metrics.protocols import StopRule, TurnScore
from mmrag.protocols import Agent, Judge
from mmrag.records import Record, Session, Step, TurnResult
from simulator.engine import Rules, hold_conversation, outcome_of
from simulator.places import Places

Told = Callable[[int], None]


class Trial(Record, frozen=True, kw_only=True):
    """One conversation that was held."""

    session: Session
    results: tuple[TurnResult, ...]


class RiskPoint(Record, frozen=True, kw_only=True):
    """What happens to those turns whose probability is at least a threshold."""

    threshold: float
    coverage: float
    risk: float


async def hold_all(
    sessions: Iterable[Session],
    agent: Agent,
    judge: Judge,
    *,
    stop: StopRule,
    rules: Rules = Rules(),
    concurrency: int = 4,
    tell: Told = lambda _n: None,
) -> list[Trial]:
    """Hold every conversation, `concurrency` at once; the order of the sessions is kept."""
    room, places = asyncio.Semaphore(concurrency), Places(agent)
    done = 0

    async def one(session: Session) -> Trial:
        nonlocal done
        async with room:
            results = await hold_conversation(
                session, agent, judge, _forget, stop=stop, rules=rules, place=places.place
            )
        done += 1
        tell(done)
        return Trial(session=session, results=tuple(results))

    return list(await asyncio.gather(*(one(s) for s in sessions)))


def turn_scores(trials: Sequence[Trial]) -> list[TurnScore]:
    """The trials as scoring takes them."""
    return [
        TurnScore(
            session_id=t.session.id,
            turn_index=r.turn_index,
            outcome=outcome_of(r),
            is_ego=t.session.capture.is_ego,
            skipped=r.status == "skipped_after_stop",
        )
        for t in trials
        for r in t.results
    ]


def findings(trials: Sequence[Trial]) -> tuple[list[dict[str, float]], list[bool]]:
    """Features of every answer of an agent that never abstains, and whether it was right."""
    rows: list[dict[str, float]] = []
    right: list[bool] = []
    for trial in trials:
        for result in trial.results:
            step = _step(result.reply.trace if result.reply else (), "verifier")
            if step is not None and result.verdict is not None and "features" in step.info:
                rows.append(dict(step.info["features"]))
                right.append(result.verdict.outcome.is_correct)
    return rows, right


MOST_WRONG = 0.09
"""Share of the turns that may be answered wrongly, where nothing else is said."""


def calibrate(
    trials: Sequence[Trial], *, made_on: str, most_wrong: float = MOST_WRONG
) -> Calibration:
    """Fit the probability of being right on trials held with abstain=off and no stop.

    The threshold is 1/2, or the least above it with which at most `most_wrong` of all turns are
    answered wrongly.
    """
    rows, right = findings(trials)
    if not rows:
        raise DataError("no turn was answered; is there an index with pages and pictures?")
    found = fit(rows, right, made_on=made_on)
    found = msgspec.structs.replace(found, turn_value=worth_after_failure(found, trials))
    for percent in range(50, 100):
        found = msgspec.structs.replace(found, least=percent / 100)
        if share_wrong(found, trials) <= most_wrong:
            break
    return found


def share_wrong(calibration: Calibration, trials: Sequence[Trial]) -> float:
    """Share of all turns that an agent with this calibration would answer wrongly."""
    wrong = turns = 0
    for trial in trials:
        failed = False
        for turn_index, chance, right in _answers(calibration, trial):
            bar = threshold(turn_index, failed, calibration.turn_value, calibration.least)
            speaks = chance > bar
            wrong += speaks and not right
            turns += 1
            failed = not speaks
    return wrong / turns if turns else 0.0


def worth_after_failure(calibration: Calibration, trials: Sequence[Trial]) -> float:
    """Truthfulness of turns that follow a failed one, when each is answered from p = 1/2 on."""
    worth: list[int] = []
    for trial in trials:
        failed = False
        for _, chance, right in _answers(calibration, trial):
            speaks = chance >= 0.5
            gain = (1 if right else -1) if speaks else 0
            if failed:
                worth.append(gain)
            failed = gain < 1
    return round(max(0.05, sum(worth) / len(worth)), 4) if worth else 0.05


def _answers(calibration: Calibration, trial: Trial) -> Iterator[tuple[int, float, bool]]:
    """Index of each turn, the chance that its answer is right (0 without one), whether it is."""
    for result in trial.results:
        step = _step(result.reply.trace if result.reply else (), "verifier")
        features = step.info.get("features") if step else None
        right = result.verdict is not None and result.verdict.outcome.is_correct
        chance = calibration.probability(features) if features is not None else 0.0
        yield result.turn_index, chance, right


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


def seconds_per_part(trials: Sequence[Trial]) -> dict[str, float]:
    """Seconds spent in each part over all turns; nested steps are counted in their parents too."""
    spent: dict[str, float] = {}

    def add(step: Step) -> None:
        spent[step.name] = spent.get(step.name, 0.0) + step.seconds
        for inner in step.steps:
            add(inner)

    for trial in trials:
        for result in trial.results:
            for step in result.reply.trace if result.reply else ():
                add(step)
    return spent


def _step(steps: Sequence[Step], name: str) -> Step | None:
    return next((s for s in steps if s.name == name), None)


async def _forget(*_results: TurnResult) -> None:
    """Trials live in memory only."""
