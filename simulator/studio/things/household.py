"""Kettles, toasters, clocks, lamps and mugs."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import (
    ball,
    box,
    extrude,
    joined,
    lathe,
    posed,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.motifs import illustrate, pattern
from simulator.studio.solid.prints import FACES, Sheet
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.things.containers import FINE, STEEL
from simulator.studio.things.shared_shapes import (
    BLACK,
    BRASS,
    CHROME,
    Tray,
    crisp,
    facing,
    hoop,
    mottled,
    rod,
    turning,
    wire,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import (
    Colour,
    Draws,
    Palette,
    Traits,
    brighten,
    luma,
    mix,
    oklch,
)

MATT_BLACK = Material((32, 32, 34), rough=0.45)
WARM_BRASS = Material((198, 158, 92), rough=0.25, metal=1.0)
WOODS: tuple[Colour, ...] = ((176, 128, 82), (120, 82, 54), (206, 168, 120))


def kettle(_look: Look, traits: Traits) -> Thing:
    """An electric kettle on its base, or one for the stove with a bow over its lid."""
    f, v, pal = traits.family, traits.variant, household_palette(traits)
    tall, r = traits.near("tall", 0.17, 0.23, 0.06), traits.near("radius", 0.07, 0.088, 0.06)
    stove = f.chance("stove", 0.4)
    if stove:
        tall, r = tall * 0.72, r * 1.22
    body, trim = _finish(f, pal.base), _trim(f, pal)
    t = np.linspace(0, 1, 22)
    belly = f("belly", -0.02, 0.16) + (0.08 if stove else 0)
    radius = r * (1 - (1 - f("top", 0.5, 0.78)) * t ** f("taper", 0.8, 2.2))
    radius *= 1 + belly * np.sin(math.pi * t)
    wall = np.concatenate([[(radius[0] * 0.96, 0.014)], np.stack([radius, 0.016 + t * tall], 1)])
    rim, crown = float(radius[-1]), 0.016 + tall
    rise = 0.006 + f("dome", 0.12, 0.4) * rim
    lid = [(rim * 0.97, 0.0), (rim * 0.93, 0.006), (rim * 0.55, rise * 0.8), (1e-4, rise)]
    flat_knob = lathe(crisp([(0.006, -0.012), (0.015, 0.002), (0.015, 0.008), (1e-4, 0.011)], FINE))
    knob = shifted(f.pick("knob", (ball(0.013, around=20), flat_knob)), z=crown + rise + 0.01)
    parts = [
        Part(lathe(wall), body),
        Part(shifted(lathe(crisp(lid, 0.002)), z=crown), body if f.chance("lid") else trim),
        Part(knob, Material(pal.accent, rough=0.35) if v.chance("knob") else trim),
        Part(_gooseneck(r, tall) if f.chance("goose", 0.35) else _beak(f, wall, tall), body),
    ]
    if f.chance("band", 0.7):
        row = f("band-at", 0.06, 0.3) + np.linspace(0, f("band-w", 0.02, 0.07), 4)
        strip = np.stack([np.interp(row, t, radius) + 0.0006, 0.016 + row * tall], 1)
        parts.append(Part(lathe(strip), Material(pal.accent, rough=0.4)))
    parts += _bow(rim, crown, r, trim) if stove else _electric(f, wall, tall, r, trim)
    return Thing.of(*parts)


def household_palette(traits: Traits) -> Palette:
    """Colours of a household: calmer than those of packs."""
    return traits.palette(vivid=0.6, light=(0.35, 0.85))


def wooden(f: Draws) -> Material:
    """Waxed wood with its grain."""
    page = Sheet(0.2, 0.2, f.pick("wood", WOODS), side=256)
    page.grain(0.1, "wood")
    return Material(sheet=page.rgb, rough=0.5)


def _finish(f: Draws, colour: Colour) -> Material:
    """Brushed steel, enamel, matt or glossy lacquer, copper."""
    lacquers = [Material(colour, rough=a, coat=b) for a, b in ((0.2, 0.6), (0.45, 0.0), (0.3, 0.3))]
    copper = Material((204, 130, 92), rough=0.24, metal=1.0)
    return f.pick("finish", (STEEL, *lacquers, copper))


def _trim(f: Draws, pal: Palette) -> Material:
    return f.pick("trim", (MATT_BLACK, wooden(f), STEEL, Material(pal.second, rough=0.4)))


def _gooseneck(r: float, tall: float) -> Mesh:
    """A long bent pipe to the left, for those who pour slowly."""
    path = [
        (0.9, 0.25), (1.45, 0.35), (1.5, 0.75), (1.75, 1.0), (2.0, 1.03),
    ]  # fmt: skip
    at = [(-r * x, 0.0, tall * z) for x, z in path]
    return tube(smooth_path(at, 8), [0.013, 0.008, 0.0065, 0.006])


def _beak(f: Draws, wall: Array, tall: float) -> Mesh:
    """A lip at the rim, to the left."""
    low, rim = f("spout", 0.6, 0.78), float(wall[-1, 0])
    foot = float(np.interp(0.016 + low * tall, wall[:, 1], wall[:, 0]))
    u, w = np.meshgrid(np.linspace(0, 1, 13), np.linspace(0, 1, 9), indexing="ij")
    angle = math.pi + 0.75 * w**0.7 * (2 * u - 1)
    out = foot + (rim - foot) * w + 0.034 * w**1.2 * (1 - (2 * u - 1) ** 2) ** 0.7
    z = 0.016 + tall * (low + (1.015 - low) * w)
    return skin(np.stack([out * np.cos(angle), out * np.sin(angle), z], -1)[::-1])


def _bow(rim: float, crown: float, r: float, trim: Material) -> list[Part]:
    """The handle over the lid of a stove's kettle, and its foot."""
    wire = [(-1.05, -0.01), (-1, 0.07), (0, 0.11), (1, 0.07), (1.05, -0.01)]
    grip = [(-0.55, 0.098), (0, 0.112), (0.55, 0.098)]
    tubes = [
        tube(smooth_path([(x * rim, 0.0, crown + z) for x, z in path], 8), thick)
        for path, thick in ((wire, 0.0045), (grip, [0.009, 0.012, 0.009]))
    ]
    foot = lathe(crisp([(1e-4, 0.0), (r * 0.95, 0.0), (r * 0.99, 0.004), (r * 0.97, 0.016)], FINE))
    return [Part(tubes[0], STEEL), Part(tubes[1], trim), Part(foot, STEEL)]


