"""Judge a run again. Generation and judging are separate steps: no agent is asked anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from mmrag.judges.fallback import FallbackJudge
from mmrag.protocols import Judge
from mmrag.records import Outcome, Status, Turn, TurnResult, Verdict, item_of
from simulator.run.engine import verdict_on
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


async def rejudge_run(
    store: RunStore,
    judge: Judge,
    concurrency: int = 16,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Give every reply a verdict of this judge and make it the run's current judge.

    Interrupted and called again, it judges what is left. Where the judge fails, the turn becomes
    unscored and the reason is kept. Returns how many replies got a verdict.
    """
    work, total, done = _replies(store), store.reply_count(), 0

    async def worker() -> int:
        nonlocal done
        count = 0
        for turn, result in work:  # one iterator shared by all workers
            if not _is_judged(store, result, judge.id):
                verdict = await _verdict(judge, turn, result)
                await asyncio.wrap_future(store.add_verdict(result, verdict))
                count += verdict.outcome is not Outcome.UNSCORED
            done += 1
            on_progress(done, total)
        return count

    counts = await asyncio.gather(*(worker() for _ in range(max(1, concurrency))))
    if isinstance(judge, FallbackJudge):
        judge.check()  # one that is down takes no other's place
    store.make_current(judge.id)
    return sum(counts)


def _replies(store: RunReader) -> Iterator[tuple[Turn, TurnResult]]:
    for session in store.sessions():
        for result in store.turns(session.id, session.degradation):
            if result.reply is not None and result.status is not Status.DATA_ERROR:
                yield session.turns[result.turn_index], result


def _is_judged(store: RunReader, result: TurnResult, judge_id: str) -> bool:
    mine = store.verdicts(result.session_id, result.degradation, result.turn_index).get(judge_id)
    return mine is not None and mine.outcome is not Outcome.UNSCORED


async def _verdict(judge: Judge, turn: Turn, result: TurnResult) -> Verdict:
    assert result.reply is not None  # _replies yields no other
    return await verdict_on(judge, item_of(result.session_id, turn, result.reply))
