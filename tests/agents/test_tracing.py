from __future__ import annotations

import asyncio

import pytest

from mmrag.agents.trace import Trace, watching
from mmrag.records import Evidence


def test_steps_nest_and_keep_what_was_found() -> None:
    trace = Trace()
    with trace.step("web", queries=2) as outer:
        with trace.step("rerank") as inner:
            inner.found([Evidence(source="web", id="a", score=1.0)])
        outer.info["kept"] = 1
    (web,) = trace.steps
    assert web.info == {"queries": 2, "kept": 1}
    assert web.steps[0].evidence[0].id == "a"
    assert 0 <= web.steps[0].seconds <= web.seconds
    assert web.start <= web.steps[0].start


def test_a_step_that_fails_is_in_the_trace() -> None:
    trace = Trace()
    with pytest.raises(ValueError, match="no"), trace.step("read"):
        raise ValueError("no")
    assert [step.name for step in trace.steps] == ["read"]


def test_watchers_see_their_own_context_only() -> None:
    async def work(name: str, seen: list[str]) -> None:
        with watching(lambda step: seen.append(step.name)):
            await asyncio.sleep(0)
            with Trace().step(name):
                await asyncio.sleep(0)

    async def both() -> tuple[list[str], list[str]]:
        one: list[str] = []
        two: list[str] = []
        await asyncio.gather(work("a", one), work("b", two))
        return one, two

    assert asyncio.run(both()) == (["a"], ["b"])
    with Trace().step("nobody watches"):
        pass
