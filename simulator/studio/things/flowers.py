"""Flowers in a pot or a vase: petals by their number, shape and rows."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.meshes import ball, joined, lathe, posed, smooth_path, tube
from simulator.studio.things.leaves import (
    GOLDEN,
    blade,
    chaos,
    green,
    grown,
    leaf_sheet,
    petal_sheet,
    pot,
    strewn,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix, oklch

_Span = tuple[float, float]
_FORMS: dict[str, tuple[_Span, _Span, tuple[int, int], tuple[int, int]]] = {
    # petal's length, its width as a share of that, petals a row, rows
    "daisy": ((0.030, 0.048), (0.16, 0.34), (12, 24), (1, 2)),
    "rose": ((0.032, 0.042), (0.85, 1.15), (5, 6), (5, 7)),
    "tulip": ((0.045, 0.065), (0.5, 0.72), (3, 3), (2, 2)),
    "lily": ((0.060, 0.085), (0.26, 0.38), (3, 3), (2, 2)),
    "primrose": ((0.030, 0.046), (0.75, 1.05), (5, 6), (1, 1)),
    "dahlia": ((0.032, 0.044), (0.30, 0.46), (12, 16), (5, 7)),
    "globe": ((0.009, 0.013), (0.7, 1.0), (4, 6), (1, 1)),
    "spike": ((0.010, 0.015), (0.6, 0.9), (4, 5), (1, 1)),
}


def flower(_: Look, traits: Traits) -> Thing:
    """A plant in bloom, 25 to 60 cm high."""
    f, v = traits.family, traits.variant
    form = f.pick("form", tuple(_FORMS))
    blooms = f.count("blooms", 4, 7) if form not in ("lily", "tulip") else f.count("blooms", 4, 8)
    height = traits.near("height", 0.16, 0.34, 0.12) + (0.06 if form in ("lily", "tulip") else 0)
    potted = f.chance("potted", 0.6)
    wide = f("pot-size", 0.065, 0.09)
    vessel = pot(traits, wide, wide * f("pot-tall", 1.4, 1.9)) if potted else _vase(traits)
    root = float(vessel[0].mesh.vertices[:, 2].max()) * (0.88 if potted else 0.55)
    mouth = wide * 0.4 if potted else 0.022
    heads, stems = _stems(traits, blooms, height, root, mouth)
    dark = green(traits)
    stem = Part(joined(stems), Material(mix(dark, (150, 150, 70), 0.25), rough=0.6))
    return Thing.of(
        *vessel,
        stem,
        _leaves(traits, dark, root, height, mouth),
        *_blooms(traits, form, heads, v.count("start", 0, 359)),
    )


def _stems(
    traits: Traits, blooms: int, height: float, root: float, mouth: float
) -> tuple[Array, list[Mesh]]:
    """Where the blooms sit and how they look (poses), and the stems up to there."""
    f, some = traits.family, chaos(traits.variant, "stems")
    heads, stems = [], []
    spread = f("spread", 0.22, 0.5) * height
    for i in range(blooms):
        a = math.radians(i * GOLDEN + traits.variant("first", 0, 360))
        out = spread * math.sqrt((i + 0.3) / blooms) * some.uniform(0.8, 1.2)
        top = np.array(
            [
                out * math.cos(a),
                out * math.sin(a),
                root + height * some.uniform(0.8, 1.05) - 0.3 * out,
            ]
        )
        foot = np.array([mouth * math.cos(a) * 0.6, mouth * math.sin(a) * 0.6, root - 0.03])
        knee = foot + (top - foot) * 0.55 + np.array([0, 0, 0.10 * height])
        path = smooth_path(np.array([foot, knee, top]), 6)
        stems.append(tube(path, (0.0032, 0.0024), around=8))
        lean = (top - knee) / np.linalg.norm(top - knee)
        lean = lean + np.array([0, -0.75, 0.1]) * f("nod", 0.5, 1.4)  # towards who looks
        heads.append(
            _facing(top, lean / np.linalg.norm(lean), some.uniform(0, 360), some.uniform(0.88, 1.1))
        )
    return np.array(heads), stems


def _facing(at: Array, along: Array, spin: float, size: float) -> Array:
    """A pose whose z looks along a direction."""
    side = np.cross((0.3, 0.9, 0.2), along)
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    c, s = math.cos(math.radians(spin)), math.sin(math.radians(spin))
    pose = np.eye(4)
    pose[:3, :3] = np.stack([side * c + other * s, other * c - side * s, along], 1) * size
    pose[:3, 3] = at
    return pose


def _blooms(traits: Traits, form: str, heads: Array, key: int) -> list[Part]:
    """All heads of one plant: petals as one part, hearts as another."""
    f, v = traits.family, traits.variant
    tip, heart, throat = _colours(traits, form)
    (short, long), (slim, broad), each, rows = _FORMS[form]
    length, share = traits.near("petal", short, long, 0.08), traits.near("broad", slim, broad, 0.08)
    count, layers = f.count("petals", *each), f.count("rows", *rows)
    petal = blade(
        length,
        length * share,
        base=f("petal-base", 0.35, 0.9),
        tip=f("petal-tip", 0.16, 0.4)
        if form not in ("lily", "dahlia")
        else f("petal-tip", 0.5, 0.8),
        bend={"lily": 95.0, "tulip": -50.0, "rose": -75.0, "dahlia": -20.0}.get(
            form, f("petal-bend", -10, 40)
        ),
        fold=f("petal-fold", 0.0, 0.35) + {"tulip": 0.35, "rose": 0.25, "dahlia": 0.4}.get(form, 0),
        wave=f("petal-wave", 0.0, 0.12),
        steps=(2, 3) if form in ("globe", "spike") else (3, 5) if layers > 2 else (4, 6),
    )
    rim = traits.palette().light if f.chance("rim", 0.25) else None
    sheet = petal_sheet(
        throat,
        tip,
        streaks=f("streaks", 0, 0.5),
        spots=f("spots", -0.8, 0.6) if form == "lily" else 0,
        rim=rim,
        key=key,
    )
    one = _petals(traits, form, petal, length, count, layers)
    parts = [Part(strewn(one, heads), Material(sheet=sheet, rough=0.6))]
    if form in ("daisy", "primrose", "lily"):
        r = length * (f("heart", 0.22, 0.42) if form == "daisy" else 0.12)
        flat = f("heart-high", 0.35, 0.8) * v("heart", 0.9, 1.1)
        parts.append(Part(strewn(_heart(form, r, flat, length), heads), Material(heart, rough=0.8)))
    return parts


def _petals(traits: Traits, form: str, petal: Mesh, length: float, count: int, layers: int) -> Mesh:
    """One head of petals about z."""
    f, some = traits.family, chaos(traits.variant, "petals")
    if form in ("globe", "spike"):
        return _florets(form, petal, count, some)
    poses = []
    for row in range(layers):
        inner = row / max(layers - 1, 1)
        rise = {"daisy": f("open", -8, 22) + 14 * row, "rose": 8 + 68 * inner,
            "dahlia": -12 + 84 * inner, "tulip": f("open", 66, 80) + 4 * row,
            "lily": f("open", 42, 62)}.get(form, f("open", 2, 40))  # fmt: skip
        size = {"rose": 1 - 0.45 * inner, "dahlia": 1 - 0.5 * inner}.get(form, 1 - 0.06 * row)
        ring = np.arange(count)
        turn = (
            (ring + 0.5 * row) * 360 / count
            + some.uniform(-4, 4, count)
            + row * 11 * (form == "rose")
        )
        a = np.radians(turn)
        off = length * {"daisy": 0.2, "rose": 0.12 * (1 - inner), "dahlia": 0.16 * (1 - inner)}.get(
            form, 0.05
        )
        height = length * {"rose": 0.16 * inner, "dahlia": 0.3 * inner}.get(form, 0.02 * row)
        at = np.stack([-np.sin(a) * off, np.cos(a) * off, np.full(count, height)], -1)
        poses.append(
            grown(
                at, turn, rise + some.uniform(-5, 5, count), size * some.uniform(0.93, 1.05, count)
            )
        )
    return strewn(petal, np.concatenate(poses))


def _florets(form: str, petal: Mesh, count: int, some: np.random.Generator) -> Mesh:
    """Many small flowers: over a ball, or along a spike."""
    turn = np.arange(count) * 360 / count
    one = strewn(petal, grown(np.zeros((count, 3)), turn, 22.0))
    n = 70
    k = np.arange(n)
    a = np.radians(k * GOLDEN)
    if form == "globe":
        z = 1 - 1.75 * (k + 0.5) / n
        r = 0.034
        along = np.stack([np.sqrt(1 - z**2) * np.cos(a), np.sqrt(1 - z**2) * np.sin(a), z], -1)
        at = along * r + (0, 0, 0.6 * r)
    else:
        t = k / n
        along = np.stack([np.cos(a), np.sin(a), 0.25 + 0.8 * t], -1)
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        at = along * (0.014 * (1 - 0.75 * t))[:, None] + np.stack(
            [0 * t, 0 * t, 0.10 * t - 0.01], -1
        )
    poses = [
        _facing(p, q, float(s), float(g))
        for p, q, s, g in zip(
            at, along, some.uniform(0, 360, n), some.uniform(0.8, 1.15, n), strict=True
        )
    ]
    return strewn(one, np.array(poses))


def _heart(form: str, r: float, flat: float, length: float) -> Mesh:
    """A bloom's middle: a disc of small knobs, or a pistil with stamens."""
    if form == "lily":
        poses = grown(np.zeros((6, 3)), np.arange(6) * 60.0 + 30, 62.0)
        thread = tube(
            [(0, 0, 0), (0, 0.3 * length, 0.02 * length), (0, 0.62 * length, 0)], 0.0012, around=6
        )
        knob = posed(ball(0.0022, 0.005, 0.0022, around=10), np.array([[1, 0, 0, 0],
            [0, 1, 0, 0.64 * length], [0, 0, 1, 0], [0, 0, 0, 1.0]]))  # fmt: skip
        return strewn(joined([thread, knob]), poses)
    k = np.arange(64 if form == "daisy" else 18)
    q = np.sqrt((k + 0.5) / len(k))
    a = np.radians(k * GOLDEN)
    at = np.stack([r * q * np.cos(a), r * q * np.sin(a), r * flat * (1 - q**2) + 0.001], -1)
    knob = ball(r * 0.16, r * 0.16, r * 0.2, around=8)
    dome = lathe(
        [(r, 0), (0.9 * r, 0.25 * flat * r), (0.55 * r, 0.75 * flat * r), (0.001, flat * r)],
        around=20,
    )
    return joined([dome, strewn(knob, grown(at, 0.0, 0.0))], smooth=True)


