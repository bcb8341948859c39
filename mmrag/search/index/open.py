"""Opening an index folder: both searches over what `mmrag index build` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import SpecError, StoreError
from mmrag.protocols import Reranker
from mmrag.records import Record
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.image.regions import MAX_REGIONS
from mmrag.search.index.identity import Manifest, check_files, read_manifest
from mmrag.search.index.row_table import RowTable
from mmrag.search.vectors.nearest import ExactVectors, GraphVectors, Vectors
from mmrag.search.web.bm25 import open_lexical
from mmrag.search.web.rerank import rerankers
from mmrag.search.web.web_search import Mode, Web

PARTS = ("images", "web")
_SLICE = 1 << 16


class Index(Record, frozen=True, kw_only=True):
    """An opened index. Either search may be absent."""

    folder: Path
    manifests: tuple[Manifest, ...]
    images: Any = None
    """`ImageKG`, where pictures are indexed."""
    web: Any = None
    """`Web`, where pages are indexed."""

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
                             "`mmrag index build` makes them again.")  # fmt: skip
        if manifest.part == "images":
            encoder = image_encoder or image_encoders.create(manifest.encoder_spec)
            manifest.check_encoder(encoder.id)
            images = ImageKG(vectors, rows, encoder, max_regions=max_regions)
        else:
            encoder = text_encoder or text_encoders.create(manifest.encoder_spec)
            manifest.check_encoder(encoder.id)
            lexical = open_lexical(place / "words", manifest.rows)
            web = Web(vectors, rows, lexical, encoder, mode=mode,
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


def open_vectors(folder: Path, manifest: Manifest) -> Vectors:
    """The vectors of a part, mapped: exact, or by graph where there is one."""
    try:
        matrix = np.load(folder / "vectors.npy", mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(
            f"{folder / 'vectors.npy'}: cannot be opened ({error}); `mmrag index build` "
            "makes it again."
        ) from error
    if matrix.shape != (manifest.rows, manifest.dim):
        raise StoreError(
            f"{folder / 'vectors.npy'}: {matrix.shape}, its manifest says "
            f"{(manifest.rows, manifest.dim)}; `mmrag index build` makes it again."
        )
    if (folder / "graph.usearch").exists():
        return GraphVectors.open(matrix, folder / "graph.usearch")
    return ExactVectors(matrix)


def verify_index(folder: Path) -> list[str]:
    """What is wrong with an index; an empty list when it is whole."""
    return [
        f"{folder / manifest.part / name}: {how}"
        for manifest in read_manifests(folder)
        for name, how in _broken(folder / manifest.part, manifest).items()
    ]


def _broken(place: Path, manifest: Manifest) -> dict[str, str]:
    """Derived files that search would be misled by, and how they are wrong."""
    bad = dict.fromkeys(check_files(place, manifest), "missing or changed since the build")
    if "vectors.npy" not in bad and not _all_unit(_mapped(place)):
        bad["vectors.npy"] = "rows that are not of length 1, so scores are no cosines"
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
