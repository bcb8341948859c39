"""One live conversation: ask, answer, judge, let the wearer decide, commit, go on.

It is the scripted conversation (`engine.py`) with a wearer who answers back. What they say next is
committed together with the turn that it follows, so a run that is cut off anywhere goes on with
the very words that were to come.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from mmrag.errors import MmragError, StoreError
from mmrag.metrics.scoring_protocols import StopRule
from mmrag.protocols import Agent, Judge
from mmrag.records import Capture, Session, Status, Turn, TurnResult, reply_status
from simulator.ears.speech_pipeline import Hear
from simulator.faults.current_fault import fault_of, simulated_delay
from simulator.run.agent_slots import Place
from simulator.run.engine import Rules, broken_turns, history_of, one_turn, query_of, skipped_turn
from simulator.store.run_reader import RunReader
from simulator.wearer.talk import KEY, Talk, TalkBounds, heard_judge, replayed
from simulator.wearer.wearer_view import sight_of
from simulator.world.facts.factbase import FactBase

T = TypeVar("T", bound=Talk)

Commit = Callable[..., Awaitable[None]]
"""Makes turns durable, and with them the session as it stands (`session=`)."""


class RetakesPictures(Protocol):
    """Takes pictures again."""

    def can(self, session: Session) -> bool:
        """Whether what a session shows can be pictured again at all."""
        ...

    def take(self, session: Session, how: str) -> Capture | None:
        """Another picture of what a session shows; None where there is none."""
        ...

    def known(self, session: Session, how: str) -> Capture | None:
        """The same where nothing has to be rendered for it."""
        ...


class Wearers(NamedTuple):
    """What all live wearers of a run have in common."""

    facts: FactBase | None = None
    """What is true, where the data says it; without it no wearer knows what is wrong."""
    looks: RetakesPictures | None = None
    """Without it nobody can look again."""
    bounds: TalkBounds = TalkBounds()

    def talk(
        self, agenda: Session, condition: str, *, stop: StopRule, seed: int, kind: type[T] = Talk
    ) -> T:
        """A conversation that begins; `agenda` is the session as its data set gives it."""
        looks = self.looks
        return kind(
            agenda,
            sight_of(agenda, self.facts),
            stop=stop,
            seed=seed,
            bounds=self.bounds,
            condition=condition,
            can_look=looks is not None and looks.can(agenda),
        )


async def hold_live(
    wearers: Wearers,
    agenda: Session,
    seen: Session,
    agent: Agent,
    judge: Judge,
    commit: Commit,
    *,
    stop: StopRule,
    rules: Rules = Rules(),
    done: Sequence[TurnResult] = (),
    place: Place = contextlib.nullcontext,
    hear: Hear | None = None,
) -> list[TurnResult]:
    """Hold one live conversation to its end and return all its turns.

    `agenda` is the session as its data set gives it, `seen` with the picture that the agent gets:
    where the conversation has begun, also with what the wearer has said so far.
    """

    async def ask(session: Session, turn: Turn, results: list[TurnResult]) -> TurnResult:
        query = query_of(session, turn, history_of(session, results, rules), rules)
        waiting = wearers.bounds.waiting
        return await one_turn(session, turn, query, agent, judge, rules, place, hear, waiting)

    talk = wearers.talk(agenda, seen.degradation, stop=stop, seed=rules.seed)
    return await _to_its_end(talk, wearers.looks, seen, ask, judge.id, commit, done)


async def break_off(
    wearers: Wearers,
    agenda: Session,
    seen: Session,
    error: MmragError,
    judge: str,
    commit: Commit,
    *,
    stop: StopRule,
    seed: int,
    done: Sequence[TurnResult],
) -> list[TurnResult]:
    """End a conversation in which nobody can be asked any more: the wearer meets with `error`
    until they leave."""

    async def fail(session: Session, turn: Turn, _results: list[TurnResult]) -> TurnResult:
        broken = broken_turns(session, error, Status.AGENT_ERROR)[turn.index]
        fault = fault_of(session.fault, seed, session.id, turn.index)
        return msgspec.structs.replace(broken, delay=simulated_delay(session, turn, fault))

    talk = wearers.talk(agenda, seen.degradation, stop=stop, seed=seed)
    return await _to_its_end(talk, None, seen, fail, judge, commit, done)


async def _to_its_end(
    talk: Talk,
    looks: RetakesPictures | None,
    seen: Session,
    ask: Callable[[Session, Turn, list[TurnResult]], Awaitable[TurnResult]],
    judge: str,
    commit: Commit,
    done: Sequence[TurnResult],
) -> list[TurnResult]:
    results = list(done)
    if KEY in seen.extra:
        replayed(talk, [_unscored_then(seen, result) for result in results], seen.turns)
    _check_same(talk, results)
    session = talk.session(seen, judge)
    while not talk.over:
        result = await ask(session, talk.turn, results)
        move, capture = talk.hear(result), None
        if move is not None and move.look and looks is not None:
            capture = await asyncio.to_thread(looks.take, talk.agenda, move.look)
        result = msgspec.structs.replace(result, step=talk.say(move, capture))
        session = talk.session(seen, judge)
        rest = [skipped_turn(session, turn) for turn in session.turns[len(talk.turns) :]]
        await commit(result, *rest, session=session)
        results += [result, *rest]
    return results


def as_heard(run: RunReader, held: Session) -> list[TurnResult]:
    """The turns that were asked, with the verdicts that the wearer heard, whoever judged since."""
    found: list[TurnResult] = []
    for result in run.turns(held.id, held.degradation):
        if result.status is Status.SKIPPED_AFTER_STOP:
            continue
        judge = heard_judge(held, result.turn_index)
        verdict = run.verdicts(held.id, held.degradation, result.turn_index).get(judge)
        status = result.status
        if result.reply is not None and status is not Status.DATA_ERROR:
            status = reply_status(result.reply, verdict)
        found.append(
            _unscored_then(held, msgspec.structs.replace(result, verdict=verdict, status=status))
        )
    return found


def _unscored_then(held: Session, result: TurnResult) -> TurnResult:
    """A turn as the wearer heard it, where its judge failed then and has ruled since."""
    if result.turn_index not in held.extra[KEY].get("unscored", ()):
        return result
    return msgspec.structs.replace(result, verdict=None, status=Status.JUDGE_ERROR)


def _check_same(talk: Talk, results: Sequence[TurnResult]) -> None:
    """Refuse to go on with words that this wearer would not have said."""
    asked = [result.query for result in results[: len(talk.turns)]]
    mine = [turn.query for turn in talk.turns[: len(asked)]]
    if asked != mine:
        raise StoreError(
            f"{talk.agenda.id}: the wearer of this run said other words than they would now; it "
            "was made with another version. Continue with that one, or begin a new run."
        )
