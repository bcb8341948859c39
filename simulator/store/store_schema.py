"""The run store's tables, their versions, and the way from an old version to the present one."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path

import msgspec

from mmrag.errors import StoreError
from mmrag.files.atomic import is_locked
from simulator.store import loss_detection
from simulator.store.loss_detection import CommitCount, Tally, TallyingConnection
from simulator.store.run_lock import LOCK

FILE = "run.sqlite"

VERSION = 4
"""Raised whenever a table changes; `_MIGRATIONS` then gains an entry."""

_READABLE = 2
"""From this version on the tables that every reader needs are the present ones."""

_TALLIED = 3
"""From this version on a run has a tally to check it by."""

_MEASURED = """
CREATE TABLE IF NOT EXISTS measurements (
    session_id TEXT NOT NULL, degradation TEXT NOT NULL, turn_index INTEGER NOT NULL,
    judge TEXT NOT NULL, measure TEXT NOT NULL, measurement BLOB NOT NULL,
    UNIQUE (session_id, degradation, turn_index, judge, measure));
CREATE TABLE IF NOT EXISTS completions (
    key TEXT PRIMARY KEY, completion BLOB NOT NULL) WITHOUT ROWID;
"""

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
    position INTEGER NOT NULL, session_id TEXT NOT NULL, degradation TEXT NOT NULL,
    record BLOB NOT NULL, UNIQUE (session_id, degradation));
CREATE INDEX sessions_in_order ON sessions (position, degradation);
CREATE TABLE turns (
    session_id TEXT NOT NULL, degradation TEXT NOT NULL, turn_index INTEGER NOT NULL,
    status TEXT NOT NULL, result BLOB NOT NULL,
    UNIQUE (session_id, degradation, turn_index));
CREATE TABLE verdicts (
    session_id TEXT NOT NULL, degradation TEXT NOT NULL, turn_index INTEGER NOT NULL,
    judge TEXT NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (session_id, degradation, turn_index, judge));
{_MEASURED}
"""

# 3 → 4: measures of an answer have rows beside its verdicts, and what a model said to a measure is
# kept, so that nothing is paid twice.
# 2 → 3: the run has a tally, which whoever writes it keeps from then on.
# 1 → 2: verdicts left the turn's record for a table of their own, so that several judges can
# speak about one turn without the turn being written again.
_MIGRATIONS = {
    1: """
CREATE TABLE verdicts (
    session_id TEXT NOT NULL, degradation TEXT NOT NULL, turn_index INTEGER NOT NULL,
    judge TEXT NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (session_id, degradation, turn_index, judge));
INSERT INTO verdicts
    SELECT session_id, degradation, turn_index,
           json_extract(CAST(result AS TEXT), '$.verdict.judge'),
           CAST(json_extract(CAST(result AS TEXT), '$.verdict') AS BLOB)
    FROM turns WHERE json_extract(CAST(result AS TEXT), '$.verdict') IS NOT NULL;
INSERT OR IGNORE INTO meta
    SELECT 'judge', CAST(json_quote(judge) AS BLOB) FROM verdicts LIMIT 1;
UPDATE turns SET result = CAST(json_remove(CAST(result AS TEXT), '$.verdict') AS BLOB);
""",
    2: "",
    3: _MEASURED,
}


def open_for_writing(path: Path) -> TallyingConnection:
    """Open or create, in WAL mode with a full sync per commit, migrated to the present version.

    What is there already is checked first: nobody goes on with a run that is not whole. That the
    run is open stands in its main file before the first commit goes to the `-wal`.
    """
    if path.is_file():
        with contextlib.suppress(NothingCommitted):
            open_for_reading(path).close()
    db = None
    try:
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA wal_autocheckpoint=4000")
        db.execute("PRAGMA journal_mode=WAL")
        ledger = _start(db, path)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (OSError, sqlite3.Error, StoreError) as error:
        if db is not None:
            db.close()
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path}: cannot be opened ({error}).") from error
    return ledger


def close_after_writing(ledger: TallyingConnection, *, well: bool) -> None:
    """Bring everything into the main file and leave no other, as far as readers let us. Where
    writing failed before, the run stays open as it is; the next writer goes on from there."""
    whole = False
    with contextlib.suppress(sqlite3.Error, OSError):
        if well:
            with ledger.commit(is_open=False):
                pass
            whole = ledger.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            ledger.db.execute("PRAGMA busy_timeout=0")  # a reader may look on for hours
            ledger.db.execute(
                "PRAGMA synchronous=OFF"
            )  # all is on disk, and nothing rests on this:
            ledger.db.execute("PRAGMA journal_mode=DELETE")  # so that read-only media will do
    with contextlib.suppress(sqlite3.Error, OSError):
        ledger.db.close()
        ledger.close(whole=whole)


def open_for_reading(path: Path, *, checked: bool = False) -> sqlite3.Connection:
    """Open without writing, and check that the run is whole unless that was done.

    An older version is copied into memory and migrated there. What SQLite cannot open without
    writing beside it (a run of a read-only medium that was not closed) is read from a copy.
    """
    db = None
    try:
        db = _connect(path)
        if _is_empty(db):
            raise _nothing_committed(path)
        version = _version(db, path)
        if version >= _TALLIED and not checked:
            _check(db, path)
        if version >= _READABLE:
            return db
        copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        db.backup(copy)
        db.close()
        copy.executescript(f"BEGIN; {_migration(version)} COMMIT;")
        return copy
    except (OSError, ValueError, sqlite3.Error, msgspec.MsgspecError, StoreError) as error:
        if db is not None:
            db.close()
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"{path}: no readable run ({error}). Restore it from a copy, or choose another --out."
        ) from error


