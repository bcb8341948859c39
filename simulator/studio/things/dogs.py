"""Dogs: a skeleton with a breed's proportions, melted flesh on it, and a coat of fur."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.studio.solid.meshes import ball, joined, posed, shifted, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.soft_bodies import Limb, chain, flesh, noise, painted, vec
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix

_COATS: tuple[Colour, ...] = ((40, 36, 34), (88, 58, 42), (172, 122, 74), (204, 158, 98),
    (226, 204, 168), (122, 118, 116), (150, 88, 52), (232, 226, 214))  # fmt: skip


class FurColours:
    """Colours of fur: two coats and white, where the breed wears them."""

    def __init__(self, traits: Traits, high: float, sits: bool) -> None:
        f, v = traits.family, traits.variant
        self.h, self.f, self.v = high, f, v
        self.behind = -0.05 * high if sits else high
        """Where socks end: who sits would dip the hips into them."""
        first = f.count("first", 0, 6)
        second = (first + f.count("second", 1, 7)) % len(_COATS)
        tone = v("tone", -0.10, 0.10)
        self.first = np.array(
            mix(_COATS[first], (240, 220, 190) if tone > 0 else (20, 16, 14), abs(tone))
        )
        self.second, self.white = np.array(_COATS[second], float), np.array((232, 226, 214), float)
        self.pattern = f.pick(
            "pattern", ("plain", "saddle", "patches", "spots", "brindle", "merle", "points")
        )
        self.key = v.count("key", 0, 999)
        self.socks = v("socks", 0.06, 0.34) * high if f.chance("socks", 0.5) else 0.0
        self.bib = v("bib", 0.05, 0.14) * high if f.chance("bib", 0.55) else 0.0
        self.blaze = v("blaze", 0.010, 0.032) * high if f.chance("blaze", 0.4) else 0.0
        self.mask = f.chance("mask", 0.4)

    def body(self, at: Array, facing: Array) -> Array:
        """The trunk, legs and tail."""
        h = self.h
        out = self._ground(at, facing, 0.30 * h)
        ragged = noise(at, 0.05 * h, 7) * 0.03 * h
        white = ((at[:, 2] + ragged < self.socks) & (at[:, 1] < self.behind)) | (
            (facing[:, 1] < -0.35) & (np.abs(at[:, 0] + ragged) < self.bib) & (at[:, 1] < 0)
        )
        out[white] = self.white
        return self._fur(out, at, (0.010, 0.034, 0.018))

    def head(self, at: Array, facing: Array) -> Array:
        """The face: mask, blaze, brows, dark round the eyes."""
        h = self.h
        out = self._ground(at + vec(0, -0.5 * h, 0.7 * h), facing, 0.20 * h)
        ragged = noise(at, 0.04 * h, 8) * 0.012 * h
        muzzle = (at[:, 1] + ragged < -0.105 * h) & (at[:, 2] < 0.01 * h)
        if self.pattern in ("saddle", "points"):
            out[muzzle | ((at[:, 2] < -0.035 * h) & (at[:, 1] < 0.02 * h))] = self.second
            brow = np.hypot(np.abs(at[:, 0]) - 0.034 * h, 1.4 * (at[:, 2] - 0.050 * h)) < 0.013 * h
            spot = brow & (facing[:, 1] < 0)
            out[spot] = self.second
        if self.mask:
            out[muzzle] *= 0.42
        if self.blaze:
            narrow = self.blaze * (1 + 1.2 * np.clip(-at[:, 1] / (0.12 * h) - 0.4, 0, 2))
            out[(np.abs(at[:, 0]) + ragged < narrow) & (facing[:, 1] < 0.2)] = self.white
        eye = np.hypot(np.abs(at[:, 0]) - 0.043 * h, at[:, 2] - 0.012 * h)
        out *= (1 - 0.6 * np.exp(-((eye / (0.021 * h)) ** 2)) * (at[:, 1] < -0.04 * h))[:, None]
        return self._fur(out, at, (0.010, 0.022, 0.014))

    def _ground(self, at: Array, facing: Array, patch: float) -> Array:
        """First and second colour as the breed's pattern lays them."""
        h, share = self.h, np.zeros(len(at))
        blotch = noise(at, patch, self.key)
        if self.pattern == "saddle":
            share = np.clip((0.62 * h - at[:, 2] + 0.06 * h * blotch) / (0.04 * h), 0, 1)
        elif self.pattern == "points":
            share = np.clip((0.26 * h - at[:, 2] + 0.03 * h * blotch) / (0.03 * h), 0, 1)
        elif self.pattern == "patches":
            share = np.clip((blotch - self.v("cover", -0.08, 0.16)) * 14, 0, 1)
        elif self.pattern == "spots":
            share = np.clip(0.55 + (noise(at, 0.055 * h, self.key) - 0.25) * 12, 0, 1)
        elif self.pattern == "brindle":
            bars = np.sin(at[:, 1] / h * 95 + 4 * noise(at, 0.12 * h, self.key))
            share = np.clip(bars - 0.1, 0, 1) * 0.35
        elif self.pattern == "merle":
            share = np.clip((noise(at, 0.10 * h, self.key) - 0.15) * 7, 0, 0.8)
        under = np.clip(-facing[:, 2] * 0.7, 0, 0.45) * (self.pattern in ("plain", "brindle"))
        second = self.white if self.pattern in ("patches", "spots") else self.second
        out = self.first + (second - self.first) * share[:, None]
        return out + (np.array((226, 206, 176)) - out) * under[:, None] * 0.6

    def _fur(self, out: Array, at: Array, grain: tuple[float, float, float]) -> Array:
        strands = noise(at, grain, 11) * 0.09 + noise(at, (0.004, 0.012, 0.006), 12) * 0.10
        return out * (1 + strands + 0.05 * noise(at, 0.06, 13))[:, None] + 2


