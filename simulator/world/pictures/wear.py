"""Shoes, handbags, hats, watches, backpacks."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.light import Material
from simulator.world.pictures.shapes import (
    Points,
    arc,
    ellipse,
    emblem,
    move,
    rounded,
    smooth,
    superellipse,
)
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import WHITE, Palette, mix, oklch, scale


def _sign(s: Stage, x: float, y: float, size: float, pal: Palette) -> None:
    """The family's emblem, set on the entity."""
    for points, index in emblem(s.f, s.v("turn", 0, 6)):
        s.canvas.flat(
            move(points, x, y, size=size), (pal.light, pal.accent, pal.dark, pal.second)[index % 4]
        )


def _stuff(s: Stage, colour: tuple[float, float, float]) -> Material:
    """Leather, cloth, suede or patent, by family."""
    kind = s.f.count("stuff", 0, 3)
    if kind == 0:
        return Material(colour, 0.4, bump=0.07, texture="leather")
    if kind == 1:
        return Material(colour, 0.06, grain=0.07, bump=0.04, texture="cloth")
    if kind == 2:
        return Material(colour, 0.05, grain=0.05, texture="fine")
    return Material(colour, 0.85)


def _shoe(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    upper = _stuff(s, pal.base)
    collar = f("collar", 0.3, 0.62)
    heel_h, sole = f("heel", 0.0, 0.08), f("sole", 0.05, 0.1)
    toe = f("toe", 0.14, 0.22)
    length = 0.5
    tongue = f("tongue", 0.04, 0.1)
    y0 = sole + 0.005
    opening = f("opening", -0.18, -0.06)
    body = smooth(
        [
            (-length, y0 + heel_h),
            (-length - 0.01, y0 + heel_h + 0.14),
            (-length + 0.03, collar),
            (opening, collar + 0.01),
            (opening + 0.09, collar * 0.8 + 0.03),
            (0.12, y0 + toe + 0.1),
            (0.34, y0 + toe * 0.95),
            (length - 0.01, y0 + toe * 0.55),
            (length, y0),
            (0.1, y0),
            (-0.2, y0 + heel_h * 0.7),
        ]
    )
    lining = smooth(
        [
            (-length + 0.05, collar - 0.02),
            (-length + 0.07, collar + 0.03),
            (opening - 0.05, collar + 0.035),
            (opening, collar),
        ]
    )
    s.canvas.blob(lining, Material(scale(pal.dark, 0.9), 0.05))
    s.canvas.blob(
        smooth(
            [
                (opening - 0.06, collar - 0.06),
                (opening - 0.03, collar + tongue),
                (opening + 0.04, collar + tongue - 0.01),
                (opening + 0.12, collar * 0.75),
            ]
        ),
        upper._replace(colour=pal.second),
        puff=0.6,
    )
    s.canvas.blob(body, upper)
    if f.chance("toe-cap", 0.6):
        s.canvas.blob(
            smooth(
                [
                    (length - 0.16, y0 + toe * 0.86),
                    (length - 0.04, y0 + toe * 0.62),
                    (length + 0.003, y0 + 0.02),
                    (length - 0.2, y0),
                    (length - 0.22, y0 + toe * 0.5),
                ]
            ),
            _stuff(s, pal.second),
            bevel=0.05,
        )
    if f.chance("counter", 0.7):
        s.canvas.blob(
            smooth(
                [
                    (-length, y0 + heel_h),
                    (-length - 0.008, y0 + heel_h + 0.13),
                    (-length + 0.02, collar * 0.78),
                    (-length + 0.12, collar * 0.62),
                    (-length + 0.2, y0 + heel_h * 0.8),
                ]
            ),
            _stuff(s, pal.accent),
            bevel=0.05,
        )
    style = f.count("mark", 0, 3)
    base_x = f("mark-x", -0.22, -0.05)
    if style == 0:
        for k in range(f.count("bars", 2, 3) + v.count("bars", 0, 1)):
            x = base_x + 0.075 * k
            s.canvas.flat(
                [
                    (x, y0 + 0.03),
                    (x + 0.036, y0 + 0.03),
                    (x + 0.1, collar * 0.72 - 0.03 * k),
                    (x + 0.065, collar * 0.72 - 0.03 * k),
                ],
                pal.accent,
                inside=True,
            )
    elif style == 1:
        wave = smooth(
            [
                (-0.36, collar * 0.45),
                (-0.12, y0 + 0.06),
                (0.08, y0 + 0.1),
                (0.27, y0 + toe),
                (0.08, y0 + 0.15),
                (-0.12, y0 + 0.14),
            ]
        )
        s.canvas.flat(wave, pal.accent, inside=True)
    elif style == 2:
        _sign(s, -0.16, y0 + heel_h + 0.14, 0.09, pal)
    else:
        for k in range(v.count("bars", 1, 3)):
            s.canvas.line(
                smooth(
                    [
                        (-length + 0.1, y0 + heel_h + 0.07 + 0.05 * k),
                        (-0.1, y0 + 0.06 + 0.05 * k),
                        (0.2, y0 + 0.05 + 0.04 * k),
                        (0.3, y0 + 0.05 + 0.035 * k),
                    ],
                    closed=False,
                ),
                0.022,
                pal.accent,
                inside=True,
            )
    sole_c = pal.light if f.chance("light-sole", 0.6) else pal.dark
    under = np.concatenate(
        [
            smooth(
                [
                    (-length - 0.02, y0 + heel_h + 0.015),
                    (-0.2, y0 + heel_h * 0.7),
                    (0.1, y0 + 0.012),
                    (length - 0.05, y0 + 0.012),
                    (length + 0.025, y0 + 0.03),
                ],
                closed=False,
            ),
            [
                (length + 0.03, y0 - 0.01),
                (length - 0.02, 0.012),
                (0.2, 0.0),
                (0.0, heel_h * 0.5),
                (-0.16, heel_h * 0.6),
                (-0.2, 0.0),
                (-length, 0.0),
                (-length - 0.025, 0.02),
            ],
        ]
    )
    s.canvas.blob(under, Material(sole_c, 0.25), bevel=0.025)
    for k in range(f.count("grooves", 0, 12)):
        x = -0.44 + 0.88 * k / 12
        s.canvas.line([(x, 0.01), (x + 0.02, 0.035)], 0.01, scale(sole_c, 0.6), inside=True)
    if f.chance("stripe-sole", 0.5):
        s.canvas.line(
            smooth(
                [
                    (-length, y0 + heel_h - 0.015),
                    (-0.2, y0 + heel_h * 0.6 - 0.01),
                    (0.1, y0 - 0.014),
                    (length, y0 - 0.012),
                ],
                closed=False,
            ),
            0.014,
            pal.accent,
            inside=True,
        )
    rows = f.count("laces", 3, 6)
    lace = pal.light if v.chance("light-lace", 0.6) else pal.accent
    for k in range(rows):
        t = k / max(rows - 1, 1)
        x, y = opening + 0.08 + 0.2 * t, collar * 0.83 - t * (collar * 0.83 - y0 - toe - 0.055)
        s.canvas.tube([(x - 0.055, y - 0.035), (x + 0.02, y + 0.022)], 0.022, Material(lace, 0.1))
        s.canvas.ball(x - 0.055, y - 0.035, 0.011, Material((190, 190, 192), 0.7, 0.8))
    s.canvas.line(
        smooth([(0.33, y0 + toe * 0.9), (0.2, y0 + toe * 0.5), (0.22, y0)], closed=False),
        0.006,
        scale(pal.base, 0.6),
        inside=True,
    )
    if s.label is not None:
        s.tag(-length + 0.26, collar * 0.6, 0.34, string=(opening, collar))
    s.base, s.foot = (-length, length), 0.03


def _handbag(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    stuff = _stuff(s, pal.base)
    w0, w1, h = f("w-low", 0.34, 0.46), f("w-top", 0.26, 0.44), f("h", 0.42, 0.62)
    r = f("round", 0.04, 0.14)
    gold = Material((214, 176, 92) if f.chance("gold", 0.6) else (200, 202, 206), 0.85, 0.9)
    reach = f("handle", 0.2, 0.36)
    double = f.chance("double", 0.5)
    grip = _stuff(s, pal.second if f.chance("handle-second") else pal.base)
    hw = f("handle-x", 0.14, 0.24)
    if double:
        s.canvas.tube(
            arc(0.02, h - 0.02, hw, reach * 0.92, 0, 180),
            0.03,
            grip._replace(colour=scale(grip.colour, 0.7)),
        )
    outline = smooth(
        [
            (-w0, 0.03),
            (-w0 * 0.98, h * 0.4),
            (-w1, h - r),
            (-w1 + r, h),
            (w1 - r, h),
            (w1, h - r),
            (w0 * 0.98, h * 0.4),
            (w0, 0.03),
            (w0 - r, 0.0),
            (-w0 + r, 0.0),
        ],
        steps=5,
    )
    s.canvas.blob(outline, stuff, bevel=0.16)
    if f.chance("patterned", 0.5):
        sheet = s.sheet(2 * w0, h, pal.base)
        sheet.pattern(s.traits, (mix(pal.base, pal.second, 0.7), pal.base))
        s.canvas.blob(outline, stuff._replace(colour=WHITE), bevel=0.16, albedo=sheet.rgb)
    for x in (-w0 + 0.02, w0 - 0.02):
        s.canvas.shadow([(x, 0), (x, h), (x * 0.86, h), (x * 0.86, 0)], 0.25, 0.03)
    flap = f("flap", 0.3, 0.75)
    form = f.count("flap-form", 0, 2)
    if form == 0:
        cover = smooth(
            [
                (-w1, h - r),
                (-w1 + r, h + 0.01),
                (w1 - r, h + 0.01),
                (w1, h - r),
                (w1 * 0.96, h * (1 - flap) + 0.05),
                (0, h * (1 - flap)),
                (-w1 * 0.96, h * (1 - flap) + 0.05),
            ],
            steps=5,
        )
    elif form == 1:
        cover = np.array(
            [
                (-w1, h - r * 0.5),
                (-w1 + r, h + 0.01),
                (w1 - r, h + 0.01),
                (w1, h - r * 0.5),
                (w1 * 0.95, h * 0.7),
                (0.05, h * (1 - flap)),
                (-0.05, h * (1 - flap)),
                (-w1 * 0.95, h * 0.7),
            ]
        )
    else:
        cover = rounded(-w1, h * 0.82, w1, h + 0.01, 0.03)
    s.canvas.shadow(move(cover, 0, -0.02), 0.35, 0.02)
    s.canvas.blob(
        cover,
        _stuff(s, pal.second if f.chance("flap-second", 0.6) else scale(pal.base, 1.06)),
        bevel=0.05,
    )
    middle = cover[:, 0].mean(), cover[:, 1].mean()
    inner = (cover - middle) * 0.93 + middle
    for k in range(0, len(inner) - 1, 2):
        s.canvas.line(inner[k : k + 2], 0.006, mix(pal.base, pal.light, 0.6), opacity=0.8)
    y = h * (1 - flap) + 0.045 if form != 2 else h * 0.86
    clasp = f.count("clasp", 0, 2)
    size = f("clasp-r", 0.028, 0.05)
    if clasp == 0:
        s.canvas.ball(0, y, size, gold)
    elif clasp == 1:
        s.canvas.blob(rounded(-size * 1.3, y - size, size * 1.3, y + size, 0.01), gold, bevel=0.012)
    else:
        s.canvas.blob(ellipse(0, y, size * 1.2, size * 1.2), gold, bevel=0.012)
        s.canvas.flat(ellipse(0, y, size * 0.6, size * 0.6), scale(pal.base, 0.6))
    _sign(s, 0, h * 0.24 if form != 1 else h * 0.16, f("sign", 0.05, 0.085), pal)
    s.canvas.tube(arc(0, h - 0.015, hw, reach, 0, 180), 0.034, grip)
    for x in (-hw, hw):
        s.canvas.blob(rounded(x - 0.03, h - 0.05, x + 0.03, h + 0.01, 0.012), grip, bevel=0.015)
        s.canvas.line(ellipse(x, h + 0.012, 0.024, 0.024), 0.012, gold.colour)
    for k in range(v.count("studs", 0, 6)):
        for side in (-1, 1):
            s.canvas.ball(side * (0.1 + 0.045 * k), 0.05, 0.012, gold)
    if v.chance("charm", 0.5):
        s.canvas.line([(hw, h), (hw + 0.03, h - 0.14)], 0.008, gold.colour)
        s.canvas.blob(
            move(superellipse(0.03, 0.045, 2.4), hw + 0.035, h - 0.18), Material(pal.accent, 0.5)
        )
    if s.label is not None:
        s.tag(-w0 * 0.5, h * 0.45, 0.32, string=(-hw, h))
    s.base, s.foot = (-w0, w0), 0.05


def _hat(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    kind = f.count("type", 0, 3)
    weave = f.count("weave", 0, 2)
    cloth = (
        Material(pal.base, 0.05, grain=0.06, texture="fine"),
        Material(pal.base, 0.08, grain=0.14, bump=0.2, texture="cloth"),
        Material(pal.base, 0.12, grain=0.05, bump=0.3, texture="bark"),
    )[weave]
    band = Material(pal.accent, 0.3)
    if kind in (0, 1):  # brimmed
        bw, bh = f("brim", 0.4, 0.5), f("brim-h", 0.06, 0.13)
        cw, ch = f("crown-w", 0.21, 0.28), f("crown-h", 0.24, 0.42)
        droop = f("droop", -0.06, 0.07)
        y = 0.13
        brim = smooth(
            [
                (-bw, y + droop),
                (-bw * 0.6, y + bh * 0.55),
                (0, y + bh * 0.6),
                (bw * 0.6, y + bh * 0.55),
                (bw, y + droop),
                (bw * 0.6, y - bh * 0.75),
                (0, y - bh),
                (-bw * 0.6, y - bh * 0.75),
            ]
        )
        s.canvas.blob(brim, cloth, puff=0.35)
        s.canvas.line(brim[np.arange(len(brim)) % len(brim)], 0.012, scale(pal.base, 0.72))
        s.canvas.shadow(ellipse(0.02, y + 0.0, cw * 1.25, bh * 0.6), 0.4, 0.03)
        dent = f("dent", 0.0, 0.08) if kind == 0 else 0.0
        taper = f("taper", 0.68, 1.0)
        low = arc(0, y + 0.01, cw, bh * 0.42, 180, 360, 16)
        crown = np.concatenate(
            [
                low,
                smooth(
                    [
                        (cw, y + 0.02),
                        (cw * taper, y + ch * 0.8),
                        (cw * taper * 0.6, y + ch),
                        (0, y + ch - dent),
                        (-cw * taper * 0.6, y + ch),
                        (-cw * taper, y + ch * 0.8),
                        (-cw, y + 0.02),
                    ],
                    closed=False,
                ),
            ]
        )
        s.canvas.blob(crown, cloth)
        bt = f("band", 0.05, 0.11)
        lower = arc(0, y + 0.012, cw, bh * 0.42, 180, 360, 24)
        k = 1 - (1 - taper) * bt / (ch * 0.8)
        upper = arc(0, y + 0.012 + bt, cw * k, bh * 0.42, 180, 360, 24)[::-1]
        s.canvas.face(np.concatenate([lower, upper]), band, (0, -0.1))
        s.canvas.shadow(
            [(-cw, y - 0.05), (-cw * 0.7, y - 0.05), (-cw * 0.7, y + ch), (-cw, y + ch)], 0.2, 0.04
        )
        for n in range(v.count("band-lines", 0, 2)):
            s.canvas.line(
                arc(0, y + 0.02 + bt * (0.3 + 0.35 * n), cw * 0.99, bh * 0.42, 185, 355, 24),
                0.01,
                pal.light,
            )
        if f.chance("bow", 0.5):
            bx, by = cw * 0.62, y - bh * 0.1 + bt * 0.4
            for side in (-1, 1):
                s.canvas.blob(
                    smooth(
                        [(bx, by), (bx + side * 0.07, by + 0.035), (bx + side * 0.07, by - 0.035)]
                    ),
                    band,
                )
            s.canvas.ball(bx, by, 0.018, band)
        if f.chance("feather", 0.35):
            s.canvas.blob(
                smooth(
                    [
                        (cw * 0.7, y + 0.02),
                        (cw * 1.15, y + ch * 0.7),
                        (cw * 1.1, y + ch * 0.95),
                        (cw * 0.85, y + ch * 0.5),
                    ]
                ),
                Material(pal.second, 0.1, bump=0.2, texture="fur"),
            )
        _sign(s, 0, y + bt * 0.5 - bh * 0.3, min(bt * 0.42, 0.04), pal)
        s.base, s.foot = (-bw * 0.8, bw * 0.8), bh
    elif kind == 2:  # cap
        y, cw, ch = 0.12, f("cap-w", 0.3, 0.36), f("cap-h", 0.26, 0.36)
        bl = f("bill", 0.2, 0.3)
        panels = f.count("panels", 4, 6)
        dome = np.concatenate(
            [
                smooth(
                    [
                        (-cw, y),
                        (-cw * 0.98, y + ch * 0.55),
                        (-cw * 0.55, y + ch * 0.95),
                        (0, y + ch),
                        (cw * 0.55, y + ch * 0.93),
                        (cw * 0.95, y + ch * 0.5),
                        (cw, y),
                    ],
                    closed=False,
                ),
                arc(0, y, cw, 0.05, 0, -180, 16),
            ]
        )
        s.canvas.blob(dome, cloth)
        for k in range(1, panels):
            x = cw * math.cos(math.pi * k / panels)
            s.canvas.line(
                smooth([(0, y + ch), (x * 0.7, y + ch * 0.7), (x, y - 0.03)], closed=False),
                0.007,
                scale(pal.base, 0.66),
                inside=True,
            )
        if f.chance("front", 0.5):
            s.canvas.blob(
                smooth(
                    [
                        (cw * 0.1, y + ch * 0.97),
                        (cw * 0.6, y + ch * 0.85),
                        (cw * 0.95, y + ch * 0.45),
                        (cw * 0.98, y - 0.02),
                        (cw * 0.2, y - 0.045),
                        (cw * 0.0, y + ch * 0.5),
                    ]
                ),
                cloth._replace(colour=pal.second),
                bevel=0.06,
            )
        s.canvas.blob(
            smooth(
                [
                    (cw * 0.05, y - 0.02),
                    (cw * 0.7, y + 0.03),
                    (cw + bl * 0.7, y - 0.0),
                    (cw + bl, y - 0.06),
                    (cw + bl * 0.4, y - 0.085),
                    (cw * 0.4, y - 0.08),
                ]
            ),
            cloth._replace(colour=pal.accent),
            puff=0.6,
        )
        for k in range(v.count("stitches", 1, 4)):
            s.canvas.line(
                smooth(
                    [
                        (cw * 0.3, y - 0.05 + 0.012 * k),
                        (cw * 0.9, y - 0.03 + 0.014 * k),
                        (cw + bl * (0.8 - 0.12 * k), y - 0.04 + 0.008 * k),
                    ],
                    closed=False,
                ),
                0.005,
                pal.light,
                inside=True,
                opacity=0.8,
            )
        s.canvas.ball(0, y + ch, 0.02, Material(pal.accent, 0.2))
        _sign(s, cw * 0.5, y + ch * 0.42, f("sign", 0.07, 0.11), pal)
        s.base, s.foot = (-cw, cw + bl * 0.6), 0.04
    else:  # knitted
        y, cw, ch = 0.05, f("knit-w", 0.26, 0.32), f("knit-h", 0.42, 0.56)
        tip = f("tip", 0.3, 0.9)
        sheet = s.sheet(2 * cw, ch, pal.base)
        sheet.pattern(s.traits, (pal.second, pal.base))
        for k in range(s.v.count("rows", 1, 3)):
            sheet.box(0, 0.42 + 0.09 * k, 1, 0.46 + 0.09 * k, pal.accent)
        body = smooth(
            [
                (-cw, y + 0.08),
                (-cw * 0.98, y + ch * 0.5),
                (-cw * tip * 0.7, y + ch * 0.88),
                (0, y + ch),
                (cw * tip * 0.7, y + ch * 0.88),
                (cw * 0.98, y + ch * 0.5),
                (cw, y + 0.08),
            ]
        )
        wool = Material(WHITE, 0.03, grain=0.1, bump=0.35, texture="cloth")
        s.canvas.blob(body, wool, albedo=sheet.rgb)
        cuff = f("cuff", 0.1, 0.18)
        s.canvas.blob(
            rounded(-cw * 1.05, y, cw * 1.05, y + cuff, 0.05),
            wool._replace(colour=pal.second),
            bevel=0.06,
        )
        n = 22
        for k in range(n):
            x = -cw + 2 * cw * (k + 0.5) / n
            s.canvas.line(
                [(x, y + 0.01), (x, y + cuff - 0.01)],
                0.007,
                scale(pal.second, 0.66),
                inside=True,
                opacity=0.7,
            )
        if f.chance("pompom", 0.65):
            s.canvas.ball(
                0,
                y + ch + 0.05,
                f("pompom-r", 0.07, 0.11),
                Material(pal.accent, 0.02, grain=0.12, bump=0.6, texture="leafage"),
            )
        _sign(s, 0, y + cuff * 0.5, cuff * 0.36, pal)
        s.base, s.foot = (-cw, cw), 0.04
    if s.label is not None:
        s.tag(-0.25, 0.08, 0.32)


def _watch(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    cy, r = 0.5, f("r", 0.2, 0.25)
    strap_kind = f.count("strap", 0, 2)
    strap = (_stuff(s, pal.base), Material((200, 202, 206), 0.8, 0.9), Material(pal.base, 0.2))[
        strap_kind
    ]
    w0, w1 = r * f("strap-w", 0.62, 0.8), r * f("strap-end", 0.48, 0.62)
    for sign in (1, -1):
        ys = np.linspace(0, 1, 9)
        bend = 1 - 0.12 * ys**3
        right = np.stack(
            [w0 + (w1 - w0) * ys, cy + sign * (r * 0.8 + (0.47 - r * 0.8) * ys * bend)], 1
        )
        outline = np.concatenate([right, (right * (-1, 1))[::-1]])
        s.canvas.blob(outline, strap, bevel=0.04)
        s.canvas.shadow(
            [
                (-w0, cy + sign * 0.47),
                (w0, cy + sign * 0.47),
                (w0, cy + sign * 0.4),
                (-w0, cy + sign * 0.4),
            ],
            0.35,
            0.04,
        )
        if strap_kind == 1:
            for k in range(9):
                y = cy + sign * (r + 0.028 * k)
                s.canvas.line([(-w0, y), (w0, y)], 0.007, (86, 88, 92), inside=True)
            for x in (-w0 * 0.35, w0 * 0.35):
                s.canvas.line(
                    [(x, cy + sign * r * 0.9), (x * 0.85, cy + sign * 0.47)],
                    0.006,
                    (110, 112, 116),
                    inside=True,
                )
        else:
            for side in (-1, 1):
                for k in range(9):
                    y = cy + sign * (r + 0.025 * k)
                    x = side * (w0 - 0.022 - (w0 - w1) * k / 11)
                    s.canvas.line([(x, y), (x, y + sign * 0.013)], 0.006, pal.light)
            for k in range(f.count("strap-stripes", 0, 2)):
                x = (k - 0.5) * w0 * 0.4
                s.canvas.line(
                    [(x, cy + sign * r), (x, cy + sign * 0.46)], 0.03, pal.second, inside=True
                )
        if sign == -1 and strap_kind != 1:
            for k in range(4):
                s.canvas.flat(
                    ellipse(0, cy - r - 0.05 - 0.042 * k, 0.012, 0.009, n=12), (24, 22, 22)
                )
    metal = Material((212, 176, 96) if f.chance("gold", 0.35) else (204, 207, 212), 0.85, 0.92)
    power = f.pick("form", (2.0, 2.0, 2.4, 4.0)) + f("power", 0, 0.5)
    case = move(superellipse(r, r * f("tall", 0.98, 1.12), power, 64), 0, cy)
    s.canvas.shadow(move(case, 0.015, -0.02), 0.4, 0.02)
    s.canvas.blob(rounded(r * 0.95, cy - 0.025, r * 1.14, cy + 0.025, 0.01), metal, bevel=0.01)
    if v.chance("pushers", 0.4):
        for y in (cy + r * 0.45, cy - r * 0.45):
            s.canvas.blob(
                rounded(r * 0.82, y - 0.018, r * 1.05, y + 0.018, 0.008), metal, bevel=0.008
            )
    s.canvas.blob(case, metal, bevel=0.045)
    bezel = f("bezel", 0.8, 0.88)
    if f.chance("bezel-colour", 0.5):
        s.canvas.face((case - (0, cy)) * 0.93 + (0, cy), Material(pal.second, 0.7), (0, 0.1))
    dial = f.pick("dial", (pal.light, pal.dark, pal.second, pal.base))
    s.canvas.flat((case - (0, cy)) * (bezel + 0.015) + (0, cy), (40, 40, 42))
    s.canvas.face((case - (0, cy)) * bezel + (0, cy), Material(dial, 0.5), (0.0, 0.12))
    ink = (240, 240, 236) if sum(dial) < 380 else (36, 36, 40)
    q = r * bezel
    for k in range(f.count("subdials", 0, 3)):
        a = math.pi / 2 + math.pi + (k - 1) * math.pi / 2
        x, y = math.cos(a) * q * 0.48, cy + math.sin(a) * q * 0.48
        s.canvas.face(
            ellipse(x, y, q * 0.24, q * 0.24), Material(mix(dial, pal.accent, 0.5), 0.3), (0, -0.1)
        )
        s.canvas.line(ellipse(x, y, q * 0.24, q * 0.24), 0.005, ink)
        t = s.pose(f"sub{k}", 0, 6)
        s.canvas.line(
            [(x, y), (x + math.cos(t) * q * 0.18, y + math.sin(t) * q * 0.18)], 0.006, ink
        )
    if f.chance("sign", 0.6):
        _sign(s, 0, cy + q * 0.42, q * 0.16, pal)
    long = f("index", 0.1, 0.2)
    for hour in range(12):
        a = hour * math.pi / 6
        if hour % 3 == 0 or f.chance("all-hours", 0.85):
            s.canvas.line(
                [
                    (math.cos(a) * q * 0.93, cy + math.sin(a) * q * 0.93),
                    (math.cos(a) * q * (0.93 - long), cy + math.sin(a) * q * (0.93 - long)),
                ],
                0.016 if hour % 3 == 0 else 0.01,
                pal.accent if hour == 3 and v.chance("twelve", 0.7) else ink,
            )
    hour, minute = s.pose("hour", 0, 6.28), s.pose("minute", 0, 6.28)
    for a, length, wide, colour in (
        (hour, 0.5, 0.02, ink),
        (minute, 0.75, 0.015, ink),
        (s.pose("second", 0, 6.28), 0.82, 0.006, pal.accent),
    ):
        s.canvas.line(
            [
                (-math.cos(a) * q * 0.12, cy - math.sin(a) * q * 0.12),
                (math.cos(a) * q * length, cy + math.sin(a) * q * length),
            ],
            wide,
            colour,
        )
    s.canvas.ball(0, cy, 0.016, Material(pal.accent, 0.6))
    s.canvas.glow(
        move(ellipse(0, 0, q * 0.5, q * 0.18, turn=0.7), -q * 0.35, cy + q * 0.38), 0.3, 0.03
    )
    if s.label is not None:
        s.tag(0.24, 0.12, 0.34)
    s.base, s.foot = (-w0, w0), 0.02


def _backpack(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette()
    cloth = Material(pal.base, 0.12, grain=0.05, bump=0.05, texture="cloth")
    w, h = f("w", 0.3, 0.38), f("h", 0.84, 0.95)
    top = f("top", 0.5, 0.95)
    strap = Material(mix(pal.second, pal.dark, 0.4), 0.1, grain=0.05, texture="cloth")
    for side in (-1, 1):
        s.canvas.tube(
            smooth(
                [
                    (side * w * 0.5, h * 0.9),
                    (side * (w + 0.07), h * 0.7),
                    (side * (w + 0.05), h * 0.3),
                    (side * w * 0.8, 0.08),
                ],
                closed=False,
            ),
            0.06,
            strap,
        )
    s.canvas.tube(arc(0, h - 0.02, 0.09, 0.09, 0, 180), 0.03, strap)
    body: Points = smooth(
        [
            (-w, 0.06),
            (-w * 1.03, h * 0.45),
            (-w * (0.7 + 0.3 * top), h * 0.82),
            (-w * top * 0.6, h * 0.985),
            (0, h),
            (w * top * 0.6, h * 0.985),
            (w * (0.7 + 0.3 * top), h * 0.82),
            (w * 1.03, h * 0.45),
            (w, 0.06),
            (w * 0.8, 0.0),
            (-w * 0.8, 0.0),
        ]
    )
    s.canvas.blob(body, cloth)
    if f.chance("patterned", 0.45):
        sheet = s.sheet(2 * w, h, pal.base)
        sheet.pattern(s.traits, (mix(pal.base, pal.second, 0.6), pal.base))
        s.canvas.blob(body, cloth._replace(colour=WHITE), albedo=sheet.rgb)
    if f.chance("side-pockets", 0.6):
        for side in (-1, 1):
            s.canvas.blob(
                smooth(
                    [
                        (side * w * 0.82, 0.04),
                        (side * w * 1.1, 0.06),
                        (side * w * 1.1, 0.28),
                        (side * w * 0.84, 0.32),
                    ]
                ),
                cloth._replace(colour=pal.second),
                bevel=0.05,
            )
    zipper = scale(pal.base, 0.5)
    s.canvas.line(
        smooth(
            [
                (-w * 0.9, h * 0.5),
                (-w * 0.78, h * 0.78),
                (0, h * 0.88),
                (w * 0.78, h * 0.78),
                (w * 0.9, h * 0.5),
            ],
            closed=False,
        ),
        0.02,
        zipper,
        inside=True,
    )
    s.canvas.line(
        smooth(
            [
                (-w * 0.9, h * 0.5),
                (-w * 0.78, h * 0.78),
                (0, h * 0.88),
                (w * 0.78, h * 0.78),
                (w * 0.9, h * 0.5),
            ],
            closed=False,
        ),
        0.007,
        (196, 196, 198),
        inside=True,
    )
    s.canvas.tube([(w * 0.83, h * 0.62), (w * 0.86, h * 0.53)], 0.02, Material(pal.accent, 0.4))
    flap = f.chance("flap", 0.4)
    if flap:
        cover = smooth(
            [
                (-w * 0.96, h * 0.6),
                (-w * 0.9, h * 0.86),
                (-w * top * 0.6, h),
                (w * top * 0.6, h),
                (w * 0.9, h * 0.86),
                (w * 0.96, h * 0.6),
                (0, h * f("flap-y", 0.5, 0.58)),
            ]
        )
        s.canvas.shadow(move(cover, 0, -0.02), 0.35, 0.02)
        s.canvas.blob(cover, cloth._replace(colour=pal.second), bevel=0.08)
    px, ph = w * f("pocket-w", 0.66, 0.85), f("pocket-h", 0.3, 0.42)
    pocket = rounded(-px, 0.05, px, 0.05 + ph, f("pocket-r", 0.04, 0.12))
    s.canvas.shadow(move(pocket, 0, -0.012), 0.3, 0.02)
    s.canvas.blob(
        pocket,
        cloth._replace(colour=pal.second if not flap else mix(pal.base, pal.dark, 0.25)),
        bevel=0.07,
    )
    s.canvas.line([(-px * 0.86, 0.05 + ph * 0.8), (px * 0.86, 0.05 + ph * 0.8)], 0.018, zipper)
    s.canvas.line(
        [(-px * 0.86, 0.05 + ph * 0.8), (px * 0.86, 0.05 + ph * 0.8)], 0.006, (196, 196, 198)
    )
    s.canvas.tube(
        [(px * 0.7, 0.05 + ph * 0.79), (px * 0.72, 0.05 + ph * 0.63)],
        0.018,
        Material(pal.accent, 0.4),
    )
    if f.chance("straps", 0.5):
        for x in (-px * 0.55, px * 0.55):
            s.canvas.blob(rounded(x - 0.022, 0.05, x + 0.022, h * 0.7, 0.01), strap, bevel=0.01)
            s.canvas.blob(
                rounded(x - 0.032, 0.3, x + 0.032, 0.36, 0.01),
                Material((60, 60, 62), 0.5),
                bevel=0.012,
            )
    _sign(s, 0, 0.05 + ph * 0.4, f("sign", 0.07, 0.11), pal)
    for k in range(v.count("stripes", 0, 3)):
        s.canvas.line(
            [(-w * 0.9, h * 0.62 + 0.04 * k), (w * 0.9, h * 0.62 + 0.04 * k)],
            0.02,
            pal.accent,
            inside=True,
        )
    for k in range(v.count("pins", 0, 3)):
        s.canvas.ball(
            -w * 0.5 + 0.13 * k,
            h * 0.72,
            0.03,
            Material((pal.accent, pal.light, oklch(0.7, 0.15, v("pin", 0, 360)))[k % 3], 0.6),
        )
    if s.label is not None:
        s.tag(w * 0.5, 0.5, 0.34, string=(w * 0.62, 0.62))
    s.base, s.foot = (-w, w), 0.05


PAINTERS = {
    "shoe": Painter(_shoe, (-0.66, -0.03, 0.62, 0.82), 0.28),
    "handbag": Painter(_handbag, (-0.56, -0.03, 0.56, 1.05), 0.36),
    "hat": Painter(_hat, (-0.6, -0.04, 0.72, 0.85), 0.34),
    "watch": Painter(_watch, (-0.36, -0.02, 0.42, 1.02), 0.14),
    "backpack": Painter(_backpack, (-0.56, -0.03, 0.56, 1.12), 0.48),
}
"""Painters of this module by kind."""
