"""Many conversations at once, from a data set into a run store. Interrupt it whenever you like.

The conversation is the unit of scheduling, the turn the unit of commit: `concurrency` workers each
hold one conversation at a time, and nothing but the sessions in hand is in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Protocol

import msgspec

from mmrag.errors import DataError
from mmrag.protocols import Agent, Judge
from mmrag.records import Record, Session, TurnResult
from simulator.engine import Commit, Rules, broken_turns, hold_conversation
from simulator.stopping import StopPolicy
from simulator.store import RunStore


class Optics(Protocol):
    """What degrades captures."""

    def choose(self, session: Session, degradation: str, seed: int) -> str:
        """The spec for one session: itself, unless it is a mixture such as `mix`."""
        ...

    def apply(self, session: Session, spec: str, seed: int) -> Session:
        """The session with its capture degraded; the same arguments give the same bytes."""
        ...


class SessionSource(Protocol):
    """A data set. Iterating it again yields the same sessions in the same order."""

    @property
    def fingerprint(self) -> str:
        """Identifies the content; kept with the run and compared on resume."""
        ...

    def __iter__(self) -> Iterator[Session]:
        """Stream the sessions."""
        ...

    def __len__(self) -> int:
        """Number of sessions, for progress and estimates."""
        ...


class Plan(Record, frozen=True, kw_only=True):
    """What to run over every session."""

    degradations: tuple[str, ...] = ("clean",)
    stop: StopPolicy = StopPolicy()
    rules: Rules = Rules()
    concurrency: int = 16
    seed: int = 0


class Progress(Record, frozen=True, kw_only=True):
    """Told after every finished conversation."""

    session_id: str
    degradation: str
    results: tuple[TurnResult, ...]
    resumed: bool
    """The conversation was complete before this call; nothing was asked."""


async def run_sessions(
    sessions: Iterator[tuple[int, Session]],
    agent: Agent,
    judge: Judge,
    store: RunStore,
    plan: Plan,
    *,
    optics: Optics | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Hold every conversation under every degradation, skipping what the store has already.

    `sessions` yields (position in the data set, session). Raises the store's error when nothing
    more can be written; what was committed stays.
    """
    work = _items(sessions, plan, optics)
    workers = [
        asyncio.create_task(_worker(work, agent, judge, store, plan, optics, on_progress))
        for _ in range(max(1, plan.concurrency))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _items(
    sessions: Iterator[tuple[int, Session]], plan: Plan, optics: Optics | None
) -> Iterator[tuple[int, Session, str]]:
    for position, session in sessions:
        for degradation in plan.degradations:
            chosen = optics.choose(session, degradation, plan.seed) if optics else degradation
            yield position, session, chosen


async def _worker(
    work: Iterator[tuple[int, Session, str]],
    agent: Agent,
    judge: Judge,
    store: RunStore,
    plan: Plan,
    optics: Optics | None,
    on_progress: Callable[[Progress], None],
) -> None:
    async def commit(*results: TurnResult) -> None:
        await asyncio.wrap_future(store.commit(*results))

    for position, session, degradation in work:  # one iterator shared by all workers
        done = store.turns(session.id, degradation)
        complete = len(done) == len(session.turns)
        if not complete:
            done = await _converse(
                position, session, degradation, done, agent, judge, store, commit, plan, optics
            )
        on_progress(
            Progress(
                session_id=session.id,
                degradation=degradation,
                results=tuple(done),
                resumed=complete,
            )
        )


async def _converse(
    position: int,
    session: Session,
    degradation: str,
    done: list[TurnResult],
    agent: Agent,
    judge: Judge,
    store: RunStore,
    commit: Commit,
    plan: Plan,
    optics: Optics | None,
) -> list[TurnResult]:
    try:
        kept = store.begun(session.id, degradation)
        if kept is None:
            session, began = await asyncio.to_thread(
                _prepare, position, session, degradation, plan.seed, optics, store
            )
            await asyncio.wrap_future(began)
        else:  # go on with the picture that the earlier turns were asked about
            session = kept
    except DataError as error:
        broken = _labelled(session, degradation)
        await asyncio.wrap_future(store.begin_broken(position, broken))
        rest = broken_turns(broken, error)[len(done) :]  # what was committed stays as it is
        await asyncio.wrap_future(store.commit(*rest))
        return [*done, *rest]
    return await hold_conversation(
        session,
        agent,
        judge,
        commit,
        stop=plan.stop.rule,
        rules=plan.rules,
        done=tuple(done),
    )


def _prepare(
    position: int,
    session: Session,
    degradation: str,
    seed: int,
    optics: Optics | None,
    store: RunStore,
) -> tuple[Session, Future[None]]:
    """Load, degrade and record a session's picture: slow work, away from the event loop."""
    _ = session.capture.image.data
    if degradation != "clean":
        if optics is None:
            raise DataError(f"no optics were given, so {degradation!r} cannot be applied.")
        session = optics.apply(session, degradation, seed)
    return session, store.begin(position, session)


def _labelled(session: Session, degradation: str) -> Session:
    capture = msgspec.structs.replace(session.capture, degradation=degradation)
    return msgspec.structs.replace(session, capture=capture)
