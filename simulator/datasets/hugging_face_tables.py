"""Rows of a Hugging Face data set on disk or on the hub, streamed without loading the whole.

The layouts differ (Parquet shards, a folder written by `save_to_disk`, a hub repository), the rows
do not. Arrow is read directly: `datasets` would first copy everything into a cache of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import DataError, SpecError, Unavailable
from simulator.datasets.content_hashes import ContentHashes
from simulator.datasets.unreadable_row import unreadable_reason

_ROWS = 16
"""Rows decoded at once: a row carries a picture of up to megabytes."""

_KINDS = ("multi-turn", "single-turn")
"""What a run's settings call a split when nobody says. CRAG-MM has a data set for each kind, so
either takes the one split that there is; with several, one must be named."""


class Table:
    """A data set's files of one split; of all its splits when none is named."""

    def __init__(self, source: str, split: str | None = None) -> None:
        self.source = source
        self.files = _choose(source, split)

    @property
    def fingerprint(self) -> str:
        """Hash over the files' contents in their order."""
        contents, digest = ContentHashes(), hashlib.sha256()
        for file in self.files:
            digest.update(f"{contents.sha256(file)}\x00".encode())
        return digest.hexdigest()[:16]

    def __len__(self) -> int:
        return sum(_count(file) for file in self.files)

    def schema(self) -> Any:
        """The Arrow schema of the first file, with the data set's features in its metadata."""
        return _schema(self.files[0])

    def features(self) -> dict[str, Any]:
        """The data set's own description of its columns; empty where it has none."""
        metadata = self.schema().metadata or {}
        try:
            described = msgspec.json.decode(metadata.get(b"huggingface", b"{}"), type=_Described)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(
                f"{self.files[0]}: its description of the columns cannot be read ({error}); "
                "write the data set again, or remove the metadata `huggingface`."
            ) from error
        return described.info.features

    def rows(
        self, columns: list[str] | None = None
    ) -> Iterator[tuple[str, dict[str, Any] | DataError]]:
        """(place for messages, row), streamed. `columns` that are absent are left out.

        Of a row that cannot be read there is the error, and the others follow.
        """
        for file in self.files:
            number = 0
            for batch in _batches(file, columns):
                for row in _rows(batch, file, number):
                    yield f"{file}, row {number}", row
                    number += 1


class _Info(msgspec.Struct, frozen=True):
    features: dict[str, Any] = {}


class _Described(msgspec.Struct, frozen=True):
    info: _Info = _Info()


def class_names(features: Any) -> dict[str, list[str]]:
    """Column name → label names, from wherever in the features a ClassLabel stands. The integer of
    a label means something else in every file, so it must be read from the file."""
    found: dict[str, list[str]] = {}

    def walk(name: str, node: Any) -> None:
        if isinstance(node, list):
            for child in node:
                walk(name, child)
        elif isinstance(node, dict):
            if node.get("_type") == "ClassLabel":
                names = node.get("names")
                found[name] = [str(label) for label in names] if isinstance(names, list) else []
                return
            for key, child in node.items():
                walk(name if key in ("feature", "_type") else key, child)

    walk("", features)
    return found


def _choose(source: str, split: str | None) -> list[Path]:
    if not source:
        raise SpecError("crag-mm: needs a folder, a file or a hub id after the colon.")
    folder = Path(source)
    if not folder.exists():
        if source.count("/") != 1 or source.startswith((".", "/", "~")):
            raise SpecError(f"{source}: there is no such file or folder.")
        folder = _download(source)
    if folder.is_file():
        return [folder]
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".parquet", ".arrow"))
    files = [p for p in files if not p.name.startswith("cache-")]
    if not files:
        raise DataError(f"{source}: no Parquet or Arrow file in it; give a data set's folder.")
    if split is None:
        return files
    by_name, by_folder = {p: _split_of(p) for p in files}, {p: p.parent.name for p in files}
    named = [p for p in files if split in (by_name[p], by_folder[p], p.stem)]
    if named:
        return named
    # `train-00000-of-00002.parquet`, or `validation/0000.parquet`: by what tells the files apart
    known = sorted(max(set(by_name.values()), set(by_folder.values()), key=len))
    if known == [""] or (len(known) == 1 and split in _KINDS):
        return files
    there = ", ".join(filter(None, known))
    raise SpecError(
        f"{source}: no split {split!r} in it; there is {there}. Choose one with --split."
    )


def _split_of(file: Path) -> str:
    """Which split a file's name speaks of; "" where it is only a number."""
    name = re.sub(r"(^|-)\d+(-of-\d+)?(-[0-9a-f]{8,})?$", "", file.stem)
    return "" if name in ("data", "part") else name


def _download(repository: str) -> Path:
    try:
        from huggingface_hub import snapshot_download

        return Path(
            snapshot_download(
                repository, repo_type="dataset", allow_patterns=["*.parquet", "*.arrow", "*.json"]
            )
        )
    except Exception as error:
        raise Unavailable(
            f"{repository}: cannot be had from the hub ({type(error).__name__}). Check the name "
            "and the network, or download it elsewhere and give its folder: crag-mm:FOLDER."
        ) from error


def _batches(file: Path, columns: list[str] | None) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if file.suffix == ".parquet":
            with pq.ParquetFile(file) as table:
                present = [c for c in columns or [] if c in table.schema_arrow.names] or None
                yield from table.iter_batches(batch_size=_ROWS, columns=present)
            return
        with pa.memory_map(str(file)) as mapped:
            for batch in pa.ipc.open_stream(mapped):
                present = [c for c in columns or [] if c in batch.schema.names] or None
                chosen = batch.select(present or batch.schema.names)
                chosen.validate(full=True)  # nothing else checks what is mapped as it lies there
                for start in range(0, chosen.num_rows, _ROWS):
                    yield chosen.slice(start, _ROWS)
    except Exception as error:  # what Arrow's readers raise is not only their own
        raise DataError(f"{file}: cannot be read ({error}); fetch or write it again.") from error


def _rows(batch: Any, file: Path, first: int) -> Iterator[dict[str, Any] | DataError]:
    try:
        yield from batch.to_pylist()
        return
    except Exception:  # a cell that is no value of Python: a text that is no UTF-8, a year 300,000
        cells = [batch.slice(i, 1) for i in range(batch.num_rows)]
    for number, cell in enumerate(cells, first):
        try:
            yield cell.to_pylist()[0]
        except Exception as error:
            yield DataError(unreadable_reason(f"{file}, row {number}", error))


def _schema(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if file.suffix == ".parquet":
            return pq.read_schema(file)
        with pa.memory_map(str(file)) as mapped:
            return pa.ipc.open_stream(mapped).schema
    except Exception as error:  # what Arrow's readers raise is not only their own
        raise DataError(f"{file}: cannot be read ({error}); fetch or write it again.") from error


def _count(file: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if file.suffix == ".parquet":
            return pq.read_metadata(file).num_rows
        with pa.memory_map(str(file)) as mapped:
            return sum(batch.num_rows for batch in pa.ipc.open_stream(mapped))
    except Exception as error:  # what Arrow's readers raise is not only their own
        raise DataError(f"{file}: cannot be read ({error}); fetch or write it again.") from error
