"""What is known of each row of an index, in a memory-mapped Arrow file in the order of the vectors.

Nothing is read at opening; a search touches only the rows that it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmrag.errors import StoreError

COLUMNS = {
    "images": ("id", "image_url", "entities", "info"),
    "web": ("id", "page_url", "page_name", "page_snippet", "date", "start", "end", "text"),
}
"""Columns of each part; `entities` and `info` are JSON, as in the published index."""

_NUMBERS = {"start", "end"}
_SLICE = 4096


class RowTable:
    """Rows by number. Reading is safe from several threads."""

    def __init__(self, table: Any, path: Path) -> None:
        self._path = path
        self._table = table
        self._batches: list[Any] = table.to_batches()
        self._ends = np.cumsum([len(batch) for batch in self._batches])

    @classmethod
    def open(cls, path: Path) -> RowTable:
        """Map a file that `write_rows` wrote."""
        import pyarrow as pa

        try:
            return cls(pa.ipc.open_file(pa.memory_map(str(path))).read_all(), path)
        except (pa.ArrowException, OSError) as error:
            raise StoreError(
                f"{path}: cannot be opened ({error}); `mmrag index build` makes it again."
            ) from error

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def get(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Several rows in one reading, in the given order."""
        return self._some(numbers, None)

    def values(self, name: str, numbers: Sequence[int]) -> list[Any]:
        """One column of several rows, in the given order."""
        return [row[name] for row in self._some(numbers, [name])]

    def _some(self, numbers: Sequence[int], columns: list[str] | None) -> list[dict[str, Any]]:
        """Batch by batch: Arrow's `take` of a whole table first copies all texts together."""
        wanted = np.unique(np.asarray(numbers, np.int64))
        homes = np.searchsorted(self._ends, wanted, side="right")
        found: dict[int, dict[str, Any]] = {}
        for home in np.unique(homes).tolist():
            here = wanted[homes == home]
            batch = self._batches[home]
            part = batch if columns is None else batch.select(columns)
            cells = self._cells(part, here - (int(self._ends[home]) - len(batch)))
            found.update(zip(here.tolist(), cells, strict=True))
        return [found[int(n)] for n in numbers]

    def _cells(self, batch: Any, numbers: Any) -> list[dict[str, Any]]:
        import pyarrow as pa

        try:
            return batch.take(numbers).to_pylist()
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise StoreError(
                f"{self._path}: changed since the build ({error}); `mmrag index build` "
                "makes it again."
            ) from error

    def column(self, name: str) -> Any:
        """One column as an Arrow array."""
        return self._table.column(name)


def schema(part: str) -> Any:
    """The Arrow schema of a part's rows."""
    import pyarrow as pa

    return pa.schema(
        [(c, pa.int64() if c in _NUMBERS else pa.large_string()) for c in COLUMNS[part]]
    )


def write_rows(path: Path, part: str, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as an uncompressed Arrow file, a few thousand at a time."""
    import pyarrow as pa

    kind, held, count = schema(part), list[dict[str, Any]](), 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, kind) as writer:
        for row in rows:
            held.append(row)
            count += 1
            if len(held) == _SLICE:
                writer.write_batch(pa.RecordBatch.from_pylist(held, schema=kind))
                held.clear()
        if held:
            writer.write_batch(pa.RecordBatch.from_pylist(held, schema=kind))
    return count
