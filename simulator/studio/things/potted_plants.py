"""Green plants in pots."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import joined, smooth_path, tube
from simulator.studio.solid.scene_types import Material, Mesh, Part, Thing
from simulator.studio.solid.soft_bodies import vec
from simulator.studio.things.leaves import (
    GOLDEN,
    blade,
    green,
    grown,
    leaf_sheet,
    on_path,
    pot,
    seeded,
    strewn,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits, mix, oklch


def houseplant(_: Look, traits: Traits) -> Thing:
    """A green plant in its pot, 30 to 60 cm high."""
    f = traits.family
    habit = f.pick(
        "habit", ("paddles", "swords", "fern", "palm", "rubber", "trailing", "fountain", "fingers")
    )
    wide = f("pot-size", 0.085, 0.12)
    vessel = pot(traits, wide, wide * f("pot-tall", 1.3, 1.9))
    root = float(vessel[0].mesh.vertices[:, 2].max()) * 0.88
    leaf = _leaf_of(traits, habit)
    grow = {"rubber": _on_stems, "trailing": _trailing, "fern": _fronds, "palm": _fronds}.get(
        habit, _from_foot
    )
    return Thing.of(
        *vessel,
        *(
            Part(mesh, leaf if i == 0 else _stalk(traits))
            for i, mesh in enumerate(grow(traits, habit, root, wide))
        ),
    )


def _stalk(traits: Traits) -> Material:
    return Material(mix(green(traits), (140, 120, 70), traits.family("woody", 0.1, 0.6)), rough=0.6)


def _leaf_of(traits: Traits, habit: str) -> Material:
    """The leaf's look: plain, variegated, striped or blotched."""
    f, v = traits.family, traits.variant
    colour = green(traits, light=(0.34, 0.58))
    pale = mix(colour, oklch(0.88, 0.06, f("pale-hue", 95, 130)), f("pale", 0.5, 0.95))
    mark = f.pick("mark", ("plain", "margin", "stripes", "blotch", "veins"))
    sheet = leaf_sheet(
        colour,
        pale,
        veins=0.75 if mark == "veins" else f("veins", 0.08, 0.35),
        margin=v("margin", 0.16, 0.36) if mark == "margin" else 0,
        stripes=v("stripes", 0.45, 0.8) if mark == "stripes" or habit == "swords" else 0,
        blotch=v("blotch", 0.25, 0.8) if mark == "blotch" else 0,
        key=v.count("key", 0, 999),
    )
    return Material(sheet=sheet, rough=f("leaf-rough", 0.25, 0.6), coat=0.15)


def _from_foot(traits: Traits, habit: str, root: float, wide: float) -> list[Mesh]:
    """Leaves that rise from the soil, on stalks or not."""
    f, some = traits.family, seeded(traits.variant, "leaves")
    low, high, slim, broad, bend = {"paddles": (9, 15, 0.5, 0.85, 60.0),
        "swords": (9, 15, 0.10, 0.16, 6.0), "fountain": (26, 40, 0.045, 0.075, 120.0),
        "fingers": (9, 14, 0.7, 0.95, 50.0)}[habit]  # fmt: skip
    n = f.count("leaves", low, high)
    long = traits.near("long", 0.24, 0.36, 0.1) * {"paddles": 0.62, "fingers": 0.62}.get(habit, 1.0)
    leaf = blade(
        long,
        long * f("broad", slim, broad),
        base=f("base", 0.3, 0.6),
        tip=f("tip", 0.5, 0.9),
        bend=bend * f("bend", 0.7, 1.2),
        fold=f("fold", 0.1, 0.4),
        wave=f("wave", 0, 0.12),
        lobes=f("lobes", 0.45, 0.7) if habit == "fingers" else 0.0,
        steps=(4, 14 if habit == "fingers" else 9),
    )
    turn = np.arange(n) * GOLDEN + some.uniform(-14, 14, n)
    a, t = np.radians(turn), np.sqrt((np.arange(n) + 0.5) / n)
    foot = np.stack(
        [-np.sin(a) * t * wide * 0.5, np.cos(a) * t * wide * 0.5, np.full(n, root - 0.01)], -1
    )
    rise = {"swords": 88 - 12 * t, "fountain": 78 - 34 * t}.get(habit, 78 - 40 * t) + some.uniform(
        -6, 6, n
    )
    size = some.uniform(0.8, 1.1, n)
    if habit in ("swords", "fountain"):
        return [strewn(leaf, grown(foot, turn, rise, size, some.uniform(-40, 40, n)))]
    stalks, tops = [], []
    for i in range(n):
        reach = long * some.uniform(0.55, 1.0)
        ahead = grown(foot[i], turn[i], rise[i])[0, :3, 1]
        top = foot[i] + ahead * reach
        stalks.append(
            tube(
                smooth_path(
                    np.array([foot[i], foot[i] + ahead * reach * 0.5 + (0, 0, 0.02), top]), 4
                ),
                0.0026,
                around=7,
            )
        )
        tops.append(top)
    return [strewn(leaf, grown(np.array(tops), turn, rise - 52, size)), joined(stalks)]


