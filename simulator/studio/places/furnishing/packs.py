"""Neutral packs in rows, as on a shop's shelves: colours and shapes, no words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.studio.places.paint import PAPER, STEEL, WHITE, paint, tint
from simulator.studio.places.stage import Stage
from simulator.studio.solid.forms import Array, Material, Mesh, Part
from simulator.studio.solid.meshes import box, joined, lathe, shifted
from simulator.world.pictures.noise import generator
from simulator.world.pictures.traits import Draws

COVERS = (6, 4)
"""Designs on one sheet, across and down."""

LIDS = (STEEL, WHITE, PAPER)


def facings(
    stage: Stage, draws: Draws, xs: tuple[float, float], hole: float, front: float, depth: float,
    z: float, high: float,
) -> None:  # fmt: skip
    """Fill a board with products, side by side and one behind another; `hole` is half of what is
    left free about x = 0."""
    sheet = covers(stage.draws.count("assortment", 0, 7))
    x = xs[0] + draws("start", 0.005, 0.03)
    for k in range(14):
        shape = draws.pick(f"shape{k}", ("box", "box", "can", "tub", "pouch"))
        h = min(draws(f"h{k}", 0.09, 0.3), high)
        w = min(draws(f"w{k}", 0.065, 0.19), 1.4 * h)
        round_ = shape in ("can", "tub")
        w = min(w, 0.1) if round_ else w
        deep = w if round_ else min(w * draws(f"d{k}", 0.4, 1.0), depth)
        many = draws.count(f"many{k}", 1, 4)
        columns = [
            c
            for c in (x + (i + 0.5) * (w + 0.004) for i in range(many))
            if c + w / 2 < xs[1] and (not hole or abs(c) > hole + w / 2)
        ]
        sold = draws.count(f"sold{k}", 0, 2)
        where = [
            (c + draws(f"j{k}{i}", -0.002, 0.002), front + deep * (r + 0.5) + 0.003 * r, z)
            for i, c in enumerate(columns)
            for r in range(sold if i == 0 else 0, min(3, int(depth / deep)))
        ]
        if where and not draws.chance(f"empty{k}", 0.07):
            cell = draws.count(f"cover{k}", 0, COVERS[0] * COVERS[1] - 1)
            body, lid = _pack(shape, w, deep, h)
            stage.room(Part(joined([shifted(_printed(body, cell), *at) for at in where]), sheet))
            if lid is not None:
                cap = STEEL if shape == "can" else draws.pick(f"lid{k}", LIDS)
                stage.room(Part(joined([shifted(lid, *at) for at in where], smooth=True), cap))
            _tag(stage, columns[0], front - 0.028, z)
        x += many * (w + 0.004) + draws(f"gap{k}", 0.0, 0.025)


@lru_cache(maxsize=4)
def covers(key: int) -> Material:
    """A sheet of designs."""
    across, down = COVERS
    draws = Draws("covers", key)
    rows = [
        np.concatenate([_cover(draws, f"{row}-{column}") for column in range(across)], 1)
        for row in range(down)
    ]
    return Material(sheet=np.concatenate(rows), rough=0.38)


def _printed(mesh: Mesh, cell: int) -> Mesh:
    """A mesh whose sheet is one of the designs."""
    at = np.array((cell % COVERS[0], cell // COVERS[0]))
    uv = (mesh.uv * 0.97 + 0.015 + at) / np.array(COVERS)
    return mesh._replace(uv=uv.astype(np.float32))


def _pack(shape: str, w: float, d: float, h: float) -> tuple[Mesh, Mesh | None]:
    r = w / 2
    if shape == "can":
        rim = [(r * 0.98, 0), (r * 1.01, 0.003), (r, 0.005), (r, h - 0.005), (r * 1.01, h - 0.003)]
        lid = lathe([*rim, (r * 0.96, h), (1e-4, h - 0.003)], around=24)
        return lathe([(r * 1.001, 0.005), (r * 1.001, h - 0.005)], around=24), lid
    if shape == "tub":
        top = [(r * 1.04, h * 0.83), (r * 1.04, h * 0.92), (r, h * 0.94), (1e-4, h * 0.94)]
        return lathe([(r * 0.85, 0), (r, h * 0.85)], around=24), lathe(top, around=24)
    body = box(w, d, h, bevel=0.012 if shape == "pouch" else 0.002)
    if shape == "pouch":  # pinched towards the top
        at = body.vertices.copy()
        at[:, 1] *= 1 - 0.95 * np.clip(at[:, 2] / h, 0, 1) ** 3
        body = body._replace(vertices=at)
    return body, None


def _cover(draws: Draws, name: str) -> Array:
    """A front of fields of colour: a band, a disc, dots that could be fruit, bars for writing."""
    rng = generator("pack", draws(f"{name}-key"))
    ground, second, third = (_ink(draws, f"{name}-{part}") for part in ("a", "b", "c"))
    y, x = np.mgrid[0:144, 0:96] / np.array([144.0, 96.0])[:, None, None]
    y = y + (0.2 * x if draws.chance(f"{name}-slant", 0.4) else 0)
    sheet = np.tile(ground, (144, 96, 1))
    band = draws(f"{name}-band", 0.15, 0.4)
    sheet[(y > band) & (y < band + draws(f"{name}-wide", 0.15, 0.3))] = second
    cx, cy = draws(f"{name}-x", 0.3, 0.7), draws(f"{name}-y", 0.6, 0.8)
    r = draws(f"{name}-r", 0.1, 0.28)
    sheet[(x - cx) ** 2 + ((y - cy) * 1.5) ** 2 < r**2] = third
    for _ in range(draws.count(f"{name}-dots", 0, 14)):
        dx, dy = rng.uniform(-r, r, 2)
        dot = (x - cx - dx) ** 2 + ((y - cy - dy) * 1.5) ** 2 < (r * 0.2) ** 2
        sheet[dot] = third * rng.uniform(0.7, 1.2)
    for j in range(2):  # where a name would be
        top = int(144 * (band + 0.05 + 0.09 * j))
        sheet[top : top + 6 - 2 * j, 18 + 8 * j : int(rng.integers(60, 82))] = ground * 0.8 + 20
    return np.clip(sheet, 4, 250).astype(np.uint8)


def _ink(draws: Draws, name: str) -> Array:
    """A printer's colour: reds, yellows, greens, blues, browns, and much white and black."""
    if draws.chance(f"{name}-plain", 0.35):
        plain = ((238, 236, 230), (36, 36, 40), (226, 214, 190))
        return np.array(draws.pick(f"{name}-which", plain), float)
    hue, chroma, low, high = draws.pick(
        f"{name}-family",
        (
            (27, 0.18, 0.4, 0.58), (55, 0.14, 0.6, 0.75), (88, 0.15, 0.75, 0.88),
            (142, 0.12, 0.35, 0.7), (252, 0.12, 0.3, 0.65), (60, 0.06, 0.3, 0.5),
        ),
    )  # fmt: skip
    return np.array(
        tint(draws, name, level=(low, high), chroma=(0.6 * chroma, chroma), hue=(hue - 8, hue + 8))
    )


def _tag(stage: Stage, x: float, y: float, z: float) -> None:
    """A price tag on the board's edge, its figures too small to read."""
    stage.room(
        Part(shifted(box(0.05, 0.002, 0.03), x, y, z - 0.034), WHITE),
        Part(shifted(box(0.024, 0.001, 0.009), x - 0.006, y - 0.0014, z - 0.022), _GREY),
    )


_GREY = paint((60.0, 60.0, 62.0))
