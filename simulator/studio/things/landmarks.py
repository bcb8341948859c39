"""Towers and bridges."""

from __future__ import annotations

import itertools
import math

import numpy as np

from simulator.studio.solid.meshes import (
    Profile,
    ball,
    box,
    extrude,
    joined,
    lathe,
    posed,
    shifted,
    tube,
)
from simulator.studio.solid.prints import Sheet
from simulator.studio.solid.scene_types import Array, Material, Mesh, Thing, turned
from simulator.studio.solid.surfaces import Surface, tiles
from simulator.studio.solid.surfaces import laid as covered
from simulator.studio.things.shared_shapes import (
    BRASS,
    DARK_GLASS,
    STEEL,
    Tray,
    both,
    circle,
    hoop,
    mottled,
    plate,
    repeated,
    rod,
    turning,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix, oklch

VOID = Material((22, 22, 24), rough=0.9)
"""What is dark behind an opening."""


def tower(_look: Look, traits: Traits) -> Thing:
    """The family decides what kind of tower; variants move clocks, bands and lights."""
    return traits.family.pick("sort", (_masonry, _masonry, _lattice, _lighthouse, _television))(
        traits
    )


def square_lathe(profile: Profile) -> Mesh:
    """A profile of (half width, height) around a square: plinths, cornices, pyramids."""
    p = np.asarray(profile, np.float64) * (math.sqrt(2), 1)
    return posed(lathe(p, around=4, smooth=False), turned((0, 0, 1), 45))


def arch(width: float, height: float) -> Array:
    """The outline of a round-headed opening standing on z = 0."""
    a = np.linspace(0, math.pi, 12)
    top = np.stack([width / 2 * np.cos(a), height - width / 2 + width / 2 * np.sin(a)], -1)
    return np.concatenate([[(-width / 2, 0), (width / 2, 0)], top])


def stone(draws: Draws) -> tuple[Colour, Surface]:
    """A building stone, and walls of it."""
    colour = oklch(
        draws("stone", 0.55, 0.8), draws("stone-chroma", 0.01, 0.07), draws("stone-hue", 30, 95)
    )
    if draws.chance("brick", 0.3):
        colour = oklch(draws("brick-level", 0.42, 0.58), 0.09, draws("brick-hue", 28, 45))
        return colour, tiles(colour, draws.count("seed", 0, 2), tile=(0.5, 0.17), bond=0.5,
            joint=0.02, grout=(168, 160, 148), spread=0.12, rough=0.85, stain=0.07)  # fmt: skip
    joint = mix(colour, (60, 56, 50), 0.35)
    return colour, tiles(colour, draws.count("seed", 0, 2), tile=(1.6, 0.75), bond=0.5, joint=0.03,
        grout=joint, spread=0.045, rough=0.8, stain=0.05)  # fmt: skip


def _around(mesh: Mesh) -> Mesh:
    """The same on all four sides."""
    return repeated(mesh, 4)


def _opening(
    width: float, height: float, half: float, z: float, frame: float, x: float = 0.0
) -> tuple[Mesh, Mesh]:
    """A framed round-headed opening on each side of a square shaft: dark inside, frame."""
    hole = plate(arch(width, height), 0.06, (x, -half, z))
    outer = arch(width + 2 * frame, height + frame)
    inner = arch(width, height)
    ring = np.concatenate([outer[1:], outer[:1], inner[:1], inner[:0:-1]])
    return _around(hole), _around(shifted(extrude(ring, 0.5), x, -half, z))


def _masonry(traits: Traits) -> Thing:
    """A square bell tower with clocks under its roof."""
    f = traits.family
    high, half = f("high", 34, 58), f("half", 2.9, 4.3)
    colour, wall = stone(f)
    trim = Material(mix(colour, (226, 220, 206), f("trim", 0.3, 0.8)), rough=0.75)
    tray, parts = Tray(), []
    taper = f("taper", 0.9, 1.0)
    body: list[tuple[float, float]] = [(half * 1.1, 0), (half * 1.1, 2.2), (half * 1.02, 2.6)]
    body += [(half * 1.0, 2.7), (half * taper, high), (half * taper * 0.98, high + 0.1),
        (0, high + 0.1)]  # fmt: skip
    parts.append(covered(square_lathe(body), wall))
    floors = f.count("floors", 3, 5)
    for k in range(1, floors + 1):
        z = 2.7 + (high - 2.7) * k / floors
        at = half * (1 + (taper - 1) * k / floors)
        step = 0.35 if k < floors else 0.7
        tray.add(trim, square_lathe([(at - 0.05, z - 0.5), (at + step * 0.5, z - 0.45),
            (at + step, z - 0.2), (at + step, z), (at - 0.1, z + 0.05)]))  # fmt: skip
        if k < floors and f.chance("slits", 0.8):
            wide = f("slit", 0.7, 1.3)
            hole, edge = _opening(wide, wide * f("slit-high", 2.2, 3.2), at + 0.12, z + 1.2, 0.3)
            tray.add(VOID, hole)
            tray.add(trim, edge)
    last = (high - 2.7) / floors
    clock = half * taper * f("clock", 0.42, 0.62)
    z = high - last * 0.5
    dial = _clock(traits)
    for k in range(4):
        turn = turned((0, 0, 1), 90 * k)
        flat = plate(circle(clock, n=40), 0.1)
        tray.add(dial, posed(shifted(flat, 0, -half - 0.1, z), turn))
        tray.add(trim, posed(shifted(hoop(clock * 1.05, clock * 0.09, n=40, around=8), 0,
            -half - 0.05, z), turn))  # fmt: skip
    w, tall = half * taper * f("belfry", 0.82, 0.98), f("belfry-high", 4.5, 8.0)
    base = high + 0.1
    parts.append(covered(shifted(square_lathe([(w, 0), (w, tall), (0, tall)]), z=base), wall))
    count = f.count("arches", 1, 3)
    width = 2 * w / (count * 1.45 + 0.5)
    for i in range(count):
        shift = (i - (count - 1) / 2) * width * 1.45
        hole, edge = _opening(width, tall * 0.78, w + 0.05, base + 0.5, width * 0.14, shift)
        tray.add(VOID, hole)
        tray.add(
            trim, edge, _around(shifted(box(width * 1.2, 0.5, 0.3), shift, -w - 0.15, base + 0.35))
        )
    top = base + tall
    tray.add(trim, square_lathe([(w, top - 0.4), (w + 0.6, top - 0.1), (w + 0.6, top + 0.2),
        (w, top + 0.3), (0, top + 0.3)]))  # fmt: skip
    _roof(tray, traits, w, top + 0.3, trim)
    door, frame = arch(2.2, 4.0), arch(2.9, 4.4)
    tray.add(trim, plate(frame, 0.5, (0, -half * 1.1 - 0.1, 0)))
    tray.add(Material((64, 46, 34), rough=0.6), plate(door, 0.56, (0, -half * 1.1 - 0.1, 0)))
    return Thing.of(*parts, *tray.parts())


def _clock(traits: Traits) -> Material:
    f, v = traits.family, traits.variant
    ground, ink = f.pick("dial", (((236, 232, 220), (30, 30, 32)), ((34, 40, 58), (214, 178, 92)),
        ((30, 30, 30), (228, 224, 212))))  # fmt: skip
    page = Sheet(1, 1, ground, side=256)
    page.disc(0.5, 0.5, 0.5, ink)
    page.disc(0.5, 0.5, 0.46, ground)
    page.disc(0.5, 0.5, v("ring", 0.1, 0.22), v.pick("middle",
        (ink, traits.palette().accent, mix(ground, ink, 0.3))))  # fmt: skip
    for k in range(12):
        long = 0.2 if k % 3 == 0 else 0.13
        page.figure(np.array([(-0.04, 0.86 - long), (0.04, 0.86 - long), (0.04, 0.86),
            (-0.04, 0.86)]), 0.5, 0.5, 0.5, ink, turn=k * math.pi / 6)  # fmt: skip
    for name, long, wide in (("hour", 0.45, 0.05), ("minute", 0.72, 0.035)):
        hand = np.array([(-wide, -0.12), (wide, -0.12), (wide * 0.4, long), (-wide * 0.4, long)])
        page.figure(hand, 0.5, 0.5, 0.5, ink, turn=v(name, 0, 2 * math.pi))
    return Material(sheet=page.rgb, rough=0.5)


def _roof(tray: Tray, traits: Traits, w: float, z: float, trim: Material) -> None:
    """Spire, pyramid, dome or battlements, with a finial."""
    f, v = traits.family, traits.variant
    hue = f.pick("roof-hue", (30.0, 165.0, 250.0, 60.0))
    cover = Material(oklch(f("roof", 0.38, 0.62), f("roof-chroma", 0.02, 0.09), hue), rough=0.6)
    sort = f.pick("roof-sort", ("spire", "pyramid", "dome", "battlements"))
    tall = (w * {"spire": f("spire", 3.2, 5.0), "pyramid": f("pyramid", 1.2, 2.0),
        "dome": f("dome", 1.1, 1.6), "battlements": 0.6}[sort])  # fmt: skip
    if sort == "dome":
        t = np.linspace(0, math.pi / 2, 14)
        tray.add(cover, lathe(np.stack([w * 1.02 * np.cos(t), z + tall * np.sin(t)], 1), around=40))
        tray.add(trim, lathe([(w * 0.2, z + tall * 0.96), (w * 0.2, z + tall * 1.3),
            (w * 0.26, z + tall * 1.32), (0, z + tall * 1.6)], around=20,
            smooth=False))  # fmt: skip
        tall *= 1.6
    elif sort == "battlements":
        wide = w / 3.5
        for i in range(4):
            tray.add(trim, _around(shifted(box(wide, 0.5, w * 0.4),
                -w + wide / 2 + i * (2 * w - wide) / 3, -w + 0.25, z)))  # fmt: skip
        tray.add(STEEL, rod((0, 0, z), (0, 0, z + tall + 5), 0.1))
        flag = plate([(0, 0), (2.6, 0.25), (2.6, 1.6), (0, 1.7)], 0.03, (0.1, 0, z + tall + 3.2))
        tray.add(Material(traits.palette().accent, rough=0.9), flag)
    else:
        foot = 0.06 * tall
        tray.add(cover, square_lathe([(w * 1.06, z), (w * 0.9, z + foot), (0.12, z + tall)]))
        if f.chance("corners", 0.4):
            pinnacle = square_lathe([(0.45, 0), (0.45, 1.6), (0.6, 1.7), (0.0, 3.6)])
            tray.add(trim, *[shifted(pinnacle, x * w * 0.86, y * w * 0.86, z) for x in (-1, 1)
                for y in (-1, 1)])  # fmt: skip
    gilt = BRASS if v.chance("gilt", 0.6) else STEEL
    tray.add(gilt, rod((0, 0, z + tall - 0.5), (0, 0, z + tall + 2.0), 0.07),
        shifted(ball(v("knob", 0.25, 0.5), around=16), z=z + tall + 0.5))  # fmt: skip


def _lattice(traits: Traits) -> Thing:
    """Four legs of steel that meet, crossed by braces."""
    f, v = traits.family, traits.variant
    tray = Tray()
    high, foot, bend = f("high", 52, 88), f("foot", 7, 12), f("bend", 1.4, 2.6)
    steel = Material(f.pick("paint", ((112, 84, 62), (150, 152, 154), (150, 50, 40), (70, 78, 82))),
        rough=0.55, metal=0.2)  # fmt: skip
    second = Material((226, 224, 218), rough=0.55) if f.chance("banded", 0.35) else steel
    levels = f.count("levels", 9, 13)
    t = np.linspace(0, 1, levels + 1)
    z = 0.5 + (high - 0.5) * (1 - (1 - t) ** 1.25)
    half = 0.7 + (foot - 0.7) * (1 - t) ** bend
    leg, thin = f("leg", 0.26, 0.42), 0.11
    for k in range(levels):
        a, b = half[k], half[k + 1]
        paint = second if (k + v.count("band", 0, 1)) % 3 == 1 else steel
        pieces = []
        for d in (-0.45, 0.45) if a > 2.5 else (0.0,):
            pieces.append(rod((-a + d, -a, z[k]), (-b + d * b / a, -b, z[k + 1]),
                leg * (0.6 if d else 0.8), around=4))  # fmt: skip
        pieces += [rod((-a, -a, z[k]), (b, -b, z[k + 1]), thin, around=4),
            rod((a, -a, z[k]), (-b, -b, z[k + 1]), thin, around=4)]  # fmt: skip
        pieces += [rod((-b, -b, z[k + 1]), (b, -b, z[k + 1]), thin * 1.3, around=4)]
        mid = (z[k] + z[k + 1]) / 2
        c = (a + b) / 2
        pieces += [rod((-c, -c, mid), (0, -b, z[k + 1]), thin * 0.7, around=4),
            rod((c, -c, mid), (0, -b, z[k + 1]), thin * 0.7, around=4)]  # fmt: skip
        tray.add(paint, _around(joined(pieces)._replace(smooth=False)))
    if f.chance("bow", 0.6):
        a = np.linspace(0.12, math.pi - 0.12, 15)
        r = half[0] * 0.8
        bow = [rod((r * math.cos(p), -half[0] * 0.93, 0.3 + z[2] * 0.75 * math.sin(p)),
            (r * math.cos(q), -half[0] * 0.93, 0.3 + z[2] * 0.75 * math.sin(q)), 0.16, around=4)
            for p, q in itertools.pairwise(a)]  # fmt: skip
        tray.add(steel, _around(joined(bow)))
    deck = Material((96, 98, 100), rough=0.6)
    for k in sorted({f.count("deck", 2, 4), f.count("deck-2", 5, levels - 2)}):
        w = half[k] + 1.0
        tray.add(deck, square_lathe([(w, z[k] - 0.4), (w + 0.4, z[k]), (w + 0.4, z[k] + 0.25),
            (0, z[k] + 0.25)]))  # fmt: skip
        tray.add(
            DARK_GLASS,
            square_lathe([(w - 0.6, z[k] + 0.25), (w - 0.6, z[k] + 2.4), (0, z[k] + 2.6)]),
        )
        rail = [rod((-w - 0.3, -w - 0.3, z[k] + h), (w + 0.3, -w - 0.3, z[k] + h), 0.05, around=4)
            for h in (0.7, 1.25)]  # fmt: skip
        tray.add(steel, _around(joined(rail)))
    top = box(2.2, 2.2, 2.4, bevel=0.15)
    tray.add(Material(traits.palette().accent, rough=0.5), shifted(top, z=high - 0.2))
    tray.add(steel, rod((0, 0, high + 2), (0, 0, high + v("mast", 6, 11)), [0.22, 0.06], around=8))
    footing = square_lathe([(1.5, 0), (1.5, 0.9), (1.0, 1.3), (0, 1.3)])
    grey = Material((158, 154, 146), rough=0.85)
    tray.add(grey, *[shifted(footing, x * foot, y * foot, 0) for x in (-1, 1) for y in (-1, 1)])
    return Thing(tray.parts())


def _lighthouse(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray = Tray()
    high, low, top = f("high", 36, 48), f("low", 4.2, 5.4), f("top", 2.4, 3.1)
    white = (232, 230, 224)
    paint = f.pick("paint", ((176, 38, 34), (34, 36, 42), (30, 66, 120), white))
    page = Sheet(30, high, white, side=512)
    bands, spiral = f.count("bands", 2, 4), f.chance("spiral", 0.35)
    for k in range(bands):
        a, b = (k + 0.25) / bands, (k + 0.75) / bands
        page.fill(
            [(0, a), (1, a - 0.5 * spiral / bands), (1, b - 0.5 * spiral / bands), (0, b)], paint
        )
    page.grain(0.03, "cloud")
    wall = Material(sheet=page.rgb, rough=0.6)
    t = np.linspace(0, 1, 12)
    radius = top + (low - top) * (1 - t) ** f("curve", 1.2, 2.0)
    tray.add(wall, lathe(np.stack([radius, 0.8 + t * (high - 0.8)], 1), around=48))
    base = Material((164, 158, 148), rough=0.85)
    tray.add(base, turning([(0, 0), (low * 1.25, 0), (low * 1.25, 0.7), (low * 1.02, 0.9),
        (0, 0.9)], around=40, by=0.05))  # fmt: skip
    dark = Material(f.pick("iron", ((40, 42, 46), (150, 34, 32), (228, 226, 220))), rough=0.5)
    gallery = [(top, high - 0.8), (top + 1.0, high - 0.1), (top + 1.0, high + 0.2), (0, high + 0.2)]
    tray.add(dark, turning(gallery, around=40, by=0.04))
    posts = repeated(
        rod((top + 0.9, 0, high + 0.2), (top + 0.9, 0, high + 1.3), 0.04, around=5), 20
    )
    rails = [posed(hoop(top + 0.9, 0.045, n=36, around=6), turned((1, 0, 0), 90)) for _ in range(2)]
    tray.add(dark, posts, shifted(rails[0], z=high + 1.3), shifted(rails[1], z=high + 0.75))
    room, glass = top * 0.72, f("lantern", 2.4, 3.4)
    tray.add(
        dark, turning([(room, high + 0.2), (room, high + 0.9), (0, high + 0.9)], around=32, by=0.03)
    )
    tray.add(
        DARK_GLASS, lathe([(room * 0.93, high + 0.9), (room * 0.93, high + 0.9 + glass)], around=32)
    )
    tray.add(dark, repeated(rod((room * 0.95, 0, high + 0.9), (room * 0.95, 0, high + 0.9 + glass),
        0.06, around=5), 10))  # fmt: skip
    z = high + 0.9 + glass
    cap = f("cap", 0.5, 0.9) * room
    tray.add(dark, lathe([(room * 1.15, z), (room * 1.1, z + 0.15), (room * 0.6, z + cap * 0.75),
        (0.15, z + cap), (0.12, z + cap + 0.8), (0, z + cap + 0.9)], around=32))  # fmt: skip
    for k in range(4):
        at = 0.18 + 0.2 * k
        r = float(np.interp(at, t, radius))
        pane = plate(arch(0.8, 1.5), 0.3, (0, -r - 0.02, 0.8 + at * (high - 0.8)))
        frame = plate(arch(1.15, 1.75), 0.2, (0, -r, 0.7 + at * (high - 0.8)))
        turn = turned((0, 0, 1), v("windows", -60, 60) + 50 * k)
        tray.add(DARK_GLASS, posed(pane, turn))
        tray.add(base, posed(frame, turn))
    tray.add(Material(traits.palette().accent, rough=0.6),
        plate(arch(1.5, 2.6), 0.5, (0, -low * 0.99, 0.85)))  # fmt: skip
    return Thing(tray.parts())


def _television(traits: Traits) -> Thing:
    """A concrete shaft that carries a pod and a mast."""
    f, v = traits.family, traits.variant
    tray = Tray()
    high, foot, top = f("high", 56, 72), f("foot", 3.4, 5.5), f("top", 1.3, 1.9)
    t = np.linspace(0, 1, 14)
    radius = top + (foot - top) * (1 - t) ** f("curve", 2.0, 4.0)
    cast = mottled(oklch(f("cast", 0.66, 0.8), 0.012, 85), amount=0.035)
    tray.add(Material(sheet=cast, rough=0.8), lathe(np.stack([radius, t * high], 1), around=40))
    at, r, tall = high * f("pod", 0.78, 0.88), f("pod-wide", 5.0, 7.5), f("pod-high", 5.5, 8.5)
    shape = f.pick("shape", ("saucer", "drum", "ball"))
    white = Material((226, 226, 222), rough=0.35)
    if shape == "ball":
        a = np.linspace(-math.pi / 2, math.pi / 2, 20)
        pod = [(r * 0.8 * math.cos(k), at + tall / 2 + r * 0.8 * math.sin(k)) for k in a]
        tray.add(DARK_GLASS if f.chance("glass") else STEEL, lathe(np.array(pod), around=44))
        tray.add(white, shifted(lathe([(r * 0.81, -0.5), (r * 0.83, 0), (r * 0.81, 0.5)],
            around=44), z=at + tall / 2))  # fmt: skip
    else:
        lip = 0.5 if shape == "saucer" else 0.92
        tray.add(white, turning([(top, at - tall * 0.35), (r * lip, at), (r, at + tall * 0.3)],
            around=44, by=0.1))  # fmt: skip
        tray.add(DARK_GLASS, lathe([(r * 0.97, at + tall * 0.3), (r * 0.99, at + tall * 0.55)],
            around=44))  # fmt: skip
        tray.add(white, turning([(r, at + tall * 0.55), (r, at + tall * 0.68),
            (r * lip * 1.05, at + tall * 0.85), (top * 1.3, at + tall), (0, at + tall)], around=44,
            by=0.1))  # fmt: skip
        mullions = rod(
            (r * 0.99, 0, at + tall * 0.3), (r * 0.99, 0, at + tall * 0.55), 0.07, around=4
        )
        tray.add(white, repeated(mullions, 32))
    accent = Material(traits.palette().accent, rough=0.4)
    band = at + tall * (0.62 if shape != "ball" else 0.5)
    tray.add(accent, shifted(lathe([(r * (1.005 if shape != "ball" else 0.835), -0.25),
        (r * (1.005 if shape != "ball" else 0.835), 0.25)], around=44),
        z=band + v("band", -0.1, 0.3)))  # fmt: skip
    colours = (Material((196, 44, 36), rough=0.5), Material((228, 228, 224), rough=0.5))
    mast = np.linspace(high, high + f("mast", 14, 20), 7)
    for k in range(6):
        wide = 0.75 * (1 - k / 7)
        tray.add(colours[(k + v.count("first", 0, 1)) % 2],
            rod((0, 0, mast[k]), (0, 0, mast[k + 1]), [wide, wide * 0.85], around=12))  # fmt: skip
    hall = f("hall", 8, 12)
    tray.add(white, turning([(0, 3.6), (hall, 3.6), (hall + 0.4, 3.8), (hall + 0.4, 4.3),
        (0, 4.5)][::1], around=40, by=0.05))  # fmt: skip
    tray.add(DARK_GLASS, lathe([(hall - 0.6, 0.3), (hall - 0.6, 3.6)], around=40))
    tray.add(white, repeated(rod((hall - 0.3, 0, 0), (hall - 0.3, 0, 3.7), 0.18, around=8), 16))
    tray.add(
        white, turning([(0, 0), (hall + 0.8, 0), (hall + 0.8, 0.3), (0, 0.3)], around=40, by=0.03)
    )
    return Thing(tray.parts())


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
    blocks = [covered(shifted(square_lathe([(2.2, 0), (1.7, z - 1.4), (2.1, z - 1.3),
        (2.1, z - 0.9),
        (0, z - 0.9)]), -length / 2 + k * span, y), wall) for k in range(spans + 1)
        for y in (-half * 0.6, half * 0.6)]  # fmt: skip
    whole = blocks[0]._replace(mesh=joined([b.mesh for b in blocks]))
    _lamps(tray, traits, length, half + 0.3, z)
    return Thing.of(whole, *tray.parts())
