"""From a run's records to what the measures take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from mmrag.errors import SpecError
from mmrag.metrics.protocols import PROTOCOLS, TurnScore, score
from mmrag.partial import SaidTurn
from mmrag.records import JudgeItem, Outcome, Record, Status, Turn, TurnResult, outcome_of
from simulator.counting import counted
from simulator.run.official import Said, as_in_kit
from simulator.run.stopping import StopPolicy
from simulator.store.run_store import RunReader

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
        check_protocol(self.protocol)
        if self.agent_errors not in AGENT_ERRORS:
            raise SpecError(
                f"agent_errors is {', '.join(AGENT_ERRORS)}; not {self.agent_errors!r}."
            )


def check_protocol(name: str) -> None:
    """Refuse a protocol that nobody knows."""
    if name not in PROTOCOLS:
        raise SpecError(f"no protocol is called {name!r}. Known: {', '.join(PROTOCOLS)}.")


def options_for(run: RunReader, **given: Any) -> ScoreOptions:
    """The options a run is scored under: its own stop rule, seed and count of agent errors.

    What is `given` and not None wins.
    """
    config: dict[str, Any] = run.meta("config") or {}
    own = {key: config[key] for key in ("stop", "seed", "agent_errors") if key in config}
    overrides = {key: value for key, value in given.items() if value is not None}
    return ScoreOptions(**{**own, **overrides})


Judging = Callable[[list[Said]], list[Said]]
"""Gives replies other verdicts than those that a run holds."""


def turns_of(
    run: RunReader, options: ScoreOptions, judging: Judging | None = None
) -> Iterator[TurnScore]:
    """Every turn of a run as a protocol counts it, in the data set's order."""
    found: Iterable[Said] = _said(run, options.agent_errors, options.degradation)
    if judging is not None:
        found = judging(list(found))
    return (as_in_kit(said, options.protocol) for said in found)


def turn_scores(
    run: RunReader, *, agent_errors: str = "unscored", degradation: str | None = None
) -> Iterator[TurnScore]:
    """Every turn of a run with the verdicts that it holds."""
    return turns_of(run, ScoreOptions(agent_errors=agent_errors, degradation=degradation))


def condition_of(turn: TurnScore) -> str:
    """The degradation that a turn of a run was asked under."""
    return turn.session_id.partition("\x00")[0]


def _said(run: RunReader, agent_errors: str, degradation: str | None) -> Iterator[Said]:
    for session in run.sessions():
        condition = session.degradation
        if degradation is not None and condition != degradation:
            continue
        # A condition holds no NUL, so that no session's name can pass for another's.
        name = f"{condition}\x00{session.id}"
        for result in run.turns(session.id, condition):
            verdict, asked = result.verdict, session.turns[result.turn_index]
            turn = TurnScore(
                session_id=name,
                cluster=session.id,
                turn_index=result.turn_index,
                outcome=_outcome(result, agent_errors),
                exact=verdict is not None and verdict.exact,
                votes=tuple(vote.outcome for vote in verdict.votes) if verdict else (),
                is_ego=None if session.capture is None else session.capture.is_ego,
                skipped=result.status is Status.SKIPPED_AFTER_STOP,
                domain=asked.domain,
                query_type=asked.query_type,
                dynamism=asked.dynamism,
                seconds=result.seconds if result.reply is not None else None,
            )
            yield Said(turn=turn, item=_item(asked, result))


def _item(turn: Turn, result: TurnResult) -> JudgeItem | None:
    if result.reply is None:
        return None
    return JudgeItem(
        id=f"{result.session_id}/{result.turn_index}",
        question=turn.query,
        references=turn.reference.all_texts,
        prediction=result.reply.text,
    )


class RunState(Record, frozen=True, kw_only=True):
    """Whether a run is whole, and what is missing where it is not."""

    finished: bool
    conversations: int
    """That have begun."""
    expected_conversations: int | None
    """None where the run does not say how many were planned."""
    not_begun: int | None
    broken_off: int
    """Begun, and with turns missing."""
    turns: int
    missing_turns: int
    """Of the conversations that have begun."""

    def warning(self, name: str) -> str | None:
        """In a sentence what is missing; None of a run that is finished."""
        if self.finished:
            return None
        parts: list[str] = []
        if self.not_begun:
            parts.append(f"{self.not_begun} of {self.expected_conversations} not begun")
        if self.broken_off:
            parts.append(f"{self.broken_off} broken off")
        if self.missing_turns:
            parts.append(f"{counted(self.missing_turns, 'turn')} missing")
        what = f" ({', '.join(parts)})" if parts else ""
        return (
            f"{name} is not finished{what}: the figures are those of what is there. "
            "`mmrag resume` completes it."
        )


def run_state(run: RunReader) -> RunState:
    """How far a run has come."""
    sizes = run.conversation_sizes()
    begun, turns = len(sizes), sum(there for _, there in sizes)
    missing = [planned - there for planned, there in sizes if there < planned]
    plan: dict[str, Any] = run.meta("plan") or {}
    expected: int | None = plan.get("conversations")  # a session without a picture is held once
    if plan and expected is None:  # the run is older than that
        expected = int(plan["sessions"]) * len(plan["degradations"])
    whole = not missing and (expected is None or begun >= expected)
    return RunState(
        finished=bool(run.meta("finished")) and whole,
        conversations=begun,
        expected_conversations=expected,
        not_begun=None if expected is None else max(expected - begun, 0),
        broken_off=len(missing),
        turns=turns,
        missing_turns=sum(missing),
    )


