"""A run that many machines write: what they add lies in several files until the run takes it in.

A run's `shards/` holds one store per process that keeps turns. Each conversation has its place in
one of them, and whoever holds the conversation has a lease there: a number that grows with every
lease. What comes with an older number is refused, so that a turn is committed once however often
it was asked. The run itself copies what its shards have while they are written, and takes them in
whole when it is next opened for writing: then it is one file again.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mmrag.errors import ConflictError
from simulator.store import store_schema
from simulator.store.run_lock import LOCK, RunLock

T = TypeVar("T")

FOLDER = "shards"

PATIENCE = 30.0
"""Seconds that processes of a dead driver are given to end."""

_PIECE = 2000
"""Rows that are copied in one commit at most."""

_COLUMNS = {
    "sessions": "position, session_id, degradation, record",
    "verdicts": "session_id, degradation, turn_index, judge, verdict",
    "measurements": "session_id, degradation, turn_index, judge, measure, measurement",
    "completions": "key, completion",
    "turns": "session_id, degradation, turn_index, status, result",
}
"""Table → its columns. Turns come last: one that is seen has its session and its verdict."""

_START: dict[str, int | str] = {**dict.fromkeys(_COLUMNS, 0), "completions": ""}
"""Before the first row: all are read in the order in which they came, but for what has its key
alone, which nobody looks at before the shard is whole."""


def shard_of(session_id: str, degradation: str, shards: int) -> int:
    """Which shard keeps a conversation; the same everywhere."""
    key = f"{degradation}\x00{session_id}".encode("utf-8", "surrogatepass")
    return zlib.crc32(key) % shards


def shard_folder(run: Path, name: int | str) -> Path:
    """Where a shard lies."""
    return run / FOLDER / (f"{name:03d}" if isinstance(name, int) else name)


def shard_folders(run: Path) -> list[Path]:
    """The shards that a run has now."""
    return sorted(path for path in (run / FOLDER).glob("*") if path.is_dir())


class NewRows(NamedTuple):
    """Some rows of one table, ready to be written to the run."""

    table: str
    rows: list[tuple[Any, ...]]

    def write(self, db: sqlite3.Connection) -> None:
        """Put them into the run; a row that is there already is the same row."""
        marks = ", ".join("?" * len(self.rows[0]))
        db.executemany(f"INSERT OR REPLACE INTO {self.table} VALUES ({marks})", self.rows)


class NewRowReader:
    """What is new in one shard, time after time, while another process writes it."""

    def __init__(self, folder: Path) -> None:
        self._db = store_schema.open_for_reading(folder / store_schema.FILE)
        self._seen = dict(_START)

    def new(self) -> Iterator[NewRows]:
        """All that was committed since, as it is at one moment, piece by piece."""
        self._db.execute("BEGIN")
        try:
            for table, columns in _COLUMNS.items():
                order = "key" if table == "completions" else "rowid"
                while rows := self._db.execute(
                    f"SELECT {order}, {columns} FROM {table} WHERE {order} > ? "
                    f"ORDER BY {order} LIMIT {_PIECE}",
                    (self._seen[table],),
                ).fetchall():
                    yield NewRows(table, [row[1:] for row in rows])
                    self._seen[table] = rows[-1][0]
        finally:
            self._db.execute("ROLLBACK")  # nothing was written

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


@contextlib.contextmanager
def taking_abandoned_shards(run: Path) -> Generator[list[Path]]:
    """The shards that are left, with nobody else at them; then they are removed."""
    gone = run / f".{FOLDER}"
    shutil.rmtree(gone, ignore_errors=True)  # of one who was killed while removing
    folders, locks = shard_folders(run), list[RunLock]()
    try:
        locks.extend(_lock(folder) for folder in folders)
        yield [path for path in folders if (path / store_schema.FILE).is_file()]
        if folders:
            gone.mkdir()
        for folder in folders:
            folder.rename(gone / folder.name)  # at once: half a shard would look like a loss
    finally:
        for lock in locks:
            lock.release()
    shutil.rmtree(gone, ignore_errors=True)
    with contextlib.suppress(OSError):  # there is none, or somebody has begun another
        (run / FOLDER).rmdir()


def retry_until_free(attempt: Callable[[], T]) -> T:
    """What an attempt opens once processes that are still ending have let go of it.

    Raises its `ConflictError` where they have not within `PATIENCE`.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except ConflictError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _lock(folder: Path) -> RunLock:
    try:
        return retry_until_free(lambda: RunLock(folder))
    except ConflictError as error:
        raise ConflictError(
            f"{folder / LOCK}: processes of an earlier driver are still at work on this run. Wait "
            "for them, or stop them (`ray stop` on the machines that have them), then call again."
        ) from error
