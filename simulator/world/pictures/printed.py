"""Books, signs, posters, tickets, pages, game boxes: flat printed things."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.letters import FACES
from simulator.world.pictures.light import Material
from simulator.world.pictures.noise import generator
from simulator.world.pictures.printed_sheet import Sheet, lettering
from simulator.world.pictures.shapes import arc, ellipse, move, rounded, superellipse
from simulator.world.pictures.stage import Box, Painter, Stage
from simulator.world.pictures.traits import WHITE, Palette, ink_on, mix, scale


def artwork(s: Stage, sheet: Sheet, pal: Palette) -> None:
    """A family's picture for a cover or a poster; the variant recolours and counts."""
    f, v = s.f, s.v
    style = f.count("art", 0, 4)
    if style == 0:  # landscape with sun
        horizon = f("horizon", 0.45, 0.7)
        for k in range(10):
            sheet.box(
                0,
                horizon * k / 10,
                1,
                horizon * (k + 1) / 10 + 0.01,
                mix(pal.second, pal.light, k / 12),
            )
        sheet.figure(
            ellipse(0, 0, 1, 1),
            v("sun-x", 0.2, 0.8),
            v("sun-y", 0.15, 0.4),
            f("sun", 0.1, 0.24),
            pal.accent,
        )
        for layer in range(f.count("hills", 2, 4)):
            xs = np.linspace(0, 1, 30)
            ys = (
                horizon
                + 0.11 * layer
                - 0.09 * np.abs(np.sin(xs * f(f"hill{layer}", 2, 9) + f(f"hp{layer}", 0, 6)))
            )
            sheet.fill(
                np.concatenate([np.stack([xs, ys], 1), [(1, 1), (0, 1)]]),
                mix(pal.base, pal.dark, 0.2 + 0.25 * layer),
            )
    elif style == 1:  # overlapping shapes
        rng = generator("art", s.look.kind, s.look.family)
        colours = (pal.second, pal.accent, pal.light, pal.dark)
        for k in range(f.count("shapes", 4, 8)):
            form = superellipse(1, rng.uniform(0.4, 1), f("form", 1, 6))
            sheet.figure(
                form,
                rng.uniform(0.1, 0.9),
                rng.uniform(0.15, 0.9),
                rng.uniform(0.1, 0.36),
                colours[(k + v.count("shift", 0, 3)) % 4],
                turn=rng.uniform(0, 6),
            )
    elif style == 2:
        sheet.pattern(s.traits, (pal.second, pal.base))
    elif style == 3:  # rays and a sign
        centre, n = f("ray-y", 0.4, 0.7), f.count("rays", 8, 20)
        for k in range(0, 2 * n, 2):
            a, b = math.pi * k / n, math.pi * (k + 1) / n
            sheet.fill(
                [
                    (0.5, centre),
                    (0.5 + 2 * math.cos(a), centre + 2 * math.sin(a)),
                    (0.5 + 2 * math.cos(b), centre + 2 * math.sin(b)),
                ],
                pal.second,
            )
    else:  # horizontal bands
        n = f.count("bands", 3, 7)
        for k in range(n):
            sheet.box(
                0,
                k / n,
                1,
                (k + 1) / n,
                mix(
                    pal.base,
                    (pal.second, pal.accent)[(k + v.count("shift", 0, 1)) % 2],
                    (k % 3) / 2.2,
                ),
            )
    if style != 0 or f.chance("sign", 0.4):
        sheet.emblem(
            s.traits,
            0.5,
            f("sign-y", 0.45, 0.68),
            f("sign-r", 0.18, 0.32),
            (pal.light, pal.accent, pal.dark, pal.second),
        )


def _cover(s: Stage, pal: Palette, w: float, h: float) -> Sheet:
    f = s.f
    sheet = s.sheet(w, h, pal.base)
    artwork(s, sheet, pal)
    at_top = f.chance("title-top", 0.65)
    y = f("title-y", 0.06, 0.12) if at_top else f("title-y", 0.6, 0.66)
    ground = f.pick("title-ground", (pal.light, pal.dark, pal.base))
    if s.label is not None:
        inset = 0.0 if f.chance("title-wide", 0.6) else 0.08
        sheet.box(inset, y - 0.02, 1 - inset, y + 0.27, ground)
        ink = ink_on(ground, pal)
        sheet.print(
            s.label,
            (inset + 0.05, y, 0.95 - inset, y + 0.25),
            ink,
            lettering(s.traits),
            key=s.view.key,
        )
    if s.look.sublabel:
        y2 = 0.9 if at_top else 0.05
        sheet.box(0, y2 - 0.015, 1, y2 + 0.06, pal.dark)
        sheet.print(
            s.look.sublabel,
            (0.08, y2 - 0.005, 0.92, y2 + 0.05),
            pal.light,
            FACES[2],
            lines=1,
            is_label=False,
            key=s.view.key,
        )
    for k in range(s.v.count("rules", 0, 3)):
        sheet.box(0.04, 0.955 + 0.013 * k, 0.96, 0.961 + 0.013 * k, pal.accent)
    return sheet