def dog(look: Look, _: Traits) -> Thing:
    """A dog that stands or sits, its body askew, its face to whoever looks."""
    return _dog(look)


@lru_cache(maxsize=12)
def _dog(look: Look) -> Thing:
    traits = Traits(look)
    f, v = traits.family, traits.variant
    breed = _Breed(traits)
    turn = v("turn", 38, 68) * (1 if v.chance("side") else -1)
    sits = v.chance("sits", 0.4)
    body, neck, way = _sitting(breed) if sits else _standing(breed)
    h = breed.high
    cell = h * 0.0185
    shag = breed.shag * h

    def furred(at: Array) -> Array:
        return shag * (noise(at, 0.05 * h, 1) + 0.7 * noise(at, 0.09 * h, 2))

    coat = FurColours(traits, h, sits)
    rough = Material(rough=0.75, grain="fur")
    mesh, sheet = painted(
        flesh(body, cell, unevenness=furred if shag else None), coat.body, side=460
    )
    skull = flesh(
        _head(breed), h * 0.0115, unevenness=(lambda at: 0.4 * furred(at)) if shag else None
    )
    face, face_sheet = painted(skull, coat.head, side=340)
    head_at = moved(*(neck + way * 0.075 * h), turn=-0.82 * turn) @ turned(
        (0, 1, 0), v("tilt", -7, 7)
    )
    head_at = head_at @ turned((1, 0, 0), v("nod", -8, 8))
    dark = Material((26, 22, 22), rough=0.35, coat=0.3)
    parts = [
        Part(mesh, rough._replace(sheet=sheet)),
        Part(posed(face, head_at), rough._replace(sheet=face_sheet)),
        Part(posed(_eyes(breed, skull), head_at), Material((32, 20, 14), rough=0.06, coat=1.0)),
        Part(
            posed(_nose(breed), head_at),
            dark if f.chance("dark-nose", 0.8) else Material((92, 58, 50), rough=0.4),
        ),
        *_collar(traits, breed, neck, way),
    ]
    if v.chance("pants", 0.45):
        parts.append(Part(posed(_tongue(breed), head_at), Material((208, 106, 112), rough=0.35)))
    parts = [Part(posed(p.mesh, moved(turn=turn)), p.material) for p in parts]
    low = min(float(p.mesh.vertices[:, 2].min()) for p in parts)
    return Thing.of(*(Part(shifted(p.mesh, z=-low), p.material) for p in parts))


class _Breed:
    """What dogs of one family share: how high, how long, which head, ears, tail and coat."""

    def __init__(self, traits: Traits) -> None:
        f = traits.family
        self.high = traits.near("high", 0.27, 0.64, 0.04)
        self.long = f("long", 0.96, 1.14) * (1.32 if f.chance("low", 0.18) else 1.0)
        self.low = 0.78 if self.long > 1.2 else 1.0
        self.stout = f("stout", 0.90, 1.14)
        self.leg = f("leg", 0.92, 1.18)
        self.muzzle = f("muzzle", 0.12, 0.25)
        self.snout = f("snout", 0.9, 1.25)
        self.skull = f("skull", 0.98, 1.2)
        self.ears = f.pick("ears", ("prick", "drop", "drop", "half", "long"))
        self.ear = f("ear", 0.85, 1.25)
        self.tail = f.pick("tail", ("curled", "sabre", "plume", "level"))
        self.shag = f.pick("shag", (0.0, 0.0, 0.010, 0.018))
        self.belly = f("tuck", 0.0, 0.05)


