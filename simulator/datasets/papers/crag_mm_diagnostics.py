"""The reader of CRAG-MM-Diagnostics: CRAG-MM's questions with box, name and a question in words.

Its rows become lines of one's own data, and so share their checks. As in its own loader every
picture is 960 pixels wide and 1,280 tall, and boxes lie in that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.records import Session
from simulator.datasets.content_hashes import ContentHashes
from simulator.datasets.file_rows import Row, json_rows, table_rows
from simulator.datasets.hugging_face_tables import Table
from simulator.datasets.own.own_data import OwnData
from simulator.datasets.picture_fetcher import PictureFetcher
from simulator.datasets.read_options import ReadOptions

SIZE = (960, 1280)
AMBIGUOUS = "not enough cue (ambiguous)"
"""Its label of questions that do not say which thing they mean, as `--split ambiguous`."""


class Diagnostics(OwnData):
    """Its rows, each a conversation of one turn."""

    def __iter__(self) -> Iterator[Session]:
        return map(_resized, super().__iter__())


def open_diagnostics(place: str, reading: ReadOptions) -> Diagnostics:
    """`crag-mm-diagnostics:FILE.jsonl`, a folder of Parquet or Arrow files, or an id on the Hub."""
    path = Path(place).absolute()
    fetcher = PictureFetcher(allow_private=reading.allow_private_urls)
    if path.suffix == ".jsonl":
        rows, content = partial(json_rows, path), lambda: ContentHashes().sha256(path)
        folder = path.parent
    else:
        table = Table(str(path) if path.exists() else place)
        rows, content = partial(table_rows, table), lambda: table.fingerprint
        folder = path
    only = reading.split == "ambiguous"

    def lines() -> Iterator[Row]:
        for row in rows():
            if not only:
                yield row._replace(value=_line(row.value))
            elif isinstance(row.value, dict):
                value = cast("dict[str, Any]", row.value)
                if _about(value).get("referring_expression_category") == AMBIGUOUS:
                    clear = _about(value).get("disambiguated_question") or value.get("question")
                    yield row._replace(value=_line({**value, "question": clear}))

    return Diagnostics(path, lines, pictures=folder, fetcher=fetcher, content=content)


def _line(value: Any) -> Any:
    """A row as a line of own data; what is no row stays what it is, to be told of."""
    if not isinstance(value, dict):
        return value
    row = cast("dict[str, Any]", value)
    about = _about(row)
    line = {
        "session_id": row.get("id"),
        "image": row.get("image"),
        "image_url": row.get("image_url"),
        "focus": _box(about),
        "entity": about.get("target_object_name"),
        "meta": {"referring expression": about.get("referring_expression_category")},
        "turns": [
            {
                "query": row.get("question"),
                "references": [row.get("answer")],
                "named": about.get("textual_only_question"),
            }
        ],
    }
    return {key: part for key, part in line.items() if part is not None}


def _about(row: dict[str, Any]) -> dict[str, Any]:
    about = row.get("metadata")
    return cast("dict[str, Any]", about) if isinstance(about, dict) else {}


def _box(about: dict[str, Any]) -> list[float] | None:
    """The box in a picture of the loader's size; None where either is not said."""
    box: Any = about.get("target_roi_bbox")
    size: Any = about.get("image_size")
    try:
        (left, top, right, bottom), (width, height) = map(float, box), map(float, size)
        across, down = SIZE[0] / width, SIZE[1] / height
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return [left * across, top * down, right * across, bottom * down]


def _resized(session: Session) -> Session:
    capture = session.capture
    if capture is None:
        return session
    before = capture.image

    def load() -> bytes:
        resized = before.pil().resize(SIZE, Image.Resampling.BICUBIC)
        return LazyImage.from_pil(resized).data

    image = LazyImage(load, name=before.name)
    return msgspec.structs.replace(session, capture=msgspec.structs.replace(capture, image=image))