def _book(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.35, 0.75))
    w, h, d = f("w", 0.6, 0.76), 0.96, f("d", 0.08, 0.2)
    yaw = s.view.yaw if abs(s.view.yaw) > 0.1 else 0.2
    box = Box(s, w, h, d, yaw=yaw)
    front = _cover(s, pal, w, h)
    if s.away:
        front = s.sheet(w, h, pal.base)
        front.box(0.08, 0.1, 0.92, 0.55, mix(pal.base, pal.light, 0.15))
        front.greek((0.13, 0.14, 0.87, 0.5), 11, mix(pal.light, pal.base, 0.2), s.view.key)
        front.box(0.58, 0.8, 0.9, 0.93, (244, 244, 240))
        for k in range(18):
            front.box(0.6 + k * 0.016, 0.82, 0.606 + k * 0.016, 0.9, (24, 24, 24))
    spine = s.sheet(d, h, scale(pal.base, 0.9))
    spine.box(0, 0.1, 1, 0.13, pal.accent)
    spine.box(0, 0.84, 1, 0.87, pal.accent)
    spine.emblem(s.traits, 0.5, 0.92, 0.3, (pal.light, pal.accent, pal.dark, pal.second))
    pages = s.sheet(d, h, (236, 228, 208))
    for k in range(14):
        pages.box((k + 0.2) / 14, 0, (k + 0.5) / 14, 1, (212, 202, 180))
    pages.box(0, 0, 0.1, 1, scale(pal.base, 0.8))
    pages.box(0.9, 0, 1, 1, scale(pal.base, 0.8))
    top = s.sheet(w, d, (232, 224, 204))
    box.paint({"front": front, "left": spine, "right": pages, "top": top}, gloss=0.35)
    hinge = [box.at(-w / 2 + 0.035, y, d / 2) for y in (0, h)]
    s.canvas.shadow(
        [*hinge, (hinge[1][0] + 0.012, hinge[1][1]), (hinge[0][0] + 0.012, hinge[0][1])],
        0.35,
        0.008,
    )
    s.canvas.glow(
        [
            box.at(-w * 0.2, h, d / 2),
            box.at(w * 0.1, h, d / 2),
            box.at(-w * 0.25, 0, d / 2),
            box.at(-w * 0.5, 0, d / 2),
        ],
        0.07,
        0.05,
    )


