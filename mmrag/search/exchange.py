"""Indexes of the public package: opened read-only, and ours written in their form."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import ConflictError, DataError
from mmrag.search.build import COLLECTION, derive, describe, in_batches
from mmrag.search.database import IMAGES, WEB, Batch, collections, open_folder
from mmrag.search.files import owning
from mmrag.search.index import open_vectors, read_manifests
from mmrag.search.manifest import Manifest, write_manifest
from mmrag.search.rows import Rows

PUBLISHED = {
    "images": "open-clip:model=ViT-L-14-336,weights=openai",
    "web": "transformers:model=BAAI/bge-large-en-v1.5,pooling=official",
}
"""The encoders behind the published indexes; their builder mean-pooled BGE."""

_SLICE = 4096


def import_index(
    source: Path, out: Path, *, image_encoder: str | None = None, text_encoder: str | None = None
) -> list[Manifest]:
    """Take over the published collections of a Chroma folder.

    The folder is copied first: opening a Chroma folder writes into it, and it may be somebody's
    hub cache. Entities are read from each row's own metadata, never by position.
    """
    if not (source / "chroma.sqlite3").is_file():
        raise DataError(f"{source}: no Chroma folder (chroma.sqlite3 is missing).")
    specs = {
        "images": image_encoder or PUBLISHED["images"],
        "web": text_encoder or PUBLISHED["web"],
    }
    made: list[Manifest] = []
    with owning(out):
        copy = out / ".importing"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
        try:
            names = collections(copy)
            parts = [part for part, name in COLLECTION.items() if name in names]
            if not parts:
                raise DataError(
                    f"{source}: neither {IMAGES} nor {WEB} is here; its collections are: "
                    f"{', '.join(names) or 'none'}."
                )
            for part in parts:
                made.append(_take_over(copy, out / part, part, specs[part], source))
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    return made


def export_index(folder: Path, out: Path) -> list[str]:
    """Write an index as the public package reads it: one Chroma folder per part."""
    if out.exists() and any(out.iterdir()):
        raise ConflictError(f"{out}: not empty; choose another folder to export to.")
    written: list[str] = []
    for manifest in read_manifests(folder):
        place = folder / manifest.part
        with open_folder(out / manifest.part, COLLECTION[manifest.part], create=True) as database:
            for batch in in_batches(_stored(place, manifest), manifest.part):
                ids, metadatas = batch.ids, batch.metadatas
                database.add(Batch(ids, batch.vectors, metadatas, batch.documents))
        written.append(COLLECTION[manifest.part])
    return written


def rows_of(batch: Batch, part: str) -> list[dict[str, Any]]:
    """Rows of a part from Chroma's metadata, ours or the published one."""
    found: list[dict[str, Any]] = []
    for row_id, data, document in zip(batch.ids, batch.metadatas, batch.documents, strict=True):
        if part == "images":
            found.append(
                {"id": row_id, "image_url": str(data.get("image_url") or ""),
                 "entities": _as_json(data.get("entities"), []),
                 "info": _as_json(data.get("info"), {})}
            )  # fmt: skip
        else:
            snippet = str(data.get("page_snippet") or "")
            text = document or snippet
            found.append(
                {"id": row_id, "page_url": str(data.get("page_url") or row_id.split("_chunk_")[0]),
                 "page_name": str(data.get("page_name") or ""), "page_snippet": snippet,
                 "date": str(data.get("date") or ""), "start": int(data.get("start") or 0),
                 "end": int(data.get("end") or len(text)), "text": text}
            )  # fmt: skip
    return found


def _take_over(copy: Path, place: Path, part: str, spec: str, source: Path) -> Manifest:
    if place.exists():
        raise ConflictError(f"{place} is there already; choose another --out.")
    registry: Any = image_encoders if part == "images" else text_encoders
    encoder_id, dim = registry.create(spec).id, 0
    place.mkdir(parents=True)
    with open_folder(copy, COLLECTION[part]) as database:
        for batch in database.read():
            dim = batch.vectors.shape[1]
            break

        def read() -> Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]:
            for batch in database.read():
                norms = np.linalg.norm(batch.vectors, axis=1, keepdims=True)
                yield rows_of(batch, part), batch.vectors / np.maximum(norms, 1e-12)

        derive(place, part, read, dim)
        with open_folder(place / "chroma", COLLECTION[part], create=True) as ours:
            for batch in database.read():
                ours.add(batch)
    manifest = describe(
        place,
        part,
        encoder=encoder_id,
        encoder_spec=spec,
        dim=dim,
        source=f"imported: {source.name}",
    )
    write_manifest(place, manifest)
    return manifest


def _stored(
    place: Path, manifest: Manifest
) -> Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]:
    rows = Rows.open(place / "rows.arrow")
    matrix: Any = getattr(open_vectors(place, manifest), "matrix")  # noqa: B009
    for first in range(0, len(rows), _SLICE):
        last = min(first + _SLICE, len(rows))
        yield rows.get(range(first, last)), np.asarray(matrix[first:last], np.float32)


def _as_json(value: Any, empty: Any) -> str:
    """Published metadata hold JSON strings, sometimes a bare name, sometimes nothing."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return json.dumps([value] if isinstance(empty, list) else empty)
        return value
    return json.dumps(value if value is not None else empty)
