"""Content hashes of data files, kept between runs so that gigabytes are read once.

A kept hash holds while a file is the one that was hashed: the same place on the disk, size, time
of writing, and time of change, which nobody can set back as `touch` and `cp -p` do with the first.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Generator
from pathlib import Path

from mmrag.errors import DataError, StoreError
from mmrag.files.atomic import file_sha256

SETTLED = 2.0
"""Seconds that a file must have lain still for its hash to be kept: it could change once more
within one tick of the disk's clock, and no time would tell."""

_TABLE = "CREATE TABLE IF NOT EXISTS hashes (file TEXT PRIMARY KEY, state TEXT, sha256 TEXT)"


class ContentHashes:
    """Hashes of files. Where nothing can be kept, each is computed anew."""

    def __init__(self, place: Path | None = None) -> None:
        self._place = place or _default_place()

    def sha256(self, path: Path) -> str:
        """The hash of a file's bytes."""
        try:
            name, before = str(path.resolve()), _state(path)
            found = self.known().get(name)
            if found is not None and found[0] == before:
                return found[1]
            settled = time.time() - path.stat().st_ctime > SETTLED
            digest = file_sha256(path)
            if settled and _state(path) == before:
                self._keep(name, before, digest)
        except StoreError as error:
            raise DataError(str(error)) from error
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
        return digest

    def known(self) -> dict[str, tuple[str, str]]:
        """File → (state, hash) as they were kept."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as db:
            rows = db.execute("SELECT file, state, sha256 FROM hashes").fetchall()
            return {file: (state, digest) for file, state, digest in rows}
        return {}

    def _keep(self, name: str, state: str, digest: str) -> None:
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as db:
            db.execute("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?)", (name, state, digest))

    @contextlib.contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        self._place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self._place, timeout=5)) as db, db:
            db.execute(_TABLE)
            yield db


def _state(path: Path) -> str:
    about = path.stat()
    return f"{about.st_dev} {about.st_ino} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"


def _default_place() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mmrag" / "hashes.sqlite"
