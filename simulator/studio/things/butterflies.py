"""Butterflies on a leaf, their wings open to whoever looks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Material, Mesh, Part, Thing, moved, turned
from simulator.studio.solid.meshes import ball, joined, posed, shifted, skin, smooth_path, tube
from simulator.studio.solid.soft import Limb, chain, flesh, noise
from simulator.studio.things.leaves import blade, chaos, green, grown, leaf_sheet, strewn
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix, oklch


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
        Part(_body(span), Material(dark, rough=0.85)),
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


def _body(span: float) -> Mesh:
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
    f, some = traits.family, chaos(traits.variant, "sprig")
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
