"""Balls, rackets, guitars, coins, flags."""

from __future__ import annotations

import math

import cv2
import numpy as np

from simulator.world.pictures.letters import FACES
from simulator.world.pictures.light import Material
from simulator.world.pictures.noise import generator
from simulator.world.pictures.shapes import arc, ellipse, emblem, move, rounded, smooth, star
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import WHITE, mix, oklch, scale


def _ball(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(vivid=1.2)
    r, c = 0.45, 0.47
    n = max(int(2 * r * s.px), 16)
    axis = np.linspace(-1, 1, n, dtype=np.float32)
    x, y = np.meshgrid(axis, -axis)
    z = np.sqrt(np.maximum(1 - x * x - y * y, 0))
    a, b = f("spin-a", 0, 6.28) + s.pose("spin", -0.7, 0.7), f("spin-b", -0.8, 0.8)
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    px, pz = x * ca + z * sa, -x * sa + z * ca
    py, pz = y * cb - pz * sb, y * sb + pz * cb
    points = np.stack([px, py, pz], -1)
    skin = np.empty((n, n, 3), np.float32)
    skin[...] = pal.base
    style = f.count("style", 0, 4)
    seam = np.zeros((n, n), np.float32)
    if style == 0:  # patches around centres
        rng = generator("ball", s.look.family)
        k = f.count("patches", 8, 20)
        t = (np.arange(k) + 0.5) / k
        ring = np.arange(k) * 2.399963
        centres = np.stack(
            [
                np.sqrt(1 - (1 - 2 * t) ** 2) * np.cos(ring),
                1 - 2 * t,
                np.sqrt(1 - (1 - 2 * t) ** 2) * np.sin(ring),
            ],
            1,
        )
        centres += rng.normal(0, f("jitter", 0.0, 0.16), centres.shape)
        near = points.reshape(-1, 3) @ centres.T.astype(np.float32)
        top = np.argmax(near, 1)
        best = np.partition(near, -2, axis=1)
        seam = np.clip(1 - (best[:, -1] - best[:, -2]) * 26, 0, 1).reshape(n, n)
        step = f.count("every", 2, 3)
        colours = np.array(
            [
                (pal.second if j % step == 0 else pal.base)
                if j != v.count("odd", 0, k - 1)
                else pal.accent
                for j in range(k)
            ],
            np.float32,
        )
        skin = colours[top].reshape(n, n, 3)
    elif style == 1:  # gores
        k = f.count("gores", 4, 10)
        angle = np.arctan2(pz, px) / (2 * math.pi) * k
        index = np.floor(angle).astype(int) % k
        colours = np.array(
            [(pal.base, pal.second, pal.light)[j % f.count("tones", 2, 3)] for j in range(k)],
            np.float32,
        )
        colours[v.count("odd", 0, k - 1)] = pal.accent
        skin = colours[index]
        seam = np.clip(1 - np.abs((angle % 1) - 0.5) * -1 - 1, 0, 1) + np.clip(
            1 - np.minimum(angle % 1, 1 - angle % 1) * 22, 0, 1
        )
        skin[np.abs(py) > f("pole", 0.86, 0.95)] = pal.accent
    elif style == 2:  # ribs of a basketball
        lines = np.minimum(
            np.minimum(np.abs(px), np.abs(py)),
            np.abs(np.abs(pz) - f("rib", 0.45, 0.65) - 0.25 * py * py),
        )
        seam = np.clip(1 - (lines - 0.012) * 50, 0, 1)
        skin[py > f("half", 0.0, 0.6)] = mix(pal.base, pal.second, f("half-mix", 0, 1))
    elif style == 3:  # curve of a tennis ball
        wave = np.arctan2(pz, px)
        line = np.abs(py - f("wave", 0.4, 0.62) * np.sin(2 * wave))
        seam = np.zeros((n, n), np.float32)
        skin[line < 0.07] = pal.light
        skin[(line > 0.07) & (py > f("wave", 0.4, 0.62) * np.sin(2 * wave))] = mix(
            pal.base, pal.second, f("two", 0, 0.8)
        )
    else:  # bands
        k = f.count("bands", 3, 7) + v.count("bands", 0, 1)
        index = np.floor((py + 1) / 2 * k).astype(int).clip(0, k - 1)
        colours = np.array([(pal.base, pal.second)[j % 2] for j in range(k)], np.float32)
        colours[v.count("odd", 0, k - 1)] = pal.accent
        skin = colours[index]
    skin = skin * (1 - 0.75 * seam[..., None])
    # The sign sits where the ball faces the viewer, and turns a little with it.
    sheet = np.clip(skin, 0, 255).astype(np.uint8)
    gx = n / 2 + math.sin(s.pose("spin", -0.7, 0.7)) * n * 0.22
    for figure, index in emblem(f, v("turn", 0, 6)):
        spot = (figure * n * f("sign", 0.12, 0.17) * (0.95, -1) + (gx, n * 0.5)) * 16
        cv2.fillPoly(
            sheet,
            [np.round(spot).astype(np.int32)],
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
            cv2.LINE_AA,
            4,
        )
    rough = f("gloss", 0.08, 0.75)
    circle = ellipse(0, c, r, r, n=72)
    nx = np.clip(x, -1, 1)
    found = s.canvas.px(circle)
    x0, y0 = np.floor(found.min(0)).astype(int)
    del nx, x0, y0
    s.canvas.ball(
        0,
        c,
        r,
        Material(WHITE, rough, bump=f("bump", 0.0, 0.12), texture="leather", grain=0.02),
        albedo=sheet,
    )
    s.canvas.shadow(ellipse(0, 0.0, r * 0.8, 0.16), 0.3, 0.08)
    if s.label is not None:
        s.tag(r * 0.75, 0.1, 0.34, stake=0.06)
    s.base, s.foot = (-0.2, 0.2), 0.06


def _racket(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(vivid=1.15)
    rx, ry = f("rx", 0.16, 0.22), f("ry", 0.21, 0.29)
    cy = 1.0 - ry - 0.02
    egg = f("egg", -0.12, 0.12)
    t = np.linspace(0, 2 * math.pi, 60)
    ring = np.stack([rx * np.cos(t) * (1 + egg * np.sin(t)), cy + ry * np.sin(t)], 1)
    string = pal.light if f.chance("light-string", 0.7) else pal.accent
    n = f.count("strings", 9, 15)
    for k in range(1, n):
        q = -1 + 2 * k / n
        half = math.sqrt(1 - q * q)
        s.canvas.line(
            [(q * rx * (1 + egg * 0), cy - half * ry), (q * rx, cy + half * ry)],
            0.004,
            string,
            opacity=0.95,
        )
    for k in range(1, int(n * 1.25)):
        q = -1 + 2 * k / int(n * 1.25)
        half = math.sqrt(1 - q * q) * (1 + egg * q)
        s.canvas.line(
            [(-half * rx, cy + q * ry), (half * rx, cy + q * ry)], 0.004, string, opacity=0.95
        )
    for points, index in emblem(f, v("turn", 0, 6)):
        s.canvas.flat(
            move(points, 0, cy, size=rx * 0.5),
            (pal.accent, pal.second, pal.base, pal.dark)[index % 4],
            opacity=0.62,
        )
    frame = Material(pal.base, 0.8)
    w = f("frame", 0.03, 0.045)
    neck = cy - ry
    open_throat = f.chance("throat", 0.6)
    bottom = f("throat-y", 0.36, 0.42)
    if open_throat:
        for side in (-1, 1):
            s.canvas.tube(
                smooth(
                    [
                        (side * rx * 0.62, cy - ry * 0.78),
                        (side * rx * 0.3, neck - 0.05),
                        (side * 0.014, bottom),
                    ],
                    closed=False,
                ),
                w,
                frame,
            )
    s.canvas.tube([(0, bottom + 0.04), (0, 0.3)], w * 1.2, frame)
    if not open_throat:
        s.canvas.tube([(0, neck), (0, 0.3)], w * 1.0, frame)
    s.canvas.tube(ring, w, frame)
    for k in range(v.count("flashes", 2, 5)):
        a0 = f("flash", 0, 360) + 360 * k / 5
        s.canvas.tube(
            [
                (rx * math.cos(q) * (1 + egg * math.sin(q)), cy + ry * math.sin(q))
                for q in np.radians(np.linspace(a0, a0 + f("flash-w", 12, 34), 8))
            ],
            w * 1.08,
            Material(pal.accent if k % 2 else pal.second, 0.8),
        )
    for sign in range(f.count("shaft-bands", 0, 3)):
        s.canvas.tube(
            [(0, 0.33 + 0.03 * sign), (0, 0.345 + 0.03 * sign)], w * 1.4, Material(pal.second, 0.7)
        )
    grip = Material(
        pal.accent if f.chance("grip") else pal.dark, 0.15, bump=0.06, texture="leather"
    )
    gw = f("grip-w", 0.05, 0.065)
    s.canvas.blob(rounded(-gw / 2, 0.02, gw / 2, 0.32, 0.014), grip)
    for k in range(9):
        y = 0.05 + 0.03 * k
        s.canvas.line(
            [(-gw / 2, y), (gw / 2, y + 0.025)], 0.006, scale(grip.colour, 0.6), inside=True
        )
    s.canvas.blob(
        rounded(-gw * 0.62, 0.0, gw * 0.62, 0.035, 0.012), Material(pal.base, 0.5), bevel=0.012
    )
    if s.label is not None:
        s.tag(0.16, 0.18, 0.3, string=(0.0, 0.34))
    s.base, s.foot = (-0.04, 0.04), 0.01


def _guitar(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    woody = f.chance("wood", 0.6)
    face = (
        oklch(f("wood-l", 0.55, 0.78), f("wood-c", 0.07, 0.12), f("wood-h", 50, 80))
        if woody
        else pal.base
    )
    lower, upper, waist = f("lower", 0.19, 0.24), f("upper", 0.13, 0.19), f("waist", 0.1, 0.15)
    cut = f("cut", 0.0, 0.09) if f.chance("cutaway", 0.5) else 0.0
    horns = f("horns", 0.0, 0.1) if f.chance("horns", 0.35) else 0.0
    body = smooth(
        [
            (0, 0.0),
            (-lower * 0.75, 0.03),
            (-lower, 0.15),
            (-waist, 0.29),
            (-upper, 0.39),
            (-upper * 0.6, 0.48 + horns),
            (-0.04, 0.48 - horns * 0.3),
            (0.04, 0.48 - horns * 0.3 - cut * 0.3),
            (upper * 0.6, 0.48 + horns - cut),
            (upper, 0.39 - cut * 0.5),
            (waist, 0.29),
            (lower, 0.15),
            (lower * 0.75, 0.03),
        ]
    )
    rim = Material(scale(pal.dark, 0.9), 0.6)
    s.canvas.blob(body, rim, bevel=0.03)
    inner = (body - (0, 0.23)) * 0.955 + (0, 0.23)
    s.canvas.blob(
        inner,
        Material(face, 0.8, grain=0.07 if woody else 0.0, texture="bark"),
        bevel=0.05,
        puff=0.35,
    )
    burst = f("burst", 0, 0.9)
    s.canvas.line(
        np.concatenate([inner, inner[:1]]),
        0.012,
        pal.light if f.chance("binding", 0.6) else pal.accent,
    )
    for k in range(4):
        edge = (inner - (0, 0.23)) * (0.97 - 0.05 * k) + (0, 0.23)
        s.canvas.line(
            np.concatenate([edge, edge[:1]]),
            0.03,
            scale(pal.second, 0.6),
            opacity=burst * 0.22 * (1 - k / 5),
            inside=True,
        )
    acoustic = f.chance("acoustic", 0.6) and horns == 0
    hole_y = 0.31
    if f.chance("guard", 0.7):
        side = 1 if f.chance("guard-side", 0.8) else -1
        s.canvas.blob(
            smooth(
                [
                    (side * 0.045, hole_y - 0.02),
                    (side * f("guard-x", 0.1, 0.15), hole_y - 0.06),
                    (side * f("guard-x2", 0.09, 0.15), hole_y - f("guard-y", 0.1, 0.19)),
                    (side * 0.03, hole_y - 0.09),
                ]
            ),
            Material(mix(pal.second, pal.dark, v("guard", 0, 0.5)), 0.8),
            bevel=0.01,
        )
    if acoustic:
        for q, tone in (
            (0.066, pal.accent),
            (0.06, pal.light),
            (0.056, pal.dark),
            (0.048, (24, 18, 14)),
        ):
            s.canvas.flat(ellipse(0, hole_y, q, q), tone)
    else:
        for k in range(f.count("pickups", 1, 3)):
            y = 0.18 + 0.07 * k
            s.canvas.blob(
                rounded(-0.06, y, 0.06, y + 0.03, 0.008),
                Material((40, 40, 42) if f.chance("dark-pickups") else pal.light, 0.5),
                bevel=0.008,
            )
            for j in range(6):
                s.canvas.flat(
                    ellipse(-0.042 + 0.017 * j, y + 0.015, 0.005, 0.005, n=8), (200, 200, 204)
                )
        for k in range(v.count("knobs", 1, 4)):
            s.canvas.ball(0.12 - 0.012 * k, 0.06 + 0.042 * k, 0.016, Material(pal.accent, 0.6))
    s.canvas.blob(rounded(-0.065, 0.11, 0.065, 0.132, 0.006), Material(pal.dark, 0.4), bevel=0.006)
    neck = Material(oklch(0.32, 0.05, 50), 0.4)
    nw = 0.025
    top = 0.86
    s.canvas.blob(
        [
            (-nw * 1.15, 0.38 if acoustic else 0.34),
            (nw * 1.15, 0.38 if acoustic else 0.34),
            (nw * 0.85, top),
            (-nw * 0.85, top),
        ],
        neck,
        bevel=0.01,
    )
    y = 0.4
    frets = f.count("frets", 12, 18)
    for k in range(frets):
        y = 0.4 + (top - 0.4) * (1 - 0.94 ** (k + 1)) / (1 - 0.94 ** (frets + 1))
        s.canvas.line(
            [(-nw, top + 0.4 - y), (nw, top + 0.4 - y)], 0.004, (206, 200, 180), inside=True
        )
        if k in (2, 4, 6, 8, 11):
            s.canvas.flat(
                move(ellipse(0, 0, 0.007, 0.007, n=10), 0, top + 0.4 - y + 0.008),
                pal.accent if v.chance("inlay") else (240, 234, 216),
            )
    hw = f("head", 0.034, 0.05)
    tip = f("head-tip", -0.03, 0.03)
    s.canvas.blob(
        smooth(
            [
                (-nw * 0.85, top),
                (-hw, top + 0.035),
                (-hw * 0.95, top + 0.13),
                (tip, top + 0.15 + abs(tip)),
                (hw * 0.95, top + 0.13),
                (hw, top + 0.035),
                (nw * 0.85, top),
            ],
            steps=4,
        ),
        Material(mix(face, pal.dark, 0.5), 0.7),
        bevel=0.015,
    )
    for points, index in emblem(f, v("turn", 0, 6)):
        s.canvas.flat(
            move(points, 0, top + 0.1, size=0.022),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
        )
    for k in range(3):
        for side in (-1, 1):
            s.canvas.ball(
                side * (hw + 0.012),
                top + 0.045 + 0.035 * k,
                0.012,
                Material((214, 206, 180), 0.7, 0.5),
            )
    for k in range(6):
        x = -0.017 + 0.0068 * k
        s.canvas.line(
            [(x * 1.4, 0.12), (x, top), (x * 1.6, top + 0.1)], 0.0025, (222, 216, 200), opacity=0.85
        )
    if v.chance("strap", 0.5):
        s.canvas.tube(
            smooth(
                [(-0.02, 0.0), (-lower - 0.06, 0.06), (-lower - 0.05, 0.3), (-upper * 0.9, 0.45)],
                closed=False,
            ),
            0.026,
            Material(pal.accent, 0.1, grain=0.06, texture="cloth"),
        )
    if s.label is not None:
        s.tag(0.18, 0.62, 0.3, string=(0.02, top - 0.06))
    s.base, s.foot = (-lower * 0.6, lower * 0.6), 0.02


def _coin(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    r, c = 0.46, 0.48
    hue = f.pick("metal", (85.0, 85.0, 55.0, 60.0, 250.0, 250.0, 160.0)) + f("metal-h", -12, 12)
    metal_c = oklch(
        f("metal-l", 0.62, 0.85),
        f("metal-c", 0.01, 0.04) if hue > 200 else f("metal-c", 0.06, 0.12),
        hue,
    )
    metal = Material(metal_c, 0.6, 0.55, grain=0.03, texture="leafage")
    sides = f.count("sides", 0, 3)
    n = 7 + 2 * sides
    form = (
        ellipse(0, c, r, r, n=80)
        if sides != 1
        else smooth(
            move(
                np.array(
                    [
                        (math.cos(2 * math.pi * k / n), math.sin(2 * math.pi * k / n))
                        for k in range(n)
                    ]
                ),
                0,
                c,
                size=r,
            ),
            steps=6,
        )
    )
    s.canvas.blob(form, Material(scale(metal_c, 0.85), 0.6, 0.6), bevel=0.03)
    inner = (form - (0, c)) * 0.93 + (0, c)
    two = f.chance("bimetal", 0.35)
    s.canvas.face(inner, metal._replace(colour=scale(metal_c, 0.86)), (0.05, 0.1))
    core_c = (
        oklch(0.8, 0.012, 250)
        if (two and hue < 200)
        else (oklch(0.78, 0.11, 85) if two else metal_c)
    )
    core_r = f("core", 0.6, 0.7)
    core = metal._replace(colour=core_c)
    if two:
        s.canvas.blob(ellipse(0, c, r * core_r, r * core_r), core, bevel=0.015)
    relief = core._replace(colour=scale(core_c, 1.06))
    n = f.count("beads", 30, 60)
    for k in range(n):
        a = 2 * math.pi * k / n
        s.canvas.ball(math.cos(a) * r * 0.89, c + math.sin(a) * r * 0.89, 0.009, metal)
    rays = f.count("rays", 0, 18)
    for k in range(rays):
        a = 2 * math.pi * k / rays + v("turn", 0, 6)
        s.canvas.line(
            [
                (math.cos(a) * r * 0.36, c + math.sin(a) * r * 0.36),
                (math.cos(a) * r * 0.54, c + math.sin(a) * r * 0.54),
            ],
            0.012,
            scale(core_c, 1.15),
        )
    for number, (points, _) in enumerate(emblem(f, v("emblem-turn", 0, 6))):
        shape = move(points, 0, c + 0.02, size=r * f("emblem-r", 0.36, 0.46))
        s.canvas.shadow(move(shape, 0.008, -0.01), 0.4, 0.012)
        s.canvas.blob(
            shape,
            relief._replace(colour=scale(core_c, (1.06, 0.86, 1.12, 0.8)[number % 4])),
            bevel=0.03,
        )
    if f.chance("enamel", 0.3):
        s.canvas.blob(ellipse(0, c, r * 0.12, r * 0.12), Material(pal.accent, 0.8))
    for k in range(v.count("stars", 1, 6)):
        a = math.pi * 1.5 + (k - 2.5) * 0.26
        s.canvas.ball(math.cos(a) * r * 0.76, c + math.sin(a) * r * 0.76, 0.022, relief)
    if s.label is not None and not s.away:
        sheet = s.sheet(0.6, 0.17, scale(core_c, 0.93))
        sheet.print(
            s.label, (0.03, 0.06, 0.97, 0.94), scale(metal_c, 0.3), FACES[4], key=s.view.key
        )
        y = c - 0.2
        s.lay([(-0.3, y + 0.085), (0.3, y + 0.085), (0.3, y - 0.085), (-0.3, y - 0.085)], sheet)
    if s.wear is not None and s.label is not None:
        s.canvas.glow(arc(0, c, r * 0.8, r * 0.8, 30, 150), 0.5, 0.06)
    s.canvas.glow(
        move(ellipse(0, 0, r * 0.6, r * 0.2, turn=0.8), -r * 0.3, c + r * 0.35), 0.22, 0.06
    )
    s.base, s.foot = (-0.2, 0.2), 0.02


def _flag(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(vivid=1.25)
    w, h = 0.78, f("h", 0.44, 0.56)
    sheet = s.sheet(w, h, pal.base)
    layout = f.count("layout", 0, 5)
    colours = [pal.base, pal.second, mix(pal.light, WHITE, 0.4), pal.accent]
    n = f.count("bands", 2, 5)
    if layout == 0:
        for k in range(n):
            sheet.box(
                0,
                k / n,
                1,
                (k + 1) / n,
                colours[(k + (v.count("odd", 0, 1) if k == n - 1 else 0)) % 3],
            )
    elif layout == 1:
        for k in range(n):
            sheet.box(
                k / n,
                0,
                (k + 1) / n,
                1,
                colours[(k + (v.count("odd", 0, 1) if k == n - 1 else 0)) % 3],
            )
    elif layout == 2:
        x, t = f("cross-x", 0.3, 0.5), f("cross-t", 0.08, 0.16)
        for grow, tone in ((1.7, colours[2]), (1.0, colours[1])):
            sheet.box(x - t * grow * h / w, 0, x + t * grow * h / w, 1, tone)
            sheet.box(0, 0.5 - t * grow, 1, 0.5 + t * grow, tone)
    elif layout == 3:
        t = f("slash", 0.1, 0.25)
        sheet.fill(
            [(0, 1), (0, 1 - t * 2), (1 - t * 2, 0), (1, 0), (1, t * 2), (t * 2, 1)], colours[1]
        )
        sheet.stroke([(0, 1 - t * 2), (1 - t * 2, 0)], 0.04, colours[2])
        sheet.stroke([(1, t * 2), (t * 2, 1)], 0.04, colours[2])
    elif layout == 4:
        sheet.box(0, 0.5, 1, 1, colours[1])
        sheet.fill([(0, 0), (f("wedge", 0.3, 0.6), 0.5), (0, 1)], colours[3])
    else:
        sheet.pattern(s.traits, (pal.second, pal.base))
        sheet.box(0, 0, 0.42, 0.52, colours[3])
    ex, ey = f.pick("sign-place", ((0.5, 0.5), (0.25, 0.3), (0.5, 0.5), (0.3, 0.5)))
    sheet.emblem(
        s.traits, ex, ey, f("sign", 0.16, 0.28), (pal.light, pal.accent, pal.dark, pal.second)
    )
    for k in range(v.count("stars", 0, 4)):
        a = f("star-a", 0, 6) + k * 1.2
        sheet.figure(
            star(5, 0.45), 0.76 + 0.13 * math.cos(a), 0.4 + 0.22 * math.sin(a), 0.05, pal.light
        )
    wood = f.chance("wood-pole", 0.5)
    pole = (
        Material((150, 112, 72), 0.3, grain=0.05, texture="bark")
        if wood
        else Material((206, 208, 212), 0.8, 0.85)
    )
    left, top = -0.4, 1.0
    s.canvas.tube([(left, 0), (left, top + 0.03)], 0.026, pole)
    s.canvas.ball(left, top + 0.05, 0.028, Material((222, 184, 92), 0.8, 0.8))
    height, width = sheet.rgb.shape[:2]
    waves, phase, depth = (
        s.pose("waves", 1.2, 2.2),
        s.pose("phase", 0, 6),
        s.pose("depth", 0.018, 0.04),
    )
    sag = s.pose("sag", 0.02, 0.09)
    out_h = int((h + 0.2) * s.px)
    yy, xx = np.mgrid[0:out_h, 0:width].astype(np.float32)
    t = xx / width
    lift = (depth * np.sin(t * waves * 6.28 + phase) * np.minimum(t * 3, 1) + sag * t) * s.px
    map_y = yy - lift - 0.08 * s.px
    cloth = cv2.remap(
        sheet.rgb, xx, map_y.astype(np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    cover = ((map_y > 0) & (map_y < height)).astype(np.uint8) * 255
    cover = cv2.GaussianBlur(cover, (3, 3), 0)
    slope = np.cos(t * waves * 6.28 + phase) * depth * 8.5
    cloth = np.clip(
        cloth * (0.92 - (slope * 0.55 * (1 if s.light.side <= 0 else -1))[..., None]), 0, 255
    ).astype(np.uint8)
    box = [
        (left + 0.013, top + 0.06),
        (left + 0.013 + w, top + 0.06),
        (left + 0.013 + w, top + 0.06 - out_h / s.px),
        (left + 0.013, top + 0.06 - out_h / s.px),
    ]
    s.canvas.quad(box, cloth, cover=cover)
    s.tag(left + 0.3, 0.16, 0.44, stake=0.14)
    s.base, s.foot = (left - 0.02, left + 0.02), 0.01


PAINTERS = {
    "ball": Painter(_ball, (-0.55, -0.02, 0.95, 0.96), 0.22),
    "racket": Painter(_racket, (-0.32, -0.02, 0.38, 1.04), 0.7),
    "guitar": Painter(_guitar, (-0.4, -0.03, 0.4, 1.1), 1.0),
    "coin": Painter(_coin, (-0.5, -0.02, 0.5, 0.98), 0.03),
    "flag": Painter(_flag, (-0.48, -0.02, 0.48, 1.1), 2.6),
}
"""Painters of this module by kind."""