class NothingCommitted(StoreError):
    """The run was killed before its first commit; it can be run again."""


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that only reads, made without any file appearing beside the run."""
    if _opens_in_place(path):
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        try:
            db.execute("PRAGMA busy_timeout=5000")
            _is_empty(db)  # the first look opens the -wal, or takes back half a commit
            return db
        except sqlite3.OperationalError as error:
            db.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (
                sqlite3.SQLITE_CANTOPEN,
                sqlite3.SQLITE_READONLY,
            ):
                raise
    return _connect_to_copy(path)


def _opens_in_place(path: Path) -> bool:
    if _is_written(path):
        return True
    with path.open("rb") as file:
        is_wal = file.read(20)[18:] == b"\x02\x02"
    beside = all(Path(f"{path}{end}").is_file() for end in ("-wal", "-shm"))
    return not is_wal or beside


def _is_written(path: Path) -> bool:
    """Whether somebody writes the run. It may be this process: to open and close the file beside
    SQLite would take SQLite's locks from it, and whoever looked next would take away its `-wal`."""
    return is_locked(path.parent / LOCK)


def _connect_to_copy(path: Path) -> sqlite3.Connection:
    with tempfile.TemporaryDirectory(prefix="mmrag-run-") as folder:
        copy = Path(folder) / path.name
        for end in ("", "-wal", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        with contextlib.closing(sqlite3.connect(copy)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
        db = sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True, check_same_thread=False)
        _is_empty(db)  # the file is open now, and goes when the connection does
        return db


def _nothing_committed(path: Path) -> StoreError:
    known = CommitCount(path).read()
    if known is not None and known[1]:
        return StoreError(f"{path}: empty, where {known[1]} commits were. {_CURE}")
    if next((path.parent / "images").glob("*/*"), None):  # they come after the first commit
        return StoreError(f"{path}: empty, though the run has pictures. {_CURE}")
    return NothingCommitted(
        f"{path}: the run was interrupted before anything was committed. Run it again."
    )


def _check(db: sqlite3.Connection, path: Path) -> None:
    """Raise unless the run is whole: nothing lost, nothing changed."""
    count = CommitCount(path)
    for patience in (0.0, 0.01, 0.1):  # it may be opened or closed just now
        time.sleep(patience)
        known = count.read()
        db.execute("BEGIN")
        try:
            found = loss_detection.read(db)
            if found is not None and _agree(found, known):
                _check_rows(db, path, found)
                return
        finally:
            db.execute("ROLLBACK")
        if found is None:
            raise StoreError(f"{path}: damaged (it has no tally). {_CURE}")
    assert found is not None
    if known is None:
        raise StoreError(
            f"{path}: this run was not finished, and {count.path.name} is not beside it: commits "
            f"may be missing. Copy the whole folder from where it was made; {_ELSE}"
        )
    if known[0] != found.run:
        raise StoreError(
            f"{path}: {path.name}, {path.name}-wal and {count.path.name} come from different "
            f"runs. Copy the whole folder of one; {_ELSE}"
        )
    raise StoreError(
        f"{path}: {known[1] - found.commits} of {known[1]} commits are missing: {path.name}-wal "
        f"was cut or left behind. Copy the whole folder from where it was made; {_ELSE}"
    )


_ELSE = "if it is lost, start again with another --out."
_CURE = "Restore the folder from a copy, or run again with another --out."


def _agree(found: Tally, known: tuple[str, int] | None) -> bool:
    if known is None:
        return not found.open
    return known[0] == found.run and found.commits >= known[1]


def _read_ahead(path: Path) -> None:
    """Read the file once from end to end, before its pages are asked for in the order of tables.

    What no memory holds yet would come from the disk page by page, in two to three times the time.
    """
    buffer = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _check_rows(db: sqlite3.Connection, path: Path, found: Tally) -> None:
    if not _is_written(path):
        _read_ahead(path)
    problem = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem == "ok" and loss_detection.add_up(db) != int(found.total, 16):
        problem = "its rows are not what was committed"
    if problem != "ok":
        raise StoreError(f"{path}: damaged ({problem}). {_CURE}")


def _start(db: sqlite3.Connection, path: Path) -> TallyingConnection:
    """Make the tables, or bring them up to date, and say that the run is open: one commit."""
    script = _TABLES if _is_empty(db) else _migration(_version(db, path))
    db.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version={VERSION};")
    ledger = TallyingConnection(db, CommitCount(path))
    ledger.start()
    return ledger


def _is_empty(db: sqlite3.Connection) -> bool:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version == 0 and db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _migration(version: int) -> str:
    return "".join(_MIGRATIONS[old] for old in range(version, VERSION))


def _version(db: sqlite3.Connection, path: Path) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer mmrag (schema {version}; this one knows {VERSION}). "
            "Upgrade mmrag to read it."
        )
    if version == 0:
        raise StoreError(f"{path}: no run of mmrag (schema version 0). Choose another folder.")
    return version
