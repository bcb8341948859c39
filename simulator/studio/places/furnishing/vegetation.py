"""Trees, hedges, shrubs, grass: leaves as small cards in a handful of greens."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.studio.places.place_materials import CLAY, paint, seed, timber, tint
from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    lathe,
    posed,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import bark, concrete, dyed, laid, shades, wood
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws


def greens(draws: Draws) -> Material:
    """Leaf colours, from dark to sunlit."""
    hue, chroma = draws("hue", 112, 134), draws("chroma", 0.05, 0.1)
    return shades(
        *(
            tint(
                draws,
                f"g{k}",
                level=(0.32 + 0.07 * k, 0.36 + 0.07 * k),
                chroma=(chroma, chroma + 0.02),
                hue=(hue - 6, hue + 6),
            )
            for k in range(5)
        ),
        rough=0.6,
        grain="leaf",
    )


@lru_cache(maxsize=24)
def leaves(key: int, count: int, shape: str = "ball") -> Mesh:
    """Leaves about a unit ball or on a unit box (0–1 high), each in one of five greens."""
    rng = generator("leaves", key, shape)
    if shape == "ball":
        at = rng.standard_normal((count, 3))
        at *= (rng.uniform(0.55, 1.05, (count, 1)) ** 0.6) / np.linalg.norm(
            at, axis=1, keepdims=True
        )
        lumps = rng.standard_normal((14, 3))
        lumps /= np.linalg.norm(lumps, axis=1, keepdims=True)
        bulge = np.max(at @ lumps.T, axis=1)
        at *= (0.72 + 0.34 * bulge**3)[:, None]
        out = at / np.maximum(np.linalg.norm(at, axis=1, keepdims=True), 1e-6)
        size = 0.075
    else:
        side = rng.integers(0, 3, count)
        at = rng.uniform(-0.5, 0.5, (count, 3))
        out = np.zeros((count, 3))
        out[np.arange(count), side] = np.where(side == 2, 1, np.sign(at[np.arange(count), side]))
        at[np.arange(count), side] = out[np.arange(count), side] * rng.uniform(0.46, 0.52, count)
        at[:, 2] += 0.5
        size = 0.027
    facing = out + 0.9 * rng.standard_normal((count, 3)) + (0, 0, 0.35)
    return _cards(rng, at, facing, size * rng.uniform(0.7, 1.4, count), out[:, 2])


def _cards(rng: np.random.Generator, at: Array, facing: Array, size: Array, up: Array) -> Mesh:
    """A bent leaf of four triangles' worth at each point, lighter above than below."""
    n = len(at)
    facing = facing / np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-9)
    along = np.cross(facing, rng.standard_normal((n, 3)))
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    side = np.cross(facing, along)
    s = size[:, None]
    corners = np.stack(
        [at - along * s, at + side * s * 0.45, at + along * s, at - side * s * 0.45], 1
    )
    k = np.arange(n)[:, None] * 4
    faces = np.concatenate([k + np.array((0, 1, 2)), k + np.array((0, 2, 3))])
    shade = np.clip(np.rint(2 + 1.2 * up + 0.9 * rng.standard_normal(n)), 0, 4).astype(int)
    mesh = Mesh(
        corners.reshape(-1, 3).astype(np.float32),
        faces.astype(np.int32),
        np.zeros((4 * n, 2), np.float32),
    )
    return dyed(mesh, np.repeat(shade, 4), 5)


def distant_trees(draws: Draws, width: float) -> Thing:
    """The crowns of a wood far away, as they close a view."""
    crowns: list[Mesh] = []
    x, k = -width / 2, 0
    while x < width / 2:
        wide, tall = width / 60 * draws(f"w{k}", 0.9, 2.0), draws(f"t{k}", 3.0, 6.5)
        core = dyed(ball(0.86, around=10)._replace(smooth=False), 1, 5)
        crown = joined([leaves(k % 4, 240), core])
        crown = posed(crown, np.diag([wide, wide * 0.6, tall, 1.0]))
        crowns.append(shifted(crown, x, draws(f"y{k}", -6, 6), tall * draws(f"z{k}", 0.5, 0.9)))
        x, k = x + wide * draws(f"step{k}", 0.45, 1.1), k + 1
    return Thing.of(Part(joined(crowns), greens(draws)))


def tree(draws: Draws, height: float = 7.0) -> Thing:
    """A broad-leaved tree: a forked trunk and clumps of leaves."""
    r = height * draws("r", 0.018, 0.028)
    fork = height * draws("fork", 0.28, 0.4)
    lean = draws("lean", -0.04, 0.04) * height
    trunk = [
        tube(
            smooth_path(
                [
                    (0, 0, -0.1),
                    (lean * 0.3, 0, fork * 0.5),
                    (lean, 0, fork),
                    (lean, 0, height * 0.75),
                ],
                5,
            ),
            [r * 1.3, r, r * 0.8, r * 0.3],
            around=12,
        )
    ]
    crowns, green = [], greens(draws)
    n = 6
    for k in range(n):
        a, out = k * 2.4 + draws("spin", 0, 6), height * draws(f"o{k}", 0.1, 0.22) * (k > 0)
        z = height * (0.82 if k == 0 else draws(f"z{k}", 0.48, 0.74))
        x, y = lean + out * math.cos(a), out * math.sin(a)
        trunk.append(
            tube(
                smooth_path(
                    [
                        (lean, 0, fork * 0.9),
                        (lean + 0.5 * (x - lean), 0.5 * y, (fork + z) * 0.5),
                        (x, y, z),
                    ],
                    4,
                ),
                [r * 0.5, r * 0.15],
                around=8,
            )
        )
        size = height * draws(f"s{k}", 0.15, 0.22)
        clump = posed(leaves(k % 3, 800), turned((0, 0, 1), draws(f"t{k}", 0, 360)))
        crowns.append(shifted(posed(clump, np.diag([size, size, size * 0.8, 1.0])), x, y, z))
    wood_part = laid(
        joined(trunk, smooth=True),
        bark(
            tint(draws, "bark", level=(0.35, 0.55), chroma=(0.01, 0.04), hue=(50, 80)),
            seed(draws, "bark"),
        ),
    )
    return Thing.of(wood_part, Part(joined(crowns), green))


