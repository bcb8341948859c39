"""Building an index: streamed, in parts, resumable; the same source gives the same index.

A build writes small parts (rows with their vectors) one after the other, each whole or absent. A
build that was killed finds its parts again and goes on with the next one. When all are there they
go into Chroma, the files that search reads are derived from them, and the manifest is written last.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.encoders import image_encoders, text_encoders
from mmrag.encoders.vector_cache import EmbeddingCache
from mmrag.errors import ConflictError, ImageError, StoreError
from mmrag.files.atomic import (
    atomic_path,
    clear_unfinished,
    file_sha256,
    lock_folder,
    make_folder,
    write_json,
)
from mmrag.files.shards import Shard
from mmrag.passages import Chunker
from mmrag.search.image.views import KIND as VIEWS
from mmrag.search.image.views import encode_views
from mmrag.search.index import row_table
from mmrag.search.index.chroma import (
    BATCH,
    IMAGES,
    WEB,
    Batch,
    IndexCollection,
    open_folder,
    open_server,
)
from mmrag.search.index.index_manifest import (
    MANIFEST,
    PLAN,
    Manifest,
    manifest_if_whole,
    write_manifest,
)
from mmrag.search.index.page_text import Page
from mmrag.search.index.sources import Picture, Source
from mmrag.search.vectors.nearest import EXACT_BYTES, build_graph
from mmrag.search.web.bm25 import build_lexical, prepend_title

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much is done, and how much there is."""

PICTURES_PER_PART = 256
PAGES_PER_PART = 64
COLLECTION = {"images": IMAGES, "web": WEB}


def build_index(
    source: Source,
    out: Path,
    *,
    image_encoder: str = "builtin",
    text_encoder: str = "minilm",
    chunker: Chunker = Chunker(),
    chroma_url: str | None = None,
    cache: EmbeddingCache | None = None,
    views: bool = True,
    shard: Shard | None = None,
    on_progress: Progress = lambda *_: None,
) -> list[Manifest]:
    """Build what the source has: pictures, pages, or both. Calling it again goes on or returns.

    With a shard only its parts are encoded, beside those of others, and there is no index yet:
    whoever calls it without one finds the parts there and makes the index of them.

    With a cache, what was encoded before, for this index or another, is not encoded again.
    `views` indexes each picture as the mean of four views of it, which takes four times as long
    to encode and finds more (`mmrag.search.image.views`).
    """
    made: list[Manifest] = []
    with lock_folder(out, shared=shard is not None):
        if source.picture_count:
            work = _PartOfIndex(
                out / "images", "images", source, image_encoder, None, chroma_url, on_progress
            )
            work.cache = cache
            work.views = VIEWS if views else ""
            made += work.build(shard)
        if source.page_count:
            work = _PartOfIndex(
                out / "web", "web", source, text_encoder, chunker, chroma_url, on_progress
            )
            work.cache = cache
            made += work.build(shard)
    return made


