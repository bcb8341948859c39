"""The run store's tables, their versions, and the way from an old version to the present one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from mmrag.errors import StoreError

FILE = "run.sqlite"

VERSION = 2
"""Raised whenever a table changes; `_MIGRATIONS` then gains an entry."""

_TABLES = """
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
"""

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
}


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open or create, in WAL mode with a full sync per commit, migrated to the present version."""
    db = None
    try:
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        empty = _is_empty(db)  # new, or killed before the tables were committed
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA wal_autocheckpoint=4000")
        if empty:
            db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={VERSION}; COMMIT;")
        else:
            _migrate(db, path)
    except (sqlite3.Error, StoreError) as error:
        if db is not None:
            db.close()
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path}: cannot be opened ({error}).") from error
    return db


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open without writing. An older version is copied into memory and migrated there."""
    db = None
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        db.execute("PRAGMA busy_timeout=5000")
        if _is_empty(db):
            raise StoreError(
                f"{path}: the run was interrupted before anything was committed. Run it again."
            )
        if _version(db, path) == VERSION:
            return db
        copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        db.backup(copy)
        db.close()
        _migrate(copy, path)
        return copy
    except (sqlite3.Error, StoreError) as error:
        if db is not None:
            db.close()
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"{path}: no readable run ({error}). Restore it from a copy, or run again."
        ) from error


def _is_empty(db: sqlite3.Connection) -> bool:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version == 0 and db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    while (version := _version(db, path)) < VERSION:
        db.executescript(
            f"BEGIN; {_MIGRATIONS[version]} PRAGMA user_version={version + 1}; COMMIT;"
        )


def _version(db: sqlite3.Connection, path: Path) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer mmrag (schema {version}; this one knows {VERSION}). "
            "Upgrade mmrag to read it."
        )
    if version == 0:
        raise StoreError(
            f"{path}: no run of mmrag (schema version 0). Delete it or choose another."
        )
    return version
