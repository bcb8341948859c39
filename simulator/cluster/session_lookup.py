"""Sessions by their place in a data set, which can only be read from its beginning on."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator

from mmrag.errors import ConflictError
from mmrag.records import Session


class Sessions:
    """Reads on to the place that is asked for.

    The last few stay, those too that were only passed: conditions share them, and conversations
    are not asked for in quite the order in which they are read.
    """

    def __init__(self, read: Callable[[], Iterator[tuple[int, Session]]], keep: int) -> None:
        self._read = read
        self._keep = keep
        self._walk: Iterator[tuple[int, Session]] = iter(())
        self._last: int | None = None
        self._kept: OrderedDict[int, Session] = OrderedDict()
        self._one = asyncio.Lock()

    async def get(self, position: int, session_id: str) -> Session:
        """The session at a place of the data set."""
        async with self._one:
            session = self._kept.get(position)
            if session is None:
                session = await asyncio.to_thread(self._find, position)
            if session is None or session.id != session_id:
                raise ConflictError(f"the data have changed: {session_id} is not in its place.")
            self._keep_at(position, session)
            return session

    def _find(self, position: int) -> Session | None:
        if self._last is None or position <= self._last:
            self._walk = self._read()
        for place, session in self._walk:
            self._last = place
            self._keep_at(place, session)
            if place == position:
                return session
        self._last = None
        return None

    def _keep_at(self, position: int, session: Session) -> None:
        self._kept[position] = session
        self._kept.move_to_end(position)
        while len(self._kept) > self._keep:
            self._kept.popitem(last=False)