def _board_game(s: Stage) -> None:
    f, pal = s.f, s.palette(vivid=1.15)
    w, h, d = f("w", 0.9, 1.0), f("h", 0.66, 0.9), f("d", 0.14, 0.24)
    box = Box(s, w, h, d, yaw=s.view.yaw * 0.8)
    front = _cover(s, pal, w, h)
    if s.away:
        front = s.sheet(w, h, pal.base)
        front.pattern(s.traits, (pal.second, pal.base))
    front.box(0, 0, 1, 0.012, pal.accent)
    front.box(0, 0.988, 1, 1, pal.accent)
    flank = s.sheet(d, h, scale(pal.base, 0.92))
    flank.emblem(s.traits, 0.5, 0.3, 0.36, (pal.light, pal.accent, pal.dark, pal.second))
    flank.box(0, 0.55, 1, 0.58, pal.accent)
    top = s.sheet(w, d, pal.base)
    top.box(0.2, 0.3, 0.8, 0.7, pal.second)
    box.paint({"front": front, "right": flank, "top": top}, gloss=0.45)
    base = box.at(0, 0, d / 2)[1]
    for k in range(s.v.count("pieces", 2, 5)):
        x = -w * 0.4 + 0.8 * w * (k + 0.5) / 5 + s.pose(f"piece{k}", -0.04, 0.04)
        y = base - 0.05 - s.pose(f"piece-y{k}", 0, 0.05)
        tone = (pal.accent, pal.second, pal.light)[k % 3]
        form = f.count("piece", 0, 2)
        s.canvas.flat(ellipse(x + 0.02, y, 0.05, 0.014), (20, 16, 16), opacity=0.35)
        if form == 0:
            s.canvas.blob(ellipse(x, y + 0.015, 0.04, 0.02), Material(tone, 0.5))
            s.canvas.blob(
                [
                    (x - 0.03, y + 0.015),
                    (x - 0.01, y + 0.08),
                    (x + 0.01, y + 0.08),
                    (x + 0.03, y + 0.015),
                ],
                Material(tone, 0.5),
            )
            s.canvas.ball(x, y + 0.09, 0.025, Material(tone, 0.6))
        elif form == 1:
            s.canvas.blob(
                rounded(x - 0.035, y, x + 0.035, y + 0.07, 0.01),
                Material((240, 236, 226), 0.5),
                bevel=0.012,
            )
            for q in range(3):
                s.canvas.flat(
                    ellipse(x - 0.017 + 0.017 * q, y + 0.018 + 0.017 * q, 0.007, 0.007, n=10),
                    scale(tone, 0.7),
                )
        else:
            s.canvas.revolve(
                x,
                [(y, 0.045), (y + 0.018, 0.045)],
                Material(tone, 0.5),
                pitch=0.4,
                cap=Material(tone, 0.5),
            )
    s.foot = 0.06


def _poster(s: Stage) -> None:
    f, pal = s.f, s.palette(vivid=1.15)
    w = f("w", 0.64, 0.78)
    sheet = _cover(s, pal, w, 1.0)
    if s.away:
        sheet = s.sheet(w, 1.0, pal.base)
        artwork(s, sheet, pal)
    y = 0.76 if f.chance("title-top", 0.65) else 0.4
    del y
    if f.chance("border", 0.5):
        for x0, y0, x1, y1 in ((0, 0, 1, 0.03), (0, 0.97, 1, 1), (0, 0, 0.04, 1), (0.96, 0, 1, 1)):
            sheet.box(x0, y0, x1, y1, pal.light)
    sheet.grain(0.012)
    corners = [(-w / 2, 1.0), (w / 2, 1.0), (w / 2, 0.0), (-w / 2, 0.0)]
    s.lay(corners, sheet, (0.05, 0.05))
    s.canvas.glow([(-w / 2, 0.9), (-w * 0.2, 1.0), (w * 0.2, 0.0), (-w * 0.1, 0.0)], 0.06, 0.05)
    fold = s.pose("fold", 0.35, 0.65)
    s.canvas.line([(-w / 2, fold), (w / 2, fold)], 0.004, (255, 255, 255), opacity=0.25)
    s.canvas.line([(-w / 2, fold - 0.004), (w / 2, fold - 0.004)], 0.004, (0, 0, 0), opacity=0.18)
    for x in (-w / 2 + 0.03, w / 2 - 0.03):
        s.canvas.ball(x, 0.975, 0.014, Material(pal.accent, 0.7))
    s.base, s.foot = (-w / 2, w / 2), 0.0


