"""What stands in a laboratory: ball-and-stick models, microscopes, telescopes, balances."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import ball, box, joined, posed, shifted, tube
from simulator.studio.solid.scene_types import Array, Material, Thing, turned
from simulator.studio.things.shared_shapes import (
    BLACK,
    BRASS,
    CHROME,
    DARK_GLASS,
    STEEL,
    Tray,
    along_x,
    plate,
    rod,
    rounded,
    turning,
    wire,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits

ATOMS: dict[str, tuple[Colour, float, int]] = {"C": ((44, 44, 46), 1.0, 4),
    "H": ((232, 231, 226), 0.68, 1), "O": ((186, 28, 28), 0.95, 2), "N": ((40, 70, 170), 0.97, 3),
    "S": ((214, 176, 40), 1.1, 2), "Cl": ((52, 140, 60), 1.05, 1)}  # fmt: skip
"""Colour, relative size and number of bonds, as model kits have them."""
BOND = 0.062
WALNUT = Material((92, 62, 42), rough=0.35, coat=0.5)


def molecule(_look: Look, traits: Traits) -> Thing:
    """A skeleton of a ring or a chain, its free bonds filled; variants swap single atoms."""
    f, v = traits.family, traits.variant
    places, kinds, bonds = structure(f, v)
    at = np.array(places) * BOND
    pose = turned((1, 0, 0), f("tip", -35, 10)) @ turned(
        (0, 0, 1), f("turn", -25, 25) + v("turn", -9, 9)
    )
    at = at @ pose[:3, :3].T
    lowest = int(at[:, 2].argmin())
    at -= (at[:, 0].mean(), at[:, 1].mean(), 0)
    lift = 0.09 - at[lowest, 2] + f("lift", 0.0, 0.03)
    at[:, 2] += lift
    tray = Tray()
    size = f("ball", 0.014, 0.021)
    matt = f("matt", 0.15, 0.45)
    paints = {k: Material(c, rough=matt, coat=0.3) for k, (c, _, _) in ATOMS.items()}
    for kind, p in zip(kinds, at, strict=True):
        tray.add(paints[kind], shifted(ball(size * ATOMS[kind][1], around=26), *p))
    stick = Material(
        f.pick("stick", ((150, 150, 152), (206, 180, 130), (190, 190, 186))), rough=0.4
    )
    thin = f("thin", 0.0035, 0.0055)
    tray.add(stick, *[rod(tuple(at[i]), tuple(at[j]), thin) for i, j in bonds])
    _post(tray, at[lowest], f, Material(traits.palette().accent, rough=0.5))
    return Thing(tray.parts())


def structure(f: Draws, v: Draws) -> tuple[list[Array], list[str], list[tuple[int, int]]]:
    """Places (in bonds), kinds and bonds of the atoms, none of whose bonds is left free."""
    places, kinds = _skeleton(f)
    bonds = [(i, j) for i, a in enumerate(places) for j in range(i)
        if np.linalg.norm(a - places[j]) < 1.06]  # fmt: skip
    core, i = len(kinds), 0
    while i < len(kinds):  # what is hung on has bonds of its own
        ways = _free(places, bonds, i, ATOMS[kinds[i]][2])
        for k, way in enumerate(ways):
            kind = "H"
            if k == 0 and i < core:
                kind = f.pick(f"hang-{i}", ("H", "H", "H", "O", "Cl"))
                if i in (v.count("own", 0, core - 1), v.count("second", 0, core - 1)):
                    kind = v.pick(f"swap-{i}", ("O", "Cl", "N", "H"))
            bonds.append((len(places), i))
            places.append(places[i] + way * (0.86 if kind == "H" else 1.0))
            kinds.append(kind)
        i += 1
    return places, kinds, bonds


def _skeleton(f: Draws) -> tuple[list[Array], list[str]]:
    """Places (in bonds) and kinds of the heavy atoms."""
    n = f.pick("ring", (0, 5, 6, 6))
    if n:
        r = 0.5 / math.sin(math.pi / n)
        pucker = 0.16 * f.chance("pucker")
        places = [np.array([r * math.cos(2 * math.pi * i / n), pucker * (-1) ** i,
            r * math.sin(2 * math.pi * i / n)]) for i in range(n)]  # fmt: skip
    else:
        places = [
            np.array([0.816 * i, 0.0, 0.578 * (i % 2)]) for i in range(f.count("chain", 3, 5))
        ]
    kinds = ["C"] * len(places)
    if f.chance("hetero", 0.7):
        kinds[f.count("where", 0, len(places) - 1)] = f.pick("what", ("N", "O", "N", "S"))
    return places, kinds


def _free(places: list[Array], bonds: list[tuple[int, int]], i: int, most: int) -> list[Array]:
    """Directions of the bonds that an atom has left, away from those it has."""
    near = [places[b if a == i else a] - places[i] for a, b in bonds if i in (a, b)]
    free = most - len(near)
    if free <= 0:
        return []
    away = -np.sum(near, 0)
    away /= max(float(np.linalg.norm(away)), 1e-6)
    across = np.cross(near[0], near[1]) if len(near) > 1 else np.cross(near[0], (0.3, 1, 0.2))
    across /= max(float(np.linalg.norm(across)), 1e-6)
    if len(near) == 1:  # a tetrahedron's other corners
        third = np.cross(away, across)
        turns = [2 * math.pi * k / 3 for k in range(free)]
        return [0.33 * away + 0.94 * (math.cos(t) * across + math.sin(t) * third) for t in turns]
    return [away] if free == 1 else [0.58 * away + s * 0.82 * across for s in (1, -1)]


def _post(tray: Tray, top: Array, f: Draws, own: Material) -> None:
    """A foot with a coloured rim, and the rod that carries the model."""
    wooden = f.chance("wood")
    r = f("foot", 0.05, 0.065)
    foot = [(0, 0), (r - 0.002, 0), (r, 0.004), (r, 0.014), (r - 0.006, 0.02), (0.012, 0.024),
        (0.006, 0.03), (0, 0.03)]  # fmt: skip
    tray.add(WALNUT if wooden else BLACK, shifted(turning(foot, by=0.002), top[0], top[1], 0))
    tray.add(own, shifted(turning([(r + 0.0005, 0.006), (r + 0.0012, 0.009), (r + 0.0005, 0.012)],
        around=40), top[0], top[1]))  # fmt: skip
    tray.add(STEEL, rod((top[0], top[1], 0.02), (top[0], top[1], top[2]), 0.003))


def instrument(_look: Look, traits: Traits) -> Thing:
    """A microscope, a telescope on its tripod, or a balance."""
    return traits.family.pick("sort", (_microscope, _telescope, _balance))(traits)


def _microscope(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray, palette = Tray(), traits.palette(light=(0.25, 0.9), vivid=0.35)
    body = Material((228, 228, 224) if f.chance("white") else palette.base, rough=0.35, coat=0.5)
    metal = BRASS if f.chance("brass", 0.25) else CHROME
    w, h = f("wide", 0.13, 0.16), f("high", 0.3, 0.34)
    foot = plate(rounded(w, 0.2, 0.05), 0.035, bevel=0.008)
    tray.add(body, shifted(posed(foot, turned((1, 0, 0), 90)), 0, 0.0, 0.0175))
    arm = [(0, 0.07, 0.03), (0, 0.095, 0.1), (0, 0.095, h * 0.62), (0, 0.05, h * 0.8),
        (0, 0.015, h * 0.84)]  # fmt: skip
    tray.add(body, wire(arm, [0.03, 0.026, 0.024, 0.022, 0.024], around=20))
    stage = h * f("stage", 0.42, 0.48)
    tray.add(BLACK, shifted(box(0.12, 0.11, 0.012, bevel=0.003), 0, 0.0, stage))
    tray.add(BLACK, shifted(box(0.03, 0.1, 0.03, bevel=0.006), 0, 0.06, stage - 0.02))
    tray.add(DARK_GLASS, shifted(box(0.076, 0.026, 0.0012), 0.004, -0.01, stage + 0.012))
    for s in (-1, 1):
        tray.add(metal, shifted(box(0.006, 0.05, 0.003), s * 0.03, 0.0, stage + 0.013))
    light = turning([(0.028, 0), (0.028, 0.02), (0.02, 0.028), (0, 0.028)], around=28)
    tray.add(metal, shifted(light, 0, -0.01, 0.034))
    tray.add(Material((250, 240, 214), glow=0.6), shifted(turning([(0.019, 0), (0, 0.001)],
        around=24), 0, -0.01, 0.0625))  # fmt: skip
    head = turning([(0, 0), (0.03, 0), (0.036, 0.012), (0.036, 0.03), (0.03, 0.042), (0, 0.042)],
        around=32, by=0.003)  # fmt: skip
    tray.add(body, shifted(head, 0, -0.005, h * 0.8))
    turret = turning([(0, -0.02), (0.02, -0.018), (0.03, 0.0), (0, 0.0)], around=28)
    tray.add(metal, shifted(turret, 0, -0.01, h * 0.8))
    own = Material(traits.palette().accent, rough=0.4)
    for k in range(count := f.count("lenses", 3, 4)):
        long = 0.03 + 0.012 * k
        lens = turning(
            [(0.006, -long), (0.009, -long + 0.01), (0.0115, -long + 0.014), (0.0115, 0)], around=18
        )
        ring = turning([(0.012, -long + 0.018), (0.012, -long + 0.023)], around=18)
        pose = turned((0, 0, 1), 360 * k / count + 20) @ turned((0, 1, 0), 24)
        pose[:3, 3] = (0, -0.01, h * 0.79)
        tray.add(CHROME, posed(shifted(lens, 0.0, 0, -0.012), pose))
        tray.add(own if k == v.count("ring", 0, count - 1) else BLACK,
            posed(shifted(ring, 0, 0, -0.012), pose))  # fmt: skip
    tube_profile = [(0.016, 0), (0.016, 0.05), (0.019, 0.052), (0.019, 0.085), (0.015, 0.092),
        (0.011, 0.092), (0.0, 0.088)]  # fmt: skip
    double = f.chance("binocular", 0.6)
    for s in (-1, 1) if double else (0,):
        pose = turned((1, 0, 0), 38)
        pose[:3, 3] = (s * 0.027, -0.005, h * 0.8 + 0.035)
        tray.add(BLACK, posed(turning(tube_profile, around=24), pose))
    if double:
        bridge = posed(box(0.086, 0.05, 0.03, bevel=0.008), turned((1, 0, 0), 38))
        tray.add(body, shifted(bridge, 0, -0.005, h * 0.8 + 0.03))
    knob = along_x(turning([(0, -0.07), (0.022, -0.07), (0.022, -0.052), (0.012, -0.05),
        (0.012, 0.05), (0.022, 0.052), (0.022, 0.07), (0, 0.07)], around=26))  # fmt: skip
    tray.add(BLACK, shifted(knob, 0, 0.095, f("knob", 0.07, 0.09)))
    return Thing(tray.parts())


def _telescope(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray, palette = Tray(), traits.palette(light=(0.22, 0.95), vivid=0.35)
    brass = f.chance("brass", 0.5)
    metal = BRASS if brass else CHROME
    body = ((WALNUT if f.chance("wood", 0.4) else BRASS) if brass
        else Material(palette.base, rough=0.25, coat=0.8))  # fmt: skip
    long, r, high = f("long", 0.42, 0.55), f("wide", 0.024, 0.034), f("high", 0.27, 0.34)
    shade = long * 0.72
    tube_ = [(r * 0.5, -long * 0.3), (r * 0.55, -long * 0.16), (r * 0.9, -long * 0.15),
        (r * 0.9, -long * 0.1), (r, -long * 0.1), (r, shade * 0.78), (r * 1.22, shade * 0.79),
        (r * 1.22, shade), (r * 1.12, shade), (r * 1.1, shade - 0.03)]  # fmt: skip
    eye = [(0.0, -long * 0.41), (r * 0.34, -long * 0.41), (r * 0.42, -long * 0.38),
        (r * 0.42, -long * 0.31), (r * 0.5, -long * 0.3)]  # fmt: skip
    rings = [shifted(turning([(r * 1.0, 0), (r * 1.09, 0.001), (r * 1.09, w), (r, w + 0.001)],
        around=36), 0, 0, at * long) for at, w in ((0.02, 0.012), (0.18, 0.012),
        (v("ring", 0.3, 0.48), 0.007 + 0.01 * v("ring-wide")))]  # fmt: skip
    pose = turned((0, 0, 1), -8) @ turned((0, 1, 0), 90 - f("up", 12, 32))
    pose[:3, 3] = (-0.03, 0, high + 0.04)
    tray.add(body, posed(turning(tube_, around=36), pose))
    own = turning([(r * 1.22, 0), (r * 1.25, 0.002), (r * 1.25, 0.008 + 0.014 * v("own")),
        (r * 1.22, 0.024)], around=36)  # fmt: skip
    tray.add(
        Material(traits.palette().accent, rough=0.4), posed(shifted(own, z=shade * 0.82), pose)
    )
    tray.add(DARK_GLASS, posed(shifted(turning([(r * 1.1, 0), (0, 0.006)], around=32),
        z=shade - 0.03), pose))  # fmt: skip
    tray.add(metal, posed(joined([turning(eye, around=28), *rings]), pose))
    finder = [(0.007, 0), (0.007, 0.09), (0.01, 0.092), (0.01, 0.12), (0.008, 0.12), (0.0, 0.115)]
    tray.add(BLACK if not brass else metal, posed(shifted(turning(finder, around=18), -r - 0.016, 0,
        0.0), pose))  # fmt: skip
    for at in (0.015, 0.075):
        tray.add(metal, posed(rod((-r, 0, at), (-r - 0.016, 0, at), 0.003), pose))
    cup = turning(
        [(0.0, 0), (0.022, 0), (0.026, 0.012), (0.014, 0.03), (0.012, 0.05), (0, 0.05)], around=26
    )
    tray.add(metal, shifted(cup, 0, 0, high - 0.02))
    wooden = WALNUT if brass or f.chance("wooden-legs") else STEEL
    spread = high * f("spread", 0.45, 0.6)
    for k in range(3):
        a = 2 * math.pi * k / 3 + 0.5
        c, s = math.cos(a), math.sin(a)
        tray.add(wooden, tube([(0.018 * c, 0.018 * s, high - 0.01),
            (spread * c, spread * s, 0.012)], [0.011, 0.0085], around=8))  # fmt: skip
        tray.add(metal, tube([(spread * c, spread * s, 0.014),
            (spread * c * 1.02, spread * s * 1.02, 0.0)], [0.0095, 0.004], around=8))  # fmt: skip
        tray.add(metal, rod((0, 0, high * 0.45), (spread * 0.56 * c, spread * 0.56 * s,
            high * 0.45), 0.003, around=6))  # fmt: skip
    return Thing(tray.parts())


def _balance(traits: Traits) -> Thing:
    """Two pans hung from a beam."""
    f, v = traits.family, traits.variant
    tray = Tray()
    metal = BRASS if f.chance("brass", 0.7) else CHROME
    base = (
        WALNUT if f.chance("wood", 0.6) else Material(traits.palette().dark, rough=0.25, coat=0.8)
    )
    high, half, drop = f("high", 0.33, 0.4), f("half", 0.14, 0.18), f("drop", 0.17, 0.21)
    if f.chance("round", 0.45):
        foot = [(0, 0), (0.098, 0), (0.1, 0.004), (0.097, 0.016), (0.085, 0.022), (0.08, 0.034),
            (0.03, 0.05), (0, 0.05)]  # fmt: skip
        tray.add(base, turning(foot, around=44, by=0.002))
    else:
        w, d = f("base", 0.22, 0.32), f("deep", 0.13, 0.17)
        tray.add(base, box(w, d, 0.035, bevel=0.006), shifted(box(w - 0.04, d - 0.03, 0.015,
            bevel=0.004), 0, 0, 0.034))  # fmt: skip
    post = [(0.035, 0.048), (0.03, 0.055), (0.014, 0.075), (0.01, 0.1), (0.009, high * 0.5),
        (0.014, high * 0.52), (0.014, high * 0.55), (0.009, high * 0.57), (0.008, high * 0.93),
        (0.016, high * 0.96), (0.012, high), (0.004, high + 0.02), (0.007, high + 0.03),
        (0, high + 0.04)]  # fmt: skip
    tray.add(metal, turning(post, around=28))
    tilt = v("tilt", -5, 5)
    beam = [(-half, -0.004), (-half * 0.5, -0.006), (0, -0.014), (half * 0.5, -0.006),
        (half, -0.004), (half, 0.004), (half * 0.5, 0.009), (0, 0.02), (-half * 0.5, 0.009),
        (-half, 0.004)]  # fmt: skip
    lean = turned((0, 1, 0), tilt)
    lean[:3, 3] = (0, -0.012, high - 0.01)
    if f.chance("bowed", 0.4):
        bow = [(-half, 0, 0), (-half * 0.6, 0, 0.022), (0, 0, 0.0), (half * 0.6, 0, 0.022),
            (half, 0, 0)]  # fmt: skip
        tray.add(metal, posed(wire(bow, [0.003, 0.0055, 0.008, 0.0055, 0.003]), lean))
    else:
        tray.add(metal, posed(plate(beam, 0.006, bevel=0.0015), lean))
    tray.add(STEEL, posed(plate([(-0.004, 0.01), (0, -drop * 0.75), (0.004, 0.01)], 0.003,
        (0, -0.006, 0)), lean))  # fmt: skip
    scale = plate([(-0.04, 0), (0.04, 0), (0.036, 0.026), (-0.036, 0.026)], 0.003,
        (0, -0.014, high - 0.03 - drop * 0.75), bevel=0.001)  # fmt: skip
    tray.add(Material((228, 222, 200), rough=0.4), scale)
    r = f("pan", 0.055, 0.066)
    dish = turning([(0, 0), (r * 0.5, 0.002), (r * 0.85, 0.008), (r, 0.018), (r * 1.03, 0.018),
        (r * 0.87, 0.006), (r * 0.5, -0.001), (0, -0.002)], around=36)  # fmt: skip
    for s in (-1, 1):
        hook = lean[:3, :3] @ np.array((s * half, 0, 0)) + lean[:3, 3]
        low = hook[2] - drop
        tray.add(metal, shifted(dish, hook[0], hook[1], low))
        for k in range(3):
            a = 2 * math.pi * k / 3 + 0.4
            edge = (hook[0] + r * math.cos(a), hook[1] + r * math.sin(a), low + 0.018)
            tray.add(metal, rod(edge, (hook[0], hook[1], hook[2] - 0.01), 0.0009, around=4))
        if v.chance(f"weight-{s}", 0.6):
            w = v(f"size-{s}", 0.011, 0.017)
            weight = turning([(w, 0), (w, w * 1.5), (w * 0.5, w * 1.7), (w * 0.35, w * 1.9),
                (w * 0.6, w * 2.3), (0, w * 2.5)], around=20)  # fmt: skip
            tray.add(
                BRASS if metal is CHROME else CHROME, shifted(weight, hook[0], hook[1], low + 0.001)
            )
    return Thing(tray.parts())
