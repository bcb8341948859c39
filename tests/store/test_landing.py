"""Turns that are over together are given to the store together, and nothing of them is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future

import pytest

from mmrag.errors import StoreError
from simulator.store.commit_waiter import CommitWaiter, WorkBatcher


def on_disk() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done


def test_turns_that_are_over_together_are_written_together() -> None:
    log: list[str] = []

    def write(number: int) -> Future[None]:
        log.append(f"written {number}")
        return on_disk()

    async def main() -> None:
        landing = CommitWaiter()

        async def turn(number: int) -> None:
            log.append(f"over {number}")
            await landing.of(lambda: write(number))
            log.append(f"on disk {number}")

        await asyncio.gather(*map(turn, range(3)))

    asyncio.run(main())
    assert log == [f"{what} {n}" for what in ("over", "written", "on disk") for n in range(3)]


def test_what_cannot_be_written_fails_its_own_turn_only() -> None:
    def full() -> Future[None]:
        raise StoreError("the disk is full")

    async def main() -> list[BaseException | None]:
        landing = CommitWaiter()
        both = (landing.of(full), landing.of(on_disk))
        return await asyncio.gather(*both, return_exceptions=True)

    failed, written = asyncio.run(main())
    assert isinstance(failed, StoreError)
    assert written is None


def test_a_turn_is_written_although_its_conversation_was_cancelled() -> None:
    written: list[str] = []

    def write() -> Future[None]:
        written.append("turn")
        return on_disk()

    async def main() -> None:
        landing = CommitWaiter()
        task = asyncio.create_task(landing.of(write))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert written == ["turn"]


def test_ctrl_c_between_a_look_and_the_word_is_no_fault() -> None:
    """A signal is heeded anywhere: here the conversation leaves while its turn is read."""

    async def main() -> list[dict[str, object]]:
        faults: list[dict[str, object]] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, fault: faults.append(fault))

        class Left(Future[None]):
            def exception(self, timeout: float | None = None) -> BaseException | None:
                turn.cancel()
                return super().exception(timeout)

        def write() -> Future[None]:
            left = Left()
            left.set_result(None)
            return left

        turn = asyncio.ensure_future(CommitWaiter().of(write))
        with pytest.raises(asyncio.CancelledError):
            await turn
        return faults

    assert asyncio.run(main()) == []


def test_who_come_together_are_done_together_by_a_few_threads() -> None:
    """Each picture alone takes the disk several times as long."""
    parts: list[tuple[int, ...]] = []
    at_work: list[int] = [0, 0]
    lock = threading.Lock()

    def work(*items: int) -> None:
        with lock:
            parts.append(items)
            at_work[0] += 1
            at_work[1] = max(at_work)
        time.sleep(0.01)
        with lock:
            at_work[0] -= 1

    async def main() -> None:
        gathering: WorkBatcher[int] = WorkBatcher(work)
        await asyncio.gather(*map(gathering.of, range(60)))
        await gathering.of(60)

    asyncio.run(main())
    assert sorted(item for part in parts for item in part) == list(range(61))
    assert len(parts) <= 9
    assert 2 <= at_work[1] <= 4


def test_everybody_hears_of_their_own_fault_only() -> None:
    def work(*items: str) -> None:
        if "bad" in items:
            raise StoreError("no such picture")

    async def main() -> list[BaseException | None]:
        gathering: WorkBatcher[str] = WorkBatcher(work)
        asked = map(gathering.of, ("a", "bad", "b"))
        return await asyncio.gather(*asked, return_exceptions=True)

    first, bad, last = asyncio.run(main())
    assert (first, last) == (None, None)
    assert isinstance(bad, StoreError)


def test_who_leaves_keeps_nobody_waiting() -> None:
    async def main() -> None:
        gathering: WorkBatcher[int] = WorkBatcher(lambda *_: time.sleep(0.02))
        leaving, staying = (asyncio.create_task(gathering.of(n)) for n in range(2))
        await asyncio.sleep(0.005)
        leaving.cancel()
        await staying
        await gathering.of(2)
        assert leaving.cancelled()

    asyncio.run(main())