def _ticket(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.7, 0.9))
    w, h = 1.0, f("h", 0.38, 0.5)
    n, r = 11, 0.018
    points: list[tuple[float, float]] = []
    points += [(-w / 2, 0), (-w / 2, h)]
    notch = w / 2 - f("stub", 0.22, 0.3)
    points += [tuple(p) for p in arc(notch, h, 0.03, 0.03, 180, 360, 10).tolist()]
    points += [(w / 2, h)]
    for k in range(n):
        cy = h - h * (k + 0.5) / n
        points += [tuple(p) for p in arc(w / 2, cy, r * 0.7, r, 90, 270, 6).tolist()]
    points += [(w / 2, 0)]
    points += [tuple(p) for p in arc(notch, 0, 0.03, 0.03, 0, 180, 10).tolist()]
    sheet = s.sheet(w, h, pal.base)
    sheet.pattern(s.traits, (mix(pal.base, pal.second, 0.35), pal.base))
    sheet.box(0, 0, 1, 0.14, pal.second)
    sheet.box(0, 0.9, 1, 1, pal.second)
    sheet.emblem(s.traits, 0.13, 0.52, 0.24, (pal.light, pal.accent, pal.dark, pal.second))
    cut = (notch + w / 2) / w
    if s.label is not None and not s.away:
        sheet.box(0.26, 0.2, cut - 0.03, 0.62, mix(pal.light, pal.base, 0.15))
        sheet.print(
            s.label,
            (0.28, 0.22, cut - 0.05, 0.6),
            scale(pal.dark, 0.7),
            lettering(s.traits),
            lines=2,
            key=s.view.key,
        )
        sheet.print(
            s.look.sublabel,
            (0.28, 0.65, cut - 0.05, 0.78),
            scale(pal.dark, 0.7),
            lines=1,
            is_label=False,
            key=s.view.key,
        )
    else:
        sheet.greek((0.28, 0.3, cut - 0.05, 0.75), 4, pal.dark, s.view.key)
    x = cut + 0.04
    for k in range(26):
        wide = 0.08 + 0.14 * s.v(f"bar{k}")
        y = 0.2 + 0.62 * k / 26
        sheet.box(x, y, 0.94, y + wide * 0.1, (30, 28, 28))
    for k in range(18):
        sheet.box(cut - 0.002, k / 18, cut + 0.002, (k + 0.5) / 18, mix(pal.dark, pal.base, 0.4))
    for k in range(s.v.count("punch", 1, 3)):
        sheet.figure(ellipse(0, 0, 1, 1), 0.3 + 0.06 * k, 0.83, 0.035, pal.accent)
    sheet.grain(0.02)
    outline = np.array(points)
    s.canvas.blob(outline, Material(WHITE, 0.12), bevel=0.012, puff=0.4, albedo=sheet.rgb)
    s.note(sheet, np.array([(-w / 2, h), (w / 2, h), (w / 2, 0), (-w / 2, 0)]))
    s.base, s.foot = (-w / 2, w / 2), 0.02


def _sign(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.35, 0.6))
    w, h = f("w", 0.86, 1.0), f("h", 0.42, 0.6)
    post = f("post", 0.36, 0.46)
    steel = Material((150, 153, 158), 0.5, 0.5)
    wood = f.chance("wooden", 0.3)
    if wood:
        steel = Material((128, 96, 64), 0.1, grain=0.15, bump=0.15, texture="bark")
    posts = f.count("posts", 1, 2)
    for x in (0.0,) if posts == 1 else (-w * 0.34, w * 0.34):
        s.canvas.tube([(x, 0), (x, post + h * 0.9)], 0.05, steel)
    form = f.count("form", 0, 2)
    y0 = post
    if form == 0:
        outline = rounded(-w / 2, y0, w / 2, y0 + h, f("round", 0.01, 0.12))
    elif form == 1:
        tip = f("tip", 0.06, 0.14)
        outline = np.array(
            [
                (-w / 2, y0),
                (w / 2 - tip, y0),
                (w / 2, y0 + h / 2),
                (w / 2 - tip, y0 + h),
                (-w / 2, y0 + h),
            ]
        )
    else:
        outline = move(superellipse(w / 2, h / 2, f("power", 2.6, 6)), 0, y0 + h / 2)
    sheet = s.sheet(w, h, pal.base)
    sheet.rgb[...] = np.array(pal.base, np.uint8)
    edge = f("edge", 0.03, 0.06)
    sheet.fill(
        [
            (edge * 0.6, edge),
            (1 - edge * 0.6, edge),
            (1 - edge * 0.6, 1 - edge),
            (edge * 0.6, 1 - edge),
        ],
        pal.light,
    )
    sheet.fill(
        [
            (edge, edge * 1.7),
            (1 - edge, edge * 1.7),
            (1 - edge, 1 - edge * 1.7),
            (edge, 1 - edge * 1.7),
        ],
        pal.base,
    )
    left = 0.3 if s.label else 0.5
    sheet.emblem(
        s.traits,
        left * 0.55 if s.label else 0.5,
        0.44,
        0.28,
        (pal.light, pal.accent, pal.dark, pal.second),
    )
    ink = ink_on(pal.base, pal)
    right = 0.86 if form == 1 else 0.93
    if s.label is not None and not s.away:
        sheet.print(
            s.label,
            (left, 0.13, right, 0.62 if s.look.sublabel else 0.8),
            ink,
            lettering(s.traits),
            lines=3,
            key=s.view.key,
        )
        sheet.print(
            s.look.sublabel, (left, 0.64, right, 0.82), ink, lines=1, is_label=False, key=s.view.key
        )
    band = s.v.count("bands", 1, 3)
    for k in range(band):
        sheet.box(0.08, 0.85 - 0.05 * k + 0.02, 0.28, 0.875 - 0.05 * k + 0.02, pal.accent)
    if wood:
        sheet.grain(0.05, "wood")
    s.canvas.blob(outline, Material(WHITE, 0.3), bevel=0.02, puff=0.5, albedo=sheet.rgb)
    s.note(sheet, np.array([(-w / 2, y0 + h), (w / 2, y0 + h), (w / 2, y0), (-w / 2, y0)]))
    for x in (-w * 0.42, w * 0.38):
        s.canvas.ball(x, y0 + h * 0.91, 0.012, Material((180, 182, 186), 0.7, 0.8))
    s.base, s.foot = (-0.03, 0.03), 0.015


