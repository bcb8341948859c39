"""Flowers, trees, succulents, houseplants."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.light import Material
from simulator.world.pictures.noise import generator
from simulator.world.pictures.shapes import ellipse, leaf, move, ribbon, smooth
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import WHITE, Colour, mix, oklch, scale


def _green(s: Stage) -> Colour:
    return oklch(s.f("green-l", 0.42, 0.66), s.f("green-c", 0.06, 0.14), s.f("green-h", 115, 158))


def _leaf(
    s: Stage,
    x: float,
    y: float,
    length: float,
    width: float,
    turn: float,
    colour: Colour,
    tip: float = 0.5,
    gloss: float = 0.35,
    vein: Colour | None = None,
) -> None:
    shape = leaf(length, width, tip=tip)
    bend = s.f("leaf-bend", -0.25, 0.25)
    shape[:, 0] += bend * length * (shape[:, 1] / length) ** 2
    s.canvas.blob(
        move(shape, x, y, turn=turn),
        Material(colour, gloss, bump=0.03, texture="leather"),
        puff=0.5,
    )
    ys = np.linspace(0, length * 0.94, 7)
    rib = np.stack([bend * length * (ys / length) ** 2, ys], 1)
    s.canvas.line(
        move(rib, x, y, turn=turn),
        max(0.007, width * 0.04),
        vein or mix(colour, (240, 250, 220), 0.35),
        opacity=0.7,
    )


def _head(s: Stage, cx: float, cy: float, r: float, squash: float, turn: float) -> None:
    f, v = s.f, s.v
    pal = s.palette(vivid=1.25, light=(0.55, 0.86))
    rings = f.count("rings", 1, 3)
    n = f.count("petals", 5, 14) + v.count("petals", 0, 1)
    width = f("petal-w", 1.2, 2.2) * 2 * math.pi / n * 0.62
    tip = f("petal-tip", 0.42, 0.8)
    cup = f("cup", 0.0, 0.35)
    for ring in range(rings):
        reach = r * (1 - 0.28 * ring)
        colour = mix(pal.base, pal.second, ring * f("ring-mix", 0, 0.5))
        for k in range(n):
            order = (k * 2) % n if n % 2 else (k * 2) % n + (1 if k >= n / 2 else 0)
            a = turn + 2 * math.pi * order / n + ring * math.pi / n
            size = reach * (1 + 0.06 * math.sin(order * 5.1))
            shape = move(leaf(size, reach * min(width, 1.0), tip=tip), turn=a - math.pi / 2)
            shape = shape * (1.0, squash) + (cx, cy - cup * 0.06 * ring)
            petal = Material(scale(colour, 0.92 + 0.1 * math.sin(order * 3.3)), 0.15)
            s.canvas.blob(shape, petal, puff=0.4, tilt=(0.25 * math.cos(a), 0.25 * math.sin(a)))
            root = move(
                leaf(size * f("blush", 0.3, 0.65), reach * min(width, 1.0) * 0.5, tip=0.6),
                turn=a - math.pi / 2,
            ) * (1.0, squash) + (cx, cy)
            s.canvas.shadow(root, 0.6, 0.02, pal.accent)
            if v.chance("edge", 0.4):
                tip_at = move(
                    ellipse(0, size * 0.86, reach * width * 0.16, size * 0.09, n=12),
                    turn=a - math.pi / 2,
                ) * (1.0, squash) + (cx, cy)
                s.canvas.shadow(tip_at, 0.8, 0.008, pal.light)
            if f.chance("freckles", 0.3):
                for q in range(v.count("freckles", 2, 4)):
                    p = (
                        cx + math.cos(a) * size * (0.45 + 0.1 * q),
                        cy + math.sin(a) * size * (0.45 + 0.1 * q) * squash,
                    )
                    s.canvas.flat(ellipse(p[0], p[1], 0.008, 0.008, n=8), scale(pal.accent, 0.6))
    core = r * f("core", 0.14, 0.34)
    heart = oklch(f("heart-l", 0.35, 0.85), 0.14, f("heart-h", 50, 110))
    s.canvas.shadow(ellipse(cx, cy, core * 1.4, core * 1.4 * squash), 0.35, 0.02)
    s.canvas.ball(
        cx,
        cy + core * 0.1,
        core,
        Material(heart, 0.1, grain=0.2, bump=0.4, texture="leafage"),
        core * squash,
    )
    for k in range(f.count("stamens", 0, 18)):
        a = k * 2.399
        q = core * (0.3 + 0.75 * math.sqrt(k / 18))
        s.canvas.ball(
            cx + q * math.cos(a),
            cy + core * 0.15 + q * math.sin(a) * squash,
            0.012,
            Material(scale(pal.accent if k % 3 else pal.light, 0.95), 0.3),
        )


def _flower(s: Stage) -> None:
    f = s.f
    green = _green(s)
    heads = f.count("heads", 1, 3)
    stem = Material(green, 0.2)
    r = f("head-r", 0.2, 0.27) * (1.0 if heads == 1 else 0.82)
    lean = s.pose("lean", -0.06, 0.06)
    places: list[tuple[float, float]] = [(lean, 0.76)]
    if heads > 1:
        places.append((-f("spread", 0.22, 0.34) + lean, f("second-y", 0.5, 0.64)))
    if heads > 2:
        places.append((f("spread", 0.22, 0.34) + lean, f("third-y", 0.42, 0.6)))
    leaf_l, leaf_w, tip = f("leaf-l", 0.22, 0.42), f("leaf-w", 0.07, 0.2), f("leaf-tip", 0.35, 0.65)
    for k in range(f.count("leaves", 3, 6)):
        side = 1 if k % 2 else -1
        y = 0.04 + 0.075 * k
        _leaf(
            s,
            0.0,
            y,
            leaf_l * (1 - 0.08 * k),
            leaf_w,
            -side * (0.55 + 0.14 * k + s.pose(f"leaf{k}", -0.1, 0.1)),
            scale(green, 0.78 + 0.06 * k),
            tip,
        )
    for x, y in places[::-1]:
        s.canvas.tube(
            smooth([(0, 0), (x * 0.2, y * 0.5), (x, y)], closed=False),
            f("stem", 0.018, 0.034),
            stem,
        )
    squash = f("squash", 0.62, 0.98)
    for k, (x, y) in enumerate(places[::-1]):
        _head(s, x, y, r * (1 if k == heads - 1 else 0.8), squash, s.pose(f"turn{k}", 0, 6))
    s.tag(0.3 if s.pose.chance("tag-side") else -0.3, 0.2, 0.4, stake=0.26)
    s.foot, s.base = 0.02, (-0.16, 0.16)


def _tree(s: Stage) -> None:
    f, v = s.f, s.v
    green = _green(s)
    if f.chance("autumn", 0.3):
        green = oklch(f("aut-l", 0.5, 0.7), 0.13, f("aut-h", 25, 105))
    bark = Material(
        oklch(f("bark-l", 0.3, 0.75), 0.03, f("bark-h", 40, 80)),
        0.05,
        grain=0.16,
        bump=0.3,
        texture="bark",
    )
    trunk = f("trunk", 0.07, 0.13)
    fork = f("fork", 0.2, 0.38)
    lean = f("lean", -0.06, 0.06)
    form = f.count("form", 0, 3)
    s.canvas.blob(
        smooth(
            [
                (-trunk * 0.95, 0),
                (-trunk * 0.45, 0.06),
                (lean - trunk * 0.34, fork),
                (lean - trunk * 0.2, 0.62),
                (lean + trunk * 0.2, 0.62),
                (lean + trunk * 0.34, fork),
                (trunk * 0.45, 0.06),
                (trunk * 0.95, 0),
                (0, -0.012),
            ]
        ),
        bark,
    )
    for k in range(4):
        a = (0.5 + 0.25 * k) * (1 if k % 2 else -1)
        s.canvas.blob(
            ribbon(
                [
                    (lean, fork + 0.05 * k),
                    (lean + math.sin(a) * 0.14, fork + 0.18),
                    (lean + math.sin(a) * 0.26, fork + 0.32),
                ],
                [trunk * 0.4, trunk * 0.26, 0.015],
            ),
            bark,
        )
    rng = generator("tree", s.look.family, s.look.variant)
    wide, tall = f("wide", 0.26, 0.44), 1.0 - fork
    clumps: list[tuple[float, float, float]] = []
    n = 22
    for k in range(n):
        t = k / (n - 1)
        if form == 0:
            a = k * 2.399
            q = math.sqrt((k + 0.5) / n)
            x, y, r = (
                math.cos(a) * q * wide * 0.82,
                fork + tall * 0.55 + math.sin(a) * q * tall * 0.36,
                0.15,
            )
        elif form == 1:
            x, y, r = (
                rng.uniform(-1, 1) * wide * 0.9 * (1 - t),
                fork - 0.03 + tall * 0.92 * t,
                0.14 * (1.1 - t * 0.75),
            )
        elif form == 2:
            x, y, r = (
                rng.uniform(-1, 1) * wide * 0.38,
                fork + tall * (0.08 + 0.82 * t),
                0.13 * (1 - abs(t - 0.45) * 0.7),
            )
        else:
            a = math.pi * t
            x, y, r = (
                math.cos(a) * wide * rng.uniform(0.5, 1.05),
                fork + tall * (0.52 + 0.3 * math.sin(a)) - rng.uniform(0, 0.22),
                0.12,
            )
        clumps.append((x + lean, y, r * rng.uniform(0.85, 1.2)))
    clumps.sort(key=lambda c: c[1] * 0.4 + (0.3 if abs(c[0] - lean) < 0.12 else 0))
    middle = sum(c[1] for c in clumps) / n
    for number, (x, y, r) in enumerate(clumps):
        outline = smooth(
            [
                (x + r * q * math.cos(a), y + r * q * 0.85 * math.sin(a))
                for a, q in zip(np.linspace(0, 5.9, 15), rng.uniform(0.82, 1.12, 15), strict=True)
            ],
            steps=3,
        )
        tone = scale(green, 0.66 + 0.34 * number / n + 0.25 * (y - middle))
        s.canvas.blob(
            outline, Material(tone, 0.06, grain=0.2, bump=0.55, texture="leafage"), puff=0.8
        )
    fruit = v("fruit", 0, 1)
    pal = s.palette(vivid=1.3, light=(0.55, 0.8))
    if f.chance("fruiting", 0.6):
        for _ in range(int(10 + 26 * fruit)):
            x, y, r = clumps[int(rng.integers(0, n))]
            a, q = rng.uniform(0, 6.28), math.sqrt(rng.uniform(0, 0.9))
            size = f("fruit-r", 0.012, 0.024)
            s.canvas.ball(
                x + r * q * math.cos(a),
                y + r * q * math.sin(a) * 0.8,
                size,
                Material(pal.accent if f.chance("fruit-accent") else pal.second, 0.5),
            )
    s.tag(0.0, 0.16, 0.3)
    s.foot, s.base = 0.025, (-trunk, trunk)


def _pot(s: Stage, top: float, r: float) -> tuple[float, float]:
    f, pal = s.f, s.palette()
    pitch = s.view.pitch + 0.08
    colour = oklch(0.6, 0.1, 45) if f.chance("terracotta", 0.3) else pal.base
    foot = r * f("pot-foot", 0.62, 0.98)
    belly = f("pot-belly", 0, 0.14)
    profile = [
        (y * top, foot + (r - foot) * y + belly * r * math.sin(y * math.pi))
        for y in np.linspace(0, 1, 8)
    ]
    sheet = s.sheet(2 * math.pi * r, top, colour)
    if f.chance("pot-pattern", 0.6):
        sheet.pattern(s.traits, (mix(pal.second, colour, 0.2), colour))
    for k in range(s.v.count("pot-rings", 0, 2)):
        sheet.box(0, 0.16 + 0.12 * k, 1, 0.21 + 0.12 * k, pal.accent)
    s.wrap(0, profile, sheet, Material(WHITE, f("pot-gloss", 0.05, 0.7)), pitch=pitch)
    rim = f("pot-rim", 0.0, 0.05)
    if rim > 0.015:
        s.canvas.revolve(
            0, [(top - rim, r * 1.06), (top, r * 1.06)], Material(colour, 0.3), pitch=pitch
        )
    ry = r * math.sin(pitch)
    s.canvas.flat(
        ellipse(0, top, r * (1.06 if rim > 0.015 else 1.0), ry * 1.04), scale(colour, 0.85)
    )
    s.canvas.face(
        ellipse(0, top - 0.004, r * 0.92, ry * 0.88),
        Material((72, 54, 42), 0.0, grain=0.3, texture="leafage"),
        (0, 0.5),
    )
    s.foot, s.base = foot * math.sin(pitch), (-foot, foot)
    return top, ry


def _succulent(s: Stage) -> None:
    f, v = s.f, s.v
    hue = f("hue", 110, 200)
    flesh = oklch(f("flesh-l", 0.5, 0.75), f("flesh-c", 0.04, 0.11), hue)
    blush = oklch(0.6, 0.13, v("blush", -20, 60))
    style = f.count("style", 0, 2)
    if style == 0:  # rosette
        top, ry = _pot(s, f("pot-h", 0.24, 0.34), 0.27)
        n = f.count("whorl", 6, 9)
        width, tip = f("leaf-w", 0.42, 0.75), f("leaf-tip", 0.55, 0.8)
        turn = s.pose("turn", 0, 6)
        layers = f.count("layers", 4, 5)
        for layer in range(layers):
            reach = 0.4 * (1 - layer / (layers + 0.6))
            for k in range(n):
                a = turn + 2 * math.pi * (k + layer * 0.5) / n + layer * 0.2
                shape = move(leaf(reach, reach * width, tip=tip), turn=a - math.pi / 2) * (
                    1.0,
                    0.68,
                )
                y = top + 0.13 + layer * 0.045 - (0.05 if layer == 0 else 0)
                tone = scale(flesh, 0.72 + 0.1 * layer)
                s.canvas.blob(
                    shape + np.array([0, y]),
                    Material(tone, 0.3),
                    puff=0.8,
                    tilt=(0.2 * math.cos(a), 0.2 * math.sin(a)),
                )
                end = (math.cos(a) * reach * 0.93, y + math.sin(a) * reach * 0.93 * 0.68)
                s.canvas.shadow(
                    ellipse(end[0], end[1], 0.03 * (1 - 0.1 * layer), 0.022), 0.8, 0.015, blush
                )
        s.tag(0.0, f("tag", 0.1, 0.14), 0.4)
    elif style == 1:  # ribbed column or barrel
        top, ry = _pot(s, f("pot-h", 0.2, 0.28), 0.25)
        r, h = f("column-r", 0.13, 0.24), f("column-h", 0.38, 0.66)
        ribs = f.count("ribs", 7, 15) + v.count("ribs", 0, 2)
        profile = [
            (
                top + y * h,
                r
                * math.sqrt(max(1 - max((y - 0.55) / 0.45, 0) ** 2, 0.02))
                * (0.86 + 0.14 * math.sin(min(y * 3, 1.57))),
            )
            for y in np.linspace(-0.02, 1, 14)
        ]
        sheet = s.sheet(2 * math.pi * r, h, flesh)
        x = np.arange(sheet.width) / sheet.width
        wave = (0.78 + 0.26 * np.abs(np.sin(x * math.pi * ribs)) ** 0.8)[None, :, None]
        sheet.rgb = np.clip(sheet.rgb * wave, 0, 255).astype(np.uint8)
        s.wrap(0, profile, sheet, Material(WHITE, 0.2))
        thorn = oklch(0.9, 0.06, f("thorn", 60, 110))
        for rib in range(ribs):
            a = -math.pi / 2 + math.pi * (rib + 0.5) / ribs * 1.0
            for k in range(f.count("areoles", 5, 9)):
                y = 0.06 + 0.86 * k / 9
                q = np.interp(top + y * h, [p[0] for p in profile], [p[1] for p in profile])
                px, py = math.sin(a) * q, top + y * h
                for t in (-0.7, 0.0, 0.7):
                    d = f("thorn-l", 0.02, 0.05)
                    s.canvas.line(
                        [(px, py), (px + math.sin(a + t) * d, py + 0.5 * d * math.cos(t))],
                        0.005,
                        thorn,
                        opacity=0.8,
                    )
        for k in range(v.count("blooms", 0, 4)):
            a = k * 1.7 + 0.6
            bx, by = math.cos(a) * r * 0.45, top + h * 0.95 - 0.02 * k
            for q in range(7):
                s.canvas.blob(
                    move(leaf(0.07, 0.035, tip=0.6), bx, by, turn=q * 0.9 - 2.7),
                    Material(blush, 0.2),
                    puff=0.5,
                )
            s.canvas.ball(bx, by, 0.018, Material((246, 214, 96), 0.2))
    else:  # spears
        top, ry = _pot(s, f("pot-h", 0.24, 0.32), 0.24)
        n = f.count("spears", 7, 13)
        length, width = f("spear-l", 0.4, 0.66), f("spear-w", 0.06, 0.14)
        fan = f("spear-fan", 0.5, 1.2)
        order = sorted(range(n), key=lambda k: -abs(k - (n - 1) / 2))
        for k in order:
            a = (k - (n - 1) / 2) / n * 2 * fan
            own = length * (0.75 + 0.25 * math.cos(a * 1.3)) * (0.9 + 0.2 * ((k * 7) % 5) / 5)
            shape = move(leaf(own, width, tip=0.25), math.sin(a) * 0.1, top, turn=-a)
            s.canvas.blob(shape, Material(scale(flesh, 0.75 + 0.28 * math.cos(a)), 0.35), puff=0.7)
            for q in range(f.count("bars", 0, 7)):
                y = own * (0.15 + 0.1 * q)
                w = width * 0.36 * (1 - y / own)
                bar = move(
                    np.array(
                        [
                            (-w, y),
                            (0, y + 0.012),
                            (w, y),
                            (w, y + 0.016),
                            (0, y + 0.028),
                            (-w, y + 0.016),
                        ]
                    ),
                    math.sin(a) * 0.1,
                    top,
                    turn=-a,
                )
                s.canvas.flat(bar, mix(flesh, (245, 248, 232), 0.7), opacity=0.75)
            s.canvas.shadow(
                move(ellipse(0, own * 0.94, width * 0.2, 0.04), math.sin(a) * 0.1, top, turn=-a),
                0.8,
                0.012,
                blush,
            )
        s.tag(0.0, 0.13, 0.4)
    del ry


def _houseplant(s: Stage) -> None:
    f, v = s.f, s.v
    top, _ = _pot(s, f("pot-h", 0.22, 0.32), f("pot-r", 0.18, 0.25))
    green = oklch(f("green-l", 0.4, 0.62), f("green-c", 0.05, 0.12), f("green-h", 118, 162))
    variegated = f.count("variegation", 0, 4)
    cream = (
        oklch(0.9, 0.06, f("cream", 70, 130))
        if v.chance("cream", 0.7)
        else oklch(0.72, 0.12, v("blush", 0, 40))
    )
    n = f.count("leaves", 9, 15)
    length, width = f("leaf-l", 0.2, 0.36), f("leaf-w", 0.35, 0.95)
    tip = f("leaf-tip", 0.28, 0.62)
    reach, fan = f("reach", 0.25, 0.5), f("fan", 0.9, 1.5)
    droop = f("droop", 0.1, 0.9)
    order = sorted(range(n), key=lambda k: (k * 7) % n)
    for rank, k in enumerate(order):
        a = (k - (n - 1) / 2) / n * 2 * fan + s.pose(f"sway{k}", -0.08, 0.08)
        own = reach * (0.45 + 0.75 * ((k * 5) % n) / n)
        end = (math.sin(a) * own * 0.9, top + math.cos(a) * own + 0.12)
        s.canvas.tube(
            smooth([(0, top), (end[0] * 0.35, top + (end[1] - top) * 0.6), end], closed=False),
            0.014,
            Material(mix(green, (150, 120, 80), f("stalk", 0, 0.6)), 0.2),
        )
        turn = -a * (1 + droop)
        tone = scale(green, 0.68 + 0.36 * rank / n)
        size = length * (0.8 + 0.3 * ((k * 3) % 5) / 5)
        _leaf(s, end[0], end[1], size, size * width, turn, tone, tip, f("leaf-gloss", 0.2, 0.7))
        if variegated == 1:
            rimmed = move(
                leaf(size * 0.8, size * width * 0.62, tip=tip), end[0], end[1], turn=turn
            ) + np.array([0, 0.0])
            s.canvas.shadow(rimmed, 0.7, 0.012, cream)
        elif variegated == 2:
            for q in range(3):
                p = move(
                    np.array(
                        [
                            (0.0, size * (0.3 + 0.2 * q)),
                            (size * width * 0.36, size * (0.42 + 0.2 * q)),
                        ]
                    ),
                    *end,
                    turn=turn,
                )
                m = move(
                    np.array(
                        [
                            (0.0, size * (0.3 + 0.2 * q)),
                            (-size * width * 0.36, size * (0.42 + 0.2 * q)),
                        ]
                    ),
                    *end,
                    turn=turn,
                )
                s.canvas.line(p, 0.014, cream, opacity=0.8, inside=True)
                s.canvas.line(m, 0.014, cream, opacity=0.8, inside=True)
        elif variegated == 3:
            for q in range(v.count("dapples", 3, 7)):
                p = move(
                    np.array([(size * width * 0.25 * math.sin(q * 2.1), size * (0.25 + 0.1 * q))]),
                    *end,
                    turn=turn,
                )[0]
                s.canvas.flat(ellipse(p[0], p[1], 0.014, 0.011, n=10), cream, opacity=0.85)
    if v.chance("bloom", 0.35):
        pal = s.palette(vivid=1.2)
        for k in range(v.count("blooms", 1, 4)):
            x, y = 0.11 * (k - 1.5), 0.86 - 0.05 * abs(k - 1)
            s.canvas.tube([(0, top + 0.1), (x, y)], 0.012, Material(green, 0.2))
            for q in range(6):
                s.canvas.blob(
                    move(leaf(0.07, 0.04, tip=0.6), x, y, turn=q * 1.05),
                    Material(pal.accent, 0.2),
                    puff=0.5,
                )
            s.canvas.ball(x, y, 0.02, Material((246, 214, 96), 0.2))
    s.tag(0.0, 0.12, 0.36)


PAINTERS = {
    "flower": Painter(_flower, (-0.66, -0.06, 0.66, 1.08), 0.5),
    "tree": Painter(_tree, (-0.62, -0.04, 0.62, 1.2), 6.0),
    "succulent": Painter(_succulent, (-0.5, -0.12, 0.5, 1.08), 0.22),
    "houseplant": Painter(_houseplant, (-0.8, -0.12, 0.8, 1.2), 0.55),
}
"""Painters of this module by kind."""
