"""Fish on a fishmonger's ice: lofted bodies, rayed fins, patterns drawn on their flanks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.meshes import ball, box, joined, posed, shifted, skin
from simulator.studio.solid.soft import noise
from simulator.studio.things.leaves import blade, chaos, grown, strewn
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix, oklch

_WIDE, _DEEP, _HIGH = 0.46, 0.30, 0.055
"""The tray."""
_SLOPE = 52.0
"""Degrees that the fish lies back from upright."""


def fish(_: Look, traits: Traits) -> Thing:
    """A fish of 26 to 38 cm in a tray of ice, its flank to whoever stands before it."""
    v = traits.variant
    shape = _Shape(traits)
    side = 1 if v.chance("side") else -1
    laid = turned((1, 0, 0), -_SLOPE) @ moved(turn=-90 * side)
    pose = moved(side * v("x", -0.01, 0.02), 0.0, 0.105, turn=v("turn", -9, 9)) @ laid
    swimmer = [
        Part(posed(_flank(shape), pose), Material(sheet=_scales(traits), rough=0.28, coat=0.35)),
        Part(posed(_fins(shape), pose), Material(sheet=_rays(traits), rough=0.4)),
        *(
            Part(posed(mesh, pose), Material(colour, rough=0.08, coat=1.0))
            for mesh, colour in _eyes(traits, shape)
        ),
    ]
    return Thing.of(*swimmer, *_tray(traits))


class _Shape:
    """A family's outline."""

    def __init__(self, traits: Traits) -> None:
        f = traits.family
        self.long = traits.near("long", 0.20, 0.29, 0.06)
        self.deep = f("deep", 0.28, 0.56)
        self.peak = f("peak", 0.30, 0.45)
        self.waist = f("waist", 0.10, 0.17)
        self.snout = f("snout", 0.55, 0.85)
        self.dorsal, self.anal = f("dorsal", 0.08, 0.22), f("anal", 0.06, 0.22)
        self.tail, self.fork = f("tail", 0.18, 0.34), f("fork", -0.15, 0.55)
        self.spread = f("tail-high", 0.32, 0.6)
        self.bend = traits.variant("bend", -0.05, 0.05)

    def half(self, t: Array) -> Array:
        """Half the body's height at shares of its length."""
        front = np.clip(t / self.peak, 0, 1)
        back = np.clip((t - self.peak) / (1 - self.peak), 0, 1)
        rise = np.where(
            t < self.peak,
            np.sin(front * math.pi / 2) ** self.snout,
            1 - (1 - self.waist / self.deep) * (0.5 - 0.5 * np.cos(back * math.pi)),
        )
        return self.deep / 2 * np.maximum(rise, 0.012) * self.long

    def spine(self, t: Array) -> Array:
        """Sideways swing of the body."""
        return self.bend * self.long * np.sin(t * 4.2) * t


def _flank(b: _Shape) -> Mesh:
    """The body: u from nose to tail, v around from the back over the left side."""
    t = np.linspace(0, 1, 44)
    a = np.linspace(0, 2 * math.pi, 33)
    half = b.half(t)
    wide = (
        half
        * (0.36 + 0.16 * np.sin(np.clip(t / 0.5, 0, 1) * math.pi))
        * (1 - 0.5 * t**2)
        / (0.6 + 0.8 * b.deep)
    )
    x = (
        b.spine(t)[:, None]
        + wide[:, None] * np.sin(a) * np.abs(np.cos(a / 2 - math.pi / 2)) ** 0.12
    )
    z = half[:, None] * np.cos(a)[None] - 0.05 * half[:, None]
    y = np.broadcast_to(((t - 0.45) * b.long)[:, None], x.shape)
    return skin(np.stack([x, y, z], -1))


def _fin(b: _Shape, t: Array, foot: Array, top: Array, sweep: float, x: float = 0.0) -> Mesh:
    """A sheet between a line on the body and an outer edge; v runs outwards."""
    k = np.linspace(0, 1, 7)[None]
    y = ((t - 0.45) * b.long)[:, None] + sweep * b.long * k**1.3
    z = foot[:, None] + (top - foot)[:, None] * k
    swing = b.spine(t)[:, None] + x * k + 0.0012 * np.sin(t * 60)[:, None] * k
    return skin(np.stack([swing, y, z], -1))


