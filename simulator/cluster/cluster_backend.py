"""All conversations of a run, held on a cluster."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mmrag.cache import CacheStats
from mmrag.errors import MmragError
from mmrag.records import Session, TurnResult
from simulator.cluster.driver import run_on_cluster
from simulator.cluster.machines import Machines
from simulator.cluster.ray_connection import join_cluster, load_ray
from simulator.cluster.shard_keeper import LeasedConversation
from simulator.cluster.worker import WorkerSetup
from simulator.parts.isolation_options import IsolationOptions
from simulator.run.live_conversation import break_off
from simulator.run.runner import planned_conversations

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts
    from simulator.run.runner import Plan, Progress
    from simulator.store.run_store import RunStore


class ClusterBackend:
    """An agent in each of many workers, made there from the settings."""

    capacity: int | None = None
    """Each worker's agent has its own."""

    def __init__(
        self, parts: Parts, plan: Plan, hosting: IsolationOptions, machines: Machines
    ) -> None:
        load_ray()  # before an index is built for nothing
        self._parts, self._plan = parts, plan
        self._hosting, self._machines = hosting, machines
        _ = parts.index  # built once, before every worker would
        self._wearers = parts.wearers
        parts.sessions()  # refuses names that are not there

    def opened(self) -> contextlib.AbstractContextManager[None]:
        """The cluster, joined or made."""
        return join_cluster(self._machines, workers=self._machines.workers or 1)

    async def hold(self, store: RunStore, advance: Callable[[Progress], None]) -> CacheStats:
        """Hold all that is not held yet."""
        workers = self._workers()
        folder = self._parts.search_folder
        place = self._parts.elsewhere or ("none" if folder is None else str(folder.absolute()))
        job = WorkerSetup(
            config=msgspec.structs.replace(self._parts.settings, search=place),
            folder=str(Path.cwd()),
            hosting=self._hosting,
            concurrency=math.ceil(self._plan.concurrency / workers),
            data=self._parts.source.fingerprint,
            index=self._parts.index,
            judge=self._parts.judge.id,
        )

        sessions = self._parts.sessions
        summary, cache = await run_on_cluster(
            sessions, planned_conversations(sessions(), self._plan, self._parts.optics), job, store,
            self._machines, workers=workers, on_progress=advance,
            break_off=None if self._wearers is None else self._break_off,
        )  # fmt: skip
        store.set_meta("cluster", summary.after(store.meta("cluster")))
        return cache

    async def _break_off(
        self, agenda: Session, seen: Session, why: MmragError, kept: LeasedConversation
    ) -> list[TurnResult]:
        assert self._wearers is not None
        return await break_off(
            self._wearers, agenda, seen, why, self._parts.judge.id, kept.commit,
            stop=self._plan.stop.rule, seed=self._plan.rules.seed, done=kept.done,
        )  # fmt: skip

    def _workers(self) -> int:
        """As many as were asked for, else one per core; never more than conversations at once."""
        there = int(load_ray().cluster_resources().get("CPU", 1))
        wanted = self._machines.workers or there
        return max(1, min(wanted, self._plan.concurrency))
