"""From a run's records to what the measures take."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from mmrag.errors import SpecError
from mmrag.metrics.scoring_protocols import (
    ScoreAccumulator,
    TurnScore,
    check_protocol,
    stream_sessions,
)
from mmrag.partial_records import CountedSession, PartialVerdict, ResultText
from mmrag.records import NOTHING_TO_JUDGE, JudgeItem, Outcome, Record, Reply, Status
from simulator.message_text import counted
from simulator.run.results.error_texts import SAID, ErrorTextCount, replies_of
from simulator.run.results.kit_scoring import TurnToScore, as_in_kit
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader

AGENT_ERRORS = ("unscored", "missing", "incorrect")
"""How an infrastructure failure may count. The first is the default."""


class ScoreOptions(Record, frozen=True, kw_only=True):
    """How a run is to be scored; printed with the figures."""

    protocol: str = "strict"
    stop: str = "strikes(2)"
    agent_errors: str = "unscored"
    degradation: str | None = None
    """Only turns under this degradation; None: under the one that stands for the run."""
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_protocol(self.protocol)
        if self.agent_errors not in AGENT_ERRORS:
            raise SpecError(
                f"agent_errors is {', '.join(AGENT_ERRORS)}; not {self.agent_errors!r}."
            )


def options_for(run: RunReader, **given: Any) -> ScoreOptions:
    """The options a run is scored under: its own stop rule, seed and count of agent errors. What is
    `given` and not None wins."""
    config: dict[str, Any] = run.meta("config") or {}
    own = {key: config[key] for key in ("stop", "seed", "agent_errors") if key in config}
    overrides = {key: value for key, value in given.items() if value is not None}
    return ScoreOptions(**{**own, **overrides})


Judging = Callable[[list[TurnToScore]], list[TurnToScore]]
"""Gives replies other verdicts than those that a run holds."""


def turns_of(
    run: RunReader, options: ScoreOptions, judging: Judging | None = None
) -> Iterator[TurnScore]:
    """Every turn of a run as a protocol counts it, in the data set's order."""
    return _turns_of(run, options, judging, ErrorTextCount())


def _turns_of(
    run: RunReader, options: ScoreOptions, judging: Judging | None, errors: ErrorTextCount
) -> Iterator[TurnScore]:
    found: Iterable[TurnToScore] = _said(run, options, errors, replies=judging is not None)
    if judging is not None:
        found = judging(list(found))
    return (as_in_kit(said, options.protocol) for said in found)


def condition_of(turn: TurnScore) -> str:
    """The degradation that a turn of a run was asked under."""
    return turn.session_id.partition("\x00")[0]


def _said(
    run: RunReader, options: ScoreOptions, errors: ErrorTextCount, *, replies: bool
) -> Iterator[TurnToScore]:
    """`replies`: with each reply, also where the protocol takes the outcomes as they are."""
    replies = replies or options.protocol != "strict"
    for record, rows in run.raw():
        session = run.decoded(_SESSION, record)
        condition = session.degradation
        if options.degradation not in (None, condition):
            continue
        # A condition holds no NUL, so that no session's name can pass for another's.
        name = f"{condition}\x00{session.id}"
        is_ego = None if session.capture is None else session.capture.is_ego
        for row, status, judged in rows:
            result = run.decoded(SAID, row)
            if result.reply is not None:
                errors.look_at(result.reply.text)
            if result.step:  # of a live wearer's goal the last turn counts
                continue
            verdict = None if judged is None else run.decoded(_VERDICT, judged)
            asked = session.turns[result.turn_index]
            turn = TurnScore(
                session_id=name,
                cluster=session.id,
                turn_index=asked.wearer.goal if asked.wearer else result.turn_index,
                outcome=_outcome(verdict, status, options.agent_errors),
                exact=verdict is not None and verdict.exact,
                votes=tuple(vote.outcome for vote in verdict.votes) if verdict else (),
                is_ego=is_ego,
                skipped=status == Status.SKIPPED_AFTER_STOP,
                failed=status in NOTHING_TO_JUDGE,
                domain=sys.intern(asked.domain),
                query_type=sys.intern(asked.query_type),
                dynamism=sys.intern(asked.dynamism),
                seconds=result.seconds if result.reply is not None else None,
            )
            yield TurnToScore(turn=turn, item=_item(session, result) if replies else None)


def _item(session: CountedSession, result: ResultText) -> JudgeItem | None:
    if result.reply is None:
        return None
    said, turn = result.reply, session.turns[result.turn_index]
    return JudgeItem(
        id=f"{session.id}/{result.turn_index}",
        question=turn.query,
        references=(turn.reference.text, *turn.reference.accept),
        prediction=Reply(text=said.text, abstained=said.abstained, ask=said.ask).answer,
    )


