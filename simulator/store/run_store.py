"""The run store: everything that happened, in one folder, one durable commit per turn.

A run is a folder: `run.sqlite` (WAL) and `images/` (pictures and sounds, each once, by its hash).
There is one writer, held by a lock; any number of readers may look on while it writes. Turns of
different conversations that finish together share one commit (group commit), and a turn counts as
done only after that commit is on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from mmrag.errors import ImageError, MmragError, StoreError, UsageError
from mmrag.files.atomic import write_all
from mmrag.files.images import LazyImage
from mmrag.metrics.cases import Measurement
from mmrag.protocols import Completion
from mmrag.records import (
    Capture,
    Session,
    Status,
    TurnResult,
    Verdict,
    decode_as,
    encode,
    reply_status,
)
from simulator.store import store_schema, tally
from simulator.store.run_lock import Moved, RunLock
from simulator.store.shard_files import ShardRows, deserted

T = TypeVar("T")

_PAGE = 500  # rows that a list takes at a time
_BATCH = 256  # turns in one transaction at most, so that a reader never waits long


class Changes(NamedTuple):
    """A page of what `RunReader.changes_since` found."""

    sessions: list[tuple[int, str, str, bytes]]
    """Position, session id, degradation, JSON of the session."""
    marks: dict[tuple[str, str], list[str]]
    """All turns' outcomes (or statuses) of every conversation that gained or changed one."""
    session_row: int
    turn_row: int


_WEIGHED = ("value", "weight")


