"""Clocks that stand: drums with feet or bells, blocks, arches."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Material, Mesh, Part, Thing, turned
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
from simulator.studio.solid.prints import Sheet
from simulator.studio.solid.typesetting import FACES
from simulator.studio.things.appliances import BLACK, BRASS, quiet, wooden
from simulator.studio.things.caps import FINE, STEEL
from simulator.studio.things.making import crisp
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Palette, Traits, luma, mix


def clock(look: Look, traits: Traits) -> Thing:
    """A clock: its case, dial, hands at an hour of its own, a winder behind."""
    del look
    f, v, pal = traits.family, traits.variant, quiet(traits)
    r, deep = traits.near("radius", 0.05, 0.085, 0.06), f("deep", 0.035, 0.06)
    kind = f.pick("case", ("bells", "feet", "block", "arch"))
    drum = kind in ("bells", "feet")
    wood = wooden(f)
    lacquer = Material(pal.base, rough=0.3, coat=0.3)
    case = f.pick("of", (lacquer, STEEL, BRASS, lacquer) if drum else (wood, wood, lacquer))
    centre = r + (0.022 if drum else r * 0.16)
    front = -deep / 2 - 0.0008
    rim = f.pick("rim", (STEEL, BRASS, BLACK, Material(pal.accent, rough=0.3)))
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
        Part(shifted(winder, r * v("winder", 0.2, 0.4), deep / 2, centre), BLACK),
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
    stuff = f.pick("bell", (STEEL, BRASS, paint))
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
            page.text(str(k // 5 or 12), seat, ink, face, lines=1, note=False)


def _hand(long: float, wide: float, degrees: float, out: float) -> Mesh:
    tail = -long * 0.16
    shape = [(-wide / 2, tail), (wide / 2, tail), (wide * 0.32, long), (-wide * 0.32, long)]
    return shifted(posed(extrude(shape, 0.0008), turned((0, 1, 0), degrees)), y=-out)
