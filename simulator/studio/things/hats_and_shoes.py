"""Hats and shoes, and the stuffs that they and bags are made of."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.meshes import (
    ball,
    extrude,
    joined,
    lathe,
    posed,
    scaled,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.soft_bodies import Limb, flesh, noise, painted, vec
from simulator.studio.things.leaves import grown, seeded, strewn
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix

STUFFS = ("leather", "canvas", "suede", "nylon")


def sack(width: float, depth: float, height: float, *, square: float = 4.0, edge: float = 7.0,
    bulge: float = 0.06, taper: float = 0.0, slump: float = 0.0) -> Mesh:  # fmt: skip
    """A stuffed shape on z = 0: rounded in plan (`square`) and at its ends (`edge`).

    The sheet is wrapped once around, its seam behind; v runs from bottom to top.
    """
    t = np.linspace(0, 1, 29)
    t = 0.5 - 0.5 * np.cos(t * math.pi) * (0.6 + 0.4 * np.abs(np.cos(t * math.pi)))
    a = np.linspace(0, 2 * math.pi, 61) + math.pi / 2
    ends = np.maximum(1 - np.abs(2 * t - 1) ** edge, 0) ** (1 / edge)
    wide = ends * (1 + bulge * np.sin(t * math.pi)) * (1 - taper * t)
    x = np.sign(np.cos(a)) * np.abs(np.cos(a)) ** (2 / square)
    y = np.sign(np.sin(a)) * np.abs(np.sin(a)) ** (2 / square)
    deep = ends * (1 + 2.2 * bulge * np.sin(t * math.pi)) * (1 - 1.3 * taper * t)
    at = np.stack(
        [
            x[:, None] * wide[None] * width / 2,
            y[:, None] * deep[None] * depth / 2,
            np.broadcast_to(t * height, (len(a), len(t))),
        ],
        -1,
    )
    if slump:
        at[..., 2] -= slump * height * (at[..., 0] / (width / 2)) ** 2 * (t[None] > 0.5) * t[None]
        at[..., :2] *= 1 + 0.04 * noise(at.reshape(-1, 3), 0.5 * width, 4).reshape(*at.shape[:2], 1)
    return skin(at)


def front_depth(mesh: Mesh, x: float, z: float) -> float:
    """How far to the front (y) a mesh reaches at a place."""
    gap = np.hypot(mesh.vertices[:, 0] - x, mesh.vertices[:, 2] - z)
    near = mesh.vertices[gap < gap.min() + 0.02]
    return float(near[:, 1].min())


def stuff(colour: Colour, kind: str, *, key: int = 0, second: Colour | None = None,
    pattern: str = "plain", fine: float = 1.0, shift: float = 0.0) -> Material:  # fmt: skip
    """A material by its name; a pattern in the second colour lies once over the whole sheet."""
    h, w = 256, 512
    row, col = np.mgrid[0:h, 0:w]
    u, v = (col + 0.5) / w, 1 - (row + 0.5) / h
    base = np.tile(np.array(colour, float), (h, w, 1))
    if second is not None:
        share = _pattern(pattern, u, v, shift)
        base = base + (np.array(second) - base) * share[..., None]
    out = base * (1 + _grain(kind, u, v, key, fine)[..., None])
    rough = {"leather": 0.42, "patent": 0.15, "suede": 0.9, "nylon": 0.55, "straw": 0.7}.get(
        kind, 0.85
    )
    return Material(
        sheet=np.clip(out, 0, 255).astype(np.uint8),
        rough=rough,
        coat=0.25 if kind == "patent" else 0.0,
        grain="leather" if kind in ("leather", "suede", "patent") else "cloth",
    )


def _pattern(name: str, u: Array, v: Array, shift: float) -> NDArray[np.float64]:
    """Where the second colour is."""
    if name == "stripes":
        return (np.sin((u + shift) * 2 * math.pi * 12) > 0.35).astype(float)
    if name == "hoops":
        return (np.sin((v + shift) * 2 * math.pi * 5) > 0.4).astype(float)
    if name == "check":
        one = np.sin((u + shift) * 2 * math.pi * 14) > 0.2
        two = np.sin((v + shift) * 2 * math.pi * 7) > 0.2
        return 0.45 * one + 0.45 * two
    if name == "base":
        return np.clip((0.26 + 0.1 * shift - v) * 60, 0, 1)
    if name == "yoke":
        return np.clip((v - 0.66 - 0.1 * shift) * 60, 0, 1)
    if name == "band":
        return (np.abs(v - 0.5 - 0.1 * shift) < 0.085).astype(float)
    if name == "dots":
        i = np.floor(v * 12)
        return (np.hypot((u * 24 + 0.5 * (i % 2)) % 1 - 0.5, (v * 12) % 1 - 0.5) < 0.24).astype(
            float
        )
    return np.zeros_like(u)


def _grain(kind: str, u: Array, v: Array, key: int, fine: float) -> NDArray[np.float64]:
    at = np.stack([u.ravel() * 2, v.ravel(), np.zeros(u.size)], -1)
    cloud = noise(at, 0.22, key).reshape(u.shape) * 0.05
    small = noise(at, 0.008 / fine, key + 1).reshape(u.shape)
    if kind == "leather":
        return cloud * 1.6 + 0.05 * small - 0.05 * np.abs(noise(at, 0.03, key + 2).reshape(u.shape))
    if kind == "straw":
        weave = np.sin(u * 2 * math.pi * 60 * fine + 1.6 * np.sign(np.sin(v * math.pi * 44 * fine)))
        return cloud + 0.14 * weave + 0.10 * np.sin(v * math.pi * 44 * fine) + 0.08 * small
    if kind == "knit":
        rib = np.abs(np.sin(u * math.pi * 56 * fine))
        loops = np.abs(np.sin(v * math.pi * 46 + 1.2 * rib))
        return cloud + 0.30 * (rib - 0.6) + 0.10 * (loops - 0.6) + 0.06 * small
    if kind == "canvas":
        weave = np.sin(u * math.pi * 230) * np.sin(v * math.pi * 115)
        return cloud + 0.07 * weave + 0.06 * small
    return cloud + 0.045 * small


def pattern_name(f: Draws, name: str) -> str:
    """A pattern's name, most often none."""
    return f.pick(
        name, ("plain", "plain", "base", "band", "stripes", "check", "hoops", "yoke", "dots")
    )


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
        pattern=pattern_name(f, "pattern") if form == "bucket" else "plain",
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
        pattern=pattern_name(f, "pattern"),
        fine=fine,
        shift=v("shift", -0.5, 0.5),
    )
    turnup = stuff(two if f.chance("two-tone") else one, "knit", key=7, fine=fine)
    parts = [Part(_slouched(body, traits), yarn), Part(_slouched(cuff, traits), turnup)]
    if f.chance("bobble", 0.65):
        some = seeded(traits.variant, "bobble")
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


