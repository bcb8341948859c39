"""Who has the KG answers what the pages do not say: a paired difference, tested."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mmrag.agents import agents
from mmrag.judges import make_judge
from mmrag.metrics.statistics import cluster_permutation
from mmrag.protocols import Agent, Resources
from mmrag.records import JudgeItem, Query, Session
from simulator.datasets import open_data
from simulator.world.crag.crag_rows import crag_rows, write_rows
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.kg.endpoints import crag_tools
from simulator.world.facts.generate import generate_facts

AGENT = "crag-task2:reader=builtin"


@pytest.fixture(scope="module")
def world() -> CragWorld:
    return CragWorld(generate_facts(5, 200))


async def scores(agent: Agent, sessions: list[Session]) -> list[float]:
    """CRAG's automatic grade of each question."""
    judge = make_judge("builtin")
    found: list[float] = []
    for session in sessions:
        [turn] = session.turns
        query = Query(text=turn.query, query_time=session.query_time, passages=session.passages)
        reply = await agent.answer(query)
        item = JudgeItem(question=turn.query, references=turn.reference.all_texts,
                         prediction=reply.text)  # fmt: skip
        found.append((await judge.judge(item)).outcome.score or 0.0)
    return found


@pytest.mark.proof("time")
def test_with_tools_the_same_agent_answers_what_the_pages_do_not(
    world: CragWorld, tmp_path: Path
) -> None:
    write_rows(crag_rows(world, 120), tmp_path / "q.jsonl")
    sessions = list(open_data(f"crag:{tmp_path / 'q.jsonl'}"))
    need_kg = [s for s in sessions if s.turns[0].meta["pages_answer"] == "no"]
    assert len(need_kg) >= 30
    with_tools = agents.create(AGENT, resources=Resources(tools=crag_tools(world)))
    without = agents.create(f"{AGENT},kg=off", resources=Resources())
    graded = [asyncio.run(scores(agent, need_kg)) for agent in (with_tools, without)]
    test = cluster_permutation(*graded, [s.id for s in need_kg], resamples=2000)
    assert test.difference > 0.2
    assert test.p < 0.01
    assert sum(one > 0 for one in graded[1]) <= 3, "without the KG there is nothing to know it by"
