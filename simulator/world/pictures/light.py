"""Light and materials: a table of shading by surface normal, made once per light and gloss.

A surface is looked up in a 64 × 64 table by its normal. That costs two table look-ups a pixel
whatever the light does, which is what keeps a picture under a tenth of a second.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.traits import Colour

SIZE = 64
"""Edge of a shading table."""


class Light(NamedTuple):
    """The main light and what surrounds it."""

    side: float
    """−1 from the left … 1 from the right."""
    height: float
    """0 at the horizon … 1 overhead."""
    ambient: float
    """Share of light that comes from everywhere."""
    warm: float = 0.0
    """−1 blue … 1 orange."""
    outdoor: bool = False
    """Open sky above, or a room with a window."""

    @property
    def vector(self) -> tuple[float, float, float]:
        """Unit vector towards the light: right, up, towards the viewer."""
        x, y, z = self.side * 0.9, 0.25 + self.height, 0.75
        length = math.sqrt(x * x + y * y + z * z)
        return x / length, y / length, z / length

    @property
    def colour(self) -> Colour:
        """Colour of the main light, 1 being neutral."""
        return 1 + 0.09 * self.warm, 1 + 0.01 * self.warm, 1 - 0.13 * self.warm


class Material(NamedTuple):
    """How a surface answers to light."""

    colour: Colour
    gloss: float = 0.3
    """0 chalk … 1 lacquer."""
    metal: float = 0.0
    """0 none … 1 mirror-like metal tinted by the colour."""
    grain: float = 0.0
    """Strength of the unevenness of colour."""
    bump: float = 0.0
    """Strength of the unevenness of the surface."""
    texture: str = "fine"
    """Which unevenness: fine, fur, leather, bark, brushed, cloth, cloud."""


@lru_cache(maxsize=1024)
def table(
    light: Light, gloss: float, metal: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What multiplies the colour and what is added to it (0–255), by normal."""
    axis = np.linspace(-1, 1, SIZE)
    nx, ny = np.meshgrid(axis, -axis)
    length = np.hypot(nx, ny)
    outside = np.maximum(length, 1.0)
    nx, ny = nx / outside, ny / outside
    nz = np.sqrt(np.maximum(1 - nx * nx - ny * ny, 0))
    lx, ly, lz = light.vector
    facing = nx * lx + ny * ly + nz * lz
    key = np.clip((facing + 0.18) / 1.18, 0, None)
    sky = 0.5 + 0.5 * ny
    above = np.array((0.86, 0.98, 1.16) if light.outdoor else (1.0, 1.0, 1.02))
    below = np.array((0.62, 0.55, 0.44) if light.outdoor else (0.62, 0.56, 0.5))
    around = below + (above - below) * sky[..., None]
    strength = (1 - light.ambient) * 1.12
    diffuse = light.ambient * around * 0.92 + strength * key[..., None] * np.array(light.colour)
    diffuse *= (0.72 + 0.28 * nz)[..., None]  # surfaces that turn away lie in their own shade
    shade = np.power(np.maximum(diffuse, 1e-4), 1 / 2.2)

    hx, hy, hz = lx, ly, lz + 1
    norm = math.sqrt(hx * hx + hy * hy + hz * hz)
    half = np.clip((nx * hx + ny * hy + nz * hz) / norm, 0, 1)
    sharp = 6 + 150 * gloss**2
    spot = half**sharp * (0.25 + 0.75 * gloss)
    rx, ry = 2 * nz * nx, 2 * nz * ny
    window = _soft(rx, light.side * 0.62 - 0.16, light.side * 0.62 + 0.16) * _soft(ry, 0.12, 0.72)
    rim = (1 - nz) ** 3 * (0.35 + 0.65 * sky)
    shine = gloss * (0.75 * spot + 0.34 * window + 0.28 * rim)
    added = 255 * shine[..., None] * (0.5 + 0.5 * np.array(light.colour))
    if metal > 0:
        horizon = _surroundings(ry, light)
        mirror = horizon[..., None] * (0.6 + 0.4 * around)
        shade = shade * (1 - metal) + mirror * metal
        added = added * (1 + 0.6 * metal)
    return shade.astype(np.float32), added.astype(np.float32)


def _surroundings(up: NDArray[np.float64], light: Light) -> NDArray[np.float64]:
    bright = 0.75 + 0.55 * np.clip(up, 0, 1) + 0.35 * np.exp(-(((up - 0.35) / 0.16) ** 2))
    floor = 0.42 + 0.3 * np.clip(-up, 0, 1)
    blend = 1 / (1 + np.exp(-(up + 0.02) * 14))
    return floor + (bright - floor) * blend - 0.12 * light.ambient


def _soft(
    value: NDArray[np.float64], low: float, high: float, edge: float = 0.09
) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-(value - low) / edge * 4)) * 1 / (1 + np.exp((value - high) / edge * 4))
