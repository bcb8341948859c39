"""Birds on a perch: one body of soft shapes, its plumage painted by regions."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing, moved
from simulator.studio.solid.meshes import ball, joined, posed, shifted, smooth_path, tube
from simulator.studio.solid.soft import Limb, chain, flesh, noise, painted, vec
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix, oklch


def bird(look: Look, _: Traits) -> Thing:
    """A bird of 10 to 25 cm that sits on what is under it."""
    return _bird(look)


@lru_cache(maxsize=12)
def _bird(look: Look) -> Thing:
    traits = Traits(look)
    f, v = traits.family, traits.variant
    s = traits.near("size", 0.17, 0.34, 0.04)
    shape = _Shape(traits)
    body = flesh(
        _body(shape, s), 0.017 * s, unevenness=lambda at: 0.006 * s * noise(at, 0.035 * s, 2)
    )
    mesh, sheet = painted(body, _Plumage(traits, shape, s), side=460)
    horn = Material(oklch(f("beak-level", 0.28, 0.75), f("beak-chroma", 0.02, 0.16),
        f("beak-hue", 35, 95)), rough=0.35)  # fmt: skip
    leg = Material(oklch(f("leg-level", 0.32, 0.66), f("leg-chroma", 0.02, 0.12),
        f("leg-hue", 20, 80)), rough=0.6)  # fmt: skip
    parts = [
        Part(mesh, Material(sheet=sheet, rough=0.7, grain="fur")),
        Part(_eyes(body, shape, s), Material((22, 16, 14), rough=0.05, coat=1.0)),
        Part(_beak(traits, shape, s), horn),
        Part(_legs(s), leg),
    ]
    turn = moved(turn=v("turn", 34, 66) * (1 if v.chance("side") else -1))
    return Thing.of(*(Part(posed(p.mesh, turn), p.material) for p in parts))


class _Shape:
    """A family's build, as shares of its size."""

    def __init__(self, traits: Traits) -> None:
        f = traits.family
        self.up = f("upright", -0.02, 0.10)
        self.plump = f("plump", 0.88, 1.15)
        self.head = f("head", 0.92, 1.15)
        self.tail = f("tail", 0.20, 0.52)
        self.cocked = f("cocked", -0.13, 0.10)
        self.crest = f("crest", 0.07, 0.16) if f.chance("crested", 0.28) else 0.0
        self.top = vec(0, -0.27 + 0.5 * self.up, 0.57 + self.up)
        """The middle of the head."""


def _body(b: _Shape, s: float) -> list[Limb]:
    p, r = b.plump, 0.118 * b.head
    chest, belly, rump = vec(0, -0.16, 0.36 + b.up), vec(0, 0.04, 0.27), vec(0, 0.28, 0.25)
    tip = rump + vec(0, 0.08 + b.tail, b.cocked - 0.02)
    out = [Limb(chest, belly, (0.158 * p, 0.150 * p), 0.0, (1, 0, 0), 1.06),
        Limb(belly, rump, (0.150 * p, 0.072), 0.06, (1, 0, 0), 1.06),
        Limb(chest + vec(0, -0.02, 0.04), b.top, (0.135 * p, 0.105 * b.head), 0.08),
        Limb(b.top, b.top + vec(0, -0.02, 0.0), (r, r * 0.97), 0.03, (1, 0, 0), 1.08),
        Limb(rump + vec(0, 0.02, 0), tip, (0.055, 0.070), 0.05, (0, 0.1, 1), 2.5)]  # fmt: skip
    for q in (-1, 1):
        shoulder = chest + vec(q * 0.112 * p, 0.03, 0.02)
        out.append(Limb(shoulder, rump + vec(q * 0.05, 0.12 + 0.3 * b.tail, 0.03), (0.105, 0.026),
            0.012, (1, 0.25 * q, 0.1), 2.6))  # fmt: skip
        out.append(Limb(belly + vec(q * 0.06, -0.01, -0.06), belly + vec(q * 0.062, -0.03, -0.15),
            (0.062, 0.026), 0.04))  # fmt: skip
    if b.crest:
        root = b.top + vec(0, -0.01, r * 0.8)
        out += chain(
            [root, root + vec(0, 0.07, 0.5 * b.crest), root + vec(0, 0.14, b.crest)],
            (0.05, 0.03, 0.010),
            0.03,
        )
    return [
        q._replace(
            start=np.asarray(q.start) * s,
            end=np.asarray(q.end) * s,
            thick=(q.thick[0] * s, q.thick[1] * s),
            melt=q.melt * s,
        )
        for q in out
    ]


