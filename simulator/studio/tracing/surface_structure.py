"""Structure finer and coarser than any sheet: grit, fibres, scratches, stains, in true scale.

Sheets repeat and end at a millimetre. What a surface is made of is therefore laid over the picture
once more, from noise in the scene's own metres: along the axis that a surface faces, in as many
sizes as the eye can tell apart there, none of which repeats where the other does. The slopes of the
noise turn the light that falls on it, as relief does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Material
from simulator.world.pictures.noise_tiles import TILE, tile
from simulator.world.pictures.randomness import generator

Field = NDArray[np.float32]


class Layer(NamedTuple):
    """One noise of a surface."""

    noise: str
    metres: float
    """How far its tile reaches."""
    tone: float
    """How much lighter and darker it makes the surface."""
    relief: float = 0.0
    """How steep it is: 1 is as deep as wide."""


STRUCTURE: dict[str, tuple[Layer, ...]] = {
    "even": (),
    "plain": (Layer("cloud", 2.9, 0.05), Layer("smudge", 0.53, 0.03),
              Layer("fine", 0.11, 0.015, 0.03), Layer("scratch", 0.31, 0.02)),
    "smooth": (Layer("cloud", 0.37, 0.04), Layer("smudge", 0.19, 0.035), Layer("dust", 0.31, 0.015),
               Layer("scratch", 0.23, 0.025), Layer("fine", 0.04, 0.012, 0.02)),
    "metal": (Layer("brushed", 0.21, 0.045), Layer("smudge", 0.27, 0.05),
              Layer("scratch", 0.17, 0.03), Layer("cloud", 0.33, 0.05)),
    "paper": (Layer("fine", 0.05, 0.012, 0.02), Layer("cloud", 0.31, 0.02),
              Layer("scratch", 0.6, 0.008)),
    "wood": (Layer("cloud", 1.3, 0.05), Layer("scratch", 0.5, 0.01),
             Layer("fine", 0.05, 0.02, 0.04), Layer("cloud", 4.1, 0.05)),
    "wall": (Layer("cloud", 4.7, 0.04), Layer("cloud", 1.1, 0.02),
             Layer("fine", 0.17, 0.012, 0.04), Layer("cloud", 0.29, 0.012, 0.015),
             Layer("dust", 2.7, 0.006)),
    "ground": (Layer("cloud", 9.7, 0.12), Layer("cloud", 2.3, 0.07),
               Layer("fine", 0.23, 0.05, 0.14), Layer("speckle", 1.9, 0.03),
               Layer("dust", 3.1, 0.025)),
    "stone": (Layer("cloud", 3.1, 0.09), Layer("cloud", 0.7, 0.05), Layer("fine", 0.13, 0.04, 0.14),
              Layer("speckle", 0.31, 0.02)),
    "cloth": (Layer("cloth", 0.17, 0.06, 0.14), Layer("fur", 0.11, 0.04, 0.08),
              Layer("fine", 0.31, 0.03, 0.1), Layer("cloud", 0.7, 0.06)),
    "leather": (Layer("leather", 0.09, 0.04, 0.1), Layer("cloud", 0.31, 0.06),
                Layer("scratch", 0.3, 0.015)),
    "fur": (Layer("fur", 0.07, 0.16, 0.32), Layer("fur", 0.23, 0.12, 0.2),
            Layer("cloud", 0.5, 0.09)),
    "skin": (Layer("leather", 0.03, 0.02, 0.07), Layer("cloud", 0.09, 0.05),
             Layer("fine", 0.02, 0.015)),
    "leaf": (Layer("leafage", 0.31, 0.1), Layer("fine", 0.09, 0.04, 0.08)),
    "grass": (Layer("cloud", 11.0, 0.12), Layer("leafage", 1.7, 0.1), Layer("fur", 0.3, 0.12)),
}  # fmt: skip
"""What a surface is made of → its noises."""

GRAINS = tuple(STRUCTURE)
WORN = frozenset(map(GRAINS.index, ("plain", "smooth", "metal", "wood", "leather", "stone")))
"""Of these the edges are rubbed bare."""
_BARE, _DARK = 0.35, 0.35
"""How much lighter an edge is where it is worn, and how much darker a seam is."""
_CLOSE = 0.05
"""Metres within which one surface keeps light from another that the coarse light does not see."""
_PIXELS = {"cloud": 60.0, "leafage": 8.0, "brushed": 4.0, "leather": 9.0, "cloth": 4.0}
"""How many of a tile's pixels its finest form takes; of others 4."""
_TURN = 0.55
"""Tiles lie aslant, so that they line up with nothing."""


