"""The process that keeps a shard: the only writer of its file. Restarted, it opens it again."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import StoreError
from mmrag.files.images import LazyImage
from mmrag.records import ImageLookup, Session, TurnResult, decode_as, encode
from simulator.cluster.ray_connection import ProcessLost, await_call
from simulator.store.leases import ShardStore
from simulator.store.run_pictures import without_picture
from simulator.store.shard_files import retry_until_free


class SessionSent(NamedTuple):
    """A session's record, and beside it those pictures that the other end may not have."""

    record: bytes
    pictures: dict[str, bytes]
    """By hash."""


class LeaseSent(NamedTuple):
    """A lease, with what was committed of its conversation."""

    epoch: int
    done: list[bytes]
    begun: SessionSent | None
    """The session as it stands."""


class Keeper:
    """An actor: every call may be repeated, and says False to who holds the lease no longer."""

    def __init__(self, run: str, number: int) -> None:
        self._shard = retry_until_free(lambda: ShardStore(Path(run), number))

    async def ready(self) -> None:
        """Return once the file is open."""

    async def lease(self, session_id: str, degradation: str) -> LeaseSent:
        """Give a conversation to who asks, and take it from whoever had it."""
        await asyncio.wrap_future(self._shard.take(session_id, degradation))
        lease = self._shard.lease(session_id, degradation)
        begun = None if lease.begun is None else pack_session(lease.begun)
        return LeaseSent(lease.epoch, [encode(result) for result in lease.done], begun)

    async def begin(self, epoch: int, position: int, sent: SessionSent, broken: bool) -> bool:
        """Record a session as the agent is going to see it."""
        session = unpack_session(sent, self._shard.images.get)
        if not self._shard.holds(epoch, session.id, session.degradation):
            return False
        begin = self._shard.begin_broken if broken else self._shard.begin
        await asyncio.wrap_future(await asyncio.to_thread(begin, position, session))
        return True

    async def commit(
        self, epoch: int, position: int, results: list[bytes], sent: SessionSent | None
    ) -> bool:
        """Return when the turns are on disk, and with them the session where it has grown."""
        turns = [decode_as(TurnResult, result) for result in results]
        session = None if sent is None else unpack_session(sent, self._shard.images.get)
        kept = self._shard.commit_leased(epoch, *turns, session=session, position=position)
        if kept is None:
            return False
        await asyncio.wrap_future(kept)
        return True

    async def close(self) -> int:
        """Close the file. Returns how many turns came too late."""
        await asyncio.to_thread(self._shard.close)
        return self._shard.refused


class LeaseLost(Exception):
    """Somebody else holds the conversation by now; what was asked here counts no more."""


class LeasedConversation:
    """A conversation as its worker sees it: kept by another process."""

    def __init__(self, keeper: Any, position: int, lease: LeaseSent) -> None:
        self._keeper, self._position = keeper, position
        self._epoch, begun = lease.epoch, lease.begun
        self._begun = None if begun is None else unpack_session(begun)
        self._there = set[str]() if begun is None else set(begun.pictures)
        """Pictures that the keeper has."""
        self.done = [decode_as(TurnResult, result) for result in lease.done]

    @staticmethod
    async def take(
        keeper: Any, position: int, session_id: str, degradation: str
    ) -> LeasedConversation:
        """Lease it."""
        lease = await _asked(keeper.lease.remote(session_id, degradation))
        return LeasedConversation(keeper, position, lease)

    def begun(self) -> Session | None:
        """The session as the agent saw it, where the conversation has begun."""
        return self._begun

    async def begin(self, position: int, session: Session) -> None:
        """Record the session as the agent is going to see it."""
        await self._begin(position, session, broken=False)

    async def begin_broken(self, position: int, session: Session) -> None:
        """Record a session whose picture cannot be had."""
        await self._begin(position, without_picture(session), broken=True)

    async def commit(self, *results: TurnResult, session: Session | None = None) -> None:
        """Return when the turns are on disk, and with them the session where it has grown."""
        turns = [encode(result) for result in results]
        grown = None if session is None else self._new(session)
        await self._sent(self._keeper.commit.remote(self._epoch, self._position, turns, grown))

    async def _begin(self, position: int, session: Session, *, broken: bool) -> None:
        sent = self._new(session)
        await self._sent(self._keeper.begin.remote(self._epoch, position, sent, broken))

    def _new(self, session: Session) -> SessionSent:
        sent = pack_session(session, self._there)
        self._there.update(sent.pictures)
        return sent

    async def _sent(self, reference: Any) -> None:
        if not await _asked(reference):
            raise LeaseLost


def pack_session(session: Session, there: Container[str] = ()) -> SessionSent:
    """A session to be sent, with the pictures that are not `there`."""
    captures = (session.capture, *(turn.capture for turn in session.turns))
    images = [capture.image for capture in captures if capture is not None]
    new = {i.sha256: i for i in images if i.sha256 and i.sha256 not in there}
    return SessionSent(encode(session), {digest: image.data for digest, image in new.items()})


def unpack_session(sent: SessionSent, other: ImageLookup | None = None) -> Session:
    """A session that was sent; `other` has the pictures that were not sent along."""

    def picture(digest: str) -> LazyImage:
        if digest in sent.pictures or other is None:
            return LazyImage.from_bytes(sent.pictures[digest])
        return other(digest)

    return decode_as(Session, sent.record, images=picture)


async def _asked(reference: Any) -> Any:
    try:
        return await await_call(reference)
    except ProcessLost as error:  # it restarts by itself, so this time it could not
        raise StoreError(
            f"the process that keeps the turns ended and cannot start again ({error}). What was "
            "committed is kept; mend that, then `mmrag resume` the run."
        ) from error
