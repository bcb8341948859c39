"""The tables of a world folder: their columns and features, and the parts they are made of.

Session tables carry CRAG-MM v0.1.2's own columns first (dict of lists, labels as ClassLabel
integers, `image_quality` per turn) and the world's extra columns after them. The Hugging Face
features travel in the Parquet metadata, so `datasets.load_dataset("parquet", …)` opens the files
typed.

A part is written to a temporary name, flushed to the disk and renamed, so that a part that exists
is whole. A build that was interrupted therefore continues with the parts that are missing.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mmrag.errors import StoreError
from mmrag.files.atomic import atomic_path
from mmrag.optional_packages import require_package

SCHEMA_VERSION = 1
"""Version of the folder's layout. Raised when a reader of the former version would stumble."""

MANIFEST = "world.json"

DOMAINS = (
    "animal", "other", "shopping", "book", "general object recognition", "local", "vehicle",
    "plants and gardening", "style and fashion", "food", "text understanding",
    "sports and games", "math and science",
)  # fmt: skip
"""CRAG-MM's domain names in the order of its multi-turn set."""

QUERY_CATEGORIES = (
    "reasoning", "simple-knowledge", "comparison", "simple-recognition", "multi-hop",
    "aggregation",
)  # fmt: skip
DYNAMISM = ("fast-changing", "static", "slow-changing", "real-time")
IMAGE_QUALITY = ("rotated", "truncated", "occluded", "low light", "blurred", "normal")
"""As the published features spell them; a `Capture` says `low-light`."""

SPLITS = ("multi-turn", "single-turn")
TABLES = ("facts", "entities", *SPLITS, "kg", "pages", "grounding")

PAGE_LABELS = (
    "answers", "outdated", "distractor", "contradiction", "near-duplicate", "hostile", "noise",
)  # fmt: skip
GROUNDING_LABELS = ("answers", "related", "outdated", "irrelevant")

ROW_GROUP = {
    "multi-turn": 32, "single-turn": 32, "kg": 256, "pages": 256, "grounding": 8192,
    "facts": 16384, "entities": 4096,
}  # fmt: skip
"""Rows that are read together: few where a row holds a picture."""

_RAW = {"image.bytes", "clean_image.bytes", "owner_image.bytes", "depth_image.bytes"}
"""JPEG and PNG columns, stored as they are: zstd gains nothing on them."""


@cache
def features(table: str) -> Any:
    """The `datasets.Features` of a table."""
    require_package("datasets", "tables", "making a world")
    from datasets import ClassLabel, Features, Image, List, Value

    text, number, flag = Value("string"), Value("float64"), Value("bool")

    def labels(names: tuple[str, ...]) -> Any:
        return ClassLabel(names=list(names))

    if table in SPLITS:
        return Features(
            {
                "session_id": text,
                "image": Image(),
                "image_url": text,
                "turns": {
                    "interaction_id": List(text),
                    "domain": List(labels(DOMAINS)),
                    "query_category": List(labels(QUERY_CATEGORIES)),
                    "dynamism": List(labels(DYNAMISM)),
                    "query": List(text),
                    "image_quality": List(labels(IMAGE_QUALITY)),
                },
                "answers": {"interaction_id": List(text), "ans_full": List(text)},
                "query_time": text,
                "is_ego": flag,
                "image_sha256": text,
                "focus": List(number),
                "polygon": List(number),
                "degradation": text,
                "degraded": text,
                "clean_image": Image(),
                "clean_sha256": text,
                "clean_focus": List(number),
                "clean_polygon": List(number),
                "owner_image": Image(),
                "depth_image": Image(),
                "scene": text,
                "extra": {
                    "accept": List(List(text)),
                    "program": List(text),
                    "needs_image": List(flag),
                    "needs_history": List(flag),
                    "text_clue": List(flag),
                    "popularity": List(text),
                    "entity_id": List(text),
                    "evidence": List(List(text)),
                    "grounding": List(text),
                    "notes": List(text),
                    "settled_by": List(text),
                    "gaze": List(List(number)),
                },
            }
        )
    plain: dict[str, dict[str, Any]] = {
        "kg": {
            "index": Value("int64"),
            "image": Image(),
            "image_url": text,
            "entities": text,
            "entity_id": text,
            "image_sha256": text,
        },
        "pages": {
            "page_url": text,
            "page_name": text,
            "date": text,
            "style": text,
            "html": text,
            "entity_id": text,
            "label": labels(PAGE_LABELS),
            "about": text,
        },
        "grounding": {
            "turn_id": text,
            "page_url": text,
            "label": labels(GROUNDING_LABELS),
            "passage": text,
            "supports": List(text),
            "page_label": labels(PAGE_LABELS),
            "age_days": Value("int32"),
        },
        "facts": {
            "entity_id": text,
            "entity_name": text,
            "kind": text,
            "domain": text,
            "attribute": text,
            "value": text,
            "unit": text,
            "valid_from": text,
            "valid_to": text,
        },
        "entities": {
            "entity_id": text,
            "name": text,
            "aliases": List(text),
            "domain": text,
            "kind": text,
            "popularity": text,
            "family": Value("int32"),
            "look": text,
        },
    }
    return Features(plain[table])