class _PartOfIndex:
    """The build of one part, step by step."""

    cache: EmbeddingCache | None = None
    views: str = ""
    """Kind of views that a picture's vector is the mean of; empty: the picture as it is."""

    def __init__(
        self,
        folder: Path,
        part: str,
        source: Source,
        encoder_spec: str,
        chunker: Chunker | None,
        chroma_url: str | None,
        on_progress: Progress,
    ) -> None:
        self.folder = folder
        self.part = part
        self.source = source
        self.encoder_spec = encoder_spec
        self.chunker = chunker
        self.chroma_url = chroma_url
        self.on_progress = on_progress
        registry: Any = image_encoders if part == "images" else text_encoders
        self.encoder: Any = registry.create(encoder_spec)

    def build(self, shard: Shard | None) -> list[Manifest]:
        """Parts, database, derived files, manifest; of a shard the parts alone."""
        plan = {
            "source": self.source.fingerprint, "encoder": self.encoder.id,
            "chunker": msgspec.to_builtins(self.chunker), "chroma_url": self.chroma_url,
            "views": self.views or None,
        }  # fmt: skip
        self._claim(plan, alone=shard is None)
        self._collection = collection_of(self.part, plan)
        made = manifest_if_whole(self.folder)
        if made is not None:
            return [made]
        write_json(self.folder / PLAN, plan)
        (self.folder / MANIFEST).unlink(missing_ok=True)  # from here on it is a build again
        if self.chroma_url is not None:  # before hours of encoding, not after
            with open_server(self.chroma_url, self._collection, create=True):
                pass
        parts = self._encode(shard or Shard(1, 1))
        if shard is not None:
            return []
        skipped = self._skipped(parts)
        self._fill(parts)
        derive(self.folder, self.part, lambda: read_parts(parts), self.encoder.dim)
        manifest = make_manifest(
            self.folder, self.part, encoder=self.encoder.id, encoder_spec=self.encoder_spec,
            dim=self.encoder.dim, chunker=self.chunker, chroma_url=self.chroma_url,
            views=self.views, collection=self._collection,
            source=f"{self.source.name} {self.source.fingerprint}"
            + (f", {skipped} skipped" if skipped else ""),
        )  # fmt: skip
        write_manifest(self.folder, manifest)
        shutil.rmtree(self.folder / "parts", ignore_errors=True)
        return [manifest]

    def _claim(self, plan: dict[str, Any], *, alone: bool) -> None:
        make_folder(self.folder)
        if alone:
            clear_unfinished(self.folder)
        path, finished = self.folder / PLAN, (self.folder / MANIFEST).exists()
        before = _plan_in(path)
        if before is None and finished:
            raise ConflictError(
                f"{self.folder} holds an index that was not built here. Choose another --out."
            )
        if before is not None:
            if not finished:  # nothing is in a database that counts
                before["chroma_url"] = plan["chroma_url"]
            changed = [key for key in {**plan, **before} if before.get(key) != plan.get(key)]
            if changed:
                words = "; ".join(
                    f"{k}: {before.get(k)!r} before, {plan.get(k)!r} now" for k in changed
                )
                raise ConflictError(
                    f"{self.folder} belongs to another build ({words}). Choose another --out, or "
                    "delete the folder."
                )

    def _encode(self, shard: Shard) -> list[Path]:
        total, size, step = (
            (self.source.picture_count, PICTURES_PER_PART, self._picture_rows)
            if self.part == "images"
            else (self.source.page_count, PAGES_PER_PART, self._page_rows)
        )
        folder = self.folder / "parts"
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{first:09d}.arrow" for first in range(0, total, size)]
        mine = shard.run_of(len(paths))
        missing = {number for number in mine if not _is_whole(paths[number])}
        if missing:
            reader = self.source.pictures if self.part == "images" else self.source.pages
            stream: Iterator[Any] = reader(min(missing) * size)
            for number in range(min(missing), max(missing) + 1):
                items = list(islice(stream, size))
                if number not in missing:
                    continue
                self.on_progress(self.part, number * size, total)
                with atomic_path(paths[number]) as temporary:
                    write_part(temporary, self.part, *step(items))
        self.on_progress(self.part, total, total)
        return paths

    def _picture_rows(
        self, pictures: Sequence[Picture]
    ) -> tuple[list[dict[str, Any]], NDArray[np.float32]]:
        found: list[dict[str, Any]] = []
        crops: list[Any] = []
        for picture in pictures:
            try:
                crops.append(picture.image.pil())
            except ImageError:
                continue  # counted by _skipped: one broken picture must not end a build
            names = [str(e.get("entity_name", "")) for e in picture.entities]
            info = {
                name: e.get("entity_attributes") or {}
                for name, e in zip(names, picture.entities, strict=True)
            }
            found.append(
                {
                    "id": str(picture.index), "image_url": picture.url,
                    "entities": json.dumps(names, ensure_ascii=False),
                    "info": json.dumps(info, ensure_ascii=False),
                }
            )  # fmt: skip
        if not crops:
            return found, np.zeros((0, self.encoder.dim), np.float32)
        encode, made_by = self.encoder.encode_crops, self.encoder.id
        if self.views:
            encode, made_by = self._encode_views, f"{made_by}/{self.views}"
        if self.cache is None:
            return found, encode(crops)
        # decoded pixels, not file bytes: two files of the same picture are one
        return found, self.cache.get_or_make(
            made_by, crops, lambda c: repr(c.size).encode() + c.tobytes(), encode
        )

    def _encode_views(self, crops: Sequence[Any]) -> NDArray[np.float32]:
        return encode_views(crops, self.encoder.encode_crops)

    def _page_rows(self, pages: Sequence[Page]) -> tuple[list[dict[str, Any]], NDArray[np.float32]]:
        assert self.chunker is not None
        found: list[dict[str, Any]] = []
        for page in pages:
            for number, chunk in enumerate(self.chunker.cut(page.text)):
                found.append(
                    {
                        "id": f"{page.url}_chunk_{number}", "page_url": page.url,
                        "page_name": page.title, "page_snippet": page.snippet,
                        "date": page.date or "", "start": chunk.start, "end": chunk.end,
                        "text": page.text[chunk.start : chunk.end],
                    }
                )  # fmt: skip
        if not found:
            return found, np.zeros((0, self.encoder.dim), np.float32)
        passages = [prepend_title(row["page_name"], row["text"]) for row in found]
        if self.cache is None:
            return found, self.encoder.encode(passages)
        vectors = self.cache.get_or_make(
            self.encoder.id, passages, lambda p: p.encode("utf-8", "replace"), self.encoder.encode
        )
        return found, vectors

    def _skipped(self, parts: Sequence[Path]) -> int:
        """Pictures that cannot be read; pages that cannot, say nothing, or come a second time."""
        if self.part == "images":
            return self.source.picture_count - sum(len(rows) for rows, _ in read_parts(parts))
        pages = {row["page_url"] for rows, _ in read_parts(parts) for row in rows}
        return self.source.page_count - len(pages)

    def _fill(self, parts: Sequence[Path]) -> None:
        count = sum(len(rows) for rows, _ in read_parts(parts))
        done = 0
        with open_database(self.folder, self._collection, self.chroma_url, fresh=True) as database:
            for batch in in_batches(read_parts(parts), self.part):
                self.on_progress("database", done, count)
                database.add(batch)
                done += len(batch.ids)
            if database.count() != count:
                raise StoreError(
                    f"{database.where} holds {database.count()} rows, {count} were put in: ids "
                    "repeat in the source, or the collection had other rows. Use a fresh one."
                )
        self.on_progress("database", count, count)