def shoe(look: Look, _: Traits) -> Thing:
    """A pair of shoes, their flanks to whoever looks."""
    return _shoe(look)


@lru_cache(maxsize=12)
def _shoe(look: Look) -> Thing:
    traits = Traits(look)
    v = traits.variant
    last = _Last(traits)
    upper = flesh(_upper(last), 0.0056)
    at = upper.vertices.copy()
    at[:, 2] = np.maximum(at[:, 2], last.sole * 0.6)
    mesh, sheet = painted(upper._replace(vertices=at), _Panels(traits, last), side=460)
    parts = [
        Part(
            mesh,
            Material(
                sheet=sheet,
                rough=last.rough,
                coat=0.2 if last.rough < 0.45 else 0.0,
                grain="leather" if last.rough < 0.7 else "cloth",
            ),
        ),
        *_soles(traits, last),
        *_laces(traits, last, upper),
    ]
    side = 1 if v.chance("side") else -1
    one = moved(side * 0.015, -0.065, turn=side * v("turn", 52, 74))
    two = moved(side * v("behind", -0.035, 0.02), 0.065, turn=side * v("turn-two", 46, 80))
    return Thing.of(
        *(
            Part(joined([posed(p.mesh, one), posed(scaled(p.mesh, -1, 1, 1), two)]), p.material)
            for p in parts
        )
    )


class _Last:
    """What shoes of one family are shaped on."""

    def __init__(self, traits: Traits) -> None:
        f = traits.family
        self.form = f.pick(
            "form", ("sneaker", "runner", "boot", "oxford", "loafer", "high-top", "sneaker")
        )
        self.laced = self.form != "loafer"
        self.top = {"boot": 0.19, "high-top": 0.135, "runner": 0.088}.get(self.form, 0.078) * f(
            "top", 0.94, 1.06
        )
        self.sole = {"runner": 0.034, "boot": 0.028, "oxford": 0.013, "loafer": 0.012}.get(
            self.form, 0.024
        ) * f("sole", 0.88, 1.15)
        self.toe = f("toe", 0.92, 1.1) * {"oxford": 0.9, "loafer": 0.9, "boot": 1.08}.get(
            self.form, 1.0
        )
        self.point = f("point", 0.0, 0.012) if self.form in ("oxford", "loafer") else 0.0
        self.rough = (
            f("rough", 0.22, 0.4) if self.form in ("oxford", "loafer") else f("rough", 0.45, 0.85)
        )
        self.heel = self.form in ("oxford", "loafer", "boot")

    @property
    def lip(self) -> float:
        """Height of the opening's rim."""
        return self.sole + self.top - 0.012


