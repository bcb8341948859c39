"""Search of the image knowledge graph: whole picture and regions, entities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.records import Evidence
from mmrag.search.image.regions import MAX_REGIONS, Region, closer_regions, crops_of, regions_of
from mmrag.search.index.row_table import RowTable
from mmrag.search.vectors.batcher import Batcher
from mmrag.search.vectors.nearest import VectorIndex

if TYPE_CHECKING:
    from mmrag.encoders.image import ImageEncoder

MAX_K = 1000

WHOLE_SHARE = 0.1
"""What the whole picture counts beside the best squares."""

BEST_SQUARES = 2
"""A row is as near to a picture as its best squares are on the average."""


class Hit(NamedTuple):
    """A row of the index near a picture: the best of its regions."""

    row: int
    score: float
    region: Region
    votes: int
    """Regions among whose nearest rows this one was."""


class _Look(NamedTuple):
    """Regions of one picture, their vectors, and the rows nearest to each."""

    regions: list[Region]
    encoded: NDArray[np.float32]
    rows: NDArray[np.int64]
    scores: NDArray[np.float32]

    def joined(self, other: _Look) -> _Look:
        return _Look(
            self.regions + other.regions,
            np.concatenate([self.encoded, other.encoded]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.scores, other.scores]),
        )


class ImageKG:
    """Pictures of entities, searched by picture. Safe to call from several threads.

    Every picture becomes one batch of vectors: itself and `max_regions - 1` squares; then the
    middles of the best squares are looked at once more. A row's score is mostly that of the squares
    that it matches best (`BEST_SQUARES`, `WHOLE_SHARE`).
    """

    def __init__(
        self,
        vectors: VectorIndex,
        rows: RowTable,
        encoder: ImageEncoder,
        *,
        max_regions: int = MAX_REGIONS,
    ) -> None:
        if max_regions < 1:
            raise UsageError("max_regions counts the whole picture: use 1 or more.")
        self.encoder = encoder
        self._floor: float = getattr(encoder, "floor", 0.0)  # of others' encoders it is the cosine
        self.vectors = vectors
        self.rows = rows
        self.max_regions = max_regions
        self._encode = Batcher(encoder.encode_crops, max_items=512)

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """The k best pictures of the KG for each picture, best first, by all its regions."""
        hits = self.hits(images, k)
        return [self._evidence(found) for found in hits]

    def search_whole(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """The k best by the whole picture alone, as the published index is used."""
        hits = self.hits(images, k, max_regions=1)
        return [self._evidence(found) for found in hits]

    def search_vectors(
        self, vectors: NDArray[np.float32], k: int = 30
    ) -> list[tuple[Evidence, ...]]:
        """The k best for vectors of the same encoder."""
        check_k(k)
        rows, scores = self.vectors.search(vectors, k)
        whole = Region((0.0, 0.0, 0.0, 0.0), "vector")
        return [
            self._evidence([Hit(int(r), float(s), whole, 1) for r, s in zip(a, b, strict=True)])
            for a, b in zip(rows, scores, strict=True)
        ]

    def hits(
        self, images: Sequence[LazyImage], k: int = 30, *, max_regions: int | None = None
    ) -> list[list[Hit]]:
        """Rows, scores, regions and votes, before anything is looked up."""
        check_k(k)
        limit = self.max_regions if max_regions is None else max_regions
        looks = self._look(images, [regions_of(image.pil(), limit) for image in images], k)
        if limit > 1:
            second = [closer_regions(look.regions, look.scores[:, 0]) for look in looks]
            more = self._look(images, second, k)
            looks = [one.joined(other) for one, other in zip(looks, more, strict=True)]
        found: list[list[Hit]] = []
        for look in looks:
            near = np.unique(look.rows)
            alike = np.asarray(self.vectors.matrix[near]) @ look.encoded.T
            found.append(merge(near, alike, look.rows, look.regions, k))
        return found

    def _look(
        self, images: Sequence[LazyImage], places: Sequence[list[Region]], k: int
    ) -> list[_Look]:
        """The nearest rows of regions of pictures, all of them in one batch."""
        crops: list[Any] = []
        for image, regions in zip(images, places, strict=True):
            picture = image.pil()
            # alone, the whole picture is encoded as it is: a smaller copy moves the cosine
            side = self.encoder.image_size if len(regions) > 1 else max(picture.size)
            crops += crops_of(picture, regions, side)
        encoded = np.zeros((0, self.vectors.matrix.shape[1]), np.float32)
        if crops:
            encoded = np.stack(self._encode(crops))
        rows, scores = self.vectors.search(encoded, k)
        looks: list[_Look] = []
        first = 0
        for regions in places:
            part = slice(first, first + len(regions))
            looks.append(_Look(regions, encoded[part], rows[part], scores[part]))
            first += len(regions)
        return looks

    def _evidence(self, hits: Sequence[Hit]) -> tuple[Evidence, ...]:
        cells = self.rows.get([hit.row for hit in hits])
        names = [_names(cell) for cell in cells]
        floor = self._floor
        margins = _margins(hits, names)
        found: list[Evidence] = []
        for hit, cell, (listed, info), margin in zip(hits, cells, names, margins, strict=True):
            entities = [{"entity_name": n, "entity_attributes": info.get(n, {})} for n in listed]
            found.append(
                Evidence(
                    source="image-kg",
                    id=cell["id"],
                    score=round(floor + (1 - floor) * hit.score, 6),
                    text=listed[0] if listed else "",
                    title=listed[0] if listed else "",
                    url=cell["image_url"],
                    attributes={
                        "entities": entities,
                        "box": [round(edge, 1) for edge in hit.region.box],
                        "region": hit.region.kind,
                        "votes": hit.votes,
                        "margin": round((1 - floor) * margin, 6),
                    },
                )
            )
        return tuple(found)


def merge(
    near: NDArray[np.int64],
    alike: NDArray[np.float32],
    rows: NDArray[np.int64],
    regions: Sequence[Region],
    k: int,
) -> list[Hit]:
    """The k best of the rows that are near to any region, each with the region it matches best.

    `alike` holds the cosine of each row in `near` with each region, `rows` what each region found.
    A row's score is the mean over the few squares that it matches best and, for a smaller part, the
    whole picture's: the best of many squares alone is often a false alarm (measured,
    docs/benchmarks/search.md).
    """
    final, best = alike[:, 0], np.zeros(len(near), np.int64)
    if len(regions) > 1:
        few = np.sort(alike[:, 1:], axis=1)[:, -BEST_SQUARES:].mean(axis=1)
        final = (1 - WHOLE_SHARE) * few + WHOLE_SHARE * final
        best = alike.argmax(axis=1)
    votes = np.bincount(np.searchsorted(near, rows.ravel()), minlength=len(near))
    ranked = np.lexsort((near, -final))[:k].tolist()
    return [
        Hit(int(near[i]), float(final[i]), regions[int(best[i])], int(votes[i])) for i in ranked
    ]


def check_k(k: int) -> None:
    """k is the caller's, and may come from anywhere."""
    if not hasattr(k, "__index__") or not 1 <= k <= MAX_K:
        raise UsageError(f"k={k!r}: between 1 and {MAX_K} results can be asked for.")


def _names(cell: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    listed = json.loads(cell["entities"] or "[]")
    info = json.loads(cell["info"] or "{}")
    names = [str(n) for n in (listed if isinstance(listed, list) else [listed])]
    return names, info if isinstance(info, dict) else {}


def _margins(hits: Sequence[Hit], names: Sequence[tuple[list[str], Any]]) -> list[float]:
    """Score of each hit minus that of the best hit of another entity."""
    found: list[float] = []
    for hit, (own, _) in zip(hits, names, strict=True):
        others = (h.score for h, (n, _) in zip(hits, names, strict=True) if set(n).isdisjoint(own))
        found.append(hit.score - max(others, default=0.0))
    return found