def _plan_in(path: Path) -> dict[str, Any] | None:
    """What a build in this folder was asked for; None: nobody built here."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(
            f"{path}: cannot be read ({error}), so nobody knows what is built here. Delete "
            f"{path.parent} and build again."
        ) from error


def collection_of(part: str, plan: dict[str, Any]) -> str:
    """The collection's name: the published one in a folder of its own; on a server, which several
    indexes may share, one that only the same build has."""
    if plan["chroma_url"] is None:
        return COLLECTION[part]
    asked = {key: value for key, value in plan.items() if key != "chroma_url"}
    digest = hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).hexdigest()
    return f"{COLLECTION[part]}-{digest[:12]}"


def open_database(
    folder: Path, collection: str, chroma_url: str | None, *, fresh: bool = False
) -> contextlib.AbstractContextManager[IndexCollection]:
    """The Chroma collection behind a part of an index."""
    if chroma_url is not None:
        return open_server(chroma_url, collection, create=fresh)
    place = folder / "chroma"
    if fresh and place.exists():  # a former attempt died half-way; its parts are all here
        shutil.rmtree(place)
    return open_folder(place, collection, create=fresh)


def derive(
    folder: Path,
    part: str,
    read: Callable[[], Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]],
    dim: int,
) -> None:
    """Write the files that search maps: rows, vectors, graph and words."""
    count = sum(len(rows) for rows, _ in read())
    with atomic_path(folder / "rows.arrow") as temporary:
        row_table.write_rows(temporary, part, (row for rows, _ in read() for row in rows))
    with atomic_path(folder / "vectors.npy") as temporary, temporary.open("wb") as file:
        np.lib.format.write_array_header_2_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (count, dim)}
        )
        for _, vectors in read():
            file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
    if count * dim * 4 > EXACT_BYTES:
        matrix = np.load(folder / "vectors.npy", mmap_mode="r")
        with atomic_path(folder / "graph.usearch") as temporary:
            build_graph(matrix, temporary)
    if part == "web":
        shutil.rmtree(folder / "words", ignore_errors=True)
        texts = (prepend_title(row["page_name"], row["text"]) for rows, _ in read() for row in rows)
        build_lexical(texts, folder / "words")


def make_manifest(
    folder: Path, part: str, *, encoder: str, encoder_spec: str, dim: int,
    chunker: Chunker | None = None, chroma_url: str | None = None, source: str = "",
    views: str = "", collection: str = "",
) -> Manifest:  # fmt: skip
    """The manifest of a part whose derived files are in place."""
    rows = row_table.RowTable.open(folder / "rows.arrow")
    pages = 0
    if part == "web":
        pages = len(rows.column("page_url").unique())
    whole = ("rows.arrow", "vectors.npy", "graph.usearch")
    names = [name for name in whole if (folder / name).exists()]
    if part == "web":
        names += sorted(f"words/{p.name}" for p in (folder / "words").iterdir())
    return Manifest(
        part=part, encoder=encoder, encoder_spec=encoder_spec, dim=dim, rows=len(rows),
        pages=pages, chunker=chunker, collection=collection or COLLECTION[part],
        chroma_url=chroma_url,
        source=source, views=views,
        files={name: file_sha256(folder / name) for name in names},
        versions={name: version(name) for name in ("chromadb", "bm25s", "usearch", "trafilatura")},
    )  # fmt: skip


def in_batches(
    read: Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]], part: str
) -> Iterator[Batch]:
    """Rows in batches of the size that Chroma takes; the passage becomes the document."""
    held: list[dict[str, Any]] = []
    vectors: list[NDArray[np.float32]] = []

    def batch() -> Batch:
        metadatas = [{k: v for k, v in row.items() if k not in ("id", "text")} for row in held]
        documents = [row.get("text") if part == "web" else None for row in held]
        return Batch([row["id"] for row in held], np.concatenate(vectors), metadatas, documents)

    for rows, some in read:
        if held and len(held) + len(rows) > BATCH:
            yield batch()
            held, vectors = [], []
        held += rows
        vectors.append(some)
    if held:
        yield batch()


def read_parts(parts: Sequence[Path]) -> Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]:
    """Rows and vectors of each part; of rows with the same id (a page listed twice) the first."""
    import pyarrow as pa

    seen: set[str] = set()
    for path in parts:
        with pa.memory_map(str(path)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
            blob = table.schema.metadata[b"vectors"]
            dim = int(table.schema.metadata[b"dim"])
            vectors = np.frombuffer(blob, "<f4").reshape(table.num_rows, dim)
            rows = table.to_pylist()
            new = [i for i, row in enumerate(rows) if row["id"] not in seen]
            seen.update(row["id"] for row in rows)
            yield [rows[i] for i in new], vectors[new]


def _is_whole(path: Path) -> bool:
    """Whether a part is there and can be read; one that a full disk cut short is made again."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as mapped:
            return b"vectors" in (pa.ipc.open_file(mapped).schema.metadata or {})
    except (pa.ArrowException, OSError):
        return False


def write_part(
    path: Path, part: str, rows: list[dict[str, Any]], vectors: NDArray[np.float32]
) -> None:
    """Write rows and vectors of one part of an index to a file of its own."""
    import pyarrow as pa

    kind = row_table.schema(part).with_metadata(
        {
            b"vectors": np.ascontiguousarray(vectors, "<f4").tobytes(),
            b"dim": str(vectors.shape[1]).encode(),
        }
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, kind) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=kind))
