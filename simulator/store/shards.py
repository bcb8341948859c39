"""A run that many machines write: its turns lie in several files until the run takes them in.

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
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import ConflictError
from simulator.store import store_schema
from simulator.store.run_lock import LOCK, RunLock

FOLDER = "shards"

PATIENCE = 30.0
"""Seconds that processes of a dead driver are given to end."""

_PIECE = 2000
"""Rows that are copied in one commit at most."""

_COLUMNS = {
    "sessions": "position, session_id, degradation, record",
    "verdicts": "session_id, degradation, turn_index, judge, verdict",
    "turns": "session_id, degradation, turn_index, status, result",
}
"""Table → its columns. Turns come last: one that is seen has its session and its verdict."""


def shard_of(session_id: str, degradation: str, shards: int) -> int:
    """Which shard keeps a conversation; the same everywhere."""
    key = f"{degradation}\x00{session_id}".encode("utf-8", "surrogatepass")
    return zlib.crc32(key) % shards


def shard_folder(run: Path, number: int) -> Path:
    """Where a shard lies."""
    return run / FOLDER / f"{number:03d}"


def shard_folders(run: Path) -> list[Path]:
    """The shards that a run has now."""
    return sorted(path for path in (run / FOLDER).glob("[0-9]*") if path.is_dir())


class Rows(NamedTuple):
    """Some rows of one table, ready to be written to the run."""

    table: str
    rows: list[tuple[Any, ...]]

    def write(self, db: sqlite3.Connection) -> None:
        """Put them into the run; a row that is there already is the same row."""
        marks = ", ".join("?" * len(self.rows[0]))
        db.executemany(f"INSERT OR REPLACE INTO {self.table} VALUES ({marks})", self.rows)


class ShardRows:
    """What is new in one shard, time after time, while another process writes it."""

    def __init__(self, folder: Path) -> None:
        self._db = store_schema.open_for_reading(folder / store_schema.FILE)
        self._seen = dict.fromkeys(_COLUMNS, 0)

    def new(self) -> Iterator[Rows]:
        """All that was committed since, as it is at one moment, piece by piece."""
        self._db.execute("BEGIN")
        try:
            for table, columns in _COLUMNS.items():
                while rows := self._db.execute(
                    f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? "
                    f"ORDER BY rowid LIMIT {_PIECE}",
                    (self._seen[table],),
                ).fetchall():
                    yield Rows(table, [row[1:] for row in rows])
                    self._seen[table] = rows[-1][0]
        finally:
            self._db.execute("ROLLBACK")  # nothing was written

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


@contextlib.contextmanager
def deserted(run: Path) -> Generator[list[Path]]:
    """The shards that a dead driver left, with nobody else at them; then they are removed."""
    gone = run / f".{FOLDER}"
    shutil.rmtree(gone, ignore_errors=True)  # of one who was killed while removing
    folders = [path for path in shard_folders(run) if (path / store_schema.FILE).is_file()]
    locks: list[RunLock] = []
    try:
        locks.extend(_lock(folder) for folder in folders)
        yield folders
        if (run / FOLDER).is_dir():
            (run / FOLDER).rename(gone)  # at once: half a shard would look like a loss
    finally:
        for lock in locks:
            lock.release()
    shutil.rmtree(gone, ignore_errors=True)


def _lock(folder: Path) -> RunLock:
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return RunLock(folder)
        except ConflictError as error:
            if time.monotonic() > patience:
                raise ConflictError(
                    f"{folder / LOCK}: processes of an earlier driver are still at work on this "
                    "run. Stop them (`ray stop` on the machines that have them), then call again."
                ) from error
            time.sleep(0.1)