class RunReader:
    """Read a run, finished or not. Opens without a lock and never writes.

    Old schema versions open too: they are read through an in-memory copy brought up to date.
    """

    def __init__(self, folder: str | Path) -> None:
        self._open(folder, checked=False)

    def _open(self, folder: str | Path, *, checked: bool) -> None:
        self.folder = Path(folder).absolute()  # an agent may change the working directory
        path = self.folder / store_schema.FILE
        if not path.is_file():
            raise StoreError(
                f"{self.folder} is no run (there is no {store_schema.FILE} in it). "
                "Give the folder that `mmrag run --out` wrote."
            )
        self._db = store_schema.open_for_reading(path, checked=checked)
        self._db_lock = threading.Lock()
        self.images = ImageFolder(self.folder / "images")

    def meta(self, key: str) -> Any:
        """A value of the run's own record (`config`, `provenance`, `judge`, ...), or None."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return _record(Any, rows[0][0]) if rows else None

    def turn_counts(self) -> dict[str, int]:
        """Status → number of turns."""
        return dict(
            self._rows("SELECT status, COUNT(*) FROM turns GROUP BY status ORDER BY status")
        )

    def reply_count(self, *, to_judge: bool = True) -> int:
        """Number of turns that have a reply; `to_judge`: and a reference to judge it by."""
        return sum(self._reply_counts(to_judge).values())

    def _reply_counts(self, to_judge: bool) -> dict[tuple[str, str], int]:
        rows = self._rows(
            "SELECT session_id, degradation, COUNT(*) FROM turns "
            "WHERE json_extract(CAST(result AS TEXT), '$.reply') IS NOT NULL "
            + f"AND status != '{Status.DATA_ERROR}' " * to_judge
            + "GROUP BY 1, 2"
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def faults_of_data(self) -> int:
        """Number of turns lost to the data itself, and not to a server that had the picture."""
        return self._rows(
            f"SELECT COUNT(*) FROM turns t WHERE {_FAILED} AND status = '{Status.DATA_ERROR}' AND "
            "COALESCE(json_extract(CAST(result AS TEXT), '$.error'), '') NOT LIKE 'http%://%'"
        )[0][0]

    def unusable_sessions(self) -> tuple[int, int]:
        """(sessions of which no turn could be asked because of their data, sessions)."""
        lost = (
            f"MIN(status = '{Status.DATA_ERROR}' AND "
            "json_extract(CAST(result AS TEXT), '$.reply') IS NULL)"
        )
        return self._rows(
            f"SELECT TOTAL(lost), COUNT(*) FROM (SELECT {lost} AS lost FROM turns "
            "GROUP BY session_id)"
        )[0]

    def first_failure(self) -> TurnResult | None:
        """The failed turn that was written first, to tell what went wrong."""
        rows = self._rows(f"{_TURNS} WHERE {_FAILED} ORDER BY t.rowid LIMIT 1")
        return _join(*rows[0]) if rows else None

    def failure_counts(self) -> dict[str, int]:
        """Status → number of turns that failed, and by no fault that the run was to have."""
        return dict(
            self._rows(
                f"SELECT t.status, COUNT(*) FROM turns t WHERE {_FAILED} GROUP BY 1 ORDER BY 1"
            )
        )

    def felt_by_turn(self, condition: str) -> list[tuple[str, int, bool]]:
        """(session id, turn, whether it felt a fault) of every turn asked under a condition."""
        felt = "COALESCE(json_extract(CAST(result AS TEXT), '$.fault'), '') != ''"
        return self._rows(
            f"SELECT session_id, turn_index, {felt} FROM turns WHERE degradation = ? "
            f"AND status != '{Status.SKIPPED_AFTER_STOP}'",
            condition,
        )

    def heard_by_condition(self) -> list[tuple[str, int, int]]:
        """(condition, questions said aloud, those of which nothing was heard), where any were."""
        heard = "json_extract(CAST(result AS TEXT), '$.heard.text')"
        return self._rows(
            f"SELECT degradation, COUNT(*), TOTAL(TRIM(COALESCE({heard}, '')) = '') FROM turns "
            f"WHERE {heard} IS NOT NULL OR status = '{Status.EAR_ERROR}' GROUP BY 1 ORDER BY 1"
        )

    def session_keys(self) -> list[tuple[str, str]]:
        """(session id, degradation) of every session that has begun, in the data set's order."""
        return self._rows(
            "SELECT session_id, degradation FROM sessions ORDER BY position, degradation"
        )

    def is_empty(self) -> bool:
        """Whether no conversation has begun."""
        return not self._rows("SELECT 1 FROM sessions LIMIT 1")

    def conversation_sizes(self) -> Iterator[tuple[int, int]]:
        """(turns planned, turns there) of every conversation that has begun."""
        with self._reading() as db:
            yield from db.execute(
                "SELECT json_array_length(CAST(s.record AS TEXT), '$.turns'), "
                "(SELECT COUNT(*) FROM turns t WHERE t.session_id = s.session_id "
                "AND t.degradation = s.degradation) "
                "FROM sessions s"
            )

    def voices(self) -> list[str]:
        """Whose words the conversations are in, where the data is a world; see `whose`."""
        voice = "json_extract(CAST(record AS TEXT), '$.extra.voice')"
        rows = self._rows(f"SELECT DISTINCT {voice} FROM sessions WHERE {voice} <> '' ORDER BY 1")
        return [str(row[0]) for row in rows]

    def conditions(self) -> list[str]:
        """Every degradation that something was run under."""
        return [r[0] for r in self._rows("SELECT DISTINCT degradation FROM sessions ORDER BY 1")]

    def degradations_of(self, session_id: str) -> list[str]:
        """Under which degradations a session was run."""
        rows = self._rows(
            "SELECT degradation FROM sessions WHERE session_id = ? ORDER BY degradation", session_id
        )
        return [row[0] for row in rows]

    def session(self, session_id: str, degradation: str = "clean") -> Session:
        """One session as the agent saw it."""
        rows = self._rows(
            "SELECT record FROM sessions WHERE session_id = ? AND degradation = ?",
            session_id,
            degradation,
        )
        if not rows:
            others = ", ".join(self.degradations_of(session_id))
            cure = f"it was run under {others}" if others else "`mmrag show RUN` lists those it has"
            raise StoreError(
                f"{self.folder}: no session {session_id!r} under {degradation!r}; {cure}."
            )
        return _record(Session, rows[0][0], images=self.images.get)

    def begun(self, session_id: str, degradation: str) -> Session | None:
        """A session whose picture was recorded when it began, so that it can be gone on with."""
        rows = self._rows(
            "SELECT record FROM sessions WHERE session_id = ? AND degradation = ?",
            session_id,
            degradation,
        )
        if not rows:
            return None
        session = _record(Session, rows[0][0], images=self.images.get)
        if session.capture is None:
            return session
        try:
            return session if session.capture.image.data else None
        except MmragError:  # gone or changed since
            return None

    def sessions(self) -> Iterator[Session]:
        """All sessions, streamed in the data set's order."""
        for record in self._stream(
            "SELECT record FROM sessions WHERE (position, degradation) > (?, ?) "
            "ORDER BY position, degradation LIMIT 200",
            "position, degradation",
            (-1, ""),
        ):
            yield _record(Session, record, images=self.images.get)

    def turns(self, session_id: str, degradation: str = "clean") -> list[TurnResult]:
        """The turns of one session with the verdicts of the current judge."""
        rows = self._rows(
            _TURNS + "WHERE t.session_id = ? AND t.degradation = ? ORDER BY t.turn_index",
            session_id,
            degradation,
        )
        return [_join(*row) for row in rows]

    def results(self) -> Iterator[TurnResult]:
        """All turns, streamed in the data set's order, with the current judge's verdicts."""
        for session_id, degradation in self.session_keys():
            yield from self.turns(session_id, degradation)

    def raw(self) -> Iterator[tuple[bytes, list[tuple[bytes, str, bytes | None]]]]:
        """Every session's record with its turns' (result, status, verdict), as they lie on disk.

        Streamed in the data set's order, for those who read a quarter of a million turns and need
        a few fields of each: they decode only these.
        """
        start = (-1, "")
        while sessions := self._rows(
            "SELECT position, degradation, session_id, record FROM sessions "
            "WHERE (position, degradation) > (?, ?) ORDER BY position, degradation LIMIT 200",
            *start,
        ):
            for _, degradation, session_id, record in sessions:
                where = "WHERE t.session_id = ? AND t.degradation = ? ORDER BY t.turn_index"
                yield record, self._rows(_TURNS + where, session_id, degradation)
            start = sessions[-1][:2]

    @staticmethod
    def decoded(part: msgspec.json.Decoder[T], data: bytes) -> T:
        """A cell of `raw` as the part of a record that is needed of it."""
        try:
            return part.decode(data)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _damaged(part.type, error) from error

    def verdicts(self, session_id: str, degradation: str, turn_index: int) -> dict[str, Verdict]:
        """Every judge's verdict on one turn, by judge."""
        rows = self._rows(
            "SELECT judge, verdict FROM verdicts "
            "WHERE session_id = ? AND degradation = ? AND turn_index = ? ORDER BY judge",
            session_id,
            degradation,
            turn_index,
        )
        return {judge: _record(Verdict, data) for judge, data in rows}

    def every_row(self) -> Iterator[tuple[Any, ...]]:
        """All that the run holds, each row after its table's name, in a fixed order."""
        with self._reading() as db:
            yield from tally.in_order(db)

    def measurements(
        self, session_id: str, degradation: str = "clean"
    ) -> dict[int, list[Measurement]]:
        """What measures say of the turns of one session, by turn and in the order of the names."""
        found: dict[int, list[Measurement]] = {}
        for turn, data in self._measured(
            "SELECT turn_index, measurement FROM measurements WHERE session_id = ? "
            "AND degradation = ? ORDER BY turn_index, measure, judge",
            session_id,
            degradation,
        ):
            found.setdefault(turn, []).append(_record(Measurement, data))
        return found

    def measured_by(self) -> list[tuple[str, str, int]]:
        """(measure, judge, turns) of everything that was measured."""
        return self._measured(
            "SELECT measure, judge, COUNT(*) FROM measurements GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def measured_means(self) -> dict[tuple[str, str], dict[str, float]]:
        """Conversation → measure → mean over its turns, for lists; judges are not told apart."""
        value, weight = (f"json_extract(CAST(measurement AS TEXT), '$.{n}')" for n in _WEIGHED)
        weight = f"COALESCE({weight}, 1.0)"
        found: dict[tuple[str, str], dict[str, float]] = {}
        for session_id, degradation, measure, mean in self._measured(
            f"SELECT session_id, degradation, measure, SUM({value} * {weight}) / SUM({weight}) "
            f"FROM measurements WHERE {value} IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ):
            if mean is not None:
                found.setdefault((session_id, degradation), {})[measure] = mean
        return found

    def completion_keys(self) -> set[str]:
        """The requests of measures that models answered."""
        return {row[0] for row in self._measured("SELECT key FROM completions")}

    def completion(self, key: str) -> Completion:
        """What a model said to one of these requests."""
        rows = self._measured("SELECT completion FROM completions WHERE key = ?", key)
        return _record(Completion, rows[0][0])

    def completion_cost(self) -> float:
        """What the models of measures have cost, in US dollars."""
        cost = "json_extract(CAST(completion AS TEXT), '$.usage.cost')"
        rows = self._measured(f"SELECT TOTAL({cost}) FROM completions")
        return rows[0][0] if rows else 0.0

    def _measured(self, sql: str, *values: object) -> list[Any]:
        """Rows of the tables of measures, which a run of an older schema lacks until written."""
        there = "SELECT 1 FROM sqlite_master WHERE name = 'measurements'"
        return self._rows(sql, *values) if self._rows(there) else []

    def changes_since(self, session_row: int = 0, turn_row: int = 0) -> Iterator[Changes]:
        """What was written after two row numbers, in pages; start at 0, go on with the last's.

        For lists over many conversations: the sessions' JSON is left undecoded, a turn is reduced
        to its outcome, or its status where it has none, and no more than a page is in memory.
        """
        # asked first: a session is there before its turns, so none is told of without it
        last: int = self._rows("SELECT COALESCE(MAX(rowid), 0) FROM turns")[0][0]
        seen = session_row
        while sessions := self._rows(
            "SELECT rowid, position, session_id, degradation, record FROM sessions "
            f"WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}",
            seen,
        ):
            seen, before = sessions[-1][0], seen
            marks = self._marks(_OF_SESSIONS, before, seen)
            yield Changes([tuple(row[1:]) for row in sessions], marks, seen, last)
        if session_row:  # else every turn was told of with its session
            for row in range(turn_row, last, _PAGE):
                marks = self._marks(_OF_TURNS, row, min(row + _PAGE, last))
                yield Changes([], marks, seen, last)
        yield Changes([], {}, seen, last)

    def _marks(self, conversations: str, *rows: int) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        same: dict[str, str] = {}  # a few words, in millions of turns
        for session_id, degradation, mark in self._rows(_MARKS.format(conversations), *rows):
            found.setdefault((session_id, degradation), []).append(same.setdefault(mark, mark))
        return found

    @property
    def edition(self) -> int:
        """Another number as soon as anybody has committed anything to the run."""
        return self._rows("PRAGMA data_version")[0][0]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with self._reading() as db:
            return db.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        try:
            with self._db_lock:
                yield self._db
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.folder / store_schema.FILE}: cannot be read ({error})."
            ) from error

    def _stream(self, sql: str, key: str, start: tuple[Any, ...]) -> Iterator[bytes]:
        paged = sql.replace("SELECT record", f"SELECT {key}, record", 1)
        while rows := self._rows(paged, *start):
            for row in rows:
                yield row[-1]
            start = rows[-1][:-1]


