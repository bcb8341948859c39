"""Tiles of unevenness, made once per process: every surface, ground and sensor draws on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.randomness import generator

TILE = 512
"""Edge of a tile; tiles join seamlessly."""


@lru_cache(maxsize=64)
def tile(name: str) -> NDArray[np.float32]:
    """A seamless tile with mean 0 and deviation 1."""
    raw = _TILES[name]()
    raw = raw - raw.mean()
    return (raw / raw.std()).astype(np.float32)


def patch(
    name: str, height: int, width: int, dx: float = 0.0, dy: float = 0.0
) -> NDArray[np.float32]:
    """A piece of a tile, as large as asked for, from a place given by dx and dy in [0, 1)."""
    source = _double(name)
    x, y = int(dx * TILE), int(dy * TILE)
    if height <= TILE and width <= TILE:
        return source[y : y + height, x : x + width]
    rows = np.arange(y, y + height) % TILE
    columns = np.arange(x, x + width) % TILE
    return tile(name)[rows[:, None], columns[None, :]]


@lru_cache(maxsize=64)
def _double(name: str) -> NDArray[np.float32]:
    return np.tile(tile(name), (2, 2))


def _octaves(name: str, parts: tuple[tuple[float, float], ...]) -> NDArray[Any]:
    total = np.zeros((TILE, TILE))
    for sigma, weight in parts:
        total += weight * _blurred(f"{name}-{sigma}", sigma, sigma)
    return total


def _blurred(name: str, sigma_x: float, sigma_y: float) -> NDArray[Any]:
    white = generator("tile", name).standard_normal((TILE, TILE)).astype(np.float32)
    wide = np.tile(white, (3, 3))
    soft = cv2.GaussianBlur(wide, (0, 0), sigmaX=sigma_x, sigmaY=sigma_y)[TILE:-TILE, TILE:-TILE]
    return (soft / soft.std()).astype(np.float64)


def _woven() -> NDArray[Any]:
    y, x = np.mgrid[0:TILE, 0:TILE]
    weave = np.sin(x * np.pi / 2) * ((y // 2) % 2) + np.sin(y * np.pi / 2) * ((x // 2) % 2)
    return weave + 0.7 * _octaves("cloth", ((2, 1), (30, 0.6)))


def _speckled() -> NDArray[Any]:
    grains = generator("tile", "speckle").random((TILE, TILE))
    return cv2.GaussianBlur((grains > 0.985).astype(np.float64), (0, 0), 0.9)


_TILES: dict[str, Callable[[], NDArray[Any]]] = {
    "fine": lambda: _octaves("fine", ((1, 1), (2, 1), (4, 0.7))),
    "fur": lambda: _blurred("fur", 1.0, 7.0),
    "brushed": lambda: _blurred("brushed", 40.0, 0.8),
    "bark": lambda: _blurred("bark", 2.0, 16.0) + 0.6 * _octaves("bark", ((3, 1), (8, 1))),
    "wood": lambda: _blurred("wood", 90.0, 1.6) + 1.1 * _blurred("rings", 200.0, 9.0),
    "leather": lambda: -np.abs(_octaves("leather", ((4, 1),))) + 0.3 * _octaves("pores", ((1, 1),)),
    "cloth": _woven,
    "cloud": lambda: _octaves("cloud", ((6, 0.15), (14, 0.35), (34, 0.7), (80, 1))),
    "leafage": lambda: _octaves("leafage", ((2, 0.8), (5, 1), (14, 0.8))),
    "speckle": _speckled,
}
"""How each tile is made, of white noise. An octave is the sigma of its blur, in pixels of the tile,
and its weight; what is stretched has a sigma along and one across. A thread of cloth is 2 pixels
wide, and 1.5 % of the pixels are grains of speckle."""