class RunCompleteness(Record, frozen=True, kw_only=True):
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

    def warning(self, name: str, how: str) -> str | None:
        """In a sentence what is missing, and `how` it is completed; None of a run that is
        finished."""
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
        return f"{name} is not finished{what}: the figures are those of what is there. {how}."


def run_state(run: RunReader) -> RunCompleteness:
    """How far a run has come."""
    begun = turns = 0
    missing: list[int] = []
    for planned, there in run.conversation_sizes():
        begun, turns = begun + 1, turns + there
        if there < planned:
            missing.append(planned - there)
    plan: dict[str, Any] = run.meta("plan") or {}
    expected: int | None = plan.get("conversations")  # a session without a picture is held once
    if plan and expected is None:  # the run is older than that
        expected = int(plan["sessions"]) * len(plan["degradations"])
    whole = not missing and (expected is None or begun >= expected)
    return RunCompleteness(
        finished=bool(run.meta("finished")) and whole,
        conversations=begun,
        expected_conversations=expected,
        not_begun=None if expected is None else max(expected - begun, 0),
        broken_off=len(missing),
        turns=turns,
        missing_turns=sum(missing),
    )


def score_run(
    run: RunReader, options: ScoreOptions = ScoreOptions(), turns: Iterable[TurnScore] | None = None
) -> dict[str, Any]:
    """Figures of a run with the options they were computed under and the statuses behind them.
    `turns` are those of `turns_of`, where they were read (and judged) already."""
    return _scored(run, options, turns, None)


def main_of(conditions: Collection[str]) -> str:
    """Of several conditions the one that stands for a run: clean where there is one."""
    return "clean" if "clean" in conditions else min(conditions)


def headline_condition(run: RunReader) -> str | None:
    """Under which condition a run's headline is; None where all turns make it, as under one
    condition or where every session has a condition of its own."""
    keys = run.session_keys()
    conditions = {condition for _, condition in keys}
    mixed = len({session for session, _ in keys}) == len(keys)
    return None if len(conditions) < 2 or mixed else main_of(conditions)