class RunStore(RunReader):
    """The one writer of a run. Use as a context manager; a second writer is refused."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        try:
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
        except (OSError, Moved) as error:
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
                f"AND turn_index = ? AND ? = {_CURRENT}",
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
            for row, result, status, verdict in db.execute(f"SELECT t.rowid, {_JUDGED}"):
                bare = _join(result, status, verdict)
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

    def take_in(self, shard: ShardRows) -> Counter[str]:
        """Copy what is new in a shard of this run. Returns the number of rows by table."""
        found = Counter[str]()
        for rows in shard.new():
            self._submit(rows.write).result()
            found[rows.table] += len(rows.rows)
        return found

    def _take_in_shards(self) -> None:
        """What many machines left: a run that somebody writes is one file."""
        with deserted(self.folder) as folders:
            for folder in folders:
                with contextlib.closing(ShardRows(folder)) as rows:
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
        except Moved as error:
            self._failure = error
        if isinstance(self._failure, Moved):
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


class ImageFolder:
    """Pictures by content hash, each kept once, written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where a picture lies. Only a hash is accepted, so no name can lead outside."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise StoreError(f"{digest!r} is no picture of this run.")
        return self.folder / digest[:2] / digest

    def get(self, digest: str) -> LazyImage:
        """A picture of this run, loaded when needed."""
        if not digest:
            return LazyImage(_no_picture, name="picture that was never read", sha256="")
        return LazyImage(lambda: self._read(digest), name=str(self.path(digest)), sha256=digest)

    def _read(self, digest: str) -> bytes:
        path = self.path(digest)
        data = LazyImage.from_path(path).data
        if hashlib.sha256(data).hexdigest() != digest:
            raise ImageError(
                f"{path}: not the picture that the run was made with; restore it from a copy."
            )
        return data

    def put(self, pictures: Mapping[str, bytes]) -> None:
        """Keep pictures by their hash, unless they are here already."""
        new: dict[Path, bytes] = {}
        for digest, data in pictures.items():
            path = self.path(digest)
            if path.exists() and path.read_bytes() == data:
                continue
            if not path.parent.is_dir():
                self.folder.mkdir(exist_ok=True)  # not its parents: a moved run is not made anew
                path.parent.mkdir(exist_ok=True)
            new[path] = data
        write_all(new)


