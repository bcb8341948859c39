"""A worker that was dead before it was asked is no fault of the conversation."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from small_runs import make_session

from simulator.cluster.driver import ClusterSummary, WorkerPlace, lend
from simulator.cluster.schedule import QueuedConversation, Schedule

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
    assert lent(suspect(), worker)[0] == "held"
    assert worker.held == 1


def test_a_fresh_conversation_is_sent_at_once() -> None:
    fresh = QueuedConversation(0, "s000", "clean", 4)
    assert lent(fresh, FakeWorker(is_gone=True))[0] == "died"


def test_what_a_run_took_is_added_up_over_its_drivers() -> None:
    first = ClusterSummary(
        machines=("b",), workers=2, stores=1, workers_died=3, asked_again=4, quarantined=1
    )
    second = msgspec.structs.replace(first, machines=("a",), workers=4, workers_died=1)
    together = second.after(msgspec.to_builtins(first))
    assert together.machines == ("a", "b")
    assert (together.workers, together.stores) == (4, 1)
    assert (together.workers_died, together.asked_again, together.quarantined) == (4, 8, 2)
    assert first.after(None) == first
