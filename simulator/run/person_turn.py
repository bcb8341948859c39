"""One turn of a conversation in which a person speaks: say, ask, judge, commit.

It is a live conversation (`live.py`), but for who speaks and when: what a person is going to say
is not known when a reply is committed, so a turn is committed with the reply that it got.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec

from mmrag.protocols import Agent, Judge
from mmrag.records import Capture, Session, TurnResult
from simulator.run.agent_slots import Place
from simulator.run.engine import Rules, history_of, one_turn, query_of, skipped_turn
from simulator.run.live_conversation import Commit
from simulator.wearer.human_wearer import PersonTalk


async def hold_turn(
    talk: PersonTalk,
    seen: Session,
    text: str,
    agent: Agent,
    judge: Judge,
    commit: Commit,
    *,
    done: Sequence[TurnResult],
    look: str = "",
    capture: Capture | None = None,
    rules: Rules = Rules(),
    place: Place = contextlib.nullcontext,
) -> None:
    """Have the agent answer what a person says, and commit what came of it.

    `done` are the turns that are committed. Of a goal the last turn counts, so a turn becomes a
    step on the way when something more is said of its goal.
    """
    goes_on = talk.can_let_be
    talk.put(text, look, capture)
    session = talk.session(seen, judge.id)
    query = query_of(session, talk.turn, history_of(session, list(done), rules), rules)
    result = await one_turn(session, talk.turn, query, agent, judge, rules, place)
    talk.hear(result)
    steps = [msgspec.structs.replace(done[-1], step=True)] if goes_on else []
    await keep(talk, seen, judge, commit, *steps, result)


async def keep(
    talk: PersonTalk, seen: Session, judge: Judge, commit: Commit, *results: TurnResult
) -> None:
    """Commit turns and how the conversation stands; where it is over, also what was not asked."""
    session = talk.session(seen, judge.id)
    rest = [skipped_turn(session, turn) for turn in session.turns[len(talk.turns) :]]
    await commit(*results, *(rest if talk.over else ()), session=session)