def _on_stems(traits: Traits, _: str, root: float, wide: float) -> list[Mesh]:
    """A little tree: leaves around a few upright stems."""
    f, some = traits.family, seeded(traits.variant, "stems")
    stems, at, turns, rises, sizes = [], [], [], [], []
    long = traits.near("long", 0.10, 0.16, 0.1)
    for i in range(f.count("stems", 1, 3)):
        a = math.radians(120 * i + some.uniform(0, 60))
        high = traits.near("high", 0.26, 0.4, 0.15) * some.uniform(0.75, 1.0)
        foot = np.array([0.25 * wide * math.cos(a), 0.25 * wide * math.sin(a), root - 0.01])
        path = smooth_path(
            np.array(
                [
                    foot,
                    foot + vec(0.02 * math.cos(a), 0.02 * math.sin(a), 0.5 * high),
                    foot + vec(0.05 * math.cos(a), 0.05 * math.sin(a), high),
                ]
            ),
            8,
        )
        stems.append(tube(path, (0.006, 0.003), around=8))
        n = f.count("leaves", 9, 15)
        t = np.linspace(0.18, 1, n)
        where = on_path(path, t)
        at.append(where)
        turns.append(np.arange(n) * GOLDEN + some.uniform(0, 360))
        rises.append(20 + 50 * t + some.uniform(-10, 10, n))
        sizes.append((1.05 - 0.45 * t) * some.uniform(0.85, 1.1, n))
    leaf = blade(
        long,
        long * f("broad", 0.42, 0.62),
        base=f("base", 0.5, 0.8),
        tip=f("tip", 0.4, 0.8),
        bend=f("bend", 20, 70),
        fold=f("fold", 0.1, 0.3),
    )
    poses = grown(
        np.concatenate(at), np.concatenate(turns), np.concatenate(rises), np.concatenate(sizes)
    )
    return [strewn(leaf, poses), joined(stems)]


def _trailing(traits: Traits, _: str, root: float, wide: float) -> list[Mesh]:
    """Runners that climb over the rim and hang."""
    f, some = traits.family, seeded(traits.variant, "runners")
    runners, poses = [], []
    long = traits.near("long", 0.05, 0.085, 0.1)
    for i in range(f.count("runners", 9, 14)):
        a = math.radians(i * GOLDEN)
        out = np.array([math.cos(a), math.sin(a), 0])
        drop = some.uniform(0.2, 0.95) * root
        lift = some.uniform(0.05, 0.16)
        knots = np.array(
            [
                out * wide * 0.3 + (0, 0, root - 0.01),
                out * wide * 0.75 + (0, 0, root + lift),
                out * wide * 1.25 + (0, 0, root + 0.5 * lift),
                out * wide * (1.3 + 0.2 * some.random()) + (0, 0, root - 0.6 * drop + 0.02),
                out * wide * 1.35 + (0, 0, root - drop + 0.03),
            ]
        )
        path = smooth_path(knots, 6)
        runners.append(tube(path, (0.0025, 0.0015), around=6))
        n = 12
        t = np.linspace(0.08, 1, n)
        at = on_path(path, t)
        turn = math.degrees(a) - 90 + np.where(np.arange(n) % 2, 55, -55) + some.uniform(-25, 25, n)
        poses.append(grown(at, turn, some.uniform(-15, 35, n), some.uniform(0.7, 1.15, n)))
    leaf = blade(
        long,
        long * f("broad", 0.7, 1.0),
        base=f("base", 0.3, 0.5),
        tip=f("tip", 0.7, 1.0),
        bend=45,
        fold=0.15,
        lobes=f.pick("lobes", (0.0, 0.0, 0.3)),
    )
    return [strewn(leaf, np.concatenate(poses)), joined(runners)]


def _fronds(traits: Traits, habit: str, root: float, wide: float) -> list[Mesh]:
    """Feathers: leaflets along both sides of an arching rib."""
    f, some = traits.family, seeded(traits.variant, "fronds")
    palm = habit == "palm"
    n = f.count("fronds", 8, 12) if palm else f.count("fronds", 16, 26)
    length = traits.near("long", 0.32, 0.44, 0.1)
    each = f.count("leaflets", 11, 16) if palm else f.count("leaflets", 18, 26)
    slim = f("leaflet", 0.10, 0.16) if palm else f("leaflet", 0.22, 0.34)
    bend = math.radians(f("bend", 55, 85) if palm else f("bend", 85, 125))
    t = np.linspace(0, 1, 25)
    angle = -bend * t**1.3
    spine = (
        np.stack([np.zeros(25), np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle))], -1)
        * length
        / 25
    )
    rib = tube(spine, (0.0032, 0.001), around=6)
    q = np.linspace(0.3 if palm else 0.12, 0.99, each)
    where = np.stack([np.interp(q, t, spine[:, j]) for j in range(3)], -1)
    tilt = np.degrees(np.interp(q, t, angle))
    size = (
        np.sin(math.pi * (0.16 + 0.8 * q) ** (0.8 if palm else 0.7))
        * length
        * (0.42 if palm else 0.22)
    )
    leaflet = blade(1.0, slim, base=0.35, tip=0.8, bend=35 if palm else 10, fold=0.2, steps=(2, 4))
    sides = [
        grown(where, side * (52 if palm else 74), tilt * 0.55 + 14, size, side * -12)
        for side in (-1, 1)
    ]
    frond = strewn(leaflet, np.concatenate(sides))
    turn = np.arange(n) * GOLDEN + some.uniform(-10, 10, n)
    rise = 84 - 46 * np.sqrt(np.arange(n) / n) + some.uniform(-7, 7, n)
    foot = np.stack(
        [-np.sin(np.radians(turn)), np.cos(np.radians(turn)), np.zeros(n)], -1
    ) * wide * 0.2 + (0, 0, root - 0.01)
    poses = grown(foot, turn, rise, some.uniform(0.75, 1.08, n))
    return [strewn(frond, poses), strewn(rib, poses)]