def _upper(b: _Last) -> list[Limb]:
    s, t = b.sole, b.toe
    heel, ball_, tip = (
        vec(0, 0.098, s + 0.024),
        vec(0, -0.058, s + 0.018),
        vec(0, -0.098 - b.point, s + 0.014),
    )
    out = [Limb(heel, vec(0, 0.0, s + 0.028), (0.035, 0.039), 0.0, (0, 0, 1), 0.95),
        Limb(vec(0, 0.0, s + 0.026), ball_, (0.040, 0.045), 0.02, (0, 0, 1), 1.12), Limb(ball_, tip,
        (0.045, 0.034 * t - 0.4 * b.point), 0.02, (0, 0, 1), 1.22 / t),
        Limb(vec(0, 0.085, s + 0.03), vec(0, 0.080, b.lip + 0.02),
        (0.035, 0.039 if b.top > 0.1 else 0.034), 0.02), Limb(vec(0, 0.045, s + 0.042),
        vec(0, -0.045, s + 0.030), (0.034, 0.028), 0.025)]  # fmt: skip
    if b.top > 0.1:
        out.append(Limb(vec(0, 0.05, s + 0.05), vec(0, 0.06, b.lip + 0.02), (0.036, 0.037), 0.02))
    above = vec(0, 0.055, b.lip + 0.30)
    inside = vec(0, 0.066, b.lip - 0.025)
    out += [
        Limb(above, above, (0.30, 0.30), 0.003, carve=True),
        Limb(inside, vec(0, 0.068, b.lip + 0.04), (0.025, 0.028), 0.003, carve=True),
        Limb(inside, vec(0, 0.036, b.lip + 0.01), (0.022, 0.021), 0.003, carve=True),
        Limb(vec(0, 0.06, s + 0.03), vec(0, -0.02, s + 0.025), (0.024, 0.020), 0.0, carve=True),
    ]
    if b.laced:
        tongue = vec(0, 0.012 if b.top < 0.1 else 0.020, b.lip + 0.006)
        out.append(Limb(vec(0, -0.02, s + 0.050), tongue, (0.016, 0.019), 0.006, (0, 1, -0.6), 2.0))
    return out


def _outline(b: _Last, grow: float) -> Array:
    """A sole's outline (x, y), the toe at -y, a right foot's."""
    p = [(0.0, 0.133), (0.025, 0.124), (0.036, 0.095), (0.034, 0.03), (0.040, -0.03),
        (0.047, -0.068), (0.036 * b.toe, -0.112), (0.008, -0.134 - b.point),
        (-0.022 * b.toe, -0.120), (-0.042, -0.078), (-0.041, -0.03), (-0.031, 0.03),
        (-0.035, 0.095), (-0.025, 0.124), (0.0, 0.133)]  # fmt: skip
    path = smooth_path(np.array(p), 5)[:-1]
    return path * (1 + grow / 0.045 * 1.0, 1 + grow / 0.13)


def _layer(outline: Array, low: float, high: float, bevel: float) -> Mesh:
    """A flat piece of that outline between two heights."""
    flat = outline * (1, -1)
    x, y = flat.T
    if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0:
        flat = flat[::-1]
    piece = extrude(flat, high - low, bevel=bevel)
    return shifted(posed(piece, turned((1, 0, 0), 90)), z=(low + high) / 2)


def _soles(traits: Traits, b: _Last) -> list[Part]:
    """A sole of one or two layers, a heel under leather shoes, a line of its own colour."""
    f, v = traits.family, traits.variant
    palette = traits.palette()
    pale: Colour = (228, 226, 218)
    colour = f.pick("sole", (pale, pale, (40, 40, 42), (176, 140, 96), palette.second))
    if b.heel:
        colour = f.pick("leather-sole", ((44, 32, 26), (30, 30, 32), (120, 84, 54)))
    grow = 0.003 if b.heel else 0.002
    parts = [
        Part(
            _layer(
                _outline(b, grow),
                b.sole * 0.36 if b.heel else 0.0,
                b.sole + 0.004,
                min(0.003, b.sole / 5),
            ),
            Material(colour, rough=0.6),
        )
    ]
    if b.heel:
        block = _outline(b, grow)
        block = block[block[:, 1] > 0.055]
        parts.append(
            Part(
                _layer(block, 0.0, b.sole * 0.5, 0.001),
                Material(mix(colour, (20, 18, 18), 0.3), rough=0.5),
            )
        )
        front = _outline(b, grow - 0.004)
        front = front[front[:, 1] < 0.0]
        parts.append(Part(_layer(front, 0.0, b.sole * 0.5, 0.001), parts[-1].material))
    else:
        z = b.sole * v("line", 0.45, 0.72)
        ring = _outline(b, grow + 0.0008)
        line = np.column_stack([ring, np.full(len(ring), z)])
        parts.append(
            Part(
                tube(line, 0.0016 + 0.0012 * f("line-wide"), around=6, closed=True),
                Material(palette.accent, rough=0.6),
            )
        )
    return parts


