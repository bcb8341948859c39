"""All conversations of a run, held on a cluster."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mmrag.cache import CacheStats
from mmrag.protocols import Judge
from simulator.cluster.connecting import connected, load_ray
from simulator.cluster.driver import hold_on_cluster
from simulator.cluster.machines import Machines
from simulator.cluster.worker import Job
from simulator.evaluation import wiring
from simulator.evaluation.hosting import Hosting
from simulator.run.captures import CaptureOptics
from simulator.run.config import RunConfig
from simulator.run.runner import conversations

if TYPE_CHECKING:
    from simulator.run.runner import Plan, Progress, SessionSource
    from simulator.store.run_store import RunStore


class OnCluster:
    """An agent in each of many workers, made there from the settings."""

    capacity: int | None = None
    """Each worker's agent has its own."""

    def __init__(
        self,
        settings: RunConfig,
        source: SessionSource,
        judge: Judge,
        plan: Plan,
        hosting: Hosting,
        machines: Machines,
        *,
        progress: bool,
    ) -> None:
        load_ray()  # before an index is built for nothing
        folder = wiring.index_folder(settings, progress=progress)
        self.index = wiring.index_fingerprint(folder)
        place = "none" if folder is None else str(folder.absolute())
        self._settings, self._source, self._plan = settings, source, plan
        self._hosting, self._machines = hosting, machines
        self._found = msgspec.structs.replace(settings, search=place)
        self._judge = judge.id
        wiring.chosen_sessions(source, settings)  # refuses names that are not there

    def opened(self) -> contextlib.AbstractContextManager[None]:
        """The cluster, joined or made."""
        return connected(self._machines, workers=self._machines.workers or 1)

    async def hold(self, store: RunStore, advance: Callable[[Progress], None]) -> CacheStats:
        """Hold all that is not held yet."""
        workers = self._workers()
        job = Job(
            config=self._found,
            folder=str(Path.cwd()),
            hosting=self._hosting,
            concurrency=math.ceil(self._plan.concurrency / workers),
            data=self._source.fingerprint,
            index=self.index,
            judge=self._judge,
        )

        def sessions():
            return wiring.chosen_sessions(self._source, self._settings)

        summary, cache = await hold_on_cluster(
            sessions, conversations(sessions(), self._plan, CaptureOptics()), job, store,
            self._machines, workers=workers, on_progress=advance,
        )  # fmt: skip
        store.set_meta("cluster", summary.after(store.meta("cluster")))
        return cache

    def _workers(self) -> int:
        """As many as were asked for, else one per core; never more than conversations at once."""
        there = int(load_ray().cluster_resources().get("CPU", 1))
        wanted = self._machines.workers or there
        return max(1, min(wanted, self._plan.concurrency))
