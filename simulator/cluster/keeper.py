"""The process that keeps a shard: the only writer of its file. Restarted, it opens it again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from mmrag.errors import ConflictError, StoreError
from mmrag.images import LazyImage
from mmrag.records import Session, TurnResult, decode_as, encode
from simulator.cluster.connecting import Lost, answered
from simulator.store.leases import ShardStore
from simulator.store.run_store import without_picture
from simulator.store.shards import PATIENCE

LeaseSent = tuple[int, list[bytes], bytes | None, bytes | None]
"""Epoch, committed turns, the session as it began, its picture."""


class Keeper:
    """An actor: every call may be repeated, and says False to who holds the lease no longer."""

    def __init__(self, run: str, number: int) -> None:
        self._shard = _open(Path(run), number)

    async def ready(self) -> None:
        """Return once the file is open."""

    async def lease(self, session_id: str, degradation: str) -> LeaseSent:
        """Give a conversation to who asks, and take it from whoever had it."""
        await asyncio.wrap_future(self._shard.take(session_id, degradation))
        lease = self._shard.lease(session_id, degradation)
        begun, picture = lease.begun, None
        if begun is not None and begun.capture is not None:
            picture = begun.capture.image.data
        return (
            lease.epoch,
            [encode(result) for result in lease.done],
            None if begun is None else encode(begun),
            picture,
        )

    async def begin(
        self, epoch: int, position: int, record: bytes, picture: bytes | None, broken: bool
    ) -> bool:
        """Record a session as the agent is going to see it."""
        session = with_picture(record, picture)
        if not self._shard.holds(epoch, session.id, session.degradation):
            return False
        begin = self._shard.begin_broken if broken else self._shard.begin
        await asyncio.wrap_future(await asyncio.to_thread(begin, position, session))
        return True

    async def commit(self, epoch: int, results: list[bytes]) -> bool:
        """Return when the turns are on disk."""
        turns = [decode_as(TurnResult, result) for result in results]
        kept = self._shard.commit_leased(epoch, *turns)
        if kept is None:
            return False
        await asyncio.wrap_future(kept)
        return True

    async def close(self) -> int:
        """Close the file. Returns how many turns came too late."""
        await asyncio.to_thread(self._shard.close)
        return self._shard.refused


class Fenced(Exception):
    """Somebody else holds the conversation by now; what was asked here counts no more."""


class LeasedConversation:
    """A conversation as its worker sees it: kept by another process."""

    def __init__(self, keeper: Any, lease: LeaseSent) -> None:
        self._keeper = keeper
        self._epoch, done, record, picture = lease
        self._begun = None if record is None else with_picture(record, picture)
        self.done = [decode_as(TurnResult, result) for result in done]

    @staticmethod
    async def take(keeper: Any, session_id: str, degradation: str) -> LeasedConversation:
        """Lease it."""
        return LeasedConversation(
            keeper, await _asked(keeper.lease.remote(session_id, degradation))
        )

    def begun(self) -> Session | None:
        """The session as the agent saw it, where the conversation has begun."""
        return self._begun

    async def begin(self, position: int, session: Session) -> None:
        """Record the session as the agent is going to see it."""
        picture = None if session.capture is None else session.capture.image.data
        await self._sent(
            self._keeper.begin.remote(self._epoch, position, encode(session), picture, False)
        )

    async def begin_broken(self, position: int, session: Session) -> None:
        """Record a session whose picture cannot be had."""
        record = encode(without_picture(session))
        await self._sent(self._keeper.begin.remote(self._epoch, position, record, None, True))

    async def commit(self, *results: TurnResult) -> None:
        """Return when the turns are on disk."""
        sent = [encode(result) for result in results]
        await self._sent(self._keeper.commit.remote(self._epoch, sent))

    async def _sent(self, reference: Any) -> None:
        if not await _asked(reference):
            raise Fenced


def with_picture(record: bytes, picture: bytes | None) -> Session:
    """A session that was sent, with its picture's bytes beside it."""
    if picture is None:
        return decode_as(Session, record)
    return decode_as(Session, record, images=lambda _digest: LazyImage.from_bytes(picture))


async def _asked(reference: Any) -> Any:
    try:
        return await answered(reference)
    except Lost as error:  # it restarts by itself, so this time it could not
        raise StoreError(
            f"the process that keeps the turns ended and cannot start again ({error}). What was "
            "committed is kept; mend that, then `mmrag resume` the run."
        ) from error


def _open(run: Path, number: int) -> ShardStore:
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return ShardStore(run, number)
        except ConflictError:  # the process before is still ending
            if time.monotonic() > patience:
                raise
            time.sleep(0.1)
