"""What stands in the open: houses, trees, hedges, grass, walls, street furniture, market stalls."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.world.pictures.noise import generator
from simulator.world.pictures.traits import Draws
from simulator.world.places.paint import (
    BLACK,
    CLAY,
    IRON,
    RUBBER,
    STEEL,
    WHITE,
    paint,
    seed,
    timber,
    tint,
)
from simulator.world.solid.forms import Array, Colour, Material, Mesh, Part, Thing, turned
from simulator.world.solid.meshes import (
    box,
    extrude,
    joined,
    lathe,
    posed,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.world.solid.surfaces import (
    Surface,
    bark,
    bricks,
    cloth,
    concrete,
    dyed,
    laid,
    plaster,
    shades,
    slabs,
    tiles,
    wood,
)

PANE = Material((34, 40, 48), rough=0.06, coat=0.5)

# ------------------------------------------------------------------------------- houses


def house_wall(draws: Draws) -> Surface:
    """Plaster in a town's colours, brick, or stone."""
    s = seed(draws, "wall")
    kind = draws.pick("kind", ("plaster", "plaster", "brick", "stone"))
    if kind == "brick":
        return bricks(tint(draws, "c", level=(0.42, 0.62), chroma=(0.04, 0.1), hue=(28, 60)), s)
    if kind == "stone":
        return slabs(
            tint(draws, "c", level=(0.6, 0.8), chroma=(0.005, 0.03), hue=(60, 90)),
            s,
            slab=(0.6, 0.3),
        )
    hue = draws.pick("hue", (85, 75, 60, 40, 95, 130, 240))
    return plaster(
        tint(draws, "c", level=(0.62, 0.93), chroma=(0.01, 0.07), hue=(hue - 8, hue + 8)), s
    )


def house(draws: Draws, width: float, floors: int, *, fine: bool = True) -> Thing:
    """A front with real window niches, a door, cornice and roof; its face at y = 0, base z = 0."""
    storey, bays = draws("storey", 2.9, 3.5), max(1, round(width / draws("bay", 1.9, 2.8)))
    step = width / bays
    ww, wh = step * draws("ww", 0.4, 0.55), storey * draws("wh", 0.45, 0.58)
    deep, entrance = 0.35, draws.count("door", 0, bays - 1)
    wall: list[Mesh] = []
    trim: list[Mesh] = []
    glass: list[Mesh] = []
    shutters: list[Mesh] = []
    doors: list[Mesh] = []
    style = draws.count("style", 0, 2) if fine else 0
    for f in range(floors):
        z = f * storey
        low, high = z + 0.9, z + 0.9 + wh
        for b in range(bays):
            x = -width / 2 + (b + 0.5) * step
            base = z if f == 0 and b == entrance else low
            wall.append(shifted(box(step - ww, deep, storey), x - step / 2, deep / 2, z))
            if base > z:
                wall.append(shifted(box(ww, deep, base - z), x, deep / 2, z))
            wall.append(shifted(box(ww, deep, z + storey - high), x, deep / 2, high))
            if base == z and f == 0:
                doors.append(shifted(box(ww, 0.05, high - z), x, 0.2, z))
                doors.append(shifted(box(ww * 0.7, 0.03, 0.6, bevel=0.01), x, 0.17, z + 0.2))
                continue
            glass.append(shifted(box(ww, 0.01, wh), x, 0.2, low))
            trim += (
                _frame(x, low, ww, wh, style)
                if fine
                else [shifted(box(0.06, 0.05, wh), x, 0.18, low)]
            )
            trim.append(shifted(box(ww + 0.16, 0.16, 0.06), x, -0.03, low - 0.06))
            if style == 1 and f > 0:
                shutters += [
                    shifted(box(ww / 2, 0.05, wh), x + s * ww * 0.77, -0.03, low) for s in (-1, 1)
                ]
        wall.append(shifted(box(step - ww, deep, storey), width / 2, deep / 2, z))
    top = floors * storey
    trim.append(shifted(box(width + 0.1, 0.5, 0.22), 0, 0.05, top))
    if draws.chance("band"):
        trim.append(shifted(box(width, 0.1, 0.12), 0, -0.02, storey - 0.06))
    pipe = tube([(-width / 2 + 0.15, -0.07, 0), (-width / 2 + 0.15, -0.07, top)], 0.05, around=8)
    roof = posed(box(width + 0.2, 4.0, 0.12), turned((1, 0, 0), draws("pitch", 28, 42)))
    roof = shifted(roof, 0, 1.5, top + 1.0)
    white = (
        WHITE
        if draws.chance("white", 0.6)
        else paint(tint(draws, "trim", level=(0.3, 0.85), chroma=(0, 0.04)), 0.5)
    )
    parts = [
        laid(joined(wall), house_wall(draws)), Part(joined(trim), white), Part(joined(glass), PANE),
        Part(pipe, STEEL),
        laid(roof, tiles(tint(draws, "roof", level=(0.35, 0.55), chroma=(0.02, 0.09), hue=(25, 60)), 0, tile=(0.2, 0.3), bond=0.5, joint=0.02, grout=(60, 44, 40), spread=0.12, rough=0.8)),
    ]  # fmt: skip
    if doors:
        parts.append(
            Part(
                joined(doors),
                paint(tint(draws, "leaf", level=(0.25, 0.5), chroma=(0.02, 0.1)), 0.4),
            )
        )
    if shutters:
        parts.append(
            Part(
                joined(shutters),
                paint(tint(draws, "shut", level=(0.3, 0.6), chroma=(0.02, 0.09)), 0.6),
            )
        )
    return Thing(tuple(parts))


