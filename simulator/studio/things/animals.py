"""Birds on a perch, butterflies on a leaf, fish on ice."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.meshes import ball, box, joined, posed, shifted, skin, smooth_path, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.soft_bodies import Limb, chain, flesh, noise, painted, vec
from simulator.studio.things.leaves import blade, green, grown, leaf_sheet, seeded, strewn
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix, oklch


def bird(look: Look, _: Traits) -> Thing:
    """A bird of 10 to 25 cm that sits on what is under it."""
    return _bird(look)


@lru_cache(maxsize=12)
def _bird(look: Look) -> Thing:
    traits = Traits(look)
    f, v = traits.family, traits.variant
    s = traits.near("size", 0.17, 0.34, 0.04)
    shape = _BirdShape(traits)
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
        Part(_bird_eyes(body, shape, s), Material((22, 16, 14), rough=0.05, coat=1.0)),
        Part(_beak(traits, shape, s), horn),
        Part(_legs(s), leg),
    ]
    turn = moved(turn=v("turn", 34, 66) * (1 if v.chance("side") else -1))
    return Thing.of(*(Part(posed(p.mesh, turn), p.material) for p in parts))


class _BirdShape:
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


def _body(b: _BirdShape, s: float) -> list[Limb]:
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


def _bird_eyes(body: Mesh, b: _BirdShape, s: float) -> Mesh:
    out: list[Mesh] = []
    for q in (-1, 1):
        y, z = (b.top[1] - 0.045 * b.head) * s, (b.top[2] + 0.018 * b.head) * s
        near = np.hypot(body.vertices[:, 1] - y, body.vertices[:, 2] - z) < 0.014 * s
        side = float(np.abs(body.vertices[near, 0]).max())
        out.append(shifted(ball(0.0205 * s, around=18), q * (side - 0.011 * s), y, z))
    return joined(out)


def _beak(traits: Traits, b: _BirdShape, s: float) -> Mesh:
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

    def __init__(self, traits: Traits, shape: _BirdShape, s: float) -> None:
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


def butterfly(_: Look, traits: Traits) -> Thing:
    """A butterfly with 6 to 12 cm of wings, on a sprig of leaves."""
    f, v = traits.family, traits.variant
    span = traits.near("span", 0.075, 0.125, 0.06)
    fore, hind = _Wing(f, "fore"), _Wing(f, "hind")
    lift = v("lift", 12, 34)
    wings: list[Part] = []
    for wing, name in ((fore, "fore"), (hind, "hind")):
        mesh = wing.mesh(span)
        both = [
            posed(mesh, turned((0, 1, 0), -lift)),
            posed(posed(mesh, np.diag([-1.0, 1, 1, 1])), turned((0, 1, 0), lift)),
        ]
        wings.append(Part(joined(both), Material(sheet=_pattern(traits, wing, name), rough=0.55)))
    dark = oklch(0.28, 0.03, f("body-hue", 30, 110))
    body = [
        Part(_insect_body(span), Material(dark, rough=0.85)),
        Part(_feelers(span), Material((30, 26, 24), rough=0.5)),
    ]
    at = (moved(0, -0.012, 0.115, turn=v("turn", -24, 24)) @ turned((1, 0, 0),
        f("tilt", 48, 66)) @ turned((0, 0, 1), v("roll", -16, 16)))  # fmt: skip
    return Thing.of(
        *(Part(posed(p.mesh, at), p.material) for p in (*wings, *body)), *_sprig(traits)
    )


class _Wing:
    """An outline in polar form about the wing's root: x outwards, y forwards."""

    def __init__(self, f: Draws, name: str) -> None:
        fore = name == "fore"
        self.fore = fore
        self.low, self.high = (-22.0, 62.0) if fore else (-98.0, 4.0)
        self.peak = f(f"{name}-peak", 0.62, 0.9) if fore else f(f"{name}-peak", 0.25, 0.6)
        self.sharp = f(f"{name}-sharp", 0.5, 1.2)
        self.scallop = f(f"{name}-scallop", 0.0, 0.05)
        self.lobes = f.count(f"{name}-lobes", 5, 9)
        self.tail = f("tail", 0.25, 0.5) if not fore and f.chance("tailed", 0.35) else 0.0
        self.reach = 0.5 if fore else f("hind", 0.36, 0.46)

    def mesh(self, span: float) -> Mesh:
        """u along the outline from the front edge backwards... v from the root outwards."""
        q = np.linspace(0, 1, 49)
        angle = np.radians(self.low + (self.high - self.low) * q)
        edge = 0.62 + 0.38 * np.exp(-(((q - self.peak) / 0.34) ** 2) * self.sharp)
        edge *= 1 - self.scallop * np.abs(np.sin(q * math.pi * self.lobes))
        edge *= np.clip(np.minimum(q, 1 - q) / 0.06, 0, 1) ** 0.35 * 0.4 + 0.6
        edge += self.tail * np.exp(-(((q - 0.22) / 0.035) ** 2))
        r = np.linspace(0.015, 1, 11)[None] * edge[:, None] * span * self.reach
        x, y = r * np.cos(angle)[:, None], r * np.sin(angle)[:, None]
        y = y + (0.05 if self.fore else -0.03) * span
        z = 0.05 * span * (r / (span * 0.5)) ** 2 - (0.0 if self.fore else 0.004)
        return skin(np.stack([x, y, z], -1))


