"""What the Live page does, without Gradio: a conversation with an agent, turn by turn.

It is held by the same rules as any other (the agent's own history, the time limit, the cut to 75
tokens) and saved as a run, so that Replay shows it like every other. Nothing is judged: there is
no truth to judge by.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import msgspec

from mmrag.agent_hooks import capacity
from mmrag.agents.external.reply_checks import says_nothing
from mmrag.errors import Denied, UsageError, error_text
from mmrag.files.images import LazyImage
from mmrag.protocols import Agent, Resources
from mmrag.records import (
    Capture,
    Exchange,
    Query,
    Reference,
    Session,
    Status,
    Turn,
    TurnResult,
)
from simulator.run.engine import AskedTurn, Rules, ask_turn

MAX_TURNS = 12
MAX_PICTURES = 4
"""Of one conversation: they are kept as long as the visitor's talk."""

MAX_QUERY = 2000
RULES = Rules(seconds=60.0)
"""Longer than in an evaluation: a person waits, and the first turn loads the models."""

MakeResources = Callable[[], Resources]


class LiveTalk(msgspec.Struct):
    """One conversation in progress. It belongs to one visitor. It is kept for an hour after the
    visitor left, so its picture stays encoded: who needs it decoded takes a `fresh` one."""

    agent_spec: str
    image: LazyImage | None = None
    exchanges: list[TurnResult] = []
    started: str = ""
    upright: tuple[int, int] | None = None
    own: bool = False
    """Whether the visitor brought the picture: what is indexed may say nothing of it."""
    before: tuple[tuple[LazyImage, int], ...] = ()
    """Pictures that were talked about before, each with the first turn about the next one."""

    @property
    def size(self) -> tuple[int, int]:
        """Of the picture; decoded once to learn it."""
        if self.upright is None:
            self.upright = self.fresh().pil().size
        return self.upright

    def anew(self, agent_spec: str) -> LiveTalk:
        """Nothing said yet, about the same picture."""
        return LiveTalk(agent_spec, image=self.image, upright=self.upright, own=self.own)

    def look_again(self, image: LazyImage, *, own: bool = False) -> LiveTalk:
        """The same conversation about another picture from the next turn on."""
        before, asked = self.before, len(self.exchanges)
        if self.image is not None and asked > (before[-1][1] if before else 0):
            before = (*before, (self.image, asked))
        if len(before) >= MAX_PICTURES:
            raise UsageError(
                f"A conversation has at most {MAX_PICTURES} pictures; start a new one."
            )
        return msgspec.structs.replace(
            self, image=image, before=before, upright=None, own=own or self.own
        )

    def fresh(self) -> LazyImage:
        """The picture for a while: what decodes it lets go of it again."""
        if self.image is None:
            raise UsageError("Choose a picture first: upload one, take one, or pick a sample.")
        return LazyImage.from_bytes(self.image.data, name=self.image.name)

    @property
    def history(self) -> tuple[Exchange, ...]:
        """The agent's own earlier turns."""
        return tuple(
            Exchange(query=turn.query, reply=turn.reply.text)
            for turn in self.exchanges
            if turn.reply is not None
        )


class VisitorSession:
    """Where one visitor's talk is kept: a late answer must not bring an old one back."""

    def __init__(self, talk: LiveTalk) -> None:
        self.talk = talk
        self.arrived = False
        """Whether the first picture is there, or none can be: a question may be quicker."""
        self.lock = asyncio.Lock()
        """Held while the assistant works on a question."""
        self.asking = ""
        self.heard = 0.0
        """The highest number of a question that has come."""
        self.begun = 0
        """Raised with every other conversation: a question that waits is not asked in that one."""

    def begin(self, talk: LiveTalk) -> None:
        """Another talk, or this one with another picture."""
        self.talk = talk
        self.begun += 1


