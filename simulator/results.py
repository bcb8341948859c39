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
    errors = error_texts(run, options.degradation)
    return {
        **figures,
        "options": msgspec.structs.asdict(options),
        "judge": run.meta("judge"),
        "statuses": run.turn_counts(),
        "error_texts": None if errors is None else msgspec.structs.asdict(errors),
    }


class ErrorTexts(Record, frozen=True, kw_only=True):
    """Replies that are an agent's own words for a failure: scored as answers, and no answers."""

    turns: int
    of: int
    """Replies looked at."""
    first: str

    def __str__(self) -> str:
        return (
            f"{self.turns:,} of {self.of:,} replies are error texts that the agent itself returned "
            f'("{self.first}"). They are scored as answers and coverage counts them: see to the '
            "cause and run it again."
        )


def error_texts(run: RunReader, degradation: str | None = None) -> ErrorTexts | None:
    """Replies such as `[API error after 3 attempts: …`, which agents of the 2026 kit return."""
    from mmrag.agents.kits import is_error_text

    found: list[str] = []
    replies = 0
    for _, turns in run.raw():
        for record, _, _ in turns:
            said = _SAID.decode(record)
            if said.reply is None or degradation not in (None, said.degradation):
                continue
            replies += 1
            if is_error_text(said.reply.text):
                found.append(said.reply.text)
    if not found:
        return None
    return ErrorTexts(turns=len(found), of=replies, first=" ".join(found[0].split())[:100])


class _Text(msgspec.Struct):
    text: str


class _Said(msgspec.Struct):
    degradation: str = "clean"
    reply: _Text | None = None


_SAID = msgspec.json.Decoder(_Said)


def _outcome(result: TurnResult, agent_errors: str) -> Outcome:
    if agent_errors != "unscored" and result.status in (Status.AGENT_ERROR, Status.TIMEOUT):
        return Outcome(agent_errors)
    return outcome_of(result)