def _fins(b: _Shape) -> Mesh:
    """Dorsal, anal and tail fins, and the paired ones."""
    out: list[Mesh] = []
    long = b.long
    t = np.linspace(0.30, 0.86, 22)
    arch = np.sin(np.linspace(0.25, math.pi, 22)) ** 0.6
    out.append(_fin(b, t, b.half(t) * 0.9, b.half(t) * 0.95 + b.dorsal * long * arch, 0.10))
    t = np.linspace(0.58, 0.90, 16)
    arch = np.sin(np.linspace(0.3, math.pi, 16)) ** 0.6
    out.append(_fin(b, t, -b.half(t) * 0.98, -b.half(t) - b.anal * long * arch, 0.08))
    q = np.linspace(-1, 1, 25)
    k = np.linspace(0, 1, 9)[None]
    edge = b.tail * (1 - b.fork * (1 - np.abs(q)) ** 1.2) * (1 - 0.25 * np.abs(q) ** 6)
    root = float(b.half(np.array([0.99]))[0])
    y = (0.53 * long) + edge[:, None] * long * k
    z = q[:, None] * (root + (b.spread * long / 2 - root) * k**0.8)
    x = b.spine(np.array([1.0]))[0] + b.bend * long * 1.2 * k + 0.0 * z
    out.append(skin(np.stack([np.broadcast_to(x, z.shape), y, z], -1)))
    for s in (-1, 1):
        wing = blade(0.17 * long, 0.11 * long, base=0.5, tip=0.3, bend=15, fold=0.05, steps=(4, 6))
        at = np.array(
            [[s * 0.085 * long * (0.5 + 0.3 * b.deep), -0.16 * long, -0.12 * b.deep * long]]
        )
        out.append(strewn(wing, grown(at, -s * 32.0, -24.0, 1.0, s * 60.0)))
        pelvic = np.array([[s * 0.02 * long, -0.05 * long, -0.44 * b.deep * long]])
        out.append(strewn(wing, grown(pelvic, -s * 8.0, -42.0, 0.9, s * 80.0)))
    return joined(out, smooth=True)


def _eyes(traits: Traits, b: _Shape) -> list[tuple[Mesh, Colour]]:
    t = np.array([0.115])
    y, half = float((t[0] - 0.45) * b.long), float(b.half(t)[0])
    r = 0.036 * b.long
    flank = _flank(b).vertices
    near = np.hypot(flank[:, 1] - y, flank[:, 2] - 0.22 * half) < 1.1 * r
    iris, pupil = [], []
    for s in (-1, 1):
        side = float((flank[near, 0] * s).max()) * s
        iris.append(shifted(ball(0.5 * r, r, r, around=20), side, y, 0.22 * half))
        pupil.append(
            shifted(
                ball(0.35 * r, 0.56 * r, 0.56 * r, around=16),
                side + s * 0.24 * r,
                y - 0.06 * r,
                0.22 * half,
            )
        )
    gold = oklch(traits.family("iris", 0.6, 0.85), 0.09, traits.family("iris-hue", 30, 110))
    return [(joined(iris), gold), (joined(pupil), (14, 14, 16))]


