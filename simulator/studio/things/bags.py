"""Handbags and backpacks: stuffed bodies with flaps, straps, zips and clasps."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import ball, box, joined, posed, shifted, skin, smooth_path, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.things.hats_and_shoes import STUFFS, front_depth, pattern_name, sack, stuff
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, brighten, mix


def handbag(_: Look, traits: Traits) -> Thing:
    """A bag of 20 to 38 cm that stands on its base, its handles up."""
    f = traits.family
    form = f.pick("form", ("tote", "satchel", "bowler", "bucket", "satchel", "clutch"))
    wide = traits.near(
        "wide", *{"tote": (0.28, 0.38), "bucket": (0.20, 0.26)}.get(form, (0.23, 0.33)), 0.06
    )
    high = wide * f("tall", *{"tote": (0.78, 1.0), "bucket": (1.0, 1.2),
        "clutch": (0.55, 0.66)}.get(form, (0.62, 0.8)))  # fmt: skip
    deep = wide * f(
        "deep", *{"bucket": (0.75, 0.9), "clutch": (0.16, 0.24)}.get(form, (0.30, 0.42))
    )
    body = sack(
        wide,
        deep,
        high,
        square=f("square", 2.6, 6.0),
        edge=f("edge", 5, 12),
        bulge=f("bulge", 0.0, 0.08),
        taper={"tote": -0.10, "bowler": 0.16}.get(form, f("taper", -0.04, 0.12)),
        slump=0.05 if form == "tote" else 0.0,
    )
    skin_, trim, metal = fabrics(traits)
    parts = [Part(body, skin_)]
    if form in ("satchel", "clutch"):
        parts.append(
            Part(
                flap(body, wide, deep, high, f("flap", 0.42, 0.72), f("point", 0.0, 0.5)),
                trim if f.chance("two-tone", 0.5) else skin_,
            )
        )
    foot = ball(0.006, around=12)
    metals = [shifted(foot, x * wide * 0.38, y * deep * 0.3, 0.005)
              for x in (-1, 1) for y in (-1, 1)]  # fmt: skip
    metals += _clasp(traits, form, body, high)
    parts.append(Part(_handles(traits, form, wide, deep, high), trim))
    if form in ("bowler", "tote") and f.chance("zip", 0.7):
        metals.append(
            zipper(
                np.array(
                    [
                        (-0.42 * wide, 0, high * 0.93),
                        (0, 0, high * 1.003),
                        (0.42 * wide, 0, high * 0.93),
                    ]
                )
            )
        )
    parts.append(Part(joined(metals), metal))
    if f.chance("patch", 0.5):
        parts.append(Part(_seam(body, high * f("seam", 0.22, 0.34)), trim))
    if traits.variant.chance("charm", 0.5):
        parts.append(
            Part(_charm(traits, wide, deep, high), Material(traits.palette().accent, rough=0.5))
        )
    return Thing.of(*parts)


def fabrics(traits: Traits) -> tuple[Material, Material, Material]:
    """The bag's own stuff, its trimming, its metal."""
    f, v = traits.family, traits.variant
    palette = traits.palette(vivid=f("vivid", 0.25, 0.95), light=(0.3, 0.72))
    kind = f.pick("stuff", STUFFS)
    base: Colour = (
        palette.base if f.chance("coloured", 0.7) else mix(palette.base, (60, 46, 36), 0.8)
    )
    second = f.pick("second", (palette.second, palette.light, palette.dark))
    main = stuff(
        base,
        kind,
        key=f.count("key", 0, 99),
        second=second,
        pattern=pattern_name(f, "pattern"),
        shift=v("shift", -0.5, 0.5),
    )
    tan = mix((146, 98, 60), (70, 44, 30), f("tan", 0, 1))
    trim = stuff(
        f.pick("trim", (tan, palette.dark, palette.second)),
        "leather",
        key=f.count("trim-key", 0, 99),
    )
    gold: Colour = f.pick("metal", ((206, 170, 100), (190, 192, 196), (84, 82, 84)))
    return main, trim, Material(gold, rough=0.22, metal=1.0)


def flap(body: Mesh, wide: float, deep: float, high: float, down: float, point: float) -> Mesh:
    """A flap from behind over the top and down the front, a little above the body."""
    q = np.linspace(-1, 1, 25)
    t = np.linspace(0, 1, 19)
    half = 0.95 * wide / 2
    rows: list[Array] = []
    for x in q:
        low = high * (1 - down) + high * 0.22 * (abs(x) ** 2.5) * (0.4 + point)
        top = high * (1.012 - 0.09 * abs(x) ** 5)
        back = 0.34 * deep * (1 - 0.35 * abs(x) ** 4)
        front = front_depth(body, x * half * 0.9, 0.62 * high) - 0.006
        path = smooth_path(
            np.array(
                [
                    (back, top * 0.95),
                    (0.5 * back, top),
                    (front * 0.55, top),
                    (front, top - 0.10 * high),
                    (front - 0.003, low),
                ]
            ),
            8,
        )
        steps = np.linspace(0, 1, len(path))
        rows.append(
            np.stack(
                [
                    np.full(19, x * half),
                    np.interp(t, steps, path[:, 0]),
                    np.interp(t, steps, path[:, 1]),
                ],
                -1,
            )
        )
    return skin(np.array(rows))


