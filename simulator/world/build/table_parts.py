"""Parts of tables while a build runs, and whole tables made of them.

A part is written to a temporary name, flushed to the disk and renamed, so that a part that exists
is whole. A build that was interrupted therefore continues with the parts that are missing.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from mmrag.errors import StoreError
from mmrag.files.atomic import appearing
from simulator.world.build import table_columns

_REPEATED = ("label", "page_label", "style", "kind", "domain", "attribute", "page_url")
"""Columns whose few values repeat: stored as a dictionary."""


def part_path(folder: Path, table: str, index: int) -> Path:
    """Where a part of a table stands."""
    return folder / f"{table}-{index:06d}.parquet"


def write_rows(path: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Write rows as one Parquet file, atomically."""
    with _appearing(path) as temporary:
        _write(temporary, table, iter([table_columns.to_table(table, rows)]))


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

    with _appearing(target) as temporary:
        _write(temporary, table, read())
    return rows


@contextlib.contextmanager
def _appearing(path: Path) -> Generator[Path]:
    """`appearing`, with a word on what a full disk costs: nothing."""
    try:
        with appearing(path) as temporary:
            yield temporary
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(
                f"{path}: the disk is full. Free space and run the same command again: "
                "it continues where it stopped."
            ) from error
        raise


def _write(path: Path, table: str, pieces: Iterator[Any]) -> None:
    import pyarrow.parquet as pq

    size = table_columns.ROW_GROUP[table]
    schema = table_columns.arrow_schema(table)
    options: dict[str, Any] = {
        "compression": table_columns.compression(table),
        "use_dictionary": [name for name in _REPEATED if name in schema.names],
    }
    with pq.ParquetWriter(path, schema, **options) as writer:
        for piece in pieces:
            writer.write_table(piece, row_group_size=size)
