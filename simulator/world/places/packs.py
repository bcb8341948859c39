"""Neutral packs in rows, as on a shop's shelves: colours and shapes, no words."""

from __future__ import annotations

import numpy as np

from simulator.world.pictures.noise import generator
from simulator.world.pictures.traits import Draws
from simulator.world.places.paint import STEEL, WHITE, paint, tint
from simulator.world.places.stage import Stage
from simulator.world.solid.forms import Material, Mesh, Part
from simulator.world.solid.meshes import box, joined, lathe, shifted


def facings(
    stage: Stage, draws: Draws, xs: tuple[float, float], hole: float, front: float, depth: float,
    z: float, high: float,
) -> None:  # fmt: skip
    """Fill a board with products, side by side and behind one another, but for a hole in the middle."""
    x, k = xs[0] + draws("start", 0.005, 0.03), 0
    while x < xs[1] - 0.06 and k < 12:
        h = min(draws(f"h{k}", 0.09, 0.3), high)
        w = min(draws(f"w{k}", 0.065, 0.19), 1.4 * h)
        shape = draws.pick(f"shape{k}", ("box", "box", "can", "tub", "pouch"))
        w = min(w, 0.1) if shape in ("can", "tub") else w
        many = draws.count(f"many{k}", 1, 4)
        columns = [x + (i + 0.5) * (w + 0.004) for i in range(many)]
        columns = [
            c
            for c in columns
            if (c + w / 2 < xs[1] and abs(c) > hole + w / 2) or (hole == 0 and c + w / 2 < xs[1])
        ]
        deep = w if shape in ("can", "tub") else min(w * draws(f"d{k}", 0.4, 1.0), depth)
        left = draws.count(f"sold{k}", 0, 2)
        spots = [
            (c + draws(f"j{k}{i}", -0.002, 0.002), front + deep * (r + 0.5) + 0.003 * r)
            for i, c in enumerate(columns)
            for r in range(left if i == 0 else 0, min(3, int(depth / deep)))
        ]
        if spots and not draws.chance(f"empty{k}", 0.07):
            _product(stage, draws, k, shape, (w, deep, h), spots, z)
            _tag(stage, columns[0], front - 0.028, z)
        x += many * (w + 0.004) + draws(f"gap{k}", 0.0, 0.025)
        k += 1


def _product(
    stage: Stage, draws: Draws, k: int, shape: str, size: tuple[float, float, float],
    spots: list[tuple[float, float]], z: float,
) -> None:  # fmt: skip
    w, d, h = size
    cover = Material(sheet=_cover(draws, k), rough=draws(f"gloss{k}", 0.2, 0.6))
    lid: Mesh | None = None
    if shape == "can":
        r = min(w, d) / 2
        one = lathe([(r, 0.004), (r, h - 0.004)], around=28)
        lid = lathe(
            [
                (r * 0.98, 0),
                (r * 1.01, 0.003),
                (r, 0.005),
                (r, h - 0.005),
                (r * 1.01, h - 0.003),
                (r * 0.96, h),
                (1e-4, h - 0.003),
            ],
            around=28,
        )
    elif shape == "tub":
        r = min(w, d) / 2
        one = lathe([(r * 0.85, 0), (r, h * 0.85)], around=28)
        lid = lathe(
            [(r * 1.04, h * 0.83), (r * 1.04, h * 0.92), (r, h * 0.94), (1e-4, h * 0.94)], around=28
        )
    elif shape == "pouch":
        one = _pouch(w, d, h)
    else:
        one = box(w, d, h, bevel=0.002)
    where = [(x, y, z) for x, y in spots]
    stage.room(Part(joined([shifted(one, *at) for at in where]), cover))
    if lid is not None:
        colour = (
            STEEL
            if shape == "can"
            else draws.pick(f"lid{k}", (WHITE, paint(tint(draws, f"lid{k}"), 0.35)))
        )
        stage.room(Part(joined([shifted(lid, *at) for at in where], smooth=True), colour))


def _pouch(w: float, d: float, h: float) -> Mesh:
    """A bag with a pinched top."""
    body = box(w, d, h, bevel=0.012)
    at = body.vertices.copy()
    t = np.clip(at[:, 2] / h, 0, 1)
    at[:, 1] *= 1 - 0.95 * t**3
    return body._replace(vertices=at)


def _cover(draws: Draws, k: int) -> np.ndarray:
    """A front of fields of colour: a band, a disc, something that could be fruit or writing."""
    rng = generator("pack", draws(f"cover{k}"))
    ground, second, third = (_ink(draws, f"{n}{k}") for n in ("ground", "second", "third"))
    y, x = np.mgrid[0:144, 0:96] / np.array([144.0, 96.0])[:, None, None]
    sheet = np.tile(ground, (144, 96, 1))
    band = draws(f"band{k}", 0.15, 0.4)
    if draws.chance(f"slant{k}", 0.4):
        y = y + 0.2 * x
    sheet[(y > band) & (y < band + draws(f"wide{k}", 0.15, 0.3))] = second
    cx, cy, r = draws(f"cx{k}", 0.3, 0.7), draws(f"cy{k}", 0.6, 0.8), draws(f"r{k}", 0.1, 0.28)
    sheet[(x - cx) ** 2 + ((y - cy) * 1.5) ** 2 < r**2] = third
    for _ in range(draws.count(f"dots{k}", 0, 14)):
        dx, dy = rng.uniform(-r, r, 2)
        sheet[(x - cx - dx) ** 2 + ((y - cy - dy) * 1.5) ** 2 < (r * 0.2) ** 2] = (
            third * rng.uniform(0.7, 1.2)
        )
    for j in range(2):  # where a name would be
        top = int(144 * (band + 0.05 + 0.09 * j))
        sheet[top : top + 6 - 2 * j, 18 + 8 * j : int(rng.integers(60, 82))] = ground * 0.8 + 20
    return np.clip(sheet, 4, 250).astype(np.uint8)[::1]


def _ink(draws: Draws, name: str) -> np.ndarray:
    """A printer's colour: reds, yellows, greens, blues, browns, and much white and black."""
    if draws.chance(f"{name}-plain", 0.35):
        return np.array(
            draws.pick(f"{name}-which", ((238, 236, 230), (36, 36, 40), (226, 214, 190)))
        )
    hue, chroma, low, high = draws.pick(
        f"{name}-family",
        (
            (27, 0.18, 0.4, 0.58),
            (55, 0.14, 0.6, 0.75),
            (88, 0.15, 0.75, 0.88),
            (142, 0.12, 0.35, 0.7),
            (252, 0.12, 0.3, 0.65),
            (60, 0.06, 0.3, 0.5),
        ),
    )
    return np.array(
        tint(draws, name, level=(low, high), chroma=(0.6 * chroma, chroma), hue=(hue - 8, hue + 8))
    )


def _tag(stage: Stage, x: float, y: float, z: float) -> None:
    """A price tag on the board's edge, its figures too small to read."""
    stage.room(
        Part(shifted(box(0.05, 0.002, 0.03), x, y, z - 0.034), WHITE),
        Part(
            shifted(box(0.024, 0.001, 0.009), x - 0.006, y - 0.0014, z - 0.022), paint((60, 60, 62))
        ),
    )
