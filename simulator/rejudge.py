"""Judge a run again. Generation and judging are separate steps: no agent is asked anything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from mmrag.protocols import Judge
from mmrag.records import JudgeItem, Outcome, Turn, TurnResult
from simulator.engine import judge_reply
from simulator.store import RunStore


async def rejudge_run(store: RunStore, judge: Judge, concurrency: int = 16) -> int:
    """Give every reply a verdict of this judge and make it the run's current judge.

    Interrupted and called again, it judges what is left. Returns how many replies were judged.
    """
    work = _replies(store, judge.id)
    counts = await asyncio.gather(
        *(_worker(work, store, judge) for _ in range(max(1, concurrency)))
    )
    store.set_meta("judge", judge.id)
    return sum(counts)


async def _worker(work: Iterator[tuple[Turn, TurnResult]], store: RunStore, judge: Judge) -> int:
    count = 0
    for turn, result in work:
        assert result.reply is not None  # _replies yields no other
        item = JudgeItem(
            question=turn.query,
            references=turn.reference.all_texts,
            prediction=result.reply.text,
            id=f"{result.session_id}/{result.turn_index}",
        )
        verdict, _ = await judge_reply(judge, item)
        if verdict is not None:
            await asyncio.wrap_future(store.add_verdict(result, verdict))
            count += 1
    return count


def _replies(store: RunStore, judge_id: str) -> Iterator[tuple[Turn, TurnResult]]:
    for session in store.sessions():
        degradation = session.capture.degradation
        for result in store.turns(session.id, degradation):
            if result.reply is None:
                continue
            mine = store.verdicts(session.id, degradation, result.turn_index).get(judge_id)
            if mine is not None and mine.outcome is not Outcome.UNSCORED:
                continue
            yield session.turns[result.turn_index], result
