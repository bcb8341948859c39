"""How many wearers an assistant bears: questions come at a rate, whether or not it keeps up."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mmrag.errors import DataError
from mmrag.metrics.statistics import generator
from mmrag.records import Query, Record
from simulator.run.engine import Rules, ask_turn
from simulator.run.slots import Places

if TYPE_CHECKING:
    from mmrag.protocols import Agent
    from simulator.parts.run_parts import Parts

SHARE = 0.99
"""How many of the questions must be answered in time for a rate to be borne."""

_KEPT = 200
"""Questions that are asked in turn; their pictures stay in memory."""


class LoadAnswer(NamedTuple):
    """What came of one question."""

    seconds: float | None
    """From its arrival to the reply, waiting included; None: it was given up."""
    status: str


class LoadStage(Record, frozen=True, kw_only=True):
    """One rate, for some time."""

    offered: float
    """Questions a second."""
    asked: int
    answered: int
    failed: int
    unanswered: int
    """Given up when the stage was over and the limit had passed once more."""
    in_time: float
    """Share of the questions that were answered within the limit."""
    throughput: float
    """Answers a second, until the last one."""
    p50: float | None
    p95: float | None
    p99: float | None


class Load(Record, frozen=True, kw_only=True):
    """What an assistant bears."""

    agent: str
    limit: float
    pause: float
    stages: tuple[LoadStage, ...]
    bears: float | None
    """The highest rate before the first that it does not bear."""
    fails_at: float | None
    """That first rate; None: none of those that were tried, so that it may bear more."""
    wearers: int | None
    """As many as it bears, each of whom asks once in `pause` seconds."""


def load(
    parts: Parts,
    rates: Sequence[float],
    *,
    seconds: float = 30.0,
    limit: float = 10.0,
    pause: float = 20.0,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Load:
    """Ask first questions of the data's conversations at each rate, rising, until it gives in.

    Arrivals are a Poisson process drawn from the seed. Nothing is cached or judged.
    """
    from simulator.terminal.event_loops import run_to_end

    parts.check_agent()
    queries = [
        Query(
            text=session.turns[0].query,
            image=None if session.capture is None else session.capture.image,
            session_id=session.id,
            query_time=session.query_time,
            passages=session.passages,
        )
        for _, session in itertools.islice(parts.sessions(), _KEPT)
    ]
    if not queries:
        raise DataError(f"{parts.settings.data}: there is nothing to ask in it.")
    work = _stages(
        parts.make_agent(), queries, sorted(rates), seconds, limit, parts.settings.seed, on_progress
    )
    stages = run_to_end(work)
    bears = borne(stages)
    return Load(
        agent=parts.settings.agent,
        limit=limit,
        pause=pause,
        stages=tuple(stages),
        bears=bears,
        fails_at=None if bears == stages[-1].offered else stages[-1].offered,
        wearers=None if bears is None else int(bears * pause),
    )


def arrivals(rate: float, seconds: float, *, seed: int) -> list[float]:
    """When questions come: a Poisson process, so that they bunch as people do."""
    draws = generator(seed, f"arrivals at {rate:g}").exponential(
        1 / rate, int(rate * seconds * 2) + 50
    )
    return [float(at) for at in np.cumsum(draws) if at < seconds]


def stage_of(rate: float, seconds: float, answers: Sequence[LoadAnswer], limit: float) -> LoadStage:
    """The figures of one rate."""
    good = [a.seconds for a in answers if a.seconds is not None and a.status in _REPLIES]
    unanswered = sum(a.seconds is None for a in answers)
    p50, p95, p99 = (float(np.percentile(good, p)) if good else None for p in (50, 95, 99))
    return LoadStage(
        offered=rate,
        asked=len(answers),
        answered=len(good),
        failed=len(answers) - len(good) - unanswered,
        unanswered=unanswered,
        in_time=sum(s <= limit for s in good) / len(answers) if answers else 1.0,
        throughput=len(good) / seconds,
        p50=p50,
        p95=p95,
        p99=p99,
    )


_REPLIES = ("answered", "abstained")


def borne(stages: Sequence[LoadStage], share: float = SHARE) -> float | None:
    """The highest rate before the first at which too many questions are not answered in time."""
    good = itertools.takewhile(lambda stage: stage.in_time >= share, stages)
    return max((stage.offered for stage in good), default=None)


async def _stages(
    agent: Agent,
    queries: list[Query],
    rates: Sequence[float],
    seconds: float,
    limit: float,
    seed: int,
    on_progress: Callable[[str, int, int], None],
) -> list[LoadStage]:
    place = Places(agent).place
    async with place():  # it is made ready before the first question comes
        pass
    stages: list[LoadStage] = []
    for rate in rates:
        times = arrivals(rate, seconds, seed=seed)
        begun = time.perf_counter()
        answers = await _answers(agent, place, times, itertools.cycle(queries), limit, on_progress)
        stages.append(stage_of(rate, max(seconds, time.perf_counter() - begun), answers, limit))
        if borne(stages) != rate:  # a higher rate would only be worse
            break
    return stages


async def _answers(
    agent: Agent,
    place: Callable[[], Any],
    times: list[float],
    queries: Iterator[Query],
    limit: float,
    on_progress: Callable[[str, int, int], None],
) -> list[LoadAnswer]:
    begun = time.perf_counter()

    async def ask(at: float, query: Query) -> LoadAnswer:
        async with place():
            asked = await ask_turn(agent, query, Rules(seconds=limit))
        return LoadAnswer(time.perf_counter() - begun - at, str(asked.status))

    tasks: list[asyncio.Task[LoadAnswer]] = []
    for number, at in enumerate(times):
        await asyncio.sleep(max(0.0, begun + at - time.perf_counter()))
        tasks.append(asyncio.create_task(ask(at, next(queries))))
        on_progress("asked", number + 1, len(times))
    if tasks:
        await asyncio.wait(tasks, timeout=limit)
    late = [task for task in tasks if not task.done()]
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return [LoadAnswer(None, "timeout") if task in late else task.result() for task in tasks]