def _frame(x: float, z: float, w: float, h: float, style: int) -> list[Mesh]:
    b = 0.07
    bars = [shifted(box(b, 0.08, h), x + s * (w - b) / 2, 0.16, z) for s in (-1, 1)]
    bars += [shifted(box(w, 0.08, b), x, 0.16, q) for q in (z, z + h - b)]
    bars.append(shifted(box(b * 0.8, 0.07, h), x, 0.16, z))
    if style:
        bars.append(shifted(box(w, 0.07, b * 0.7), x, 0.16, z + h * 0.66))
    return bars


# ------------------------------------------------------------------------------- growth


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
        size = 0.035
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
    faces = np.concatenate([k + (0, 1, 2), k + (0, 2, 3)])
    shade = np.clip(np.rint(2 + 1.2 * up + 0.9 * rng.standard_normal(n)), 0, 4).astype(int)
    mesh = Mesh(
        corners.reshape(-1, 3).astype(np.float32),
        faces.astype(np.int32),
        np.zeros((4 * n, 2), np.float32),
    )
    return dyed(mesh, np.repeat(shade, 4), 5)


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
    return Thing((wood_part, Part(joined(crowns), green)))


def hedge(draws: Draws, width: float, depth: float, height: float) -> Thing:
    """A clipped hedge."""
    many = max(1, round(width / 1.6))
    step = width / many
    scale = np.diag([step, depth, height, 1.0])
    pieces = [
        shifted(posed(leaves(k % 3 + 10, 1500, "box"), scale), -width / 2 + (k + 0.5) * step)
        for k in range(many)
    ]
    inside = box(width * 0.99, depth * 0.86, height * 0.93)
    return Thing((Part(inside, paint((38, 50, 26), 0.9)), Part(joined(pieces), greens(draws))))


def bush(draws: Draws, size: float = 0.5) -> Thing:
    """A round shrub, mostly plain, sometimes with specks of flower."""
    ball_ = posed(leaves(draws.count("l", 0, 2), 800), np.diag([size, size, size * 0.85, 1.0]))
    return Thing((Part(shifted(ball_, z=size * 0.75), greens(draws)),))


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
    return Thing((Part(soil, paint((74, 54, 40), 1.0)), Part(joined(pieces), greens(draws))))


# ------------------------------------------------------------------------------- enclosures


