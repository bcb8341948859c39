"""Many sheets side by side in one picture, so that all that they lie on can be one mesh."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Material
from simulator.studio.tracing.merging import FAR, Piece, Place

_WIDTH = 4128
"""Four sheets of floors or walls side by side."""
_WIDEST = 2044
"""Pixels of a sheet's width."""
_CELL = 8
"""Sheets begin at multiples of this, so that gloss can be said on a coarser grid."""
_EDGE = 2
"""Pixels of its own colour around a sheet: between two texels there is never a neighbour's."""
WHITEST = 245
"""No colour is brighter: with its gloss and lacquer it would give back more light than it gets."""
_MOST = 16_000_000
"""Pixels of all sheets together; beyond it the largest are made smaller."""
_LEAST = 512 * 512
"""Pixels to which a sheet that repeats is made smaller before any print is."""


class Atlas(NamedTuple):
    """Sheets in one picture."""

    colour: NDArray[np.uint8]
    gloss: NDArray[np.float32]
    """Roughness, metal, lacquer, on a coarser grid."""
    places: list[Place]
    """Of each material."""


def in_one_picture(pieces: Sequence[Piece]) -> tuple[list[Piece], Atlas]:
    """Pieces as they lie on one picture; a plain colour is a small square of it."""
    numbers: dict[tuple[object, ...], int] = {}
    materials: list[Material] = []
    repeating: set[int] = set()

    def number(piece: Piece, coarse: bool) -> int:
        m = piece.part.material
        key = (m.colour if m.sheet is None else id(m.sheet), m.rough, m.metal, m.coat, coarse)
        if key not in numbers:
            numbers[key] = len(materials)
            materials.append(m._replace(sheet=_coarse(m.sheet)) if coarse else m)
        if coarse or piece.repeats:
            repeating.add(numbers[key])
        return numbers[key]

    of = [number(piece, False) for piece in pieces]
    far = [number(piece, True) if piece.repeats and piece.is_vast else None for piece in pieces]
    atlas = pack(materials, repeating)
    places = atlas.places
    laid = [
        piece._replace(place=places[n], far=None if f is None else places[f])
        for piece, n, f in zip(pieces, of, far, strict=True)
    ]
    return laid, atlas


def pack(materials: Sequence[Material], repeating: Collection[int] = ()) -> Atlas:
    """The sheets and colours of materials; shelves are filled from the tallest on."""
    sheets = _fitting([_sheet(m) for m in materials], repeating)
    rooms = [tuple(-(-(n + 2 * _EDGE) // _CELL) * _CELL for n in s.shape[:2]) for s in sheets]
    corners, height = _shelved(rooms)
    colour = np.zeros((height, _WIDTH, 3), np.uint8)
    gloss = np.full((height // _CELL, _WIDTH // _CELL, 3), 0.5, np.float32)
    places: list[Place] = []
    for i, (m, sheet) in enumerate(zip(materials, sheets, strict=True)):
        (h, w), (left, top) = rooms[i], corners[i]
        tall, wide = sheet.shape[:2]
        edges = ((_EDGE, h - tall - _EDGE), (_EDGE, w - wide - _EDGE), (0, 0))
        how = "wrap" if i in repeating else "edge"
        colour[top : top + h, left : left + w] = np.minimum(np.pad(sheet, edges, how), WHITEST)
        rows = slice(top // _CELL, (top + h) // _CELL)
        gloss[rows, left // _CELL : (left + w) // _CELL] = (m.rough, m.metal, m.coat)
        x, y = (left + _EDGE) / _WIDTH, (top + _EDGE) / height
        places.append((x, y, wide / _WIDTH, tall / height))
    return Atlas(colour, gloss, places)


def linear(screen: Array) -> NDArray[np.float32]:
    """A screen's colours (0–255) as light (0–1)."""
    x = np.asarray(screen, np.float32) / 255
    return np.where(x > 0.04045, ((x + 0.055) / 1.055) ** 2.4, x / 12.92).astype(np.float32)


def _shelved(rooms: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, int]], int]:
    """The upper left corner of each room, and the height of all."""
    corners = [(0, 0)] * len(rooms)
    x = y = shelf = 0
    for i in sorted(range(len(rooms)), key=lambda i: (-rooms[i][0], i)):
        h, w = rooms[i]
        if x + w > _WIDTH:
            x, y, shelf = 0, y + shelf, 0
        corners[i] = (x, y)
        x, shelf = x + w, max(shelf, h)
    return corners, max(y + shelf, 4 * _CELL)  # a texture of one row ends the process


def _sheet(material: Material) -> NDArray[np.uint8]:
    if material.sheet is not None:
        return material.sheet
    colour = np.clip(np.rint(material.colour), 0, 255).astype(np.uint8)
    return np.broadcast_to(colour, (_CELL - 2 * _EDGE, _CELL - 2 * _EDGE, 3))


def _fitting(
    sheets: list[NDArray[np.uint8]], repeating: Collection[int]
) -> list[NDArray[np.uint8]]:
    """Sheets that are no more than a scene may have, and no wider than one may be: what repeats is
    made smaller before what is read."""
    sheets = [_halved(s) if s.shape[1] > _WIDEST else s for s in sheets]
    while sum(areas := [s.shape[0] * s.shape[1] for s in sheets]) > _MOST:
        some = [i for i in repeating if areas[i] > _LEAST] or range(len(sheets))
        largest = max(areas[i] for i in some)
        for i in some:
            if areas[i] == largest:
                sheets[i] = _halved(sheets[i])
    return sheets


def _coarse(sheet: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """A sheet as it looks from far away, `FAR` times `FAR`."""
    import cv2

    assert sheet is not None
    side = tuple(max(n // FAR, 1) for n in sheet.shape[1::-1])
    small = np.asarray(cv2.resize(sheet, side, interpolation=cv2.INTER_AREA), np.uint8)
    return np.tile(small, (FAR, FAR, 1))


def _halved(sheet: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import cv2

    size = (max(sheet.shape[1] // 2, 1), max(sheet.shape[0] // 2, 1))
    return np.asarray(cv2.resize(sheet, size, interpolation=cv2.INTER_AREA), np.uint8)