def _colours(traits: Traits, form: str) -> tuple[Colour, Colour, Colour]:
    """Petals, heart, throat: white, yellow, pink, red, violet, rarely blue; never green."""
    f, v = traits.family, traits.variant
    hue = f.pick(
        "petal-hue", (5.0, 20.0, 350.0, 330.0, 300.0, 290.0, 95.0, 85.0, 60.0, 45.0, 262.0)
    )
    white = f.chance("white", 0.18)
    chroma = 0.015 if white else f("petal-chroma", 0.10, 0.20)
    bright = 0.16 if 40 < hue < 110 else 0.0  # a dark yellow is a brown
    level = 0.93 if white else f("petal-level", 0.52 + bright, 0.78 + bright / 2)
    tip = oklch(level + v("level", -0.03, 0.03), chroma, hue + v("hue", -9, 9))
    throat = oklch(
        min(level + f("throat", -0.2, 0.16), 0.95), chroma * 0.8, hue + f("turn", -40, 50)
    )
    heart = oklch(f("heart-level", 0.45, 0.85), 0.13, v("heart-hue", 70, 95))
    if form == "daisy" and f.chance("dark-heart", 0.35):
        heart = oklch(0.33, 0.05, v("heart-hue", 40, 80))
    return tip, heart, throat