def _electric(f: Draws, wall: Array, tall: float, r: float, trim: Material) -> list[Part]:
    """The handle on the right, the switch on it, the base."""
    high = 0.016 + tall * f("grip-top", 0.86, 0.98)
    low = 0.016 + tall * f("grip-low", 0.12, 0.4)
    a, b = (float(np.interp(z, wall[:, 1], wall[:, 0])) * 0.97 for z in (high, low))
    out = max(a, b) + f("grip-out", 0.035, 0.055)
    end = (out * 0.93, 0.0, low) if f.chance("open", 0.3) else (b, 0.0, low)
    path = [(a, 0, high), (out * 0.92, 0, high + 0.012), (out, 0, high - 0.03)]
    path = smooth_path([*path, (out * 0.97, 0, (high + low) / 2), end], 8)
    grip = tube(path, [0.009, 0.011, 0.012, 0.011, 0.009], flat=1.35)
    rim = [(1e-4, 0.0), (r * 1.04, 0.0), (r * 1.08, 0.006), (r * 1.02, 0.0145), (1e-4, 0.0148)]
    switch = shifted(box(0.02, 0.013, 0.007, bevel=0.0015), out * 0.86, 0, high + 0.012)
    return [Part(grip, trim), Part(joined([lathe(crisp(rim, 0.0015)), switch]), MATT_BLACK)]