def _standing(b: _Breed) -> tuple[list[Limb], Array, Array]:
    """Body and legs of a dog on four feet, where its head joins, and where its neck points."""
    h, length, s = b.high, b.high * b.long, b.stout
    back = 0.83 * h * (0.5 + 0.5 * b.low)
    front, rear = -0.36 * length, 0.36 * length
    deep = 0.205 * h * s
    chest, hips = vec(0, front + 0.05 * h, back - deep), vec(0, rear, back - 0.135 * h * s)
    middle = vec(0, 0.06 * h, back - deep * 0.86 + b.belly * h)
    out = [
        Limb(chest, middle, (deep, deep * 0.86 - b.belly * h), 0.0, (1, 0, 0), 1.28),
        Limb(middle, hips, (deep * 0.86 - b.belly * h, 0.135 * h * s), 0.05 * h, (1, 0, 0), 1.15),
    ]
    for side in (-1, 1):
        x = side * 0.105 * h * s
        out += _foreleg(b, vec(x, front, chest[2] + 0.03 * h), vec(x * 0.92, front + 0.03 * h, 0))
        ground = vec(x * 1.05, rear + 0.07 * h, 0)
        hip = vec(x * 0.85, rear - 0.01 * h, hips[2] - 0.02 * h)
        knee = vec(x * 1.18, rear - 0.09 * h, 0.43 * hips[2] + 0.08 * h)
        hock = ground + vec(0, 0.06 * h, 0.21 * h)
        out += chain([hip, knee], (0.125 * h * s, 0.068 * h * b.leg), 0.05 * h)
        out += chain([knee, hock], (0.066 * h * b.leg, 0.036 * h * b.leg), 0.02 * h)
        out += _foot(b, hock, ground)
    out += _tail(b, hips + vec(0, 0.09 * h, 0.10 * h), up=True)
    root, way = vec(0, front - 0.02 * h, back - 0.09 * h), np.array([0, -0.62, 0.78])
    return [*out, *_neck(b, root, way)], root + way * 0.30 * h, way


def _sitting(b: _Breed) -> tuple[list[Limb], Array, Array]:
    """A dog that sits: the chest up, the thighs folded beside the hips."""
    h, length, s = b.high, b.high * b.long, b.stout
    deep = 0.205 * h * s
    front = -0.20 * length
    chest, hips = vec(0, front, 0.60 * h), vec(0, 0.26 * length, 0.17 * h)
    middle = 0.5 * (chest + hips) + vec(0, 0.02 * h, 0.0)
    out = [Limb(chest, middle, (deep, deep * 0.92), 0.0, (1, 0, 0), 1.24),
        Limb(middle, hips, (deep * 0.92, 0.165 * h * s), 0.05 * h, (1, 0, 0), 1.05)]  # fmt: skip
    for side in (-1, 1):
        x = side * 0.105 * h * s
        out += _foreleg(b, vec(x, front - 0.04 * h, 0.60 * h), vec(x, front - 0.05 * h, 0))
        knee, hock = vec(x * 1.65, -0.02 * length, 0.24 * h), vec(x * 1.55, 0.24 * length, 0.06 * h)
        out += chain([hips + vec(x, -0.02 * h, 0.02 * h), knee], (0.14 * h * s, 0.10 * h), 0.05 * h)
        out += chain([knee, hock], (0.075 * h, 0.045 * h), 0.03 * h)
        out += _foot(b, hock, vec(x * 1.7, -0.02 * length, 0))
    out += _tail(b, hips + vec(0, 0.12 * h, -0.06 * h), up=False)
    root, way = chest + vec(0, -0.02 * h, 0.10 * h), np.array([0, -0.34, 0.94])
    return [*out, *_neck(b, root, way)], root + way * 0.32 * h, way


def _neck(b: _Breed, root: Array, way: Array) -> list[Limb]:
    h = b.high
    return chain(
        [root - way * 0.02 * h, root + way * 0.34 * h], (0.145 * h * b.stout, 0.092 * h), 0.07 * h
    )


