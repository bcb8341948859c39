"""Pairs of shoes: soft uppers painted by panels, soles cut from an outline, laces."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.meshes import extrude, joined, posed, scaled, shifted, smooth_path, tube
from simulator.studio.solid.soft import Limb, flesh, noise, painted, vec
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix


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
