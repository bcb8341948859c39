"""What stands in streets, gardens and markets: fences, posts, bins, cans, awnings."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.places.furnishing import printed_labels
from simulator.studio.places.place_materials import (
    BLACK,
    IRON,
    RUBBER,
    STEEL,
    paint,
    seed,
    timber,
    tint,
)
from simulator.studio.solid.meshes import (
    box,
    extrude,
    joined,
    lathe,
    posed,
    sheet,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Material, Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import cloth, concrete, dyed, laid, shades, wood
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws


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
        return Thing.of(
            Part(mesh, paint(tint(draws, "c", level=(0.4, 0.95), chroma=(0, 0.05)), 0.7))
        )
    return Thing.of(
        laid(
            mesh,
            wood(
                tint(draws, "c", level=(0.45, 0.68), chroma=(0.01, 0.05), hue=(55, 75)),
                seed(draws, "w"),
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
    return Thing.of(
        Part(joined([*bars, *posts, *rails], smooth=True), draws.pick("m", (IRON, BLACK, STEEL)))
    )


def lamp_post(draws: Draws) -> Thing:
    """A street lamp, unlit."""
    h = draws("h", 3.6, 5.0)
    pole = lathe([(0.1, 0), (0.1, 0.3), (0.055, 0.5), (0.045, h), (1e-4, h)], around=20)
    head = shifted(lathe([(0.06, 0), (0.17, 0.06), (0.14, 0.42), (0.22, 0.46), (0.03, 0.62),
        (1e-4, 0.64)], around=20), z=h)  # fmt: skip
    return Thing.of(
        Part(pole, draws.pick("m", (IRON, BLACK))), Part(head, paint((206, 204, 196), 0.2))
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
        return Thing.of(laid(body, concrete((170, 166, 158), 1)))
    return Thing.of(Part(body, draws.pick("m", (IRON, BLACK, STEEL))))


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
    return Thing.of(Part(joined([body, lid, *legs], smooth=True), m))


def wheelie(draws: Draws) -> Thing:
    """A wheeled bin by a gate."""
    outline = [(-0.24, 0.08), (0.2, 0.0), (0.28, 0.95), (-0.3, 0.95)]
    body = posed(extrude(outline, 0.46, bevel=0.02), turned((0, 0, 1), 90))
    lid = shifted(posed(box(0.5, 0.62, 0.05, bevel=0.015), turned((1, 0, 0), 3)), 0, 0.0, 0.95)
    tyre = [posed(lathe([(0.1, -0.02), (0.1, 0.02), (1e-4, 0.02)], around=20),
        turned((0, 1, 0), 90)) for _ in (0, 1)]  # fmt: skip
    wheels = [shifted(t, s * 0.25, 0.22, 0.1) for t, s in zip(tyre, (-1, 1), strict=True)]
    colour = paint(draws.pick("c", ((50, 70, 54), (54, 56, 60), (46, 66, 100), (104, 76, 50))), 0.5)
    lids = (colour if draws.chance("same") else paint(draws.pick("l",
        ((206, 170, 50), (60, 96, 150), (60, 60, 62))), 0.5))  # fmt: skip
    return Thing.of(Part(body, colour), Part(lid, lids), Part(joined(wheels, smooth=True), RUBBER))


def cabinet(draws: Draws) -> Thing:
    """A grey box of the power or telephone works, with a notice."""
    w, h = draws("w", 0.5, 1.1), draws("h", 0.9, 1.3)
    body = shifted(box(w, 0.34, h, bevel=0.015), z=0.06)
    seam = shifted(box(0.01, 0.345, h * 0.9), z=0.06 + h * 0.05)
    notice = shifted(sheet(0.16, 0.12), w * 0.25, -0.172, h * 0.75)
    grey = paint(tint(draws, "c", level=(0.55, 0.75), chroma=(0, 0.03)), 0.55)
    base = Part(box(w * 0.94, 0.3, 0.07), paint((120, 118, 112), 0.9))
    return Thing.of(
        Part(body, grey),
        base,
        Part(seam, IRON),
        Part(notice, printed_labels.note(draws.count("n", 0, 2 * printed_labels.VARIETY - 1))),
    )


def stand(draws: Draws) -> Thing:
    """Three hoops to lock bicycles to."""
    hoop = [(-0.35, 0, 0), (-0.35, 0, 0.62), (-0.2, 0, 0.78), (0.2, 0, 0.78), (0.35, 0, 0.62),
        (0.35, 0, 0)]  # fmt: skip
    one = posed(tube(smooth_path(hoop, 4), 0.024, around=10), turned((0, 0, 1), 90))
    row = joined([shifted(one, 0.8 * k) for k in (-1, 0, 1)], smooth=True)
    return Thing.of(Part(row, draws.pick("m", (STEEL, IRON))))


def cover(draws: Draws) -> Thing:
    """A manhole's lid or a drain's grate, let into the ground."""
    if draws.chance("round", 0.6):
        lid = lathe([(0.34, 0.0), (0.34, 0.008), (1e-4, 0.008)], around=36)
        knobs = [
            shifted(box(0.05, 0.05, 0.012), 0.09 * i, 0.09 * j)
            for i in range(-3, 4)
            for j in range(-3, 4)
            if i * i + j * j < 10
        ]
        return Thing.of(Part(lid, IRON), Part(joined(knobs), IRON))
    bars = [shifted(box(0.03, 0.36, 0.012), -0.2 + 0.05 * k) for k in range(9)]
    return Thing.of(Part(joined(bars), IRON), Part(box(0.46, 0.36, 0.004), BLACK))


def litter(draws: Draws) -> Thing:
    """Leaves, a paper, a ticket that somebody dropped."""
    rng = generator("litter", draws("key"))
    bits = []
    for _ in range(draws.count("many", 4, 16)):
        size = rng.uniform(0.03, 0.08)
        bit = posed(
            box(size, size * rng.uniform(0.4, 0.9), 0.002),
            turned((rng.normal(), rng.normal(), 2), rng.uniform(0, 360)),
        )
        x, y = rng.normal(0, 0.7, 2)
        bits.append(dyed(shifted(bit, x, y, 0.012), int(rng.integers(4)), 4))
    browns = shades((126, 88, 44), (150, 116, 52), (96, 74, 48), (206, 202, 192), rough=0.8)
    return Thing.of(Part(joined(bits), browns))


def watering_can(draws: Draws) -> Thing:
    """A watering can of zinc or plastic."""
    body = lathe(
        [(0.1, 0), (0.105, 0.01), (0.1, 0.2), (0.06, 0.23), (0.055, 0.24), (0.05, 0.2)], around=36
    )
    spout = tube(
        [(0.08, 0, 0.05), (0.24, 0, 0.2), (0.33, 0, 0.28)], [0.02, 0.014, 0.012], around=10
    )
    rose = shifted(posed(lathe([(0.012, 0), (0.035, 0.04), (1e-4, 0.045)], around=20),
        turned((0, 1, 0), 50)), 0.33, 0, 0.28)  # fmt: skip
    grip = tube(smooth_path([(-0.05, 0, 0.23), (-0.03, 0, 0.33), (-0.16, 0, 0.3), (-0.17, 0, 0.14),
        (-0.1, 0, 0.06)], 6), 0.009, around=8)  # fmt: skip
    m = (
        Material((160, 166, 166), rough=0.45, metal=0.8)
        if draws.chance("zinc")
        else paint(tint(draws, "c", level=(0.35, 0.6), chroma=(0.04, 0.12)), 0.4)
    )
    return Thing.of(Part(joined([body, spout, rose, grip], smooth=True), m))


def trowel(draws: Draws) -> Thing:
    """A hand trowel and gloves."""
    blade = posed(extrude([(-0.03, 0), (0.03, 0), (0.034, 0.09), (0, 0.15), (-0.034, 0.09)], 0.004),
        turned((1, 0, 0), -86))  # fmt: skip
    grip = tube([(0, -0.03, 0.014), (0, -0.17, 0.016)], [0.012, 0.016, 0.012], around=10)
    return Thing.of(Part(shifted(blade, z=0.01), STEEL), laid(grip, wood(timber(draws, "w"), 0)))


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
    return Thing.of(
        Part(joined([roof, valance], smooth=True), surface.material),
        Part(joined(poles, smooth=True), STEEL),
    )