def _foreleg(b: _Breed, shoulder: Array, ground: Array) -> list[Limb]:
    h = b.high
    elbow = 0.5 * (shoulder + ground) + vec(0, 0.035 * h, 0.06 * h)
    wrist = ground + vec(0, 0.012 * h, 0.15 * h)
    return [
        *chain([shoulder, elbow], (0.115 * h * b.stout, 0.058 * h * b.leg), 0.05 * h),
        *chain([elbow, wrist], (0.054 * h * b.leg, 0.038 * h * b.leg), 0.015 * h),
        *_foot(b, wrist, ground),
    ]


def _foot(b: _Breed, wrist: Array, ground: Array) -> list[Limb]:
    """The pastern and a paw with four toes."""
    h, r = b.high, 0.034 * b.high * b.leg
    paw = ground + vec(0, -0.012 * h, r)
    toes = [
        Limb(
            paw + vec(q * 0.021 * h, 0, -0.006 * h),
            paw + vec(q * 0.027 * h, -0.050 * h + 0.006 * h * abs(q), -0.008 * h),
            (0.017 * h, 0.0185 * h),
            0.008 * h,
        )
        for q in (-1.35, -0.45, 0.45, 1.35)
    ]
    return [*chain([wrist, paw], (r, r * 1.05), 0.012 * h), *toes]


def _tail(b: _Breed, root: Array, *, up: bool) -> list[Limb]:
    h = b.high
    shape = b.tail if up else "level"
    steps = {"curled": [(0, 0, 0), (0, 0.07, 0.12), (0.02, 0.04, 0.22), (0.05, -0.06, 0.21),
        (0.06, -0.09, 0.13)], "sabre": [(0, 0, 0), (0, 0.14, -0.06), (0, 0.25, -0.08),
        (0.02, 0.36, 0.0)], "plume": [(0, 0, 0), (0, 0.13, 0.06), (0, 0.24, 0.16),
        (0.02, 0.30, 0.28)], "level": [(0, 0, 0), (0, 0.14, -0.04), (0.04, 0.27, -0.06),
        (0.09, 0.36, -0.05)]}[shape]  # fmt: skip
    thick = (0.05, 0.075, 0.05) if b.tail == "plume" or b.shag else (0.046, 0.036, 0.018)
    return chain([root + np.array(q) * h for q in steps], tuple(t * h for t in thick), 0.025 * h)


def _head(b: _Breed) -> list[Limb]:
    """A head about its own middle, looking to -y."""
    h, w = b.high, b.skull
    m, d = b.muzzle * h, b.snout
    tip = vec(0, -0.085 * h - m, -0.035 * h)
    out = [
        Limb(
            vec(0, 0.02 * h, 0.012 * h),
            vec(0, -0.035 * h, 0.0),
            (0.098 * h * w, 0.088 * h * w),
            0.0,
        ),
        Limb(
            vec(0, 0.10 * h, -0.06 * h),
            vec(0, 0.02 * h, -0.02 * h),
            (0.095 * h, 0.085 * h),
            0.05 * h,
        ),
        Limb(
            vec(0, -0.06 * h, -0.022 * h),
            tip,
            (0.058 * h * d, 0.038 * h * d),
            0.035 * h,
            (0, 0, 1),
            1.06,
        ),
        Limb(
            vec(0, -0.04 * h, -0.062 * h),
            tip + vec(0, 0.028 * h, -0.036 * h),
            (0.040 * h * d, 0.021 * h * d),
            0.015 * h,
        ),
        Limb(
            tip + vec(0, 0.03 * h, 0.006 * h),
            tip + vec(0, 0.012 * h, 0.006 * h),
            (0.036 * h * d, 0.034 * h * d),
            0.02 * h,
        ),
    ]
    for s in (-1, 1):
        cheek = vec(s * 0.048 * h * w, -0.02 * h, -0.042 * h)
        brow = vec(s * 0.034 * h * w, -0.072 * h * w, 0.038 * h)
        lip = tip + vec(s * 0.020 * h, 0.035 * h, -0.018 * h)
        out += [
            Limb(cheek, cheek, (0.048 * h * w, 0.048 * h * w), 0.03 * h),
            Limb(brow, brow, (0.022 * h, 0.022 * h), 0.02 * h),
            Limb(lip, lip + vec(0, 0.5 * m, 0), (0.024 * h * d, 0.026 * h * d), 0.012 * h),
        ]
        out += _ear(b, s)
    cut = tip + vec(0, -0.03 * h, -0.030 * h)
    out.append(
        Limb(
            cut + vec(-0.02 * h, 0, 0),
            cut + vec(0, 0.03 * h + 0.8 * m, 0.002 * h),
            (0.006 * h, 0.004 * h),
            0.004 * h,
            carve=True,
        )
    )
    return out


