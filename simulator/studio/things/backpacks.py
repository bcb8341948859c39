"""Backpacks: a stuffed body, pockets in front and beside, a lid, straps."""

from __future__ import annotations

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.solid.meshes import ball, box, joined, posed, shifted, smooth_path, tube
from simulator.studio.things.bags import fabrics, flap, zipper
from simulator.studio.things.stuffs import on_front, sack
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits, scale


def backpack(_: Look, traits: Traits) -> Thing:
    """A backpack of 40 to 52 cm that stands, its pockets to the front."""
    f, v = traits.family, traits.variant
    high = traits.near("high", 0.40, 0.52, 0.05)
    wide, deep = high * f("wide", 0.58, 0.72), high * f("deep", 0.28, 0.38)
    body = sack(
        wide,
        deep,
        high,
        square=f("square", 3.0, 5.5),
        edge=f("edge", 3.2, 6.0),
        bulge=f("bulge", 0.02, 0.08),
        taper=f("taper", 0.0, 0.16),
    )
    main, trim, metal = fabrics(traits)
    pocket_high = high * f("pocket", 0.36, 0.5)
    pocket = sack(
        wide * f("pocket-wide", 0.68, 0.86), deep * 0.5, pocket_high, square=4, edge=5, bulge=0.06
    )
    pocket = shifted(pocket, 0, -0.40 * deep, high * f("pocket-low", 0.04, 0.10))
    parts = [Part(body, main), Part(pocket, trim if f.chance("two-tone", 0.55) else main)]
    accent_ = Material(traits.palette().accent, rough=0.6)
    lid = f.pick("lid", ("zip", "flap", "roll"))
    dark: list[Mesh] = [_arch_zip(pocket, pocket_high)]
    if lid == "flap":
        parts.append(Part(flap(body, wide, deep, high, f("flap", 0.30, 0.48), 0.25), trim))
        dark += _straps_front(body, wide, high)
    elif lid == "roll":
        parts.append(
            Part(
                shifted(
                    posed(sack(0.055, 0.05, wide * 0.92, edge=9), turned((0, 1, 0), 90)),
                    -0.46 * wide,
                    0,
                    high * 0.97,
                ),
                main,
            )
        )
        dark += _straps_front(body, wide, high)
    else:
        dark.append(zipper(_over(body, wide, deep, high)))
    dark += _shoulder_straps(wide, deep, high)
    handle = smooth_path(np.array([(-0.05, 0.2 * deep, high * 0.95),
        (-0.04, 0.2 * deep, high * 1.05), (0.04, 0.2 * deep, high * 1.05),
        (0.05, 0.2 * deep, high * 0.95)]), 6)  # fmt: skip
    dark.append(tube(handle, 0.009, around=10, flat=0.5))
    parts.append(
        Part(joined(dark), Material(scale(traits.palette().dark, 0.8), rough=0.8, grain="cloth"))
    )
    if f.chance("side-pockets", 0.6):
        sides = [
            shifted(sack(0.075, deep * 0.7, high * 0.36, edge=6), q * wide * 0.49, 0, high * 0.04)
            for q in (-1, 1)
        ]
        parts.append(Part(joined(sides), trim))
    y = float(pocket.vertices[:, 1].min())
    patch = box(0.07, 0.006, f("patch", 0.022, 0.05), bevel=0.002)
    parts.append(
        Part(
            shifted(
                patch,
                v("patch-x", -0.02, 0.02),
                y - 0.001,
                high * 0.04 + pocket_high * v("patch-z", 0.4, 0.55),
            ),
            accent_,
        )
    )
    pulls = [
        shifted(
            ball(0.005, 0.004, 0.014, around=10),
            q * 0.05,
            y + 0.012,
            high * 0.07 + pocket_high * 0.86,
        )
        for q in (v("pull", -1, 0), v("pull2", 0.1, 1))
    ]
    parts.append(Part(joined(pulls), accent_ if f.chance("bright-pulls") else metal))
    return Thing.of(*parts)


def _over(body: Mesh, wide: float, deep: float, high: float) -> Array:
    """A line over the shoulders of a bag, a little to the front."""
    a = np.linspace(-1, 1, 13)
    at = np.stack(
        [
            0.47 * wide * np.sin(a * 1.45),
            np.full(13, -0.24 * deep),
            high * (0.62 + 0.37 * np.cos(a * 1.45)),
        ],
        -1,
    )
    for p in at:
        p[1] = min(on_front(body, float(p[0]) * 0.94, float(p[2]) * 0.95), -0.1 * deep) + 0.001
    return at


def _arch_zip(pocket: Mesh, tall: float) -> Mesh:
    low, top = pocket.vertices.min(0), pocket.vertices.max(0)
    a = np.linspace(-1, 1, 11)
    x = 0.40 * (top[0] - low[0]) * a
    z = low[2] + tall * (0.84 - 0.10 * np.abs(a) ** 3)
    y = np.array([on_front(pocket, float(p), float(q)) for p, q in zip(x, z, strict=True)]) - 0.001
    return zipper(np.stack([x, y, z], -1))


def _straps_front(body: Mesh, wide: float, high: float) -> list[Mesh]:
    out: list[Mesh] = []
    for q in (-1, 1):
        x = q * wide * 0.22
        z = np.linspace(0.93, 0.42, 6) * high
        path = np.array([(x, on_front(body, x, float(h)) - 0.012, h) for h in z])
        out.append(tube(smooth_path(path, 4), 0.012, around=10, flat=0.25))
        out.append(
            shifted(
                box(0.032, 0.008, 0.026, bevel=0.002),
                x,
                float(path[4, 1]) - 0.006,
                float(path[4, 2]),
            )
        )
    return out


def _shoulder_straps(wide: float, deep: float, high: float) -> list[Mesh]:
    out: list[Mesh] = []
    for q in (-1, 1):
        x = q * wide * 0.2
        path = smooth_path(
            np.array(
                [
                    (x, 0.40 * deep, 0.93 * high),
                    (x * 1.15, 0.78 * deep, 0.86 * high),
                    (x * 1.5, 0.85 * deep, 0.55 * high),
                    (x * 1.8, 0.60 * deep, 0.18 * high),
                    (x * 1.9, 0.45 * deep, 0.08 * high),
                ]
            ),
            7,
        )
        out.append(tube(path, (0.026, 0.026, 0.012), around=12, flat=0.3))
    return out