def _pattern(traits: Traits, wing: _Wing, name: str) -> NDArray[np.uint8]:
    """Ground colour, dark margin with pale dots, a band, eye-spots, veins."""
    f, v = traits.family, traits.variant
    h, w = 160, 256  # rows: outwards; columns: along the edge
    row, col = np.mgrid[0:h, 0:w]
    r, q = 1 - (row + 0.5) / h, (col + 0.5) / w
    at = np.stack([q.ravel() * r.ravel() * 1.4, r.ravel(), np.zeros(r.size)], -1)
    ground, band, edge = _colours(traits)
    wobble = noise(at, 0.08, v.count(f"{name}-key", 0, 999)).reshape(h, w)
    out = np.tile(np.array(ground, float), (h, w, 1))
    root = np.clip(1 - r / f("root", 0.25, 0.5), 0, 1) * f("root-dark", 0.2, 0.8)
    out = out * (1 - root[..., None]) + np.array(mix(ground, (40, 30, 26), 0.7)) * root[..., None]
    if f.chance(f"{name}-banded", 0.6):
        where, wide = (f(f"{name}-band", 0.45, 0.68) + v("band", -0.03, 0.03),
            f(f"{name}-band-wide", 0.05, 0.12))  # fmt: skip
        share = np.clip(
            1 - (np.abs(r - where + 0.10 * (q - 0.5) + 0.025 * wobble) / wide) ** 4, 0, 1
        )
        out = out + (np.array(band) - out) * share[..., None]
    margin = f("margin", 0.08, 0.24)
    share = np.clip((r - (1 - margin) + 0.02 * wobble) * 24, 0, 1)
    if wing.fore and f.chance("tip", 0.5):
        share = np.maximum(
            share,
            np.clip((r * (0.55 + 0.6 * q) - f("tip-from", 0.72, 0.85) + 0.02 * wobble) * 24, 0, 1),
        )
    out = out + (np.array(edge) - out) * share[..., None]
    cells = f.count("cells", 6, 9)
    vein = np.abs((q * cells + 0.5) % 1 - 0.5) * r < f("vein", 0.010, 0.028)
    out[vein & (r > 0.2)] *= 0.42
    side = ((q * cells) % 1 - 0.5) / cells * 1.35
    dots = np.hypot(side * r, r - (1 - 0.5 * margin)) < v("dot", 0.012, 0.026)
    if f.chance("dotted", 0.65):
        out[dots] = np.array(mix(band, (250, 244, 230), 0.6))
    for i in range(f.count(f"{name}-eyes", 0, 2)):
        cell = (f.count(f"{name}-eye{i}", 1, cells - 2) + 0.5) / cells
        gap = np.hypot((q - cell) * 1.35 * r, r - f(f"{name}-eye-at{i}", 0.62, 0.76))
        size = f(f"{name}-eye-size", 0.045, 0.085) * v(f"eye{i}", 0.85, 1.15)
        for share_, colour in (
            (1.0, mix(edge, (20, 16, 16), 0.5)),
            (0.74, traits.palette().accent),
            (0.42, (22, 20, 26)),
            (0.16, (240, 240, 245)),
        ):
            out[gap < size * share_] = colour
    dust = (
        noise(at, 0.012, 9).reshape(h, w) * 0.06
        + noise(at, (0.01, 0.12, 1), 10).reshape(h, w) * 0.05
    )
    return np.clip(out * (1 + dust[..., None]), 0, 255).astype(np.uint8)


def _colours(traits: Traits) -> tuple[Colour, Colour, Colour]:
    f, v = traits.family, traits.variant
    hue = f.pick("hue", (20.0, 45.0, 60.0, 85.0, 100.0, 250.0, 265.0, 230.0, 180.0, 330.0)) + v(
        "hue", -7, 7
    )
    ground = oklch(f("level", 0.52, 0.82) + v("level", -0.025, 0.025), f("chroma", 0.07, 0.17), hue)
    if f.chance("white", 0.16):
        ground = oklch(0.93, 0.03, f("white-hue", 80, 110))
    band = oklch(f("band", 0.6, 0.92), f("band-chroma", 0.04, 0.16),
        hue + f.pick("step", (-30.0, 35.0, 60.0, 180.0)))  # fmt: skip
    edge = mix(oklch(0.30, 0.05, hue), (28, 22, 22), f("edge", 0.2, 0.95))
    return ground, band, edge


