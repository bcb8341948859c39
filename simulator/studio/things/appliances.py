"""Kettles and toasters: bodies of a few finishes, with the trim that tells them apart."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing, turned
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
from simulator.studio.things.caps import FINE, STEEL
from simulator.studio.things.making import crisp
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Palette, Traits

BLACK = Material((32, 32, 34), rough=0.45)
BRASS = Material((198, 158, 92), rough=0.25, metal=1.0)
WOODS: tuple[Colour, ...] = ((176, 128, 82), (120, 82, 54), (206, 168, 120))


def kettle(look: Look, traits: Traits) -> Thing:
    """An electric kettle on its base, or one for the stove with a bow over its lid."""
    del look
    f, v, pal = traits.family, traits.variant, quiet(traits)
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


def quiet(traits: Traits) -> Palette:
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
    return f.pick("trim", (BLACK, wooden(f), STEEL, Material(pal.second, rough=0.4)))


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
    return [Part(grip, trim), Part(joined([lathe(crisp(rim, 0.0015)), switch]), BLACK)]


def toaster(look: Look, traits: Traits) -> Thing:
    """A toaster: slots on top, a lever and a dial at one end."""
    del look
    f, v, pal = traits.family, traits.variant, quiet(traits)
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
        Part(joined([plinth, *(shifted(pad, x, y) for x, y in pads)]), BLACK),
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