def _textbook_page(s: Stage) -> None:
    f, v = s.f, s.v
    pal = s.palette(light=(0.4, 0.6))
    w, h = f("w", 0.72, 0.8), 1.0
    paper = mix((250, 248, 240), pal.light, 0.3)
    ink = (44, 42, 46)
    sheet = s.sheet(w, h, paper)
    band = f("band", 0.05, 0.09)
    sheet.box(0, 0, 1, band, pal.base)
    sheet.box(0, 0, f("tab", 0.06, 0.12), 1, mix(pal.base, paper, f("tab-mix", 0.3, 0.85)))
    sheet.emblem(
        s.traits, 0.9, band / 2 + 0.002, 0.045, (pal.light, pal.accent, pal.dark, pal.second)
    )
    x0 = 0.17
    top = band + 0.03
    if s.label is not None and not s.away:
        sheet.print(
            s.label,
            (x0, top, 0.93, top + 0.1),
            scale(pal.dark, 0.7),
            lettering(s.traits),
            lines=2,
            align="left",
            key=s.view.key,
        )
        sheet.print(
            s.look.sublabel,
            (x0, top + 0.105, 0.93, top + 0.14),
            ink,
            lines=1,
            is_label=False,
            align="left",
            key=s.view.key,
        )
    y = top + 0.16
    sheet.greek((x0, y, 0.93, y + 0.09), 4, mix(ink, paper, 0.25), "a" + s.view.key)
    _figure(s, sheet, pal, (x0, y + 0.11, 0.93, y + 0.46))
    y += 0.49
    sheet.greek((x0, y, 0.93, y + 0.11), 5, mix(ink, paper, 0.25), "b" + s.view.key)
    boxed = mix(pal.accent, paper, 0.72)
    sheet.box(x0, y + 0.13, 0.93, y + 0.21, boxed)
    left, right = "xyzuv"[f.count("p", 0, 4)], "abckt"[f.count("q", 0, 4)]
    formula = f"{left}² + {v.count('n', 2, 9)}{right} = {v.count('m', 1, 12)}"
    sheet.print(
        formula,
        (x0 + 0.03, y + 0.135, 0.9, y + 0.205),
        ink,
        FACES[9],
        lines=1,
        is_label=False,
        key="formula",
    )
    sheet.grain(0.012)
    d = 0.02
    bend = s.view.yaw * 0.12
    corners = [(-w / 2 + bend, h), (w / 2 + bend, h), (w / 2, 0.0), (-w / 2, 0.0)]
    for k in range(4, 0, -1):
        off = 0.006 * k
        s.canvas.flat(
            [(x + off, y2 - off) for x, y2 in corners], scale(paper, 0.97 - 0.05 * (k % 2))
        )
    s.lay(corners, sheet, (0.0, 0.25), gloss=0.1)
    s.canvas.shadow(
        [(-w / 2 + bend, h), (-w / 2 + bend + 0.05, h), (-w / 2 + 0.05, 0), (-w / 2, 0)], 0.3, 0.03
    )
    s.canvas.glow([(w * 0.1 + bend, h), (w * 0.3 + bend, h), (w * 0.25, 0), (0, 0)], 0.18, 0.06)
    s.base, s.foot = (-w / 2, w / 2), d