def grain_of(material: Material) -> int:
    """The number of what a material is made of: what it says, or what its gloss lets one think."""
    name = material.grain
    if not name:
        name = "metal" if material.metal > 0.5 else "smooth" if material.rough < 0.45 else "plain"
        name = "paper" if material.sheet is not None and name == "plain" else name
    return GRAINS.index(name)


def structured(
    light: Field, grain: NDArray[np.int8], at: Field, normal: Field, wide: Field, towards: Array
) -> Field:
    """Light on surfaces with their structure. `at`: metres; `wide`: metres that a pixel covers,
    infinite where nothing is known; `towards`: from where most light comes, or a point of it."""
    factor = np.ones(grain.shape, np.float32)
    for number in np.unique(grain[np.isfinite(wide)]):
        rows, columns = np.nonzero((grain == number) & np.isfinite(wide))
        points = at[rows, columns], normal[rows, columns], wide[rows, columns]
        factor[rows, columns] = _factor(STRUCTURE[GRAINS[number]], *points, towards)
    edge, seam = _edges(at, normal)
    worn = np.isin(grain, tuple(WORN)) & np.isfinite(wide)
    factor *= 1 + _BARE * edge * np.clip(factor - 1, 0, 0.06) / 0.06 * worn - _DARK * seam
    return light * factor[..., None]


def _edges(at: Field, normal: Field) -> tuple[Field, Field]:
    """Of each point how far it stands out and how deep it lies among those close by, from 0 to 1:
    edges that wear, and seams and feet of things where light hardly comes."""
    p, n = at[::2, ::2], normal[::2, ::2]
    edge, seam = np.zeros(p.shape[:2], np.float32), np.zeros(p.shape[:2], np.float32)
    for step, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1), (4, 0), (-4, 0), (4, 1), (-4, 1)):
        to = np.roll(p, step, axis) - p
        far = np.sqrt(np.einsum("ijk,ijk->ij", to, to))
        rise = np.einsum("ijk,ijk->ij", to, n) / np.maximum(far, 1e-6) * (far < _CLOSE)
        seam += np.maximum(rise - 0.15, 0)
        if abs(step) == 1:
            edge += np.maximum(-rise - 0.15, 0)
    wide, high = at.shape[1], at.shape[0]
    soft = (cv2.blur(np.minimum(k, 1.0), (3, 3)) for k in (edge, 0.4 * seam))
    edge, seam = (np.asarray(cv2.resize(k, (wide, high)), np.float32) for k in soft)
    return edge, seam


