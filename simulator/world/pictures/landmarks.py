"""Towers, bridges, shopfronts, statues."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.letters import FACES
from simulator.world.pictures.light import Material
from simulator.world.pictures.printed_sheet import Sheet, lettering
from simulator.world.pictures.shapes import ellipse, leaf, move, ribbon, rounded, smooth, star
from simulator.world.pictures.stage import Box, Painter, Stage
from simulator.world.pictures.traits import WHITE, Colour, ink_on, mix, oklch, scale


def _stone(s: Stage) -> Colour:
    return oklch(s.f("stone-l", 0.58, 0.86), s.f("stone-c", 0.01, 0.07), s.f("stone-h", 20, 100))


def _masonry(s: Stage, sheet: Sheet, colour: Colour) -> None:
    """Courses of stone or brick."""
    rows = max(int(s.f("courses", 14, 34) * sheet.height / s.px), 3)
    dark = scale(colour, 0.86)
    for k in range(rows):
        sheet.box(0, k / rows, 1, (k + 0.12) / rows, dark)
        n = 7
        for j in range(n):
            x = (j + 0.5 * (k % 2)) / n
            sheet.box(x, k / rows, x + 0.006, (k + 1) / rows, dark)
    sheet.grain(0.04, "leafage")


def _tower(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    stone = _stone(s)
    r = f("r", 0.1, 0.17)
    h = f("h", 0.6, 0.72)
    taper = f("taper", 0.72, 1.0)
    round_ = f.chance("round", 0.5)
    storeys = f.count("storeys", 4, 9)
    glass = mix((48, 58, 74), pal.second, 0.2)
    columns = f.count("columns", 2, 4)
    sheet = s.sheet(2 * math.pi * r if round_ else 2 * r, h, stone)
    if f.chance("masonry", 0.6):
        _masonry(s, sheet, stone)
    bands = v.count("bands", 1, 3)
    for k in range(bands):
        y = 0.06 + 0.8 * k / bands + v("band", 0, 0.1)
        sheet.box(0, y, 1, y + 0.03, pal.accent)
    arched = f.chance("arched", 0.5)
    per_turn = columns * 2 if round_ else columns
    ww, wh = f("win-w", 0.28, 0.55) / per_turn, f("win-h", 0.36, 0.62) / storeys
    for row in range(storeys):
        for col in range(per_turn):
            x, y = (col + 0.5) / per_turn, (row + 0.5) / storeys
            sheet.box(
                x - ww / 2 - 0.008,
                y - wh / 2 - 0.004,
                x + ww / 2 + 0.008,
                y + wh / 2 + 0.006,
                scale(stone, 0.75),
            )
            pane = (244, 214, 140) if s.pose.chance(f"lit{row}-{col}", 0.12) else glass
            sheet.box(x - ww / 2, y - wh / 2, x + ww / 2, y + wh / 2, pane)
            if arched:
                sheet.fill(
                    [
                        (x + ww / 2 * math.cos(a), y - wh / 2 - wh * 0.28 * math.sin(a))
                        for a in np.linspace(0, math.pi, 9)
                    ],
                    pane,
                )
            sheet.box(x - 0.003, y - wh / 2, x + 0.003, y + wh / 2, scale(stone, 0.8))
    base_h = f("base", 0.04, 0.1)
    plinth = Material(scale(stone, 0.85), 0.1, grain=0.05)
    if round_:
        s.canvas.revolve(0, [(0, r * 1.25), (base_h, r * 1.2)], plinth)
        profile = [(base_h + y * h, r * (1 + (taper - 1) * y)) for y in np.linspace(0, 1, 6)]
        s.wrap(0, profile, sheet, Material(WHITE, 0.1))
    else:
        s.canvas.blob(
            [(-r * 1.22, 0), (r * 1.22, 0), (r * 1.16, base_h), (-r * 1.16, base_h)],
            plinth,
            bevel=0.01,
        )
        depth = r * 0.5
        side = -1 if s.light.side > 0 else 1
        corners = [(-r * taper, base_h + h), (r * taper, base_h + h), (r, base_h), (-r, base_h)]
        flank = [
            (side * r * taper, base_h + h),
            (side * (r * taper + depth), base_h + h - 0.02),
            (side * (r + depth), base_h),
            (side * r, base_h),
        ]
        s.canvas.face(flank, Material(scale(stone, 0.72), 0.1, grain=0.04), (0.6 * side, 0))
        for k in range(storeys):
            y = base_h + h * (1 - (k + 0.5) / storeys)
            x = side * (r + depth * 0.5)
            s.canvas.flat(
                rounded(x - 0.018, y - 0.02, x + 0.018, y + 0.02, 0.004), scale(glass, 0.8)
            )
        s.lay(corners, sheet, (0, 0.1))
    y = base_h + h
    rt = r * taper
    s.canvas.blob(
        rounded(-rt * 1.22, y - 0.012, rt * 1.22, y + 0.022, 0.006),
        plinth._replace(colour=scale(stone, 0.95)),
        bevel=0.012,
    )
    if f.chance("clock", 0.4):
        s.canvas.ball(0, y - 0.1, rt * 0.55, Material(pal.light, 0.2))
        s.canvas.line(ellipse(0, y - 0.1, rt * 0.55, rt * 0.55), 0.01, pal.dark)
        for a, q in ((s.pose("hour", 0, 6), 0.3), (s.pose("minute", 0, 6), 0.45)):
            s.canvas.line(
                [(0, y - 0.1), (rt * q * math.cos(a), y - 0.1 + rt * q * math.sin(a))],
                0.008,
                (30, 30, 30),
            )
    roof = Material(pal.base, 0.4, grain=0.06, texture="cloth")
    top = f.count("top", 0, 4)
    rh = f("roof", 0.14, 0.24)
    y += 0.02
    if top == 0:
        s.canvas.revolve(
            0, [(y, rt * 1.2), (y + rh * 0.15, rt * 0.98), (y + rh * 1.2, 0.006)], roof
        )
    elif top == 1:
        t = np.linspace(0, 1, 10)
        onion = f("onion", 0.0, 0.35)
        s.canvas.revolve(
            0,
            [
                (
                    y + rh * 0.9 * q,
                    max(
                        rt * 0.95 * math.sqrt(max(1 - q * q, 0)) * (1 + onion * math.sin(q * 3.1)),
                        0.004,
                    ),
                )
                for q in t
            ],
            roof._replace(gloss=0.6),
        )
    elif top == 2:
        s.canvas.blob([(-rt * 1.3, y), (rt * 1.3, y), (0, y + rh * 1.1)], roof, bevel=0.04)
    elif top == 3:
        n = 5
        for k in range(n):
            x = (k - 2) * rt * 0.52
            s.canvas.blob(
                rounded(x - rt * 0.17, y, x + rt * 0.17, y + 0.055, 0.005),
                plinth._replace(colour=stone),
                bevel=0.008,
            )
        rh = 0.05
    else:
        for k in range(3):
            q = 1 - 0.27 * k
            s.canvas.blob(
                rounded(-rt * q, y + rh * 0.3 * k, rt * q, y + rh * 0.3 * (k + 1), 0.006),
                roof._replace(colour=scale(pal.base, 0.9 + 0.08 * k)),
                bevel=0.012,
            )
        rh *= 0.9
    mast = f("mast", 0.04, 0.14)
    s.canvas.tube([(0, y + rh), (0, min(y + rh + mast, 1.1))], 0.01, Material((90, 92, 96), 0.5))
    flag_y = min(y + rh + mast, 1.1)
    s.canvas.blob(
        smooth(
            [
                (0, flag_y),
                (0.06, flag_y - 0.01),
                (0.11, flag_y - 0.006),
                (0.11, flag_y - 0.05),
                (0.05, flag_y - 0.052),
                (0, flag_y - 0.045),
            ]
        ),
        Material(pal.accent, 0.1),
    )
    door = rounded(-0.035, 0.0, 0.035, base_h + 0.05, 0.03)
    s.canvas.blob(door, Material(mix(pal.dark, pal.second, 0.5), 0.3), bevel=0.01)
    if s.label is not None and not s.away:
        s.tag(0.34, 0.1, 0.34, stake=0.1)
    s.base, s.foot = (-r * 1.2, r * 1.2), 0.02


def _bridge(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    stone = _stone(s)
    kind = f.count("type", 0, 2)
    deck, half = f("deck", 0.24, 0.32), 0.95
    thick = f("thick", 0.035, 0.06)
    steel = Material(pal.base, 0.4)
    if kind == 0:  # arches
        n = f.count("arches", 2, 5)
        rise = f("rise", 0.6, 0.92)
        body: list[tuple[float, float]] = [(-half, deck), (half, deck)]
        camber = f("camber", 0, 0.06)
        top = [(x, deck + camber * (1 - (x / half) ** 2)) for x in np.linspace(-half, half, 20)]
        span = 2 * half / n
        pier = span * f("pier", 0.12, 0.24)
        lower: list[tuple[float, float]] = [(half, 0.0)]
        for k in range(n):
            c = half - span * (k + 0.5)
            a = span / 2 - pier / 2
            lower += [
                (c + a, 0.0),
                *(
                    (c + a * math.cos(t), deck * rise * math.sin(t))
                    for t in np.linspace(0, math.pi, 18)
                ),
                (c - a, 0.0),
            ]
        lower.append((-half, 0.0))
        outline = np.array([*top, *lower])
        s.canvas.blob(
            outline, Material(stone, 0.08, grain=0.09, bump=0.12, texture="leafage"), bevel=0.025
        )
        for k in range(n):
            c = half - span * (k + 0.5)
            a = span / 2 - pier / 2
            s.canvas.line(
                np.stack(
                    [
                        c + a * 1.04 * np.cos(np.linspace(0, math.pi, 30)),
                        deck * rise * 1.05 * np.sin(np.linspace(0, math.pi, 30)),
                    ],
                    1,
                ),
                0.02,
                scale(stone, 0.75),
                inside=True,
            )
            s.canvas.shadow(ellipse(c, 0.0, a, 0.1), 0.3, 0.03)
        s.canvas.tube(top, 0.025, Material(scale(stone, 1.05), 0.1))
        rail = [(x, y + 0.06) for x, y in top]
        s.canvas.tube(rail, 0.014, Material(pal.accent, 0.4))
        for x, y in top[:: 2 - v.count("posts", 0, 1)]:
            s.canvas.tube([(x, y), (x, y + 0.06)], 0.01, Material(pal.accent, 0.4))
        if f.chance("turrets", 0.5):
            for k in range(1, n):
                x = half - span * k
                s.canvas.blob(
                    rounded(x - 0.035, 0.0, x + 0.035, deck + 0.12, 0.01),
                    Material(scale(stone, 0.95), 0.08, grain=0.06),
                    bevel=0.015,
                )
                s.canvas.blob(
                    [(x - 0.05, deck + 0.12), (x + 0.05, deck + 0.12), (x, deck + 0.2)],
                    Material(pal.base, 0.3),
                    bevel=0.02,
                )
        del body
    elif kind == 1:  # suspension
        tx, th = f("tower-x", 0.42, 0.6), f("tower-h", 0.68, 0.95)
        leg = f("leg", 0.03, 0.055)
        cable = Material(scale(pal.base, 0.8), 0.3)
        for sign in (-1, 1):
            main = [(sign * tx, th - 0.03), (sign * half, deck + 0.02)]
            s.canvas.tube(main, 0.014, cable)
        xs = np.linspace(-tx, tx, 30)
        low = deck + f("sag", 0.03, 0.1)
        curve = np.stack([xs, low + (th - 0.03 - low) * (xs / tx) ** 2], 1)
        s.canvas.tube(curve, 0.014, cable)
        n = f.count("hangers", 12, 26)
        for x in np.linspace(-tx, tx, n):
            s.canvas.line(
                [(x, deck), (x, low + (th - 0.03 - low) * (x / tx) ** 2)], 0.005, cable.colour
            )
        for q in np.linspace(0.15, 0.9, 6):
            for sign in (-1, 1):
                x = sign * (tx + (half - tx) * q)
                s.canvas.line(
                    [(x, deck), (x, th - 0.03 + (deck + 0.05 - th) * q)], 0.005, cable.colour
                )
        s.canvas.blob(rounded(-half, deck - thick, half, deck, 0.008), steel, bevel=0.015)
        s.canvas.flat(
            rounded(-half, deck - thick * 0.6, half, deck - thick * 0.35, 0.002), pal.second
        )
        for sign in (-1, 1):
            x = sign * tx
            for off in (-0.035, 0.035):
                s.canvas.blob(
                    [
                        (x + off * 1.3 - leg / 2, 0),
                        (x + off * 1.3 + leg / 2, 0),
                        (x + off + leg / 2.4, th),
                        (x + off - leg / 2.4, th),
                    ],
                    Material(pal.base, 0.4),
                    bevel=0.012,
                )
            for k in range(v.count("braces", 2, 4)):
                y = deck + (th - deck) * (k + 1) / 5
                s.canvas.blob(
                    rounded(x - 0.05, y, x + 0.05, y + 0.022, 0.004),
                    Material(pal.accent if k == 0 else pal.base, 0.4),
                    bevel=0.006,
                )
            s.canvas.blob(
                rounded(x - 0.075, -0.01, x + 0.075, 0.05, 0.01),
                Material(stone, 0.1, grain=0.06),
                bevel=0.015,
            )
    else:  # truss
        h = f("truss-h", 0.18, 0.34)
        n = f.count("panels", 7, 14)
        bow = f("bow", 0.0, 0.2)
        xs = np.linspace(-half * 0.94, half * 0.94, n)
        top = [(x, deck + h * 0.7 + bow * (1 - (x / half) ** 2)) for x in xs]
        bar = f("bar", 0.018, 0.03)
        for k in range(n):
            s.canvas.tube([(xs[k], deck), top[k]], bar * 0.8, steel)
            if k + 1 < n:
                a, b = (
                    ((xs[k], deck), top[k + 1])
                    if (k < n / 2) ^ f.chance("lean")
                    else (top[k], (xs[k + 1], deck))
                )
                s.canvas.tube([a, b], bar * 0.7, Material(pal.second, 0.4))
        s.canvas.tube(top, bar * 1.2, steel)
        s.canvas.blob(rounded(-half, deck - thick, half, deck, 0.006), steel, bevel=0.014)
        for k in range(v.count("plates", 1, 4)):
            x = xs[k * 2 % n]
            s.canvas.blob(
                rounded(x - 0.03, deck - thick, x + 0.03, deck + 0.01, 0.004),
                Material(pal.accent, 0.4),
                bevel=0.006,
            )
        for q in range(f.count("piers", 2, 4)):
            x = -half * 0.9 + 1.8 * half * (q + 0.5) / 4
            s.canvas.blob(
                [
                    (x - 0.06, 0),
                    (x + 0.06, 0),
                    (x + 0.045, deck - thick),
                    (x - 0.045, deck - thick),
                ],
                Material(stone, 0.1, grain=0.08),
                bevel=0.015,
            )
    for k in range(5):
        x = -half * 0.8 + 1.6 * half * k / 4
        s.canvas.tube([(x, deck), (x, deck + 0.11)], 0.008, Material((60, 62, 66), 0.3))
        s.canvas.ball(x, deck + 0.115, 0.013, Material((250, 236, 190), 0.5))
    if s.label is not None and not s.away:
        s.tag(0.0, 0.07, 0.5, stake=0.08)
    s.base, s.foot = (-half, half), 0.03


def _shopfront(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    w, h = 1.3, 1.0
    wall = _stone(s)
    sheet = s.sheet(w, h, wall)
    if f.chance("masonry", 0.6):
        _masonry(s, sheet, wall)
    frame = scale(pal.base, 0.9)
    sheet.box(0.04, 0.14, 0.96, 1, frame)
    board_y, board_h = 0.15, f("board", 0.15, 0.2)
    board = f.pick("board-colour", (pal.dark, pal.light, pal.base))
    sheet.box(0.03, board_y - 0.01, 0.97, board_y + board_h + 0.01, scale(frame, 0.7))
    sheet.box(0.04, board_y, 0.96, board_y + board_h, board)
    sheet.emblem(
        s.traits,
        0.1,
        board_y + board_h / 2,
        board_h * 0.42,
        (pal.second, pal.accent, pal.base, pal.light),
    )
    if s.label is not None and not s.away:
        sheet.print(
            s.label,
            (0.17, board_y + 0.015, 0.94, board_y + board_h - 0.015),
            ink_on(board, pal),
            lettering(s.traits),
            lines=2,
            key=s.view.key,
        )
    elif s.label is not None:
        sheet.box(0.2, board_y + 0.03, 0.9, board_y + board_h - 0.03, mix(board, pal.base, 0.4))
    door_left = f.chance("door-left")
    dx0, dx1 = (0.08, 0.3) if door_left else (0.7, 0.92)
    wx0, wx1 = (0.34, 0.92) if door_left else (0.08, 0.66)
    y0 = 0.42
    glass = (70, 84, 92)
    stall = f("stall", 0.8, 0.88)
    sheet.box(wx0, y0, wx1, stall, (34, 36, 40))
    n = f.count("panes", 1, 4)
    for k in range(n):
        a, b = wx0 + (wx1 - wx0) * k / n + 0.008, wx0 + (wx1 - wx0) * (k + 1) / n - 0.008
        for row in range(12):
            t = row / 12
            sheet.box(
                a,
                y0 + 0.01 + (stall - y0 - 0.02) * t,
                b,
                y0 + 0.01 + (stall - y0 - 0.02) * (t + 1 / 11),
                mix(mix(glass, (252, 222, 160), 0.5), (44, 46, 50), t),
            )
    goods = f.count("goods", 4, 9)
    for k in range(goods):
        x = wx0 + (wx1 - wx0) * (k + 0.5) / goods
        tone = (pal.base, pal.second, pal.accent, pal.light)[(k + v.count("goods", 0, 3)) % 4]
        hh = f(f"good{k}", 0.06, 0.17)
        form = f.count(f"form{k}", 0, 2)
        if form == 0:
            sheet.box(x - 0.025, stall - hh - 0.02, x + 0.025, stall - 0.02, tone)
        elif form == 1:
            sheet.figure(ellipse(0, 0, 1, 1), x, stall - 0.05, 0.035, tone)
        else:
            sheet.fill(
                [(x - 0.03, stall - 0.02), (x + 0.03, stall - 0.02), (x, stall - 0.02 - hh)], tone
            )
    sheet.box(wx0, stall - 0.02, wx1, stall, scale(frame, 0.6))
    door = mix(pal.second, pal.dark, 0.2)
    sheet.box(dx0 - 0.015, y0 - 0.02, dx1 + 0.015, 1, scale(frame, 0.7))
    sheet.box(dx0, y0, dx1, 1, door)
    sheet.box(dx0 + 0.03, y0 + 0.05, dx1 - 0.03, 0.74, (58, 66, 72))
    sheet.box(dx0 + 0.03, y0 + 0.05, dx0 + 0.07, 0.74, (120, 130, 134), 0.5)
    sheet.figure(
        ellipse(0, 0, 1, 1), dx1 - 0.022 if door_left else dx0 + 0.022, 0.78, 0.014, (220, 190, 110)
    )
    sheet.box(0, 0.97, 1, 1, scale(wall, 0.6))
    corners = [(-w / 2, h), (w / 2, h), (w / 2, 0), (-w / 2, 0)]
    s.lay(corners, sheet, (0, 0.1))
    glare = [(wx0 + 0.04, y0), (wx0 + 0.14, y0), (wx0 + 0.04, stall), (wx0 - 0.02 + 0.02, stall)]
    s.canvas.flat([(-w / 2 + x * w, h - y * h) for x, y in glare], (255, 255, 255), opacity=0.16)
    s.canvas.blob(
        rounded(-w / 2 - 0.02, h - 0.1, w / 2 + 0.02, h - 0.06, 0.01),
        Material(scale(wall, 1.05), 0.1),
        bevel=0.015,
    )
    stripes = f.count("awning", 7, 13)
    drop, out = f("drop", 0.08, 0.13), f("out", 0.03, 0.08)
    top_y = h - (board_y + board_h) * h - 0.012
    s.canvas.shadow(
        [
            (-w * 0.45, top_y - drop),
            (w * 0.45, top_y - drop),
            (w * 0.45, top_y - drop - 0.1),
            (-w * 0.45, top_y - drop - 0.1),
        ],
        0.4,
        0.03,
    )
    scallop = f.chance("scallop", 0.5)
    for k in range(stripes):
        a, b = -0.46 + 0.92 * k / stripes, -0.46 + 0.92 * (k + 1) / stripes
        tone = pal.accent if k % 2 == 0 else mix(pal.light, WHITE, 0.5)
        spread = 1 + out
        s.canvas.face(
            [
                (a * w, top_y),
                (b * w, top_y),
                (b * w * spread, top_y - drop),
                (a * w * spread, top_y - drop),
            ],
            Material(tone, 0.05),
            (0, 0.5),
        )
        hem = scale(tone, 0.9)
        if scallop:
            s.canvas.flat(
                ellipse((a + b) / 2 * w * spread, top_y - drop, (b - a) / 2 * w * spread, 0.03), hem
            )
        else:
            s.canvas.flat(
                [
                    (a * w * spread, top_y - drop),
                    (b * w * spread, top_y - drop),
                    (b * w * spread, top_y - drop - 0.028),
                    (a * w * spread, top_y - drop - 0.028),
                ],
                hem,
            )
    for k in range(v.count("pots", 0, 2)):
        x = (wx0 + wx1) / 2 - 0.5 + (k - 0.5) * 0.34
        s.canvas.revolve(x * w, [(0.0, 0.045), (0.09, 0.06)], Material(pal.second, 0.2), pitch=0.1)
        for q in range(9):
            a = (q - 4) * 0.3
            s.canvas.blob(
                move(leaf(0.14, 0.05), x * w, 0.08, turn=-a), Material((70, 120, 62), 0.2), puff=0.5
            )
    s.base, s.foot = (-w / 2, w / 2), 0.01


def _statue(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    stone = _stone(s)
    box_w, box_h = f("ped-w", 0.3, 0.4), f("ped-h", 0.26, 0.38)
    box = Box(s, box_w, box_h, box_w * 0.9, yaw=s.view.yaw * 0.6 or 0.2, pitch=0.06)
    sides = {}
    for name, width in (("front", box_w), ("right", box_w * 0.9), ("top", box_w)):
        sheet = s.sheet(width, box_h if name != "top" else box_w * 0.9, stone)
        sheet.grain(0.06, "leafage")
        if name != "top":
            sheet.box(0, 0, 1, 0.1, scale(stone, 1.08))
            sheet.box(0, 0.1, 1, 0.13, scale(stone, 0.8))
            sheet.box(0, 0.86, 1, 1, scale(stone, 0.9))
            sheet.box(0, 0.85, 1, 0.87, scale(stone, 0.75))
        if name == "front":
            if s.label is not None and not s.away:
                sheet.box(0.08, 0.26, 0.92, 0.74, (196, 170, 112))
                sheet.print(
                    s.label,
                    (0.11, 0.29, 0.89, 0.71),
                    (48, 38, 26),
                    FACES[4],
                    lines=3,
                    key=s.view.key,
                )
            else:
                sheet.emblem(
                    s.traits,
                    0.5,
                    0.5,
                    0.28,
                    (scale(stone, 0.8), scale(stone, 1.1), scale(stone, 0.7), stone),
                )
        sides[name] = sheet
    box.paint(sides, gloss=0.1, edge=0.15)
    kind = f.count("stuff", 0, 2)
    metal = Material(
        (oklch(0.5, 0.06, 60), oklch(0.62, 0.06, 165), oklch(0.85, 0.015, 90))[kind],
        (0.65, 0.3, 0.2)[kind],
        (0.7, 0.25, 0.0)[kind],
        grain=0.07,
        bump=0.05,
        texture="leafage",
    )
    if f.chance("gilt", 0.12):
        metal = Material((226, 180, 80), 0.8, 0.8)
    y = box_h + box_w * 0.9 * math.sin(0.06) * 0.4
    dark = metal._replace(colour=scale(metal.colour, 0.78))
    hip, shoulder = y + f("hip", 0.2, 0.26), y + f("shoulder", 0.43, 0.5)
    sway = f("sway", -0.04, 0.04)
    chest = f("chest", 0.085, 0.12)
    if f.chance("cloak", 0.5):
        wide = f("cloak-w", 0.12, 0.2)
        s.canvas.blob(
            smooth(
                [
                    (-chest * 0.9 + sway, shoulder + 0.02),
                    (chest * 0.9 + sway, shoulder + 0.02),
                    (wide * 0.9, hip),
                    (wide, y + 0.02),
                    (0, y),
                    (-wide, y + 0.02),
                    (-wide * 0.9, hip),
                ]
            ),
            dark._replace(bump=0.2, texture="bark"),
        )
    for side in (-1, 1):
        step = side * f("stance", 0.04, 0.09)
        s.canvas.blob(
            ribbon(
                smooth(
                    [
                        (side * 0.035 + sway * 0.5, hip),
                        (step * 0.9, (hip + y) / 2),
                        (step, y + 0.02),
                    ],
                    closed=False,
                ),
                [0.085, 0.066, 0.045],
            ),
            metal,
        )
        s.canvas.blob(ellipse(step + side * 0.018, y + 0.015, 0.042, 0.02), metal)
    skirt = f("skirt", 0.0, 0.12)
    s.canvas.blob(
        smooth(
            [
                (-chest + sway, shoulder),
                (sway, shoulder + 0.035),
                (chest + sway, shoulder),
                (chest * 0.72 + sway * 0.7, (hip + shoulder) / 2),
                (0.07 + skirt * 0.5, hip - skirt),
                (-0.07 - skirt * 0.5, hip - skirt),
                (-chest * 0.72 + sway * 0.7, (hip + shoulder) / 2),
            ]
        ),
        metal,
    )
    prop = f.count("prop", 0, 4)
    hand: list[tuple[float, float]] = []
    for side in (-1, 1):
        raise_ = f(f"arm{side}", -1.3, 1.45)
        raise_ += v(f"arm{side}", -0.12, 0.12)
        bend = f(f"bend{side}", -0.2, 0.9)
        sx, sy = side * chest * 0.92 + sway, shoulder - 0.015
        ex, ey = sx + side * math.cos(raise_) * 0.1, sy + math.sin(raise_) * 0.11
        hx, hy = ex + side * math.cos(raise_ + bend) * 0.1, ey + math.sin(raise_ + bend) * 0.11
        s.canvas.blob(
            ribbon(smooth([(sx, sy), (ex, ey), (hx, hy)], closed=False), [0.06, 0.045, 0.034]),
            metal,
        )
        s.canvas.ball(hx, hy, 0.024, metal)
        hand.append((hx, hy))
    hx, hy = hand[1] if f.chance("right") else hand[0]
    if prop == 0:
        s.canvas.tube([(hx, hy - 0.34), (hx, hy + 0.22)], 0.016, dark)
        s.canvas.blob([(hx - 0.025, hy + 0.2), (hx, hy + 0.3), (hx + 0.025, hy + 0.2)], dark)
    elif prop == 1:
        s.canvas.tube([(hx, hy - 0.05), (hx, hy + 0.09)], 0.024, dark)
        s.canvas.blob(
            move(leaf(0.1, 0.06, tip=0.35), hx, hy + 0.09), Material((232, 176, 72), 0.6, 0.5)
        )
    elif prop == 2:
        s.canvas.blob(rounded(hx - 0.05, hy - 0.04, hx + 0.05, hy + 0.05, 0.006), dark, bevel=0.01)
    elif prop == 3:
        s.canvas.blob(move(star(f.count("shield", 3, 6), 0.8, soft=True), hx, hy, size=0.1), dark)
        s.canvas.ball(hx, hy, 0.03, metal)
    else:
        s.canvas.ball(hx, hy + 0.05, 0.045, dark)
    s.canvas.blob(rounded(sway - 0.022, shoulder, sway + 0.022, shoulder + 0.07, 0.02), metal)
    hr = f("head", 0.052, 0.064)
    hx, hy = sway + f("glance", -0.01, 0.01), shoulder + 0.065 + hr
    s.canvas.ball(hx, hy, hr * 0.85, metal, hr)
    hair = f.count("hair", 0, 3)
    if hair == 0:
        s.canvas.blob(
            smooth(
                [
                    (hx - hr * 0.95, hy),
                    (hx - hr * 0.7, hy + hr * 0.9),
                    (hx, hy + hr * 1.2),
                    (hx + hr * 0.7, hy + hr * 0.9),
                    (hx + hr * 0.95, hy),
                    (hx + hr * 0.5, hy + hr * 0.45),
                    (hx - hr * 0.5, hy + hr * 0.45),
                ]
            ),
            dark,
        )
    elif hair == 1:
        s.canvas.blob(
            [
                (hx - hr * 1.1, hy + hr * 0.35),
                (hx + hr * 1.1, hy + hr * 0.35),
                (hx + hr * 0.8, hy + hr * 0.6),
                (hx + hr * 0.6, hy + hr * 1.5),
                (hx - hr * 0.6, hy + hr * 1.5),
                (hx - hr * 0.8, hy + hr * 0.6),
            ],
            dark,
        )
    elif hair == 2:
        for k in range(5):
            a = math.pi * (0.15 + 0.175 * k)
            s.canvas.blob(
                move(
                    leaf(0.05, 0.022),
                    hx + math.cos(a) * hr * 0.8,
                    hy + math.sin(a) * hr * 0.8,
                    turn=a - math.pi / 2,
                ),
                Material((226, 182, 88), 0.7, 0.7),
            )
    if f.chance("beard", 0.4):
        s.canvas.blob(
            smooth(
                [
                    (hx - hr * 0.6, hy - hr * 0.3),
                    (hx, hy - hr * 0.1),
                    (hx + hr * 0.6, hy - hr * 0.3),
                    (hx, hy - hr * 1.5),
                ]
            ),
            dark,
        )
    if v.chance("sash", 0.6):
        s.canvas.line(
            [(sway - chest * 0.8, shoulder), (sway + chest * 0.5, hip + 0.02)],
            0.02 + v("sash", 0, 0.015),
            dark.colour,
            inside=True,
        )
    for k in range(v.count("belt", 0, 2)):
        s.canvas.line(
            [
                (sway * 0.6 - 0.07, hip + 0.025 + 0.03 * k),
                (sway * 0.6 + 0.07, hip + 0.025 + 0.03 * k),
            ],
            0.014,
            scale(metal.colour, 0.5),
            inside=True,
        )
    s.canvas.shadow(ellipse(0, y, 0.13, 0.02), 0.35, 0.02)
    del pal


PAINTERS = {
    "tower": Painter(_tower, (-0.52, -0.03, 0.52, 1.16), 18.0),
    "bridge": Painter(_bridge, (-1.0, -0.06, 1.0, 1.0), 16.0),
    "shopfront": Painter(_shopfront, (-0.72, -0.02, 0.72, 1.03), 3.8),
    "statue": Painter(_statue, (-0.5, -0.06, 0.5, 1.3), 3.6),
}
"""Painters of this module by kind."""