def toaster(_look: Look, traits: Traits) -> Thing:
    """A toaster: slots on top, a lever and a dial at one end."""
    f, v, pal = traits.family, traits.variant, household_palette(traits)
    long, deep = traits.near("long", 0.26, 0.34, 0.05), traits.near("deep", 0.15, 0.19, 0.05)
    tall, end, foot = traits.near("tall", 0.16, 0.2, 0.05), long / 2, 0.012
    power, count = f.pick("corner", (3.0, 4.5, 8.0)), f.pick("slots", (1, 2, 2))
    rows = [(i - (count - 1) / 2) * deep * 0.36 for i in range(count)]
    trim = _trim(f, pal)
    rims = [shifted(box(long * 0.66, 0.036, 0.004, bevel=0.0015), y=y) for y in rows]
    slots = [shifted(box(long * 0.62, 0.026, 0.0012), y=y) for y in rows]
    lever = shifted(box(0.02, 0.045, 0.014, bevel=0.004), 0.014, 0, tall * v("lever", 0.66, 0.76))
    rail = shifted(box(0.002, 0.008, tall * 0.6), 0.0006, 0, tall * 0.2)
    dial = lathe(
        crisp([(1e-4, 0.0), (0.017, 0.0), (0.0165, 0.012), (1e-4, 0.0125)], FINE), around=28
    )
    dial = shifted(posed(dial, turned((0, 1, 0), 90)), end, -deep * 0.25, foot + tall * 0.28)
    pads = [(x * long * 0.36, y * deep * 0.3) for x in (-1, 1) for y in (-1, 1)]
    pad = lathe([(0.012, 0.0), (0.013, foot)], around=16)
    plinth = shifted(_loaf(long * 0.96, deep * 0.94, 0.008, power), z=0.006)
    parts = [
        Part(shifted(_loaf(long, deep, tall, power), z=foot), _finish(f, pal.base)),
        Part(joined([plinth, *(shifted(pad, x, y) for x, y in pads)]), MATT_BLACK),
        Part(shifted(joined(rims), z=foot + tall - 0.001), STEEL),
        Part(shifted(joined(slots), z=foot + tall + 0.0026), Material((22, 20, 20), rough=0.8)),
        Part(shifted(joined([lever, rail]), end, 0, foot), trim),
        Part(dial, Material(pal.accent, rough=0.35) if v.chance("knob", 0.6) else trim),
    ]
    if f.chance("stripe"):
        ring = _loaf(long + 0.0012, deep + 0.0012, 0.012 + 0.01 * v.count("stripe", 0, 2), power)
        at = foot + tall * f("stripe-at", 0.12, 0.7)
        parts.append(Part(shifted(ring, z=at), Material(pal.second, rough=0.4)))
    if v.chance("toast", 0.4):
        bread = shifted(_slice(), y=rows[0], z=foot + tall - 0.032)
        parts.append(Part(bread, Material((176, 118, 62), rough=0.9)))
    return Thing.of(*parts)


def _loaf(long: float, deep: float, tall: float, power: float) -> Mesh:
    """A body with soft corners and shoulders, open below."""
    a = np.linspace(0, 2 * math.pi, 73)
    c, s = np.cos(a), np.sin(a)
    x = np.sign(c) * np.abs(c) ** (2 / power) * long / 2
    y = np.sign(s) * np.abs(s) ** (2 / power) * deep / 2
    e = 0.012 if tall > 0.05 else 0.001
    rows = ((0, 0), (0, tall * 0.5), (0, tall - e), (0.1, tall - 0.45 * e), (0.4, tall - 0.1 * e),
        (1, tall))  # fmt: skip
    skirt = [
        np.stack([x * (1 - i * e / long * 2), y * (1 - i * e / deep * 2), np.full(73, z)], -1)
        for i, z in rows
    ]
    top = np.stack([0 * x, 0 * y, np.full(73, tall)], -1)
    return skin(np.stack([*skirt, top], 1))


def _slice() -> Mesh:
    """A slice of bread on its edge."""
    half = np.array([(0.05, 0.0), (0.05, 0.045), (0.054, 0.06), (0.04, 0.072)])
    outline = np.concatenate([half, half[::-1] * (-1, 1)])
    return extrude(outline, 0.014, bevel=0.002)


