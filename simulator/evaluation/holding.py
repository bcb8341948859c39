"""All conversations of a run, held in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from mmrag.agents.readiness import capacity
from mmrag.cache import CacheStats
from mmrag.protocols import Agent, Judge
from simulator.evaluation import wiring
from simulator.evaluation.hosting import Hosting
from simulator.evaluation.sharing import Shared
from simulator.run.captures import CaptureOptics
from simulator.run.runner import run_sessions

if TYPE_CHECKING:
    from simulator.run.config import RunConfig
    from simulator.run.runner import Plan, Progress, SessionSource
    from simulator.store.run_store import RunStore


class Holding(Protocol):
    """Where conversations are held, with everything made that they need."""

    index: str | None
    """Fingerprint of the index that is searched."""

    @property
    def capacity(self) -> int | None:
        """Turns that are asked at once, where the agent says."""
        ...

    def opened(self) -> contextlib.AbstractContextManager[None]:
        """Around `hold`: what has to be there meanwhile."""
        ...

    async def hold(self, store: RunStore, advance: Callable[[Progress], None]) -> CacheStats:
        """Hold all that is not held yet; what the caches saved."""
        ...


class InProcess:
    """One agent, in this process; `agent` is one that the settings only label."""

    def __init__(
        self,
        settings: RunConfig,
        source: SessionSource,
        judge: Judge,
        plan: Plan,
        hosting: Hosting,
        agent: Agent | None,
        *,
        progress: bool,
        shared: Shared,
    ) -> None:
        self._cache = shared.cache
        self.index: str | None = None
        if agent is None:
            resources, self.index = shared.resources(settings, progress=progress)
            parts = wiring.shared(settings, resources, self._cache, self.index)
            agent = wiring.host_agent(settings, parts, hosting, plan.concurrency)
        self._agent, self._judge, self._plan = agent, judge, plan
        self._chosen = shared.sessions(source, settings)

    @property
    def capacity(self) -> int | None:
        """Asked of the agent when the run begins."""
        return capacity(self._agent)

    def opened(self) -> contextlib.AbstractContextManager[None]:
        """Nothing is needed."""
        return contextlib.nullcontext()

    async def hold(self, store: RunStore, advance: Callable[[Progress], None]) -> CacheStats:
        """Hold all that is not held yet."""
        await run_sessions(
            self._chosen, self._agent, self._judge, store, self._plan,
            optics=CaptureOptics(), on_progress=advance,
        )  # fmt: skip
        return self._cache.stats
