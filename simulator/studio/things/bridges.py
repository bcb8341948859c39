"""Bridges over water: stone arches, trusses, suspended and stayed ones. Water is at z = 0."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Thing, turned
from simulator.studio.solid.meshes import box, joined, posed, shifted, tube
from simulator.studio.solid.surfaces import laid as covered
from simulator.studio.things.making import STEEL, Tray, both, plate, rod
from simulator.studio.things.towers import squared, stone
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Traits, mix, oklch

TAR = Material((70, 70, 72), rough=0.9)


def bridge(_look: Look, traits: Traits) -> Thing:
    """From 50 to 120 metres; the family decides how it carries, variants trim and lamps."""
    return traits.family.pick("sort", (_arches, _suspended, _stayed, _truss))(traits)


def _lamps(tray: Tray, traits: Traits, length: float, half: float, road: Array | float) -> None:
    """Lamp posts along both sides, by which look-alikes differ."""
    v = traits.variant
    count, high = v.count("lamps", 4, 8), v("lamp-high", 3.4, 5.0)
    paint = (Material(traits.palette().accent, rough=0.5) if v.chance("painted")
        else Material((52, 54, 56), rough=0.5))  # fmt: skip
    globe = Material((236, 232, 222), rough=0.3)
    for i in range(count):
        x = (-0.5 + (i + 0.5) / count) * length * 0.94
        z = float(
            np.interp(x, np.linspace(-length / 2, length / 2, np.size(road)), np.atleast_1d(road))
        )
        tray.add(paint, both(rod((x, half, z), (x, half, z + high), [0.11, 0.07], around=7)))
        tray.add(globe, both(shifted(box(0.5, 0.5, 0.6, bevel=0.18), x, half, z + high)))


def _arches(traits: Traits) -> Thing:
    """Stone: round or flat arches between piers with cutwaters, the road rising to the middle."""
    f = traits.family
    count = f.count("arches", 2, 5)
    span, pier, half = f("span", 13, 19), f("pier", 2.2, 3.6), f("half", 3.4, 5.0)
    rise = span * f("rise", 0.32, 0.5)
    spring = f("spring", 1.2, 3.0)
    length = count * span + (count + 1) * pier + 8
    hump = f("hump", 0.0, 2.2)
    deck = spring + rise + 1.2
    x = np.linspace(-length / 2, length / 2, 60)
    road = deck + hump * np.cos(x / length * math.pi)
    low: list[tuple[float, float]] = [(-length / 2, 0.0)]
    start = -(count * span + (count - 1) * pier) / 2
    for i in range(count):
        a = np.linspace(math.pi, 0, 19)
        middle = start + span / 2 + i * (span + pier)
        low += [(middle - span / 2, 0.0)]
        low += [(middle + span / 2 * math.cos(k), spring + rise * math.sin(k)) for k in a]
        low += [(middle + span / 2, 0.0)]
    low += [(length / 2, 0.0)]
    outline = np.array([*low, *zip(x[::-1], road[::-1] + 0.0, strict=True)])
    colour, wall = stone(f)
    parts = [covered(plate(outline, 2 * half), wall)]
    tray = Tray()
    trim = Material(mix(colour, (222, 216, 204), 0.35), rough=0.8)
    course = np.concatenate([np.stack([x, road - 0.1], 1), np.stack([x, road + 0.25], 1)[::-1]])
    rail = np.concatenate([np.stack([x, road + 0.2], 1), np.stack([x, road + 1.15], 1)[::-1]])
    parts += [covered(plate(rail, 0.4, (0, s * (half - 0.2), 0)), wall) for s in (-1, 1)]
    tray.add(trim, both(plate(course, 0.5, (0, half, 0))))
    cap = np.concatenate([np.stack([x, road + 1.13], 1), np.stack([x, road + 1.33], 1)[::-1]])
    tray.add(trim, both(plate(cap, 0.6, (0, half - 0.2, 0))))
    for i in range(count):
        middle = start + span / 2 + i * (span + pier)
        a = np.linspace(0, math.pi, 19)
        inner = np.stack([middle + span / 2 * np.cos(a), spring + rise * np.sin(a)], 1)
        outer = np.stack(
            [middle + (span / 2 + 0.75) * np.cos(a), spring + (rise + 0.75) * np.sin(a)], 1
        )
        tray.add(trim, both(plate(np.concatenate([outer, inner[::-1]]), 0.5, (0, half, 0))))
    foot = [(-pier / 2 - 0.3, -half), (0, -half - pier * 0.7), (pier / 2 + 0.3, -half),
        (pier / 2 + 0.3, half), (0, half + pier * 0.7), (-pier / 2 - 0.3, half)]  # fmt: skip
    for i in range(count + 1):
        at = start - pier / 2 + i * (span + pier)
        if 0 < i < count:
            tray.add(trim, _prism(foot, at, 0.0, spring + 0.6))
    path = np.concatenate([np.stack([x, road + 0.02], 1), np.stack([x, road + 0.06], 1)[::-1]])
    tray.add(TAR, plate(path, 2 * half - 0.9))
    _lamps(tray, traits, length, half - 0.2, road + 1.2)
    return Thing.of(*parts, *tray.parts())


def _prism(outline: list[tuple[float, float]], x: float, low: float, high: float) -> Mesh:
    """An upright block over an outline of (x, y)."""
    block = posed(plate(outline, high - low), turned((1, 0, 0), 90))
    return shifted(block, x, 0, (low + high) / 2)


def _roadway(
    tray: Tray, traits: Traits, length: float, half: float, z: float, paint: Material, deep: float
) -> None:
    """A girder with its road, and railings that look-alikes paint differently."""
    own = Material(
        mix(traits.palette().accent, (90, 92, 94), traits.variant("rail", 0.0, 0.8)), rough=0.5
    )
    tray.add(paint, shifted(box(length, 2 * half, deep, bevel=0.12), z=z - deep))
    tray.add(TAR, shifted(box(length - 0.5, 2 * half - 1.6, 0.06), z=z))
    rails = [rod((-length / 2, half - 0.25, z + h), (length / 2, half - 0.25, z + h), 0.06,
        around=5) for h in (0.55, 1.15)]  # fmt: skip
    posts = [rod((x, half - 0.25, z), (x, half - 0.25, z + 1.15), 0.05, around=4)
        for x in np.arange(-length / 2 + 1, length / 2, 2.4)]  # fmt: skip
    tray.add(own, both(joined([*rails, *posts])))


def _colour(f: Draws) -> Material:
    """What steel bridges are painted with."""
    return Material(f.pick("paint", ((158, 54, 38), (126, 150, 136), (196, 200, 202), (64, 84, 108),
        (120, 116, 104))), rough=0.5)  # fmt: skip


def _towers(
    tray: Tray, at: float, half: float, high: float, z: float, paint: Material, f: Draws
) -> None:
    """A portal of two legs on each side of the middle, standing on piers."""
    wide = f("leg", 1.1, 1.8)
    lean = f("lean", 0.0, 1.6)
    bars = f.count("bars", 1, 3)
    for x in (-at, at):
        legs = [tube([(x, s * (half + 0.9), 0.5), (x, s * (half + 0.9 - lean), high)],
            [wide * 0.75, wide * 0.5], around=4) for s in (-1, 1)]  # fmt: skip
        cross = [shifted(box(wide * 0.9, 2 * (half + 0.9), wide * 0.9, bevel=0.1), x, 0,
            z + (high - z) * (k + 1) / bars - wide) for k in range(bars)]  # fmt: skip
        tray.add(paint, joined(legs)._replace(smooth=False), *cross)
        tray.add(Material((160, 156, 148), rough=0.85), shifted(box(wide * 3, 2 * half + 6, 2.6,
            bevel=0.3), x, 0, 0))  # fmt: skip


def _suspended(traits: Traits) -> Thing:
    f = traits.family
    tray, paint = Tray(), _colour(f)
    length, half = f("length", 80, 115), f("half", 3.8, 5.2)
    z, at = f("clear", 8, 12), f("towers", 0.27, 0.34) * length
    high = z + f("high", 14, 21)
    _roadway(tray, traits, length, half, z, paint, f("deep", 1.0, 1.7))
    _towers(tray, at, half, high, z, paint, f)
    sag = high - z - f("sag", 1.6, 2.8)

    def rope(x: Array) -> Array:
        """Height of the cable."""
        middle = high - sag * (1 - (x / at) ** 2)
        side = high - (high - z - 0.3) * (np.maximum(np.abs(x) - at, 0) / (length / 2 - at)) ** 0.9
        return np.where(np.abs(x) <= at, middle, side)

    x = np.unique(np.concatenate([np.linspace(-length / 2, length / 2, 81), [-at, at]]))
    cable = np.stack([x, 0 * x + half, rope(np.clip(x, -length / 2 + 1e-6, length / 2 - 1e-6))], 1)
    tray.add(paint if f.chance("painted", 0.6) else STEEL, both(tube(cable, 0.2, around=8)))
    hung = np.arange(-length / 2 + 3, length / 2 - 2, f("hangers", 2.4, 3.8))
    tray.add(STEEL, both(joined([rod((p, half, z), (p, half, float(rope(np.array(p)))), 0.05,
        around=4) for p in hung])))  # fmt: skip
    _lamps(tray, traits, length, half - 0.25, z)
    return Thing(tray.parts())


def _stayed(traits: Traits) -> Thing:
    f = traits.family
    tray = Tray()
    paint = Material(oklch(f("cast", 0.75, 0.93), 0.01, 90), rough=0.55)
    length, half, z = f("length", 80, 115), f("half", 4.2, 5.5), f("clear", 8, 12)
    high = z + f("high", 22, 32)
    single = f.chance("single", 0.5)
    masts = [0.0] if single else [-length * 0.25, length * 0.25]
    _roadway(tray, traits, length, half, z, paint, f("deep", 1.0, 1.6))
    count, fan = f.count("stays", 6, 10), f("fan", 0.1, 0.75)
    reach = length * (0.47 if single else 0.235)
    sort = f.chance("needle", 0.5)
    stays: list[Mesh] = []
    for x in masts:
        y0 = 0.0 if sort else half * 0.55
        for s in (-1, 1):
            tray.add(paint, tube([(x, s * (half + 1.0), 0.1), (x, s * (half + 1.2), z),
                (x, s * y0 + s * 0.3, high)], [1.3, 1.2, 0.6], around=8))  # fmt: skip
            for k in range(1, count + 1):
                up = high - 1.0 - (high - z) * fan * (1 - k / count)
                for way in (-1, 1):
                    top = s * (y0 + 0.3 + (half + 1.2 - y0 - 0.3) * (high - up) / (high - z))
                    stays.append(rod((x + way * reach * k / count, s * (half - 0.3), z),
                        (x, top, up), 0.07, around=4))  # fmt: skip
        tray.add(Material((160, 156, 148), rough=0.85), shifted(box(5, 2 * half + 7, 2.4,
            bevel=0.3), x, 0, 0))  # fmt: skip
    rope = (Material((228, 226, 220), rough=0.5) if f.chance("white")
        else Material(traits.palette().base, rough=0.5))  # fmt: skip
    tray.add(rope, joined(stays))
    _lamps(tray, traits, length, half - 0.25, z)
    return Thing(tray.parts())


def _truss(traits: Traits) -> Thing:
    """Steel triangles above the road, straight or bowed, on stone piers."""
    f = traits.family
    tray, paint = Tray(), _colour(f)
    spans, span = f.count("spans", 1, 3), f("span", 30, 42)
    length, half, z = spans * span, f("half", 3.4, 4.4), f("clear", 5, 9)
    tall, bow = f("tall", 4.5, 6.5), f("bow", 0.0, 0.6)
    panels = 2 * f.count("panels", 4, 6)
    _roadway(tray, traits, length + 2, half, z, paint, 0.9)
    thick = f("thick", 0.22, 0.34)
    pieces: list[Mesh] = []
    braces: list[Mesh] = []
    for k in range(spans):
        x = -length / 2 + k * span + np.linspace(0, span, panels + 1)
        t = np.linspace(-1, 1, panels + 1)
        top = z + tall * (1 - bow * t**2)
        for i in range(panels):
            if 0 < i < panels - 1:
                pieces.append(
                    rod((x[i], half, top[i]), (x[i + 1], half, top[i + 1]), thick, around=4)
                )
                braces.append(
                    rod((x[i], -half, top[i]), (x[i + 1], half, top[i + 1]), 0.1, around=4)
                )
            ends = (((z, top[i + 1]) if i % 2 == 0 else (top[i], z)) if 0 < i < panels - 1
                else ((z, top[1]) if i == 0 else (top[-2], z)))  # fmt: skip
            pieces.append(rod((x[i], half, ends[0]), (x[i + 1], half, ends[1]),
                thick * (0.7 if 0 < i < panels - 1 else 1), around=4))  # fmt: skip
            if i:
                pieces.append(rod((x[i], half, z), (x[i], half, top[i]), thick * 0.55, around=4))
                braces.append(rod((x[i], -half, top[i]), (x[i], half, top[i]), 0.14, around=4))
    tray.add(paint, both(joined(pieces)._replace(smooth=False)), joined(braces))
    _, wall = stone(f)
    blocks = [covered(shifted(squared([(2.2, 0), (1.7, z - 1.4), (2.1, z - 1.3), (2.1, z - 0.9),
        (0, z - 0.9)]), -length / 2 + k * span, y), wall) for k in range(spans + 1)
        for y in (-half * 0.6, half * 0.6)]  # fmt: skip
    whole = blocks[0]._replace(mesh=joined([b.mesh for b in blocks]))
    _lamps(tray, traits, length, half + 0.3, z)
    return Thing.of(whole, *tray.parts())