def _eyes(body: Mesh, b: _Shape, s: float) -> Mesh:
    out: list[Mesh] = []
    for q in (-1, 1):
        y, z = (b.top[1] - 0.045 * b.head) * s, (b.top[2] + 0.018 * b.head) * s
        near = np.hypot(body.vertices[:, 1] - y, body.vertices[:, 2] - z) < 0.014 * s
        side = float(np.abs(body.vertices[near, 0]).max())
        out.append(shifted(ball(0.0205 * s, around=18), q * (side - 0.011 * s), y, z))
    return joined(out)


def _beak(traits: Traits, b: _Shape, s: float) -> Mesh:
    """Short and thick, or long and thin; a little hooked."""
    f = traits.family
    long, thick = f("beak", 0.09, 0.26), f("beak-thick", 0.024, 0.050)
    thick = min(thick, 0.5 * long)
    root = b.top + vec(0, -0.085 * b.head, -0.012)
    tip = root + vec(0, -long, -0.02 - f("hook", 0.0, 0.25) * long)
    path = smooth_path(np.array([root, root + vec(0, -0.55 * long, -0.004), tip]), 6) * s
    upper = tube(path, (thick * s, thick * 0.72 * s, thick * 0.12 * s), around=14)
    under = tube(
        np.array([root + vec(0, 0.0, -0.5 * thick), tip + vec(0, 0.10 * long, 0.002)]) * s,
        (thick * 0.72 * s, thick * 0.10 * s),
        around=12,
    )
    return joined([upper, under], smooth=True)


def _legs(s: float) -> Mesh:
    out: list[Mesh] = []
    for q in (-1, 1):
        foot = vec(q * 0.062, 0.0, 0.012) * s
        knee = vec(q * 0.062, -0.02, 0.13) * s
        out.append(tube(np.array([knee, foot]), (0.013 * s, 0.011 * s), around=8))
        for a in (-28, 0, 28, 180):
            to = (
                foot
                + vec(math.sin(math.radians(a)) * 0.085, -math.cos(math.radians(a)) * 0.085, -0.003)
                * s
            )
            out.append(
                tube(
                    smooth_path(np.array([foot, (foot + to) / 2 + vec(0, 0, 0.012 * s), to]), 3),
                    (0.011 * s, 0.005 * s),
                    around=6,
                )
            )
    return joined(out)