def _figure(s: Stage, sheet: Sheet, pal: Palette, box: tuple[float, float, float, float]) -> None:
    f, v = s.f, s.v
    x0, y0, x1, y1 = box
    sheet.box(x0, y0, x1, y1, mix(pal.light, pal.second, 0.22))
    style = f.count("figure", 0, 4)

    def at(u: float, t: float) -> tuple[float, float]:
        return x0 + (x1 - x0) * u, y1 - (y1 - y0) * t

    if style == 0:  # curves in a coordinate system
        sheet.stroke([at(0.08, 0.1), at(0.08, 0.95)], 0.006, pal.dark)
        sheet.stroke([at(0.05, 0.15), at(0.96, 0.15)], 0.006, pal.dark)
        us = np.linspace(0.08, 0.93, 50)
        for k in range(v.count("curves", 1, 3)):
            power, phase = f(f"freq{k}", 2, 11), f(f"phase{k}", 0, 6)
            rise = f(f"rise{k}", -0.5, 0.5)
            ts = 0.5 + rise * (us - 0.5) + 0.2 * np.sin(us * power + phase)
            sheet.stroke(
                [at(u, t) for u, t in zip(us, ts, strict=True)],
                0.012,
                (pal.base, pal.accent, pal.second)[k],
            )
    elif style == 1:  # polygon with circle
        n = f.count("corners", 3, 7)
        ring = [
            (
                0.5 + 0.3 * math.cos(k * 2 * math.pi / n + f("t", 0, 6)) * f(f"r{k}", 0.7, 1.15),
                0.5 + 0.42 * math.sin(k * 2 * math.pi / n + f("t", 0, 6)) * f(f"r{k}", 0.7, 1.15),
            )
            for k in range(n)
        ]
        sheet.fill([at(*p) for p in ring], mix(pal.base, pal.light, 0.35))
        sheet.stroke([at(*p) for p in [*ring, ring[0]]], 0.01, pal.dark)
        for p in ring[: v.count("marked", 1, n)]:
            sheet.figure(ellipse(0, 0, 1, 1, n=16), *at(*p), 0.018, pal.accent)
    elif style == 2:  # bars
        n = f.count("bars", 4, 8)
        for k in range(n):
            t = f(f"bar{k}", 0.15, 0.85)
            a, b = at(0.08 + 0.86 * k / n, t), at(0.08 + 0.86 * (k + 0.7) / n, 0.08)
            sheet.box(
                a[0], a[1], b[0], b[1], pal.accent if k == v.count("odd", 0, n - 1) else pal.base
            )
        sheet.stroke([at(0.04, 0.08), at(0.97, 0.08)], 0.006, pal.dark)
    elif style == 3:  # orbits
        for k in range(f.count("orbits", 2, 4)):
            q = 0.16 + 0.1 * k
            ring = move(
                ellipse(0, 0, q * 1.0, q * f("flat", 0.35, 0.9)), 0.5, 0.5, turn=f(f"t{k}", 0, 3)
            )
            sheet.stroke([at(*p) for p in [*ring.tolist(), ring[0].tolist()]], 0.006, pal.dark)
            place = ring[int(v(f"o{k}", 0, len(ring) - 1))]
            sheet.figure(
                ellipse(0, 0, 1, 1, n=16),
                *at(*place),
                0.02 + 0.006 * k,
                (pal.accent, pal.second, pal.dark)[k % 3],
            )
        sheet.figure(ellipse(0, 0, 1, 1), *at(0.5, 0.5), 0.05, pal.base)
    else:  # network
        n = f.count("nodes", 5, 8)
        nodes = [(f(f"x{k}", 0.1, 0.9), f(f"y{k}", 0.12, 0.88)) for k in range(n)]
        for k in range(n):
            for j in range(k):
                if f.chance(f"e{k}-{j}", 0.42):
                    sheet.stroke([at(*nodes[k]), at(*nodes[j])], 0.006, pal.dark)
        for k, p in enumerate(nodes):
            sheet.figure(
                ellipse(0, 0, 1, 1, n=20),
                *at(*p),
                0.032,
                pal.accent if k < v.count("marked", 1, 4) else pal.base,
            )


PAINTERS = {
    "book": Painter(_book, (-0.62, -0.2, 0.62, 1.15), 0.24),
    "board_game": Painter(_board_game, (-0.75, -0.35, 0.75, 1.1), 0.3),
    "poster": Painter(_poster, (-0.46, -0.03, 0.46, 1.04), 0.7),
    "ticket": Painter(_ticket, (-0.55, -0.04, 0.55, 0.55), 0.2),
    "sign": Painter(_sign, (-0.55, -0.03, 0.55, 1.1), 2.2),
    "textbook_page": Painter(_textbook_page, (-0.55, -0.06, 0.55, 1.04), 0.28),
}
"""Painters of this module by kind."""
