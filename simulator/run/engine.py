"""One conversation: ask, answer, judge, commit, go on or stop.

The engine knows no concrete agent, judge or store: it is given all three. What an agent is shown
is the query, the picture and its own earlier replies, and nothing else of the session.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from mmrag.agent_hooks import turn_seconds
from mmrag.agents.external.foreign_code import call_contained, cancel_task
from mmrag.agents.external.reply_checks import checked
from mmrag.agents.reply_format import without_thoughts
from mmrag.errors import AgentError, DataError, Denied, EarError, MmragError, error_text
from mmrag.files.retries import backoff_seconds, retry
from mmrag.metrics.scoring_protocols import StopRule
from mmrag.protocols import Agent, Judge
from mmrag.records import (
    Exchange,
    History,
    JudgeItem,
    Outcome,
    Query,
    Record,
    Reply,
    Session,
    Status,
    Turn,
    TurnResult,
    Verdict,
    item_of,
    outcome_of,
    reply_status,
)
from mmrag.search.session_passages import set_searched_passages
from mmrag.text.token_limits import cut_text
from mmrag.turn_clock import CLOCK, TurnClock
from simulator.ears.speech_pipeline import Hear
from simulator.faults.current_fault import fault_of, simulated_delay, under_fault, wait_for_network
from simulator.faults.picture_faults import apply_picture_fault
from simulator.faults.wrong_inputs import OtherConversation, apply_input_fault
from simulator.run.agent_slots import Place
from simulator.run.gaze import gaze_of
from simulator.stages.handed_truth import hand_over
from simulator.wearer.waiting import Waiting, cut_off

Commit = Callable[..., Awaitable[None]]
"""Makes turns durable; the next turn waits for it."""

JUDGE_SECONDS = 600.0
"""Time limit of a verdict; the turn is unscored after it. It only ends what hangs: a model judge
has a shorter limit of its own for each attempt."""


NO_REFERENCE = "the data set has no answer to compare with; give the turn one, or leave it out"
"""Why a turn is a `data_error` although it was asked and has a reply."""


class Rules(Record, frozen=True, kw_only=True):
    """What holds for every conversation of a run."""

    seconds: float = 60.0
    """Time limit per turn (the public challenge's); of a call that answers several, for each."""
    max_tokens: int = 75
    """Replies are cut to this many tokens before anybody sees them; 0 means no limit."""
    ask_after_stop: bool = False
    """Ask the remaining turns all the same, as the public kits do."""
    retries: int = 0
    """How often a turn is asked again after an agent error or a time-out."""
    gaze: bool = False
    """Give the agent the point at which the wearer looks, as glasses that track eyes do."""
    in_words: bool = False
    """Write passages that a stage hands over beneath the question: the agent searches nothing."""
    tells_domain: bool = False
    """Give the agent the data set's word for what a question is about, as the 2026 kit does."""
    seed: int = 0
    """Of faults: which turns they meet."""
    strangers: tuple[OtherConversation, ...] = ()
    """Whose pictures and words faults of input hand over."""
    reference_history: bool = False
    """Show the agent the references instead of its own replies: separates errors it inherits
    from errors it makes."""


async def hold_conversation(
    session: Session,
    agent: Agent,
    judge: Judge,
    commit: Commit,
    *,
    stop: StopRule,
    rules: Rules = Rules(),
    done: tuple[TurnResult, ...] = (),
    place: Place = contextlib.nullcontext,
    hear: Hear | None = None,
) -> list[TurnResult]:
    """Hold one conversation to its end and return all its turns.

    `done` are the turns that an interrupted run has committed already; the conversation goes on
    after them as if it had never been interrupted. `place` is held while a turn is asked; waiting
    for it is not the agent's time. `hear` is needed where questions are spoken.
    """
    results = list(done)
    for turn in session.turns[len(results) :]:
        if not rules.ask_after_stop and _stopped(session, results, stop):
            rest = [skipped_turn(session, later) for later in session.turns[len(results) :]]
            await commit(*rest)
            return [*results, *rest]
        query = query_of(session, turn, history_of(session, results, rules), rules)
        result = await one_turn(session, turn, query, agent, judge, rules, place, hear)
        await commit(result)
        results.append(result)
    return results


def broken_turns(
    session: Session, error: MmragError, status: Status = Status.DATA_ERROR
) -> list[TurnResult]:
    """All turns of a session that cannot be held, because of its data or what it does."""
    return [_result(session, turn, status, error=str(error)) for turn in session.turns]


class AskedTurn(NamedTuple):
    """What came of asking one turn."""

    reply: Reply | None
    status: Status
    """What it comes to before anybody judged the reply."""
    error: str | None
    seconds: float
    """Of the agent's time, over all attempts."""
    first_word: float | None = None
    """When the reply's first word came in that time; None where it came in one piece."""


async def ask_turn(agent: Agent, query: Query, rules: Rules = Rules()) -> AskedTurn:
    """Ask one turn as the rules say: in time, with a reply that can be kept, cut to its limit.

    An agent that fails costs its turn only. `Denied` alone is raised: the next turn would be
    refused like this one.
    """
    spent = 0.0

    async def attempt(_before: int) -> AskedTurn:
        nonlocal spent
        asked = await _ask_once(agent, query, rules)
        first = None if asked.first_word is None else spent + asked.first_word
        spent += asked.seconds
        return asked._replace(seconds=spent, first_word=first)

    return await retry(attempt, rules.retries, _pause)


def _pause(before: int, asked: AskedTurn) -> float | None:
    if asked.status in (Status.AGENT_ERROR, Status.TIMEOUT):
        return backoff_seconds(0.2, before, 5.0)
    return None


async def one_turn(
    session: Session,
    turn: Turn,
    query: Query,
    agent: Agent,
    judge: Judge,
    rules: Rules,
    place: Place,
    hear: Hear | None = None,
    waiting: Waiting | None = None,
) -> TurnResult:
    """Ask one turn and have the reply judged, as far as a wearer who is `waiting` hears it; what
    fails becomes the turn's status."""
    fault = fault_of(session.fault, rules.seed, session.id, turn.index)
    delay = simulated_delay(session, turn, fault)
    if session.spoken:
        assert hear is not None, "a spoken session needs somebody who hears it"
        try:
            spoken = await hear(turn, session.spoken)
        except Denied:
            raise
        except MmragError as problem:
            lost = Status.DATA_ERROR if isinstance(problem, DataError) else Status.EAR_ERROR
            return _result(session, turn, lost, error=error_text(problem), delay=delay)
        sound = spoken.arrived if getattr(agent, "takes_sound", False) else None
        query = msgspec.structs.replace(query, text=spoken.heard.text, sound=sound)
        typed = msgspec.structs.replace(session, spoken="")
        result = await one_turn(typed, turn, query, agent, judge, rules, place, waiting=waiting)
        return msgspec.structs.replace(result, degradation=session.degradation, heard=spoken.heard)
    focus = session.capture.focus if session.capture is not None else None
    async with place():
        with under_fault(fault):
            there = apply_input_fault(
                apply_picture_fault(query, fault), fault, rules.strangers, focus
            )
            asked = await ask_turn(agent, there, rules)
    result = _result(
        session, turn, asked.status, reply=asked.reply, error=asked.error, seconds=asked.seconds,
        delay=delay,
    )  # fmt: skip
    result = msgspec.structs.replace(result, first_word=asked.first_word)
    if fault is not None and fault.is_felt:
        result = msgspec.structs.replace(result, fault=fault.kind, got=fault.got)
    if waiting is not None:
        result = cut_off(waiting, session.turns[: turn.index + 1], result)
    if result.reply is None:
        return result
    if not any(text.strip() for text in turn.reference.all_texts):
        return msgspec.structs.replace(result, status=Status.DATA_ERROR, error=NO_REFERENCE)
    verdict, problem = await judge_reply(judge, item_of(session.id, turn, result.reply))
    status = reply_status(result.reply, verdict)
    return msgspec.structs.replace(result, status=status, verdict=verdict, error=problem)


async def judge_reply(judge: Judge, item: JudgeItem) -> tuple[Verdict | None, str | None]:
    """A verdict, or the reason why there is none. Raises `Denied` alone, which ends a run."""
    limit = asyncio.timeout(JUDGE_SECONDS)
    try:
        async with limit:
            verdict = await judge.judge(item)
    except TimeoutError as error:
        own = f"the judge gave no verdict within {JUDGE_SECONDS:g} s"
        return None, own if limit.expired() else error_text(error)
    except Denied:
        raise
    except Exception as error:  # a judge is somebody else's code; its bugs must not end the run
        return None, error_text(error)
    if not isinstance(verdict, Verdict):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None, f"the judge returned a {type(verdict).__name__}, not a Verdict"
    if verdict.judge != judge.id:  # else it would be kept where nobody looks for it
        said = f"{verdict.judge}: {verdict.reason}" if verdict.reason else verdict.judge
        verdict = msgspec.structs.replace(verdict, judge=judge.id, reason=said)
    if verdict.outcome is Outcome.UNSCORED:
        return verdict, verdict.reason or "the judge gave no verdict"
    return verdict, None


async def verdict_on(judge: Judge, item: JudgeItem) -> Verdict:
    """A verdict, or an unscored one with the reason why there is none."""
    verdict, problem = await judge_reply(judge, item)
    return verdict or Verdict(outcome=Outcome.UNSCORED, judge=judge.id, reason=problem or "")


async def _ask_once(agent: Agent, query: Query, rules: Rules) -> AskedTurn:
    clock, seconds = TurnClock(), turn_seconds(agent, rules.seconds)
    reply, error = None, None
    try:
        reply = await _in_time(agent, query, clock, seconds)
        status = Status.ABSTAINED if reply.abstained else Status.ANSWERED
    except _TooLate:
        status, error = Status.TIMEOUT, f"no reply within {seconds:g} s; allow more with --seconds"
    except Denied:
        raise
    except (DataError, EarError) as problem:
        ours = Status.DATA_ERROR if isinstance(problem, DataError) else Status.EAR_ERROR
        status, error = ours, error_text(problem)
    except Exception as problem:  # the agent under test is somebody else's code
        status, error = Status.AGENT_ERROR, error_text(problem)
    else:
        said = cut_text(without_thoughts(reply.text), rules.max_tokens)
        reply = msgspec.structs.replace(reply, text=said)
    return AskedTurn(reply, status, error, clock.seconds, reply and clock.first_word)


class _TooLate(Exception):
    """The time limit of the run has passed."""


async def _in_time(agent: Agent, query: Query, clock: TurnClock, seconds: float) -> Reply:
    """The agent's reply as it can be kept; the clock says whether it came in time. An agent that
    does not end when it is cancelled is left behind; the conversation goes on."""
    before = CLOCK.set(clock)
    task = asyncio.create_task(call_contained(lambda: _answer(agent, query, clock)))
    CLOCK.reset(before)
    try:
        await asyncio.sleep(0)  # who replies at once needs nobody to wait
        left = seconds - clock.seconds
        while not task.done() and (left > 0 or not seconds):
            await asyncio.wait((task,), timeout=left if seconds else None)
            left = seconds - clock.seconds
        late = seconds and clock.seconds > seconds
    finally:
        clock.stop()
        if not task.done():
            await cancel_task(task)
    if not task.done():
        raise _TooLate
    problem = None if task.cancelled() else task.exception()
    if late or task.cancelled():
        raise _TooLate
    if problem is not None:
        raise problem if isinstance(problem, Exception) else AgentError(error_text(problem))
    return checked(task.result())


async def _answer(agent: Agent, query: Query, clock: TurnClock) -> object:
    set_searched_passages(query.passages, query.handed)
    try:
        await wait_for_network(query)
        return await agent.answer(query)
    finally:
        clock.stop()


def query_of(session: Session, turn: Turn, history: History, rules: Rules) -> Query:
    """What the agent is given for a turn: of the session nothing else."""
    captures = [session.capture, *(asked.capture for asked in session.turns[: turn.index + 1])]
    pictures = [capture.image for capture in captures if capture is not None]
    query = Query(
        text=turn.query,
        image=pictures[-1] if pictures else None,
        earlier=tuple(pictures[:-1]),
        may_ask=turn.wearer is not None,
        history=history,
        session_id=session.id,
        turn_index=turn.index,
        query_time=session.query_time,
        domain=turn.domain if rules.tells_domain else None,
        gaze=gaze_of(session, turn) if rules.gaze else None,
        passages=tuple(
            msgspec.structs.replace(passage, label="unknown") for passage in session.passages
        ),
    )
    return hand_over(query, session, turn, in_words=rules.in_words)


def history_of(session: Session, results: list[TurnResult], rules: Rules) -> History:
    """What was said before, as the agent is shown it."""
    if rules.reference_history:
        return tuple(
            Exchange(query=turn.query, reply=turn.reference.text)
            for turn in session.turns[: len(results)]
        )
    return tuple(
        Exchange(
            query=result.heard.text if result.heard else turn.query,
            reply=result.reply.text,
            ask=result.reply.ask,
        )
        for turn, result in zip(session.turns, results, strict=False)
        if result.reply is not None and not (turn.wearer and result.is_unheard)
    )


def _stopped(session: Session, results: list[TurnResult], stop: StopRule) -> bool:
    end = stop(session.id, [outcome_of(result) for result in results])
    return end is not None and end <= len(results)


def skipped_turn(session: Session, turn: Turn) -> TurnResult:
    """A turn that was never asked, because the wearer had left."""
    return _result(session, turn, Status.SKIPPED_AFTER_STOP)


def _result(
    session: Session,
    turn: Turn,
    status: Status,
    *,
    reply: Reply | None = None,
    error: str | None = None,
    seconds: float = 0.0,
    delay: float = 0.0,
) -> TurnResult:
    return TurnResult(
        session_id=session.id,
        turn_index=turn.index,
        status=status,
        degradation=session.degradation,
        query=turn.query,
        reply=reply,
        error=error,
        seconds=seconds,
        delay=delay,
    )
