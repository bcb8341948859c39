"""A person plays the wearer: runs that are held turn by turn, each opened for one turn.

What is shown of a run is read from its folder every time, and whoever says something says how many
turns they have seen. So a page may be left and come back to, two of them may be open, and the
server may be started again: nothing that was recorded is lost, and nothing is said twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from mmrag.agents.external.reply_checks import says_nothing
from mmrag.errors import ConflictError, DataError, MmragError, StoreError, UsageError
from mmrag.protocols import Agent, Judge
from mmrag.records import Capture, Session, Status, TurnResult
from simulator.datasets.session_source import SessionSource
from simulator.parts.live_wearers import make_wearers
from simulator.parts.run_folder import bind_run_config, fresh_out
from simulator.parts.run_parts import Parts
from simulator.run.agent_slots import AgentSlots
from simulator.run.capture_optics import CaptureOptics
from simulator.run.engine import broken_turns
from simulator.run.live_conversation import Wearers, as_heard
from simulator.run.person_turn import hold_turn, keep
from simulator.run.run_config import RunConfig, read_config
from simulator.run.runner import planned_conversations, seen_under, under_condition
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.wearer.goals import goal_in_words
from simulator.wearer.human_wearer import PersonTalk, resume_talk
from simulator.wearer.wearer_view import sight_of

MOST_WORDS = 2000
"""Characters that can be said at once."""

PICTURES = ("none", "low-light@3", "blurred@3", "truncated@3", "occluded@3", "rotated@3")
"""What can be done to the pictures."""

MOST_CONVERSATIONS = 20

Known = tuple[int, int]
"""What somebody has seen of a run: which conversation, and how many turns of it."""


class PersonRunState(NamedTuple):
    """Where a person's run stands: the conversation at hand, or the last one when all are over."""

    run: str
    folder: Path
    config: RunConfig
    number: int
    """Of the conversation, from 1."""
    of: int
    """Conversations in the run."""
    talk: PersonTalk
    seen: Session
    """With the picture that the assistant gets."""
    results: tuple[TurnResult, ...]
    goal: str
    """What is wanted, in plain words; empty when the conversation is over."""
    is_last: bool = False
    """No conversation is left that could begin: a picture that cannot be had begins none."""

    @property
    def known(self) -> Known:
        """What is to be said with whatever is done next, so that it is done to what was seen."""
        return self.number, len(self.talk.turns)

    @property
    def finished(self) -> bool:
        """Whether every conversation is over."""
        return bool(self.talk.over) and self.is_last


class _World(NamedTuple):
    """What all runs over one world share."""

    source: SessionSource
    wearers: Wearers


