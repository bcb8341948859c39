"""Whatever an agent does, the run goes on, and the trouble is the status of the turn it was in."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image
from small_runs import ByNumber, Equality, make_session, run_all

from mmrag.agents.external import daemon_threads, foreign_code
from mmrag.agents.external.adapters import PythonAgent
from mmrag.agents.external.kits import KitAgent
from mmrag.errors import AgentError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Query, Reply, Status, Step, TurnResult, Usage
from simulator.run.capture_optics import CaptureOptics
from simulator.run.engine import Rules
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

QUICK = Rules(seconds=0.5)
ANSWERED, ERROR, TIMEOUT = Status.ANSWERED, Status.AGENT_ERROR, Status.TIMEOUT


@pytest.fixture(autouse=True)
def hardly_any_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_code, "GRACE", 0.2)


def results_of(folder: Path) -> list[TurnResult]:
    with RunReader(folder) as run:
        return list(run.results())


def statuses(folder: Path, agent: object, conversations: int = 2, **plan: object) -> list[Status]:
    """Of two turns of each conversation; a run that hangs fails the test, not the suite."""
    done: list[BaseException | None] = []

    def work() -> None:
        try:
            sessions = [make_session(i, turns=2) for i in range(conversations)]
            run_all(folder, sessions, agent, **{"rules": QUICK, **plan})
            done.append(None)
        except BaseException as error:
            done.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert done, "the run hangs"
    if done[0] is not None:
        raise done[0]
    return [result.status for result in results_of(folder)]


class Raises:
    """Raises another of the errors in the first turn of each conversation."""

    def fails(self, query: Query) -> None:
        if query.turn_index == 0:
            raise ERRORS[int(query.session_id[1:])]


class Plain(Raises):
    def answer(self, query: Query) -> str:
        self.fails(query)
        return "fine"


class Coroutine(Raises):
    async def answer(self, query: Query) -> str:
        self.fails(query)
        return "fine"


class Direct(Raises):
    """Not behind an adapter, as agents of other packages are."""

    async def answer(self, query: Query) -> Reply:
        self.fails(query)
        return Reply(text="fine")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


ERRORS = [
    ValueError("lone \ud800 surrogate"), AgentError("lone \ud800 surrogate"), Unspeakable(),
    SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), StopIteration(1),
    StopAsyncIteration(), GeneratorExit(), BaseExceptionGroup("several", [SystemExit(1)]),
    MemoryError(), RecursionError("x" * 10_000_000), TimeoutError(),
]  # fmt: skip


@pytest.mark.parametrize("kind", [Plain, Coroutine, Direct])
def test_whatever_it_raises_is_the_turns_error(tmp_path: Path, kind: type[Raises]) -> None:
    agent = Direct() if kind is Direct else PythonAgent(kind())
    statuses(tmp_path, agent, rules=Rules(seconds=5), conversations=len(ERRORS))
    found = results_of(tmp_path)
    assert len(found) == 2 * len(ERRORS)
    for error, first, second in zip(ERRORS, found[::2], found[1::2], strict=True):
        name, said = type(error).__name__, first.error or ""
        assert (first.status, second.status) == (ERROR, ANSWERED), name
        assert name in said or "surrogate" in said
        assert len(said) <= 2000


def endless(_query: Query) -> str:
    while True:
        pass


def asleep(_query: Query) -> str:
    time.sleep(3)
    return "too late"


def stubborn(_query: Query) -> str:
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            time.sleep(0.1)
        except BaseException:
            continue
    return "too late"


async def async_endless(query: Query) -> str:
    return endless(query)


async def async_asleep(query: Query) -> str:
    return asleep(query)


async def async_stubborn(query: Query) -> str:
    until = time.monotonic() + 4
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.1)
        except BaseException:
            continue
    return "too late"


async def a_little_late(query: Query) -> str:
    time.sleep(1.0)
    return "answer"


class Does:
    """Does something at the first turn of each conversation, and answers the others."""

    def __init__(self, what: object) -> None:
        self.what = what
        if asyncio.iscoroutinefunction(what):
            self.answer = self.waited_for

    def answer(self, query: Query) -> object:
        return self.what(query) if query.turn_index == 0 else "fine"

    async def waited_for(self, query: Query) -> object:
        return await self.what(query) if query.turn_index == 0 else "fine"


HANGS = [
    endless, asleep, stubborn, async_endless, async_asleep, async_stubborn, a_little_late,
]  # fmt: skip


@pytest.mark.parametrize("what", HANGS, ids=lambda what: what.__name__)
def test_what_hangs_times_out_and_the_next_turn_is_asked(tmp_path: Path, what: object) -> None:
    found = statuses(tmp_path, PythonAgent(Does(what)), concurrency=1)
    assert found == [TIMEOUT, ANSWERED] * 2


@pytest.mark.parametrize("what", [a_little_late, async_stubborn], ids=lambda what: what.__name__)
def test_an_agent_beside_the_engine_is_timed_by_the_clock_too(tmp_path: Path, what: object) -> None:
    class InTheSameLoop:
        async def answer(self, query: Query) -> Reply:
            return Reply(text=await what(query) if query.turn_index == 0 else "fine")

    assert statuses(tmp_path, InTheSameLoop(), concurrency=1) == [TIMEOUT, ANSWERED] * 2


def test_sixty_turns_that_hang_leave_room_for_all_others(tmp_path: Path) -> None:
    release, before = threading.Event(), daemon_threads.count_abandoned_calls()
    hanging: list[Query] = []

    class Hangs:
        def answer(self, query: Query) -> str:
            if query.turn_index < 5:
                hanging.append(query)
                release.wait(30)
            return "fine"

    sessions = [make_session(i, turns=6) for i in range(12)]
    run_all(tmp_path, sessions, PythonAgent(Hangs()), concurrency=12, rules=Rules(seconds=0.3))
    found = [result.status for result in results_of(tmp_path)]
    assert found == ([TIMEOUT] * 5 + [ANSWERED]) * 12
    assert len(hanging) == 60
    assert daemon_threads.count_abandoned_calls() >= 60  # those of earlier tests may end meanwhile
    release.set()
    until = time.monotonic() + 5
    while daemon_threads.count_abandoned_calls() > before and time.monotonic() < until:
        time.sleep(0.02)
    assert daemon_threads.count_abandoned_calls() <= before


def test_an_async_agent_that_computes_is_not_timed_while_others_do(tmp_path: Path) -> None:
    """Twelve turns at once of 0.1 s each in one thread: nobody waits on the clock."""

    class Computes:
        async def answer(self, query: Query) -> str:
            time.sleep(0.1)
            return "fine"

    sessions = [make_session(i, turns=1) for i in range(12)]
    run_all(tmp_path, sessions, PythonAgent(Computes()), concurrency=12, rules=Rules(seconds=0.6))
    found = results_of(tmp_path)
    assert {r.status for r in found} == {ANSWERED}


def test_a_turn_that_blocks_the_loop_costs_no_other_turn_that_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blocks:
        async def answer(self, query: Query) -> str:
            return asleep(query) if query.session_id == "s000" else "fine"

    monkeypatch.setattr(foreign_code, "GRACE", 0.5)
    sessions = [make_session(i, turns=1) for i in range(6)]
    run_all(tmp_path, sessions, PythonAgent(Blocks()), concurrency=6, rules=QUICK)
    assert [r.status for r in results_of(tmp_path)] == [TIMEOUT, *[ANSWERED] * 5]


def test_a_batch_that_hangs_ends_with_its_turns(tmp_path: Path) -> None:
    class Kit:
        def batch_generate_response(self, queries, images, message_histories):
            if not message_histories[0]:
                images[0].thumbnail((4, 4))
            if "question 0" in queries[0]:
                time.sleep(2)
            return ["fine"] * len(queries)

    assert statuses(tmp_path, KitAgent(Kit()), concurrency=1) == [TIMEOUT, ANSWERED] * 2


@pytest.mark.parametrize("where", ["plain", "async"])
def test_a_warm_up_that_hangs_ends_the_run_unasked(tmp_path: Path, where: str) -> None:
    class Cold(ByNumber):
        if where == "plain":

            def warm(self) -> None:
                time.sleep(3)
        else:

            async def warm(self) -> None:
                time.sleep(3)

    with pytest.raises(AgentError, match=r"not ready within 0\.2 s; nothing was asked"):
        statuses(tmp_path, PythonAgent(Cold()), ready_seconds=0.2)


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="x", usage=Usage(input_tokens=2**200)),
        Reply(text="x", usage=Usage(output_tokens=-1)),
        Reply(text="x", usage=Usage(cost=float("inf"))),
        Reply(text="x", trace=(Step(name="s", info={"deep": deep(100_000)}),)),
        Reply(text="x", citations=("c" * 5_000_000,)),
        Reply(text="x", trace=(Step(name="s", info={"o": object()}),)),
    ],
    ids=["2**200", "below 0", "inf", "deep", "5 MB", "object"],
)
def test_what_cannot_be_kept_is_the_turns_error(tmp_path: Path, reply: Reply) -> None:
    class Odd:
        async def answer(self, query: Query) -> Reply:
            return reply if query.turn_index == 0 else Reply(text="fine")

    assert statuses(tmp_path, Odd(), rules=Rules(seconds=10)) == [ERROR, ANSWERED] * 2


@pytest.mark.parametrize(
    ("info", "why"),
    [({"all": "x" * 30_000_000}, "bytes; the limit is"), ({"deep": deep(200)}, "deeper than 64")],
)
def test_an_endless_trace_is_dropped_and_the_answer_counts(
    tmp_path: Path, info: dict[str, object], why: str
) -> None:
    class Chatty:
        async def answer(self, query: Query) -> Reply:
            return Reply(text="fine", trace=(Step(name="all", info=info),))

    assert statuses(tmp_path, Chatty(), rules=Rules(seconds=10)) == [ANSWERED] * 4
    (step,) = results_of(tmp_path)[0].reply.trace
    assert step.name == "trace dropped"
    assert why in step.info["why"]
    assert (tmp_path / "run.sqlite").stat().st_size < 1_000_000


def test_what_an_agent_does_to_its_picture_is_seen_by_nobody_else(tmp_path: Path) -> None:
    class Shrinks(ByNumber):
        async def answer(self, query: Query) -> Reply:
            picture = query.image.pil()
            picture.thumbnail((2, 2))
            return await super().answer(query)

    def pictures(folder: Path, agent: object) -> list[str]:
        noise = np.random.Generator(np.random.Philox(1)).integers(0, 255, (48, 64, 3), np.uint8)
        shown = Capture(image=LazyImage.from_pil(Image.fromarray(noise)))
        session = msgspec.structs.replace(make_session(1, turns=2), capture=shown)
        plan = Plan(degradations=("clean", "low-light@3", "blurred@2"), concurrency=1)
        with RunStore(folder) as store:
            work, optics = iter([(0, session)]), CaptureOptics()
            asyncio.run(run_sessions(work, agent, Equality(), store, plan, optics=optics))
            return [session.capture.image.sha256 for session in store.sessions()]

    assert pictures(tmp_path / "a", Shrinks()) == pictures(tmp_path / "b", ByNumber())
