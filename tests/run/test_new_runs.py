"""A run that begins: nothing is looked up, and what begins together is kept together."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
import small_runs as small

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Query, Reply
from simulator.run.runner import Plan, run_sessions
from simulator.store import run_pictures
from simulator.store.run_store import RunStore


class Counting(small.ByNumber):
    asked = 0

    async def answer(self, query: Query) -> Reply:
        self.asked += 1
        return await super().answer(query)


def test_a_session_that_stands_twice_in_the_data_is_held_once(tmp_path: Path) -> None:
    agent, one = Counting(), small.make_session(0, 2)
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "equality")
        twice = iter([(0, one), (1, one)])
        asyncio.run(run_sessions(twice, agent, small.Equality(), store, Plan(concurrency=1)))
        assert agent.asked == 2
        assert sum(store.turn_counts().values()) == 2


def test_pictures_that_cannot_be_kept_together_are_kept_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = run_pictures.write_all

    def few(files: dict[Path, bytes]) -> None:
        if len(files) > 1:
            raise OSError(24, "Too many open files")
        write(files)

    monkeypatch.setattr(run_pictures, "write_all", few)
    seen = [
        msgspec.structs.replace(
            small.make_session(i, 2), capture=Capture(image=LazyImage.from_bytes(small.picture(i)))
        )
        for i in range(6)
    ]
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "equality")
        work = iter(list(enumerate(seen)))
        asyncio.run(run_sessions(work, Counting(), small.Equality(), store, Plan(concurrency=6)))
        assert sum(store.turn_counts().values()) == 12