class PersonRuns:
    """Persons' runs in one folder."""

    def __init__(
        self,
        folder: Path,
        agent_of: Callable[[str, str], Agent],
        worlds: Sequence[str],
        index_of: Callable[[str], str | None],
        search: str = "auto",
    ) -> None:
        """`agent_of` gives an agent by its spec and the world that it searches, `index_of` the
        fingerprint of what it searches there; `search` is what the settings of runs say of how."""
        self.folder = folder
        self.worlds = list(dict.fromkeys(worlds))
        self._agent_of, self._index_of, self._search = agent_of, index_of, search
        self._worlds: dict[str, _World] = {}
        self._judges: dict[str, Judge] = {}
        self._places: dict[int, AgentSlots] = {}
        self._lock = threading.Lock()
        self._working: dict[str, asyncio.Task[PersonRunState]] = {}

    # -- a run

    def begin(self, agent: str, data: str, pictures: str, count: int) -> str:
        """Begin a run of some conversations, those first that no person has played; its name."""
        if data not in self.worlds or pictures not in PICTURES:
            raise UsageError(f"{data[:80]!r} with {pictures[:40]!r} pictures is not offered here.")
        if not 1 <= count <= MOST_CONVERSATIONS:
            raise UsageError(f"Play 1 to {MOST_CONVERSATIONS} conversations at a time.")
        config = RunConfig(
            wearer="person", agent=agent, data=data, degrade=pictures, search=self._search
        )
        self._agent_of(agent, data)  # refuses what is not offered, and what cannot be made
        world = self._world(config)
        config = msgspec.structs.replace(config, sample_ids=self._fresh(world, data, count))
        folder = fresh_out(config, "person", self.folder)
        with RunStore(folder) as store:
            self._claim(store, config)
            many = len(config.sample_ids)
            promised = {"sessions": many, "degradations": [pictures], "conversations": many}
            store.set_meta("plan", promised)
        return folder.name

    def standing(self, name: str) -> PersonRunState:
        """Where a run stands now."""
        with RunReader(self._place(name)) as run:
            return self._standing(run, name)

    # -- what a person does

    async def say(self, name: str, known: Known, text: str, look: str = "") -> PersonRunState:
        """Say something to the assistant; goes on although nobody waits for it any more.

        `known` is what the person has seen of the run.
        """
        text = _sayable(text)
        if name in self._working:
            raise ConflictError("The assistant is still answering what was said before.")
        work = asyncio.create_task(self._say(name, known, text, look))
        self._working[name] = work
        work.add_done_callback(lambda _: self._working.pop(name, None))
        return await asyncio.shield(work)

    async def settled(self, name: str) -> PersonRunState:
        """Where a run stands when what is under way is done."""
        if (work := self._working.get(name)) is not None:
            await asyncio.wait([work])
        return await asyncio.to_thread(self.standing, name)

    def is_working(self, name: str) -> bool:
        """Whether the assistant is answering in a run."""
        return name in self._working

    async def let_be(self, name: str, known: Known) -> PersonRunState:
        """Go on to the next goal."""
        return await self._decide(name, known, PersonTalk.let_be)

    async def leave(self, name: str, known: Known) -> PersonRunState:
        """Break the conversation at hand off."""
        return await self._decide(name, known, PersonTalk.leave)

    async def go_on(self, name: str) -> PersonRunState:
        """Begin the next conversation of a run, where the last one is over."""
        return await self._step(name, None, _nothing)

    async def _say(self, name: str, known: Known, text: str, look: str) -> PersonRunState:
        async def said(now: PersonRunState, store: RunStore) -> None:
            config, world, judge = now.config, self._world(now.config), self._judge(now.config)
            agent = await asyncio.to_thread(self._agent_of, config.agent, config.data)
            capture = await self._look(world, now.talk, look)
            done = await asyncio.to_thread(store.turns, now.seen.id, now.seen.degradation)
            await hold_turn(
                now.talk, now.seen, text, agent, judge, _commit(store), done=done,
                look=look, capture=capture, rules=config.rules, place=self._places_at(agent).place,
            )  # fmt: skip

        return await self._step(name, known, said)

    async def _look(self, world: _World, talk: PersonTalk, look: str) -> Capture | None:
        if not look or world.wearers.looks is None or look not in talk.ways:
            return None
        capture = await asyncio.to_thread(world.wearers.looks.take, talk.agenda, look)
        if capture is None:
            raise UsageError(
                f"Nobody can stand there: this scene has no picture {look!r}. Say it without one."
            )
        return capture

    async def _decide(
        self, name: str, known: Known, how: Callable[[PersonTalk], None]
    ) -> PersonRunState:
        async def decided(now: PersonRunState, store: RunStore) -> None:
            how(now.talk)
            await keep(now.talk, now.seen, self._judge(now.config), _commit(store))

        return await self._step(name, known, decided)

    async def _step(
        self,
        name: str,
        known: Known | None,
        do: Callable[[PersonRunState, RunStore], Awaitable[None]],
    ) -> PersonRunState:
        """Do one thing in a run that nobody else writes meanwhile."""
        store = await asyncio.to_thread(RunStore, self._place(name))
        try:
            await asyncio.to_thread(self._claim, store, _played(store, name))
            now = await asyncio.to_thread(self._standing, store, name, begins=known is None)
            if known not in (None, now.known):
                raise ConflictError(
                    "This conversation has gone on elsewhere, in another tab perhaps. Here is "
                    "where it stands."
                )
            await do(now, store)
            now = await asyncio.to_thread(self._standing, store, name)
            if now.finished:
                await asyncio.to_thread(store.set_meta, "finished", True)
            return now
        finally:
            await asyncio.to_thread(store.close)

    def _claim(self, store: RunStore, config: RunConfig) -> None:
        """Make a run its config's own, or refuse to go on with what does not belong together."""
        bind_run_config(
            store, config, data=self._world(config).source.fingerprint,
            index=self._index_of(config.data), judge=self._judge(config).id,
        )  # fmt: skip

    # -- reading

    def _place(self, name: str) -> Path:
        if not re.fullmatch(r"\w[\w.-]{0,199}", name) or not (self.folder / name).is_dir():
            raise StoreError(f"There is no run called {name[:80]!r} here.")
        return self.folder / name

    def _standing(self, run: RunReader, name: str, *, begins: bool = False) -> PersonRunState:
        """The first conversation that is not over, the last one otherwise; one whose next has not
        begun is shown as it ended until somebody goes on."""
        config = _played(run, name)
        world = self._world(config)
        parts = Parts(config, source=world.source)
        plan = parts.plan(1)
        last: PersonRunState | None = None
        for number, (position, agenda, condition) in enumerate(
            planned_conversations(parts.sessions(), plan, CaptureOptics(links=plan.links)), 1
        ):
            found, begun = run.turns(agenda.id, condition), run.begun(agenda.id, condition)
            if found and all(result.status is Status.DATA_ERROR for result in found):
                continue  # its picture cannot be had
            if found and begun is None:
                raise StoreError(
                    f"{name}: the picture of conversation {number} is gone or changed. Bring "
                    f"{run.folder / 'images'} back as it was; what was said is still there."
                )
            if begun is None and last is not None and not begins:
                return last
            try:
                seen = begun or seen_under(
                    agenda, condition, CaptureOptics(links=plan.links), plan.seed
                )
            except DataError as error:
                if isinstance(run, RunStore):
                    broken = under_condition(agenda, condition)
                    run.begin_broken(position, broken).result()
                    run.commit(*broken_turns(broken, error)).result()
                continue
            if begun is None and isinstance(run, RunStore):
                run.begin(position, seen).result()
            talk = world.wearers.talk(
                agenda, condition, stop=plan.stop.rule, seed=config.seed, kind=PersonTalk
            )
            asked = tuple(as_heard(run, seen) if found else ())
            resume_talk(talk, seen, asked)
            sight = sight_of(agenda, world.wearers.facts)
            goal = "" if talk.over else goal_in_words(agenda, talk.goal, sight)
            last = PersonRunState(
                name, run.folder, config, number, len(config.sample_ids), talk, seen, asked, goal
            )
            if not talk.over:
                return last
        if last is None:
            raise StoreError(f"{name}: this run has no conversations.")
        return last._replace(is_last=True)

    def _fresh(self, world: _World, data: str, count: int) -> tuple[str, ...]:
        """Sessions that persons have played least, in the order of the data."""
        played = Counter[str]()
        for file in self.folder.glob("*/run.sqlite"):
            with contextlib.suppress(MmragError), RunReader(file.parent) as run:
                config = run.meta("config") or {}
                if config.get("wearer") == "person" and config.get("data", "mini") == data:
                    played.update({session_id for session_id, _ in run.session_keys()})
        ids = [session.id for session in world.source]
        chosen = set(sorted(ids, key=lambda one: played[one])[:count])
        return tuple(one for one in ids if one in chosen)

    # -- parts

    def _world(self, config: RunConfig) -> _World:
        with self._lock:
            if config.data not in self._worlds:
                source = Parts(config).source
                self._worlds[config.data] = _World(source, make_wearers(source))
            return self._worlds[config.data]

    def _judge(self, config: RunConfig) -> Judge:
        with self._lock:
            if config.judge not in self._judges:
                self._judges[config.judge] = Parts(config).judge
            return self._judges[config.judge]

    def _places_at(self, agent: Agent) -> AgentSlots:
        return self._places.setdefault(id(agent), AgentSlots(agent))


def _played(run: RunReader, name: str) -> RunConfig:
    config = read_config(run)
    if config.wearer != "person":
        raise UsageError(f"{name}: no person plays this run; it can be looked at in Replay.")
    return config


async def _nothing(_now: PersonRunState, _store: RunStore) -> None: ...


def _sayable(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()  # half a character cannot be kept
    text = " ".join(text.split())
    if says_nothing(text):
        raise UsageError("Type what you say first.")
    if len(text) > MOST_WORDS:
        raise UsageError(
            f"At most {MOST_WORDS:,} characters can be said at once; these are {len(text):,}. "
            "Nobody says as much to their glasses: shorten it."
        )
    return text


def _commit(store: RunStore) -> Callable[..., Awaitable[None]]:
    async def commit(*results: TurnResult, session: Session | None = None) -> None:
        done = await asyncio.to_thread(store.commit, *results, session=session)
        await asyncio.wrap_future(done)

    return commit
