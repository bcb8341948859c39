"""All conversations of a run, held in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from mmrag.cache import CacheStats
from mmrag.readiness import capacity
from simulator.parts.agent_host import Hosting
from simulator.run.captures import CaptureOptics
from simulator.run.runner import run_sessions

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts
    from simulator.run.runner import Plan, Progress
    from simulator.store.run_store import RunStore


class Holding(Protocol):
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


class InProcess:
    """One agent, in this process."""

    def __init__(self, parts: Parts, plan: Plan, hosting: Hosting) -> None:
        self._parts, self._plan = parts, plan
        self._agent = parts.host_agent(hosting, plan.concurrency)
        self._sessions, self._wearers = parts.sessions(), parts.wearers

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
            self._sessions, self._agent, self._parts.judge, store, self._plan,
            optics=CaptureOptics(self._plan.links), wearers=self._wearers, on_progress=advance,
        )  # fmt: skip
        return self._parts.cache.stats
