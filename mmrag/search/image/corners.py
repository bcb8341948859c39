"""Local features: corners of a picture, what is around each, and where it lies.

A corner has ORB's 256 bits (Rublee et al. 2011) and, because things of one family often differ in
nothing but their colours, the colours of a 4 × 4 grid laid along the corner's own direction. Of a
KG picture the 64 strongest are kept, 86 bytes each, so that 70,000 pictures take 0.4 GB.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import StoreError

if TYPE_CHECKING:
    from PIL.Image import Image

FEATURES = "features.npy"
"""File of an index that holds the corners of its pictures, in the order of the vectors."""

KIND = "orb-colour/1"
"""Name and version of what is computed here; a build does not go on with another."""

KEPT = 64
"""Corners of a KG picture."""
KEPT_SIDE = 384
"""Longer side, in pixels, at which a KG picture is looked at."""

SOUGHT = 1500
"""Corners of a picture that is searched with: it holds more than one thing."""
SOUGHT_SIDE = 960

WIDTH = 86
"""Bytes of a kept corner: x, y (2 each), level + 1, angle, 32 of bits, 48 of colours."""

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

_PATCH = 31
_STEP = 1.2
_GRID = 4


class Corners(NamedTuple):
    """Corners of one picture, the strongest first; or kept ones of many, a row per picture."""

    places: Floats
    """x and y in pixels of the picture as it was looked at."""
    levels: NDArray[np.int64]
    """Of the scale pyramid, in steps of 1.2; −1 where a row has fewer corners than others."""
    angles: Floats
    """Directions in turns, 0 to 1."""
    bits: Bytes
    colours: Bytes


def corners_of(picture: Image, *, side: int = SOUGHT_SIDE, count: int = SOUGHT) -> Corners:
    """The strongest corners of a picture scaled down to `side`."""
    import cv2

    scale = side / max(picture.size)
    pixels: Any = np.asarray(picture)
    if scale < 1:
        size = (max(round(picture.width * scale), 1), max(round(picture.height * scale), 1))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    found: Any = ()
    bits: Any = None
    if min(pixels.shape[:2]) > 2 * _PATCH:  # nearer to the border than that ORB finds nothing
        finder = cv2.ORB.create(nfeatures=max(2 * count, 400), fastThreshold=8)
        found, bits = finder.detectAndCompute(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), None)
    if not found:
        return Corners(np.zeros((0, 2), np.float32), np.zeros(0, np.int64),
                       np.zeros(0, np.float32), np.zeros((0, 32), np.uint8),
                       np.zeros((0, 3 * _GRID**2), np.uint8))  # fmt: skip
    strength = np.array([corner.response for corner in found], np.float32)
    best = np.argsort(-strength, kind="stable")[:count]
    places = np.array([found[i].pt for i in best], np.float32)
    levels = np.array([found[i].octave for i in best], np.int64)
    angles = np.array([found[i].angle / 360 for i in best], np.float32)
    colours = _colours(pixels, places, levels, angles)
    return Corners(places, levels, angles, np.asarray(bits, np.uint8)[best], colours)


def kept(picture: Image) -> Bytes:
    """The corners of a KG picture as they are stored: `KEPT` × `WIDTH` bytes, zeros where none."""
    found = corners_of(picture, side=KEPT_SIDE, count=KEPT)
    row = np.zeros((KEPT, WIDTH), np.uint8)
    n = len(found.levels)
    row[:n, :4] = np.round(found.places * 64).astype("<u2").view(np.uint8).reshape(n, 4)
    row[:n, 4] = found.levels + 1
    row[:n, 5] = np.round(found.angles * 256).astype(np.int64) % 256
    row[:n, 6:38] = found.bits
    row[:n, 38:] = found.colours
    return row


def unpacked(rows: Bytes) -> Corners:
    """Stored corners of several pictures, one row of each array per picture."""
    rows = np.ascontiguousarray(rows)
    places = np.ascontiguousarray(rows[..., :4]).view("<u2") * np.float32(1 / 64)
    levels = rows[..., 4].astype(np.int64) - 1
    return Corners(places, levels, rows[..., 5] * np.float32(1 / 256),
                   np.ascontiguousarray(rows[..., 6:38]), rows[..., 38:])  # fmt: skip


def open_features(path: Path, rows: int) -> Bytes:
    """The corners of an index, mapped."""
    try:
        found: Any = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(
            f"{path}: cannot be opened ({error}); see `mmrag index verify`."
        ) from error
    if found.shape != (rows, KEPT, WIDTH) or found.dtype != np.uint8:
        raise StoreError(f"{path}: {found.shape}, {(rows, KEPT, WIDTH)} was expected; see "
                         "`mmrag index verify`.")  # fmt: skip
    return found


def _colours(pixels: Bytes, places: Floats, levels: NDArray[np.int64], angles: Floats) -> Bytes:
    """Colours on a grid around each corner, turned with it, from the corner's pyramid level."""
    import cv2

    found = np.zeros((len(places), 3 * _GRID**2), np.uint8)
    steps = (np.arange(_GRID, dtype=np.float32) + 0.5) / _GRID - 0.5
    across, down = np.meshgrid(steps * _PATCH, steps * _PATCH)
    for level in np.unique(levels):
        some = levels == level
        scale = _STEP ** float(level)
        size = (max(round(pixels.shape[1] / scale), 1), max(round(pixels.shape[0] / scale), 1))
        smooth = cv2.blur(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), (7, 7))
        turn = 2 * np.pi * angles[some, None, None]
        x = places[some, 0, None, None] / scale + np.cos(turn) * across - np.sin(turn) * down
        y = places[some, 1, None, None] / scale + np.sin(turn) * across + np.cos(turn) * down
        columns = np.clip(np.round(x).astype(np.int64), 0, smooth.shape[1] - 1)
        lines = np.clip(np.round(y).astype(np.int64), 0, smooth.shape[0] - 1)
        found[some] = smooth[lines, columns].reshape(-1, 3 * _GRID**2)
    return found
