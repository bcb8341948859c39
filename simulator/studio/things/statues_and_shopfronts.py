"""Statues and shopfronts."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import ball, box, joined, lathe, scaled, sheet, shifted, skin
from simulator.studio.solid.prints import CLAIMS, FACES, Sheet, prints_on
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Print, Thing
from simulator.studio.solid.soft_bodies import Limb, chain, flesh, noise, painted
from simulator.studio.solid.surfaces import bricks, dyed, granite, marble, plaster, shades
from simulator.studio.solid.surfaces import laid as covered
from simulator.studio.things.landmarks import square_lathe
from simulator.studio.things.shared_shapes import (
    BLACK,
    BRASS,
    CLEAR,
    DARK_GLASS,
    STEEL,
    Tray,
    both,
    rod,
    turning,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, ink_on, luma, mix, oklch

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
    parts = [covered(square_lathe(rows), rock)]
    if f.chance("panel", 0.6):
        tray = Tray()
        edge = Material(mix(colour, (40, 38, 36), 0.3), rough=0.6)
        w, h = half * 1.2, (high - z - 0.6) * 0.75
        tray.add(edge, *[shifted(box(w, 0.05, 0.04), 0, -half - 0.005, z + 0.4 + k * h)
            for k in (0, 1)], *[shifted(box(0.04, 0.05, h + 0.04), s * w / 2, -half - 0.005,
            z + 0.4) for s in (-1, 1)])  # fmt: skip
        parts += tray.parts()
    return parts, high - 0.03


WHITE = Material((226, 222, 212), rough=0.65)
STONE = Material((150, 146, 138), rough=0.85)
LEAF = Material((62, 96, 48), rough=0.8)
CLAY = Material((120, 72, 50), rough=0.8)
SHELF = Material((146, 108, 72), rough=0.6)

DEEP = 1.3
"""Of the whole front; the display stands behind the glass."""


def shopfront(look: Look, traits: Traits) -> Thing:
    """The shop is `label`, the sign says so; `sublabel` stands under it."""
    f, v = traits.family, traits.variant
    wide, street, high = f("wide", 5.2, 7.0), f("street", 3.3, 3.8), f("high", 6.6, 7.6)
    tray, parts = Tray(), []
    palette = traits.palette(light=(0.25, 0.6), vivid=0.8)
    wood = Material(palette.base, rough=0.4, coat=0.3)
    accent = Material(palette.accent, rough=0.4, coat=0.3)
    sign_high = f("sign", 0.78, 1.0)
    stall = f("stall", 0.35, 0.75)
    door_wide, door_left = f("door", 0.95, 1.15), f.chance("door-left")
    side = f("pilaster", 0.28, 0.42)
    top = street - sign_high - 0.1
    glass_left = -wide / 2 + side + (door_wide + 0.2 if door_left else 0)
    glass_right = wide / 2 - side - (0 if door_left else door_wide + 0.2)
    door = (glass_left - door_wide / 2 - 0.2) if door_left else (glass_right + door_wide / 2 + 0.2)
    front = -DEEP / 2
    _upper(parts, tray, traits, accent, wide, street, high, front)
    for x in (-wide / 2 + side / 2, wide / 2 - side / 2):
        tray.add(wood, shifted(box(side, 0.3, street, bevel=0.02), x, front + 0.12))
        tray.add(wood, shifted(box(side + 0.1, 0.4, 0.35, bevel=0.03), x, front + 0.12))
        tray.add(
            wood, shifted(box(side + 0.06, 0.38, 0.16, bevel=0.03), x, front + 0.12, top - 0.1)
        )
    riser = glass_right - glass_left
    middle = (glass_left + glass_right) / 2
    tray.add(wood, shifted(box(riser, 0.24, stall, bevel=0.02), middle, front + 0.2))
    tray.add(
        WHITE, shifted(box(riser + 0.04, 0.34, 0.06, bevel=0.015), middle, front + 0.18, stall)
    )
    panes = f.count("panes", 1, 4)
    bars = [shifted(box(0.06, 0.09, top - stall, bevel=0.012), glass_left + riser * k / panes,
        front + 0.22, stall) for k in range(panes + 1)]  # fmt: skip
    transom = stall + (top - stall) * f("transom", 0.74, 0.84)
    if f.chance("lights", 0.6):
        bars.append(shifted(box(riser, 0.09, 0.06, bevel=0.012), middle, front + 0.22, transom))
    tray.add(wood, *bars, shifted(box(wide - 2 * side, 0.2, 0.12, bevel=0.02), 0, front + 0.2,
        top - 0.06))  # fmt: skip
    _door(tray, wood, accent if v.chance("door") else wood, door, door_wide, top, front,
        v.chance("card"))  # fmt: skip
    _inside(tray, traits, glass_left, glass_right, stall, top, wide)
    tray.add(STONE, shifted(box(wide, DEEP, 0.03), 0, 0),
        shifted(box(wide, 0.3, 0.14, bevel=0.02), 0, front + 0.32, 0))  # fmt: skip
    if v.chance("awning", 0.5):
        _awning(tray, traits, wide - 2 * side, top, front)
    sign_parts, prints = _sign(look, traits, wide, sign_high, top + 0.06, front, palette.base)
    tray.add(wood, shifted(box(wide + 0.1, 0.5, 0.12, bevel=0.03), 0, front + 0.1,
        top + 0.06 + sign_high))  # fmt: skip
    if v.chance("lanterns", 0.6):
        for k in (-0.32, 0.32):
            arm = rod(
                (k * wide, front, street + 0.12), (k * wide, front - 0.4, street + 0.2), 0.018
            )
            shade = lathe([(0.03, 0.1), (0.05, 0.07), (0.11, 0.0)], around=20)
            tray.add(BLACK, arm, shifted(shade, k * wide, front - 0.42, street + 0.1))
    return Thing((*parts, *tray.parts(), *sign_parts), prints)


def _upper(parts: list[Part], tray: Tray, traits: Traits, accent: Material, wide: float, low: float,
    high: float, front: float) -> None:  # fmt: skip
    """The wall above with its windows, and the walls that close the sides and the back."""
    f = traits.family
    tone = oklch(f("wall", 0.62, 0.88), f("wall-chroma", 0.02, 0.07), f("wall-hue", 30, 110))
    seed = f.count("seed", 0, 2)
    wall = (plaster(tone, seed) if f.chance("plaster") else bricks(oklch(f("brick", 0.4, 0.6), 0.08,
        f("brick-hue", 25, 70)), seed))  # fmt: skip
    shell = [shifted(box(wide, DEEP - 0.3, high - low), 0, 0.15, low),
        shifted(box(wide, 0.12, low), 0, DEEP / 2 - 0.06), *[shifted(box(0.12, DEEP - 0.2, low),
        s * (wide / 2 - 0.06), 0.1) for s in (-1, 1)]]  # fmt: skip
    parts.append(covered(joined(shell), wall))
    count, w = f.count("windows", 2, 3), f("window", 0.85, 1.1)
    tall, sill = f("window-high", 1.35, 1.7), low + 0.75
    y = front + 0.3
    frame = WHITE if f.chance("white", 0.7) else BLACK
    for k in range(count):
        x = (k - (count - 1) / 2) * wide / count
        tray.add(WHITE, shifted(box(w + 0.3, 0.14, tall + 0.24, bevel=0.02), x, y, sill - 0.1))
        tray.add(DARK_GLASS, shifted(box(w, 0.04, tall), x, y - 0.07, sill))
        tray.add(frame, *[shifted(box(0.05, 0.06, tall), x + d, y - 0.09, sill)
            for d in (-w / 2, 0, w / 2)], *[shifted(box(w, 0.06, 0.05), x, y - 0.09,
            sill + tall * d - 0.02) for d in (0.0, 0.5, 1.0)])  # fmt: skip
        tray.add(WHITE, shifted(box(w + 0.4, 0.3, 0.1, bevel=0.02), x, y - 0.04, sill - 0.16))
        if traits.variant.chance("flowers", 0.4):
            pot = shifted(box(w, 0.2, 0.18, bevel=0.02), x, y - 0.15, sill - 0.06)
            tray.add(CLAY, pot)
            bloom = [ball(0.09, around=8) for _ in range(7)]
            tray.add(LEAF, *[shifted(b, x - w / 2 + 0.08 + i * (w - 0.16) / 6, y - 0.16,
                sill + 0.17) for i, b in enumerate(bloom)])  # fmt: skip
            tray.add(accent, *[shifted(ball(0.05, around=8), x - w / 2 + 0.14 + i * (w - 0.28) / 5,
                y - 0.22, sill + 0.24 + 0.03 * (i % 2)) for i in range(6)])  # fmt: skip
    tray.add(WHITE, shifted(box(wide + 0.1, 0.5, 0.12, bevel=0.03), 0, front + 0.25, high - 0.1),
        shifted(box(wide + 0.3, 0.8, 0.14, bevel=0.04), 0, front + 0.3, high))  # fmt: skip


def _door(tray: Tray, frame: Material, paint: Material, x: float, wide: float, top: float,
    front: float, card: bool) -> None:  # fmt: skip
    """Set back between the pilasters, a pane in it and one above."""
    y, high = front + 0.42, min(2.25, top - 0.25)
    tray.add(paint, shifted(box(wide, 0.05, 0.5, bevel=0.01), x, y),
        shifted(box(wide, 0.06, 0.14), x, y, high - 0.14), *[shifted(box(0.13, 0.06, high,
        bevel=0.01), x + s * (wide / 2 - 0.065), y) for s in (-1, 1)])  # fmt: skip
    tray.add(CLEAR, shifted(sheet(wide - 0.2, high - 0.6), x, y, 0.5))
    tray.add(
        BRASS, rod((x + wide * 0.36, y - 0.09, 0.95), (x + wide * 0.36, y - 0.09, 1.35), 0.014)
    )
    tray.add(frame, *[shifted(box(0.1, 0.3, top), x + s * (wide / 2 + 0.05), front + 0.3)
        for s in (-1, 1)], shifted(box(wide, 0.2, 0.08), x, y - 0.05, high))  # fmt: skip
    tray.add(DARK_GLASS, shifted(sheet(wide, top - high - 0.1), x, y - 0.02, high + 0.06))
    if card:
        tray.add(WHITE, shifted(box(0.24, 0.01, 0.3), x, y - 0.03, 1.35))


def _inside(
    tray: Tray, traits: Traits, left: float, right: float, stall: float, top: float, wide: float
) -> None:
    """A lit display: shelves with goods in the shop's colours.

    No pane stands before it: behind thin glass two light paths a pixel leave only a blur.
    """
    f, v = traits.family, traits.variant
    glow = Material((255, 226, 184), glow=1.6)
    tray.add(glow, shifted(box(wide * 0.8, 0.12, 0.03), 0, 0.05, top - 0.08))
    tray.add(Material(oklch(0.6, 0.03, f("inside", 40, 110)), rough=0.8),
        shifted(box(wide - 0.3, 0.04, top), 0, DEEP / 2 - 0.15))  # fmt: skip
    palette = traits.palette()
    kinds = [palette.base, palette.second, palette.accent, palette.light, (206, 178, 130),
        (120, 66, 48), (90, 118, 84), (232, 228, 218)]  # fmt: skip
    goods = shades(*kinds)
    levels = f.count("levels", 2, 3)
    pieces: list[Mesh] = []
    for k in range(levels):
        z = stall + 0.02 + (top - stall - 0.35) * k / levels
        tray.add(SHELF, shifted(box(right - left - 0.1, 0.34, 0.035), (left + right) / 2,
            0.02 + 0.1 * k, z))  # fmt: skip
        x, i = left + 0.2, 0
        while x < right - 0.25:
            size = v(f"size-{k}-{i}", 0.1, 0.26)
            tall = min(size * v(f"tall-{k}-{i}", 0.7, 1.6), (top - stall - 0.35) / levels - 0.08)
            one = v.pick(f"shape-{k}-{i}", (box(size, 0.2, tall, bevel=0.012),
                turning([(0, 0), (size / 2, 0), (size / 2, tall * 0.8), (size / 3, tall),
                (0, tall)], around=16)))  # fmt: skip
            pieces.append(shifted(dyed(one, v.count(f"colour-{k}-{i}", 0, 7),
                8)._replace(smooth=False), x, 0.02 + 0.1 * k, z + 0.035))  # fmt: skip
            x += size + v(f"gap-{k}-{i}", 0.03, 0.16)
            i += 1
    tray.add(goods, *pieces)


def _awning(tray: Tray, traits: Traits, wide: float, z: float, front: float) -> None:
    """Striped cloth on a slope, with a valance."""
    f, v = traits.family, traits.variant
    page = Sheet(wide, 1.4, (232, 228, 218), side=512)
    stripes = v.count("stripes", 5, 11)
    colour = traits.palette().accent
    for k in range(stripes):
        page.box(((k + 0.25) / stripes, 0, (k + 0.75) / stripes, 1), colour)
    page.grain(0.02, "cloth")
    reach, drop = f("reach", 0.9, 1.3), f("drop", 0.35, 0.55)
    x = np.linspace(-wide / 2, wide / 2, 4 * stripes + 1)
    lip = z - drop - 0.2 - 0.05 * np.abs(np.sin(np.arange(len(x)) * math.pi / 4))
    rows = [(front - reach - 0.02, lip), (front - reach, z - drop),
        (front - reach * 0.5, z - drop * 0.46), (front, z)]  # fmt: skip
    grid = [np.stack([x, np.full(len(x), y), np.broadcast_to(h, len(x))], -1) for y, h in rows]
    tray.add(Material(sheet=page.rgb, rough=0.95), skin(np.stack(grid, 1), smooth=False))
    arm = rod((wide / 2 - 0.1, front, z - drop - 0.05), (wide / 2 - 0.1, front - reach + 0.03,
        z - drop), 0.02)  # fmt: skip
    tray.add(STEEL, both(arm, axis=0), rod((-wide / 2, front - reach, z - drop),
        (wide / 2, front - reach, z - drop), 0.025))  # fmt: skip


def _sign(
    look: Look, traits: Traits, wide: float, high: float, z: float, front: float, ground: Colour
) -> tuple[list[Part], tuple[Print, ...]]:
    """The board above the window: painted letters, a line around, a small line below."""
    f = traits.family
    palette = traits.palette(light=(0.25, 0.6), vivid=0.8)
    if f.chance("light-sign", 0.4):
        ground = palette.light
    elif f.chance("dark-sign", 0.3):
        ground = palette.dark
    w = wide - 0.1
    page = Sheet(w, high, ground, side=1024)
    ink = ink_on(ground, palette)
    if luma(ground) < 120 and f.chance("gilt", 0.35):
        ink = (226, 190, 106)
    if f.chance("lined", 0.6):
        page.frame((0.012, 0.07, 0.988, 0.93), 0.02, mix(ink, ground, 0.3))
    low = 0.6 if look.sublabel else 0.86
    page.text(look.label, (0.03, 0.12, 0.97, low), ink, f.pick("face", FACES),
              instead=f.pick("instead", CLAIMS))  # fmt: skip
    soft = mix(ink, ground, 0.15)
    page.text(look.sublabel, (0.08, 0.66, 0.92, 0.89), soft, f.pick("small", FACES))
    page.grain(0.012, "fine")
    board = shifted(sheet(w, high), 0, front - 0.16, z)
    back = shifted(box(w, 0.26, high, bevel=0.01), 0, front - 0.02, z)
    parts = [Part(back, Material(ground, rough=0.5)), Part(board,
        Material(sheet=page.rgb, rough=0.45, coat=0.2))]  # fmt: skip
    return parts, prints_on(board, page)