def _laces(traits: Traits, b: _Last, upper: Mesh) -> list[Part]:
    """Crossing laces over the tongue, with a bow; eyelets beside them."""
    if not b.laced:
        return []
    f, v = traits.family, traits.variant
    n = f.count("eyelets", 4, 6) + (3 if b.top > 0.1 else 0)
    rows = np.linspace(-0.038, 0.018, n)
    if b.top > 0.1:
        rows = np.concatenate([np.linspace(-0.038, 0.008, n - 3), [0.014, 0.016, 0.018]])
    out: list[Mesh] = []
    points = []
    lift = np.linspace(0, 1, n)
    for i, y in enumerate(rows):
        half = 0.014 + 0.004 * lift[i]
        z = (
            _height(upper, 0.010, float(y))
            if b.top < 0.1 or i < n - 3
            else b.lip - 0.012 - 0.026 * (n - 1 - i)
        )
        points.append((half, float(y), z + 0.003))
    r = f("lace", 0.0017, 0.0026)
    for i, (x, y, z) in enumerate(points):
        out.append(
            tube(
                np.array([(-x, y, z - 0.003), (0, y - 0.002, z + 0.002), (x, y, z - 0.003)]),
                r,
                around=6,
                flat=0.6,
            )
        )
        if i + 1 < n:
            a, c, d = points[i + 1]
            for q in (-1, 1):
                out.append(
                    tube(
                        np.array(
                            [
                                (-q * x, y, z - 0.003),
                                (0, (y + c) / 2, (z + d) / 2 + 0.003),
                                (q * a, c, d - 0.003),
                            ]
                        ),
                        r,
                        around=6,
                        flat=0.6,
                    )
                )
    _, y, z = points[-1]
    for q in (-1, 1):
        bow = smooth_path(
            np.array(
                [
                    (0, y - 0.004, z + 0.002),
                    (q * 0.022, y - 0.010, z + 0.008),
                    (q * 0.038, y - 0.014, z - 0.006),
                    (q * 0.020, y - 0.014, z),
                    (0, y - 0.004, z + 0.002),
                ]
            ),
            5,
        )
        out.append(tube(bow, r, around=6))
        out.append(
            tube(
                smooth_path(
                    np.array(
                        [
                            (0, y - 0.004, z),
                            (q * 0.016, y - 0.024, z - 0.004),
                            (q * 0.026, y - 0.045, z - 0.018),
                        ]
                    ),
                    5,
                ),
                r,
                around=6,
            )
        )
    palette = traits.palette()
    colour = (palette.accent if v.chance("bright-laces", 0.4) else f.pick("laces",
        ((232, 230, 224), (36, 34, 34), (96, 70, 48))))  # fmt: skip
    return [Part(joined(out), Material(colour, rough=0.85))]


def _height(upper: Mesh, x: float, y: float) -> float:
    """How high the upper reaches near a place."""
    gap = np.hypot(np.abs(upper.vertices[:, 0]) - x, upper.vertices[:, 1] - y)
    return float(upper.vertices[gap < gap.min() + 0.003][:, 2].max())


