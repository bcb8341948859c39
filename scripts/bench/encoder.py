"""Recall of an image encoder on path-traced pictures: of kinds seen and unseen.

    python scripts/encoder_pictures.py test TEST
    python scripts/bench/encoder.py TEST [--encoder builtin] [--gallery 5215]

Queries are a world's egocentric pictures, one of each kind; the gallery holds catalogue pictures
of a world's size: two of the thing, one of each of four look-alikes, two other families of every
kind. They are searched as an index is: the whole picture, its squares, and the thing's own box,
which no system is given. A world has more pictures. What it would find among `--gallery` of them is
estimated: as many more of the look-alikes, of the kind and of other kinds stand before the thing as
there are more of each.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from mmrag.encoders.image import ImageEncoder, builtin_encoder, open_clip_encoder
from mmrag.files.images import LazyImage
from mmrag.search.image.image_kg import MAX_K, ImageKG
from mmrag.search.image.views import encode_views
from mmrag.search.vectors.nearest import ExactVectors
from scripts.encoder_data import Probe
from scripts.encoder_pictures import TESTED
from simulator.world.facts.look import KINDS

K = 30
FAMILY, VIEWS = 8, 2
"""Things of a family and pictures of each in a world."""
N_KINDS = sum(len(kinds) for kinds in KINDS.values())


def scores(test: Probe, encoder: ImageEncoder) -> dict[str, NDArray[np.float32]]:
    """Queries × gallery by each way of searching; rows not found are at -1."""
    gallery = [LazyImage.from_pil(Image.fromarray(picture)) for picture in test.gallery]
    matrix = encode_views([picture.pil() for picture in gallery], encoder.encode_crops)
    kg = ImageKG(ExactVectors(matrix), None, encoder)  # type: ignore[arg-type]
    found: dict[str, NDArray[np.float32]] = {}
    crops = [LazyImage.from_pil(Image.fromarray(picture)) for picture in test.crops]
    found["own box"] = encoder.encode(crops) @ matrix.T
    for name, regions in (("whole", 1), ("regions", kg.max_regions)):
        table = np.full((len(test.wholes), len(matrix)), -1, np.float32)
        for n, picture in enumerate(test.wholes):
            image = LazyImage.from_pil(Image.fromarray(picture))
            for hit in kg.hits([image], min(len(matrix), MAX_K), max_regions=regions)[0]:
                table[n, hit.row] = hit.score
        found[name] = table
    return found


def ranks(test: Probe, table: NDArray[np.float32], gallery: int) -> NDArray[np.float64]:
    """How many pictures of other things stand before the thing's best, per query: in this gallery,
    and in one of so many."""
    right = test.right()
    best = np.where(right, table, -2).max(1, keepdims=True)
    above = (table > best) & ~right
    kinds = np.array([kind for kind, _, _ in test.rows])
    first = np.array([number == TESTED for _, number, _ in test.rows])
    found: list[tuple[float, float]] = []
    for query, own, (kind, _, _) in zip(above, right, test.asked, strict=True):
        alike = (kinds == kind) & first & ~own
        same, others = (kinds == kind) & ~first, kinds != kind
        of_kind = gallery / N_KINDS
        there = (VIEWS * (FAMILY - 1), of_kind - VIEWS * FAMILY, gallery - of_kind)
        more = sum(
            query[group].sum() * many / max(int(group.sum()), 1)
            for group, many in zip((alike, same, others), there, strict=True)
        )
        found.append((float(query.sum()), float(more)))
    return np.array(found)


def recall(test: Probe, found: dict[str, NDArray[np.float32]], gallery: int) -> dict[str, Any]:
    """Shares of the queries, kinds trained on and not."""
    result: dict[str, Any] = {"pictures": len(test.rows), "gallery": gallery}
    unseen = test.unseen()
    for sort, those in (("seen kinds", ~unseen), ("unseen kinds", unseen)):
        if not those.any():
            continue
        part: dict[str, Any] = {"queries": int(those.sum())}
        for name, table in found.items():
            here, there = ranks(test, table, gallery)[those].T
            part[name] = {f"@{k}": round(float((here < k).mean()), 3) for k in (1, 5, K)}
            part[name][f"@{K} of {gallery}"] = round(float((there < K).mean()), 3)
        result[sort] = part
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("test", type=Path)
    parser.add_argument("--encoder", default="builtin", help="builtin, or a folder of weights.")
    parser.add_argument("--gallery", type=int, default=5215)
    given = parser.parse_args()
    encoder = (
        builtin_encoder() if given.encoder == "builtin" else open_clip_encoder(model=given.encoder)
    )
    test = Probe(given.test)
    found = recall(test, scores(test, encoder), given.gallery)
    print(json.dumps({"encoder": encoder.id, **found}, indent=1))


if __name__ == "__main__":
    main()
