"""How sheets come about: noise without seams, made once for each seed and dyed for each colour."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Colour, Material
from simulator.world.pictures.noise import generator

Field = NDArray[np.float32]
Bytes = NDArray[np.uint8]

SIDE = 1024
"""Pixels of a sheet."""


class Surface(NamedTuple):
    """A material, and the metres that its sheet covers."""

    material: Material
    width: float
    height: float
    unit: tuple[float, float] = (1.0, 1.0)
    """Of the sheet: by whole ones of these it may be shifted unseen, as by a board or a slab."""


@lru_cache(maxsize=48)
def surface_of(
    make: Callable[..., Any],
    args: tuple[Any, ...],
    colour: Colour,
    size: tuple[float, float],
    *,
    second: Colour | None = None,
    rough: float,
    coat: float = 0.0,
    metal: float = 0.0,
    grain: str = "stone",
    unit: tuple[float, float] = (1.0, 1.0),
) -> Surface:
    """A surface with the pattern that `make` draws, in a colour."""
    sheet = _dyed_sheet(make, args, colour, second)
    material = Material(sheet=sheet, rough=rough, coat=coat, metal=metal, grain=grain)
    return Surface(material, *size, unit)


@lru_cache(maxsize=24)
def _dyed_sheet(
    make: Callable[..., Any], args: tuple[Any, ...], colour: Colour, second: Colour | None
) -> Bytes:
    level, share = _pattern(make, args)
    level = cv2.merge((level,) * 3) if level.ndim == 2 else level
    sheet = np.asarray(cv2.LUT(level, _dye(colour)))
    if share is not None and second is not None and second != colour:
        other = np.asarray(cv2.LUT(level, _dye(second)))
        weight = share.astype(np.float32) / 255
        sheet = np.asarray(cv2.blendLinear(sheet, other, 1 - weight, weight))
    return sheet.astype(np.uint8, copy=False)


_FULL = 160
"""The byte that stands for a level of 1."""


@lru_cache(maxsize=80)
def _pattern(make: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Bytes, Bytes | None]:
    """Levels, of each channel where they differ, and the share of the second colour if any."""
    made = make(*args)
    level, share = made if isinstance(made, tuple) else (made, None)
    dyed_share = None if share is None else np.clip(share * 255, 0, 255).astype(np.uint8)
    return np.clip(level * _FULL, 0, 255).astype(np.uint8), dyed_share


def _dye(colour: Colour) -> Bytes:
    steps = np.arange(256)[:, None] / _FULL * np.asarray(colour, float)
    return np.clip(steps, 4, 250).astype(np.uint8)[None]


def forget() -> None:
    """Drop all sheets that were made."""
    for cached in (surface_of, _dyed_sheet, _pattern):
        cached.cache_clear()


def noise(seed: int, layer: int, rows: int, columns: int) -> Field:
    """Smooth periodic noise of so many cells (powers of two); mean 0, deviation about 1."""
    rows, columns = min(rows, SIDE), min(columns, SIDE)
    small = generator("surface", seed, layer).standard_normal((rows, columns), np.float32)
    sy, sx = SIDE // rows, SIDE // columns
    how = cv2.INTER_LINEAR if sx * sy < 9 else cv2.INTER_CUBIC
    wide = cv2.resize(np.pad(small, 2, mode="wrap"), None, fx=sx, fy=sy, interpolation=how)
    return wide[2 * sy : 2 * sy + SIDE, 2 * sx : 2 * sx + SIDE] * 1.25


def clouds(seed: int, many: int, octaves: int) -> Field:
    """Noise of so many cells, then octaves each twice as fine and half as strong."""
    total = noise(seed, 20, many, many)
    for k in range(1, octaves):
        total = total + noise(seed, 20 + k, many << k, many << k) / 2**k
    return total * np.float32(0.8)


def cells(
    seed: int, count: int, points: Array | None = None
) -> tuple[NDArray[np.int32], Field, Field]:
    """Periodic cells around points in the unit square.

    For each pixel: whose it is, pixels to that point, and pixels to the cell's edge.
    """
    if points is None:
        points = generator("cells", seed).random((count, 2))
    margin = 96
    wide = SIDE + 2 * margin
    around = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    spot = np.floor((points[None] + around[:, None]).reshape(-1, 2) * SIDE).astype(int) + margin
    inside = np.all((spot >= 0) & (spot < wide), axis=1)
    mask = np.full((wide, wide), 255, np.uint8)
    mask[spot[inside, 1], spot[inside, 0]] = 0
    distance, which = cv2.distanceTransformWithLabels(
        mask, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    near, label = np.asarray(distance, np.float32), np.asarray(which, np.int32)
    owners = np.zeros(int(label.max()) + 1, np.int32)
    owners[label[spot[inside, 1], spot[inside, 0]]] = np.nonzero(inside)[0] % len(points)
    same = (label == np.roll(label, 1, 0)) & (label == np.roll(label, 1, 1))
    edge = np.asarray(cv2.distanceTransform(same.astype(np.uint8), cv2.DIST_L2, 3), np.float32)
    cut = slice(margin, margin + SIDE)
    return owners[label[cut, cut]], near[cut, cut], edge[cut, cut]
