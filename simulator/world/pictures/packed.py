"""Bottles, cartons, jars, packets, mugs: things with a printed skin."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.light import Material
from simulator.world.pictures.printed_sheet import Sheet
from simulator.world.pictures.shapes import arc, rounded, smooth
from simulator.world.pictures.stage import Box, Painter, Stage
from simulator.world.pictures.traits import WHITE, mix, oklch, scale


def _bottle(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = s.traits.near("girth", 0.13, 0.21, 0.1)
    shoulder = f("shoulder", 0.5, 0.68)
    neck = f("neck", 0.32, 0.55) * r
    waist = f("waist", 0.84, 1.06)
    rise = f("rise", 0.06, 0.2)
    pitch = s.view.pitch * 0.6
    glass = Material(
        scale(oklch(f("glass-l", 0.3, 0.72), f("glass-c", 0.03, 0.12), f("glass-h", 0, 360)), 0.9),
        0.95,
    )
    steps = [
        (0.0, r * 0.94),
        (0.02, r),
        (shoulder * 0.3, r * waist),
        (shoulder * 0.6, r * waist),
        (shoulder, r),
        (shoulder + rise * 0.45, r * 0.93),
        (shoulder + rise * 0.8, (r + neck) / 2),
        (shoulder + rise, neck * 1.1),
        (shoulder + rise + 0.06, neck),
        (0.93, neck),
    ]
    body = [(y, q) for y, q in steps if y <= 0.93]
    s.canvas.revolve(0, body, glass, pitch=pitch)
    s.canvas.glow(rounded(-r * 0.8, 0.04, -r * 0.66, shoulder, 0.01), 0.25, 0.008)
    fill_top = shoulder + rise * s.pose("level", 0.2, 0.8)
    s.canvas.shadow(rounded(-r, fill_top, r, fill_top + 0.012, 0.004), 0.25, 0.006)
    low, high = f("label-y", 0.08, 0.14), shoulder - f("label-gap", 0.01, 0.05)
    lane = np.linspace(low, high, 6)
    radii = np.interp(lane, [b[0] for b in body], [b[1] for b in body]) * 1.012
    sheet = s.package(pal, 2 * math.pi * r, high - low, around=True)
    turn = s.view.yaw * 0.5
    s.wrap(
        0,
        list(zip(lane.tolist(), radii.tolist(), strict=True)),
        sheet,
        Material(WHITE, 0.25),
        pitch=pitch,
        turn=turn,
    )
    cap = Material(pal.accent, 0.55)
    height = f("cap", 0.05, 0.1)
    s.canvas.revolve(
        0,
        [(0.93 - height * 0.5, neck * 1.22), (0.93 + height * 0.5, neck * 1.2)],
        cap,
        pitch=pitch,
        cap=cap,
    )
    for k in range(9):
        x = math.sin((k - 4) * 0.36) * neck * 1.2
        s.canvas.line(
            [(x, 0.935 - height * 0.5), (x, 0.925 + height * 0.5)], 0.004, scale(pal.accent, 0.72)
        )
    if f.chance("collar", 0.5):
        y = shoulder + rise + 0.05
        s.canvas.revolve(
            0, [(y, neck * 1.05), (y + 0.06, neck * 1.05)], Material(pal.second, 0.3), pitch=pitch
        )
    s.foot = r * math.sin(pitch)
    s.base = (-r, r)


def _carton(s: Stage) -> None:
    f, pal = s.f, s.palette()
    w, h = f("w", 0.36, 0.5), f("h", 0.66, 0.76)
    d = w * f("d", 0.6, 1.0)
    gable = f.chance("gable", 0.65)
    if not gable:
        h += 0.2
    yaw = s.view.yaw if abs(s.view.yaw) > 0.2 else math.copysign(0.3, s.view.yaw)
    box = Box(s, w, h, d, yaw=yaw * 0.8)
    front = s.package(pal, w, h)
    side = s.sheet(d, h, scale(pal.base, 0.97))
    side.box(0, 0, 1, 0.16, pal.accent)
    side.box(0.12, 0.24, 0.88, 0.8, mix(pal.light, pal.base, 0.2))
    side.greek((0.18, 0.28, 0.82, 0.76), 11, mix(pal.dark, pal.base, 0.3), s.view.key)
    top = s.sheet(w, d, mix(pal.light, pal.base, 0.5))
    box.paint({"front": front, "right": side, "top": top}, gloss=0.3)
    if not gable:
        lid = Material(pal.accent, 0.5)
        x, y = box.at(0, h, 0)
        s.canvas.revolve(x, [(y, 0.06), (y + 0.045, 0.058)], lid, pitch=s.view.pitch, cap=lid)
        return
    rise = 0.17
    a, b = box.at(-w / 2, h, d / 2), box.at(w / 2, h, d / 2)
    c, e = box.at(-w / 2, h, -d / 2), box.at(w / 2, h, -d / 2)
    left, right = box.at(-w / 2, h + rise, 0), box.at(w / 2, h + rise, 0)
    skin = Material(pal.base, 0.3)
    near = (b, right, e) if yaw < 0 else (a, left, c)
    s.canvas.face(
        near, Material(scale(pal.base, 0.8), 0.2), box.normal(-math.copysign(1, yaw), 0, 0)
    )
    s.canvas.face([a, left, right, b], skin, box.normal(0, 0.6, 0.8))
    s.canvas.line([a, b], 0.006, scale(pal.base, 0.7))
    fin_l, fin_r = box.at(-w / 2, h + rise + 0.07, 0), box.at(w / 2, h + rise + 0.07, 0)
    s.canvas.face([left, fin_l, fin_r, right], Material(pal.accent, 0.3), box.normal(0, 0, 1))
    s.canvas.line([left, right], 0.006, scale(pal.base, 0.6))
    if f.chance("screw", 0.6):
        cap = Material(pal.accent, 0.55)
        x, y = (a[0] + right[0]) / 2, (a[1] + right[1]) / 2
        s.canvas.ball(x, y + 0.005, 0.055, Material(scale(pal.accent, 0.7)), 0.045)
        s.canvas.ball(x, y + 0.022, 0.052, cap, 0.042)


def _jar(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = s.traits.near("girth", 0.26, 0.36, 0.1)
    shoulder = f("shoulder", 0.62, 0.72)
    waist = f("waist", 0.92, 1.1)
    pitch = s.view.pitch
    content = oklch(
        f("content-l", 0.35, 0.78) + s.v("content-l", -0.05, 0.05),
        f("content-c", 0.06, 0.15),
        f("content-h", 10, 130) + s.v("content-h", -14, 14),
    )
    body = [
        (0, r * 0.9),
        (0.03, r),
        (shoulder * 0.5, r * waist),
        (shoulder, r),
        (shoulder + 0.06, r * 0.93),
        (shoulder + 0.1, r * 0.84),
        (shoulder + 0.16, r * 0.84),
    ]
    s.canvas.revolve(
        0,
        body,
        Material(content, 0.9, grain=0.10 if f.chance("lumps") else 0.02, texture="leafage"),
        pitch=pitch,
    )
    glass = oklch(0.9, 0.01, 200)
    s.canvas.flat(
        rounded(-r * 0.84, shoulder + 0.09, r * 0.84, shoulder + 0.16, 0.01), glass, opacity=0.35
    )
    s.canvas.glow(rounded(-r * 0.86, 0.06, -r * 0.74, shoulder, 0.02), 0.4, 0.012)
    low, high = 0.1, shoulder - 0.07
    sheet = s.package(pal, 2 * math.pi * r, high - low, around=True)
    lane = np.linspace(low, high, 6)
    radii = np.interp(lane, [b[0] for b in body], [b[1] for b in body]) * 1.01
    s.wrap(
        0,
        list(zip(lane.tolist(), radii.tolist(), strict=True)),
        sheet,
        Material(WHITE, 0.2),
        pitch=pitch,
        turn=s.view.yaw * 0.4,
    )
    lid_colour = pal.second if f.chance("lid", 0.6) else (190, 160, 90)
    metal = 0.0 if f.chance("lid", 0.6) else 0.6
    lid = Material(lid_colour, 0.6, metal)
    y = shoulder + 0.13
    if f.chance("cloth", 0.3):
        cloth = Material(lid_colour, 0.05, grain=0.06, texture="cloth")
        s.canvas.revolve(
            0,
            [(y - 0.08, r * 1.08), (y - 0.02, r * 0.92), (y + 0.08, r * 0.9)],
            cloth,
            pitch=pitch,
            cap=cloth,
        )
        s.canvas.line(
            arc(0, y - 0.015, r * 0.93, r * 0.93 * math.sin(pitch), 180, 360), 0.02, pal.accent
        )
    else:
        s.canvas.revolve(
            0,
            [(y, r * 0.92), (y + 0.02, r * 0.95), (y + 0.1, r * 0.95), (y + 0.115, r * 0.92)],
            lid,
            pitch=pitch,
            cap=lid,
        )
        ring = arc(0, y + 0.115, r * 0.78, r * 0.78 * math.sin(pitch), 0, 360, 40)
        s.canvas.line(ring, 0.008, scale(lid_colour, 0.75))
    s.foot, s.base = r * math.sin(pitch), (-r * 0.9, r * 0.9)


def _packet(s: Stage) -> None:
    f, pal = s.f, s.palette()
    w = f("w", 0.56, 0.78)
    n = 22
    zig = 0.012
    xs = np.linspace(-w / 2, w / 2, n)
    top = np.stack([xs, 1.0 + zig * (np.arange(n) % 2)], 1)
    bottom = np.stack([xs[::-1], 0.0 - zig * (np.arange(n) % 2) + zig], 1)
    side = np.linspace(0.96, 0.04, 9)
    bulge = f("bulge", 0.0, 0.03)
    wave = bulge * np.sin((side - 0.04) / 0.92 * math.pi) + 0.004 * np.sin(side * 40)
    right = np.stack([w / 2 + wave, side], 1)
    left = np.stack([-w / 2 - wave, side], 1)[::-1]
    outline = np.concatenate([top, right, bottom, left])
    sheet = s.package(pal, w, 1.0)
    points = s.canvas.px(outline)
    x0, y0 = points.min(0)
    skin = Material(WHITE, 0.62 if f.chance("foil", 0.6) else 0.15, bump=0.05, texture="cloud")
    s.canvas.blob(outline, skin, albedo=sheet.rgb, puff=0.55)
    del x0, y0
    for y in (0.955, 0.965, 0.975, 0.985, 0.02, 0.03, 0.04, 0.05):
        s.canvas.line([(-w / 2, y), (w / 2, y)], 0.004, (255, 255, 255), opacity=0.28, inside=True)
    s.canvas.shadow([(-w / 2, 0.94), (w / 2, 0.94), (w / 2, 0.9), (-w / 2, 0.9)], 0.2, 0.012)
    s.canvas.shadow([(-w / 2, 0.07), (w / 2, 0.07), (w / 2, 0.12), (-w / 2, 0.12)], 0.2, 0.012)
    _register(s, sheet, (-w / 2 - bulge, 1.0 + zig), (w / 2 + bulge, 0.0))


def _register(
    s: Stage, sheet: Sheet, upper_left: tuple[float, float], lower_right: tuple[float, float]
) -> None:
    """Note the texts of a sheet that was stretched over a bounding box."""
    (x0, y0), (x1, y1) = upper_left, lower_right
    corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    s.note(sheet, corners)


def _mug(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = f("r", 0.32, 0.42)
    h = f("h", 0.75, 0.98)
    flare, belly = f("flare", 0.86, 1.12), f("belly", 0.0, 0.1)
    pitch = max(s.view.pitch, 0.1) + 0.12
    glaze = f("glaze", 0.35, 0.9)
    clay = Material(pal.base, glaze)
    side = -1 if s.view.flip else 1
    handle = s.f("handle", 0.2, 0.32)
    top, bottom = h * 0.84, h * f("handle-low", 0.16, 0.34)
    path = [
        (side * r * 0.9, top),
        (side * (r + handle * 0.7), top - 0.01),
        (side * (r + handle), (top + bottom) / 2 + 0.05),
        (side * (r + handle * 0.6), bottom + 0.02),
        (side * r * 0.85, bottom),
    ]
    rim = pal.accent if s.v.chance("rim-accent", 0.6) else pal.light
    s.canvas.tube(
        smooth(path, closed=False),
        f("handle-w", 0.07, 0.12),
        Material(rim if f.chance("handle-colour", 0.4) else pal.base, glaze),
    )
    profile = [
        (y * h, r * (1 + (flare - 1) * y) * (1 + belly * math.sin(y * math.pi)))
        for y in np.linspace(0.04, 1, 9)
    ]
    profile = [(0.0, profile[0][1] * 0.86), *profile]
    sheet = s.sheet(2 * math.pi * r, h, pal.base)
    if f.chance("patterned", 0.7):
        sheet.pattern(s.traits, (pal.second, pal.base))
    if f.chance("dipped", 0.4):
        level = f("dip", 0.5, 0.85)
        sheet.box(0, level, 1, 1, scale(pal.second, 0.85))
    for k in range(s.v.count("rings", 0, 3)):
        sheet.box(0, 0.08 + 0.05 * k, 1, 0.105 + 0.05 * k, pal.accent)
    if f.chance("emblem", 0.75):
        sheet.emblem(
            s.traits,
            0.5 + s.v("shift", -0.02, 0.02),
            0.5,
            0.26,
            (pal.light, pal.accent, pal.dark, pal.second),
        )
    if s.label is not None and not s.away:
        sheet.box(0.36, 0.7, 0.64, 0.9, pal.light)
        sheet.print(s.label, (0.37, 0.71, 0.63, 0.89), pal.dark, lines=2, key=s.view.key)
    s.wrap(0, profile, sheet, clay._replace(colour=WHITE), pitch=pitch, turn=s.view.yaw * 0.5)
    rx, ry = profile[-1][1], profile[-1][1] * math.sin(pitch)
    t = np.linspace(0, 2 * math.pi, 48)
    ring = np.stack([rx * np.cos(t), h + ry * np.sin(t)], 1)
    s.canvas.flat(ring, scale(rim, 0.95))
    inner = np.stack([rx * 0.92 * np.cos(t), h + ry * 0.9 * np.sin(t)], 1)
    s.canvas.face(inner, Material(scale(pal.light, 0.78), 0.4), (0.1, -0.3))
    drink = oklch(*s.pose.pick("drink", ((0.3, 0.06, 50), (0.5, 0.1, 60), (0.45, 0.09, 100))))
    liquid = np.stack([rx * 0.86 * np.cos(t), h - 0.05 + ry * 0.78 * np.sin(t)], 1)
    s.canvas.face(liquid, Material(drink, 0.8), (0.0, 0.75))
    s.canvas.line(
        np.stack([rx * 0.97 * np.cos(t), h + ry * 0.96 * np.sin(t)], 1),
        0.012,
        scale(mix(rim, WHITE, 0.4), 1.0),
        opacity=0.7,
    )
    s.foot, s.base = r * 0.86 * math.sin(pitch), (-r * 0.9, r * 0.9)


PAINTERS = {
    "bottle": Painter(_bottle, (-0.32, -0.1, 0.32, 1.06), 0.28),
    "carton": Painter(_carton, (-0.6, -0.2, 0.6, 1.15), 0.24),
    "jar": Painter(_jar, (-0.46, -0.16, 0.46, 1.06), 0.14),
    "packet": Painter(_packet, (-0.45, -0.03, 0.45, 1.04), 0.24),
    "mug": Painter(_mug, (-0.85, -0.2, 0.85, 1.2), 0.1),
}
"""Painters of this module by kind."""
