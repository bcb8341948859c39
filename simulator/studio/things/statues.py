"""Statues of people on a plinth, in bronze or stone."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Part, Thing
from simulator.studio.solid.meshes import box, scaled, shifted
from simulator.studio.solid.soft import Limb, chain, flesh, noise, painted
from simulator.studio.solid.surfaces import granite, marble
from simulator.studio.solid.surfaces import laid as covered
from simulator.studio.things.making import Tray
from simulator.studio.things.towers import squared
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits, mix, oklch

CELL = 0.025


def statue(_look: Look, traits: Traits) -> Thing:
    """The family decides dress, stance and material; variants what the hands hold and do."""
    f, v = traits.family, traits.variant
    limbs = [*_dress(f), *_head(f, v), *_arms(f, v)]
    folds = f.count("folds", 9, 17)
    deep = f("deep", 0.008, 0.018)

    def drape(at: Array) -> Array:
        """Folds run down what hangs, and the whole is a little rough."""
        turn = np.arctan2(at[:, 1], at[:, 0])
        low = np.clip((1.25 - at[:, 2]) / 0.5, 0, 1) * (np.hypot(at[:, 0], at[:, 1]) < 0.38)
        wave = np.sin(folds * turn + 3.1 * at[:, 2] + 1.5 * np.sin(4 * at[:, 2] + turn))
        return deep * low * wave + 0.004 * noise(at, 0.06, 3)

    body = flesh(limbs, CELL, unevenness=drape)
    size = f("size", 1.15, 1.45)
    body.vertices[:, 2] = np.maximum(body.vertices[:, 2], 0)  # the hem stands flat
    body = scaled(body, size, size, size)
    plinth, high = _plinth(traits)
    bronze = f.chance("bronze", 0.55)
    mesh, sheet = painted(body, _bronze(f) if bronze else _stone(f), side=512)
    material = Material(
        sheet=sheet,
        rough=0.42 if bronze else 0.75,
        metal=0.75 if bronze else 0.0,
        grain="metal" if bronze else "stone",
    )
    return Thing.of(*plinth, Part(shifted(mesh, z=high), material))


def _bronze(f: Draws):
    """Brown metal, green where rain runs and stays, bright where it is touched."""
    brown = np.array(oklch(f("brown", 0.36, 0.5), 0.05, f("brown-hue", 55, 85)))
    green = np.array(oklch(f("green", 0.52, 0.64), 0.05, f("green-hue", 160, 185)))
    share = f("patina", 0.0, 1.0)

    def paint(at: Array, facing: Array) -> Array:
        streak = noise(at, (0.08, 0.08, 0.7), 5)
        wet = np.clip((streak + 0.5 * facing[:, 2]) * 0.8 + share - 0.35, 0, 1)[:, None]
        return (brown + (green - brown) * wet) * (1 + 0.09 * streak)[:, None]

    return paint


def _stone(f: Draws):
    """Pale stone, darker where it is sheltered and where water has run."""
    pale = np.array(
        oklch(f("pale", 0.74, 0.9), f("pale-chroma", 0.005, 0.035), f("pale-hue", 60, 100))
    )

    def paint(at: Array, facing: Array) -> Array:
        soot = np.clip(0.5 - facing[:, 2], 0, 1) * 0.16 + 0.09 * noise(at, (0.07, 0.07, 0.6), 5)
        speck = 0.06 * noise(at, 0.03, 11)
        return pale * (1 - np.clip(soot, -0.05, 0.4) + speck)[:, None]

    return paint


def _dress(f: Draws) -> list[Limb]:
    """Robe, coat or breeches, with or without a cloak, the weight on one leg."""
    sway = 0.03 * (1 if f.chance("left") else -1)
    hip, chest = (sway, 0.0, 0.96), (0.0, 0.0, 1.36)
    out = [Limb(hip, chest, (0.15, 0.185), 0.05, (0, 1, 0), 1.45),
        Limb((-0.15, 0, 1.44), (0.15, 0, 1.44), (0.085, 0.085), 0.07)]  # fmt: skip
    sort = f.pick("dress", ("robe", "coat", "breeches", "robe"))
    if sort == "coat":  # its skirts end at the knee: what is below is cut off, then come the legs
        wide = f("coat", 0.25, 0.3)
        out += [Limb((sway, 0.02, 0.45), (sway, 0, 1.05), (wide, 0.16), 0.05, (0, 1, 0), 1.25)]
        out += [Limb((0, 0, f("knee", -1.85, -1.72)), (0, 0, -1.9), (2.3, 2.3), carve=True)]
    if sort == "robe":
        wide = f("hem", 0.24, 0.31)
        out += [
            Limb((sway * 0.5, 0, -0.12), (sway, 0, 1.0), (wide * 1.08, 0.15), 0.06, (0, 1, 0), 1.2)
        ]
    else:
        for s in (-1, 1):
            bent = 0.1 if s * sway < 0 else 0.0
            out += chain([(s * 0.1 + sway, 0, 0.95), (s * 0.12 + sway * 0.5, -bent, 0.52),
                (s * 0.13, -bent * 0.3, 0.08)], [0.105, 0.075, 0.058], 0.03)  # fmt: skip
            out += [Limb((s * 0.13, -bent * 0.3, 0.06), (s * 0.16, -bent * 0.3 - 0.17, 0.045),
                (0.055, 0.05), 0.03)]  # fmt: skip
    if f.chance("cloak", 0.55):
        long = f("cloak-long", 0.12, 0.6)
        side = f("cloak-side", -0.1, 0.1)
        out += [Limb((side, 0.19, long), (0, 0.12, 1.42), (0.3, 0.19), 0.06, (0, 1, 0.1), 3.2)]
    if sort == "robe" and f.chance("sash", 0.5):
        out += chain([(-0.16, -0.06, 1.42), (0.0, -0.17, 1.12), (0.15, -0.12, 0.9)],
            [0.045, 0.06, 0.05], 0.02)  # fmt: skip
    if sort == "robe":  # the toes look out under the hem
        out += [Limb((s * 0.11, -0.15, 0.03), (s * 0.13, -0.3, 0.03), (0.05, 0.045), 0.03)
            for s in (-1, 1)]  # fmt: skip
    return out


def _head(f: Draws, v: Draws) -> list[Limb]:
    turn = v("look", -0.045, 0.045)
    at = (turn * 0.3, -0.015, 1.66)
    face = at[0] + turn * 0.6  # neck, skull, brow, nose and chin:
    out = [
        Limb((0, 0.01, 1.46), (turn * 0.3, 0, 1.6), (0.062, 0.056), 0.03),
        Limb((at[0], at[1], 1.63), (at[0], at[1] + 0.02, 1.7), (0.085, 0.1), 0.04),
        Limb((face - 0.05, -0.082, 1.7), (face + 0.05, -0.082, 1.7), (0.024, 0.024), 0.02),
        Limb((face, -0.1, 1.69), (face, -0.128, 1.645), (0.016, 0.024), 0.012),
        Limb((at[0] + turn * 0.4, -0.075, 1.58), (face, -0.09, 1.585), (0.036, 0.032), 0.02),
    ]
    for s in (-1, 1):  # the shade of the eyes
        eye = (face + s * 0.04, -0.118, 1.668)
        out.append(Limb(eye, eye, (0.026, 0.026), 0.01, carve=True))
    top = f.pick("hair", ("short", "long", "hat", "wreath", "beard", "hood"))
    if top in ("short", "beard", "wreath"):
        out += [Limb((at[0], 0.03, 1.72), (at[0], -0.03, 1.755), (0.095, 0.07), 0.02)]
    if top == "wreath":
        out += [Limb((at[0] + 0.105 * math.cos(a), 0.01 + 0.11 * math.sin(a), 1.735),
            (at[0] + 0.11 * math.cos(a + 0.3), 0.01 + 0.115 * math.sin(a + 0.3), 1.76),
            (0.024, 0.016), 0.01) for a in np.arange(0, 6.2, 0.5)]  # fmt: skip
    if top == "beard":
        out += [Limb((at[0], -0.09, 1.6), (at[0], -0.11, 1.48), (0.055, 0.025), 0.03)]
    if top == "long":
        out += [Limb((at[0] - 0.08, 0.03, 1.72), (-0.11, 0.05, 1.45), (0.06, 0.05), 0.03),
            Limb((at[0] + 0.08, 0.03, 1.72), (0.11, 0.05, 1.45), (0.06, 0.05), 0.03),
            Limb((at[0], 0.04, 1.74), (at[0], -0.02, 1.76), (0.09, 0.07), 0.02)]  # fmt: skip
    if top == "hat":
        brim = f("brim", 0.14, 0.18)
        out += [Limb((at[0], 0.0, 1.745), (at[0], 0.0, 1.755), (brim, brim), 0.01, (0, 0, 1), 4.5),
            Limb((at[0], 0.01, 1.76), (at[0], 0.01, 1.76 + f("crown", 0.06, 0.14)), (0.095, 0.08),
            0.02)]  # fmt: skip
    if top == "hood":
        out += [Limb((at[0], 0.05, 1.66), (at[0], 0.0, 1.76), (0.125, 0.1), 0.02),
            Limb((at[0], 0.08, 1.5), (at[0], 0.06, 1.62), (0.13, 0.12), 0.04)]  # fmt: skip
    return out


def _arms(f: Draws, v: Draws) -> list[Limb]:
    """Each arm hangs, bends, points or is raised; a hand may hold something."""
    sleeve = f("sleeve", 0.06, 0.085)
    stances: dict[str, tuple[tuple[float, float, float], tuple[float, float,
        float]]] = {"down": ((0.27, -0.01, 1.16), (0.27, -0.1, 0.93)),
        "bent": ((0.29, 0.0, 1.17), (0.2, -0.26, 1.14)), "out": ((0.34, -0.12, 1.25),
        (0.46, -0.36, 1.34)), "up": ((0.38, -0.06, 1.52), (0.42, -0.16, 1.83)),
        "hip": ((0.36, 0.05, 1.18), (0.19, -0.02, 1.02)), "heart": ((0.28, -0.08, 1.17),
        (0.06, -0.24, 1.27))}  # fmt: skip
    right = f.pick("right", ("out", "up", "bent", "bent", "heart"))
    left = v.pick("left", ("down", "hip", "bent", "heart"))
    out: list[Limb] = []
    hands: list[tuple[float, float, float]] = []
    for s, name in ((-1, right), (1, left)):
        (ex, ey, ez), (hx, hy, hz) = stances[name]
        elbow, hand = (s * ex, ey, ez), (s * hx, hy, hz)
        out += chain(
            [(s * 0.2, 0, 1.43), elbow, hand], [sleeve * 1.05, sleeve * 0.9, sleeve * 0.62], 0.02
        )
        reach = np.array(hand) - np.array(elbow)
        tip = np.array(hand) + reach / np.linalg.norm(reach) * 0.09
        out += [Limb(hand, tuple(tip.tolist()), (0.042, 0.034), 0.02)]
        hands.append(tuple((np.array(hand) * 0.3 + tip * 0.7).tolist()))
    (x, y, z), held = (hands[0], v.pick("held", ("staff", "book", "scroll", "sword", "nothing",
        "orb")))  # fmt: skip
    if held == "staff":
        out += [Limb((x, y, 0.03), (x, y, z + 0.45), (0.032, 0.03), 0.0),
            Limb((x, y, z + 0.47), (x, y, z + 0.5), (0.045, 0.045), 0.02)]  # fmt: skip
    elif held == "book":
        out += [Limb((x - 0.07, y - 0.03, z + 0.04), (x + 0.08, y - 0.03, z + 0.04), (0.09, 0.09),
            0.0, (0.1, 0.5, 1.0), 3.0)]  # fmt: skip
    elif held == "scroll":
        out += [Limb((x - 0.12, y, z + 0.03), (x + 0.12, y, z + 0.03), (0.036, 0.036), 0.0)]
    elif held == "sword":
        out += [Limb((x, y, z + 0.1), (x - 0.05, y - 0.05, z - 0.75), (0.036, 0.03), 0.0),
            Limb((x - 0.11, y, z - 0.03), (x + 0.11, y, z - 0.03), (0.03, 0.03), 0.0)]  # fmt: skip
    elif held == "orb":
        out += [Limb((x, y, z + 0.08), (x, y, z + 0.09), (0.085, 0.085), 0.0)]
    return out


def _plinth(traits: Traits) -> tuple[list[Part], float]:
    """Steps, a base, a block and a cornice, square or with a slab."""
    f = traits.family
    half, high = f("half", 0.5, 0.68), f("plinth", 1.2, 2.3)
    colour = oklch(
        f("plinth-level", 0.45, 0.82), f("plinth-chroma", 0.005, 0.04), f("plinth-hue", 20, 100)
    )
    rock = (granite if f.chance("granite", 0.6) else marble)(colour, f.count("seed", 0, 2))
    step = f("step", 0.12, 0.2)
    rows = [(half + 0.42, 0.0), (half + 0.42, step), (half + 0.4, step + 0.015),
        (half + 0.22, step + 0.015), (half + 0.22, 2 * step),
        (half + 0.2, 2 * step + 0.015)]  # fmt: skip
    z = 2 * step + 0.015
    rows += [(half + 0.1, z), (half + 0.1, z + 0.14), (half + 0.07, z + 0.17),
        (half + 0.02, z + 0.24), (half, z + 0.28)]  # fmt: skip
    rows += [(half * f("taper", 0.9, 1.0), high - 0.2), (half + 0.04, high - 0.14),
        (half + 0.1, high - 0.1), (half + 0.1, high - 0.02), (half + 0.08, high),
        (0, high)]  # fmt: skip
    parts = [covered(squared(rows), rock)]
    if f.chance("panel", 0.6):
        tray = Tray()
        edge = Material(mix(colour, (40, 38, 36), 0.3), rough=0.6)
        w, h = half * 1.2, (high - z - 0.6) * 0.75
        tray.add(edge, *[shifted(box(w, 0.05, 0.04), 0, -half - 0.005, z + 0.4 + k * h)
            for k in (0, 1)], *[shifted(box(0.04, 0.05, h + 0.04), s * w / 2, -half - 0.005,
            z + 0.4) for s in (-1, 1)])  # fmt: skip
        parts += tray.parts()
    return parts, high - 0.03