def fence(draws: Draws, width: float) -> Thing:
    """Palings, close boards or rails."""
    h = draws("h", 1.0, 1.8)
    kind = draws.pick("kind", ("palings", "boards", "rails"))
    posts = [
        shifted(box(0.09, 0.09, h + 0.08, bevel=0.01), x)
        for x in np.arange(-width / 2, width / 2 + 0.1, 1.8)
    ]
    rails = [
        shifted(box(width, 0.04, 0.08, bevel=0.006), 0, 0.05, h * q)
        for q in ((0.25, 0.8) if kind != "rails" else (0.25, 0.55, 0.85))
    ]
    pales: list[Mesh] = []
    if kind != "rails":
        wide, gap = (0.09, 0.06) if kind == "palings" else (0.14, 0.004)
        for k in range(int(width / (wide + gap))):
            tip = box(wide, 0.02, h * (1 + 0.01 * (k * 7 % 5)), bevel=0.004)
            pales.append(shifted(tip, -width / 2 + (k + 0.5) * (wide + gap), 0.0, 0.05))
    mesh = joined([*posts, *rails, *pales])
    if draws.chance("painted", 0.35):
        return Thing(
            (Part(mesh, paint(tint(draws, "c", level=(0.4, 0.95), chroma=(0, 0.05)), 0.7)),)
        )
    return Thing(
        (
            laid(
                mesh,
                wood(
                    tint(draws, "c", level=(0.45, 0.68), chroma=(0.01, 0.05), hue=(55, 75)),
                    seed(draws, "w"),
                ),
                across=True,
            ),
        )
    )


def railing(draws: Draws, width: float) -> Thing:
    """Iron uprights with a hand rail: quays and terraces."""
    h = 1.05
    bars = [
        tube([(x, 0, 0), (x, 0, h)], 0.011, around=6)
        for x in np.arange(-width / 2, width / 2, 0.14)
    ]
    posts = [
        tube([(x, 0, 0), (x, 0, h + 0.06)], 0.032, around=10)
        for x in np.arange(-width / 2, width / 2 + 0.1, 2.0)
    ]
    rails = [
        tube([(-width / 2, 0, z), (width / 2, 0, z)], r, around=8)
        for z, r in ((0.1, 0.014), (h, 0.028))
    ]
    return Thing(
        (Part(joined([*bars, *posts, *rails], smooth=True), draws.pick("m", (IRON, BLACK, STEEL))),)
    )


def garden_wall(draws: Draws, width: float, height: float) -> Thing:
    """A wall of brick or plaster with coping."""
    body = laid(shifted(box(width, 0.25, height), 0, 0.125), house_wall(draws))
    cap = laid(
        shifted(box(width + 0.06, 0.33, 0.07, bevel=0.012), 0, 0.125, height),
        concrete((168, 162, 152), 0),
    )
    return Thing((body, cap))


# ------------------------------------------------------------------------------- street


def lamp_post(draws: Draws) -> Thing:
    """A street lamp, unlit."""
    h = draws("h", 3.6, 5.0)
    pole = lathe([(0.1, 0), (0.1, 0.3), (0.055, 0.5), (0.045, h), (1e-4, h)], around=20)
    head = shifted(
        lathe(
            [(0.06, 0), (0.17, 0.06), (0.14, 0.42), (0.22, 0.46), (0.03, 0.62), (1e-4, 0.64)],
            around=20,
        ),
        z=h,
    )
    return Thing(
        (Part(pole, draws.pick("m", (IRON, BLACK))), Part(head, paint((206, 204, 196), 0.2)))
    )


def bollard(draws: Draws) -> Thing:
    """A post that keeps cars off."""
    r, h = draws("r", 0.05, 0.09), draws("h", 0.75, 1.0)
    body = lathe(
        [
            (r * 1.3, 0),
            (r * 1.3, 0.04),
            (r, 0.07),
            (r, h * 0.85),
            (r * 1.15, h * 0.88),
            (r * 1.1, h * 0.93),
            (r * 0.5, h),
            (1e-4, h),
        ],
        around=28,
    )
    if draws.chance("stone", 0.3):
        return Thing((laid(body, concrete((170, 166, 158), 1)),))
    return Thing((Part(body, draws.pick("m", (IRON, BLACK, STEEL))),))


