"""From a run's records to what the measures take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from mmrag.errors import SpecError
from mmrag.metrics.protocols import TurnScore, score
from mmrag.records import Outcome, Record, Status, TurnResult
from simulator.engine import outcome_of
from simulator.stopping import StopPolicy
from simulator.store import RunReader

AGENT_ERRORS = ("unscored", "missing", "incorrect")
"""How an infrastructure failure may count. The first is the default."""


class ScoreOptions(Record, frozen=True, kw_only=True):
    """How a run is to be scored; printed with the figures."""

    protocol: str = "strict"
    stop: str = "strikes(2)"
    agent_errors: str = "unscored"
    degradation: str | None = None
    """Only turns under this degradation; None takes all, each as a session of its own."""
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.agent_errors not in AGENT_ERRORS:
            raise SpecError(
                f"agent_errors is {', '.join(AGENT_ERRORS)}; not {self.agent_errors!r}."
            )


def options_for(run: RunReader, **given: Any) -> ScoreOptions:
    """The options a run is scored under: its own stop rule, seed and count of agent errors.

    What is `given` and not None wins.
    """
    config: dict[str, Any] = run.meta("config") or {}
    own = {key: config[key] for key in ("stop", "seed", "agent_errors") if key in config}
    told = {key: value for key, value in given.items() if value is not None}
    return ScoreOptions(**{**own, **told})


def turn_scores(
    run: RunReader, *, agent_errors: str = "unscored", degradation: str | None = None
) -> Iterator[TurnScore]:
    """Every turn of a run as scoring sees it, in the data set's order."""
    for session in run.sessions():
        condition = session.capture.degradation
        if degradation is not None and condition != degradation:
            continue
        name = session.id if condition == "clean" else f"{session.id}@{condition}"
        for result in run.turns(session.id, condition):
            yield TurnScore(
                session_id=name,
                cluster=session.id,
                turn_index=result.turn_index,
                outcome=_outcome(result, agent_errors),
                exact=result.verdict is not None and result.verdict.exact,
                is_ego=session.capture.is_ego,
                skipped=result.status is Status.SKIPPED_AFTER_STOP,
            )


def score_run(run: RunReader, options: ScoreOptions = ScoreOptions()) -> dict[str, Any]:
    """Figures of a run with the options they were computed under and the statuses behind them."""
    there = run.conditions()
    if options.degradation is not None and options.degradation not in there:
        raise SpecError(
            f"{run.folder}: nothing was run under {options.degradation!r}; there is "
            f"{', '.join(there) or 'no session in it yet'}."
        )
    figures: dict[str, Any] = score(
        turn_scores(run, agent_errors=options.agent_errors, degradation=options.degradation),
        options.protocol,
        stop=StopPolicy.parse(options.stop, seed=options.seed).rule,
        resamples=options.resamples,
        seed=options.seed,
    )
    return {
        **figures,
        "options": msgspec.structs.asdict(options),
        "judge": run.meta("judge"),
        "statuses": run.turn_counts(),
    }


def _outcome(result: TurnResult, agent_errors: str) -> Outcome:
    if agent_errors != "unscored" and result.status in (Status.AGENT_ERROR, Status.TIMEOUT):
        return Outcome(agent_errors)
    return outcome_of(result)
