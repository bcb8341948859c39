"""Many conversations at once, from a data set into a run store. Interrupt it whenever you like.

The conversation is the unit of scheduling, the turn the unit of commit: `concurrency` workers each
hold one conversation at a time, and nothing but the sessions in hand is in memory. An agent that
handles fewer turns at once has `AgentSlots`; pictures are degraded by as many threads as there are
cores, so that they leave some time to the turns that are being asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import msgspec

from mmrag.agent_hooks import cores
from mmrag.agent_hooks import tell_turn_kept as tell_kept
from mmrag.agents.external.daemon_threads import DaemonThreads
from mmrag.errors import DataError
from mmrag.protocols import Agent, Judge
from mmrag.records import Record, Session, TurnResult, spoken_condition
from simulator.ears.speech_pipeline import Hear
from simulator.ears.spoken_conditions import split_spoken
from simulator.faults.fault_kinds import kind_of_fault, needs_picture
from simulator.link.device_profiles import Links
from simulator.run.agent_slots import AgentSlots, Place
from simulator.run.engine import Rules, broken_turns, hold_conversation
from simulator.run.live_conversation import Wearers, hold_live
from simulator.run.stop_policies import StopPolicy
from simulator.run.time_limits import READY_SECONDS
from simulator.stages.truth_stage_names import BLIND, conditions_of, split_stage
from simulator.store.commit_waiter import CommitWaiter, WorkBatcher
from simulator.store.run_store import RunStore
from simulator.wearer.talk import KEY


class Optics(Protocol):
    """What degrades captures."""

    def choose(self, session: Session, degradation: str, seed: int) -> str:
        """The spec for one session: itself, unless it is a mixture such as `mix`."""
        ...

    def apply(self, session: Session, spec: str, seed: int) -> Session:
        """The session with its capture degraded; the same arguments give the same bytes."""
        ...

    def lacking(self, session: Session, stages: Sequence[str]) -> dict[str, str]:
        """Of some stages those that cannot be handed over, and why."""
        ...


class Plan(Record, frozen=True, kw_only=True):
    """What to run over every session."""

    degradations: tuple[str, ...] = ("clean",)
    links: Links = Links()
    """What the links that conditions name are."""
    faults: tuple[str, ...] = ()
    """Conditions beside the degradations, on pictures that nothing was done to."""
    stages: tuple[str, ...] = ()
    """Stages of the truth that are handed over besides; those without a picture are asked once."""
    spoken: tuple[str, ...] = ()
    """Conditions of questions that are said aloud, on pictures that nothing was done to."""
    crossed: bool = False
    """Hold the spoken conditions under each degradation instead."""
    stop: StopPolicy = StopPolicy()
    rules: Rules = Rules()
    concurrency: int = 16
    seed: int = 0
    ready_seconds: float = READY_SECONDS
    """Time limit of the agent's `warm()`."""

    def conditions(self, *, picture: bool) -> list[str]:
        """What a session is held under; without a picture nothing can happen to one."""
        pictures = self.degradations if picture else ("clean",)
        under = pictures if self.crossed else ("clean",)
        spoken = [spoken_condition(seen, said) for seen in under for said in self.spoken]
        faults = [fault for fault in self.faults if picture or not needs_picture(fault)]
        staged = (
            condition
            for stage in self.stages
            for condition in (conditions_of(stage, pictures) if picture or stage in BLIND else ())
        )
        return [*pictures, *faults, *spoken, *staged]


