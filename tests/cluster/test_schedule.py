"""Who holds what next, and who is to blame when workers die."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from small_runs import make_session

from mmrag.records import Session
from simulator.cluster.driver import ClusterSummary, WorkerPlace, lend
from simulator.cluster.schedule import ALONE, DEATHS, QueuedConversation, Schedule, WorkerSeat
from simulator.cluster.session_lookup import Sessions


def schedule(sessions: int, seats: list[WorkerSeat], conditions: tuple[str, ...] = ("clean",)):
    work = ((n, make_session(n), condition) for n in range(sessions) for condition in conditions)
    return Schedule(work, seats)


def names(items: list[QueuedConversation]) -> list[str]:
    return [f"{item.session_id}/{item.degradation}" for item in items]


async def held(
    plan: Schedule, seat: WorkerSeat, at_once: int, dies: Callable[[QueuedConversation, int], bool]
) -> tuple[list[str], list[str]]:
    """A place with its slots: (conversations that ended, conversations that were given up)."""
    ended: list[str] = []
    given_up: list[str] = []
    hands: dict[int, QueuedConversation] = {}

    async def slot(number: int) -> None:
        while (item := await plan.take(seat)) is not None:
            hands[number] = item
            await asyncio.sleep(0)
            killer = next((one for one in hands.values() if dies(one, len(one.deaths))), None)
            if killer is None:
                ended.append(item.session_id)
            elif not plan.died(seat, item, f"with {killer.session_id}"):
                given_up.append(item.session_id)
            await asyncio.sleep(0)
            hands.pop(number, None)
            plan.done(seat)

    await asyncio.gather(*(slot(n) for n in range(at_once)))
    return ended, given_up


def test_a_worker_is_given_all_conditions_of_a_session_and_the_idle_help_in_the_end() -> None:
    seats = [WorkerSeat(), WorkerSeat()]
    plan = schedule(2, seats, ("clean", "low-light@3", "blurred@3"))

    async def play() -> list[list[str]]:
        first = [await plan.take(seats[0]), await plan.take(seats[1]), await plan.take(seats[0])]
        rest = [await plan.take(seats[0]) for _ in range(3)]
        return [names([i for i in items if i]) for items in (first, rest)]

    first, rest = asyncio.run(play())
    assert first == ["s000/clean", "s001/clean", "s000/low-light@3"]
    assert rest == ["s000/blurred@3", "s001/blurred@3", "s001/low-light@3"]


def test_a_worker_with_nothing_to_do_waits_for_what_another_may_lose() -> None:
    seats = [WorkerSeat(), WorkerSeat()]
    plan = schedule(1, seats)

    async def play() -> tuple[
        QueuedConversation, QueuedConversation | None, QueuedConversation | None
    ]:
        item = await plan.take(seats[0])
        assert item is not None
        waiting = asyncio.create_task(plan.take(seats[1]))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert plan.died(seats[0], item, "kill -9")
        plan.done(seats[0])
        second = await waiting
        assert not plan.is_over()
        plan.done(seats[1])
        return item, second, await plan.take(seats[0])

    item, second, nothing = asyncio.run(play())
    assert second is item
    assert (nothing, item.deaths) == (None, ["kill -9"])
    assert plan.is_over()


@pytest.mark.parametrize("at_once", [1, 4, 8])
def test_only_the_guilty_is_given_up(at_once: int) -> None:
    """Seven ride along each time its worker dies, and must not pay for it."""
    seat = WorkerSeat()
    plan = schedule(12, [seat])
    ended, given_up = asyncio.run(
        held(plan, seat, at_once, lambda item, _deaths: item.session_id == "s005")
    )
    assert given_up == ["s005"]
    assert sorted(ended) == [f"s{n:03d}" for n in range(12) if n != 5]
    assert plan.is_over()


@pytest.mark.parametrize("survives", [ALONE, DEATHS - 1])
def test_who_was_there_when_machines_died_is_held_to_its_end(survives: int) -> None:
    seat = WorkerSeat()
    plan = schedule(4, [seat])
    ended, given_up = asyncio.run(
        held(plan, seat, 4, lambda item, deaths: item.session_id == "s002" and deaths < survives)
    )
    assert (given_up, sorted(ended)) == ([], ["s000", "s001", "s002", "s003"])


def test_nothing_to_hold_is_over_at_once() -> None:
    seat = WorkerSeat()
    plan = schedule(0, [seat])
    assert asyncio.run(plan.take(seat)) is None
    assert plan.is_over()


# -- blame

pytest.importorskip("ray")


class FakeWorker:
    """Answers, or is gone; counts what it was asked."""

    def __init__(self, *, is_gone: bool) -> None:
        self.is_gone, self.held = is_gone, 0
        self.alive = SimpleNamespace(remote=self._alive)
        self.hold = SimpleNamespace(remote=self._hold)

    async def _alive(self) -> None:
        from ray.exceptions import RayActorError

        if self.is_gone:
            raise RayActorError(error_msg="gone")

    async def _hold(self, *_: Any) -> bytes:
        await self._alive()
        self.held += 1
        return b"held"


def lent(item: QueuedConversation, worker: FakeWorker) -> tuple[str, Schedule, WorkerPlace]:
    place = WorkerPlace(worker=worker)
    schedule = Schedule(iter([(0, make_session(0), "clean")]), [place])

    async def play() -> str:
        assert await schedule.take(place) is not None
        found = await lend(item, worker)
        schedule.done(place)
        return found.what

    return asyncio.run(play()), schedule, place


def suspect(tmp_path: Path | None = None) -> QueuedConversation:
    return QueuedConversation(0, "s000", "clean", 4, deaths=["kill -9", "kill -9"])


def test_a_suspect_is_not_blamed_for_a_worker_that_was_dead_already() -> None:
    assert lent(suspect(), FakeWorker(is_gone=True))[0] == "not begun"


def test_a_suspect_is_held_by_a_worker_that_lives() -> None:
    worker = FakeWorker(is_gone=False)
    assert (lent(suspect(), worker)[0], worker.held) == ("held", 1)


def test_a_fresh_conversation_is_sent_at_once() -> None:
    fresh = QueuedConversation(0, "s000", "clean", 4)
    assert lent(fresh, FakeWorker(is_gone=True))[0] == "died"


def test_what_a_run_took_is_added_up_over_its_drivers() -> None:
    first = ClusterSummary(
        machines=("b",), workers=2, stores=1, workers_died=3, asked_again=4, quarantined=1
    )
    second = msgspec.structs.replace(first, machines=("a",), workers=4, workers_died=1)
    together = second.after(msgspec.to_builtins(first))
    assert (together.machines, (together.workers, together.stores)) == (("a", "b"), (4, 1))
    assert (together.workers_died, together.asked_again, together.quarantined) == (4, 8, 2)
    assert first.after(None) == first


# -- lookup


class Read:
    """Data of five sessions that counts how often it is begun."""

    def __init__(self) -> None:
        self.begun = 0

    def __call__(self) -> Iterator[tuple[int, Session]]:
        self.begun += 1
        for place in range(5):
            yield place, Session(id=f"s{place}", turns=())


def test_places_asked_for_a_little_out_of_order_are_not_read_anew() -> None:
    read = Read()
    sessions = Sessions(read, keep=4)

    async def ask() -> list[str]:
        return [(await sessions.get(place, f"s{place}")).id for place in (0, 2, 1, 4, 3)]

    assert (asyncio.run(ask()), read.begun) == (["s0", "s2", "s1", "s4", "s3"], 1)


def test_what_is_past_what_is_kept_is_read_again() -> None:
    read = Read()
    sessions = Sessions(read, keep=1)

    async def ask() -> str:
        await sessions.get(4, "s4")
        return (await sessions.get(3, "s3")).id

    assert (asyncio.run(ask()), read.begun) == ("s3", 2)
