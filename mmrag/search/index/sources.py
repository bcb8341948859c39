"""What can be indexed: a world folder, a folder of files or articles, a data set of the hub.

Everything is streamed; one broken picture or page is skipped and counted, never fatal. What cannot
be read beside a picture is as if it were not there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.errors import DataError, Unavailable
from mmrag.files.images import LazyImage
from mmrag.records import Record
from mmrag.search.index.articles import article_pages, count_articles, is_article_file
from mmrag.search.index.page_text import Page, decoded, page_text, tidy

_PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
_TEXTS = {".html", ".htm", ".xhtml", ".txt", ".md"}
_MAX_FILE = 64 << 20
_MAX_ABOUT = 4 << 20


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
        if _is_inside(self.place / "kg.parquet", self.place):
            return _table_pictures(self.place / "kg.parquet", first)
        return _folder_pictures(self.place, first)

    def pages(self, first: int = 0) -> Iterator[Page]:
        """Pages from a row on, as text."""
        if _is_inside(self.place / "pages.parquet", self.place):
            return _table_pages(self.place / "pages.parquet", first)
        if articles := _article_files(self.place):
            return article_pages(articles, first)
        return _folder_pages(self.place, first)


def open_source(name: str) -> Source:
    """A world folder, a folder of pictures and pages, or a data set's name on the hub."""
    try:
        return _opened(name)
    except OSError as error:
        raise DataError(
            f"{error.filename or name}: cannot be read ({error.strerror}); make it readable, or "
            "index another folder."
        ) from error


def _opened(name: str) -> Source:
    place = Path(name)
    if not place.is_dir():
        place = _download(name)
    tables = [place / "kg.parquet", place / "pages.parquet"]
    there = [table for table in tables if _is_inside(table, place)]
    if there:
        counts = [_table_rows(table) if table in there else 0 for table in tables]
        mark = _mark(place, there)
        return Source(Path(name).name or name, mark, counts[0], counts[1], place)
    if articles := _article_files(place):
        return Source(name, _mark(place, articles), 0, count_articles(articles), place)
    pictures, texts = _files(place, _PICTURES), _files(place, _TEXTS)
    if not pictures and not texts:
        raise DataError(
            f"{name}: nothing to index. It needs kg.parquet or pages.parquet (a world), or picture "
            "and HTML files."
        )
    abouts = {path.with_suffix(".json") for path in pictures}
    beside = sorted(about for about in abouts if _is_inside(about, place))
    mark = _mark(place, (*pictures, *texts, *beside))
    return Source(name, mark, len(pictures), len(texts), place)


def _mark(place: Path, paths: Iterable[Path]) -> str:
    """Of everything that gets into an index: where it lies in the source, its size and time."""
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        about = path.stat()
        digest.update(os.fsencode(path.relative_to(place).as_posix()))
        digest.update(f"\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _files(place: Path, endings: set[str]) -> list[Path]:
    return sorted(
        p for p in place.rglob("*") if p.suffix.lower() in endings and _is_inside(p, place)
    )


def _article_files(place: Path) -> list[Path]:
    found = place.rglob("documents_*")
    return sorted(p for p in found if is_article_file(p) and _is_inside(p, place))


def _is_inside(path: Path, place: Path) -> bool:
    """Whether it is a file that lies in the folder, wherever links lead. What is indexed can be
    read by whoever searches, so a folder from somebody else must not name files of this machine."""
    if not path.is_file():
        return False
    return not path.is_symlink() or path.resolve().is_relative_to(_bounds(place.resolve()))


def _bounds(place: Path) -> Path:
    """The folder that links may not leave: a snapshot of the hub is links to what lies beside."""
    above = place.parent
    of_hub = above.name == "snapshots" and (above.parent / "blobs").is_dir()
    return above.parent if of_hub else place


def _readable(name: str) -> str:
    """A file's name as a text; bytes of it that are no UTF-8 are written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _download(name: str) -> Path:
    from mmrag.encoders.model_file_checks import hub_errors

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
        entities = [
            {**e, "entity_id": cells["entity_id"]} if cells.get("entity_id") else e
            for e in _entities(cells.get("entities"))
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
            by_name = [{"entity_name": _readable(path.stem), "entity_attributes": {}}]
            yield Picture(
                index=row,
                image=LazyImage.from_path(path),
                url=_readable(path.relative_to(place).as_posix()),
                entities=_entities(_beside(path, place)) or by_name,
            )


def _beside(picture: Path, place: Path) -> str:
    about = picture.with_suffix(".json")
    if not _is_inside(about, place):
        return ""
    try:
        with about.open("rb") as file:
            return file.read(_MAX_ABOUT).decode()
    except (OSError, ValueError):
        return ""


def _entities(value: Any) -> list[dict[str, Any]]:
    """One entity or several, maybe as JSON; what is none is left out."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    listed: list[Any] = value if isinstance(value, list) else [value]
    return [dict(entity) for entity in listed if isinstance(entity, dict)]


def _folder_pages(place: Path, first: int) -> Iterator[Page]:
    for row, path in enumerate(_files(place, _TEXTS)):
        if row < first:
            continue
        name = _readable(path.relative_to(place).as_posix())
        try:
            with path.open("rb") as file:
                read = decoded(file.read(_MAX_FILE))
        except OSError:
            yield Page(url=name)  # without a text it is skipped and counted
            continue
        is_html = path.suffix.lower() in (".html", ".htm", ".xhtml")
        text = page_text(read) if is_html else tidy(read)
        title = (_title(read) if is_html else "") or _readable(path.stem)
        yield Page(url=name, title=title, text=text, snippet=text[:200])


def _title(html: str) -> str:
    found = re.search(r"(?is)<title[^>]{0,200}>([^<]{1,300})<", html[:200_000])
    return unescape(found.group(1)).strip() if found else ""