class _Panels:
    """An upper's panels: toe cap, heel, eyestay, stripes on the flank, lining, stitches."""

    def __init__(self, traits: Traits, last: _Last) -> None:
        f, v = traits.family, traits.variant
        palette = traits.palette(vivid=f("vivid", 0.3, 1.0), light=(0.35, 0.8))
        leather = mix((124, 78, 46), (34, 26, 24), f("dark", 0, 1))
        white: Colour = (226, 224, 218)
        formal = last.form in ("oxford", "loafer", "boot")
        base = (
            leather if formal else f.pick("base", (palette.base, white, palette.base, (44, 44, 48)))
        )
        other = (
            mix(base, (16, 14, 14), 0.25)
            if formal
            else f.pick("other", (palette.second, white, (44, 44, 48)))
        )
        self.b, self.f, self.v = last, f, v
        self.base, self.other = np.array(base, float), np.array(other, float)
        self.third = np.array(palette.accent, float)
        self.cap, self.counter = f.chance("cap", 0.6), f.chance("counter", 0.7)
        self.stripe = (
            f.pick("stripe", ("bars", "swoosh", "chevron", "disc")) if not formal else "none"
        )
        self.mesh = last.form in ("runner", "sneaker") and f.chance("mesh", 0.5)

    def __call__(self, at: Array, facing: Array) -> Array:
        """The colour of each panel."""
        b, s = self.b, self.b.sole
        x, y, z = np.abs(at[:, 0]), at[:, 1], at[:, 2] - s
        out = np.tile(self.base, (len(at), 1))
        if self.mesh:
            out *= (1 - 0.18 * (np.sin(y * 1000) * np.sin((z + x) * 1000) > 0.2))[:, None]
        edges: list[Array] = []
        if self.cap:
            edge = y + 0.072 + 0.5 * x * (self.f("cap-bend", -0.4, 0.6))
            out[edge < 0] = self.other
            edges.append(edge)
        if self.counter:
            edge = 0.078 + 0.25 * z - y
            out[edge < 0] = self.other
            edges.append(edge)
        flank = (facing[:, 2] < 0.75) & (y > -0.055) & (y < 0.075) & (z < 0.062)
        out[flank & self._emblem(y, z)] = self.third
        if b.laced:
            stay = np.hypot(np.maximum(x - 0.006, 0), np.maximum(-0.046 - y, 0)) - 0.020
            top = (y < 0.034) & (y > -0.07) & (facing[:, 2] > -0.2) & (z > 0.022)
            out[(stay < 0) & top] = self.other
            tongue = (x < 0.011) & (y < 0.034) & (y > -0.046) & (z > 0.03)
            out[tongue] = self.base * 0.86
            edges.append(np.where(top, stay, 1.0))
        else:
            edge = np.hypot(x, np.maximum(-0.03 - y, 0)) - 0.026
            saddle = (np.abs(y + 0.012) < 0.011) & (facing[:, 2] > 0.1)
            out[saddle] = self.other
            edges.append(np.where(facing[:, 2] > 0.25, edge, 1.0))
        inner = (facing[:, 0] * at[:, 0] < -0.2 * x) & (y > -0.03) & (z > 0.0)
        rim = (at[:, 2] > b.lip - 0.007) & (y > 0.02)
        out[rim] = self.other * 0.92
        for edge in edges:
            seam = np.exp(-((edge / 0.0011) ** 2))
            stitch = (np.abs(edge - 0.0034) < 0.0008) & (np.sin((y + z) * 1500) > -0.3)
            out *= (1 - 0.4 * seam)[:, None]
            out[stitch] = out[stitch] * 0.35 + 150
        out[inner] = (92, 86, 80)
        worn = noise(at, 0.03, 2) * 0.05 + noise(at, 0.004, 3) * 0.045 + noise(at, 0.0018, 4) * 0.03
        return out * (1 + worn)[:, None]

    def _emblem(self, y: Array, z: Array) -> Array:
        """The family's mark on the flank; the variant shifts and widens it a little."""
        lean, wide = (
            self.f("lean", 0.3, 1.2),
            self.f("wide", 0.004, 0.008) * self.v("wide", 0.8, 1.25),
        )
        along = y + lean * (z - 0.03) - self.v("at", -0.006, 0.010)
        if self.stripe == "bars":
            n = self.f.count("bars", 2, 4)
            step = 2.6 * wide
            return (np.abs((along + 0.5 * n * step) % step - 0.5 * step) < 0.5 * wide) & (
                np.abs(along) < 0.5 * n * step
            )
        if self.stripe == "swoosh":
            curve = z - 0.014 - 9 * np.maximum(y + 0.035, 0) ** 2
            return np.abs(curve) < wide * np.clip((y + 0.06) / 0.07, 0.1, 1)
        if self.stripe == "chevron":
            return (
                np.abs(np.abs(z - 0.030) * 1.2 - (y - self.v("at", -0.02, 0.0)) - 0.004)
                < 1.3 * wide
            )
        if self.stripe == "disc":
            gap = np.hypot(y - 0.02 - self.v("at", -0.01, 0.015), z - 0.036)
            return (gap < 0.017) & (gap > 0.008 * self.f.count("ring", 0, 1))
        return np.zeros(len(y), bool)
