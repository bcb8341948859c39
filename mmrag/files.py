"""Files that appear whole or not at all, and a lock that one builder holds."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Generator
from pathlib import Path

import msgspec

from mmrag.errors import ConflictError, StoreError, UsageError


@contextlib.contextmanager
def appearing(path: Path) -> Generator[Path]:
    """A temporary path that takes its name when everything written there is on the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    finally:
        temporary.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Remove what a killed process was writing. Only for whoever owns the folder."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """A small JSON file, atomically."""
    with appearing(path) as temporary:
        data = msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=1)
        temporary.write_bytes(data + b"\n")


@contextlib.contextmanager
def owning(folder: Path) -> Generator[None]:
    """Be the only one who writes into a folder; Chroma itself has no lock between processes."""
    make_folder(folder)
    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise _unwritable(folder, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConflictError(
                f"{folder}: another process is building this index. Wait for it, or choose "
                "another --out."
            ) from error
        yield


def make_folder(folder: Path) -> None:
    """A folder that is there afterwards, or a word on why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{folder}: cannot be made or written to ({error.strerror}); choose "
        "another folder, or make this one writable."
    )


def file_sha256(path: Path) -> str:
    """Content hash of a file, read in pieces."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}).") from error
    return digest.hexdigest()
