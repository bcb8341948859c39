"""Trees: a trunk, boughs, and many thousand leaves of two triangles each."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.meshes import joined, smooth_path, tube
from simulator.studio.solid.soft import noise
from simulator.studio.things.leaves import GOLDEN, chaos, green, grown, on_path, strewn
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix, oklch

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
    some = chaos(traits.variant, "tones")
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
    f, some = traits.family, chaos(traits.variant, "boughs")
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
    f, some = traits.family, chaos(traits.variant, "whorls")
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
    f, some = traits.family, chaos(traits.variant, "sprays")
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
    f, some = traits.family, chaos(traits.variant, "fronds")
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
    f, some = traits.family, chaos(traits.variant, "strands")
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