def clock(_look: Look, traits: Traits) -> Thing:
    """A clock: its case, dial, hands at an hour of its own, a winder behind."""
    f, v, pal = traits.family, traits.variant, household_palette(traits)
    r, deep = traits.near("radius", 0.05, 0.085, 0.06), f("deep", 0.035, 0.06)
    kind = f.pick("case", ("bells", "feet", "block", "arch"))
    drum = kind in ("bells", "feet")
    wood = wooden(f)
    lacquer = Material(pal.base, rough=0.3, coat=0.3)
    case = f.pick("of", (lacquer, STEEL, WARM_BRASS, lacquer) if drum else (wood, wood, lacquer))
    centre = r + (0.022 if drum else r * 0.16)
    front = -deep / 2 - 0.0008
    rim = f.pick("rim", (STEEL, WARM_BRASS, MATT_BLACK, Material(pal.accent, rough=0.3)))
    bezel = [(0.95, -0.002), (1.03, 0.0), (1.02, 0.006), (0.93, 0.0075), (0.92, 0.001)]
    ring = lathe(crisp([(r * x, z) for x, z in bezel], 0.0015))
    knob = lathe(
        crisp([(1e-4, 0.0), (0.008, 0.0), (0.008, 0.008), (1e-4, 0.0085)], FINE), around=20
    )
    winder = posed(knob, turned((1, 0, 0), -90))
    parts = [
        Part(_case(kind, r, deep, centre), case),
        *(_stand(f, pal, r, centre, kind) if drum else []),
        Part(shifted(_facing(ring), y=front, z=centre), rim),
        *(
            Part(shifted(p.mesh, y=front, z=centre), p.material)
            for p in _dial(traits, pal, r * 0.94)
        ),
        Part(shifted(winder, r * v("winder", 0.2, 0.4), deep / 2, centre), MATT_BLACK),
    ]
    return Thing.of(*parts)


def _facing(mesh: Mesh) -> Mesh:
    """What stood along z now looks to the front."""
    return posed(mesh, turned((1, 0, 0), 90))


def _case(kind: str, r: float, deep: float, centre: float) -> Mesh:
    if kind == "block":
        return box(r * 2.3, deep, r * 2.32, bevel=0.004)
    if kind == "arch":
        a, w = np.linspace(0, math.pi, 25), r * 1.18
        top = np.stack([w * np.cos(a), centre + w * np.sin(a)], 1)
        return extrude(np.concatenate([[(-w, 0.0), (w, 0.0)], top]), deep, bevel=0.004)
    side = [(0, -1), (0.9, -1), (1.02, -0.8), (1.04, 0), (1, 0.08)]
    drum = lathe(crisp([(max(r * x, 1e-4), deep * z) for x, z in side], 0.003))
    return shifted(_facing(drum), y=-deep / 2, z=centre)


def _stand(f: Draws, pal: Palette, r: float, centre: float, kind: str) -> list[Part]:
    """Legs, and two bells with a hammer where there are any."""

    def rod(points: list[tuple[float, float]], thick: float) -> Mesh:
        at = [(r * x, 0.0, centre + r * z) for x, z in points]
        return tube(smooth_path(at, 5), thick, around=10)

    low = 0.005 / r - centre / r
    steel = [rod([(s * 0.55, -0.85), (s * 0.72, low)], 0.005) for s in (-1, 1)]
    steel += [shifted(ball(0.006, around=14), s * r * 0.72, 0, 0.006) for s in (-1, 1)]
    if kind != "bells":
        return [Part(joined(steel, smooth=True), STEEL)]
    dome = [(0.36, 0), (0.35, 0.1), (0.25, 0.22), (0.1, 0.28), (0, 0.29)]
    bell = lathe([(max(r * x, 1e-4), r * z) for x, z in dome], around=32)
    bells = [
        shifted(posed(bell, turned((0, 1, 0), s * 32)), s * r * 0.56, 0, centre + r)
        for s in (-1, 1)
    ]
    steel += [rod([(s * 0.5, 0.8), (s * 0.6, 1.12)], 0.0025) for s in (-1, 1)]
    steel.append(rod([(0, 1), (0, 1.28)], 0.0025))
    steel.append(shifted(ball(0.01, 0.006, 0.006, around=14), z=centre + r * 1.28))
    steel.append(rod([(-0.7, 1.3), (-0.3, 1.62), (0.3, 1.62), (0.7, 1.3)], 0.0028))
    paint = Material(pal.second, rough=0.3, coat=0.3)
    stuff = f.pick("bell", (STEEL, WARM_BRASS, paint))
    return [Part(joined(bells), stuff), Part(joined(steel, smooth=True), STEEL)]


