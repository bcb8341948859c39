"""A run as one of several machines has it that judge or measure it together.

Each reads its n-th of the conversations from the run, which nobody writes meanwhile, and writes
what it adds beside it, into a store of its own. Whoever opens the run for writing takes all in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from mmrag.errors import ConflictError, StoreError
from mmrag.files.atomic import is_locked
from mmrag.files.shards import Shard
from mmrag.metrics.cases import Measurement
from mmrag.protocols import Completion
from mmrag.records import Session, TurnResult, Verdict
from simulator.store.run_lock import LOCK
from simulator.store.run_store import RunReader, RunStore
from simulator.store.shard_files import shard_folder, shard_of


class RunShard(RunReader):
    """Reads its part of a run and what it added to it. Use as a context manager."""

    def __init__(self, run: str | Path, shard: Shard, work: str) -> None:
        super().__init__(run)
        self._shard = shard
        if is_locked(self.folder / LOCK):
            raise ConflictError(
                f"{self.folder}: another process is writing this run. Shards are for a run that "
                "nobody writes: wait for it, or stop it."
            )
        self._own = _Added(shard_folder(self.folder, f"{work}-{shard.name}"))
        self._added = self._own.completion_keys()

    def sessions(self) -> Iterator[Session]:
        """Those of the shard, in the data set's order."""
        return (s for s in super().sessions() if self._has(s.id, s.degradation))

    def reply_count(self, *, to_judge: bool = True) -> int:
        """As of the whole run, of the shard's turns."""
        return sum(n for key, n in self._reply_counts(to_judge).items() if self._has(*key))

    def measurements(
        self, session_id: str, degradation: str = "clean"
    ) -> dict[int, list[Measurement]]:
        """What the run has, and what was added; the newer of the same comes last."""
        found = super().measurements(session_id, degradation)
        for turn, more in self._own.measurements(session_id, degradation).items():
            found[turn] = [*found.get(turn, []), *more]
        return found

    def verdicts(self, session_id: str, degradation: str, turn_index: int) -> dict[str, Verdict]:
        """What the run has, and what was added."""
        key = session_id, degradation, turn_index
        return super().verdicts(*key) | self._own.verdicts(*key)

    def completion_keys(self) -> set[str]:
        """The requests of measures that models answered, here or in the run."""
        return super().completion_keys() | self._own.completion_keys()

    def completion(self, key: str) -> Completion:
        """What a model said to one of these requests."""
        return self._own.completion(key) if key in self._added else super().completion(key)

    def completion_cost(self) -> float:
        """What the models of measures have cost in the run and here, in US dollars."""
        return super().completion_cost() + self._own.completion_cost()

    def add_verdict(self, result: TurnResult, verdict: Verdict) -> Future[None]:
        """Record a judge's verdict on a reply."""
        return self._own.add_verdict(result, verdict)

    def add_measurements(
        self, result: TurnResult, measurements: Sequence[Measurement]
    ) -> Future[None]:
        """Record what measures say of a reply."""
        return self._own.add_measurements(result, measurements)

    def keep_completion(self, key: str, completion: Completion) -> Future[None]:
        """Record what a model said."""
        self._added.add(key)
        return self._own.keep_completion(key, completion)

    def close(self) -> None:
        """Let go of both files; what was added stays beside the run."""
        self._own.close()
        super().close()

    def __enter__(self) -> RunShard:
        return self

    def _has(self, session_id: str, degradation: str) -> bool:
        return self._shard.has(shard_of(session_id, degradation, self._shard.of))


class _Added(RunStore):
    """What one machine adds; nothing that could be resumed as a run."""

    def _failed(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        return StoreError(
            f"{self.folder}: writing failed ({error}). What was committed is kept; make room or "
            "mend the disk, then call the same command again."
        )