def score_run(
    run: RunReader,
    options: ScoreOptions = ScoreOptions(),
    turns: Iterable[TurnScore] | None = None,
) -> dict[str, Any]:
    """Figures of a run with the options they were computed under and the statuses behind them.

    `turns` are those of `turns_of`, where they were read (and judged) already.
    """
    there = run.conditions()
    if options.degradation is not None and options.degradation not in there:
        raise SpecError(
            f"{run.folder}: nothing was run under {options.degradation!r}; there is "
            f"{', '.join(there) or 'no session in it yet'}."
        )
    counted_turns = list(turns_of(run, options) if turns is None else turns)
    figures: dict[str, Any] = score(
        counted_turns,
        options.protocol,
        stop=StopPolicy.parse(options.stop, seed=options.seed).rule,
        resamples=options.resamples,
        seed=options.seed,
    )
    if not any(turn.is_ego is False for turn in counted_turns):  # nothing to tell them from
        figures.pop("ego", None)
    errors = error_texts(run, options.degradation)
    state = run_state(run)
    warning = state.warning("the run")
    return {
        **figures,
        "options": msgspec.structs.asdict(options),
        "judge": run.meta("judge"),
        "statuses": run.turn_counts(),
        "error_texts": None if errors is None else msgspec.structs.asdict(errors),
        "state": msgspec.structs.asdict(state),
        "warnings": [] if warning is None else [warning],
    }


def scores_by_condition(
    run: RunReader, options: ScoreOptions, read: Iterable[TurnScore] | None = None
) -> dict[str, dict[str, Any]]:
    """Figures of each condition of a sweep; empty where one condition, or a mixture, is scored.

    Without intervals: they would take as long as those of the whole, once for each condition.
    """
    config: dict[str, Any] = run.meta("config") or {}
    if options.degradation is not None or config.get("degrade") == "mix":
        return {}
    turns: dict[str, list[TurnScore]] = {}
    for turn in turns_of(run, options) if read is None else read:
        turns.setdefault(condition_of(turn), []).append(turn)
    if len(turns) < 2:
        return {}
    stop = StopPolicy.parse(options.stop, seed=options.seed).rule
    return {
        condition: score(rows, options.protocol, stop=stop, resamples=0)["all"]
        for condition, rows in turns.items()
    }


def failure_note(run: RunReader) -> str | None:
    """What failed in a run, in one line; None where nothing did but by the run's own faults."""
    first = run.first_failure()
    if first is None:
        return None
    counts = ", ".join(f"{n} {s}" for s, n in run.failure_counts().items())
    why = " ".join((first.error or "no reason given").split())
    return (
        f"failed turns: {counts}; the first, turn {first.turn_index + 1} of {first.session_id}: "
        f"{why[:300]}"
    )


def fault_note(run: RunReader, conditions: Sequence[str], seed: int) -> str | None:
    """Which of a run's faults met turns that felt nothing of them, and which met no turn at all."""
    from simulator.faults.spec import is_hit

    unfelt: list[str] = []
    unmet: list[str] = []
    for condition in conditions:
        asked = run.felt_by_turn(condition)
        if asked and not any(felt for _, _, felt in asked):
            met = any(is_hit(condition, seed, session, turn) for session, turn, _ in asked)
            (unfelt if met else unmet).append(condition)
    notes: list[str] = []
    if unfelt:
        notes.append(
            f"no turn felt {', '.join(unfelt)}: this assistant does not use what fails there, and "
            "its figures are those of clean but for chance"
        )
    if unmet:
        notes.append(f"no turn met {', '.join(unmet)}: with so few, take a higher severity")
    return "; ".join(notes) + "." if notes else None


def failure_cure(run: RunReader, again: str) -> str:
    """What to do about failed turns; `again` is the command that asks turns again.

    A fault of the data is cured in the data, and a run is not gone on with from other data.
    """
    faults = run.faults_of_data()
    failed = sum(run.failure_counts().values())
    asking = f"Ask them again with: {again}"
    if not faults:
        return asking
    correct = "correct the file, then run again with a new --out"
    if faults == failed:
        return f"{correct.capitalize()}."
    lie = "lies" if faults == 1 else "lie"
    others = f"To ask only the others again, with the data as it is: {again}"
    return f"{faults} of them {lie} in the data: {correct}. {others}"


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
    """Of a run's replies, in one condition or in all."""
    return error_texts_in(_replies(run, degradation))


def error_texts_in(replies: Iterable[str]) -> ErrorTexts | None:
    """Replies such as `[API error after 3 attempts: …`, which agents of the 2026 kit return."""
    from mmrag.agents.kits import is_error_text

    found: list[str] = []
    looked_at = 0
    for text in replies:
        looked_at += 1
        if is_error_text(text):
            found.append(text)
    if not found:
        return None
    return ErrorTexts(turns=len(found), of=looked_at, first=" ".join(found[0].split())[:100])


def _replies(run: RunReader, degradation: str | None) -> Iterator[str]:
    for _, turns in run.raw():
        for record, _, _ in turns:
            said = _SAID.decode(record)
            if said.reply is not None and degradation in (None, said.degradation):
                yield said.reply.text


_SAID = msgspec.json.Decoder(SaidTurn)


def _outcome(result: TurnResult, agent_errors: str) -> Outcome:
    if agent_errors != "unscored" and result.status in (Status.AGENT_ERROR, Status.TIMEOUT):
        return Outcome(agent_errors)
    return outcome_of(result)