def _dial(traits: Traits, pal: Palette, r: float) -> list[Part]:
    """A printed dial and three hands, about the origin."""
    f, v = traits.family, traits.variant
    paper: tuple[Colour, ...] = ((246, 243, 234), (236, 226, 202), pal.light, (36, 36, 40),
        pal.base)  # fmt: skip
    ground = f.pick("dial", paper)
    ink: Colour = (34, 34, 38) if luma(ground) > 120 else (238, 234, 222)
    page = Sheet(2 * r, 2 * r, ground, side=640)
    page.disc(0.5, 0.5, 0.485, mix(ground, ink, 0.12))
    page.disc(0.5, 0.5, 0.475, ground)
    if f.chance("inner", 0.4):
        page.disc(0.5, 0.5, 0.27, mix(ground, pal.second, 0.35))
    _hours(page, f, ink)
    ring, turn = np.meshgrid(np.array([0.0, 1.0]), np.linspace(0, 2 * math.pi, 49), indexing="ij")
    x, z = ring * np.cos(turn), ring * np.sin(turn)
    plate = skin(np.stack([x * r, 0 * x, z * r], -1), np.stack([x, z], -1) / 2 + 0.5, smooth=False)
    minute, hour = v.count("minute", 0, 59), v.count("hour", 1, 12)
    long = [
        _hand(r * 0.52, r * 0.045, hour * 30 + minute / 2, 0.002),
        _hand(r * 0.8, r * 0.032, minute * 6, 0.003),
    ]
    hub = shifted(ball(r * 0.045, 0.002, r * 0.045, around=16), y=-0.003)
    thin = [_hand(r * 0.84, r * 0.012, v("second", 0, 360), 0.0036), hub]
    accent = Material(pal.accent, rough=0.4)
    return [
        Part(plate, Material(sheet=page.rgb, rough=0.5)),
        Part(
            joined(long, smooth=False),
            Material(ink, rough=0.4) if f.chance("plain", 0.7) else accent,
        ),
        Part(joined(thin, smooth=False), accent),
    ]


