"""Flowers in a vase or pot, and trees."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.meshes import ball, joined, lathe, posed, smooth_path, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.soft_bodies import noise
from simulator.studio.things.leaves import (
    GOLDEN,
    blade,
    green,
    grown,
    leaf_sheet,
    on_path,
    petal_sheet,
    pot,
    seeded,
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
    f, some = traits.family, seeded(traits.variant, "stems")
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
    f, some = traits.family, seeded(traits.variant, "petals")
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
    f, some = traits.family, seeded(traits.variant, "leaves")
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


_Leaves = tuple[Array, Array, Array, Array]
"""Where they start (n, 3), how they turn and climb (degrees), how large they are (metres)."""


def tree(look: Look, _: Traits) -> Thing:
    """A tree of three to nine metres."""
    return _tree(look)


@lru_cache(maxsize=12)
def _tree(look: Look) -> Thing:
    traits = Traits(look)
    f = traits.family
    habit = f.pick("habit", tuple(_HABITS))
    wood, leaves, broad = _HABITS[habit](traits)
    some = seeded(traits.variant, "tones")
    leaves[0][:, 2] = np.maximum(leaves[0][:, 2], leaves[3] * 1.1)
    foliage = strewn(
        _leaf(broad),
        grown(leaves[0], leaves[1], leaves[2], leaves[3], some.uniform(-35, 35, len(leaves[0]))),
    )
    tone = np.repeat(some.uniform(0, 1, (len(leaves[0]), 2)), 4, 0).astype(np.float32)
    foliage = foliage._replace(uv=tone, smooth=False)
    return Thing.of(
        Part(joined(wood), Material(sheet=_bark(traits, habit), rough=0.9, grain="stone")),
        Part(foliage, Material(sheet=_tones(traits, habit), rough=0.55, grain="leaf")),
    )


def _leaf(broad: float) -> Mesh:
    """A folded kite along +y."""
    at = np.array([(0, 0, 0), (broad / 2, 0.45, 0.12 * broad), (0, 1, -0.12),
        (-broad / 2, 0.45, 0.12 * broad)])  # fmt: skip
    return Mesh(
        at.astype(np.float32),
        np.array([(0, 1, 2), (0, 2, 3)], np.int32),
        np.zeros((4, 2), np.float32),
    )


def _broadleaf(traits: Traits) -> tuple[list[Mesh], _Leaves, float]:
    """A crown on boughs: round, wide or tall."""
    f, some = traits.family, seeded(traits.variant, "boughs")
    high, crown = traits.near("high", 4.2, 7.0, 0.1), f("crown", 0.30, 0.46)
    clear = high * f("clear", 0.22, 0.36)
    thick = high * f("thick", 0.018, 0.028)
    wood = [_trunk(traits, high * 0.82, thick, f("bent", 0.0, 0.06))]
    tips: list[Array] = []
    n = f.count("boughs", 9, 14)
    for i in range(n):
        t = i / (n - 1)
        start = np.array([0, 0, clear + (0.82 * high - clear) * 0.8 * t])
        a = math.radians(i * GOLDEN + some.uniform(-20, 20))
        reach = high * crown * math.sin(math.pi * (0.22 + 0.66 * t)) * some.uniform(0.8, 1.1)
        out = np.array([math.cos(a), math.sin(a), 0])
        end = start + out * reach + (0, 0, reach * f("climb", 0.35, 0.8) + 0.10 * high * t)
        path = smooth_path(
            np.array([start, start + out * reach * 0.45 + (0, 0, reach * 0.12), end]), 5
        )
        wood.append(tube(path, (thick * 0.5 * (1 - 0.5 * t), thick * 0.10), around=7))
        for j in range(5):
            at = on_path(path, np.array([0.45 + 0.13 * j]))[0]
            b = a + (1 if j % 2 else -1) * some.uniform(0.4, 1.3)
            twig = at + np.array(
                [math.cos(b), math.sin(b), some.uniform(0.0, 0.9)]
            ) * reach * some.uniform(0.25, 0.5)
            wood.append(
                tube(
                    np.array([at, (at + twig) / 2 + (0, 0, 0.04), twig]),
                    (thick * 0.12, thick * 0.04),
                    around=5,
                )
            )
            tips += [twig, (at + twig) / 2]
        tips.append(end)
    middles = np.array([*tips, *((0, 0, high * q) for q in (0.96, 0.9, 0.84, 0.74))])
    each = 19000 // len(middles)
    spread = high * f("clump", 0.085, 0.125)
    clump = some.normal(0, 1, (len(middles) * each, 3))
    clump *= (some.random(len(clump)) ** 0.5 / np.linalg.norm(clump, axis=1))[:, None] * spread
    at = np.repeat(middles, each, 0) + clump * (1, 1, 0.75)
    away = at - (0, 0, 0.55 * high)
    turn = np.degrees(np.arctan2(-away[:, 0], away[:, 1])) + some.normal(0, 55, len(at))
    size = high * f("leaf", 0.019, 0.030) * some.uniform(0.7, 1.2, len(at))
    return wood, (at, turn, some.uniform(-55, 35, len(at)), size), f("broad", 0.45, 0.85)


def _conifer(traits: Traits) -> tuple[list[Mesh], _Leaves, float]:
    """Whorls of hanging boughs, shorter towards the top."""
    f, some = traits.family, seeded(traits.variant, "whorls")
    high = traits.near("high", 4.5, 8.5, 0.1)
    foot, wide = high * f("clear", 0.05, 0.16), high * f("crown", 0.17, 0.26)
    wood = [_trunk(traits, high * 0.98, high * 0.016, 0.01)]
    sets: list[_Leaves] = []
    whorls = f.count("whorls", 24, 32)
    for i in range(whorls):
        t = i / (whorls - 1)
        n = 8 if t < 0.6 else 6
        for j in range(n):
            a = 360 / n * j + i * 25 + some.uniform(-9, 9)
            reach = wide * (1 - t) ** f("taper", 0.7, 1.0) * some.uniform(0.8, 1.15) + 0.03
            out = np.array([-math.sin(math.radians(a)), math.cos(math.radians(a)), 0])
            start = np.array([0, 0, foot + (high * 0.98 - foot) * t + some.uniform(-0.06, 0.06)])
            droop = min(reach * (f("droop", 0.1, 0.45) - 0.9 * t), float(start[2]) - 0.3)
            path = smooth_path(
                np.array(
                    [
                        start,
                        start + out * reach * 0.6 + (0, 0, -droop),
                        start + out * reach + (0, 0, -droop * 0.8),
                    ]
                ),
                4,
            )
            wood.append(tube(path, (0.014, 0.004), around=4))
            k = int(18 + 60 * reach / wide)
            q = np.linspace(0.12, 1, k)
            side = np.where(np.arange(k) % 2, 1, -1) * (1.02 - 0.7 * q)
            size = np.maximum(reach * 0.36 * (1.05 - 0.6 * q), 0.035 * high) * some.uniform(
                0.8, 1.15, k
            )
            sets.append((on_path(path, q), a + side * 62, some.uniform(-34, 14, k) + 34 * t, size))
    at, turn, rise, size = (np.concatenate([q[j] for q in sets]) for j in range(4))
    return wood, (at, turn, rise, size), f("broad", 0.16, 0.26)


def _cypress(traits: Traits) -> tuple[list[Mesh], _Leaves, float]:
    """A dense spindle of upright sprays."""
    f, some = traits.family, seeded(traits.variant, "sprays")
    high = traits.near("high", 4.0, 7.5, 0.1)
    wide = high * f("crown", 0.08, 0.13)
    n = 15000
    t = some.uniform(0, 1, n) ** 0.9
    r = (
        wide
        * np.sin(np.pi * np.clip(0.10 + 0.9 * t, 0, 1)) ** 0.7
        * (1 - 0.3 * some.random(n) ** 2)
    )
    r *= 1 + 0.10 * noise(
        np.stack([t * 9, np.zeros(n), np.zeros(n)], -1), 1.0, f.count("key", 0, 99)
    )
    turn = some.uniform(0, 360, n)
    a = np.radians(turn)
    r *= 1 + 0.16 * noise(
        np.stack([np.cos(a), np.sin(a), t * 3.5], -1), 0.45, traits.variant.count("key", 0, 99)
    )
    at = np.stack([-np.sin(a) * r, np.cos(a) * r, high * (0.05 + 0.93 * t)], -1)
    rise = 62 + 20 * t + some.uniform(-22, 12, n)
    return (
        [_trunk(traits, high * 0.9, high * 0.014, 0.0)],
        (at, turn, rise, high * 0.034 * some.uniform(0.6, 1.2, n)),
        0.22,
    )


def _palm(traits: Traits) -> tuple[list[Mesh], _Leaves, float]:
    """A bare trunk and a head of feathers."""
    f, some = traits.family, seeded(traits.variant, "fronds")
    high = traits.near("high", 4.0, 7.0, 0.1)
    trunk = _trunk(traits, high, high * f("thick", 0.018, 0.028), f("bent", 0.02, 0.14), even=True)
    top = trunk.vertices[trunk.vertices[:, 2] > high - 0.02].mean(0)
    wood, sets = [trunk], []
    n = f.count("fronds", 17, 26)
    long = high * f("frond", 0.30, 0.42)
    for i in range(n):
        a = i * GOLDEN + some.uniform(-8, 8)
        lift = 75 - 95 * (i / n) + some.uniform(-6, 6)
        t = np.linspace(0, 1, 14)
        angle = np.radians(lift - f("bend", 65, 105) * t**1.2)
        out = np.array([-math.sin(math.radians(a)), math.cos(math.radians(a)), 0])
        path = top + np.cumsum(np.cos(angle))[:, None] * out * long / 14
        path[:, 2] += np.cumsum(np.sin(angle)) * long / 14
        wood.append(tube(path, (0.022, 0.005), around=5))
        q = np.linspace(0.14, 1, 40)
        where, tilt = on_path(path, q), np.interp(q, t, np.degrees(angle))
        size = long * 0.30 * np.sin(np.pi * (0.12 + 0.83 * q)) ** 0.6
        for side in (-1, 1):
            sets.append(
                (
                    where,
                    np.full(40, a + side * f("spread", 42, 66)),
                    tilt * 0.5 - 16 + some.uniform(-6, 6, 40),
                    size,
                )
            )
    at, turn, rise, size = (np.concatenate([q[j] for q in sets]) for j in range(4))
    return wood, (at, turn, rise, size), f("broad", 0.08, 0.13)


def _willow(traits: Traits) -> tuple[list[Mesh], _Leaves, float]:
    """Long strands that hang from a dome."""
    f, some = traits.family, seeded(traits.variant, "strands")
    high = traits.near("high", 4.5, 7.0, 0.1)
    wide = high * f("crown", 0.34, 0.46)
    thick = high * 0.028
    wood = [_trunk(traits, high * 0.62, thick, 0.05)]
    at, turns, rises, sizes = [], [], [], []
    for i in range(180):
        a = math.radians(i * GOLDEN)
        q = math.sqrt((i + 0.5) / 180)
        out = np.array([math.cos(a), math.sin(a), 0])
        crest = out * wide * q + (0, 0, high * (0.97 - 0.30 * q**2) * some.uniform(0.93, 1.0))
        hang = (0.25 + 0.5 * q) * high * some.uniform(0.55, 1.0)
        low = np.array([*(crest[:2] * 1.06), max(crest[2] - hang, 0.35)])
        if i % 5 == 0:
            wood.append(
                tube(
                    smooth_path(
                        np.array([(0, 0, high * 0.45), crest * (0.45, 0.45, 0.78), crest]), 5
                    ),
                    (thick * 0.4, 0.01),
                    around=6,
                )
            )
        k = 62
        t = np.linspace(0, 1, k)
        path = smooth_path(
            np.array([crest * (0.75, 0.75, 0.97), crest, (crest + low) / 2 + out * 0.08, low]), 6
        )
        at.append(on_path(path, t) + some.normal(0, 0.035, (k, 3)))
        turns.append(some.uniform(0, 360, k))
        rises.append(some.uniform(-85, -35, k))
        sizes.append(high * 0.032 * some.uniform(0.7, 1.2, k))
    return (
        wood,
        (np.concatenate(at), np.concatenate(turns), np.concatenate(rises), np.concatenate(sizes)),
        0.26,
    )


_HABITS = {
    "broadleaf": _broadleaf, "conifer": _conifer, "birch": _broadleaf, "cypress": _cypress,
    "blossom": _broadleaf, "palm": _palm, "willow": _willow, "autumn": _broadleaf,
    "spruce": _conifer,
}  # fmt: skip


def _trunk(traits: Traits, high: float, thick: float, bent: float, *, even: bool = False) -> Mesh:
    """A trunk that widens at its foot."""
    a = traits.variant("lean", 0, 2 * math.pi)
    t = np.linspace(0, 1, 16)
    side = bent * high * np.sin(t * math.pi * traits.family("sway", 0.5, 1.1))
    path = np.stack([side * math.cos(a), side * math.sin(a), t * high], -1)
    radius = thick * ((1.0 - 0.25 * t) if even else (1 - 0.88 * t)) + thick * 0.7 * np.exp(-t * 22)
    mesh = tube(path, radius.tolist(), around=18)
    at = mesh.vertices.copy()
    if not even:
        at[:, :2] *= 1 + 0.10 * noise(at, (thick * 1.2, thick * 1.2, 0.7), 3)[:, None]
    return mesh._replace(vertices=at)


def _bark(traits: Traits, habit: str) -> NDArray[np.uint8]:
    """Furrows along the trunk; white with dark strokes for a birch, rings for a palm."""
    f = traits.family
    h, w = 128, 256  # around the trunk × along it: a tube's u runs along
    y, x = np.mgrid[0:h, 0:w]
    a = y / h * 2 * math.pi
    at = np.stack([np.cos(a).ravel(), np.sin(a).ravel(), x.ravel() / w], -1)
    furrow = np.abs(noise(at, (0.22, 0.22, 0.10), 1)) + 0.4 * noise(at, (0.1, 0.1, 0.03), 2)
    base: Colour = oklch(
        f("bark", 0.30, 0.50), f("bark-chroma", 0.01, 0.045), f("bark-hue", 45, 80)
    )
    out = np.array(base) * (0.62 + 0.8 * furrow.clip(0, 1))[:, None]
    if habit == "birch":
        strokes = noise(at, (0.35, 0.35, 0.012), 4) > 0.5
        out = np.array((214, 210, 200)) * (0.92 + 0.1 * noise(at, 0.2, 5))[:, None]
        out[strokes] *= 0.28
    elif habit == "palm":
        out *= (
            0.8 + 0.25 * np.sign(np.sin(x.ravel() / w * 2 * math.pi * f.count("rings", 24, 40)))
        )[:, None]
    return np.clip(out, 0, 255).astype(np.uint8).reshape(h, w, 3)


def _tones(traits: Traits, habit: str) -> NDArray[np.uint8]:
    """The colours that leaves take from."""
    f, v = traits.family, traits.variant
    leaf = green(traits, light=(0.34, 0.52))
    if habit in ("conifer", "spruce", "cypress"):
        leaf = oklch(f("needle", 0.28, 0.44), f("needle-chroma", 0.03, 0.08),
            f("needle-hue", 130, 190) + v("hue", -5, 5))  # fmt: skip
    dark, light = mix(leaf, (20, 34, 20), 0.4), mix(leaf, (205, 214, 120), 0.35)
    if habit == "autumn":
        hue = f("autumn", 25, 95)
        dark, light = oklch(0.42, 0.12, hue - 12 + v("hue", -6, 6)), oklch(0.68, 0.15, hue + 14)
    some = np.random.Generator(np.random.Philox(key=5)).uniform(0, 1, (24, 24, 1))
    out = np.array(dark) + (np.array(light) - np.array(dark)) * some**1.4
    if habit == "blossom":
        bloom = oklch(
            f("bloom", 0.84, 0.94), f("bloom-chroma", 0.02, 0.09), f("bloom-hue", 330, 370)
        )
        out[:, :18] = np.array(bloom) * (0.86 + 0.14 * some[:, :18])
    return np.clip(out, 0, 255).astype(np.uint8)