class _Plumage:
    """Crown, cheek, throat, breast, belly, back, wings and tail, each its own colour."""

    def __init__(self, traits: Traits, shape: _Shape, s: float) -> None:
        f, v = traits.family, traits.variant
        self.f, self.v, self.b, self.s = f, v, shape, s
        hue, vivid = f("hue", 0, 360), f.chance("vivid", 0.55)
        chroma = f("chroma", 0.10, 0.19) if vivid else f("chroma", 0.015, 0.06)
        earth = oklch(
            f("earth", 0.34, 0.60), f("earth-chroma", 0.02, 0.06), f("earth-hue", 40, 100)
        )
        bright = oklch(
            f("bright", 0.50, 0.78) + v("bright", -0.03, 0.03), chroma, hue + v("hue", -8, 8)
        )
        pale: Colour = (226, 218, 198)
        dark: Colour = (38, 36, 40)
        other = oklch(f("other", 0.45, 0.8), f("other-chroma", 0.06, 0.16),
            hue + f.pick("step", (40.0, 70.0, 150.0, 200.0)))  # fmt: skip
        pool = (bright, earth, other, pale, dark, mix(earth, pale, 0.5))
        names = ("back", "crown", "breast", "belly", "cheek", "throat", "wing", "tail", "bar")
        picks = {name: np.array(f.pick(name, pool), float) for name in names}
        picks["belly"] = np.array(
            mix(pale, f.pick("belly", (bright, other, pale)), f("belly-share", 0.1, 0.8)), float
        )
        picks["back"] = np.array(
            f.pick("back", (bright, earth, mix(earth, dark, 0.5), dark)), float
        )
        picks["wing"] = np.array(mix(f.pick("wing", (earth, dark, bright)), dark, 0.25), float)
        self.tint = picks
        self.mask = f.chance("mask", 0.45)
        self.brow = f.chance("brow", 0.4)
        self.streaks = f("streaks", 0.3, 0.8) if f.chance("streaked", 0.35) else 0.0
        self.bars = f.count("bars", 0, 2)
        self.key = v.count("key", 0, 999)

    def __call__(self, at: Array, facing: Array) -> Array:
        """The colour of each feathered place."""
        b, s, t = self.b, self.s, self.tint
        p = at / s
        ragged = noise(p, 0.05, self.key) * 0.022
        x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
        out = np.tile(t["belly"], (len(at), 1))
        upper = facing[:, 2] + 0.35 * facing[:, 1] > 0.12 + ragged * 4
        line = 0.33 + b.up + 0.25 * np.clip(-y, -0.3, 0.3)
        out[(z > line + ragged) & ~upper] = t["breast"]
        out[upper] = t["back"]
        head = (z > b.top[2] - 0.085 + ragged) & (y < b.top[1] + 0.11)
        hz, hy = z - b.top[2], y - b.top[1]
        out[head] = t["cheek"]
        out[head & (hz > 0.045 + ragged)] = t["crown"]
        bib = np.hypot(hy + 0.08, 0.85 * (hz + 0.10)) < 0.085 + self.v("bib", 0.0, 0.05) + ragged
        out[bib & (hz < -0.02)] = t["throat"]
        if self.brow:
            out[head & (np.abs(hz - 0.046) < 0.013) & (hy < 0.09)] = (232, 226, 208)
        if self.mask:
            out[
                head
                & (np.abs(hz - 0.012 + 0.3 * np.maximum(hy, 0)) < self.v("mask", 0.018, 0.032))
                & (hy > -0.12)
            ] = (34, 32, 36)
        if self.streaks:
            marks = noise(p, (0.016, 0.016, 0.06), 5) > 1 - self.streaks
            out[marks & ~upper & (z < line + 0.12) & (y < 0.12)] *= 0.55
        middle = 0.355 + 0.6 * b.up - 0.22 * (y - 0.06)
        wing = ((y - 0.10) / 0.30) ** 2 + ((z - middle) / 0.125) ** 2 < 1 + 5 * ragged
        wing &= (x > 0.075 * b.plump) & ~head
        along = (y + 0.15) + 0.35 * (0.42 - z)
        out[wing] = t["wing"]
        quills = (
            np.clip(np.abs(np.sin((z + 0.30 * y) * 95)) * 6 - 4.6, 0, 1) * (along > 0.20) * wing
        )
        out = out * (1 - 0.38 * quills)[:, None] + 150 * (0.10 * quills)[:, None]
        for i in range(self.bars):
            bar = wing & (
                np.abs(along - 0.13 - 0.075 * i - self.v("bar", -0.01, 0.02) + ragged * 0.6) < 0.014
            )
            out[bar] = t["bar"]
        tail = y > 0.36 + ragged
        out[tail & ~wing] = t["tail"]
        scale_ = (
            noise(p, (0.020, 0.034, 0.026), 7) * 0.08 + noise(p, (0.008, 0.020, 0.012), 8) * 0.10
        )
        return out * (1 + scale_)[:, None] + 3