def litter_bin(draws: Draws) -> Thing:
    """A bin on the pavement."""
    r, h = draws("r", 0.2, 0.27), draws("h", 0.8, 1.0)
    body = lathe([(r * 0.95, 0), (r, 0.03), (r, h * 0.75)], around=32)
    lid = lathe([(r * 1.05, h * 0.86), (r * 1.05, h * 0.9), (r * 0.6, h), (1e-4, h)], around=32)
    legs = [
        tube(
            [
                (r * 0.9 * math.cos(a), r * 0.9 * math.sin(a), h * 0.7),
                (r * 0.9 * math.cos(a), r * 0.9 * math.sin(a), h * 0.88),
            ],
            0.014,
            around=6,
        )
        for a in (0.5, 2.1, 3.7, 5.2)
    ]
    m = paint(tint(draws, "c", level=(0.25, 0.45), chroma=(0, 0.07)), 0.45)
    return Thing((Part(joined([body, lid, *legs], smooth=True), m),))


def wheelie(draws: Draws) -> Thing:
    """A wheeled bin by a gate."""
    outline = [(-0.24, 0.08), (0.2, 0.0), (0.28, 0.95), (-0.3, 0.95)]
    body = posed(extrude(outline, 0.46, bevel=0.02), turned((0, 0, 1), 90))
    lid = shifted(posed(box(0.5, 0.62, 0.05, bevel=0.015), turned((1, 0, 0), 3)), 0, 0.0, 0.95)
    tyre = [
        posed(lathe([(0.1, -0.02), (0.1, 0.02), (1e-4, 0.02)], around=20), turned((0, 1, 0), 90))
        for _ in (0, 1)
    ]
    wheels = [shifted(t, s * 0.25, 0.22, 0.1) for t, s in zip(tyre, (-1, 1), strict=True)]
    colour = paint(draws.pick("c", ((50, 70, 54), (54, 56, 60), (46, 66, 100), (104, 76, 50))), 0.5)
    lids = (
        colour
        if draws.chance("same")
        else paint(draws.pick("l", ((206, 170, 50), (60, 96, 150), (60, 60, 62))), 0.5)
    )
    return Thing((Part(body, colour), Part(lid, lids), Part(joined(wheels, smooth=True), RUBBER)))


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
    return Thing((laid(tub, surface), Part(joined(growth), green)))


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
    return Thing(tuple(parts))


def watering_can(draws: Draws) -> Thing:
    """A watering can of zinc or plastic."""
    body = lathe(
        [(0.1, 0), (0.105, 0.01), (0.1, 0.2), (0.06, 0.23), (0.055, 0.24), (0.05, 0.2)], around=36
    )
    spout = tube(
        [(0.08, 0, 0.05), (0.24, 0, 0.2), (0.33, 0, 0.28)], [0.02, 0.014, 0.012], around=10
    )
    rose = shifted(
        posed(lathe([(0.012, 0), (0.035, 0.04), (1e-4, 0.045)], around=20), turned((0, 1, 0), 50)),
        0.33,
        0,
        0.28,
    )
    grip = tube(
        smooth_path(
            [
                (-0.05, 0, 0.23),
                (-0.03, 0, 0.33),
                (-0.16, 0, 0.3),
                (-0.17, 0, 0.14),
                (-0.1, 0, 0.06),
            ],
            6,
        ),
        0.009,
        around=8,
    )
    m = (
        Material((160, 166, 166), rough=0.45, metal=0.8)
        if draws.chance("zinc")
        else paint(tint(draws, "c", level=(0.35, 0.6), chroma=(0.04, 0.12)), 0.4)
    )
    return Thing((Part(joined([body, spout, rose, grip], smooth=True), m),))


def trowel(draws: Draws) -> Thing:
    """A hand trowel and gloves."""
    blade = posed(
        extrude([(-0.03, 0), (0.03, 0), (0.034, 0.09), (0, 0.15), (-0.034, 0.09)], 0.004),
        turned((1, 0, 0), -86),
    )
    grip = tube([(0, -0.03, 0.014), (0, -0.17, 0.016)], [0.012, 0.016, 0.012], around=10)
    return Thing((Part(shifted(blade, z=0.01), STEEL), laid(grip, wood(timber(draws, "w"), 0))))


