"""Atomic files: parts of tables while a build runs, and whole tables made of them.

A part is written to a temporary name, flushed to the disk and renamed, so that a part that exists
is whole. A build that was interrupted therefore continues with the parts that are missing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

from mmrag.errors import StoreError
from simulator.world.build import table_columns

_CHUNK = 1 << 20

_REPEATED = ("label", "page_label", "style", "kind", "domain", "attribute", "page_url")
"""Columns whose few values repeat: stored as a dictionary."""


def part_path(folder: Path, table: str, index: int) -> Path:
    """Where a part of a table stands."""
    return folder / f"{table}-{index:06d}.parquet"


def write_rows(path: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Write rows as one Parquet file, atomically."""
    with replacing(path) as file:
        _write(file, table, iter([table_columns.to_table(table, rows)]))


def join_parts(parts: list[Path], target: Path, table: str) -> int:
    """Make one file of many parts without holding more than one part in memory."""
    rows = 0

    def read() -> Iterator[Any]:
        nonlocal rows
        import pyarrow.parquet as pq

        for part in parts:
            with pq.ParquetFile(part) as file:
                for group in range(file.num_row_groups):
                    piece = file.read_row_group(group)
                    rows += piece.num_rows
                    yield piece

    with replacing(target) as file:
        _write(file, table, read())
    return rows


def write_bytes(path: Path, data: bytes) -> None:
    """Write a small file atomically."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A file that appears under its name only when everything in it has reached the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(
                f"{path}: the disk is full. Free space and run the same command again: "
                "it continues where it stopped."
            ) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder, so that renames inside it survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_sha256(path: Path) -> str:
    """Content hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _write(file: IO[bytes], table: str, pieces: Iterator[Any]) -> None:
    import pyarrow.parquet as pq

    size = table_columns.ROW_GROUP[table]
    schema = table_columns.arrow_schema(table)
    options: dict[str, Any] = {
        "compression": table_columns.compression(table),
        "use_dictionary": [name for name in _REPEATED if name in schema.names],
    }
    with pq.ParquetWriter(file, schema, **options) as writer:
        for piece in pieces:
            writer.write_table(piece, row_group_size=size)
