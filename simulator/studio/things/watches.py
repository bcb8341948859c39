"""Wristwatches, laid flat."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Material, Mesh, Thing, turned
from simulator.studio.solid.meshes import box, posed, scaled, shifted, skin
from simulator.studio.solid.prints import Sheet
from simulator.studio.things.making import (
    BLACK,
    BRASS,
    CHROME,
    DARK_GLASS,
    Tray,
    along_x,
    both,
    circle,
    hoop,
    mottled,
    plate,
    rod,
    rounded,
    turning,
    wire,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits, mix


def watch(_look: Look, traits: Traits) -> Thing:
    """A wristwatch laid flat, its strap stretched out."""
    f, v = traits.family, traits.variant
    tray = Tray()
    r, thick = f("wide", 0.018, 0.0215), f("thick", 0.008, 0.0115)
    gold = f.chance("gold", 0.3)
    metal = (BRASS if gold else Material((60, 61, 64), rough=0.3, metal=1.0)
        if f.chance("dark", 0.2) else CHROME)  # fmt: skip
    square = f.chance("square", 0.25)
    case = _case(r, thick, metal, tray, square)
    tray.add(case[0], *case[1])
    lie = turned((1, 0, 0), -90)
    dial = _dial(traits, square)
    face = plate(
        rounded(2 * r * 0.84, 2 * r * 0.84, 0.006) if square else circle(r * 0.86, n=48), 0.0006
    )
    tray.add(Material(sheet=dial.rgb, rough=0.3), posed(shifted(face, y=-thick - 0.0002), lie))
    ink = (v.pick("hands", (BLACK, CHROME, BRASS)) if int(dial.rgb[8, 8].sum()) > 330
        else v.pick("light-hands", (CHROME, BRASS, Material((236, 236, 232),
        rough=0.4))))  # fmt: skip
    hour, minute = v("hour", 0, 360), v("minute", 0, 360)
    for angle, long, wide in ((hour, 0.46, 0.0011), (minute, 0.68, 0.0008)):
        hand = plate([(-wide, -r * 0.12), (wide, -r * 0.12), (wide * 0.6, r * long),
            (-wide * 0.6, r * long)], 0.0003, (0, -thick - 0.0008, 0))  # fmt: skip
        tray.add(ink, posed(posed(hand, turned((0, 1, 0), angle)), lie))
    second = plate([(-0.0003, -r * 0.2), (0.0003, -r * 0.2), (0.0002, r * 0.74),
        (-0.0002, r * 0.74)], 0.0002, (0, -thick - 0.0012, 0))  # fmt: skip
    tray.add(Material(traits.palette().accent, rough=0.4),
        posed(posed(second, turned((0, 1, 0), v("second", 0, 360))), lie))  # fmt: skip
    crown = along_x(
        turning([(0, 0), (0.0028, 0), (0.0028, 0.0035), (0, 0.004)], around=16, by=0.0004)
    )
    tray.add(metal, shifted(crown, r * 0.99, 0, thick * 0.5))
    if f.chance("pushers", 0.35):
        for k in (-1, 1):
            tray.add(metal, rod((r * 0.85, k * r * 0.5, thick * 0.5),
                (r * 1.08, k * r * 0.56, thick * 0.5), 0.0016))  # fmt: skip
    _band(tray, traits, r, thick, metal)
    return Thing(tray.parts())


def _case(
    r: float, thick: float, metal: Material, tray: Tray, square: bool
) -> tuple[Material, list[Mesh]]:
    if square:
        lie = turned((1, 0, 0), -90)
        ring = plate(rounded(2 * r, 2 * r, 0.008), thick, (0, -thick / 2, 0), bevel=0.0014)
        tray.add(DARK_GLASS, posed(plate(rounded(2 * r * 0.88, 2 * r * 0.88, 0.0065), 0.0004,
            (0, -thick, 0)), lie))  # fmt: skip
        return metal, [posed(ring, lie)]
    side = [(0, 0), (r * 0.9, 0), (r, thick * 0.25), (r, thick * 0.7), (r * 0.95, thick * 0.92),
        (r * 0.93, thick + 0.0008), (r * 0.88, thick + 0.0008), (r * 0.86, thick - 0.0004),
        (0, thick - 0.0004)]  # fmt: skip
    return metal, [turning(side, around=56, by=0.0004)]


def _dial(traits: Traits, square: bool) -> Sheet:
    """Marks of the hours, a small dial or a date window, no name."""
    f, v = traits.family, traits.variant
    palette = traits.palette(light=(0.25, 0.5), vivid=0.7)
    ground = f.pick(
        "dial", ((234, 232, 226), (24, 25, 28), palette.base, palette.dark, (222, 212, 186))
    )
    page = Sheet(1, 1, ground, side=512)
    bright = sum(ground) > 330
    ink = (26, 26, 28) if bright else (230, 228, 220)
    long, wide = f("mark", 0.05, 0.13), f("mark-wide", 0.012, 0.034)
    numbers = f.chance("numbers", 0.4)
    mark = (np.array([(-wide / 2, 0.8 - long), (wide / 2, 0.8 - long), (wide / 2, 0.82),
        (-wide / 2, 0.82)]) * 1.1)  # fmt: skip
    tick = np.array([(-0.006, 0.87), (0.006, 0.87), (0.006, 0.93), (-0.006, 0.93)])
    for k in range(60):
        page.figure(tick, 0.5, 0.5, 0.5, ink, turn=k * math.pi / 30)
    for k in range(12):
        if numbers and (k % 3 == 0 or f.chance("all-numbers")):
            a = k * math.pi / 6
            x, y = 0.5 + 0.34 * math.sin(a), 0.5 - 0.34 * math.cos(a)
            page.text(str(k or 12), (x - 0.06, y - 0.05, x + 0.06, y + 0.05), ink, note=False)
        else:
            page.figure(mark, 0.5, 0.5, 0.5, ink, turn=k * math.pi / 6)
    extra = v.pick("extra", ("small", "date", "none", "two"))
    at = v.pick("where", ((0.5, 0.7), (0.32, 0.5), (0.5, 0.32)))
    shade = mix(ground, (0, 0, 0) if bright else (255, 255, 255), 0.16)
    for x, y in {"small": [at], "two": [(0.32, 0.5), (0.68, 0.5)]}.get(extra, []):
        page.disc(x, y, 0.12, ink)
        page.disc(x, y, 0.112, shade)
        page.line([(x, y), (x + 0.05, y - 0.07)], 0.01, ink)
    if extra == "date":
        page.box((0.7, 0.46, 0.79, 0.54), (240, 240, 236))
        page.text(str(v.count("day", 1, 31)), (0.71, 0.47, 0.78, 0.53), (20, 20, 20), note=False)
    if square:
        page.frame((0.03, 0.03, 0.97, 0.97), 0.01, ink)
    return page


def _band(tray: Tray, traits: Traits, r: float, thick: float, metal: Material) -> None:
    """Lugs, and a strap of leather, cloth or links, falling away to both sides."""
    f, v = traits.family, traits.variant
    wide = r * f("strap", 0.92, 1.12)
    lug = [(0, r * 0.75, thick * 0.55), (0, r * 1.05, thick * 0.45), (0, r * 1.16, thick * 0.2)]
    lugs = [shifted(wire(lug, [0.003, 0.0024, 0.0016], around=8), x)
        for x in (-wide * 0.56, wide * 0.56)]  # fmt: skip
    tray.add(metal, *(both(q) for q in lugs))
    links = f.chance("links", 0.35)
    leather = Material(sheet=mottled(v.pick("leather", ((36, 34, 33), (96, 60, 38), (150, 104, 66),
        traits.palette(light=(0.25, 0.5)).base, traits.palette().accent)), grain="leather",
        amount=0.06), rough=0.75)  # fmt: skip
    for s in (-1, 1):
        long = 0.085 if s < 0 else 0.07
        y = r * 1.06 + np.linspace(0, long, 26)
        z = thick * 0.42 * np.exp(-(((y - r) / 0.02) ** 2)) + 0.0018
        if links:
            piece = box(wide * 0.62, 0.0062, 0.003, bevel=0.0008)
            side = box(wide * 0.2, 0.0062, 0.0028, bevel=0.0008)
            for k in np.arange(0, long, 0.0068):
                at = (float(s * (r * 1.1 + k)), float(np.interp(r * 1.1 + k, y, z)) - 0.0015)
                tray.add(metal, shifted(piece, 0, *at))
                tray.add(BRASS if v.chance("two-tone", 0.3) else metal,
                    *[shifted(side, x * wide * 0.41, *at) for x in (-1, 1)])  # fmt: skip
            continue
        narrow = (np.interp(np.linspace(0, 1, 26), (0, 0.92, 1),
            (1.0, 0.82, 0.5 if s < 0 else 0.8)) * wide / 2)  # fmt: skip
        across = np.linspace(-1, 1, 7)
        bulge = 0.0012 * (1 - across**2)
        top = np.stack([np.stack([narrow * k, s * y, z + b], -1) for k,
            b in zip(across, bulge, strict=True)], 0)  # fmt: skip
        tray.add(
            leather, skin(top if s > 0 else top[::-1]), skin((top - (0, 0, 0.0022)) * (1, 1, 1))
        )
        if v.chance("stitch", 0.6):
            seam = Material((222, 214, 196), rough=0.9)
            for k in (-0.86, 0.86):
                tray.add(seam, *[rod((k * narrow[i], s * y[i], z[i] + 0.0008),
                    (k * narrow[i + 1], s * (y[i] + 0.0022), z[i + 1] + 0.0008), 0.00032, around=4)
                    for i in range(1, 23)])  # fmt: skip
        if s > 0:
            buckle = shifted(hoop(wide * 0.5, 0.0011, n=28, around=6), 0, 0, 0)
            flat = posed(buckle, turned((1, 0, 0), 90))
            tray.add(metal, shifted(scaled(flat, 1, 0.62, 1), 0, float(y[-1]) + 0.003, 0.0026))
        else:
            tray.add(BLACK, *[shifted(turning([(0.0009, 0), (0, 0.0002)], around=8), 0,
                float(-y[k]), float(z[k]) + 0.0012) for k in (12, 14, 16, 18, 20)])  # fmt: skip