def _hours(page: Sheet, f: Draws, ink: Colour) -> None:
    """Marks all around, and figures: all, four or none."""
    face, figures = f.pick("face", FACES), f.pick("figures", ("all", "all", "four", "none"))
    for k in range(60):
        long, width = (0.055, 0.012) if k % 5 == 0 else (0.022, 0.005)
        way = np.array([math.sin(math.radians(6 * k)), -math.cos(math.radians(6 * k))])
        if k % 5 == 0 or figures != "none":
            page.line(np.stack([way * 0.455, way * (0.455 - long)]) + 0.5, width, ink)
        if k % 5 == 0 and (figures == "all" or (figures == "four" and k % 15 == 0)):
            x, y = way * 0.335 + 0.5
            seat = (x - 0.07, y - 0.055, x + 0.07, y + 0.055)
            page.text(str(k // 5 or 12), seat, ink, face, note=False)


def _hand(long: float, wide: float, degrees: float, out: float) -> Mesh:
    tail = -long * 0.16
    shape = [(-wide / 2, tail), (wide / 2, tail), (wide * 0.32, long), (-wide * 0.32, long)]
    return shifted(posed(extrude(shape, 0.0008), turned((0, 1, 0), degrees)), y=-out)


def lamp(_look: Look, traits: Traits) -> Thing:
    """A table lamp with a shade, or a jointed one for the desk."""
    return (_shade_lamp if traits.family.chance("shade", 0.6) else _desk_lamp)(traits)


def _shade_lamp(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray = Tray()
    palette = traits.palette(light=(0.35, 0.85), vivid=0.8)
    h = f("high", 0.26, 0.34)
    foot = f("foot", 0.055, 0.085)
    count = f.count("bulges", 1, 3)
    t = np.linspace(0, 1, 40)
    swell = 0.012 + f("swell", 0.02, 0.062) * np.abs(
        np.sin(t * math.pi * count + f("phase", -0.4, 0.4))
    ) ** f("sharp", 0.7, 1.6) * (1 - 0.55 * t)
    profile = np.stack([swell, 0.02 + t * (h - 0.02)], 1)
    ceramic = Material(palette.base, rough=f("rough", 0.08, 0.5), coat=0.7 * f.chance("glaze"))
    if f.chance("metal", 0.3):
        ceramic = BRASS if f.chance("brass") else CHROME
    tray.add(ceramic, lathe(profile, around=48))
    tray.add(ceramic if f.chance("same") else Material(oklch(0.4, 0.06, 55), rough=0.4, coat=0.4),
        turning([(0, 0), (foot, 0), (foot + 0.002, 0.004), (foot, 0.016), (foot * 0.8, 0.022),
        (0, 0.024)], around=48, by=0.002))  # fmt: skip
    tray.add(BRASS, rod((0, 0, h), (0, 0, h + 0.07), 0.006))
    wide, narrow, tall = (f("shade-wide", 0.11, 0.15), f("shade-narrow", 0.06, 0.12),
        f("shade-high", 0.13, 0.19))  # fmt: skip
    on = v.chance("on", 0.4)
    linen = mottled(v.pick("linen", ((228, 218, 196), (214, 204, 186),
        mix(palette.second, (235, 228, 214), 0.55))), grain="cloth", amount=0.035)  # fmt: skip
    shade = (Material(sheet=linen, rough=0.95) if not on
        else Material((255, 226, 176), rough=0.95, glow=0.9))  # fmt: skip
    z = h + 0.005
    bow = f("bow", -0.02, 0.012)
    side = [(wide + (narrow - wide) * k + bow * math.sin(k * math.pi), z + tall * k)
        for k in np.linspace(0, 1, 9)]  # fmt: skip
    tray.add(shade, lathe(side, around=56))
    trim = Material(palette.accent, rough=0.7)
    for k, (r, at) in enumerate((side[0], side[-1])):
        edge = turned((1, 0, 0), 90)
        if v.chance("trim", 0.7) or k:
            tray.add(trim, shifted(posed(hoop(r, 0.0028, n=56, around=6), edge), z=at))
    spokes = [rod((0, 0, z + tall - 0.02), (narrow * math.cos(a), narrow * math.sin(a), z + tall),
        0.0016, around=5) for a in np.arange(3) * 2.094]  # fmt: skip
    tray.add(BRASS, *spokes, rod((0, 0, z + 0.03), (0, 0, z + tall - 0.02), 0.003))
    tray.add(Material((255, 236, 200), glow=3.0 if on else 0.0, rough=0.2),
        shifted(ball(0.026, around=20), z=z + 0.07))  # fmt: skip
    cord = [(0, foot, 0.008), (0.03, foot + 0.06, 0.004), (0.12, foot + 0.1, 0.004),
        (0.2, foot + 0.09, 0.004)]  # fmt: skip
    tray.add(Material(v.pick("cord", ((40, 38, 36), (220, 216, 206), palette.accent)), rough=0.8),
        wire(cord, 0.003, around=6))  # fmt: skip
    return Thing(tray.parts())


def _desk_lamp(traits: Traits) -> Thing:
    f, v = traits.family, traits.variant
    tray = Tray()
    palette = traits.palette(light=(0.25, 0.85), vivid=0.8)
    paint = Material(palette.base, rough=f("rough", 0.2, 0.45), coat=0.5)
    metal = BRASS if f.chance("brass", 0.3) else CHROME
    foot = f("foot", 0.075, 0.095)
    tray.add(paint, turning([(0, 0), (foot, 0), (foot + 0.002, 0.004), (foot, 0.014),
        (foot * 0.7, 0.024), (0.018, 0.03), (0.014, 0.05), (0, 0.05)], around=48,
        by=0.003))  # fmt: skip
    low, high = f("lower", 0.2, 0.26), f("upper", 0.19, 0.25)
    a = math.radians(f("lean", 98, 116) + v("lean", -4, 4))
    b = math.radians(f("reach", 20, 48) + v("reach", -5, 5))
    knee = np.array((low * math.cos(a), 0, 0.045 + low * math.sin(a)))
    wrist = knee + high * np.array((math.cos(b), 0, math.sin(b)))
    joint = facing(turning([(0, -0.014), (0.013, -0.014), (0.013, 0.014), (0, 0.014)], around=22))
    arm = paint if f.chance("painted") else metal
    double = f.chance("double", 0.6)
    for start, end in (((0, 0, 0.045), tuple(knee)), (tuple(knee), tuple(wrist))):
        for y in (-0.008, 0.008) if double else (0,):
            tray.add(
                arm, rod((start[0], y, start[2]), (end[0], y, end[2]), 0.004 if double else 0.0065)
            )
    tray.add(Material(palette.accent, rough=0.4) if v.chance("joints") else metal,
        *[shifted(joint, *p) for p in ((0, 0, 0.05), knee, wrist)])  # fmt: skip
    if double:
        spring = np.linspace(0, 1, 90)[:, None]
        line = np.array((0.013, 0, 0.055)) + knee * 0.6 * spring
        turn = spring * 2 * math.pi * 15
        tray.add(metal, tube(line + 0.004 * np.concatenate([np.cos(turn), np.sin(turn), 0 * turn],
            1), 0.0009, around=4))  # fmt: skip
    r, tall = f("head", 0.055, 0.075), f("tall", 0.09, 0.13)
    bell = [(0.016, 0), (0.02, 0.004), (0.024, tall * 0.25), (r * f("bell", 0.6, 0.95), tall * 0.6),
        (r, tall), (r - 0.003, tall), (r * 0.6, tall * 0.62), (0.018, tall * 0.3)]  # fmt: skip
    on = v.chance("on", 0.45)
    aim = turned((0, 1, 0), f("aim", 135, 160))
    aim[:3, 3] = wrist + np.array((0.01, 0, 0))
    tray.add(paint, posed(lathe(crisp(bell, 0.002), around=44), aim))
    tray.add(Material((255, 240, 210), glow=6.0 if on else 0.0, rough=0.2),
        posed(shifted(ball(0.024, around=20), z=tall * 0.72), aim))  # fmt: skip
    tray.add(metal, posed(rod((0, 0, -0.012), (0, 0, 0.004), 0.008), aim))
    tray.add(BLACK, wire([(-foot * 0.9, 0, 0.006), (-foot - 0.05, 0.03, 0.004),
        (-foot - 0.1, 0.12, 0.004)], 0.003, around=6))  # fmt: skip
    return Thing(tray.parts())


_HANDLES = {
    "ear": [(0, 0, 1), (1, -0.004, 1.05), (1, 0, 0.55), (1, -0.012, 0.1), (2, 0, 0)],
    "loop": [(0, 0, 1), (1, -0.008, 0.96), (1, 0, 0.5), (1, -0.008, 0.04), (2, 0, 0)],
    "square": [
        (0, 0, 1), (1, -0.003, 1), (1, 0, 0.92), (1, 0, 0.08), (1, -0.003, 0), (2, 0, 0),
    ],
}  # fmt: skip
"""From the upper end (0) out (1) to the lower end (2): where, metres inwards, height as a part."""


def mug(_look: Look, traits: Traits) -> Thing:
    """A mug of stoneware, china or enamel, empty or with something in it."""
    f, v, pal = traits.family, traits.variant, traits.palette(vivid=0.75)
    r, tall = traits.near("radius", 0.036, 0.046, 0.06), traits.near("tall", 0.078, 0.112, 0.06)
    belly = f.pick("belly", (0.0, 0.0, 0.08, 0.16, -0.05))
    t = np.linspace(0, 1, 18)
    z = 0.004 + t * (tall - 0.004)
    radius = r * (1 + (f("flare", 0.86, 1.1) - 1) * t) * (1 + belly * np.sin(math.pi * t))
    foot, rim = r * (0.92 if belly < 0.1 else 0.75), float(radius[-1])
    out = np.concatenate([[(foot * 0.9, 0.0015), (foot * 0.95, 0)], np.stack([radius, z], 1)])
    lip = [(rim, tall - 0.0008), (rim + 0.0004, tall + 0.0006), (rim - 0.0008, tall + 0.0017)]
    inner = np.stack([radius[::-1] - 0.0035, z[::-1]], 1)[:-1]
    inside = [(rim - 0.0008, tall + 0.0016), (rim - 0.0026, tall + 0.0016), *inner]
    inside += [(radius[0] * 0.8, 0.006), (1e-4, 0.006)]
    rough, coat = f.pick("glaze", ((0.14, 0.6), (0.35, 0.2), (0.6, 0.0)))
    glaze = Material(pal.base, rough=rough, coat=coat)
    edge = pal.accent if f.chance("enamel", 0.25) else mix(pal.base, (255, 255, 255), 0.2)
    lining = f.pick("lining", (pal.light, (244, 240, 232), pal.second))
    page = Sheet(2 * math.pi * r, tall, pal.base, side=1024)
    _decorate(page, traits, pal)
    grip = pal.accent if f.chance("handle-accent", 0.25) else pal.base
    parts = [
        Part(lathe(out, around=72), glaze._replace(sheet=page.rgb)),
        Part(lathe(np.array(inside), around=72), glaze._replace(colour=lining)),
        Part(lathe(lip, around=72), glaze._replace(colour=edge)),
        Part(_handle(f, radius, z, tall), glaze._replace(colour=grip)),
    ]
    if v.chance("drink"):
        drinks = ((58, 34, 22), (150, 104, 66), (128, 66, 26), (196, 158, 118))
        level = tall * f("full", 0.7, 0.86)
        full = float(np.interp(level, z, radius)) - 0.003
        pool = [(full + 0.001, level), (full * 0.96, level - 0.0006), (1e-4, level - 0.0006)]
        parts.append(Part(lathe(pool), Material(v.pick("which", drinks), rough=0.1)))
    return Thing.of(*parts)


def _handle(f: Draws, radius: Array, z: Array, tall: float) -> Mesh:
    """A loop, an ear or a square bow to the right."""
    top, low = tall * f("handle-top", 0.78, 0.9), tall * f("handle-low", 0.16, 0.34)
    a, b = float(np.interp(top, z, radius)), float(np.interp(low, z, radius))
    ends = (a - 0.003, max(a, b) + f("handle-out", 0.022, 0.032), b - 0.003)
    points = _HANDLES[f.pick("handle", tuple(_HANDLES))]
    path = [(ends[i] + inward, 0.0, low + (top - low) * up) for i, inward, up in points]
    thick = [0.0058, 0.0048, 0.0048, 0.0058]
    return tube(smooth_path(path, 8), thick, flat=f("handle-flat", 1.0, 1.7))


def _decorate(page: Sheet, traits: Traits, pal: Palette) -> None:
    """Glaze: dipped, patterned, striped, with a picture on both sides."""
    f, v = traits.family, traits.variant
    style = f.pick("style", ("picture", "picture", "pattern", "dipped", "plain"))
    if style == "pattern":
        pattern(page, f, pal.second)
    if style == "dipped":
        x = np.linspace(0, 1, 60)
        line = f("dip", 0.35, 0.65) + 0.02 * np.sin(x * 2 * math.pi * f.count("runs", 2, 6))
        page.fill([(0, 1), *zip(x, line + 0.01 * np.sin(x * 44), strict=True), (1, 1)],
                  brighten(pal.second, 0.9))  # fmt: skip
    if style in ("picture", "dipped"):
        on = (pal.dark, pal.light) if luma(pal.base) > 110 else (pal.light, pal.dark)
        size = 0.33 if style == "picture" else 0.2
        for x in (0.5, 0.0, 1.0):
            at = x + v("shift", -0.01, 0.01)
            illustrate(page, f, (on[0], pal.second, pal.accent, on[1]), at, 0.5, size)
    for k in range(v.count("rings", 0, 3)):
        page.box((0, 0.06 + 0.05 * k, 1, 0.085 + 0.05 * k), pal.accent)
    page.grain(0.012 if f.chance("smooth", 0.6) else 0.05, "fine")
