"""A small world without pictures, its sessions with a picture of nothing, and fake parts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
from small_runs import picture

from mmrag.files.images import LazyImage
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.records import Capture, Outcome, Query, Reply, Session, Status, TurnResult, Verdict
from simulator.run.live_conversation import Wearers
from simulator.wearer.talk import Talk
from simulator.wearer.wearer_view import sight_of
from simulator.world.checks.verify import read_facts
from simulator.world.facts.factbase import FactBase
from simulator.world.sessions import World

MINI = Path(__file__).parents[1] / "assets" / "mini"


@cache
def facts() -> FactBase:
    return read_facts(MINI, World(MINI).manifest)


@cache
def agendas() -> tuple[Session, ...]:
    return tuple(World(MINI, pictures="clean"))


def agenda(fits=lambda session: True) -> Session:
    return next(session for session in agendas() if fits(session))


def coloured() -> Session:
    """A pink book that is asked about, beside a yellow one."""
    single = World(MINI, split="single-turn", pictures="clean")
    return next(session for session in single if session.id == "single-00080")


class FakeLooks:
    """A grey square for every look; counts them."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str]] = []

    def can(self, session: Session) -> bool:
        return session.capture is not None

    def take(self, session: Session, how: str) -> Capture | None:
        self.taken.append((session.id, how))
        return Capture(image=LazyImage.from_bytes(picture(len(how)), name=how))


def talk_of(session: Session, *, condition: str = "clean", **more) -> Talk:
    more = {"stop": two_strikes, **more}
    return Talk(session, sight_of(session, facts()), condition=condition, **more)


def wearers(looks: FakeLooks | None = None) -> Wearers:
    return Wearers(facts(), looks)


def heard(talk: Talk, text: str, outcome: Outcome, ask: str | None = None) -> TurnResult:
    verdict = Verdict(outcome=outcome, judge="told")
    return TurnResult(
        session_id=talk.agenda.id, turn_index=talk.turn.index, status=Status.ANSWERED,
        query=talk.turn.query, reply=Reply(text=text, ask=ask), verdict=verdict
    )  # fmt: skip


def tell(
    talk: Talk, text: str, outcome: Outcome, ask: str | None = None, capture: Capture | None = None
) -> str:
    """Reply once; what the wearer did about it ('' where the conversation is over)."""
    move = talk.hear(heard(talk, text, outcome, ask))
    talk.say(move, capture)
    return "" if talk.over else talk.turn.wearer.move


class Says:
    """Replies that a function gives."""

    def __init__(self, function) -> None:
        self.function = function
        self.seen: list[Query] = []

    async def answer(self, query: Query) -> Reply:
        self.seen.append(query)
        said = self.function(query)
        return said if isinstance(said, Reply) else Reply(text=said)


def with_turns(session: Session, count: int) -> Session:
    return msgspec.structs.replace(session, turns=session.turns[:count])