class AgentCache:
    """Agents by spec, made when first asked for; the searches behind them are opened once."""

    def __init__(self, make_resources: MakeResources, allowed: Sequence[str]) -> None:
        self._make_resources = make_resources
        self._allowed = frozenset(allowed)
        self._resources: Resources | None = None
        self._agents: dict[str, Agent] = {}
        self._places: dict[str, AbstractAsyncContextManager[object]] = {}
        self._lock = threading.Lock()

    def get(self, spec: str) -> Agent:
        """The agent; slow the first time."""
        from mmrag.agents import agents

        if spec not in self._allowed:
            # a spec can name a program to run or a key to send: only the operator may choose it
            raise UsageError(f"{spec!r} is not offered here; start with `mmrag ui --agent {spec}`.")
        with self._lock:  # visitors ask at the same time, each from a thread
            if spec not in self._agents:
                if self._resources is None:
                    self._resources = self._make_resources()
                self._agents[spec] = agents.create(spec, resources=self._resources)
            return self._agents[spec]

    def place(self, spec: str) -> AbstractAsyncContextManager[object]:
        """A place at an agent that is made: as many at once as it says it bears."""
        if spec not in self._places:
            most = capacity(self._agents[spec])
            self._places[spec] = asyncio.Semaphore(most) if most else nullcontext()
        return self._places[spec]


def next_query(talk: LiveTalk, text: str) -> Query:
    """One more turn of a talk, or `UsageError` where there can be none."""
    text = text.encode("utf-8", "replace").decode().strip()[:MAX_QUERY]
    if says_nothing(text):
        raise UsageError("Type a question first.")
    image = talk.fresh()
    if len(talk.exchanges) >= MAX_TURNS:
        raise UsageError(f"A conversation has at most {MAX_TURNS} turns; start a new one.")
    return Query(
        text=text,
        image=image,
        history=talk.history,
        session_id=(
            talk.exchanges[0].session_id if talk.exchanges else f"live-{image.sha256[:12]}"
        ),
        turn_index=len(talk.exchanges),
        earlier=tuple(LazyImage.from_bytes(one.data, name=one.name) for one, _ in talk.before),
        query_time=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


async def ask(talk: LiveTalk, agent: Agent, query: Query) -> LiveTalk:
    """Ask one more turn; the talk with its result, also where the agent failed."""
    began = time.perf_counter()
    try:
        asked = await ask_turn(agent, query, RULES)
    except Denied as problem:  # it ends a run; here the visitor is told
        asked = AskedTurn(
            None, Status.AGENT_ERROR, error_text(problem), time.perf_counter() - began
        )
    result = TurnResult(
        session_id=query.session_id,
        turn_index=query.turn_index,
        status=asked.status,
        query=query.text,
        reply=asked.reply,
        error=asked.error,
        seconds=asked.seconds,
    )
    return msgspec.structs.replace(
        talk, exchanges=[*talk.exchanges, result], started=talk.started or query.query_time or ""
    )


def session_of(talk: LiveTalk) -> Session:
    """The talk as a session."""
    if talk.image is None or not talk.exchanges:
        raise UsageError("There is nothing to save yet: ask something first.")
    images = [*(image for image, _ in talk.before), talk.image]
    starts = [0, *(turn for _, turn in talk.before)]
    taken = {
        turn: Capture(image=image, quality="unknown")
        for turn, image in zip(starts, images, strict=True)
    }
    return Session(
        id=talk.exchanges[0].session_id,
        capture=taken[0],
        turns=tuple(
            Turn(
                index=turn.turn_index,
                id=f"live-{turn.turn_index}",
                query=turn.query,
                reference=Reference(text="(nobody said what is true)"),
                capture=taken.get(turn.turn_index) if turn.turn_index else None,
            )
            for turn in talk.exchanges
        ),
        query_time=talk.started or None,
    )


def save(talk: LiveTalk, folder: Path) -> Path:
    """Write the talk as a run of one session and return its folder."""
    from simulator.store.provenance import provenance
    from simulator.store.run_store import RunStore

    session = session_of(talk)
    stamp = talk.started.replace(":", "").replace("-", "")[:15]
    place, number = folder / f"live-{stamp}", 2
    while place.exists():
        place, number = folder / f"live-{stamp}-{number}", number + 1
    with RunStore(place) as store:
        store.set_meta("provenance", provenance(agent=talk.agent_spec, live=True))
        store.begin(0, session).result()
        store.commit(*talk.exchanges).result()
        store.set_meta("finished", True)
    return place