def _scales(traits: Traits) -> NDArray[np.uint8]:
    """The flank's sheet: a dark back, a pale belly, bars, bands or spots, small scales."""
    f, v = traits.family, traits.variant
    h, w = 256, 512
    row, col = np.mgrid[0:h, 0:w]
    t, a = (col + 0.5) / w, (1 - (row + 0.5) / h) * 2 * math.pi
    up = np.cos(a)
    at = np.stack([t.ravel() * 2, up.ravel(), np.sign(np.sin(a)).ravel() * 0.0], -1)
    hue = f("hue", 0, 360)
    base = np.array(
        oklch(
            f("level", 0.55, 0.80) + v("level", -0.03, 0.03),
            f("chroma", 0.05, 0.18),
            hue + v("hue", -8, 8),
        )
    )
    second = np.array(oklch(f("second", 0.28, 0.75), f("second-chroma", 0.03, 0.18),
        hue + f.pick("step", (40.0, 90.0, 150.0, 200.0, 260.0))))  # fmt: skip
    dark, pale = (
        np.array(mix(tuple(base), (26, 34, 44), f("back", 0.35, 0.75))),
        np.array(mix(tuple(base), (238, 236, 226), 0.7)),
    )
    out = base + (dark - base) * np.clip((up - 0.35) * 1.6, 0, 1)[..., None]
    out = out + (pale - out) * np.clip((-up - 0.25) * 1.5, 0, 0.9)[..., None]
    wobble = noise(at, 0.25, v.count("key", 0, 999)).reshape(h, w)
    pattern = f.pick("pattern", ("bars", "band", "spots", "plain", "bars", "two-tone"))
    n = f.count("bars", 3, 8)
    if pattern == "bars":
        share = np.clip(
            (
                np.cos((t * n + v("shift", 0, 0.6) + 0.06 * wobble) * 2 * math.pi)
                - f("gap", 0.0, 0.5)
            )
            * 7,
            0,
            1,
        )
        share *= np.clip((up + 0.85) * 4, 0, 1)
    elif pattern == "band":
        share = np.clip(1 - (np.abs(up - v("band", -0.05, 0.15) + 0.05 * wobble) / f("band-wide",
            0.10, 0.28)) ** 6, 0, 1)  # fmt: skip
    elif pattern == "spots":
        share = np.clip(
            (noise(at, (0.10, 0.22, 1), v.count("spots", 0, 999)).reshape(h, w) - 0.28) * 12, 0, 1
        )
    elif pattern == "two-tone":
        share = np.clip((t - v("split", 0.42, 0.6) + 0.05 * wobble) * 22, 0, 1)
    else:
        share = np.zeros((h, w))
    out = out + (second - out) * (0.92 * share * (t > 0.17))[..., None]
    cell = (row // 6) % 2 * 0.5
    arc = np.hypot(((t * 62 + cell) % 1 - 0.2) * 1.1, (row % 6) / 6 - 0.5)
    out *= (0.84 + 0.26 * np.clip(arc * 1.3, 0, 1) * (t > 0.22) + 0.14 * (t <= 0.22))[..., None]
    gill = np.abs(np.hypot((t - 0.06) * 2.2, up * 0.42) - 0.34) < 0.012
    out[gill & (np.abs(up) < 0.85)] *= 0.6
    out[(t < 0.035) & (np.abs(up + 0.15) < 0.25)] *= 0.55
    return np.clip(out, 0, 255).astype(np.uint8)


def _rays(traits: Traits) -> NDArray[np.uint8]:
    """A fin's sheet: rays outwards, a coloured edge."""
    f, v = traits.family, traits.variant
    h, w = 64, 256
    y, x = np.mgrid[0:h, 0:w]
    out_ = 1 - (y + 0.5) / h
    root = np.array(oklch(f("fin", 0.5, 0.85), f("fin-chroma", 0.03, 0.15),
        f("hue", 0, 360) + f("fin-turn", -40, 60)))  # fmt: skip
    edge = np.array(traits.palette().accent)
    rays = 0.84 + 0.16 * np.abs(np.sin(x / w * 62))
    share = np.clip((out_ - v("edge", 0.72, 0.9)) * 9, 0, 1)[..., None]
    return np.clip((root + (edge - root) * share) * rays[..., None], 0, 255).astype(np.uint8)


def _tray(traits: Traits) -> list[Part]:
    """A shallow box of crushed ice that rises towards the back, and a little green."""
    f, some = traits.family, chaos(traits.variant, "ice")
    t, n = 0.008, 620
    x, y = some.uniform(-0.45, 0.45, n) * _WIDE, some.uniform(-0.42, 0.43, n) * _DEEP
    z = 0.030 + 0.045 * np.clip(y / _DEEP + 0.42, 0, 1) + some.uniform(-0.006, 0.006, n)
    lump = shifted(box(0.024, 0.018, 0.015), z=-0.0075)
    turn, rise, roll = some.uniform(0, 360, n), some.uniform(-60, 60, n), some.uniform(-60, 60, n)
    poses = grown(np.stack([x, y, z], -1), turn, rise, some.uniform(0.5, 1.2, n), roll)
    walls = [
        box(_WIDE, _DEEP, t),
        *(shifted(box(_WIDE, t, _HIGH, bevel=0.002), y=q * (_DEEP - t) / 2) for q in (-1, 1)),
        *(shifted(box(t, _DEEP, _HIGH, bevel=0.002), x=q * (_WIDE - t) / 2) for q in (-1, 1)),
    ]
    stuff = f.pick("tray", ((236, 236, 234), (70, 110, 160), (52, 54, 58), (200, 204, 208)))
    sprig = blade(0.055, 0.02, base=0.5, tip=0.6, bend=40, lobes=0.4, steps=(4, 8))
    k = f.count("sprigs", 4, 9)
    aside = some.uniform(0.3, 0.45, k) * _WIDE * some.choice((-1, 1), k)
    at = np.stack([aside, some.uniform(-0.4, 0.3, k) * _DEEP, np.full(k, 0.075)], -1)
    green = strewn(sprig, grown(at, some.uniform(0, 360, k), some.uniform(5, 45, k)))
    return [
        Part(joined(walls), Material(stuff, rough=0.5)),
        Part(strewn(lump, poses), Material((222, 232, 238), rough=0.16, coat=0.5)),
        Part(green, Material(oklch(0.48, 0.11, f("sprig", 125, 145)), rough=0.6)),
    ]