def letterbox(draws: Draws) -> Thing:
    """A metal box on a wall."""
    w, h = draws("w", 0.24, 0.36), draws("h", 0.3, 0.4)
    body = shifted(box(w, 0.11, h, bevel=0.008), 0, -0.055)
    flap = shifted(box(w * 0.8, 0.012, 0.04, bevel=0.003), 0, -0.115, h - 0.07)
    m = paint(tint(draws, "c", level=(0.25, 0.8), chroma=(0, 0.12)), 0.35)
    return Thing((Part(body, m), Part(flap, STEEL)))


def vent(draws: Draws) -> Thing:
    """A grille with slats."""
    w = draws("w", 0.16, 0.3)
    rim = shifted(box(w, 0.012, w, bevel=0.003), 0, -0.006)
    slats = [
        shifted(
            posed(box(w * 0.84, 0.014, 0.003), turned((1, 0, 0), 35)),
            0,
            -0.016,
            w * (0.1 + 0.1 * k),
        )
        for k in range(9)
    ]
    return Thing((Part(rim, STEEL), Part(joined(slats), draws.pick("m", (STEEL, IRON)))))


def pipe(draws: Draws) -> Thing:
    """A rain pipe with its clips, from the ground to the eaves."""
    tubes = [tube([(0, -0.07, -1.2), (0, -0.07, 4.5)], 0.045, around=12)]
    tubes += [
        shifted(lathe([(0.052, 0), (0.052, 0.04)], around=16), 0, -0.07, z)
        for z in (-0.6, 0.5, 1.6)
    ]
    return Thing((Part(joined(tubes, smooth=True), draws.pick("m", (STEEL, IRON, WHITE))),))


def ivy(draws: Draws) -> Thing:
    """Leaves that climb."""
    w, h = draws("w", 0.4, 0.9), draws("h", 0.6, 1.6)
    mat = posed(leaves(draws.count("l", 10, 12), 700, "box"), np.diag([w, 0.1, h, 1.0]))
    return Thing((Part(shifted(mat, 0, -0.05), greens(draws)),))


ON_WALLS = (letterbox, vent, pipe, ivy, vent)

# ------------------------------------------------------------------------------- market


def awning(draws: Draws, width: float, depth: float, height: float) -> Thing:
    """A striped roof on four poles, sagging, with a scalloped edge."""
    stripe = tint(draws, "stripe", level=(0.35, 0.6), chroma=(0.08, 0.16))
    surface = cloth(
        (234, 230, 220), 0, second=stripe, pattern=draws.pick("p", ("stripes", "stripes", "plain"))
    )
    u, v = np.meshgrid(np.linspace(0, 1, 16), np.linspace(0, 1, 8), indexing="ij")
    x, y = (u - 0.5) * width, (v - 0.5) * depth
    z = height + 0.35 * v - 0.05 * np.sin(u * np.pi) * np.sin(v * np.pi)
    roof = skin(np.stack([x, y, z], -1), np.stack([u * width * 0.35, v], -1))
    a = np.linspace(0, 1, 60)
    drop = 0.2 + 0.05 * np.abs(np.sin(a * width * 9))
    edge = np.stack(
        [
            np.stack([(a - 0.5) * width, np.full(60, -depth / 2), height - drop * t], -1)
            for t in (1.0, 0.0)
        ],
        1,
    )
    valance = skin(
        edge, np.stack([np.stack([a * width * 0.35, np.full(60, t)], -1) for t in (0.0, 1.0)], 1)
    )
    poles = [
        tube(
            [
                (sx * width * 0.48, sy * depth * 0.47, 0),
                (sx * width * 0.48, sy * depth * 0.47, height + 0.17 + 0.17 * sy),
            ],
            0.02,
            around=8,
        )
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return Thing(
        (
            Part(joined([roof, valance], smooth=True), surface.material),
            Part(joined(poles, smooth=True), STEEL),
        )
    )


def colour_of(draws: Draws, name: str, *, dark: float = 0.4) -> Colour:
    """A muted colour for carts and boards."""
    return tint(draws, name, level=(dark, dark + 0.3), chroma=(0.01, 0.08))