def scores_by_condition(
    run: RunReader, options: ScoreOptions, turns: Iterable[TurnScore] | None = None
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """As `score_run`, and figures of each condition of a sweep from the same reading.

    The latter is empty where one condition, or a mixture, is scored, and is without intervals:
    they would take as long as those of the whole, once for each condition.
    """
    config: dict[str, Any] = run.meta("config") or {}
    if options.degradation is not None or config.get("degrade") == "mix":
        return score_run(run, options, turns), {}
    parts: dict[str, ScoreAccumulator] = {}
    figures = _scored(run, options, turns, parts)
    if len(parts) < 2:
        return figures, {}
    return figures, {condition: part.figures()["all"] for condition, part in parts.items()}


def _scored(
    run: RunReader,
    options: ScoreOptions,
    turns: Iterable[TurnScore] | None,
    parts: dict[str, ScoreAccumulator] | None,
) -> dict[str, Any]:
    """One session at a time: a run may have millions of turns. `parts` are filled by condition."""
    there = run.conditions()
    if options.degradation is not None and options.degradation not in there:
        raise SpecError(
            f"{run.folder}: nothing was run under {options.degradation!r}; there is "
            f"{', '.join(there) or 'no session in it yet'}."
        )
    errors = ErrorTextCount()
    wanted = options.degradation or headline_condition(run)
    if parts is None:
        options = msgspec.structs.replace(options, degradation=wanted)
    if turns is None:
        turns = _turns_of(run, options, None, errors)
    else:
        errors.look_at_all(replies_of(run, options.degradation))
    stop = StopPolicy.parse(options.stop, seed=options.seed).rule
    scoring = ScoreAccumulator(
        options.protocol, stop=stop, resamples=options.resamples, seed=options.seed
    )
    for rows in stream_sessions(turns):
        condition = condition_of(rows[0])
        if wanted in (None, condition):
            scoring.add(rows)
        if parts is not None:
            if condition not in parts:
                parts[condition] = ScoreAccumulator(options.protocol, stop=stop, resamples=0)
            parts[condition].add(rows)
    figures: dict[str, Any] = scoring.figures()
    if not scoring.tells_ego:  # nothing to tell them from
        figures.pop("ego", None)
    found = errors.found()
    state = run_state(run)
    unfinished = state.warning("the run", completed_by(run))
    lacking = nothing_scored(run, figures["all"])
    if "bounds" in figures["all"]:
        lacking = missing_verdicts(figures["all"], verdict_cure(run))
    return {
        "warnings": [*deaf_notes(run), *filter(None, (lacking, unfinished))],
        **figures,
        "options": {**msgspec.structs.asdict(options), "degradation": wanted},
        "judge": run.meta("judge"),
        "statuses": run.turn_counts(),
        "error_texts": None if found is None else msgspec.structs.asdict(found),
        "state": msgspec.structs.asdict(state),
    }


def missing_verdicts(figures: Mapping[str, Any], cure: str) -> str | None:
    """Why there are bounds and no figures, and what helps; None where there are figures."""
    from mmrag.metrics.headline import bounds_note

    if "bounds" not in figures:
        return None
    limits = figures["bounds"]["truthfulness_score"]
    return f"{bounds_note(limits, figures['unjudged'], figures['total'])} {cure}"


def verdict_cure(run: RunReader) -> str:
    """What gives replies the verdicts that they lack: no judge does without a reference."""
    lacking = run.replies_without_reference()
    if not lacking:
        return "`mmrag judge run` asks a judge again."
    return (
        f"{counted(lacking, 'reply', 'replies')} cannot be judged, as the data has no reference: "
        "`mmrag export RUN replies.jsonl`, fill in `reference`, then `mmrag import replies.jsonl` "
        "and `mmrag judge run`. `mmrag measure RUN` needs none."
    )


def nothing_scored(run: RunReader, figures: Mapping[str, Any]) -> str | None:
    """Why no turn of a run has a score, and what helps; None where one has."""
    counts = run.failure_counts()
    if figures["total"] or not counts:
        return None
    cure = "`mmrag show RUN SESSION` gives the errors."
    if run.replies_without_reference():
        cure = verdict_cure(run)
    failed = ", ".join(f"{n} {status}" for status, n in counts.items())
    return f"No turn could be scored ({failed}). {cure}"


def is_human_played(run: RunReader) -> bool:
    """Whether a person played the wearers of a run."""
    config: dict[str, Any] = run.meta("config") or {}
    return config.get("wearer") == "person"


def completed_by(run: RunReader) -> str:
    """Who or what completes a run."""
    if is_human_played(run):
        return "Who played it completes it in the app"
    return f"`{resume_command(run, 'RUN')}` completes it"


def how_to_finish(run: RunReader, folder: object) -> str:
    """What is to be done for a run to be finished."""
    if is_human_played(run):
        return f"go on playing {folder} in the app (`mmrag ui`, Live)"
    return f"`{resume_command(run, folder)}`"


def resume_command(run: RunReader, folder: object, *more: str) -> str:
    """The command that goes on with a run."""
    from simulator.run.run_config import GLASSES, command_of, read_config

    if run.meta("config") is not None and (config := read_config(run)).agent == GLASSES:
        return command_of(config, "--out", str(folder), *more)
    return shlex.join(["mmrag", "resume", str(folder), *more])


def language_note(run: RunReader) -> str | None:
    """Whose words the questions were in, where that matters: a person's, or those of voices that an
    agent may not know. None where all voices are open."""
    from simulator.world.language.voices.voice_reader import OPEN, describe_voices

    if is_human_played(run):
        return "A person played the wearer, in their own words."

    voices = run.voices()
    return None if set(OPEN).issuperset(voices) else f"Questions in the {describe_voices(voices)}."


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
    from simulator.faults.fault_kinds import fault_meets_turn

    unfelt: list[str] = []
    unmet: list[str] = []
    for condition in conditions:
        asked = run.felt_by_turn(condition)
        if asked and not any(felt for _, _, felt in asked):
            met = any(
                fault_meets_turn(condition, seed, session, turn) for session, turn, _ in asked
            )
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


def deaf_notes(run: RunReader) -> list[str]:
    """Under which conditions nothing was heard of most questions: figures of the ear alone."""
    from simulator.ears.spoken_conditions import split_spoken

    return [
        f"{condition}: nothing was heard of {nothing:,.0f} of {asked:,} spoken questions, so its "
        "figures say little of the assistant. `mmrag ui` plays them; --voice and --ear name others."
        for condition, asked, nothing in run.heard_by_condition()
        if 2 * nothing > asked
        and split_spoken(condition)[1]  # else it was a reply that nobody heard
    ]


def failure_cure(run: RunReader, again: str) -> str:
    """What to do about failed turns; `again` is the command that asks turns again. A fault of the
    data is cured in the data, and a run is not resumed from other data."""
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


_SESSION = msgspec.json.Decoder(CountedSession)
_VERDICT = msgspec.json.Decoder(PartialVerdict)


def _outcome(verdict: PartialVerdict | None, status: str, agent_errors: str) -> Outcome:
    if agent_errors != "unscored" and status in (Status.AGENT_ERROR, Status.TIMEOUT):
        return Outcome(agent_errors)
    return Outcome.UNSCORED if verdict is None else verdict.outcome
