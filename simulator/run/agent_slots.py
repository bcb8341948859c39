"""Places at an agent: a turn's clock starts when the agent is ready and has a place for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

from mmrag.agent_hooks import NOTHING_ASKED, capacity, wait_until_ready, warm
from mmrag.agents.external.foreign_code import call_contained, cancel_task
from mmrag.errors import AgentError
from mmrag.protocols import Agent
from simulator.run.time_limits import READY_SECONDS

Place = Callable[[], contextlib.AbstractAsyncContextManager[None]]
"""Enter it before a turn's clock starts, leave it when the turn is over."""


class AgentSlots:
    """An agent's places, as many as it says it bears. Belongs to one event loop.

    The first who wants a place makes the agent ready. If that fails nobody gets one: the error
    names the cure, and no turn is charged with it.
    """

    def __init__(self, agent: Agent, *, seconds: float = READY_SECONDS) -> None:
        self._agent = agent
        self._seconds = seconds
        most = capacity(agent)
        self._free = asyncio.Semaphore(most) if most else contextlib.nullcontext()
        self._warming: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Wait for a place and hold it."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm())
        await asyncio.shield(self._warming)
        async with self._free:
            await wait_until_ready(self._agent)
            yield

    async def _warm(self) -> None:
        task = asyncio.create_task(call_contained(lambda: warm(self._agent)))
        try:
            await asyncio.wait((task,), timeout=self._seconds or None)
        finally:
            late = not task.done()
            if late:
                await cancel_task(task)
        if late:
            raise AgentError(
                f"the agent was not ready within {self._seconds:g} s; {NOTHING_ASKED} "
                "Give it longer with --ready-seconds."
            )
        task.result()
