"""What can be indexed: a world folder, a plain folder of files, a data set of the hub.

Everything is streamed; one broken picture or page is skipped and counted, never fatal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import DataError, Unavailable
from mmrag.images import LazyImage
from mmrag.records import Record
from mmrag.search.pages import Page, page_text

_PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
_TEXTS = {".html", ".htm", ".xhtml", ".txt", ".md"}
_MAX_FILE = 64 << 20


class Picture(Record, frozen=True, kw_only=True):
    """A picture of the knowledge graph."""

    index: int
    image: LazyImage
    url: str
    entities: list[dict[str, Any]]
    """`{entity_name, entity_attributes}` as CRAG-MM has them."""


class Source(NamedTuple):
    """Pictures and pages in a fixed order, and what identifies them."""

    name: str
    fingerprint: str
    picture_count: int
    page_count: int
    place: Path

    def pictures(self, first: int = 0) -> Iterator[Picture]:
        """Pictures from a row on."""
        if (self.place / "kg.parquet").is_file():
            return _table_pictures(self.place / "kg.parquet", first)
        return _folder_pictures(self.place, first)

    def pages(self, first: int = 0) -> Iterator[Page]:
        """Pages from a row on, as text."""
        if (self.place / "pages.parquet").is_file():
            return _table_pages(self.place / "pages.parquet", first)
        return _folder_pages(self.place, first)


def open_source(name: str) -> Source:
    """A world folder, a folder of pictures and pages, or a data set's name on the hub."""
    place = Path(name)
    if not place.is_dir():
        place = _download(name)
    tables = [place / "kg.parquet", place / "pages.parquet"]
    if any(table.is_file() for table in tables):
        counts = [_table_rows(table) for table in tables]
        mark = _mark([t for t in tables if t.is_file()])
        return Source(Path(name).name or name, mark, counts[0], counts[1], place)
    pictures, texts = _files(place, _PICTURES), _files(place, _TEXTS)
    if not pictures and not texts:
        raise DataError(
            f"{name}: nothing to index. It needs kg.parquet or pages.parquet (a world), or picture "
            "and HTML files."
        )
    return Source(name, _mark(pictures + texts), len(pictures), len(texts), place)


def _mark(paths: list[Path]) -> str:
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        about = path.stat()
        digest.update(f"{path.name}\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _files(place: Path, endings: set[str]) -> list[Path]:
    return sorted(p for p in place.rglob("*") if p.suffix.lower() in endings and p.is_file())


def _download(name: str) -> Path:
    from mmrag.encoders.loading import hub_errors

    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise DataError(
            f"{name}: no such folder. Give a world folder, a folder of files, or a data set as "
            "organisation/name."
        )
    try:
        from huggingface_hub import snapshot_download

        with hub_errors("data set", name, "a local folder"):
            return Path(snapshot_download(name, repo_type="dataset"))
    except ImportError as error:
        raise Unavailable("`pip install huggingface_hub` to read data sets of the hub.") from error


def _table_rows(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return 0
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({error}); make the world again.") from error


def _rows(path: Path, columns: list[str], first: int) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        with pq.ParquetFile(path) as file:
            wanted = [name for name in columns if name in file.schema_arrow.names]
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if row + size > first:
                    skip = max(first - row, 0)
                    cells = file.read_row_group(group, wanted).slice(skip).to_pylist()
                    yield from enumerate(cells, row + skip)
                row += size
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({error}); make the world again.") from error


def _table_pictures(path: Path, first: int) -> Iterator[Picture]:
    columns = ["index", "image", "image_url", "entities", "entity_id", "image_sha256"]
    for row, cells in _rows(path, columns, first):
        cell = cells.get("image") or b""
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        image = LazyImage.from_bytes(bytes(data or b""), name=f"{path}, row {row}")
        raw = cells.get("entities") or "[]"
        listed = json.loads(raw) if isinstance(raw, str) else raw
        entities = [
            {**e, "entity_id": cells["entity_id"]} if cells.get("entity_id") else dict(e)
            for e in listed
        ]
        yield Picture(
            index=int(cells.get("index", row)),
            image=image,
            url=cells.get("image_url") or "",
            entities=entities,
        )


def _table_pages(path: Path, first: int) -> Iterator[Page]:
    for row, cells in _rows(path, ["page_url", "page_name", "date", "html", "page_snippet"], first):
        text = page_text(cells.get("html") or "")
        yield Page(
            url=cells.get("page_url") or f"row:{row}",
            title=cells.get("page_name") or "",
            text=text,
            date=cells.get("date"),
            snippet=cells.get("page_snippet") or text[:200],
        )


def _folder_pictures(place: Path, first: int) -> Iterator[Picture]:
    for row, path in enumerate(_files(place, _PICTURES)):
        if row >= first:
            about = path.with_suffix(".json")
            entities = [{"entity_name": path.stem, "entity_attributes": {}}]
            if about.is_file():
                try:
                    loaded = json.loads(about.read_text())
                except (OSError, ValueError) as error:
                    raise DataError(f"{about}: no readable JSON ({error}).") from error
                entities = loaded if isinstance(loaded, list) else [loaded]
            yield Picture(
                index=row,
                image=LazyImage.from_path(path),
                url=path.relative_to(place).as_posix(),
                entities=entities,
            )


def _folder_pages(place: Path, first: int) -> Iterator[Page]:
    for row, path in enumerate(_files(place, _TEXTS)):
        if row < first:
            continue
        with path.open("rb") as file:
            data = file.read(_MAX_FILE)
        is_html = path.suffix.lower() in (".html", ".htm", ".xhtml")
        text = page_text(data) if is_html else page_text(data.replace(b"<", b"\xe2\x89\xba"))
        name = path.relative_to(place).as_posix()
        yield Page(url=name, title=_title(data) or path.stem, text=text, snippet=text[:200])


def _title(data: bytes) -> str:
    import re
    from html import unescape

    found = re.search(rb"(?is)<title[^>]{0,200}>([^<]{1,300})<", data[:200_000])
    return unescape(found.group(1).decode("utf-8", "replace")).strip() if found else ""