def _ear(b: _Breed, s: int) -> list[Limb]:
    h, e, w = b.high, b.ear, b.skull
    top = vec(s * 0.070 * h * w, 0.022 * h, 0.062 * h * w)
    if b.ears == "prick":
        tip = top + vec(s * 0.030 * h, 0.0, 0.115 * h) * e
        ear = Limb(top, tip, (0.046 * h * e, 0.008 * h), 0.02 * h, (s * 0.25, -1, 0.1), 2.6)
        hollow = Limb(
            top + vec(0, -0.024 * h, 0.02 * h),
            tip + vec(0, -0.02 * h, -0.03 * h),
            (0.026 * h * e, 0.006 * h),
            0.01 * h,
            (s * 0.25, -1, 0.1),
            2.0,
            carve=True,
        )
        return [ear, hollow]
    if b.ears == "half":
        knee = top + vec(s * 0.045 * h, 0.0, 0.055 * h) * e
        tip = knee + vec(s * 0.022 * h, -0.050 * h, -0.030 * h) * e
        return [
            Limb(top, knee, (0.042 * h * e, 0.030 * h), 0.02 * h, (0, -1, 0.3), 2.4),
            Limb(knee, tip, (0.030 * h, 0.010 * h), 0.008 * h, (0.2 * s, -0.5, 1), 2.2),
        ]
    long = 1.55 if b.ears == "long" else 1.0
    fold = top + vec(s * 0.040 * h, 0.006 * h, -0.004 * h)
    tip = fold + vec(s * 0.022 * h, -0.022 * h, -0.105 * h * long) * e
    return [
        Limb(top, fold, (0.030 * h, 0.034 * h * e), 0.02 * h, (s, 0, 0.6), 1.6),
        Limb(fold, tip, (0.036 * h * e, 0.042 * h * e), 0.012 * h, (1, 0.15 * s, 0.25 * s), 2.8),
    ]


def _eyes(b: _Breed, skull: Mesh) -> Mesh:
    """Eyes set into the face's own surface."""
    h, w, at = b.high, b.skull, skull.vertices
    out: list[Mesh] = []
    for s in (-1, 1):
        x, z = s * 0.043 * h * w, 0.014 * h
        near = np.hypot(at[:, 0] - x, at[:, 2] - z) < 0.014 * h
        front = float(at[near][:, 1].min())
        out.append(shifted(ball(0.018 * h, around=20), x, front + 0.0135 * h, z))
    return joined(out)


def _nose(b: _Breed) -> Mesh:
    h, d = b.high, b.snout
    return shifted(
        ball(0.027 * h * d, 0.020 * h * d, 0.020 * h * d, around=24),
        0,
        -0.108 * h - b.muzzle * h,
        -0.020 * h,
    )


def _tongue(b: _Breed) -> Mesh:
    h, m = b.high, b.muzzle * b.high
    path = [(0, -0.06 * h - 0.6 * m, -0.068 * h), (0, -0.085 * h - m, -0.072 * h),
        (0, -0.095 * h - m, -0.115 * h)]  # fmt: skip
    return tube(path, (0.016 * h, 0.022 * h, 0.017 * h), around=12, flat=0.35)


def _collar(traits: Traits, b: _Breed, neck: Array, way: Array) -> list[Part]:
    """A collar with a tag: what tells one dog of a litter from the next."""
    if traits.variant.chance("no-collar", 0.15):
        return []
    h = b.high
    centre = neck - way * 0.12 * h
    side, other = np.array([1.0, 0, 0]), np.cross(way, (1.0, 0, 0))
    a = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    r = (0.117 if b.shag else 0.108) * h * (0.35 + 0.65 * b.stout)
    ring = centre + np.cos(a)[:, None] * side * r + np.sin(a)[:, None] * other * r
    low = ring[np.argmin(ring[:, 2] + ring[:, 1])] + vec(0, -0.006 * h, -0.02 * h)
    tag = shifted(ball(0.020 * h, 0.004 * h, 0.020 * h, around=20), *low)
    accent = traits.palette().accent
    return [
        Part(tube(ring, 0.0115 * h, around=8, closed=True), Material(accent, rough=0.6)),
        Part(tag, Material((196, 178, 120), rough=0.25, metal=1.0)),
    ]