def _leaves(traits: Traits, colour: Colour, root: float, height: float, mouth: float) -> Part:
    """Leaves around the foot and along the stems."""
    f, some = traits.family, chaos(traits.variant, "leaves")
    strap = f.chance("strap", 0.4)
    n = f.count("leaves", 9, 16)
    long = height * (f("strap-long", 0.6, 0.95) if strap else f("leaf-long", 0.28, 0.5))
    leaf = blade(
        long,
        long * (f("slim", 0.09, 0.16) if strap else f("leaf-broad", 0.35, 0.7)),
        base=f("leaf-base", 0.4, 0.9),
        tip=f("leaf-tip", 0.6, 1.1),
        bend=f("leaf-bend", 35, 85),
        fold=0.25,
        wave=f("leaf-wave", 0, 0.15),
        lobes=f.pick("leaf-lobes", (0.0, 0.0, 0.35)),
    )
    k = np.arange(n)
    turn = k * GOLDEN + some.uniform(-15, 15, n)
    up = np.zeros(n) if strap else some.uniform(0, 0.42, n) * height
    a = np.radians(turn)
    r = mouth * 0.8 + up * 0.25
    at = np.stack([-np.sin(a) * r, np.cos(a) * r, root + up - 0.005], -1)
    rise = some.uniform(58, 82, n) if strap else some.uniform(15, 60, n)
    sheet = leaf_sheet(
        colour,
        mix(colour, (214, 220, 170), 0.5),
        veins=f("veins", 0.1, 0.6),
        key=f.count("key", 0, 99),
    )
    return Part(
        strewn(leaf, grown(at, turn, rise, some.uniform(0.75, 1.1, n))),
        Material(sheet=sheet, rough=0.5),
    )


def _vase(traits: Traits) -> list[Part]:
    """A vase; the stems stand in it."""
    f = traits.family
    h, r = f("vase-high", 0.17, 0.24), f("vase-wide", 0.042, 0.062)
    neck, foot = f("vase-neck", 0.4, 0.8) * r, f("vase-foot", 0.55, 0.9) * r
    outside = smooth_path(
        [(foot, 0.004), (r, h * f("belly", 0.3, 0.6)), (neck, h * 0.86), (neck * 1.25 + 0.012, h)],
        10,
    )
    inside = [(neck * 1.25 + 0.0095, h), (neck - 0.003, h * 0.86), (neck - 0.004, h * 0.6),
        (0.001, h * 0.58)]  # fmt: skip
    profile = [(0.001, 0), (foot - 0.003, 0), *map(tuple, outside), *inside]
    palette = traits.palette(vivid=0.6)
    return [
        Part(
            lathe(profile, around=48),
            Material(palette.second, rough=f("vase-rough", 0.08, 0.5), coat=0.4),
        )
    ]
