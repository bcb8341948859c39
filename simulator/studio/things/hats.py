"""Hats that lie on a table: turned felt and straw, caps with a visor, knitted ones."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.meshes import ball, joined, lathe, shifted, skin, smooth_path, tube
from simulator.studio.solid.soft import noise
from simulator.studio.things.leaves import chaos, grown, strewn
from simulator.studio.things.stuffs import accent, stuff
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix


def hat(_: Look, traits: Traits) -> Thing:
    """A hat as large as a head: brimmed, visored or knitted."""
    form = traits.family.pick("form", ("brim", "brim", "cap", "beanie", "bucket", "straw", "cap"))
    parts = {"cap": _cap, "beanie": _beanie}.get(form, _brimmed)(traits, form)
    low = min(float(p.mesh.vertices[:, 2].min()) for p in parts)
    return Thing.of(*(Part(shifted(p.mesh, z=-low), p.material) for p in parts))


def _colours(traits: Traits) -> tuple[Colour, Colour, Colour]:
    f = traits.family
    palette = traits.palette(vivid=f("vivid", 0.2, 0.9), light=(0.3, 0.74))
    return (
        palette.base,
        f.pick("second", (palette.second, palette.dark, palette.light)),
        palette.accent,
    )


def _brimmed(traits: Traits, form: str) -> list[Part]:
    """A fedora, a sun hat or a bucket hat: crown, ribbon, brim."""
    f, v = traits.family, traits.variant
    r, tall = 0.086, traits.near("tall", 0.09, 0.125, 0.1)
    brim = {"bucket": 0.045, "straw": f("brim", 0.07, 0.13)}.get(form, f("brim", 0.05, 0.085))
    droop = {"bucket": 0.035, "straw": f("droop", -0.005, 0.02)}.get(
        form, f("droop", -0.004, 0.010)
    )
    slim = f("slim", 0.80, 0.96)
    base = 0.012 + max(droop, 0)
    rim = smooth_path(
        [
            (r + brim, base - droop),
            (r + 0.6 * brim, base - 0.55 * droop),
            (r + 0.006, base),
            (r, base + 0.008),
        ],
        6,
    )
    crown = smooth_path(
        [
            (r, base + 0.008),
            (r * 0.99, base + 0.35 * tall),
            (r * slim, base + 0.82 * tall),
            (r * slim * 0.86, base + 0.98 * tall),
            (r * 0.45, base + tall * 1.01),
            (0.001, base + tall),
        ],
        8,
    )
    under = [
        (r - 0.004, base + 0.55 * tall),
        (r - 0.004, base + 0.004),
        (r + 0.6 * brim, base - 0.55 * droop - 0.003),
        (r + brim, base - droop - 0.003),
    ]
    profile = [*under, *map(tuple, rim), *map(tuple, crown)]
    pinch = f("pinch", 0.5, 1.0) if form == "brim" else 0.0
    curl = f("curl", 0.0, 0.022) if form == "brim" else f("ripple", 0.0, 0.008)
    one, two, three = _colours(traits)
    kind = {"straw": "straw", "bucket": "canvas"}.get(form, "felt")
    if form == "straw":
        one = mix((206, 176, 122), (150, 112, 70), f("straw", 0, 0.8))
    cloth = stuff(
        one,
        kind,
        key=v.count("key", 0, 99),
        second=two,
        pattern=accent(f, "pattern") if form == "bucket" else "plain",
    )
    parts = [Part(_worn(lathe(profile, around=72), r, base, tall, pinch, curl, form), cloth)]
    if form != "bucket" or f.chance("ribbon"):
        wide = f("ribbon", 0.014, 0.034)
        band = [
            (r * 1.012, base + 0.008),
            (r * 1.015, base + 0.008 + 0.5 * wide),
            (r * 1.006, base + 0.008 + wide),
        ]
        ribbon = stuff(
            two,
            "nylon",
            second=three,
            pattern=f.pick("ribbon-pattern", ("plain", "band", "stripes")),
            shift=v("shift", -0.3, 0.3),
        )
        parts.append(Part(_worn(lathe(band, around=72), r, base, tall, pinch, 0.0, form), ribbon))
    if v.chance("trim", 0.6) and form != "bucket":
        parts.append(Part(_feather(traits, r, base), Material(three, rough=0.7)))
    return parts


def _worn(
    mesh: Mesh, r: float, base: float, tall: float, pinch: float, curl: float, form: str
) -> Mesh:
    """A turned hat made a worn one: oval, creased on top, its brim curled at the sides."""
    at = mesh.vertices.astype(np.float64).copy()
    side, front = at[:, 0] / r, at[:, 1] / r
    share = np.clip((at[:, 2] - base - 0.55 * tall) / (0.45 * tall), 0, 1)
    dent = pinch * share * np.exp(-((side / 0.35) ** 2)) * 0.22 * tall
    at[:, 2] -= dent * np.clip(1.1 - front**2 * 0.4, 0, 1)
    at[:, 0] *= 1 - 0.16 * pinch * share * np.clip(-front, 0, 1)
    outer = np.clip(np.hypot(side, front) - 1.02, 0, 1)
    at[:, 2] += (
        curl
        * outer
        * (side**2 - 0.6 * front**2)
        * (1 if form == "brim" else 1.0 * np.sin(5 * np.arctan2(front, side)))
    )
    at[:, 1] *= 1.10
    at[:, 2] += 0.0016 * noise(at, 0.05, 3)
    return mesh._replace(vertices=at.astype(np.float32))


def _feather(traits: Traits, r: float, base: float) -> Mesh:
    """A feather or a knot at the ribbon."""
    side = 1 if traits.variant.chance("feather-side") else -1
    x, y = side * r * 0.86, -r * 0.66
    if traits.family.chance("feather"):
        t = np.linspace(0, 1, 9)
        q = np.linspace(-1, 1, 5)
        half = 0.011 * np.sin(math.pi * t**0.7) ** 0.7
        at = np.stack(
            [
                x + side * 0.012 * t[None] + 0 * q[:, None],
                y + half[None] * q[:, None] + 0.05 * t[None],
                base + 0.012 + 0.085 * t[None] + 0 * q[:, None],
            ],
            -1,
        )
        return skin(at)
    loops = [
        shifted(ball(0.006, 0.014, 0.012, around=20), x, y + s * 0.014, base + 0.022)
        for s in (-1, 1)
    ]
    return joined([*loops, shifted(ball(0.008, around=16), x + side * 0.003, y, base + 0.022)])


def _cap(traits: Traits, _: str) -> list[Part]:
    """A cap: six panels, a visor to the front, a button, stitches."""
    f, v = traits.family, traits.variant
    r, tall = 0.088, traits.near("tall", 0.098, 0.122, 0.1)
    b = np.linspace(0, math.pi / 2, 18)
    dome = [(r * math.cos(q) ** 0.62 + 0.0005, tall * math.sin(q)) for q in b]
    mesh = lathe([(r - 0.003, 0.03), (r - 0.003, 0.0), *dome], around=72)
    at = mesh.vertices.copy()
    angle = np.arctan2(at[:, 1], at[:, 0])
    at[:, :2] *= (1 - 0.012 * (np.abs(np.sin(3 * angle)) < 0.09))[:, None]
    at[:, 1] *= 1.12
    mesh = mesh._replace(vertices=at)
    one, two, three = _colours(traits)
    shell = stuff(
        one,
        "canvas",
        key=v.count("key", 0, 99),
        second=two,
        pattern=f.pick("pattern", ("plain", "plain", "panels", "check", "yoke", "dots")),
        shift=v("shift", -0.5, 0.5),
    )
    bill = Material(f.pick("bill", (one, two, two)), rough=0.8, grain="cloth")
    long, flat = f("bill-long", 0.062, 0.08), f("bill-curve", 0.006, 0.020)
    q, t = np.linspace(-1, 1, 25), np.linspace(0, 1, 9)
    x = 0.92 * r * np.sin(q * 1.25)[:, None] * (1 + 0.06 * t[None])
    inner = -1.12 * r * np.cos(q * 1.25)[:, None]
    y = inner - long * (np.cos(q * math.pi / 2) ** 0.5)[:, None] * t[None] + 0.004
    z = 0.012 - 0.9 * flat * (np.abs(x) / r) ** 2 * t[None] - 0.006 * t[None]
    top = skin(np.stack([x, y, z + 0.0035], -1))
    below = skin(np.stack([x, y, z], -1))
    rim = tube(np.stack([x[:, -1], y[:, -1], z[:, -1] + 0.0018], -1), 0.0022, around=8)
    badge = _badge(traits, r, tall)
    return [
        Part(mesh, shell),
        Part(joined([top, below, rim], smooth=True), bill),
        Part(shifted(ball(0.008, 0.008, 0.005, around=16), z=tall), bill),
        Part(badge, Material(three, rough=0.7)),
    ]


def _badge(traits: Traits, r: float, tall: float) -> Mesh:
    """An embroidered emblem above the visor, bent as the cap is."""
    f = traits.family
    n = f.count("emblem", 3, 8)
    deep, wide = (f("emblem-deep", 0.0, 0.55),
        f("emblem-wide", 0.017, 0.026) * traits.variant("emblem", 0.9, 1.1))  # fmt: skip
    a = np.linspace(0, 2 * math.pi, 61)
    edge = wide * (1 - deep * (0.5 - 0.5 * np.cos(n * a)))
    k = np.linspace(0.02, 1, 5)
    x, z = (
        (edge[:, None] * k * np.sin(a)[:, None]),
        0.42 * tall + edge[:, None] * k * np.cos(a)[:, None],
    )
    over = np.arcsin(np.clip(z / tall, 0, 1))
    ring = r * np.cos(over) ** 0.62
    y = -1.12 * np.sqrt(np.maximum(ring**2 - x**2, 0)) - 0.0018
    return skin(np.stack([x, y, z], -1))


def _beanie(traits: Traits, _: str) -> list[Part]:
    """A knitted hat with a turned-up edge, and a bobble now and then."""
    f, v = traits.family, traits.variant
    r, tall = 0.092, traits.near("tall", 0.15, 0.20, 0.1)
    peak = f("peak", 0.5, 0.9)
    b = np.linspace(0, math.pi / 2, 18)
    body = lathe(
        [(r * math.cos(q) ** peak + 0.0005, 0.035 + (tall - 0.035) * math.sin(q)) for q in b],
        around=72,
    )
    cuff_high = f("cuff", 0.045, 0.07)
    cuff = lathe(smooth_path([(r - 0.004, 0.004), (r + 0.004, 0.0), (r + 0.009, 0.012),
        (r + 0.010, cuff_high - 0.008), (r + 0.006, cuff_high), (r - 0.004, cuff_high - 0.002)], 5),
        around=72)  # fmt: skip
    one, two, three = _colours(traits)
    fine = f("knit", 0.8, 1.5)
    yarn = stuff(
        one,
        "knit",
        key=v.count("key", 0, 99),
        second=two,
        pattern=accent(f, "pattern"),
        fine=fine,
        shift=v("shift", -0.5, 0.5),
    )
    turnup = stuff(two if f.chance("two-tone") else one, "knit", key=7, fine=fine)
    parts = [Part(_slouched(body, traits), yarn), Part(_slouched(cuff, traits), turnup)]
    if f.chance("bobble", 0.65):
        some = chaos(traits.variant, "bobble")
        n = 420
        a, z = some.uniform(0, 360, n), some.uniform(-75, 90, n)
        strand = tube(np.array([(0, 0.012, 0), (0, 0.030, 0.001)]), (0.0022, 0.0012), around=5)
        top = np.array([[0.0, 0.0, tall + 0.012]])
        at = _slouch(np.repeat(top, n, 0), traits)
        parts.append(
            Part(
                strewn(strand, grown(at, a, z, some.uniform(0.85, 1.2, n))),
                Material(f.pick("bobble", (three, one, two)), rough=0.95, grain="fur"),
            )
        )
    label = shifted(ball(0.016, 0.0025, 0.009, around=20), v("label", -0.03, 0.03),
        -1.08 * (r + 0.0095), cuff_high * 0.5)  # fmt: skip
    parts.append(Part(label, Material(three, rough=0.7)))
    return parts


def _slouched(mesh: Mesh, traits: Traits) -> Mesh:
    return mesh._replace(vertices=_slouch(mesh.vertices, traits).astype(np.float32))


def _slouch(at: Array, traits: Traits) -> Array:
    """Leaning to a side, oval, a little uneven."""
    out = np.asarray(at, np.float64).copy()
    lean = traits.variant("slouch", -0.35, 0.35)
    out[:, 0] += lean * np.clip(out[:, 2] - 0.07, 0, 1) ** 1.4
    out[:, 1] *= 1.08
    out[:, :2] += 0.004 * noise(out, 0.06, 2)[:, None] * np.clip(out[:, 2:3] / 0.1, 0, 1)
    return out
