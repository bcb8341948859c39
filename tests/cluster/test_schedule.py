"""Who holds what next, and who is to blame when workers die."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from small_runs import make_session

from simulator.cluster.schedule import ALONE, DEATHS, QueuedConversation, Schedule, WorkerSeat


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
    assert nothing is None
    assert item.deaths == ["kill -9"]
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
    assert given_up == []
    assert sorted(ended) == ["s000", "s001", "s002", "s003"]


def test_nothing_to_hold_is_over_at_once() -> None:
    seat = WorkerSeat()
    plan = schedule(0, [seat])
    assert asyncio.run(plan.take(seat)) is None
    assert plan.is_over()