def _factor(layers: tuple[Layer, ...], at: Field, normal: Field, wide: Field, sun: Array) -> Field:
    """How much lighter or darker points of one surface are."""
    away = np.asarray(sun[:3], np.float32) - at * np.float32(sun[3])
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)
    facing = np.maximum((away * normal).sum(1), 0.5)
    axis = np.abs(normal).argmax(1)
    tone, slope = np.zeros(len(at), np.float32), np.zeros(len(at), np.float32)
    for k in np.unique(axis):
        here = axis == k
        i, j = ((1, 2), (0, 2), (0, 1))[k]
        u, v, sun_u, sun_v = at[here, i], at[here, j], away[here, i], away[here, j]
        for n, layer in enumerate(layers):
            finest = layer.metres * _PIXELS.get(layer.noise, 4.0) / TILE
            seen = np.clip(finest / wide[here] * 1.4 - 0.6, 0, 1)
            if not seen.any():
                continue
            c, s = (1.0, 0.0) if layer.noise in ("fur", "brushed") else _aslant(n + 5 * int(k))
            scale = np.float32(TILE / layer.metres)
            x, y = (u * c - v * s) * scale, (u * s + v * c) * scale
            found = cv2.remap(_tile(layer.noise), _round(x), _round(y), cv2.INTER_LINEAR,
                              borderMode=cv2.BORDER_WRAP).reshape(-1, 3)[: len(x)]  # fmt: skip
            tone[here] += layer.tone * seen * found[:, 0]
            if layer.relief:
                right, down = sun_u * c - sun_v * s, sun_u * s + sun_v * c
                rise = found[:, 1] * right + found[:, 2] * down
                slope[here] -= layer.relief * seen * rise
    return np.clip((1 + tone) * (1 + np.clip(slope / facing, -0.6, 0.8)), 0.3, 1.8)


def _aslant(k: int) -> tuple[float, float]:
    return float(np.cos(_TURN * k)), float(np.sin(_TURN * k))


def _round(at: Array) -> Field:
    """Places on a tile as a column, which a remap may be at most so long in one direction."""
    whole = np.zeros(-(-len(at) // 1024) * 1024, np.float32)
    whole[: len(at)] = at % TILE
    return whole.reshape(-1, 1024)


@lru_cache(maxsize=16)
def _tile(name: str) -> Field:
    """A tile's height and its slopes to the right and down, each of deviation 1."""
    height = _drawn(name) if name in _DRAWN else tile(name)
    soft = cv2.GaussianBlur(np.tile(height, (2, 2)), (0, 0), 0.8)[:TILE, :TILE]
    slopes = [np.roll(soft, -1, axis) - np.roll(soft, 1, axis) for axis in (1, 0)]
    return np.stack([height, *(s / max(float(s.std()), 1e-6) for s in slopes)], -1)


_DRAWN = {"scratch": 90, "dust": 260, "smudge": 70}
"""Hair lines, specks of dust and dirt, marks of fingers, and how many there are on a tile."""


def _drawn(name: str) -> Field:
    """A tile of marks that joins seamlessly; scratches lie in the direction of wiping."""
    rng, page = generator("structure", name), np.zeros((3 * TILE, 3 * TILE), np.float32)
    for x, y, a, size, shade in rng.random((_DRAWN[name], 5)):
        turn = 2 * np.pi * (0.12 * a if name == "scratch" and shade < 0.5 else a)
        long = {"scratch": 12 + 130 * size**3, "dust": 1 + 2.5 * size**4, "smudge": 5 + 22 * size}
        reach = np.array((np.cos(turn), np.sin(turn))) * long[name]
        mark, value = np.zeros_like(page) if name == "smudge" else page, float(0.4 + shade)
        for i, j in np.ndindex(3, 3):
            spot = (np.array((x + i, y + j)) * TILE).astype(int)
            at = int(spot[0]), int(spot[1])
            if name == "scratch":
                end = int(spot[0] + reach[0]), int(spot[1] + reach[1])
                cv2.line(mark, at, end, value, 1, cv2.LINE_AA)
            elif name == "dust":
                cv2.circle(mark, at, int(long[name]), -value, -1, cv2.LINE_AA)
            else:
                sides = int(long[name]), int(0.6 * long[name])
                cv2.ellipse(mark, at, sides, 360 * a, 0, 360, -value, -1)
        page = page + mark if name == "smudge" else page
    page = cv2.GaussianBlur(page, (0, 0), 4.0) if name == "smudge" else page
    page = page[TILE : 2 * TILE, TILE : 2 * TILE]
    return ((page - page.mean()) / page.std()).astype(np.float32)
