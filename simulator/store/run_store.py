"""The run store: everything that happened, in one folder, one durable commit per turn.

A run is a folder: `run.sqlite` (WAL) and `images/` (pictures and sounds, each once, by its hash).
There is one writer, held by a lock; any number of readers may look on while it writes. Turns of
different conversations that finish together share one commit (group commit), and a turn counts as
done only after that commit is on disk.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import StoreError, UsageError
from mmrag.metrics.measure_records import Measurement
from mmrag.protocols import Completion
from mmrag.records import Capture, Session, Status, TurnResult, Verdict, encode, reply_status
from simulator.store import store_schema
from simulator.store.run_lock import LOCK, RunFolderMoved, RunLock
from simulator.store.run_pictures import without_picture
from simulator.store.run_reader import CURRENT, JUDGED, RunReader, joined_turn
from simulator.store.shard_files import NewRowReader, taking_abandoned_shards

_BATCH = 256  # turns in one transaction at most, so that a reader never waits long


def refuse_foreign_folder(folder: Path) -> None:
    """A run begins in a folder of its own: nobody wants one among their photographs."""
    if not folder.is_dir() or (folder / store_schema.FILE).exists():
        return
    others = {one.name for one in folder.iterdir() if not one.name.startswith(".")} - {LOCK}
    if others:
        raise UsageError(
            f"{folder} contains {min(others)!r} but is not a run; choose a new folder or an "
            "existing run with --out."
        )


class RunStore(RunReader):
    """The one writer of a run. Use as a context manager; a second writer is refused."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        try:
            refuse_foreign_folder(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = RunLock(self.folder)
        except OSError as error:
            raise StoreError(
                f"{self.folder}: cannot be written ({error.strerror}). Choose a folder you may "
                "write to, on a disk that knows file locks, with --out."
            ) from error
        try:
            self._ledger = store_schema.open_for_writing(self.folder / store_schema.FILE)
            self._open(folder, checked=True)
        except BaseException:
            self._lock.release()
            raise
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._failure: StoreError | None = None
        self._thread = threading.Thread(target=self._write_loop, name="run-store", daemon=True)
        self._lock.on_fork = self._forget
        self._thread.start()
        try:
            self._take_in_shards()
        except BaseException:
            self.close()
            raise

    def set_meta(self, key: str, value: Any) -> None:
        """Record a fact about the run itself. Waits for the commit."""
        self.set_all_meta({key: value})

    def set_all_meta(self, facts: Mapping[str, Any]) -> None:
        """Record facts that belong together, all in one commit. Waits for it."""
        self._put_meta(facts).result()

    def _put_meta(self, facts: Mapping[str, Any]) -> Future[None]:
        for key, value in facts.items():
            if isinstance(value, str) and "\0" in value:
                raise UsageError(f"{key} {value!r}: name it with no NUL, at which SQLite ends.")
        rows = [(key, msgspec.json.encode(value)) for key, value in facts.items()]
        return self._submit(
            lambda db: db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
        )

    def begin(self, position: int, session: Session) -> Future[None]:
        """Record a session as the agent is going to see it, its pictures included.

        They are on disk before this returns.
        """
        self.keep_pictures(session)
        return self.begin_kept(position, session)

    def keep_pictures(self, *sessions: Session) -> None:
        """Have the pictures of sessions on disk when this returns.

        The calling thread writes them, so that many sessions can begin without holding up the
        writer. Where many cannot be written at once, each can be tried alone.
        """
        captures = (
            capture
            for session in sessions
            for capture in (session.capture, *(turn.capture for turn in session.turns))
        )
        self._put_pictures(captures, ends=len(sessions) == 1)

    def keep_sounds(self, sounds: Mapping[str, bytes]) -> None:
        """Have sounds on disk, beside the pictures, when this returns."""
        self._put_files(sounds)

    def begin_kept(self, position: int, session: Session) -> Future[None]:
        """Record a session whose pictures are on disk already."""
        row = (position, session.id, session.degradation, encode(session))
        return self._submit(lambda db: db.execute(_BEGIN, row))

    def _put_pictures(self, captures: Iterable[Capture | None], *, ends: bool = True) -> None:
        images = [capture.image for capture in captures if capture is not None]
        self._put_files({image.sha256: image.data for image in images}, ends=ends)

    def _put_files(self, files: Mapping[str, bytes], *, ends: bool = True) -> None:
        """`ends`: what cannot be written ends the run."""
        try:
            self._lock.check_place()
            self.images.put(files)
        except (OSError, RunFolderMoved) as error:
            failure = self._failed(error)
            if ends:
                self._failure = failure
            raise failure from error

    def begin_broken(self, position: int, session: Session) -> Future[None]:
        """Record a session whose picture could not be had, so that it shows in the run."""
        return self.begin_kept(position, without_picture(session))

    def commit(
        self, *results: TurnResult, session: Session | None = None, position: int | None = None
    ) -> Future[None]:
        """Commit turns together. The future is done when they are on disk.

        `session` is the session as it stands now, where a wearer says what comes next: both are
        on disk or neither is. Its new pictures are there before this returns. `position` is given
        where the session may have begun in another file; its row then comes last, for who follows.
        """
        rows = [_split(result) for result in results]
        if session is not None:
            new = {result.turn_index for result in results} | {len(session.turns) - 1}
            self._put_pictures(turn.capture for turn in session.turns if turn.index in new)
        record = None if session is None else encode(session)

        def job(db: sqlite3.Connection) -> None:
            if session is not None and position is not None:
                db.execute(_BEGIN, (position, session.id, session.degradation, record))
            elif session is not None:
                db.execute(
                    "UPDATE sessions SET record = ? WHERE session_id = ? AND degradation = ?",
                    (record, session.id, session.degradation),
                )
            for turn, verdict in rows:
                db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?)", turn)
                if verdict is not None:
                    db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", verdict)

        return self._submit(job)

    def add_verdict(self, result: TurnResult, verdict: Verdict) -> Future[None]:
        """Record a judge's verdict on a reply that is there already.

        A turn's status speaks of the current judge, so another judge's verdict leaves it as it is.
        """
        assert result.reply is not None
        key = (result.session_id, result.degradation, result.turn_index)
        row = (*key, verdict.judge, encode(verdict))
        status = str(reply_status(result.reply, verdict))

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", row)
            db.execute(
                "UPDATE turns SET status = ? WHERE session_id = ? AND degradation = ? "
                f"AND turn_index = ? AND ? = {CURRENT}",
                (status, *key, verdict.judge),
            )

        return self._submit(job)

    def add_measurements(
        self, result: TurnResult, measurements: Sequence[Measurement]
    ) -> Future[None]:
        """Record what measures say of a reply; a row that was there is replaced."""
        key = (result.session_id, result.degradation, result.turn_index)
        rows = [(*key, m.judge, m.measure, encode(m)) for m in measurements]
        return self._submit(
            lambda db: db.executemany(
                "INSERT OR REPLACE INTO measurements VALUES (?, ?, ?, ?, ?, ?)", rows
            )
        )

    def keep_completion(self, key: str, completion: Completion) -> Future[None]:
        """Record what a model said, so that nobody pays for it again."""
        row = (key, encode(completion))
        return self._submit(
            lambda db: db.execute("INSERT OR REPLACE INTO completions VALUES (?, ?)", row)
        )

    def make_current(self, judge_id: str) -> None:
        """From now on the run's verdicts are this judge's; every status follows, in one commit."""
        data = msgspec.json.encode(judge_id)

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('judge', ?)", (data,))
            changed: list[tuple[str, int]] = []
            for row, result, status, verdict in db.execute(f"SELECT t.rowid, {JUDGED}"):
                bare = joined_turn(result, status, verdict)
                if bare.reply is not None and bare.status is not Status.DATA_ERROR:
                    now = str(reply_status(bare.reply, bare.verdict))
                    if now != status:
                        changed.append((now, row))
            db.executemany("UPDATE turns SET status = ? WHERE rowid = ?", changed)

        self._submit(job).result()

    def forget_turns(self, session_id: str, degradation: str, from_index: int) -> None:
        """Drop the turns of a session from an index on, so that they are asked again."""
        where = "WHERE session_id = ? AND degradation = ? AND turn_index >= ?"
        values = (session_id, degradation, from_index)

        def job(db: sqlite3.Connection) -> None:
            db.execute(f"DELETE FROM turns {where}", values)
            db.execute(f"DELETE FROM verdicts {where}", values)
            db.execute(f"DELETE FROM measurements {where}", values)

        self._submit(job).result()

    def take_in(self, shard: NewRowReader) -> Counter[str]:
        """Copy what is new in a shard of this run. Returns the number of rows by table."""
        found = Counter[str]()
        for rows in shard.new():
            self._submit(rows.write).result()
            found[rows.table] += len(rows.rows)
        return found

    def _take_in_shards(self) -> None:
        """What many machines left: a run that somebody writes is one file."""
        with taking_abandoned_shards(self.folder) as folders:
            for folder in folders:
                with contextlib.closing(NewRowReader(folder)) as rows:
                    found = self.take_in(rows)
                if found["verdicts"] and not found["turns"]:  # judged again by many machines
                    self.make_current(self.meta("judge"))

    def close(self) -> None:
        """Write what is waiting, then let go of the run: one file and the pictures."""
        if not self._lock.held:  # closed before, or this is a forked child
            return
        self._queue.put(None)
        self._thread.join()
        try:
            self._lock.check_place()
        except RunFolderMoved as error:
            self._failure = error
        if isinstance(self._failure, RunFolderMoved):
            # closing deletes the -wal by its path, where another run may be by now
            _never_close(self._ledger.db)
        else:
            super().close()  # first: only the last connection can remove the -wal
            store_schema.close_after_writing(self._ledger, well=self._failure is None)
        self._lock.release()

    def _forget(self) -> None:
        """In a forked child: the run is the parent's, and SQLite bears no two of it."""
        _never_close(self._ledger.db)
        _never_close(self._db)
        self._failure = StoreError(
            f"{self.folder}: the run belongs to the process that began it, not to this child of it."
        )

    def __enter__(self) -> RunStore:
        return self

    def _submit(self, work: Callable[[sqlite3.Connection], Any]) -> Future[None]:
        if self._failure is not None:
            raise self._failure
        job = _Job(work)
        self._queue.put(job)
        return job.done

    def _write_loop(self) -> None:
        while True:
            batch = [self._queue.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < _BATCH and batch[-1] is not None:
                    batch.append(self._queue.get_nowait())
            jobs = [job for job in batch if job is not None]
            if jobs:
                self._write(jobs)
            if batch[-1] is None:
                return

    def _write(self, jobs: list[_Job]) -> None:
        try:
            if self._failure is not None:
                raise self._failure
            self._lock.check_place()
            with self._ledger.commit():  # one transaction, one fsync
                for job in jobs:
                    job.work(self._ledger.db)
        except (sqlite3.Error, OSError, StoreError) as error:
            self._failure = self._failed(error)
            for job in jobs:
                job.done.set_exception(self._failure)
        except BaseException as error:
            for job in jobs:
                job.done.set_exception(error)
        else:
            for job in jobs:
                job.done.set_result(None)

    def _failed(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        return StoreError(
            f"{self.folder}: writing failed ({error}). What was committed is kept; "
            f"make room or mend the disk, then `mmrag resume {self.folder}`."
        )


class _Job:
    __slots__ = ("done", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.work = work
        self.done: Future[None] = Future()
        # A conversation may be cancelled while its turn waits here; it is written all the same.
        self.done.set_running_or_notify_cancel()


_BEGIN = "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)"


def _split(result: TurnResult) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    key = (result.session_id, result.degradation, result.turn_index)
    bare = msgspec.structs.replace(result, verdict=None)
    turn = (*key, str(result.status), encode(bare))
    if result.verdict is None:
        return turn, None
    return turn, (*key, result.verdict.judge, encode(result.verdict))


def _never_close(db: sqlite3.Connection) -> None:
    """Keep a connection until the process ends, and past the end of the interpreter."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))
