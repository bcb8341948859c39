"""Cars, vans, motorcycles, bicycles, seen from the side."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.letters import FACES
from simulator.world.pictures.light import Material
from simulator.world.pictures.shapes import arc, ellipse, emblem, move, rounded, smooth
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import WHITE, Colour, Palette, mix, scale

GLASS = Material((62, 78, 90), 0.95)
RUBBER = Material((38, 38, 40), 0.12)
CHROME = Material((206, 209, 214), 0.85, 0.9)


def _wheel(s: Stage, x: float, y: float, r: float, pal: Palette) -> None:
    f = s.f
    s.canvas.ball(x, y, r, RUBBER)
    s.canvas.flat(ellipse(x, y, r * 0.8, r * 0.8), (24, 24, 26))
    rim = r * f("rim", 0.64, 0.72)
    alloy = Material(mix((190, 193, 198), pal.second, f("alloy-tint", 0, 0.35)), 0.7, 0.6)
    s.canvas.blob(ellipse(x, y, rim, rim), alloy, bevel=r * 0.1)
    spokes = f.count("spokes", 4, 10)
    gap = f("spoke-gap", 0.3, 0.75)
    turn = s.pose(f"wheel{x:.1f}", 0, 6)
    for k in range(spokes):
        a = turn + 2 * math.pi * k / spokes
        half = math.pi / spokes * gap
        inner, outer = rim * 0.3, rim * 0.86
        wedge = [
            (inner, a - half * 0.6),
            (outer, a - half),
            (outer, a + half),
            (inner, a + half * 0.6),
        ]
        s.canvas.flat([(x + q * math.cos(t), y + q * math.sin(t)) for q, t in wedge], (34, 34, 38))
    s.canvas.ball(x, y, rim * 0.2, Material(pal.accent, 0.6))


def _car(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.35, 0.8))
    side = -1.0
    r = f("wheel", 0.115, 0.145)
    low = r * 0.75
    half = 0.74
    front_x, back_x = half - f("front-over", 0.2, 0.25), -half + f("back-over", 0.19, 0.25)
    belt = f("belt", 0.27, 0.33)
    roof = f("roof", 0.47, 0.58)
    bonnet = f("bonnet", 0.26, 0.31)
    nose = f("nose", 0.2, 0.25)
    screen_low, screen_high = f("screen", 0.2, 0.36), f("screen-top", 0.04, 0.18)
    rear_high = f("rear-top", -0.5, -0.28)
    rear_low = rear_high - f("rear-slope", 0.04, 0.22)
    boot = f("boot", 0.27, 0.34)
    body = Material(pal.base, 0.85)
    two_tone = f.chance("two-tone", 0.4)
    upper = Material(pal.second if two_tone else pal.base, 0.85)
    del side
    cabin = smooth(
        [
            (screen_low + 0.06, belt - 0.02),
            (screen_high + 0.02, roof - 0.012),
            (screen_high - 0.1, roof + 0.005),
            (rear_high + 0.08, roof),
            (rear_high, roof - 0.02),
            (max(rear_low, -half + 0.08), belt + 0.02),
            (max(rear_low, -half + 0.1), belt - 0.05),
            (screen_low, belt - 0.05),
        ],
        steps=6,
    )
    s.canvas.blob(cabin, upper, bevel=0.12, puff=0.8)
    outline = smooth(
        [
            (half, low + 0.03),
            (half + 0.01, nose - 0.04),
            (half - 0.03, nose),
            (screen_low + 0.2, bonnet),
            (screen_low + 0.03, belt),
            (0, belt + 0.008),
            (max(rear_low, -half + 0.1), belt + 0.01),
            (-half + 0.05, boot - 0.015),
            (-half, boot - 0.08),
            (-half + 0.005, low + 0.04),
            (-half + 0.06, low),
            (half - 0.05, low),
        ],
        steps=6,
    )
    s.canvas.blob(outline, body, bevel=0.17, puff=0.8)
    s.canvas.shadow([(-half, low), (half, low), (half, low + 0.06), (-half, low + 0.06)], 0.5, 0.03)
    gap = 0.03
    window = smooth(
        [
            (screen_low - 0.01, belt + 0.01),
            (screen_high - 0.005, roof - gap - 0.02),
            (screen_high - 0.1, roof - gap),
            (rear_high + 0.08, roof - gap - 0.004),
            (rear_high + 0.02, roof - gap - 0.03),
            (max(rear_low + 0.06, -half + 0.15), belt + 0.015),
        ],
        steps=6,
    )
    s.canvas.blob(window, GLASS, bevel=0.02, puff=0.3)
    s.canvas.glow(
        [
            (screen_high - 0.1, roof - gap),
            (screen_high - 0.18, roof - gap),
            (screen_high - 0.32, belt),
            (screen_high - 0.22, belt),
        ],
        0.25,
        0.012,
    )
    pillar = f("pillar", -0.14, -0.02)
    for x in (pillar, pillar - f("door", 0.24, 0.32)):
        if x > rear_low + 0.06:
            s.canvas.line(
                [(x + 0.012, belt), (x, roof - gap)], 0.026, scale(upper.colour, 0.8), inside=True
            )
    for x in (screen_low - 0.03, pillar + 0.01):
        s.canvas.line(
            [(x, belt + 0.005), (x - 0.01, low + 0.1), (x - 0.05, low + 0.035)],
            0.006,
            scale(pal.base, 0.5),
            inside=True,
        )
    for x in (pillar + 0.06, pillar - f("door", 0.24, 0.32) + 0.08):
        s.canvas.blob(rounded(x, belt - 0.05, x + 0.07, belt - 0.032, 0.008), CHROME, bevel=0.008)
    y = low + f("stripe-y", 0.05, 0.12)
    for k in range(s.v.count("stripes", 0, 3)):
        s.canvas.face(
            rounded(-half + 0.03, y + k * 0.026, half - 0.05, y + 0.014 + k * 0.026, 0.005),
            Material(pal.accent, 0.6),
            (0, -0.05),
        )
    if f.chance("flash", 0.5):
        a, b = f("flash-a", -0.5, -0.1), f("flash-b", 0.0, 0.45)
        s.canvas.face(
            [(a, belt - 0.02), (a + 0.12, belt - 0.02), (b, low + 0.06), (b - 0.12, low + 0.06)],
            Material(pal.second, 0.8),
            (0, 0.0),
        )
    for x in (front_x, back_x):
        arch = np.concatenate(
            [
                arc(x, r, r * 1.2, r * 1.2, 0, 180),
                [(x - r * 1.2, low - 0.01), (x + r * 1.2, low - 0.01)],
            ]
        )
        s.canvas.flat(arch, (18, 18, 20))
        s.canvas.line(
            arc(x, r, r * 1.24, r * 1.24, 0, 180), 0.014, scale(pal.base, 0.72), inside=True
        )
    lamp = f("lamp", 0.03, 0.055)
    s.canvas.blob(
        move(ellipse(0, 0, lamp * 1.3, lamp, turn=0.2), half - 0.045, nose - 0.035),
        Material((250, 248, 232), 0.9),
    )
    s.canvas.blob(
        rounded(-half + 0.0, boot - 0.13, -half + 0.05, boot - 0.05, 0.015),
        Material((196, 32, 30), 0.8),
        bevel=0.012,
    )
    for x0, x1 in ((half - 0.1, half + 0.02), (-half - 0.01, -half + 0.1)):
        s.canvas.blob(
            rounded(x0, low + 0.0, x1, low + 0.05, 0.02),
            Material(scale(pal.dark, 0.9), 0.3),
            bevel=0.02,
        )
    s.canvas.blob(
        smooth(
            [
                (screen_low - 0.02, belt + 0.02),
                (screen_low + 0.05, belt + 0.045),
                (screen_low + 0.05, belt + 0.005),
                (screen_low - 0.01, belt),
            ]
        ),
        body,
    )
    for points, index in emblem(f, s.v("turn", 0, 6)):
        s.canvas.flat(
            move(points, (pillar + screen_low) / 2, (belt + low) / 2 + 0.05, size=0.06),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
        )
    if s.v.chance("rack", 0.3):
        s.canvas.tube(
            [(screen_high - 0.08, roof + 0.03), (rear_high + 0.06, roof + 0.03)], 0.016, CHROME
        )
        for x in (screen_high - 0.1, rear_high + 0.1):
            s.canvas.tube([(x, roof - 0.005), (x, roof + 0.03)], 0.012, CHROME)
    _wheel(s, front_x, r, r, pal)
    _wheel(s, back_x, r, r, pal)
    s.base, s.foot = (-half, half), 0.05
    if s.label is not None and not s.away:
        s.tag(-0.1 if not s.view.flip else 0.1, low + 0.1, 0.36)


def _van(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.4, 0.85))
    r = f("wheel", 0.1, 0.12)
    low, top = r * 0.8, f("top", 0.6, 0.74)
    half = 0.74
    cab = f("cab", 0.26, 0.4)
    nose = f("nose", 0.0, 0.14)
    mid = f("mid", 0.3, 0.36)
    body = Material(pal.base, 0.7)
    outline = smooth(
        [
            (half, low + 0.04),
            (half, mid - 0.04),
            (half - 0.02 - nose, mid + 0.02),
            (half - cab * 0.5 - nose * 0.6, top - 0.06),
            (half - cab - 0.04, top),
            (0, top + 0.004),
            (-half + 0.06, top),
            (-half, top - 0.05),
            (-half, mid),
            (-half, low + 0.03),
            (-half + 0.05, low),
            (half - 0.05, low),
        ],
        steps=5,
    )
    s.canvas.blob(outline, body, bevel=0.07, puff=0.8)
    s.canvas.shadow(
        [(-half, low), (half, low), (half, low + 0.07), (-half, low + 0.07)], 0.45, 0.03
    )
    skirt = f("skirt", 0.05, 0.16)
    s.canvas.face(
        rounded(-half + 0.015, low + 0.015, half - 0.03, low + skirt, 0.02),
        Material(pal.second, 0.6),
        (0, -0.1),
    )
    window = smooth(
        [
            (half - 0.05 - nose, mid + 0.01),
            (half - cab * 0.52 - nose * 0.6, top - 0.09),
            (half - cab + 0.03, top - 0.08),
            (half - cab + 0.03, mid + 0.01),
        ],
        steps=4,
    )
    s.canvas.blob(window, GLASS, bevel=0.02, puff=0.3)
    door = half - cab
    s.canvas.line([(door, low + 0.03), (door, top - 0.03)], 0.006, scale(pal.base, 0.55))
    s.canvas.line(
        [(half - 0.1 - nose, mid), (half - 0.12 - nose, low + 0.1)], 0.006, scale(pal.base, 0.55)
    )
    s.canvas.blob(
        rounded(door + 0.03, mid - 0.05, door + 0.1, mid - 0.03, 0.008), CHROME, bevel=0.008
    )
    x0, x1, y0, y1 = -half + 0.04, door - 0.03, low + skirt + 0.03, top - 0.05
    sheet = s.sheet(x1 - x0, y1 - y0, pal.base)
    if f.chance("patterned", 0.7):
        sheet.pattern(s.traits, (mix(pal.base, pal.second, 0.55), pal.base))
    for k in range(s.v.count("stripes", 0, 3)):
        sheet.box(0, 0.9 - k * 0.07, 1, 0.94 - k * 0.07, pal.accent)
    sheet.emblem(s.traits, 0.16, 0.4, 0.3, (pal.light, pal.accent, pal.dark, pal.second))
    if s.label is not None and not s.away:
        ground = pal.light
        sheet.box(0.31, 0.14, 0.98, 0.7, ground)
        sheet.print(
            s.label,
            (0.33, 0.16, 0.96, 0.52 if s.look.sublabel else 0.68),
            pal.dark,
            FACES[f.count("face", 0, 8)],
            lines=2,
            key=s.view.key,
        )
        sheet.print(
            s.look.sublabel,
            (0.33, 0.54, 0.96, 0.67),
            pal.dark,
            lines=1,
            is_label=False,
            key=s.view.key,
        )
    rgb = sheet.rgb
    s.canvas.face(
        [(x0, y1), (x1, y1), (x1, y0), (x0, y0)], Material(WHITE, 0.25), (0, 0.05), albedo=rgb
    )
    s.note(sheet, np.array([(x0, y1), (x1, y1), (x1, y0), (x0, y0)]))
    s.canvas.line(
        [((x0 + x1) / 2 + 0.1, y0 - 0.05), ((x0 + x1) / 2 + 0.1, top - 0.03)],
        0.004,
        scale(pal.base, 0.6),
        opacity=0.5,
    )
    for x in (half - 0.2, -half + 0.24):
        arch = np.concatenate(
            [
                arc(x, r, r * 1.2, r * 1.2, 0, 180),
                [(x - r * 1.2, low - 0.01), (x + r * 1.2, low - 0.01)],
            ]
        )
        s.canvas.flat(arch, (18, 18, 20))
        _wheel(s, x, r, r, pal)
    s.canvas.blob(ellipse(half - 0.03, mid - 0.09, 0.035, 0.045), Material((250, 248, 232), 0.9))
    s.canvas.blob(
        rounded(-half, mid - 0.04, -half + 0.03, mid + 0.08, 0.012),
        Material((196, 32, 30), 0.8),
        bevel=0.012,
    )
    s.canvas.blob(
        rounded(half - 0.1, low, half + 0.02, low + 0.06, 0.02),
        Material(scale(pal.dark, 0.9), 0.3),
        bevel=0.02,
    )
    s.canvas.blob(
        rounded(door + 0.16, mid + 0.02, door + 0.2, mid + 0.1, 0.015), Material(pal.dark, 0.4)
    )
    s.base, s.foot = (-half, half), 0.05


def _spoked(
    s: Stage, x: float, r: float, tyre: float, rim: Colour, colour: Colour, spokes: int
) -> None:
    t = np.linspace(0, 2 * math.pi, 60)
    ring = np.stack([x + (r - tyre / 2) * np.cos(t), r + (r - tyre / 2) * np.sin(t)], 1)
    turn = s.pose(f"spokes{x:.1f}", 0, 6)
    for k in range(spokes):
        a = turn + 2 * math.pi * k / spokes
        s.canvas.line(
            [
                (x + 0.02 * math.cos(a + 1.3), r + 0.02 * math.sin(a + 1.3)),
                (x + (r - tyre) * math.cos(a), r + (r - tyre) * math.sin(a)),
            ],
            0.005,
            (188, 190, 194),
            opacity=0.8,
        )
    s.canvas.tube(
        np.stack([x + (r - tyre * 1.25) * np.cos(t), r + (r - tyre * 1.25) * np.sin(t)], 1),
        tyre * 0.45,
        Material(rim, 0.7, 0.4),
    )
    s.canvas.tube(ring, tyre, Material(colour, 0.15))
    s.canvas.ball(x, r, 0.03, CHROME)


def _bicycle(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = f("wheel", 0.25, 0.29)
    tyre = f("tyre", 0.022, 0.045)
    back, front = -0.4, f("front", 0.38, 0.44)
    wall = f.pick("tyre-colour", ((42, 42, 44), (42, 42, 44), (150, 110, 70), (225, 220, 205)))
    n = f.count("spokes", 14, 24)
    rim = pal.second if f.chance("rim", 0.4) else (200, 202, 206)
    _spoked(s, back, r, tyre, rim, wall, n)
    _spoked(s, front, r, tyre, rim, wall, n)
    w = f("tube", 0.028, 0.042)
    paint = Material(pal.base, 0.8)
    crank = (f("crank", -0.08, -0.02), r * 0.95)
    seat = (f("seat", -0.2, -0.14), f("seat-y", 0.58, 0.66))
    head = (front - f("rake", 0.1, 0.15), f("head", 0.56, 0.66))
    low_head = (head[0] + 0.025, head[1] - 0.1)
    step = f.chance("step-through", 0.35)
    s.canvas.tube(
        [low_head, (front, r)], w * 0.8, Material(pal.second if f.chance("fork") else pal.base, 0.8)
    )
    s.canvas.tube([crank, (back, r)], w * 0.6, paint)
    s.canvas.tube([(seat[0], seat[1] - 0.04), (back, r)], w * 0.55, paint)
    s.canvas.tube([crank, seat], w, paint)
    if step:
        drop = f("drop", 0.1, 0.2)
        s.canvas.tube(
            smooth(
                [low_head, (0.12, r + drop + 0.05), (crank[0] + 0.03, r + drop * 0.5)], closed=False
            ),
            w,
            paint,
        )
    else:
        s.canvas.tube([(seat[0] + 0.01, seat[1] - 0.03), head], w, paint)
    s.canvas.tube([crank, low_head], w * 1.1, paint)
    s.canvas.tube([(head[0] - 0.01, head[1] + 0.05), low_head], w * 1.1, paint)
    share = f("band", 0.3, 0.6)
    for k in range(s.v.count("bands", 1, 4)):
        q = share + k * 0.07
        a = (crank[0] + (low_head[0] - crank[0]) * q, crank[1] + (low_head[1] - crank[1]) * q)
        b = (
            crank[0] + (low_head[0] - crank[0]) * (q + 0.035),
            crank[1] + (low_head[1] - crank[1]) * (q + 0.035),
        )
        s.canvas.tube([a, b], w * 1.14, Material(pal.accent, 0.7))
    s.canvas.tube([seat, (seat[0] - 0.015, seat[1] + 0.06)], w * 0.6, CHROME)
    sx, sy = seat[0] - 0.02, seat[1] + 0.075
    s.canvas.blob(
        smooth(
            [
                (sx - 0.1, sy + 0.02),
                (sx - 0.06, sy + 0.03),
                (sx + 0.11, sy + 0.005),
                (sx + 0.11, sy - 0.01),
                (sx, sy - 0.03),
                (sx - 0.09, sy - 0.02),
            ]
        ),
        Material(pal.dark if f.chance("saddle") else (120, 74, 44), 0.3),
    )
    style = f.count("bars", 0, 2)
    hx, hy = head[0] - 0.02, head[1] + 0.08
    grip = Material(pal.accent, 0.3)
    s.canvas.tube([(head[0] - 0.01, head[1] + 0.04), (hx, hy)], 0.025, CHROME)
    if style == 0:
        s.canvas.tube(
            smooth(
                [(hx, hy), (hx + 0.08, hy + 0.01), (hx + 0.11, hy - 0.05), (hx + 0.05, hy - 0.11)],
                closed=False,
            ),
            0.026,
            grip,
        )
    elif style == 1:
        s.canvas.tube(
            smooth(
                [(hx, hy), (hx + 0.03, hy + 0.05), (hx - 0.06, hy + 0.07), (hx - 0.14, hy + 0.04)],
                closed=False,
            ),
            0.024,
            grip,
        )
    else:
        s.canvas.tube([(hx - 0.03, hy + 0.012), (hx + 0.06, hy + 0.012)], 0.034, grip)
    s.canvas.line(ellipse((crank[0]), crank[1] - 0.0, 0.075, 0.075), 0.012, (90, 90, 94))
    for k in range(5):
        a = k * 1.257 + 0.4
        s.canvas.line(
            [crank, (crank[0] + 0.07 * math.cos(a), crank[1] + 0.07 * math.sin(a))],
            0.014,
            (120, 120, 124),
        )
    s.canvas.line([(crank[0], crank[1] + 0.075), (back, r + 0.03)], 0.007, (70, 66, 62))
    s.canvas.line([(crank[0], crank[1] - 0.075), (back, r - 0.03)], 0.007, (70, 66, 62))
    a = s.pose("pedal", 0, 6)
    for sign in (1, -1):
        p = (crank[0] + sign * 0.1 * math.cos(a), crank[1] + sign * 0.1 * math.sin(a))
        s.canvas.tube([crank, p], 0.016, CHROME)
        s.canvas.blob(
            rounded(p[0] - 0.04, p[1] - 0.012, p[0] + 0.04, p[1] + 0.012, 0.008),
            Material((52, 52, 54), 0.3),
        )
    if f.chance("mudguards", 0.5):
        guard = Material(pal.second, 0.7)
        s.canvas.tube(arc(back, r, r + 0.03, r + 0.03, 20, 170), 0.016, guard)
        s.canvas.tube(arc(front, r, r + 0.03, r + 0.03, 40, 165), 0.016, guard)
    if f.chance("basket", 0.35):
        bx, by = hx + 0.08, head[1] - 0.12
        s.canvas.blob(
            [(bx, by + 0.17), (bx + 0.24, by + 0.17), (bx + 0.2, by), (bx + 0.03, by)],
            Material((176, 132, 82), 0.1, grain=0.2, texture="cloth"),
            bevel=0.04,
        )
    if s.label is not None:
        s.tag(-0.06, 0.36, 0.3, string=(seat[0] + 0.06, seat[1] - 0.05))
    s.base, s.foot = (back - 0.1, front + 0.1), 0.03


def _motorcycle(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = f("wheel", 0.2, 0.24)
    back, front = -0.42, f("front", 0.42, 0.5)
    tyre = f("tyre", 0.07, 0.1)
    rim = pal.second if f.chance("rim", 0.4) else (196, 198, 202)
    _spoked(s, back, r, tyre, rim, (38, 38, 40), f.count("spokes", 6, 18))
    _spoked(s, front, r, tyre, rim, (38, 38, 40), f.count("spokes", 6, 18))
    for x in (back, front):
        s.canvas.line(ellipse(x, r, r * 0.42, r * 0.42), 0.03, (150, 152, 156))
    head = (front - f("rake", 0.16, 0.24), f("head", 0.56, 0.64))
    paint = Material(pal.base, 0.9)
    dark = Material((46, 46, 50), 0.5)
    s.canvas.tube([(front, r), head], 0.045, CHROME)
    s.canvas.tube([(back, r), (-0.05, r * 1.1)], 0.05, dark)
    s.canvas.tube([(-0.1, 0.5), (back, r + 0.02)], 0.03, CHROME)
    s.canvas.tube([head, (0.16, 0.24), (-0.14, 0.2)], 0.035, Material(pal.second, 0.7))
    s.canvas.tube([head, (-0.2, 0.46)], 0.04, Material(pal.second, 0.7))
    s.canvas.blob(
        rounded(-0.15, 0.14, 0.17, 0.34, 0.06), Material((104, 106, 110), 0.6, 0.5), bevel=0.05
    )
    for k in range(f.count("fins", 3, 6)):
        y = 0.34 + k * 0.026
        s.canvas.blob(rounded(-0.1, y, 0.13, y + 0.015, 0.006), CHROME, bevel=0.006)
    s.canvas.ball(0.0, 0.23, 0.075, CHROME)
    s.canvas.flat(ellipse(0, 0.23, 0.045, 0.045), pal.accent)
    exhaust = f("exhaust", 0.0, 0.1)
    s.canvas.tube(
        smooth(
            [
                (0.15, 0.32),
                (0.2, 0.18),
                (0.08, 0.11),
                (-0.2, 0.11 + exhaust),
                (-0.56, 0.14 + exhaust),
            ],
            closed=False,
        ),
        0.05,
        CHROME,
    )
    tank_l, tank_h = f("tank-l", 0.3, 0.38), f("tank-h", 0.13, 0.19)
    tx = head[0] - 0.04
    tank = smooth(
        [
            (tx, head[1] - 0.03),
            (tx - 0.05, head[1] + tank_h * 0.6),
            (tx - tank_l * 0.5, head[1] + tank_h * 0.55),
            (tx - tank_l, 0.54),
            (tx - tank_l * 0.9, 0.49),
            (tx - 0.08, 0.49),
        ]
    )
    s.canvas.blob(tank, paint)
    for points, index in emblem(f, s.v("turn", 0, 6)):
        s.canvas.flat(
            move(points, tx - tank_l * 0.45, 0.575, size=0.05),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
            inside=True,
        )
    for k in range(s.v.count("stripes", 0, 3)):
        s.canvas.line(
            [(tx - 0.03, 0.53 - k * 0.016), (tx - tank_l * 0.92, 0.515 - k * 0.012)],
            0.009,
            pal.accent,
            inside=True,
        )
    seat_l = f("seat-l", 0.3, 0.42)
    sx = tx - tank_l
    hump = f("hump", 0.02, 0.1)
    seat = smooth(
        [
            (sx + 0.04, 0.55),
            (sx - seat_l * 0.4, 0.53),
            (sx - seat_l * 0.7, 0.55 + hump),
            (sx - seat_l, 0.57 + hump),
            (sx - seat_l, 0.5),
            (sx - seat_l * 0.4, 0.46),
            (sx + 0.02, 0.48),
        ]
    )
    s.canvas.blob(
        seat,
        Material(
            f.pick("seat", ((44, 40, 40), (116, 72, 44), (60, 44, 40))),
            0.3,
            bump=0.04,
            texture="leather",
        ),
    )
    guard = Material(pal.base, 0.9)
    s.canvas.tube(arc(front, r, r + 0.035, r + 0.035, 30, 150), 0.045, guard)
    s.canvas.tube(arc(back, r, r + 0.05, r + 0.05, 30, 150), 0.05, guard)
    s.canvas.blob(ellipse(sx - seat_l - 0.02, 0.5, 0.025, 0.03), Material((196, 32, 30), 0.8))
    bars = smooth(
        [
            (head[0] - 0.01, head[1]),
            (head[0] - 0.02, head[1] + 0.12),
            (head[0] - 0.1, head[1] + f("bars", 0.1, 0.22)),
        ],
        closed=False,
    )
    s.canvas.tube(bars, 0.022, CHROME)
    s.canvas.tube(bars[-4:], 0.036, Material((40, 40, 42), 0.2))
    lx, ly = head[0] + 0.05, head[1] + 0.01
    fairing = f.chance("fairing", 0.35)
    if fairing:
        s.canvas.blob(
            smooth(
                [
                    (lx + 0.1, ly - 0.03),
                    (lx + 0.05, ly + 0.09),
                    (lx - 0.06, ly + 0.16),
                    (lx - 0.09, ly - 0.02),
                    (lx - 0.04, ly - 0.16),
                ]
            ),
            paint,
        )
        s.canvas.blob(
            smooth([(lx + 0.04, ly + 0.1), (lx - 0.07, ly + 0.25), (lx - 0.07, ly + 0.14)]),
            Material((150, 170, 185), 0.9),
            opacity=0.6,
        )
    s.canvas.ball(lx + 0.03, ly, 0.065, CHROME)
    s.canvas.ball(lx + 0.055, ly, 0.045, Material((250, 246, 226), 0.9), 0.055)
    if s.label is not None:
        s.tag(0.3, 0.36, 0.34)
    s.base, s.foot = (back - 0.12, front + 0.12), 0.04


PAINTERS = {
    "car": Painter(_car, (-0.82, -0.03, 0.82, 0.7), 2.7),
    "van": Painter(_van, (-0.82, -0.03, 0.82, 0.82), 3.0),
    "bicycle": Painter(_bicycle, (-0.76, -0.03, 0.78, 0.86), 1.15),
    "motorcycle": Painter(_motorcycle, (-0.82, -0.03, 0.86, 0.98), 1.5),
}
"""Painters of this module by kind; the metres are those of one unit."""
