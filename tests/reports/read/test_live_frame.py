"""Reading runs of live wearers, whose conversations differ from condition to condition."""

from __future__ import annotations

import asyncio
from pathlib import Path

from small_talks import FakeLooks, Says, agendas, wearers

from mmrag.judges.simple import ExactJudge
from mmrag.records import Query, Reply
from simulator.reports.read.turn_frame import load_turn_frame
from simulator.run.capture_optics import CaptureOptics
from simulator.run.run_config import RunConfig
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


def asks_where_it_is_dark(query: Query) -> Reply:
    bright = agendas()[0].capture
    assert bright
    assert query.image
    if query.earlier or query.image.sha256 == bright.image.sha256:
        return Reply(text="I don't know")
    return Reply(text="Closer?", ask="look")


def test_a_conversation_may_be_longer_under_another_condition(tmp_path: Path) -> None:
    plan = Plan(degradations=("clean", "low-light@3"))
    with RunStore(tmp_path / "run") as store:
        store.set_all_meta({"judge": ExactJudge.id, "config": RunConfig(wearer="live")})
        work = run_sessions(
            iter([(0, agendas()[0])]), Says(asks_where_it_is_dark), ExactJudge(), store, plan,
            optics=CaptureOptics(), wearers=wearers(FakeLooks()),
        )  # fmt: skip
        asyncio.run(work)
    with RunReader(tmp_path / "run") as run:
        counts = [len(run.turns(agendas()[0].id, name)) for name in plan.degradations]
        frame = load_turn_frame(run, stop=plan.stop)
    assert counts[0] < counts[1]
    assert frame.conditions == list(plan.degradations)
    assert len(frame) == 2 * len(agendas()[0].turns)  # a row a goal
