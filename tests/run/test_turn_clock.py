"""A turn's clock is the agent's: loading models and waiting for a place are not on it."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from small_runs import ByNumber, Equality, make_session, run_all

from mmrag.agent_hooks import capacity, cores
from mmrag.agents import agents
from mmrag.agents.external.adapters import PythonAgent
from mmrag.agents.fakes import FaultyAgent
from mmrag.errors import AgentError, Unavailable
from mmrag.protocols import Resources
from mmrag.records import Query, Reply, Session, Status
from simulator.run.engine import Rules
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

LIMIT = Rules(seconds=1.0)


class Busy(ByNumber):
    """Works for one turn at a time, as an agent does that computes; loads slowly."""

    def __init__(self, capacity: int | None = 1, work: float = 0.15, load: float = 0.0) -> None:
        super().__init__()
        self.capacity = capacity
        self.work, self.load = work, load
        self.core = threading.Lock()
        self.inside = self.most = self.warmed = 0

    def warm(self) -> None:
        time.sleep(self.load)
        self.warmed += 1

    async def answer(self, query: Query) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if not self.warmed:
            await asyncio.to_thread(self.warm)
        await asyncio.to_thread(self.compute)
        self.inside -= 1
        return await super().answer(query)

    def compute(self) -> None:
        with self.core:
            time.sleep(self.work)


def sixteen(turns: int = 1) -> list[Session]:
    return [make_session(i, turns=turns) for i in range(16)]


def results_of(folder: Path) -> list:
    with RunReader(folder) as run:
        return list(run.results())


def test_waiting_for_a_place_is_not_the_agents_time(tmp_path: Path) -> None:
    agent = Busy()  # 16 turns of 0.15 s, one after the other: the last waits 2.3 s
    run_all(tmp_path, sixteen(), agent, concurrency=16, rules=LIMIT)
    found = results_of(tmp_path)
    assert agent.most == 1
    assert not [r for r in found if r.status is Status.TIMEOUT]


def test_who_promises_too_much_is_still_timed(tmp_path: Path) -> None:
    run_all(tmp_path, sixteen(), Busy(capacity=16), concurrency=16, rules=LIMIT)
    assert [r for r in results_of(tmp_path) if r.status is Status.TIMEOUT]


def test_loading_models_is_not_the_first_turns_time(tmp_path: Path) -> None:
    agent = Busy(capacity=4, work=0.01, load=1.3)
    run_all(tmp_path, sixteen(2), agent, concurrency=16, rules=LIMIT)
    assert agent.warmed == 1
    assert not [r for r in results_of(tmp_path) if r.status is Status.TIMEOUT]
    agent.warmed = 0
    run_all(tmp_path, sixteen(2), agent)
    assert agent.warmed == 0  # nothing was left to ask


def test_an_agent_that_cannot_be_made_ready_ends_the_run_unasked(tmp_path: Path) -> None:
    class Bare(ByNumber):
        async def warm(self) -> None:
            await asyncio.sleep(0)
            raise OSError("no weights")

    class Lacking(Bare):
        def warm(self) -> None:  # type: ignore[override]
            raise Unavailable("pip install weights")

    for made, error in ((Bare, AgentError), (Lacking, Unavailable)):
        agent = made()
        with pytest.raises(error, match="weights"):
            run_all(tmp_path, sixteen(), agent, concurrency=16)
        assert not agent.seen
    run_all(tmp_path, sixteen(), ByNumber())
    assert {r.status for r in results_of(tmp_path)} <= {Status.ANSWERED, Status.ABSTAINED}


def test_every_conversation_has_a_thread(tmp_path: Path) -> None:
    """A plain class that waits for something: 40 at once, whatever the number of cores."""

    class Plain:
        def answer(self, query: Query) -> str:
            time.sleep(0.4)
            return query.text

    sessions = [make_session(i, turns=1) for i in range(40)]
    run_all(tmp_path, sessions, PythonAgent(Plain()), concurrency=40, rules=LIMIT)
    assert {r.status for r in results_of(tmp_path)} == {Status.ANSWERED}


def test_pictures_are_degraded_by_no_more_threads_than_cores(tmp_path: Path) -> None:
    class Slow:
        inside = most = 0
        lock = threading.Lock()

        def choose(self, session: Session, degradation: str, seed: int) -> str:
            return degradation

        def apply(self, session: Session, spec: str, seed: int) -> Session:
            with self.lock:
                self.inside += 1
                self.most = max(self.most, self.inside)
            time.sleep(0.02)
            with self.lock:
                self.inside -= 1
            return session

    optics = Slow()
    work = enumerate([make_session(i, turns=1) for i in range(4 * cores())])
    with RunStore(tmp_path) as store:
        plan = Plan(degradations=("blurred@1",), concurrency=4 * cores())
        asyncio.run(run_sessions(iter(work), ByNumber(), Equality(), store, plan, optics=optics))
    assert optics.most <= cores()


@pytest.mark.parametrize("said", [0, -1, "many", 1.5])
def test_a_capacity_is_a_number_of_turns(said: object) -> None:
    with pytest.raises(AgentError, match="above 0"):
        capacity(Busy(capacity=said))  # type: ignore[arg-type]


def test_adapters_say_what_is_behind_them() -> None:
    class Ready(Busy):
        async def warm(self) -> None:  # type: ignore[override]
            self.warmed += 1

    inner = Ready(capacity=3)
    for outer in (PythonAgent(inner), FaultyAgent(inner)):
        assert capacity(outer) == 3
        asyncio.run(outer.warm())
    assert inner.warmed == 2
    assert capacity(ByNumber()) is None
    none = Resources()
    assert capacity(agents.create("command:run=cat,processes=5", resources=none)) == 5
    assert capacity(agents.create("http:url=http://localhost:9", resources=none)) is None
    assert 1 <= (capacity(agents.create("task1:reader=builtin", resources=none)) or 0) <= cores()
