"""What lies about in workshops and gyms. No names, nothing asked about."""

from __future__ import annotations

import numpy as np

from simulator.studio.places.place_materials import (
    BLACK,
    CHROME,
    RUBBER,
    STEEL,
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
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Part, Thing, turned
from simulator.studio.solid.surfaces import laid, wood
from simulator.world.pictures.traits import Draws


def screwdriver(draws: Draws) -> Thing:
    """A screwdriver lying."""
    grip = tube(
        [(0, 0, 0.014), (0.05, 0, 0.014), (0.1, 0, 0.014)], [0.011, 0.015, 0.008], around=12
    )
    rod = tube([(0.1, 0, 0.014), (0.22, 0, 0.006)], 0.0035, around=8)
    return Thing((Part(grip,
        paint(draws.pick("c", ((190, 50, 40), (226, 170, 40), (44, 90, 160))), 0.35)), Part(rod,
        CHROME)))  # fmt: skip


def hammer(draws: Draws) -> Thing:
    """A hammer lying on its side."""
    shaft = laid(tube([(0, 0, 0.014), (0.28, 0, 0.014)], [0.015, 0.011], around=12),
        wood(timber(draws, "shaft"), seed(draws, "s")))  # fmt: skip
    head = shifted(
        posed(box(0.03, 0.03, 0.11, bevel=0.005), turned((1, 0, 0), 90)), 0.28, 0.05, 0.014
    )
    return Thing.of(shaft, Part(head, STEEL))


def spanners(draws: Draws) -> Thing:
    """Spanners of several sizes, side by side."""
    out = []
    for k in range(draws.count("many", 2, 5)):
        long = 0.12 + 0.03 * k
        flat = [(-long / 2, -0.006), (long / 2, -0.006), (long / 2 + 0.012, -0.014),
            (long / 2 + 0.03, -0.01), (long / 2 + 0.018, 0), (long / 2 + 0.03, 0.01),
            (long / 2 + 0.012, 0.014), (long / 2, 0.006), (-long / 2, 0.006)]  # fmt: skip
        out.append(shifted(posed(posed(extrude(flat, 0.006, bevel=0.001), turned((1, 0, 0), -90)),
            turned((0, 0, 1), draws(f"t{k}", -8, 8))), 0, 0.04 * k, 0.004))  # fmt: skip
    return Thing.of(Part(joined(out), CHROME))


def shavings(draws: Draws) -> Thing:
    """Curls of wood from a plane."""
    curls = []
    for k in range(draws.count("many", 5, 12)):
        t = np.linspace(0, draws(f"l{k}", 5, 11), 26)
        r = 0.006 + 0.0012 * t
        path = np.stack([r * np.cos(t), 0.003 * t, 0.012 + r * np.sin(t)], -1)
        curl = tube(path, 0.005, around=6, flat=0.08)
        curls.append(shifted(posed(curl, turned((0, 0, 1), draws(f"t{k}", 0, 360))),
            draws(f"x{k}", -0.12, 0.12), draws(f"y{k}", -0.08, 0.08)))  # fmt: skip
    return Thing.of(Part(joined(curls, smooth=True), paint((222, 184, 132), 0.8)))


def planks(draws: Draws) -> Thing:
    """Offcuts of wood in a heap."""
    parts = []
    for k in range(draws.count("many", 2, 5)):
        piece = posed(box(draws(f"w{k}", 0.2, 0.5), draws(f"d{k}", 0.05, 0.1), 0.022, bevel=0.001),
            turned((0, 0, 1), draws(f"t{k}", -25, 25)))  # fmt: skip
        parts.append(laid(shifted(piece, z=0.0225 * k), wood(timber(draws, f"c{k % 2}"), k % 3)))
    return Thing.of(*parts)


def tool_board(draws: Draws) -> Thing:
    """A pegboard with saws, pliers and hammers hung on it; its lower edge at z = 0."""
    w, h = draws("w", 0.9, 1.3), 0.62
    board = shifted(box(w, 0.012, h, bevel=0.002), 0, -0.006)
    steel, wooden, plastic = [], [], []
    n = int(w / 0.13)
    for k in range(n):
        x, kind = -w / 2 + 0.08 + k * 0.13, draws.count(f"kind{k}", 0, 4)
        if kind == 0:  # a hammer
            wooden.append(tube([(x, -0.03, 0.15), (x, -0.03, 0.45)], 0.012, around=8))
            steel.append(shifted(box(0.11, 0.028, 0.028, bevel=0.005), x, -0.03, 0.45))
        elif kind == 1:  # a saw
            steel.append(
                shifted(
                    extrude([(-0.05, 0.0), (-0.015, 0.0), (0.045, 0.36), (-0.05, 0.36)], 0.003),
                    x,
                    -0.025,
                    0.1,
                )
            )
            wooden.append(
                shifted(
                    extrude(
                        [(-0.055, 0.0), (0.055, 0.0), (0.055, 0.03), (-0.055, 0.1)],
                        0.022,
                        bevel=0.006,
                    ),
                    x,
                    -0.025,
                    0.44,
                )
            )
        elif kind == 2:  # pliers
            for s in (-1, 1):
                plastic.append(
                    tube(
                        smooth_path(
                            [
                                (x + s * 0.03, -0.025, 0.28),
                                (x + s * 0.028, -0.025, 0.36),
                                (x, -0.025, 0.42),
                            ],
                            4,
                        ),
                        0.008,
                        around=8,
                    )
                )
            steel.append(shifted(extrude([(-0.018, 0), (0.018, 0), (0.006, 0.09), (-0.006, 0.09)],
                0.016, bevel=0.003), x, -0.025, 0.41))  # fmt: skip
        elif kind == 3:  # a spanner
            steel.append(
                shifted(
                    extrude(
                        [
                            (-0.01, 0),
                            (0.01, 0),
                            (0.01, 0.22),
                            (0.025, 0.25),
                            (0.012, 0.28),
                            (0, 0.25),
                            (-0.012, 0.28),
                            (-0.025, 0.25),
                            (-0.01, 0.22),
                        ],
                        0.007,
                    ),
                    x,
                    -0.02,
                    0.2,
                )
            )
        else:  # a roll of tape
            steel_ring = posed(lathe([(0.035, 0), (0.05, 0), (0.05, 0.025), (0.035, 0.025),
                (0.035, 0)], around=24), turned((1, 0, 0), 90))  # fmt: skip
            plastic.append(shifted(steel_ring, x, -0.012, 0.4))
    parts = [
        laid(board, wood((196, 160, 112), 1))
        if draws.chance("wood", 0.6)
        else Part(board, paint((120, 124, 130), 0.5))
    ]
    if steel:
        parts.append(Part(joined(steel, smooth=False), STEEL))
    if wooden:
        parts.append(Part(joined(wooden, smooth=False), paint((176, 122, 72), 0.6)))
    if plastic:
        parts.append(
            Part(
                joined(plastic, smooth=True),
                paint(draws.pick("grip", ((186, 46, 40), (220, 160, 40), (40, 80, 150))), 0.4),
            )
        )
    return Thing.of(*parts)


def dumbbell(draws: Draws) -> Thing:
    """A pair of dumbbells."""
    r, w = draws("r", 0.05, 0.085), draws("w", 0.05, 0.08)
    head = posed(
        lathe(
            [(1e-4, 0), (r * 0.9, 0), (r, 0.006), (r, w - 0.006), (r * 0.9, w), (1e-4, w)],
            around=12,
            smooth=False,
        ),
        turned((0, 1, 0), 90),
    )
    heads = [shifted(head, x, y, r) for x in (-0.07 - w, 0.07) for y in (-0.1, 0.1)]
    bars = [tube([(-0.08, y, r), (0.08, y, r)], 0.015, around=12) for y in (-0.1, 0.1)]
    return Thing.of(Part(joined(heads), RUBBER), Part(joined(bars, smooth=True), CHROME))


def kettlebells(draws: Draws) -> Thing:
    """Two or three kettlebells in a row."""
    bodies, n = [], draws.count("many", 2, 3)
    for k in range(n):
        r = 0.075 + 0.018 * k
        handle = tube(smooth_path([(-r * 0.7, 0, r * 1.5), (-r * 0.75, 0, r * 2.4), (0, 0, r * 2.8),
            (r * 0.75, 0, r * 2.4), (r * 0.7, 0, r * 1.5)], 5), 0.016, around=10)  # fmt: skip
        bodies.append(
            shifted(
                joined([shifted(ball(r, around=28), z=r * 0.96), handle], smooth=True),
                0.26 * k - 0.26,
            )
        )
    return Thing.of(
        Part(
            joined(bodies, smooth=True),
            paint(tint(draws, "c", level=(0.22, 0.5), chroma=(0.0, 0.14)), 0.5),
        )
    )


def mats(draws: Draws) -> Thing:
    """Rolled mats, or a pile of flat ones."""
    colour = paint(tint(draws, "c", level=(0.35, 0.65), chroma=(0.04, 0.14)), 0.75)
    if draws.chance("piled", 0.4):
        pile = [
            shifted(
                box(1.2, 0.6, 0.05, bevel=0.012),
                draws(f"x{k}", -0.03, 0.03),
                draws(f"y{k}", -0.03, 0.03),
                0.052 * k,
            )
            for k in range(draws.count("many", 2, 5))
        ]
        return Thing.of(Part(joined(pile), colour))
    t = np.linspace(0, 22, 40)
    r = 0.02 + 0.0026 * t
    outline = np.concatenate(
        [
            np.stack([r * np.cos(t), r * np.sin(t)], -1),
            np.stack([(r - 0.006) * np.cos(t), (r - 0.006) * np.sin(t)], -1)[::-1],
        ]
    )
    roll = shifted(extrude(outline, 0.6), z=float(r.max()))
    return Thing.of(Part(roll, colour))


def step(draws: Draws) -> Thing:
    """A step or a low wooden box."""
    w, h = draws("w", 0.6, 1.0), draws("h", 0.15, 0.45)
    if draws.chance("wood"):
        return Thing.of(
            laid(
                box(w, 0.45, h, bevel=0.008), wood(timber(draws, "w"), seed(draws, "w"), gloss=0.2)
            )
        )
    return Thing.of(
        Part(box(w, 0.4, 0.1, bevel=0.02), BLACK),
        Part(shifted(box(w - 0.06, 0.36, 0.02, bevel=0.006), z=0.1), paint(tint(draws, "c"), 0.8)),
    )


def cones(draws: Draws) -> Thing:
    """Marking cones."""
    out = [shifted(lathe([(0.06, 0), (0.06, 0.006), (0.045, 0.008), (0.012, 0.18), (0.01, 0.18)],
        around=24), 0.16 * k, draws(f"y{k}", -0.08, 0.08)) for k in range(draws.count("many", 1,
        3))]  # fmt: skip
    return Thing.of(
        Part(
            joined(out, smooth=True),
            paint(draws.pick("c", ((230, 110, 30), (226, 200, 50), (60, 130, 200))), 0.6),
        )
    )
