"""Indexes of the public package: opened read-only, and ours written in their form."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import ConflictError, DataError, UsageError
from mmrag.files.atomic import lock_folder, make_folder
from mmrag.registry import Registry, Spec
from mmrag.search.index.build import COLLECTION, derive, in_batches, make_manifest
from mmrag.search.index.chroma import IMAGES, WEB, Batch, collections, open_folder, rows_of
from mmrag.search.index.index_manifest import Manifest, write_manifest
from mmrag.search.index.open import open_vectors, read_manifests
from mmrag.search.index.row_table import RowTable
from mmrag.search.vectors.nearest import unit_rows

PUBLISHED = {
    "images": "open-clip:model=ViT-L-14-336,weights=openai",
    "web": "transformers:model=BAAI/bge-large-en-v1.5,pooling=official",
}
"""The encoders behind the published indexes; their builder mean-pooled BGE."""


def in_full_precision(registry: Registry[Any], spec: str) -> str:
    """The spec with `precision=full` where it leaves the precision open and its encoder has one.

    Vectors that others made were made with 32 bits. A query encoded with fewer has other cosines.
    """
    parsed = Spec.parse(spec)
    known = inspect.signature(registry.factory(parsed.name)).parameters
    if "precision" not in known or "precision" in parsed.options:
        return spec
    return str(Spec(name=parsed.name, options={**parsed.options, "precision": "full"}))


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
    if out.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{out} lies in {source}, which is only read; choose another --out.")
    specs = {
        "images": in_full_precision(image_encoders, image_encoder or PUBLISHED["images"]),
        "web": in_full_precision(text_encoders, text_encoder or PUBLISHED["web"]),
    }
    made: list[Manifest] = []
    with lock_folder(out):
        copy = out / ".importing"
        shutil.rmtree(copy, ignore_errors=True)
        try:
            _copy(source, copy)
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
    manifests = read_manifests(folder)
    make_folder(out)
    if any(out.iterdir()):
        raise ConflictError(f"{out}: not empty; choose another folder to export to.")
    written: list[str] = []
    for manifest in manifests:
        place = folder / manifest.part
        make_folder(out / manifest.part)
        with open_folder(out / manifest.part, COLLECTION[manifest.part], create=True) as database:
            for batch in in_batches(_stored(place, manifest), manifest.part):
                ids, metadatas = batch.ids, batch.metadatas
                database.add(Batch(ids, batch.vectors, metadatas, batch.documents))
        written.append(COLLECTION[manifest.part])
    return written


def _take_over(copy: Path, place: Path, part: str, spec: str, source: Path) -> Manifest:
    if place.exists():
        raise ConflictError(f"{place} is there already; choose another --out.")
    registry: Any = image_encoders if part == "images" else text_encoders
    encoder = registry.create(spec)
    half = place.with_name(f".{part}.importing")  # so that a broken import leaves no half index
    shutil.rmtree(half, ignore_errors=True)
    make_folder(half)
    try:
        with open_folder(copy, COLLECTION[part]) as database:
            for batch in database.read():
                _check_length(batch, encoder.dim, part, spec)
                break

            def read() -> Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]:
                for batch in database.read():
                    yield rows_of(batch, part), unit_rows(batch.vectors)

            derive(half, part, read, encoder.dim)
            with open_folder(half / "chroma", COLLECTION[part], create=True) as ours:
                for batch in database.read():
                    ours.add(batch)
        manifest = make_manifest(
            half,
            part,
            encoder=encoder.id,
            encoder_spec=spec,
            dim=encoder.dim,
            source=f"imported: {source.name}",
        )
        write_manifest(half, manifest)
        half.rename(place)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return manifest


def _copy(source: Path, copy: Path) -> None:
    try:
        shutil.copytree(source, copy)
    except OSError as error:
        raise DataError(
            f"{source}: cannot be copied to {copy} ({str(error)[:300]}); see that it is readable "
            "and that there is room."
        ) from error


def _check_length(batch: Batch, dim: int, part: str, spec: str) -> None:
    length = batch.vectors.shape[1]
    if length != dim:
        option = "--image-encoder" if part == "images" else "--text-encoder"
        raise UsageError(
            f"The vectors of {COLLECTION[part]} have {length} numbers, those of {spec!r} {dim}: it "
            f"did not make them. Name the encoder that did with {option}."
        )


def _stored(
    place: Path, manifest: Manifest
) -> Iterator[tuple[list[dict[str, Any]], NDArray[np.float32]]]:
    rows = RowTable.open(place / "rows.arrow")
    matrix: Any = getattr(open_vectors(place, manifest), "matrix")  # noqa: B009
    for first in range(0, len(rows), _SLICE):
        last = min(first + _SLICE, len(rows))
        yield rows.get(range(first, last)), np.asarray(matrix[first:last], np.float32)