class Progress(Record, frozen=True, kw_only=True):
    """What is reported after every finished conversation."""

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
    wearers: Wearers | None = None,
    hear: Hear | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Hold every conversation under every degradation, skipping what the store has already.

    `wearers` answer back; without them each reads their questions from the session. `hear` is
    needed for spoken conditions.

    `sessions` yields (position in the data set, session). Raises the store's error when nothing
    more can be written; what was committed stays.
    """
    work = planned_conversations(sessions, plan, optics)
    at_once, landing, is_new = max(1, plan.concurrency), CommitWaiter(), store.is_empty()
    pictures: WorkBatcher[Session] = WorkBatcher(store.keep_pictures)
    met = set[int]()  # in a new run, as hashes: a session may stand twice in somebody's data
    asyncio.get_running_loop().set_default_executor(DaemonThreads())

    async def work_through() -> None:
        for position, session, degradation in work:  # one iterator is shared by all who do
            # looking for what cannot be there would cost a third of a turn
            key = hash((session.id, degradation))
            first = is_new and key not in met
            met.add(key)
            done = [] if first else store.turns(session.id, degradation)
            kept = _Stored(store, landing, pictures, session.id, degradation, done, first)
            on_progress(await held.hold(position, session, degradation, kept))

    with ThreadPoolExecutor(cores(), thread_name_prefix="optics") as optics_threads:
        place = AgentSlots(agent, seconds=plan.ready_seconds).place
        held = ConversationRunner(agent, judge, plan, optics, optics_threads, place, wearers, hear)
        workers = [asyncio.create_task(work_through()) for _ in range(at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def planned_conversations(
    sessions: Iterator[tuple[int, Session]], plan: Plan, optics: Optics | None
) -> Iterator[tuple[int, Session, str]]:
    """What there is to hold: (position, session, degradation), all of a session together."""
    for position, session in sessions:
        without = optics.lacking(session, plan.stages) if optics and plan.stages else {}
        for condition in plan.conditions(picture=session.capture is not None):
            if split_stage(condition)[1] in without:
                continue
            chosen, spoken = split_spoken(condition)
            if optics and not split_stage(condition)[1] and not kind_of_fault(condition):
                chosen = optics.choose(session, chosen, plan.seed)
            yield position, session, spoken_condition(chosen, spoken)


class ConversationStore(Protocol):
    """What is kept of one conversation, and where its next turns go."""

    @property
    def done(self) -> list[TurnResult]:
        """The turns that are committed."""
        ...

    def begun(self) -> Session | None:
        """The session as the agent saw it, where the conversation has begun."""
        ...

    async def begin(self, position: int, session: Session) -> None:
        """Record the session as the agent is going to see it."""
        ...

    async def begin_broken(self, position: int, session: Session) -> None:
        """Record a session whose picture cannot be had."""
        ...

    async def commit(self, *results: TurnResult, session: Session | None = None) -> None:
        """Return when the turns are on disk, and with them the session where it has grown."""
        ...


class ConversationRunner(NamedTuple):
    """How conversations are held in one process, wherever they are kept."""

    agent: Agent
    judge: Judge
    plan: Plan
    optics: Optics | None
    optics_threads: Executor
    place: Place
    wearers: Wearers | None = None
    hear: Hear | None = None

    async def hold(
        self, position: int, session: Session, degradation: str, kept: ConversationStore
    ) -> Progress:
        """Hold one conversation to its end, from the turn after the last one committed."""
        complete = self.wearers is None and len(kept.done) == len(session.turns)
        results = kept.done if complete else await self._go_on(position, session, degradation, kept)
        return Progress(
            session_id=session.id, degradation=degradation, results=tuple(results), resumed=complete
        )

    async def _go_on(
        self, position: int, session: Session, degradation: str, kept: ConversationStore
    ) -> list[TurnResult]:
        try:
            # a conversation goes on with the picture that its earlier turns were asked about
            seen = kept.begun()
            if seen is None:
                seen = await self._seen(session, degradation)
                await kept.begin(position, seen)
        except DataError as error:
            broken = under_condition(session, degradation)
            await kept.begin_broken(position, broken)
            rest = broken_turns(broken, error)[len(kept.done) :]  # what was committed stays
            await kept.commit(*rest)
            return [*kept.done, *rest]

        async def commit(*results: TurnResult, session: Session | None = None) -> None:
            await kept.commit(*results, session=session)
            tell_kept(self.agent, results[0])

        if self.wearers is not None:
            if seen.extra.get(KEY, {}).get("over") and len(kept.done) == len(seen.turns):
                return kept.done
            return await hold_live(
                self.wearers, session, seen, self.agent, self.judge, commit,
                stop=self.plan.stop.rule, rules=self.plan.rules, done=kept.done, place=self.place,
                hear=self.hear,
            )  # fmt: skip
        return await hold_conversation(
            seen,
            self.agent,
            self.judge,
            commit,
            stop=self.plan.stop.rule,
            rules=self.plan.rules,
            done=tuple(kept.done),
            place=self.place,
            hear=self.hear,
        )

    async def _seen(self, session: Session, degradation: str) -> Session:
        """Load and degrade a session's picture: slow work, away from the event loop."""
        blind = split_stage(degradation)[1] in BLIND
        if session.capture is not None and not session.capture.image.is_here and not blind:
            await asyncio.to_thread(lambda image: image.data, session.capture.image)
        done = split_spoken(degradation)[0]
        if kind_of_fault(degradation) or done == "clean" or blind:
            return seen_under(session, degradation, self.optics, self.plan.seed)
        return await asyncio.get_running_loop().run_in_executor(
            self.optics_threads, seen_under, session, degradation, self.optics, self.plan.seed
        )


class _Stored(NamedTuple):
    """A conversation that is kept in a run of this process."""

    store: RunStore
    landing: CommitWaiter
    pictures: WorkBatcher[Session]
    session_id: str
    degradation: str
    done: list[TurnResult]
    is_new: bool

    def begun(self) -> Session | None:
        return None if self.is_new else self.store.begun(self.session_id, self.degradation)

    async def begin(self, position: int, session: Session) -> None:
        await self.pictures.of(session)
        await self.landing.of(lambda: self.store.begin_kept(position, session))

    async def begin_broken(self, position: int, session: Session) -> None:
        await self.landing.of(lambda: self.store.begin_broken(position, session))

    async def commit(self, *results: TurnResult, session: Session | None = None) -> None:
        await self.landing.of(lambda: self.store.commit(*results, session=session))


def seen_under(session: Session, condition: str, optics: Optics | None, seed: int) -> Session:
    """A session with the picture that the agent gets under a condition."""
    if kind_of_fault(condition):
        return under_condition(session, condition)
    picture, spoken = split_spoken(condition)
    if spoken:
        session = msgspec.structs.replace(session, spoken=spoken)
    if picture == "clean":
        return session
    if optics is None:
        raise DataError(f"no optics were given, so {picture!r} cannot be applied.")
    return optics.apply(session, picture, seed)


def under_condition(session: Session, degradation: str) -> Session:
    """A session that nothing was done to, under the name of what was meant to be done."""
    if kind_of_fault(degradation):
        return msgspec.structs.replace(session, fault=degradation)
    done, spoken = split_spoken(degradation)
    done, stage = split_stage(done)
    session = msgspec.structs.replace(session, stage=stage, spoken=spoken)
    if session.capture is None:
        return session
    capture = msgspec.structs.replace(session.capture, degradation=done)
    return msgspec.structs.replace(session, capture=capture)