def hedge(draws: Draws, width: float, depth: float, height: float) -> Thing:
    """A clipped hedge."""
    many = max(1, round(width / 1.6))
    step = width / many
    scale = np.diag([step, depth, height, 1.0])
    pieces = [
        shifted(posed(leaves(k % 3 + 10, 2600, "box"), scale), -width / 2 + (k + 0.5) * step)
        for k in range(many)
    ]
    inside = box(width * 0.99, depth * 0.86, height * 0.93)
    return Thing.of(
        Part(inside, paint((58.0, 74.0, 40.0), 0.9)), Part(joined(pieces), greens(draws))
    )


def bush(draws: Draws, size: float = 0.5) -> Thing:
    """A round shrub, mostly plain, sometimes with specks of flower."""
    ball_ = posed(leaves(draws.count("l", 0, 2), 800), np.diag([size, size, size * 0.85, 1.0]))
    return Thing.of(Part(shifted(ball_, z=size * 0.75), greens(draws)))


def tufts(
    draws: Draws, count: int, xs: tuple[float, float], ys: tuple[float, float], tall: float = 0.07
) -> Part:
    """Blades of grass over a rectangle, and here and there a daisy or a fallen leaf."""
    rng = generator("tufts", draws("key"))
    at = np.stack([rng.uniform(*xs, count), rng.uniform(*ys, count), np.zeros(count)], -1)
    bend = rng.normal(0, 0.35, (count, 2)) * tall
    high = tall * rng.uniform(0.4, 1.3, count)
    a = rng.uniform(0, np.pi, count)
    side = np.stack([np.cos(a), np.sin(a), 0 * a], -1) * 0.0022 * (tall / 0.07)
    tip = at + np.concatenate([bend, high[:, None]], 1)
    corners = np.stack([at - side, at + side, tip], 1)
    mesh = Mesh(
        corners.reshape(-1, 3).astype(np.float32),
        np.arange(3 * count, dtype=np.int32).reshape(-1, 3),
        np.zeros((3 * count, 2), np.float32),
    )
    return Part(dyed(mesh, np.repeat(rng.integers(0, 5, count), 3), 5), greens(draws))


def flower_bed(draws: Draws, width: float, depth: float) -> Thing:
    """Low growth in several heights; soil between."""
    rng = generator("bed", draws("key"))
    pieces = []
    for _ in range(int(width * depth * 7) + 2):
        s = rng.uniform(0.1, 0.28)
        lump = posed(
            leaves(int(rng.integers(0, 3)), 260), np.diag([s, s, s * rng.uniform(0.7, 1.6), 1.0])
        )
        pieces.append(
            shifted(lump, rng.uniform(-0.46, 0.46) * width, rng.uniform(-0.4, 0.4) * depth, s * 0.6)
        )
    soil = box(width, depth, 0.04, bevel=0.015)
    return Thing.of(Part(soil, paint((74, 54, 40), 1.0)), Part(joined(pieces), greens(draws)))


def planter(draws: Draws) -> Thing:
    """A tub with greenery."""
    w, h = draws("w", 0.45, 0.9), draws("h", 0.35, 0.55)
    tub = box(w, 0.42, h, bevel=0.015)
    surface = (
        concrete(tint(draws, "c", level=(0.45, 0.8), chroma=(0, 0.02)), 1)
        if draws.chance("stone", 0.6)
        else wood(timber(draws, "w"), 0, board=(0.9, 0.11))
    )
    green = greens(draws)
    growth = [
        shifted(
            posed(leaves(k % 3, 420), np.diag([0.22, 0.2, 0.22, 1.0])),
            -w / 2 + 0.18 + 0.24 * k,
            0,
            h + 0.08,
        )
        for k in range(max(1, int((w - 0.1) / 0.24)))
    ]
    return Thing.of(laid(tub, surface), Part(joined(growth), green))


def pot(draws: Draws) -> Thing:
    """A clay pot, with herbs, soil or nothing."""
    r, h = draws("r", 0.07, 0.19), draws("tall", 0.85, 1.1)
    h = 1.6 * r * h
    body = lathe(
        [
            (r * 0.65, 0),
            (r * 0.9, h * 0.8),
            (r, h * 0.8),
            (r * 1.02, h),
            (r * 0.93, h),
            (r * 0.88, h * 0.86),
            (1e-4, h * 0.86),
        ],
        around=36,
    )
    parts = [Part(body, CLAY if draws.chance("clay", 0.7) else paint(tint(draws, "glaze"), 0.3))]
    if draws.chance("green", 0.65):
        parts.append(
            Part(
                shifted(
                    posed(
                        leaves(draws.count("l", 0, 2), 360),
                        np.diag([r * 1.2, r * 1.2, r * 1.2, 1.0]),
                    ),
                    z=h + r * 0.5,
                ),
                greens(draws),
            )
        )
    return Thing.of(*parts)


def ivy(draws: Draws) -> Thing:
    """Leaves that climb."""
    w, h = draws("w", 0.4, 0.9), draws("h", 0.6, 1.6)
    mat = posed(leaves(draws.count("l", 10, 12), 700, "box"), np.diag([w, 0.1, h, 1.0]))
    return Thing.of(Part(shifted(mat, 0, -0.05), greens(draws)))
