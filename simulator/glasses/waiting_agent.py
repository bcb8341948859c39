"""An agent whose replies come from elsewhere: each query waits here until somebody answers it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from mmrag.records import Query, Reply


class PendingQuery(NamedTuple):
    """A query that is waiting, and where its reply goes."""

    query: Query
    reply: asyncio.Future[Reply]


class WaitingAgent:
    """Asks whoever looks at `asked`. Belongs to one event loop; one turn at a time."""

    capacity = 1

    def __init__(self) -> None:
        self.asked: PendingQuery | None = None
        """What is being asked now."""
        self.changed = asyncio.Event()
        """Set, and made anew, whenever that is another one."""

    async def answer(self, query: Query) -> Reply:
        """The reply that comes, however long it takes."""
        self._ask(PendingQuery(query, asyncio.get_running_loop().create_future()))
        assert self.asked is not None
        try:
            return await self.asked.reply
        finally:
            self._ask(None)

    def _ask(self, asked: PendingQuery | None) -> None:
        self.asked = asked
        self.changed.set()
        self.changed = asyncio.Event()