class _Job:
    __slots__ = ("done", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.work = work
        self.done: Future[None] = Future()
        # A conversation may be cancelled while its turn waits here; it is written all the same.
        self.done.set_running_or_notify_cancel()


_BEGIN = "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)"

_FAILED = (
    f"t.status IN ({', '.join(repr(str(status)) for status in Status if status.is_failure)}) "
    "AND COALESCE(json_extract(CAST(t.result AS TEXT), '$.fault'), '') = ''"
)
"""Turns that failed, and by no fault that the run was to have."""

_CURRENT = "(SELECT json_extract(CAST(value AS TEXT), '$') FROM meta WHERE key = 'judge')"

_JUDGED = (
    "t.result, t.status, v.verdict FROM turns t LEFT JOIN verdicts v "
    "ON v.session_id = t.session_id AND v.degradation = t.degradation "
    f"AND v.turn_index = t.turn_index AND v.judge = {_CURRENT} "
)

_TURNS = f"SELECT {_JUDGED}"

_LAST = b'"step":true}'
_STEP = f"substr(t.result, -{len(_LAST)}) = x'{_LAST.hex()}'"
"""Whether a live wearer went on about the same goal: the record's last field, read without it."""

_MARKS = (
    "SELECT t.session_id, t.degradation, "
    "COALESCE(json_extract(CAST(v.verdict AS TEXT), '$.outcome'), t.status) "
    "FROM turns t LEFT JOIN verdicts v ON v.session_id = t.session_id "
    "AND v.degradation = t.degradation AND v.turn_index = t.turn_index "
    f"AND v.judge = {_CURRENT} "
    "WHERE (t.session_id, t.degradation) IN ({}) "
    f"AND NOT {_STEP} "
    "ORDER BY t.session_id, t.degradation, t.turn_index"
)

_OF_SESSIONS = "SELECT session_id, degradation FROM sessions WHERE rowid > ? AND rowid <= ?"
_OF_TURNS = "SELECT DISTINCT session_id, degradation FROM turns WHERE rowid > ? AND rowid <= ?"


def _split(result: TurnResult) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    key = (result.session_id, result.degradation, result.turn_index)
    bare = msgspec.structs.replace(result, verdict=None)
    turn = (*key, str(result.status), encode(bare))
    if result.verdict is None:
        return turn, None
    return turn, (*key, result.verdict.judge, encode(result.verdict))


def _join(result: bytes, status: str, verdict: bytes | None) -> TurnResult:
    """The row of a turn with the current judge's verdict, which may have changed its status."""
    bare = _record(TurnResult, result)
    now = _record(Status, msgspec.json.encode(status))
    found = None if verdict is None else _record(Verdict, verdict)
    error = bare.error if found is None else found.reason
    return msgspec.structs.replace(
        bare, status=now, verdict=found, error=error if now.is_failure else None
    )


def without_picture(session: Session) -> Session:
    """A session whose picture cannot be had, as it can be written down all the same."""
    if session.capture is None:
        return session
    capture = msgspec.structs.replace(session.capture, image=LazyImage(bytes, sha256=""))
    return msgspec.structs.replace(session, capture=capture)


def _never_close(db: sqlite3.Connection) -> None:
    """Keep a connection until the process ends, and past the end of the interpreter."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))


def _record(kind: Any, data: bytes, **more: Any) -> Any:
    """A cell as the record that it should be."""
    try:
        return decode_as(kind, data, **more)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(kind, error) from error


def _damaged(kind: Any, error: Exception) -> StoreError:
    name = getattr(kind, "__name__", "value")
    return StoreError(
        f"a {name} that the run keeps cannot be read ({str(error)[:300]}): run.sqlite is "
        "damaged. Restore it from a copy, or run again."
    )


def _no_picture() -> bytes:
    raise StoreError("This session's picture could not be read when the run was made.")
