"""What lies about where people cook and eat. No kind of thing that is asked about, no names."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.places.furnishing import printed_labels
from simulator.studio.places.place_materials import (
    BLACK,
    CHROME,
    CLEAR,
    CREAM,
    IRON,
    STEEL,
    WHITE,
    paint,
    seed,
    timber,
    tint,
)
from simulator.studio.solid.meshes import (
    ball,
    box,
    extrude,
    joined,
    lathe,
    posed,
    scaled,
    sheet,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import cloth, laid, wood
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws


def cutting_board(draws: Draws) -> Thing:
    """A board with bread, or citrus cut in two, and a knife."""
    w, d = draws("w", 0.3, 0.42), draws("d", 0.2, 0.28)
    top = laid(
        box(w, d, 0.022, bevel=0.004),
        wood(timber(draws, "wood"), seed(draws, "wood"), board=(0.5, 0.045)),
    )
    knife = shifted(_knife(), w * 0.36, 0.02, 0.022)
    handle = shifted(box(0.022, 0.12, 0.016, bevel=0.005), 0.009, -0.16, 0)
    parts = [top, Part(knife, CHROME), Part(shifted(handle, w * 0.36, 0.02, 0.022), BLACK)]
    food = _loaf(draws) if draws.chance("bread") else _halves(draws)
    parts += [Part(shifted(p.mesh, -w * 0.12, 0, 0.022), p.material) for p in food]
    return Thing.of(*parts)


def _knife() -> Mesh:
    blade = [(0, -0.1), (0.012, -0.09), (0.018, -0.02), (0.018, 0.09), (0, 0.09)]
    flat = posed(extrude(blade, 0.002), turned((1, 0, 0), -90))
    return shifted(flat, z=0.002)


def _loaf(draws: Draws) -> list[Part]:
    arch = [(0.055 * math.cos(a), 0.06 + 0.035 * math.sin(a)) for a in np.linspace(0, np.pi, 12)]
    outline = [(-0.05, 0.0), (0.05, 0.0), *arch]
    crust = paint((150, 92, 46), 0.85)
    whole = shifted(
        posed(extrude(outline, draws("long", 0.1, 0.16), bevel=0.012), turned((0, 0, 1), 90)), -0.02
    )
    slices = [
        shifted(posed(extrude(outline, 0.012, bevel=0.002), turned((1, 0, 0), -84)), 0.06, y, z)
        for y, z in ((-0.05, 0.012), (-0.068, 0.022))
    ]
    return [Part(whole, crust), Part(joined(slices), paint((226, 196, 146), 0.9))]


def _halves(draws: Draws) -> list[Part]:
    skin, flesh = draws.pick("fruit", (((228, 186, 40), (240, 222, 140)),
        ((120, 150, 50), (206, 216, 140)), ((226, 122, 34), (236, 164, 70))))  # fmt: skip
    r = draws("r", 0.026, 0.036)
    bowl = lathe(
        [(1e-4, 0), *[(r * math.sin(a), r - r * math.cos(a)) for a in np.linspace(0.15, 1.57, 9)]]
    )
    tops = lathe([(r * 0.98, r), (1e-4, r + 0.0005)])
    at = [(-0.05, 0.03), (0.02, -0.04)]
    return [
        Part(joined([shifted(bowl, *p) for p in at], smooth=True), paint(skin, 0.45)),
        Part(joined([shifted(tops, *p) for p in at], smooth=True), paint(flesh, 0.3)),
        Part(shifted(ball(r, r, r * 1.12, around=24), -0.03, -0.045, r), paint(skin, 0.45)),
    ]


def towel(draws: Draws) -> Thing:
    """A kitchen cloth, dropped or folded."""
    pattern = draws.pick("pattern", ("stripes", "check", "plain", "herringbone"))
    colour = tint(draws, "a", level=(0.8, 0.93), chroma=(0.005, 0.03))
    surface = cloth(colour, seed(draws, "c"), second=tint(draws, "b"), pattern=pattern)
    w, d = draws("w", 0.2, 0.3), draws("d", 0.16, 0.26)
    sheets = [
        draped(w, d, 0.006 + 0.007 * k, draws(f"fold{k}", 0.002, 0.009), int(draws("s", 0, 9)) + k)
        for k in range(3)
    ]
    return Thing.of(laid(joined(sheets, smooth=False), surface))


def draped(width: float, depth: float, height: float, fold: float, key: int) -> Mesh:
    """A piece of cloth that lies down with soft folds, its edge touching the ground."""
    n = 22
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    rng = generator("draped", key)
    x = u * width / 2 + 0.006 * np.sin(3 * v + rng.uniform(0, 6))
    y = v * depth / 2 + 0.006 * np.sin(4 * u + rng.uniform(0, 6))
    wave = sum(
        np.sin(k * (u * math.cos(a) + v * math.sin(a)) * 2.4 + rng.uniform(0, 6)) / k
        for k, a in zip((1, 2, 3), rng.uniform(0, 6, 3), strict=True)
    )
    edge = np.clip((1 - np.maximum(abs(u), abs(v))) * 7, 0, 1)
    z = height * (0.25 + 0.75 * edge) + fold * (wave + 1.8) * 0.5
    i, j = (q.ravel() for q in np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij"))
    k = i * n + j
    faces = np.concatenate([np.stack([k, k + n, k + n + 1], 1), np.stack([k, k + n + 1, k + 1], 1)])
    at = np.stack([x, y, z], -1).reshape(-1, 3).astype(np.float32)
    uv = np.stack([u, v], -1).reshape(-1, 2) * (width / 2, depth / 2)
    return Mesh(at, faces.astype(np.int32), uv.astype(np.float32), True)


def mill(draws: Draws) -> Thing:
    """A salt or pepper mill."""
    h, r = draws("h", 0.13, 0.24), draws("r", 0.024, 0.03)
    waist = draws("waist", 0.55, 0.85)
    profile = smooth_path(
        [(r, 0), (r, h * 0.12), (r * waist, h * 0.4), (r * 0.85, h * 0.66), (r * 0.6, h * 0.72),
         (r * 0.85, h * 0.8), (r * 0.8, h * 0.9), (1e-4, h * 0.95)], 5,
    )  # fmt: skip
    body = lathe(profile)
    knob = shifted(ball(0.007, around=16), z=h * 0.965)
    if draws.chance("wood", 0.6):
        part = laid(body, wood(timber(draws, "w"), seed(draws, "w"), gloss=0.3))
    else:
        part = Part(body, draws.pick("plain", (BLACK, WHITE, STEEL)))
    return Thing.of(part, Part(knob, CHROME))


def bowl(draws: Draws) -> Thing:
    """A bowl, mostly with fruit in it."""
    r, h = draws("r", 0.09, 0.15), draws("h", 0.05, 0.09)
    outer = [(r * 0.4, 0), (r * 0.42, 0.006), *_curve(r * 0.42, r, 0.006, h)]
    inner = [(x - 0.004, z + 0.003) for x, z in reversed(outer[2:])]
    colour = tint(draws, "glaze", level=(0.45, 0.93), chroma=(0.005, 0.1))
    shell = Part(lathe([*outer, (r, h + 0.002), *inner, (1e-4, 0.012)]), paint(colour, 0.2, 0, 0.4))
    if draws.chance("empty", 0.25):
        return Thing.of(shell)
    fruit = fruits(draws, r * 0.62, h * 0.55, layers=2)
    return Thing.of(shell, *fruit)


def _curve(r0: float, r1: float, z0: float, z1: float) -> list[tuple[float, float]]:
    t = np.linspace(0, np.pi / 2, 9)
    return [(r0 + (r1 - r0) * math.sin(a), z1 - (z1 - z0) * math.cos(a)) for a in t]


FRUIT: tuple[tuple[tuple[float, float, float], float, float], ...] = (
    ((186, 44, 36), 0.037, 0.92), ((150, 170, 60), 0.037, 0.92), ((230, 190, 46), 0.028, 1.3),
    ((228, 126, 36), 0.038, 0.96), ((120, 40, 66), 0.026, 1.0), ((196, 70, 40), 0.034, 0.9),
)  # fmt: skip
"""Colour, radius, height over width."""


def fruits(draws: Draws, radius: float, z: float, *, layers: int = 1) -> list[Part]:
    """A heap of one or two sorts of fruit."""
    first = draws.count("fruit", 0, len(FRUIT) - 1)
    second = draws.count("other", 0, len(FRUIT) - 1)
    heaps: dict[int, list[Mesh]] = {}
    for k in range(9 * layers):
        which = first if draws.chance(f"which{k}", 0.7) else second
        _, r, tall = FRUIT[which]
        layer = k // 6
        away = radius * math.sqrt((k % 6 + 0.4) / 6) * (1 - 0.35 * layer)
        angle = k * 2.4 + draws("spin", 0, 6)
        lump = scaled(ball(r, around=20), 1 + 0.06 * (k % 3), 1, tall)
        heaps.setdefault(which, []).append(
            shifted(
                lump, away * math.cos(angle), away * math.sin(angle), z + r * (0.6 + 1.1 * layer)
            )
        )
    return [
        Part(joined(some, smooth=True), paint(FRUIT[which][0], 0.4, 0, 0.15))
        for which, some in heaps.items()
    ]


def plates(draws: Draws) -> Thing:
    """A stack of plates or small bowls."""
    r, step = draws("r", 0.08, 0.135), draws("step", 0.007, 0.012)
    count = draws.count("count", 2, 6)
    one = [(r * 0.55, 0), (r * 0.6, 0.004), (r, 0.016), (r, 0.0185), (r * 0.6, 0.008),
        (1e-4, 0.007)]  # fmt: skip
    colour = tint(draws, "glaze", level=(0.75, 0.94), chroma=(0.003, 0.05))
    stack = [
        shifted(lathe(one), draws(f"x{k}", -0.002, 0.002), draws(f"y{k}", -0.002, 0.002), k * step)
        for k in range(count)
    ]
    return Thing.of(Part(joined(stack, smooth=True), paint(colour, 0.18, 0, 0.4)))


def tumbler(draws: Draws) -> Thing:
    """A drinking glass, with water or juice or empty."""
    h, r = draws("h", 0.085, 0.14), draws("r", 0.03, 0.038)
    glass = lathe([(1e-4, 0.003), (r * 0.85, 0.003), (r, h), (r * 0.99, h)], around=40)
    parts = [Part(glass, CLEAR),
        Part(lathe([(1e-4, 0), (r * 0.85, 0), (r * 0.86, 0.004), (1e-4, 0.005)]),
        paint((200, 206, 208), 0.1))]  # fmt: skip
    if draws.chance("drink", 0.5):
        colour = draws.pick("juice", ((226, 150, 50), (150, 40, 48), (210, 200, 160), (90, 54, 34)))
        level = h * draws("level", 0.3, 0.75)
        inner = lathe(
            [(1e-4, 0.006), (r * 0.82, 0.006), (r * 0.94, level), (1e-4, level)], around=40
        )
        parts.append(Part(inner, paint(colour, 0.15)))
    return Thing.of(*parts)


def canister(draws: Draws) -> Thing:
    """A tin or stoneware box for flour, tea, sugar."""
    h, r = draws("h", 0.09, 0.2), draws("r", 0.045, 0.065)
    body = lathe([(r * 0.96, 0), (r, 0.004), (r, h * 0.84), (r * 0.97, h * 0.85)])
    lid = lathe(
        [(r * 1.01, h * 0.84), (r * 1.01, h * 0.93), (r * 0.98, h * 0.95), (0.012, h * 0.955)]
    )
    knob = shifted(ball(0.012, 0.012, 0.01, around=20), z=h * 0.97)
    colour = paint(tint(draws, "body", level=(0.4, 0.92)), 0.3, 0, 0.3)
    cover = laid(lid, wood(timber(draws, "lid"), 0)) if draws.chance("wood") else Part(lid, STEEL)
    front = shifted(sheet(1.3 * r, 0.75 * r, bend=0.23 * r), 0, -0.78 * r, 0.3 * h)
    slip = Part(front, printed_labels.card(printed_labels.pick_variety(draws)))
    return Thing.of(Part(body, colour), cover, Part(knob, cover.material), slip)


def utensils(draws: Draws) -> Thing:
    """A pot of wooden spoons, a whisk, a spatula."""
    r, h = draws("r", 0.05, 0.065), draws("h", 0.13, 0.17)
    pot = lathe([(r * 0.9, 0), (r, 0.01), (r, h), (r - 0.005, h), (r - 0.006, 0.02), (1e-4, 0.02)])
    shafts, steel = [], []
    for k in range(draws.count("many", 4, 7)):
        angle = k * 2.4 + draws("spin", 0, 6)
        lean = draws(f"lean{k}", 8, 17)
        turn = turned((-math.sin(angle), math.cos(angle), 0), lean)
        long = draws(f"long{k}", 0.24, 0.32)
        stick = joined(
            [tube([(0, 0, 0), (0, 0, long)], 0.005, around=8), _head(draws, k, long)], smooth=True
        )
        at = shifted(
            posed(stick, turn), 0.4 * r * math.cos(angle), 0.4 * r * math.sin(angle), 0.025
        )
        (steel if draws.chance(f"steel{k}", 0.35) else shafts).append(at)
    parts = [Part(pot, paint(tint(draws, "glaze"), 0.25, 0, 0.3))]
    if shafts:
        parts.append(Part(joined(shafts, smooth=True), paint((186, 138, 88), 0.7)))
    if steel:
        parts.append(Part(joined(steel, smooth=True), STEEL))
    return Thing.of(*parts)


def _head(draws: Draws, k: int, long: float) -> Mesh:
    if draws.chance(f"flat{k}"):
        return shifted(ball(0.021, 0.003, 0.034, around=16), z=long + 0.025)
    return shifted(ball(0.019, 0.007, 0.027, around=16), z=long + 0.018)


def soap(draws: Draws) -> Thing:
    """A pump for washing up, with a sponge beside it."""
    h = draws("h", 0.12, 0.16)
    body = lathe([(0.033, 0), (0.035, 0.004), (0.035, h * 0.8), (0.012, h * 0.9), (0.012, h)])
    pump = tube([(0, 0, h), (0, 0, h + 0.035), (0, -0.012, h + 0.04), (0, -0.045, h + 0.034)],
        0.0055, around=10)  # fmt: skip
    sponge = shifted(box(0.1, 0.065, 0.03, bevel=0.006), 0.09, 0, 0)
    scour = shifted(box(0.1, 0.065, 0.008, bevel=0.002), 0.09, 0, 0.03)
    return Thing.of(
        Part(body, paint(tint(draws, "soap", level=(0.4, 0.9)), 0.3)),
        Part(pump, draws.pick("pump", (BLACK, CHROME, WHITE))),
        Part(sponge, paint((222, 190, 70), 0.95)),
        Part(scour, paint((70, 120, 70), 0.95)),
    )


def pan(draws: Draws) -> Thing:
    """A frying pan or saucepan with its handle to one side."""
    r, h = draws("r", 0.1, 0.14), draws("h", 0.045, 0.11)
    body = lathe([(r * 0.86, 0), (r, h), (r - 0.003, h), (r * 0.84, 0.004), (1e-4, 0.004)])
    handle = tube(smooth_path([(r * 0.95, 0, h * 0.8), (r + 0.06, 0, h + 0.01),
        (r + 0.19, 0, h + 0.02)]), [0.006, 0.01, 0.011], around=12)  # fmt: skip
    return Thing.of(Part(body, draws.pick("metal", (IRON, STEEL))), Part(handle, BLACK))


def tray(draws: Draws) -> Thing:
    """A tray with cups upside down."""
    w, d = draws("w", 0.3, 0.4), draws("d", 0.2, 0.26)
    board = laid(box(w, d, 0.012, bevel=0.003), wood(timber(draws, "wood"), seed(draws, "wood")))
    edges = [shifted(box(w, 0.012, 0.03, bevel=0.003), 0, s * d / 2) for s in (-1, 1)] + [
        shifted(box(0.012, d, 0.03, bevel=0.003), s * w / 2) for s in (-1, 1)
    ]
    cup = [(0.036, 0), (0.034, 0.02), (0.02, 0.055), (0.018, 0.058), (1e-4, 0.058)]
    cups = [
        shifted(lathe(cup, around=32), -w * 0.28 + 0.1 * k, draws(f"y{k}", -0.04, 0.04), 0.012)
        for k in range(draws.count("cups", 1, 3))
    ]
    return Thing.of(
        board, Part(joined(edges), board.material), Part(joined(cups, smooth=True), CREAM)
    )
