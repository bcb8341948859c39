"""All conversations of a run, held in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from mmrag.agent_hooks import capacity, end_agent
from mmrag.cache import CacheStats
from simulator.parts.isolation_options import IsolationOptions
from simulator.parts.run_folder import bind_run_ears
from simulator.run.runner import run_sessions

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts
    from simulator.run.runner import Plan, Progress
    from simulator.store.run_store import RunStore


class RunBackend(Protocol):
    """Where conversations are held, with everything made that they need."""

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


class LocalBackend:
    """One agent, in this process."""

    def __init__(self, parts: Parts, plan: Plan, hosting: IsolationOptions) -> None:
        self._parts, self._plan = parts, plan
        self._agent = parts.host_agent(hosting, plan.concurrency)
        self._sessions, self._wearers = parts.sessions(), parts.wearers
        self._hearing = parts.hearing

    @property
    def capacity(self) -> int | None:
        """Asked of the agent when the run begins."""
        return capacity(self._agent)

    def opened(self) -> contextlib.AbstractContextManager[None]:
        """Nothing is needed."""
        return contextlib.nullcontext()

    async def hold(self, store: RunStore, advance: Callable[[Progress], None]) -> CacheStats:
        """Hold all that is not held yet."""
        hearing = self._hearing
        if hearing is not None:
            bind_run_ears(store, hearing.ids)
            hearing.keep = store.keep_sounds
        try:
            await run_sessions(
                self._sessions, self._agent, self._parts.judge, store, self._plan,
                optics=self._parts.optics, wearers=self._wearers, hear=hearing and hearing.hear,
                on_progress=advance,
            )  # fmt: skip
        finally:
            await end_agent(self._agent)
        return self._parts.cache.stats
