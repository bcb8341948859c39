"""What a run's rows add up to and how many commits made them, so that no loss goes unnoticed.

SQLite notices neither a flipped bit in a row nor a `-wal` that was cut or left behind: it answers
with what is there. So every commit also writes a `Tally` into the run (commits so far, and a sum
over all rows), and beside the run a file that says how many commits are on disk. Whoever opens a
run adds its rows up again and compares both.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import zlib
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import StoreError
from mmrag.files.atomic import atomic_path, clear_unfinished

KEY = "tally"
"""Under which `meta` keeps it. The row does not count itself."""

_ROWS = {
    "meta": (("key",), "value"),
    "sessions": (("position", "session_id", "degradation"), "record"),
    "turns": (("session_id", "degradation", "turn_index", "status"), "result"),
    "verdicts": (("session_id", "degradation", "turn_index", "judge"), "verdict"),
    "measurements": (
        ("session_id", "degradation", "turn_index", "judge", "measure"), "measurement",
    ),
    "completions": (("key",), "completion"),
}  # fmt: skip
"""Table → the columns that name a row, and the one that holds what it says. An older run lacks
the last two."""

_WHOLE = 1 << 64


class Tally(msgspec.Struct):
    """How much there is in a run."""

    run: str
    """Tells this run from every other, so that their files cannot be mixed."""
    commits: int = 0
    total: str = ""
    """Sum of the marks of all rows, in any order, as hexadecimal."""
    open: bool = True
    """Somebody writes, or was killed while writing: the newest commits may lie in `-wal`."""


class CommitCount:
    """The file beside a run that says how many commits are on disk at least.

    It is there from the first commit until the run is closed, written after each commit and never
    synced: what it tells is always on disk already, so that fewer in the run means a loss.
    """

    def __init__(self, database: Path) -> None:
        self.path = Path(f"{database}-commits")
        self._file: int | None = None

    def read(self) -> tuple[str, int] | None:
        """The run's name and its number of commits; None if the run was closed."""
        try:
            words = self.path.read_bytes().split()
            return words[0].decode(), int(words[1])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, IndexError) as error:
            raise StoreError(
                f"{self.path}: damaged ({error}), so nobody can tell whether the run is whole. "
                "Restore it from a copy, or start again with another --out."
            ) from error

    def start(self, tally: Tally) -> None:
        """Put the file there, whole, before the run says that it is open."""
        clear_unfinished(self.path.parent)
        with atomic_path(self.path) as temporary:
            self._file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
            self.write(tally)

    def write(self, tally: Tally) -> None:
        """Tell of a commit that is on disk."""
        assert self._file is not None
        os.pwrite(self._file, f"{tally.run} {tally.commits:020d}\n".encode(), 0)

    def close(self, *, remove: bool) -> None:
        """Let go of the file. A run that is whole without its `-wal` needs it no longer."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if remove:
            self.path.unlink(missing_ok=True)


class TallyingConnection:
    """The one connection that writes to a run, and the tally it keeps. Triggers of that connection
    (the file itself has none) mark every row that comes or goes, whatever statement wrote it."""

    def __init__(self, db: sqlite3.Connection, count: CommitCount) -> None:
        found = read(db)
        self.tally = found or Tally(run=secrets.token_hex(8))
        self.db = db
        """Write to it within `commit` only."""
        self._count = count
        self._total = int(self.tally.total, 16) if found else add_up(db)
        db.execute("PRAGMA recursive_triggers=ON")  # a row that REPLACE removes goes, too
        db.create_function("row_came", 2, self._came)
        db.create_function("row_went", 2, self._went)
        for table in _ROWS:
            _on(db, table, "INSERT", _call("came", table, "NEW"))
            _on(db, table, "DELETE", _call("went", table, "OLD"))
            _on(db, table, "UPDATE", _call("went", table, "OLD") + _call("came", table, "NEW"))

    def start(self) -> None:
        """Say that the run is open; ends the transaction that made its tables."""
        self._count.start(self.tally)
        self._stamp(is_open=True)
        self.db.execute("COMMIT")
        self._count.write(self.tally)

    @contextlib.contextmanager
    def commit(self, *, is_open: bool = True) -> Generator[None]:
        """One transaction: one sync, and one step of the tally."""
        before = self.tally, self._total
        try:
            with self.db:
                self.db.execute("BEGIN IMMEDIATE")
                yield
                self._stamp(is_open=is_open)
        except BaseException:
            self.tally, self._total = before
            raise
        self._count.write(self.tally)

    def close(self, *, whole: bool) -> None:
        """Nothing more is committed. A run that is whole in its main file needs no count."""
        self._count.close(remove=whole)

    def _stamp(self, *, is_open: bool) -> None:
        self._total %= _WHOLE
        self.tally = Tally(self.tally.run, self.tally.commits + 1, f"{self._total:016x}", is_open)
        row = (KEY, msgspec.json.encode(self.tally))
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)

    def _came(self, name: Any, held: Any) -> None:
        self._total += _mark(name, held)

    def _went(self, name: Any, held: Any) -> None:
        self._total -= _mark(name, held)


def read(db: sqlite3.Connection) -> Tally | None:
    """The tally a run was given at its last commit."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    return msgspec.json.decode(row[0], type=Tally) if row else None


def in_order(db: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Every row that counts, after the name of its table, in the order of the rows' names."""
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, (names, held) in _ROWS.items():
        if table in there:
            columns = ", ".join(names)
            but = f"WHERE key <> '{KEY}'" if table == "meta" else ""
            for row in db.execute(
                f"SELECT {columns}, {held} FROM {table} {but} ORDER BY {columns}"
            ):
                yield (table, *row)


def add_up(db: sqlite3.Connection) -> int:
    """The sum of the marks of all rows there are."""
    total = 0
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, (names, held) in _ROWS.items():
        if table not in there:
            continue
        but = f"WHERE key <> '{KEY}'" if table == "meta" else ""
        for row in db.execute(f"SELECT {_name(table, names)}, {held} FROM {table} {but}"):
            total += _mark(*row)
    return total % _WHOLE


def _on(db: sqlite3.Connection, table: str, event: str, calls: str) -> None:
    side = "NEW" if event == "INSERT" else "OLD"
    but = f"WHEN {side}.key <> '{KEY}'" if table == "meta" else ""
    db.execute(
        f"CREATE TEMP TRIGGER {table}_{event} AFTER {event} ON main.{table} {but} BEGIN {calls} END"
    )


def _call(what: str, table: str, side: str) -> str:
    names, held = _ROWS[table]
    name = _name(table, [f"{side}.{column}" for column in names])
    return f"SELECT row_{what}({name}, {side}.{held}); "


def _name(table: str, columns: Sequence[str]) -> str:
    return " || '/' || ".join((f"'{table}'", *columns))


def _mark(name: Any, held: Any) -> int:
    """A number that changes with any change of the row. Squared, because checksums are linear: two
    rows that swapped their values would add up alike."""
    content = held if type(held) is bytes else str(held).encode()
    return zlib.crc32(content, zlib.crc32(str(name).encode())) ** 2
