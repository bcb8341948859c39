"""Lamps: for the table under a shade, and jointed ones for the desk."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Material, Thing, turned
from simulator.studio.solid.meshes import ball, lathe, posed, shifted, tube
from simulator.studio.things.making import (
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
from simulator.world.pictures.traits import Traits, mix, oklch


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
