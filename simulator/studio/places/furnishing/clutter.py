"""Boxes, binders, vases, baskets: what lies about in any room, of kinds that nobody asks about."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.places.furnishing import printed
from simulator.studio.places.paint import (
    BLACK,
    BRASS,
    CARD,
    CREAM,
    IRON,
    PAPER,
    STEEL,
    WHITE,
    paint,
    tint,
)
from simulator.studio.solid.forms import Part, Thing, turned
from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    lathe,
    posed,
    scaled,
    sheet,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.surfaces import dyed, shades
from simulator.world.pictures.noise import generator
from simulator.world.pictures.traits import Draws


def carton(draws: Draws) -> Thing:
    """A cardboard box with a strip of tape, sometimes open."""
    w, d, h = draws("w", 0.22, 0.45), draws("d", 0.2, 0.36), draws("h", 0.14, 0.34)
    body = box(w, d, h, bevel=0.004)
    parts = [
        Part(body, printed.shipped(printed.which(draws))),
        Part(shifted(box(0.05, d + 0.001, 0.001), z=h), paint((176, 134, 84), 0.25)),
    ]
    if draws.chance("flaps", 0.4):
        flap = [
            shifted(
                posed(box(w / 2, d, 0.004), turned((0, 1, 0), s * draws(f"f{s}", 20, 70))),
                s * w * 0.7,
                0,
                h,
            )
            for s in (-1, 1)
        ]
        parts.append(Part(joined(flap), CARD))
    return Thing.of(*parts)


def storage(draws: Draws) -> Thing:
    """A lidded plastic box."""
    w, d, h = draws("w", 0.25, 0.42), draws("d", 0.2, 0.3), draws("h", 0.14, 0.26)
    colour = tint(draws, "c", level=(0.4, 0.9), chroma=(0.01, 0.12))
    return Thing.of(
        Part(box(w, d, h, bevel=0.012), paint(colour, 0.35)),
        Part(
            shifted(box(w + 0.02, d + 0.02, 0.03, bevel=0.008), z=h - 0.01),
            paint(tint(draws, "lid"), 0.35),
        ),
        Part(
            shifted(sheet(0.11, 0.061), 0, -d / 2 - 0.0012, 0.35 * h),
            printed.card(printed.which(draws)),
        ),
    )


def folders(draws: Draws) -> Thing:
    """A row of ring binders, the last one leaning."""
    n = draws.count("many", 3, 7)
    colours = [tint(draws, f"c{k}", level=(0.25, 0.85), chroma=(0.01, 0.14)) for k in range(3)]
    x, row, labels, rings = 0.0, [], [], []
    for k in range(n):
        w = draws.pick(f"w{k}", (0.05, 0.08, 0.08))
        row.append(
            dyed(
                shifted(box(w - 0.003, 0.28, 0.315, bevel=0.003), x + w / 2),
                draws.count(f"which{k}", 0, 2),
                3,
            )
        )
        labels.append(shifted(sheet(w * 0.6, 0.12), x + w / 2, -0.1405, 0.14))
        rings.append(shifted(posed(lathe([(0.008, 0), (0.012, 0.002), (0.008, 0.003)], around=16),
            turned((1, 0, 0), 90)), x + w / 2, -0.14, 0.06))  # fmt: skip
        x += w
    parts = (
        Part(joined(row), shades(*colours, rough=0.5)),
        Part(joined(labels), printed.binder(printed.which(draws))),
        Part(joined(rings, smooth=True), STEEL),
    )
    return Thing.of(*(Part(shifted(p.mesh, -x / 2), p.material) for p in parts))


def tin(draws: Draws) -> Thing:
    """A paint tin, dripped on."""
    r, h = draws("r", 0.045, 0.085), draws("h", 0.08, 0.18)
    body = lathe(
        [
            (r, 0),
            (r, 0.005),
            (r * 0.985, 0.008),
            (r * 0.985, h - 0.008),
            (r, h - 0.005),
            (r, h),
            (r * 0.9, h - 0.003),
            (1e-4, h - 0.004),
        ],
        around=48,
    )
    band = lathe([(r * 0.99, h * 0.2), (r * 0.99, h * draws("full", 0.65, 0.85))], around=48)
    return Thing.of(Part(body, STEEL), Part(band, printed.tinned(printed.which(draws))))


def vase(draws: Draws) -> Thing:
    """A vase with dry twigs."""
    h, r = draws("h", 0.16, 0.34), draws("r", 0.05, 0.09)
    neck = draws("neck", 0.25, 0.5)
    profile = smooth_path(
        [
            (r * 0.6, 0),
            (r, h * draws("belly", 0.3, 0.5)),
            (r * neck, h * 0.86),
            (r * neck * 1.2, h),
        ],
        6,
    )
    body = lathe([(1e-4, 0), *profile.tolist(), (r * neck, h - 0.01), (r * neck * 0.8, h * 0.7)])
    twigs = []
    for k in range(draws.count("twigs", 3, 7)):
        a, lean = k * 2.4, draws(f"lean{k}", 0.05, 0.3)
        top = h * draws(f"long{k}", 1.7, 2.6)
        path = [
            (0, 0, h * 0.6),
            (lean * 0.3 * top * math.cos(a), lean * 0.3 * top * math.sin(a), top * 0.7),
            (lean * top * math.cos(a), lean * top * math.sin(a), top),
        ]
        twigs.append(tube(smooth_path(path, 4), [0.003, 0.0015], around=6))
        twigs += [
            shifted(
                ball(0.008, 0.008, 0.014, around=8),
                path[-1][0] * q,
                path[-1][1] * q,
                h * 0.6 + (top - h * 0.6) * q,
            )
            for q in (0.85, 0.93, 1.0)
        ]
    return Thing.of(
        Part(body, paint(tint(draws, "glaze"), draws.pick("r2", (0.2, 0.75)))),
        Part(joined(twigs, smooth=True), paint((150, 120, 84), 0.9)),
    )


def candle(draws: Draws) -> Thing:
    """A candle on a dish."""
    r, h = draws("r", 0.025, 0.04), draws("h", 0.05, 0.16)
    dish = lathe([(r * 1.5, 0), (r * 2, 0.012), (r * 1.9, 0.013), (1e-4, 0.005)])
    wax = lathe([(r, 0.005), (r, h), (r * 0.85, h - 0.004), (1e-4, h - 0.007)])
    return Thing.of(
        Part(dish, draws.pick("d", (BRASS, CREAM, IRON))),
        Part(wax, paint(tint(draws, "w", level=(0.6, 0.94)), 0.5)),
        Part(shifted(tube([(0, 0, 0), (0.002, 0, 0.012)], 0.001, around=6), z=h - 0.008), BLACK),
    )


def basket(draws: Draws) -> Thing:
    """A woven basket with a blanket in it."""
    r, h = draws("r", 0.16, 0.24), draws("h", 0.2, 0.32)
    weave = [
        tube(
            [
                (
                    (r + 0.006 * math.cos(8 * a + k * math.pi)) * math.cos(a),
                    (r + 0.006 * math.cos(8 * a + k * math.pi)) * math.sin(a),
                    0.012 + 0.022 * k,
                )
                for a in np.linspace(0, 2 * math.pi, 40)
            ],
            0.011,
            around=6,
        )
        for k in range(int(h / 0.022))
    ]
    wool = shifted(scaled(ball(1, around=24), r * 0.9, r * 0.85, 0.1), z=h - 0.02)
    return Thing.of(
        Part(joined(weave, smooth=True), paint((172, 132, 84), 0.85)),
        Part(wool, paint(tint(draws, "wool"), 0.95)),
    )


def bin_(draws: Draws) -> Thing:
    """A waste-paper basket with crumpled paper."""
    r, h = draws("r", 0.11, 0.15), draws("h", 0.26, 0.36)
    body = lathe([(r * 0.8, 0), (r, h), (r - 0.004, h), (r * 0.78, 0.01), (1e-4, 0.01)])
    rng = generator("crumpled", draws("c"))
    wads = []
    for k in range(4):
        wad = ball(0.045, around=12)
        wads.append(
            shifted(
                wad._replace(
                    vertices=(
                        wad.vertices * (1 + 0.2 * rng.standard_normal((len(wad.vertices), 1)))
                    ).astype(np.float32),
                    smooth=False,
                ),
                0.05 * math.cos(k * 2.4),
                0.05 * math.sin(k * 2.4),
                h * 0.75 + 0.02 * k,
            )
        )
    return Thing.of(Part(body, draws.pick("m", (BLACK, STEEL, WHITE))), Part(joined(wads), PAPER))
