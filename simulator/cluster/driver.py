"""The process that schedules: it starts keepers and workers, and lends every conversation out.

It keeps nothing that is not in a store, so that whoever calls the command again goes on. Workers
and keepers end with it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from mmrag.cache import CacheStats
from mmrag.errors import AgentError, MmragError, StoreError
from mmrag.records import Record, Session, Status, TurnResult
from simulator.cluster.machines import Machines
from simulator.cluster.ray_connection import ProcessLost, await_call, load_ray
from simulator.cluster.schedule import QueuedConversation, Schedule, WorkerSeat
from simulator.cluster.session_lookup import Sessions
from simulator.cluster.shard_keeper import Keeper, LeasedConversation
from simulator.cluster.worker import Ready, Worker, WorkerSetup, decode_progress, total_cache_stats
from simulator.run.engine import broken_turns
from simulator.run.runner import Progress, under_condition
from simulator.store.leases import copy_shards_while_written
from simulator.store.run_store import RunStore
from simulator.store.shard_files import shard_of

GATHERED = 1.0
"""Seconds between two times that the run takes in what its shards have."""

ENDING = 20.0
"""Seconds that keepers are given to close their files."""

STARTS = 3
"""How often in a row a worker may die before it is ready."""

Work = Callable[[], Iterator[tuple[int, Session]]]

BreakOff = Callable[[Session, Session, MmragError, LeasedConversation], Awaitable[list[TurnResult]]]
"""(the agenda, the session as it stands, why, what is kept of it) → all its turns."""


class ClusterSummary(Record, frozen=True, kw_only=True):
    """What a cluster took to do it; kept with the run."""

    machines: tuple[str, ...]
    workers: int
    stores: int
    workers_died: int
    asked_again: int
    """Turns that may have been asked, and paid for, twice; each was committed once."""
    quarantined: int

    def after(self, before: dict[str, Any] | None) -> ClusterSummary:
        """With what earlier drivers of the run took, as far as they lived to tell."""
        if before is None:
            return self
        earlier = msgspec.convert(before, ClusterSummary)
        return msgspec.structs.replace(
            self,
            machines=tuple(sorted({*earlier.machines, *self.machines})),
            workers_died=earlier.workers_died + self.workers_died,
            asked_again=earlier.asked_again + self.asked_again,
            quarantined=earlier.quarantined + self.quarantined,
        )


async def run_on_cluster(
    sessions: Work,
    items: Iterator[tuple[int, Session, str]],
    job: WorkerSetup,
    store: RunStore,
    machines: Machines,
    *,
    workers: int,
    break_off: BreakOff | None,
    on_progress: Callable[[Progress], None],
) -> tuple[ClusterSummary, CacheStats]:
    """Hold `items` on a cluster that this process has joined, into a run that it has open.

    `sessions` reads the same data anew, for what has to be told of a conversation that nobody can
    hold; `break_off` ends it where a live wearer is in it, and is None where none is. Raises what
    ends a run of one process too; what was committed stays.
    """
    driver = _Driver(sessions, job, store, machines, workers, break_off, on_progress)
    try:
        await driver.open()
        with copy_shards_while_written(store) as gather:
            try:
                await driver.work_through(items, gather)
                stats = await driver.stats()
            finally:
                late = await driver.close()
        return driver.summary(late), stats
    finally:
        driver.kill()


class WorkerPlace(WorkerSeat):
    """A seat, and the worker that sits there now."""

    worker: Any = None
    starting: asyncio.Task[None] | None = None


class _Driver:
    def __init__(
        self,
        sessions: Work,
        job: WorkerSetup,
        store: RunStore,
        machines: Machines,
        workers: int,
        break_off: BreakOff | None,
        on_progress: Callable[[Progress], None],
    ) -> None:
        ray = load_ray()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._store, self._break_off, self._on_progress = store, break_off, on_progress
        self._sessions = Sessions(sessions, keep=1)
        self._places = [WorkerPlace() for _ in range(workers)]
        self._kill: Callable[..., None] = ray.kill
        # a shard lies beside the run, on this machine's disk
        keeper = ray.remote(Keeper).options(
            num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=10_000,
            scheduling_strategy=NodeAffinitySchedulingStrategy(
                ray.get_runtime_context().get_node_id(), soft=False
            ),
        )  # fmt: skip
        self._keepers = [
            keeper.remote(str(store.folder), number) for number in range(machines.stores)
        ]
        self._make = lambda: (
            ray.remote(Worker)
            .options(num_cpus=1, num_gpus=machines.gpus, max_concurrency=2 * job.concurrency + 10)
            .remote(msgspec.json.encode(job), self._keepers)
        )
        self._at_once = job.concurrency
        self._schedule: Schedule | None = None
        self._machines: set[str] = set()
        self._died = self._quarantined = 0

    async def open(self) -> None:
        """Return when all keepers have their files open."""
        try:
            await asyncio.gather(*(await_call(keeper.ready.remote()) for keeper in self._keepers))
        except ProcessLost as error:
            raise StoreError(f"no process can keep the run's turns: {error}.") from error

    async def work_through(
        self, items: Iterator[tuple[int, Session, str]], gather: Callable[[], int]
    ) -> None:
        """Return when every conversation was held; the first error ends all."""
        schedule = self._schedule = Schedule(items, [*self._places])
        tasks = [
            asyncio.create_task(self._slot(place, schedule))
            for place in self._places
            for _ in range(self._at_once)
        ]
        tasks.append(asyncio.create_task(_again_and_again(gather)))
        left = set(tasks)
        try:
            # a place whose worker finds no machine must not hold up the end
            while not schedule.is_over():
                ended, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
        finally:
            all_of_them = [*tasks, *(place.starting for place in self._places if place.starting)]
            for task in all_of_them:
                task.cancel()
            await asyncio.gather(*all_of_them, return_exceptions=True)

    async def stats(self) -> CacheStats:
        """What the caches of the workers that are left have saved."""
        asked = [place.worker.stats.remote() for place in self._places if place.worker is not None]
        told = await asyncio.gather(*map(await_call, asked), return_exceptions=True)
        return total_cache_stats([said for said in told if isinstance(said, bytes)])

    async def close(self) -> int:
        """Let the workers go, then close the shards. Returns how many turns came too late."""
        for place in self._places:
            self._drop(place)
        closing = [await_call(keeper.close.remote()) for keeper in self._keepers]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                late = await asyncio.gather(*closing, return_exceptions=True)
                return sum(count for count in late if isinstance(count, int))
        return 0

    def kill(self) -> None:
        """Leave no process behind."""
        for place in self._places:
            self._drop(place)
        for keeper in self._keepers:
            with contextlib.suppress(Exception):
                self._kill(keeper)

    def summary(self, late: int) -> ClusterSummary:
        """What it took."""
        again = self._schedule.asked_again if self._schedule else 0
        return ClusterSummary(
            machines=tuple(sorted(self._machines)),
            workers=len(self._places),
            stores=len(self._keepers),
            workers_died=self._died,
            asked_again=max(again, late),
            quarantined=self._quarantined,
        )

    async def _slot(self, place: WorkerPlace, schedule: Schedule) -> None:
        """Lend one conversation after the other to the worker of one place."""
        while True:
            await self._worker(place)
            item = await schedule.take(place)
            if item is None:
                return
            try:
                if place.worker is None:  # it died while this slot waited
                    schedule.put_back(item)
                else:
                    await self._lend(item, place, schedule)
            finally:
                schedule.done(place)

    async def _lend(self, item: QueuedConversation, place: WorkerPlace, schedule: Schedule) -> None:
        done = self._store.turns(item.session_id, item.degradation)
        if self._break_off is None and len(done) == item.turns:  # nobody knows how many a talk has
            self._tell(item, tuple(done), resumed=True)
            return
        worker = place.worker
        lent = await lend(item, worker)
        if lent.what == "held":
            self._on_progress(decode_progress(lent.said))
            return
        if lent.what == "taken over":
            schedule.again(item)
            return
        if place.worker is worker:
            self._died += 1
            self._drop(place)
        if lent.what == "not begun":
            schedule.put_back(item)
        elif not schedule.died(place, item, lent.reason):
            await self._quarantine(item)

    async def _quarantine(self, item: QueuedConversation) -> None:
        """Every worker dies over it: nobody is asked its turns again."""
        why = AgentError(
            f"quarantined: {len(item.deaths)} workers died over this conversation, the last two "
            f"with nothing else in hand ({item.deaths[-1]})"
        )
        keeper = self._keepers[shard_of(item.session_id, item.degradation, len(self._keepers))]
        kept = await LeasedConversation.take(
            keeper, item.position, item.session_id, item.degradation
        )
        results = await self._broken(item, kept, why)
        self._quarantined += 1
        self._tell(item, tuple(results), resumed=False)

    async def _broken(
        self, item: QueuedConversation, kept: LeasedConversation, why: MmragError
    ) -> list[TurnResult]:
        session = kept.begun()
        if session is None or self._break_off is not None:
            agenda = await self._sessions.get(item.position, item.session_id)
            if session is not None and self._break_off is not None:
                return await self._break_off(agenda, session, why, kept)
            session = under_condition(agenda, item.degradation)
            await kept.begin_broken(item.position, session)
        rest = broken_turns(session, why, Status.AGENT_ERROR)[len(kept.done) :]
        if rest:
            await kept.commit(*rest)
        return [*kept.done, *rest]

    def _tell(self, item: QueuedConversation, results: tuple[Any, ...], *, resumed: bool) -> None:
        self._on_progress(
            Progress(
                session_id=item.session_id,
                degradation=item.degradation,
                results=results,
                resumed=resumed,
            )
        )

    async def _worker(self, place: WorkerPlace) -> None:
        """Return when a worker of this place is ready, for as long as that takes."""
        if place.starting is None:
            place.starting = asyncio.create_task(self._start(place))
        await asyncio.shield(place.starting)

    async def _start(self, place: WorkerPlace) -> None:
        for start in range(STARTS):
            worker = self._make()
            try:
                told = msgspec.json.decode(await await_call(worker.ready.remote()), type=Ready)
                self._machines.add(told.machine)
                place.worker = worker
                return
            except ProcessLost as error:
                self._died += 1
                if start == STARTS - 1:
                    raise AgentError(
                        f"{STARTS} workers died before they were ready ({error}); nothing more was "
                        "asked. Does the agent run in one process: --backend local?"
                    ) from error
            finally:
                if place.worker is not worker:
                    self._kill(worker)

    def _drop(self, place: WorkerPlace) -> None:
        if place.starting is not None:
            place.starting.cancel()
        if place.worker is not None:
            with contextlib.suppress(Exception):
                self._kill(place.worker)
        place.worker = place.starting = None


class LendResult(NamedTuple):
    """What came of lending a conversation to a worker."""

    what: str
    """held, died, taken over (by another worker), or not begun (nobody was there)."""
    said: bytes = b""
    reason: str = ""


async def lend(item: QueuedConversation, worker: Any) -> LendResult:
    """Have a worker hold a conversation. A suspect is blamed for none that was dead before."""
    try:
        if item.deaths:
            await await_call(worker.alive.remote())
    except ProcessLost as error:
        return LendResult("not begun", reason=str(error))
    try:
        said = await await_call(
            worker.hold.remote(item.position, item.session_id, item.degradation)
        )
    except ProcessLost as error:
        return LendResult("died", reason=str(error))
    # a worker that was given up may come back for a moment and take it
    return LendResult("taken over") if said is None else LendResult("held", said)


async def _again_and_again(gather: Callable[[], int]) -> None:
    while True:
        await asyncio.sleep(GATHERED)
        await asyncio.to_thread(gather)
