"""One file of a run that many machines write: who holds a conversation, and what it committed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from mmrag.errors import MmragError, StoreError
from mmrag.records import Session, TurnResult
from simulator.store.run_pictures import ImageFolder
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from simulator.store.shard_files import (
    NewRowReader,
    shard_folder,
    shard_folders,
    taking_abandoned_shards,
)

Kept = Future[None] | None
"""Done when it is on disk; None where the lease is somebody else's by now."""


class Lease(NamedTuple):
    """The right to commit turns of one conversation, until somebody else takes it."""

    epoch: int
    begun: Session | None
    """As the agent saw it, where the conversation has begun."""
    done: list[TurnResult]
    """What was committed; nothing else is history."""


class ShardStore(RunStore):
    """Keeps the turns of some conversations of a run; their pictures go to the run itself. Called
    from one thread: what it checks must not change before it writes."""

    def __init__(self, run: Path, number: int) -> None:
        self._run = run
        self._epochs: dict[str, int] = {}
        self.refused = 0
        """Turns that came too late: they were asked twice, and count once."""
        self._base = RunReader(run)
        super().__init__(shard_folder(run, number))
        self.images = ImageFolder(run / "images")
        self.set_meta("judge", self._base.meta("judge"))

    def take(self, session_id: str, degradation: str) -> Future[None]:
        """Take a conversation over: from now on, whoever held it before is refused.

        When the future is done, all that was accepted before is on disk, and `lease` tells it.
        """
        key = _key(session_id, degradation)
        self._epochs[key] = self._epoch(key) + 1
        return self._put_meta({key: self._epochs[key]})

    def lease(self, session_id: str, degradation: str) -> Lease:
        """The lease that was taken last, and where the conversation stands."""
        done = {
            result.turn_index: result
            for kept in (self._base, self)
            for result in kept.turns(session_id, degradation)
        }
        return Lease(
            epoch=self._epoch(_key(session_id, degradation)),
            begun=self.begun(session_id, degradation) or self._base.begun(session_id, degradation),
            done=[done[index] for index in sorted(done)],
        )

    def holds(self, epoch: int, session_id: str, degradation: str) -> bool:
        """Whether nobody has taken the conversation over since."""
        return epoch == self._epoch(_key(session_id, degradation))

    def commit_leased(
        self, epoch: int, *results: TurnResult, session: Session | None = None, position: int = 0
    ) -> Kept:
        """Commit turns of one conversation once: the same turns may come again, others may not.

        `session` is the session as it stands now, where it has grown, and `position` its place.
        """
        first = results[0]
        there = {r.turn_index: r for r in self.turns(first.session_id, first.degradation)}
        if all(there.get(result.turn_index) == result for result in results):
            already: Future[None] = Future()
            already.set_result(None)
            return already
        free = all(result.turn_index not in there for result in results)
        if not free or not self.holds(epoch, first.session_id, first.degradation):
            self.refused += len(results)
            return None
        return self.commit(*results, session=session, position=position)

    def close(self) -> None:
        """Let go of the files."""
        self._base.close()
        super().close()

    def __enter__(self) -> ShardStore:
        return self

    def _epoch(self, key: str) -> int:
        if key not in self._epochs:
            self._epochs[key] = self.meta(key) or 0
        return self._epochs[key]

    def _failed(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        return StoreError(
            f"{self.folder}: writing failed ({error}). What was committed is kept; make room or "
            f"mend the disk, then `mmrag resume {self._run}`."
        )


@contextlib.contextmanager
def copy_shards_while_written(run: RunStore) -> Generator[Callable[[], int]]:
    """Copy what a run's shards commit while they are written; each call says how many turns. In the
    end, when nobody writes them any more, the rest is taken in and they are removed."""
    with contextlib.ExitStack() as files:
        shards = [
            files.enter_context(contextlib.closing(NewRowReader(folder)))
            for folder in shard_folders(run.folder)
        ]

        def gather() -> int:
            return sum(run.take_in(shard)["turns"] for shard in shards)

        try:
            yield gather
        except BaseException:
            with contextlib.suppress(MmragError), taking_abandoned_shards(run.folder):
                gather()  # else whoever opens the run next does it
            raise
        with taking_abandoned_shards(run.folder):
            gather()


def _key(session_id: str, degradation: str) -> str:
    return f"lease/{degradation}/{session_id}"