@cache
def arrow_schema(table: str) -> Any:
    """The Arrow schema of a table, with the Hugging Face features in its metadata."""
    return features(table).arrow_schema


def to_table(table: str, rows: list[dict[str, Any]]) -> Any:
    """Rows as an Arrow table; a key that the schema does not know is an error."""
    import pyarrow as pa

    schema = arrow_schema(table)
    for row in rows[:1]:
        if unknown := row.keys() - set(schema.names):
            raise ValueError(f"{table} has no columns {sorted(unknown)}")
    return pa.Table.from_pylist(rows, schema=schema)


def compression(table: str) -> dict[str, str]:
    """Codec per leaf column, for the Parquet writer."""
    return {path: "NONE" if path in _RAW else "ZSTD" for path in _leaves(arrow_schema(table))}


def columns_without_pictures(schema: Any) -> list[str]:
    """The columns of a session table that are text, numbers or flags."""
    return [name for name in schema.names if not name.endswith("image")]


def plain_quality(name: str) -> str:
    """`low light` as `low-light`: the spelling of captures and degradations."""
    return name.strip().lower().replace(" ", "-").replace("_", "-")


def _leaves(schema: Any) -> list[str]:
    import pyarrow.types as kinds

    def below(name: str, kind: Any) -> list[str]:
        if kinds.is_struct(kind):
            return [leaf for f in kind for leaf in below(f"{name}.{f.name}", f.type)]
        if kinds.is_list(kind):
            return below(f"{name}.list.element", kind.value_type)
        return [name]

    return [leaf for field in schema for leaf in below(field.name, field.type)]


_REPEATED = ("label", "page_label", "style", "kind", "domain", "attribute", "page_url")
"""Columns whose few values repeat: stored as a dictionary."""


def part_path(folder: Path, table: str, index: int) -> Path:
    """Where a part of a table stands."""
    return folder / f"{table}-{index:06d}.parquet"


def write_rows(path: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Write rows as one Parquet file, atomically."""
    with _atomic_path(path) as temporary:
        _write(temporary, table, iter([to_table(table, rows)]))


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

    with _atomic_path(target) as temporary:
        _write(temporary, table, read())
    return rows


@contextlib.contextmanager
def _atomic_path(path: Path) -> Generator[Path]:
    """`atomic_path`, with a word on what a full disk costs: nothing."""
    try:
        with atomic_path(path) as temporary:
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

    size = ROW_GROUP[table]
    schema = arrow_schema(table)
    options: dict[str, Any] = {
        "compression": compression(table),
        "use_dictionary": [name for name in _REPEATED if name in schema.names],
    }
    with pq.ParquetWriter(path, schema, **options) as writer:
        for piece in pieces:
            writer.write_table(piece, row_group_size=size)
