"""Where in a picture the thing asked about may be: the whole picture and squares at several scales.

A first-person picture shows its subject small and among other things; one vector of the whole
picture speaks mostly of the place. Squares of a few sizes laid over the picture contain the
subject somewhere. Which squares are worth encoding is decided by what stands out from the picture's
border region in colour and by edges, computed on a thumbnail in about a millisecond.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box

if TYPE_CHECKING:
    from PIL.Image import Image

SCALES = (0.34, 0.48, 0.66, 0.9)
"""Sides of the squares in parts of the picture's shorter side."""
STEP = 0.34
"""Distance between squares in parts of their side."""
SMALL = 0.24
"""Side of the small squares: of things across a room."""
SMALL_SHARE = 3 / 8
"""What part of the squares are small. These are chosen apart from the others: more stands out in
small squares, and where all are compared no room is left for large ones (recall@30 .93 instead of
.97 when they were chosen)."""
MAX_REGIONS = 64
BEST_PLACES = 4
"""Squares that are looked at once more, closer: those most like any row of the index."""
CLOSER = (0.78, 0.6)
"""Sides of the closer squares in parts of the first one's."""
SAME = 0.5
"""Two squares with this share of their union in common show the same place."""
TWICE = 0.2
"""What a square loses for every one chosen over the same place: the rest of the picture gets its
turn."""
_NARROW = 20
"""From this ratio of its sides a picture is a strip: squares as high as it would be thousands."""
_THUMB = 64


class Region(NamedTuple):
    """A part of a picture. `kind` is whole or square."""

    box: Box
    kind: str


def regions_of(image: Image, max_regions: int = MAX_REGIONS) -> list[Region]:
    """The whole picture first, then squares, at most `max_regions` in all, the same every time."""
    width, height = image.size
    whole = Region((0.0, 0.0, float(width), float(height)), "whole")
    if min(width, height) < 32 or max(width, height) > _NARROW * min(width, height):
        return [whole]
    if max_regions <= 1:
        return [whole]
    room = max_regions - 1
    few = round(room * SMALL_SHARE)
    large, small = _squares(width, height, SCALES), _squares(width, height, (SMALL,))
    worth = _worth(image, np.asarray(large + small))
    chosen = [
        *_best(large, worth[: len(large)], room - few),
        *_best(small, worth[len(large) :], few),
    ]
    return [whole, *(Region(box, "square") for box in chosen)]


def closer_regions(regions: Sequence[Region], likeness: NDArray[np.float32]) -> list[Region]:
    """The middles of the best squares: where something was found, a tighter crop tells what.
    `likeness` is how near each region is to the row nearest to it."""
    squares = [i for i, region in enumerate(regions) if region.kind == "square"]
    best = sorted(squares, key=lambda i: (-float(likeness[i]), i))[:BEST_PLACES]
    found: list[Region] = []
    for x0, y0, x1, y1 in (regions[i].box for i in best):
        for part in CLOSER:
            x, y = (x1 - x0) * (1 - part) / 2, (y1 - y0) * (1 - part) / 2
            found.append(Region((x0 + x, y0 + y, x1 - x, y1 - y), "square"))
    return found


def crops_of(image: Image, regions: list[Region], side: int) -> list[Image]:
    """The regions cut out, from a copy of the picture no larger than a model of `side` needs."""
    levels: dict[int, Image] = {1: image}
    found: list[Image] = []
    for region in regions:
        x0, y0, x1, y1 = region.box
        factor = 1
        while min(x1 - x0, y1 - y0) / (factor * 2) >= side * 1.5:
            factor *= 2
        if factor not in levels:
            levels[factor] = image.reduce(factor)
        level = levels[factor]
        edges = (x0 / factor, y0 / factor, x1 / factor, y1 / factor)
        box = (int(edges[0]), int(edges[1]), max(int(edges[2]), int(edges[0]) + 1),
               max(int(edges[3]), int(edges[1]) + 1))  # fmt: skip
        found.append(level if region.kind == "whole" else level.crop(box))
    return found


def _squares(width: int, height: int, scales: Sequence[float]) -> list[Box]:
    short = min(width, height)
    found: list[Box] = []
    for scale in scales:
        side = scale * short
        xs, ys = _places(width, side), _places(height, side)
        found += [(x, y, x + side, y + side) for y, x in itertools.product(ys, xs)]
    return found


def _places(length: int, side: float) -> list[float]:
    free = length - side
    count = int(np.ceil(free / (side * STEP))) + 1 if free > 1 else 1
    return [free / 2] if count == 1 else [free * i / (count - 1) for i in range(count)]


def _worth(image: Image, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of what stands out lies inside each box and how little just outside it."""
    from PIL import Image as pil

    small = image.convert("RGB").resize((_THUMB, _THUMB), pil.Resampling.BOX)
    pixels = np.asarray(small, np.float64)
    grey = pixels.mean(2)
    edges = np.hypot(np.gradient(grey, axis=0), np.gradient(grey, axis=1))
    border = np.concatenate([pixels[:4].reshape(-1, 3), pixels[:, :4].reshape(-1, 3),
                             pixels[:, -4:].reshape(-1, 3)])  # fmt: skip
    spread = border.std(0) + 8.0
    unlike = np.sqrt((((pixels - np.median(border, axis=0)) / spread) ** 2).sum(2))
    salience = edges / (edges.mean() + 1e-9) + np.minimum(unlike / (unlike.mean() + 1e-9), 3.0)
    table = np.zeros((_THUMB + 1, _THUMB + 1))
    table[1:, 1:] = salience.cumsum(0).cumsum(1)
    scale = np.array([_THUMB / image.width, _THUMB / image.height] * 2)
    inner = _mean(table, boxes * scale)
    size = (boxes[:, 2:] - boxes[:, :2]) * 0.25
    outer = boxes + np.concatenate([-size, size], axis=1)
    return inner - 0.5 * _mean(table, outer * scale)


def _best(squares: list[Box], worth: NDArray[np.float64], room: int) -> list[Box]:
    """As many of the squares as there is room for, in their own order."""
    if len(squares) <= room:
        return squares
    return [squares[i] for i in sorted(_spread(worth, np.asarray(squares), room))]


def _spread(worth: NDArray[np.float64], boxes: NDArray[np.float64], room: int) -> list[int]:
    """The worthiest squares, each worth less by what was chosen over the same place before it."""
    worth, chosen = worth.copy(), list[int]()
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while len(chosen) < room:
        best = int(worth.argmax())
        chosen.append(best)
        across = np.minimum(boxes[:, 2], boxes[best, 2]) - np.maximum(boxes[:, 0], boxes[best, 0])
        down = np.minimum(boxes[:, 3], boxes[best, 3]) - np.maximum(boxes[:, 1], boxes[best, 1])
        shared = across.clip(0) * down.clip(0)
        worth[shared > SAME * (area + area[best] - shared)] -= TWICE
        worth[best] = -np.inf
    return chosen


def _mean(table: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    x0, y0, x1, y1 = np.clip(np.round(boxes), 0, _THUMB).astype(int).T
    x1, y1 = np.maximum(x1, x0 + 1).clip(max=_THUMB), np.maximum(y1, y0 + 1).clip(max=_THUMB)
    total = table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]
    return total / np.maximum((x1 - x0) * (y1 - y0), 1)
