"""Opening an index folder: both searches over what `mmrag index build` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import SpecError, StoreError
from mmrag.files.atomic import file_sha256, lock_folder
from mmrag.protocols import Reranker
from mmrag.records import Record
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.image.regions import MAX_REGIONS
from mmrag.search.index.build import derive, open_database
from mmrag.search.index.chroma import rows_of
from mmrag.search.index.index_manifest import Manifest, check_files, read_manifest, write_manifest
from mmrag.search.index.row_table import RowTable
from mmrag.search.vectors.nearest import ExactVectors, GraphVectors, VectorIndex, unit_rows
from mmrag.search.web.bm25 import open_lexical
from mmrag.search.web.rerank import rerankers
from mmrag.search.web.web_search import HybridWebSearch, Mode

PARTS = ("images", "web")
_SLICE = 1 << 16


class Index(Record, frozen=True, kw_only=True):
    """An opened index. Either search may be absent."""

    folder: Path
    manifests: tuple[Manifest, ...]
    images: Any = None
    """`ImageKG`, where pictures are indexed."""
    web: Any = None
    """`HybridWebSearch`, where pages are indexed."""

    @property
    def fingerprint(self) -> str:
        """Of all parts together; stands in the provenance of a run."""
        return "+".join(manifest.fingerprint for manifest in self.manifests)


def open_index(
    folder: str | Path,
    *,
    image_encoder: Any = None,
    text_encoder: Any = None,
    mode: Mode = "hybrid",
    reranker: Reranker | str | None = "builtin",
    max_regions: int = MAX_REGIONS,
) -> Index:
    """Open an index for searching. Encoders are made as the index says unless they are given.

    An encoder that the index was not built with is refused, by its id. `reranker` is `builtin`,
    `off`, a spec such as `cross-encoder:model=BAAI/bge-reranker-base`, or an object.
    """
    folder = Path(folder)
    manifests = read_manifests(folder)
    images = web = None
    for manifest in manifests:
        place = folder / manifest.part
        vectors = open_vectors(place, manifest)
        rows = RowTable.open(place / "rows.arrow")
        if len(rows) != manifest.rows:
            raise StoreError(f"{place}: {len(rows)} rows, its manifest says {manifest.rows}; "
                             "`mmrag index verify --repair` makes them again.")  # fmt: skip
        if manifest.part == "images":
            encoder = image_encoder or image_encoders.create(manifest.encoder_spec)
            manifest.check_encoder(encoder.id)
            images = ImageKG(vectors, rows, encoder, max_regions=max_regions)
        else:
            encoder = text_encoder or text_encoders.create(manifest.encoder_spec)
            manifest.check_encoder(encoder.id)
            lexical = open_lexical(place / "words", manifest.rows)
            web = HybridWebSearch(vectors, rows, lexical, encoder, mode=mode,
                      reranker=chosen_reranker(reranker))  # fmt: skip
    return Index(folder=folder, manifests=manifests, images=images, web=web)


def chosen_reranker(reranker: Reranker | str | None) -> Reranker | Literal["builtin"] | None:
    """A reranker by its spec; `builtin` is left to the search, which knows how rare words are."""
    if not isinstance(reranker, str):
        return reranker
    if reranker == "builtin":
        return "builtin"
    if reranker == "off":
        return None
    try:
        return rerankers.create(reranker)
    except SpecError as error:
        raise SpecError(
            f"{error} Choose builtin, off, or cross-encoder:model=NAME, where NAME is a model's "
            "folder or its name on the hub (BAAI/bge-reranker-base)."
        ) from error


def read_manifests(folder: Path) -> tuple[Manifest, ...]:
    """Manifests of the parts that are there."""
    found = [part for part in PARTS if (folder / part).is_dir()]
    if not found:
        raise StoreError(
            f"{folder}: no index here; make one with `mmrag index build SOURCE --out {folder}`."
        )
    return tuple(read_manifest(folder / part) for part in found)


def open_vectors(folder: Path, manifest: Manifest) -> VectorIndex:
    """The vectors of a part, mapped: exact, or by graph where there is one."""
    try:
        matrix = np.load(folder / "vectors.npy", mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(
            f"{folder / 'vectors.npy'}: cannot be opened ({error}); `mmrag index verify --repair` "
            "makes it again."
        ) from error
    if matrix.shape != (manifest.rows, manifest.dim):
        raise StoreError(
            f"{folder / 'vectors.npy'}: {matrix.shape}, its manifest says "
            f"{(manifest.rows, manifest.dim)}; `mmrag index verify --repair` makes it again."
        )
    if (folder / "graph.usearch").exists():
        return GraphVectors.open(matrix, folder / "graph.usearch")
    return ExactVectors(matrix)


def verify_index(folder: Path) -> list[str]:
    """What is wrong with an index; an empty list when it is whole.

    Derived files are compared with the hashes in the manifest, and what is known of each row and
    its vector with Chroma.
    """
    wrong: list[str] = []
    for manifest in read_manifests(folder):
        place = folder / manifest.part
        bad = _broken(place, manifest)
        wrong += [f"{place / name}: {how}" for name, how in bad.items()]
        if bad:
            continue
        rows, matrix = RowTable.open(place / "rows.arrow"), _mapped(place)
        first = 0
        with open_database(place, manifest.collection, manifest.chroma_url) as database:
            for batch in database.read():
                last = first + len(batch.ids)
                known = rows.get(range(first, min(last, len(rows))))
                if known != rows_of(batch, manifest.part):
                    wrong.append(f"{place}: rows {first}–{last} differ from those in Chroma")
                elif not np.allclose(
                    unit_rows(matrix[first:last]), unit_rows(batch.vectors), atol=2e-3
                ):
                    wrong.append(f"{place}: vectors {first}–{last} differ from those in Chroma")
                first = last
        if first != manifest.rows:
            wrong.append(f"{place}: Chroma holds {first} rows, the manifest says {manifest.rows}")
    return wrong


def rebuild_derived(folder: Path) -> list[str]:
    """Make the mapped files again from Chroma, for parts whose files are missing or changed."""
    read_manifests(folder)  # where there is no index there is nothing to own
    with lock_folder(folder):
        return [
            manifest.part
            for manifest in read_manifests(folder)
            if _rebuilt(folder / manifest.part, manifest)
        ]


def _rebuilt(place: Path, manifest: Manifest) -> bool:
    bad = _broken(place, manifest)
    if not bad:
        return False
    with open_database(place, manifest.collection, manifest.chroma_url) as database:

        def read() -> Iterator[Any]:
            for batch in database.read():
                yield rows_of(batch, manifest.part), unit_rows(batch.vectors)

        derive(place, manifest.part, read, manifest.dim)
    files = {n: file_sha256(place / n) for n in manifest.files if (place / n).exists()}
    write_manifest(place, msgspec.structs.replace(manifest, files=files))
    return True


def _broken(place: Path, manifest: Manifest) -> dict[str, str]:
    """Derived files that search would be misled by, and how they are wrong."""
    bad = dict.fromkeys(check_files(place, manifest), "missing or changed since the build")
    if "vectors.npy" not in bad and not _all_unit(_mapped(place)):
        bad["vectors.npy"] = "rows that are not of length 1, so scores are not cosines"
    return bad


def _mapped(place: Path) -> NDArray[Any]:
    return np.load(place / "vectors.npy", mmap_mode="r")


def _all_unit(matrix: NDArray[Any]) -> bool:
    """Whether all rows are of length 1; one of zeros has no direction and is near nothing."""
    for first in range(0, len(matrix), _SLICE):
        norms = np.linalg.norm(np.asarray(matrix[first : first + _SLICE], np.float32), axis=1)
        if not ((np.abs(norms - 1) < 1e-3) | (norms == 0)).all():
            return False
    return True