def _handles(traits: Traits, form: str, wide: float, deep: float, high: float) -> Mesh:
    f, v = traits.family, traits.variant
    rise = wide * f("handle", 0.30, 0.55) * v("handle", 0.92, 1.08)
    apart = wide * f("apart", 0.2, 0.3)
    out: list[Mesh] = []
    r = f("handle-thick", 0.005, 0.009)
    if form in ("tote", "bowler"):
        for q in (-1, 1):
            y = q * deep * 0.34
            lean = q * 0.10 * deep
            path = smooth_path(
                np.array(
                    [
                        (-apart, y, high * 0.72),
                        (-apart, y, high * 0.98),
                        (-apart * 0.72, y + lean, high + 0.75 * rise),
                        (0, y + lean, high + rise),
                        (apart * 0.72, y + lean, high + 0.75 * rise),
                        (apart, y, high * 0.98),
                        (apart, y, high * 0.72),
                    ]
                ),
                7,
            )
            out.append(tube(path, r, around=12))
    elif form == "clutch":
        slack = smooth_path(np.array([(-0.48 * wide, 0, high * 0.9),
            (-0.55 * wide, -0.5 * deep, 0.03), (-0.2 * wide, -1.5 * deep, 0.006),
            (0.25 * wide, -1.4 * deep, 0.006), (0.56 * wide, -0.4 * deep, 0.03),
            (0.48 * wide, 0, high * 0.9)]), 8)  # fmt: skip
        out.append(tube(slack, 0.0035, around=8))
    else:
        path = smooth_path(
            np.array(
                [
                    (-0.49 * wide, 0, high * 0.86),
                    (-0.44 * wide, 0, high + 0.6 * rise),
                    (0, 0.04 * deep, high + 1.25 * rise),
                    (0.44 * wide, 0, high + 0.6 * rise),
                    (0.49 * wide, 0, high * 0.86),
                ]
            ),
            8,
        )
        out.append(tube(path, f("strap", 0.009, 0.016), around=10, flat=0.3))
    return joined(out)


def _clasp(traits: Traits, form: str, body: Mesh, high: float) -> list[Mesh]:
    """A turn-lock, a bar or a ring in front; rings where the handles hang."""
    f = traits.family
    z = high * traits.variant("clasp", 0.42, 0.5)
    y = front_depth(body, 0, z) - 0.008
    shape = f.pick("clasp", ("disc", "bar", "ring"))
    if form in ("tote", "bowler"):
        z, y = high * 0.86, front_depth(body, 0, high * 0.86) - 0.002
    if shape == "disc":
        return [shifted(ball(0.014, 0.006, 0.014, around=24), 0, y, z)]
    if shape == "bar":
        return [shifted(box(0.05, 0.008, 0.016, bevel=0.003), 0, y, z)]
    a = np.linspace(0, 2 * math.pi, 28, endpoint=False)
    ring = np.stack([0.016 * np.cos(a), np.full(28, y), z + 0.016 * np.sin(a)], -1)
    return [tube(ring, 0.003, around=8, closed=True)]


def _seam(body: Mesh, z: float) -> Mesh:
    """A piped seam right round."""
    level = body.vertices[np.abs(body.vertices[:, 2] - z) < 0.012]
    a = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    angle = np.arctan2(level[:, 1], level[:, 0])
    order = np.argsort(angle)
    r = np.interp(
        a - math.pi, angle[order], np.hypot(level[:, 0], level[:, 1])[order], period=2 * math.pi
    )
    r = np.maximum(r, np.maximum(np.roll(r, 1), np.roll(r, -1))) + 0.0005
    ring = np.stack([r * np.cos(a - math.pi), r * np.sin(a - math.pi), np.full(48, z)], -1)
    return tube(ring, 0.0028, around=6, closed=True)


def _charm(traits: Traits, wide: float, deep: float, high: float) -> Mesh:
    """A tassel at the side, which tells one bag of a shelf from the next."""
    side = 1 if traits.variant.chance("charm-side") else -1
    x, y = side * wide * 0.30, -0.52 * deep
    thread = tube(
        np.array([(x, y * 0.9, high * 0.95), (x, y - 0.015, high * 0.80)]), 0.0015, around=6
    )
    return joined(
        [
            thread,
            shifted(ball(0.010, around=16), x, y - 0.017, high * 0.78),
            tube(
                np.array([(x, y - 0.017, high * 0.77), (x, y - 0.02, high * 0.77 - 0.05)]),
                (0.006, 0.011),
                around=12,
            ),
        ]
    )


def zipper(path: Array) -> Mesh:
    """A closed zip along a line."""
    return tube(smooth_path(path, 8), 0.0035, around=8)


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
        Part(joined(dark), Material(brighten(traits.palette().dark, 0.8), rough=0.8, grain="cloth"))
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
        p[1] = min(front_depth(body, float(p[0]) * 0.94, float(p[2]) * 0.95), -0.1 * deep) + 0.001
    return at


def _arch_zip(pocket: Mesh, tall: float) -> Mesh:
    low, top = pocket.vertices.min(0), pocket.vertices.max(0)
    a = np.linspace(-1, 1, 11)
    x = 0.40 * (top[0] - low[0]) * a
    z = low[2] + tall * (0.84 - 0.10 * np.abs(a) ** 3)
    y = (
        np.array([front_depth(pocket, float(p), float(q)) for p, q in zip(x, z, strict=True)])
        - 0.001
    )
    return zipper(np.stack([x, y, z], -1))


def _straps_front(body: Mesh, wide: float, high: float) -> list[Mesh]:
    out: list[Mesh] = []
    for q in (-1, 1):
        x = q * wide * 0.22
        z = np.linspace(0.93, 0.42, 6) * high
        path = np.array([(x, front_depth(body, x, float(h)) - 0.012, h) for h in z])
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