def _insect_body(span: float) -> Mesh:
    k = span
    limbs = [
        *chain(
            [(0, 0.02 * k, 0.01 * k), (0, -0.10 * k, 0.008 * k), (0, -0.27 * k, -0.012 * k)],
            (0.026 * k, 0.026 * k, 0.012 * k),
            0.01 * k,
        ),
        Limb((0, 0.04 * k, 0.012 * k), (0, 0.09 * k, 0.014 * k), (0.036 * k, 0.032 * k), 0.015 * k),
        Limb(
            (0, 0.138 * k, 0.014 * k), (0, 0.14 * k, 0.014 * k), (0.025 * k, 0.025 * k), 0.006 * k
        ),
    ]
    return flesh(limbs, 0.0095 * k, unevenness=lambda p: 0.002 * k * noise(p, 0.012 * k, 3))


def _feelers(span: float) -> Mesh:
    out: list[Mesh] = []
    for s in (-1, 1):
        path = smooth_path(np.array([(s * 0.012, 0.15, 0.02), (s * 0.07, 0.26, 0.055),
            (s * 0.15, 0.36, 0.07)]) * span, 6)  # fmt: skip
        out.append(tube(path, (0.0030 * span, 0.0026 * span), around=6))
        out.append(shifted(ball(0.008 * span, around=10), *path[-1]))
        for y in (0.09, 0.05, 0.0):
            leg = (
                np.array(
                    [
                        (s * 0.02, y, -0.005),
                        (s * 0.07, y + 0.03, -0.035),
                        (s * 0.075, y + 0.05, -0.075),
                    ]
                )
                * span
            )
            out.append(tube(leg, 0.0035 * span, around=6))
    return joined(out)


def _sprig(traits: Traits) -> list[Part]:
    """The leaf it sits on, with a few more on the same stalk."""
    f, some = traits.family, seeded(traits.variant, "sprig")
    colour = green(traits)
    sheet = leaf_sheet(
        colour,
        mix(colour, (220, 224, 180), 0.5),
        veins=f("veins", 0.2, 0.6),
        key=f.count("key", 0, 99),
    )
    long = 0.105
    leaf = blade(
        long,
        long * f("broad", 0.4, 0.62),
        base=f("base", 0.5, 0.8),
        tip=f("tip", 0.6, 0.9),
        bend=28,
        fold=0.12,
        steps=(6, 10),
    )
    stalk = smooth_path(np.array([(0, 0.03, 0), (0.004, 0.035, 0.06), (0, 0.03, 0.115)]), 6)
    at = np.array([(0, 0.025, 0.028), (0, 0.03, 0.045), (0, 0.032, 0.07), (0, 0.03, 0.10)])
    turn = np.array([180 + some.uniform(-15, 15), 75.0, -70.0, 10.0])
    poses = grown(at, turn, np.array([6.0, 30, 24, 62]), np.array([0.8, 0.8, 0.85, 0.8]))
    return [
        Part(strewn(leaf, poses), Material(sheet=sheet, rough=0.45, coat=0.15)),
        Part(
            tube(stalk, (0.003, 0.002), around=8),
            Material(mix(colour, (120, 100, 60), 0.4), rough=0.6),
        ),
    ]


_WIDE, _DEEP, _HIGH = 0.46, 0.30, 0.055
"""The tray."""
_SLOPE = 52.0
"""Degrees that the fish lies back from upright."""


def fish(_: Look, traits: Traits) -> Thing:
    """A fish of 26 to 38 cm in a tray of ice, its flank to whoever stands before it."""
    v = traits.variant
    shape = _FishShape(traits)
    side = 1 if v.chance("side") else -1
    laid = turned((1, 0, 0), -_SLOPE) @ moved(turn=-90 * side)
    pose = moved(side * v("x", -0.01, 0.02), 0.0, 0.105, turn=v("turn", -9, 9)) @ laid
    swimmer = [
        Part(posed(_flank(shape), pose), Material(sheet=_scales(traits), rough=0.28, coat=0.35)),
        Part(posed(_fins(shape), pose), Material(sheet=_rays(traits), rough=0.4)),
        *(
            Part(posed(mesh, pose), Material(colour, rough=0.08, coat=1.0))
            for mesh, colour in _fish_eyes(traits, shape)
        ),
    ]
    return Thing.of(*swimmer, *_tray(traits))


class _FishShape:
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


def _flank(b: _FishShape) -> Mesh:
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


def _fin(b: _FishShape, t: Array, foot: Array, top: Array, sweep: float) -> Mesh:
    """A sheet between a line on the body and an outer edge; v runs outwards."""
    k = np.linspace(0, 1, 7)[None]
    y = ((t - 0.45) * b.long)[:, None] + sweep * b.long * k**1.3
    z = foot[:, None] + (top - foot)[:, None] * k
    swing = b.spine(t)[:, None] + 0.0012 * np.sin(t * 60)[:, None] * k
    return skin(np.stack([swing, y, z], -1))


def _fins(b: _FishShape) -> Mesh:
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


def _fish_eyes(traits: Traits, b: _FishShape) -> list[tuple[Mesh, Colour]]:
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
    f, some = traits.family, seeded(traits.variant, "ice")
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
