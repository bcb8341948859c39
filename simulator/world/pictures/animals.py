"""Dogs, birds, fish, butterflies."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.light import Material
from simulator.world.pictures.noise import generator
from simulator.world.pictures.printed_sheet import Sheet
from simulator.world.pictures.shapes import Points, ellipse, leaf, move, ribbon, smooth
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import WHITE, Colour, mix, oklch, scale


def _coat(s: Stage) -> tuple[Colour, Colour, Colour]:
    f, v = s.f, s.v
    hue = f("coat-h", 35, 85)
    level = f("coat-l", 0.3, 0.85) + v("coat-l", -0.04, 0.04)
    base = oklch(level, f("coat-c", 0.01, 0.1), hue)
    patch_level = f("patch-l", 0.2, 0.95)
    if abs(patch_level - level) < 0.25:
        patch_level = level + (0.3 if level < 0.55 else -0.3)
    patch = oklch(patch_level, f("patch-c", 0.0, 0.09), hue + f("patch-h", -25, 25))
    return base, patch, mix(base, (250, 244, 232), 0.6)


def _dog(s: Stage) -> None:
    f, v = s.f, s.v
    coat, spots, pale = _coat(s)
    pal = s.palette()
    fluff = f("fluff")
    fur = Material(coat, 0.12, grain=0.05 + 0.07 * fluff, bump=0.1 + 0.25 * fluff, texture="fur")
    leg = f("leg", 0.24, 0.42)
    body_h = f("body-h", 0.2, 0.3)
    length = f("length", 0.32, 0.44)
    top = leg + body_h
    leg_w = f("leg-w", 0.075, 0.115)
    far = fur._replace(colour=scale(coat, 0.62))
    swing = s.pose("swing", -0.05, 0.05)

    def limb(x: float, phase: float, cloth: Material, hind: bool) -> None:
        knee = x + (-0.05 if hind else 0.015)
        path = smooth(
            [
                (x, leg + body_h * 0.35),
                (knee + phase * 0.4, leg * 0.5),
                (x + phase + (0.02 if hind else 0), leg * 0.1),
            ],
            closed=False,
        )
        s.canvas.blob(ribbon(path, [leg_w * 1.9, leg_w * 0.95, leg_w * 0.8]), cloth)
        paw = pale if s.f.chance("socks", 0.4) else cloth.colour
        if cloth is far:
            paw = scale(paw, 0.62)
        s.canvas.blob(
            ellipse(x + phase + 0.03, 0.03, leg_w * 0.75, 0.035), cloth._replace(colour=paw)
        )

    limb(-length * 0.72, swing, far, True)
    limb(length * 0.62, -swing, far, False)
    curl = f("tail-curl", -0.3, 1.4)
    tail_l = f("tail-l", 0.14, 0.36)
    tail = [
        (-length * 0.95, top - 0.05),
        (-length - tail_l * 0.5, top + 0.02 + curl * 0.06),
        (-length - tail_l * (1 - 0.5 * max(curl, 0)), top + curl * tail_l * 0.75),
    ]
    s.canvas.blob(
        ribbon(smooth(tail, closed=False), [0.07 + 0.03 * fluff, 0.06 + 0.07 * fluff, 0.015]), fur
    )
    tuck = f("tuck", 0.02, 0.1)
    torso = smooth(
        [
            (-length - 0.02, top - 0.08),
            (-length * 0.8, top),
            (0, top - f("back", -0.01, 0.03)),
            (length * 0.7, top + 0.02),
            (length + 0.04, top - body_h * 0.4),
            (length * 0.8, leg - 0.02),
            (0.05, leg + tuck * 0.4),
            (-length * 0.5, leg + tuck),
            (-length, leg + body_h * 0.4),
        ]
    )
    s.canvas.blob(torso, fur)
    belly = smooth(
        [
            (length * 0.95, top - body_h * 0.5),
            (length * 0.7, leg),
            (0, leg + tuck * 0.5),
            (0, leg + tuck + 0.04),
            (length * 0.6, leg + 0.1),
        ]
    )
    if f.chance("pale-chest", 0.55):
        s.canvas.shadow(belly, 0.75, 0.02, pale)
    style = f.count("marks", 0, 2)
    if style == 0:
        saddle = smooth(
            [
                (-length * 0.7, top + 0.02),
                (length * f("saddle", 0.0, 0.6), top + 0.04),
                (length * 0.3, top - body_h * 0.45),
                (-length * 0.5, top - body_h * f("saddle-d", 0.3, 0.7)),
            ]
        )
        s.canvas.shadow(saddle, 0.85, 0.025, spots)
    else:
        rng = generator("dog", s.look.family, s.look.variant)
        for _ in range(v.count("patches", 3, 8) * (1 if style == 1 else 3)):
            x = rng.uniform(-length, length)
            y = rng.uniform(leg + 0.03, top)
            size = rng.uniform(0.05, 0.13) if style == 1 else rng.uniform(0.015, 0.035)
            blot = smooth(
                [
                    (
                        x + size * math.cos(a) * rng.uniform(0.6, 1.2),
                        y + size * 0.8 * math.sin(a) * rng.uniform(0.6, 1.2),
                    )
                    for a in np.linspace(0, 5.4, 7)
                ]
            )
            s.canvas.shadow(blot, 0.9, 0.008, spots)
    limb(-length * 0.85, -swing, fur, True)
    limb(length * 0.78, swing, fur, False)
    nod = s.pose("nod", -0.04, 0.05)
    hx, hy = length + f("neck", 0.1, 0.18), top + f("head-up", 0.08, 0.2) + nod
    hr = f("head", 0.12, 0.16)
    s.canvas.blob(
        ribbon(
            smooth(
                [(length * 0.7, top - 0.1), (length + 0.03, top + 0.02), (hx - 0.02, hy)],
                closed=False,
            ),
            [0.26, 0.2, hr * 1.4],
        ),
        fur,
    )
    s.canvas.shadow(ellipse(length * 0.98, top - 0.02, 0.05, 0.1, turn=0.6), 0.18, 0.04)
    collar = Material(pal.accent, 0.4)
    cx, cy = length + (hx - length) * 0.42, top + (hy - top) * 0.2
    s.canvas.tube(
        [(cx - 0.11, cy + 0.055), (cx + 0.02, cy - 0.02), (cx + 0.085, cy - 0.075)], 0.032, collar
    )
    s.canvas.ball(cx + 0.075, cy - 0.1, 0.024, Material((226, 186, 88), 0.7, 0.7))
    ear_style = f.count("ear", 0, 2)
    inner_ear = fur._replace(colour=scale(spots if f.chance("ear-spot", 0.6) else coat, 0.85))
    if ear_style == 1:
        s.canvas.blob(
            move(leaf(f("ear-l", 0.14, 0.22), 0.1, tip=0.3), hx - 0.01, hy + hr * 0.6, turn=0.05),
            inner_ear._replace(colour=scale(inner_ear.colour, 0.7)),
        )
    s.canvas.ball(hx, hy, hr * 1.04, fur, hr)
    muzzle = f("muzzle", 0.1, 0.22)
    mh = f("muzzle-h", 0.075, 0.11)
    snout = smooth(
        [
            (hx + hr * 0.4, hy + mh * 0.5),
            (hx + hr * 0.8 + muzzle * 0.6, hy + mh * 0.22),
            (hx + hr * 0.8 + muzzle, hy - mh * 0.1),
            (hx + hr * 0.75 + muzzle, hy - mh * 0.75),
            (hx + hr * 0.3, hy - mh * 1.05),
        ]
    )
    s.canvas.blob(snout, fur._replace(colour=pale if f.chance("pale-muzzle") else coat))
    if f.chance("mask", 0.35):
        s.canvas.shadow(
            ellipse(hx + hr * 0.4, hy + hr * 0.3, hr * 0.5, hr * 0.45), 0.7, 0.02, spots
        )
    elif v.chance("blaze", 0.5):
        s.canvas.shadow(
            ellipse(hx + hr * 0.45, hy + hr * 0.55, hr * 0.5, hr * 0.14, turn=-0.6),
            0.85,
            0.008,
            pale,
        )
    s.canvas.ball(
        hx + hr * 0.8 + muzzle - 0.005, hy + 0.0, 0.034, Material((34, 30, 32), 0.8), 0.028
    )
    s.canvas.line(
        smooth(
            [
                (hx + hr * 0.7 + muzzle, hy - mh * 0.55),
                (hx + hr * 0.7, hy - mh * 0.72),
                (hx + hr * 0.45, hy - mh * 0.5),
            ],
            closed=False,
        ),
        0.009,
        (50, 38, 36),
    )
    if s.pose.chance("tongue", 0.4):
        s.canvas.blob(
            move(
                leaf(0.09, 0.045, tip=0.6),
                hx + hr * 0.6 + muzzle * 0.6,
                hy - mh * 0.6,
                turn=math.pi,
            ),
            Material((226, 120, 126), 0.5),
        )
    ex, ey = hx + hr * 0.42, hy + hr * 0.3
    s.canvas.ball(ex, ey, 0.022, Material((44, 28, 18), 0.9))
    s.canvas.flat(ellipse(ex + 0.006, ey + 0.007, 0.006, 0.006, n=10), (255, 255, 255))
    ear_l = f("ear-l", 0.14, 0.26)
    if ear_style == 0:
        s.canvas.blob(
            move(
                leaf(ear_l, f("ear-w", 0.1, 0.15), tip=0.6),
                hx - hr * 0.35,
                hy + hr * 0.62,
                turn=math.pi - 0.25 + f("ear-turn", -0.15, 0.3),
            ),
            inner_ear,
        )
    elif ear_style == 1:
        s.canvas.blob(
            move(
                leaf(ear_l, f("ear-w", 0.09, 0.13), tip=0.3),
                hx - hr * 0.45,
                hy + hr * 0.5,
                turn=0.2,
            ),
            inner_ear,
        )
    else:
        s.canvas.blob(
            smooth(
                [
                    (hx - hr * 0.75, hy + hr * 0.4),
                    (hx - hr * 0.5, hy + hr * 1.35),
                    (hx + 0.0, hy + hr * 1.1),
                    (hx + hr * 0.35, hy + hr * 0.75),
                    (hx - hr * 0.1, hy + hr * 0.6),
                ]
            ),
            inner_ear,
        )
    if s.label is not None:
        s.tag(cx + 0.09, cy - 0.2, 0.34, string=(cx + 0.07, cy - 0.09))
    s.base, s.foot = (-length - 0.02, length + 0.05), 0.035


def _bird(s: Stage) -> None:
    f, v = s.f, s.v
    pal = s.palette(vivid=f("vivid", 0.4, 1.1))
    plumage = Material(pal.base, 0.15, grain=0.05, bump=0.1, texture="fur")
    length, girth = f("length", 0.28, 0.38), f("girth", 0.17, 0.25)
    tilt = f("tilt", 0.25, 0.7) + s.pose("tilt", -0.08, 0.08)
    leg = f("leg", 0.1, 0.3)
    cx, cy = 0.0, leg + girth * 0.95
    beak_c = oklch(f("beak-l", 0.4, 0.8), f("beak-c", 0.02, 0.16), f("beak-h", 30, 95))
    shank = Material(scale(beak_c, 0.85), 0.2)
    for dx in (-0.02, 0.07):
        s.canvas.tube(
            [(cx + dx - 0.02, cy - girth * 0.7), (cx + dx - 0.03, leg * 0.5), (cx + dx, 0.015)],
            0.02,
            shank,
        )
        for toe in (-0.05, 0.0, 0.06):
            s.canvas.tube([(cx + dx, 0.02), (cx + dx + toe, 0.0)], 0.014, shank)
    c, si = math.cos(tilt), math.sin(tilt)

    def at(x: float, y: float) -> tuple[float, float]:
        return cx + x * c - y * si, cy + x * si + y * c

    def along(points: list[tuple[float, float]]) -> Points:
        return smooth([at(*p) for p in points])

    tail_l, fan = f("tail-l", 0.14, 0.42), f("fan", 0.03, 0.1)
    tail = Material(pal.second, 0.15, grain=0.04, bump=0.08, texture="fur")
    for k in range(4):
        off = (k - 1.5) * fan * 0.5
        s.canvas.blob(
            [
                at(-length * 0.7, 0.02 + off * 0.3),
                at(-length - tail_l, off + 0.02),
                at(-length - tail_l, off - 0.03),
                at(-length * 0.7, -0.05 + off * 0.3),
            ],
            tail._replace(colour=scale(pal.second, 0.8 + 0.07 * k)),
        )
    for k in range(v.count("tail-bars", 0, 3)):
        x = -length - tail_l * (0.95 - 0.16 * k)
        s.canvas.line([at(x, 0.05), at(x, -0.06)], 0.025, pal.accent, inside=True)
    body = along(
        [
            (-length, 0.0),
            (-length * 0.4, girth * 0.75),
            (length * 0.3, girth * 0.85),
            (length * 0.8, girth * 0.55),
            (length * 0.85, -girth * 0.2),
            (length * 0.2, -girth),
            (-length * 0.5, -girth * 0.7),
        ]
    )
    s.canvas.blob(body, plumage)
    breast = along(
        [
            (length * 0.85, girth * 0.1),
            (length * 0.3, girth * 0.0),
            (-length * 0.4, -girth * 0.5),
            (length * 0.1, -girth * 0.95),
            (length * 0.75, -girth * 0.5),
        ]
    )
    breast_colour = mix(pal.light, pal.accent, v("breast", 0.0, 0.9))
    s.canvas.shadow(breast, 0.85, 0.02, breast_colour)
    rng = generator("bird", s.look.family, s.look.variant)
    for _ in range(f.count("specks", 0, 2) * v.count("specks", 6, 12)):
        x, y = rng.uniform(-length * 0.1, length * 0.7), rng.uniform(-girth * 0.75, -girth * 0.1)
        s.canvas.flat(move(ellipse(0, 0, 0.014, 0.008, n=10), *at(x, y)), pal.dark, inside=True)
    hr = f("head", 0.12, 0.155)
    hx, hy = at(length * 0.8, girth * 0.62)
    hx, hy = hx + s.pose("look", -0.015, 0.015), hy + 0.03
    bl, bh = f("beak-l2", 0.07, 0.2), f("beak-w", 0.04, 0.075)
    hook = f("hook", -0.03, 0.04)
    s.canvas.blob(
        smooth(
            [
                (hx + hr * 0.75, hy + bh * 0.7),
                (hx + hr * 0.9 + bl * 0.6, hy + bh * 0.15),
                (hx + hr * 0.9 + bl, hy - 0.02 - hook),
                (hx + hr * 0.8 + bl * 0.4, hy - bh * 0.55),
                (hx + hr * 0.7, hy - bh * 0.7),
            ],
            steps=5,
        ),
        Material(beak_c, 0.5),
    )
    head = Material(
        pal.second if f.chance("hood", 0.5) else pal.base, 0.15, grain=0.05, bump=0.1, texture="fur"
    )
    s.canvas.line(
        [(hx + hr * 0.8, hy - 0.005), (hx + hr * 0.9 + bl * 0.85, hy - 0.012 - hook * 0.7)],
        0.006,
        scale(beak_c, 0.5),
    )
    if f.chance("crest", 0.45):
        for k in range(f.count("crest-n", 2, 4)):
            s.canvas.blob(
                move(
                    leaf(f("crest-l", 0.1, 0.2), 0.045, tip=0.4),
                    hx - hr * 0.3,
                    hy + hr * 0.7,
                    turn=0.4 + 0.28 * k,
                ),
                Material(pal.accent, 0.15),
            )
    s.canvas.ball(hx, hy, hr, head)
    if f.chance("crown", 0.5):
        s.canvas.shadow(
            smooth(
                [
                    (hx - hr * 0.8, hy + hr * 0.5),
                    (hx, hy + hr * 1.02),
                    (hx + hr * 0.75, hy + hr * 0.55),
                    (hx, hy + hr * 0.45),
                ]
            ),
            0.95,
            0.008,
            pal.accent,
        )
    if f.chance("stripe", 0.55):
        s.canvas.line(
            smooth(
                [
                    (hx + hr * 0.8, hy + hr * 0.15),
                    (hx, hy + hr * 0.3),
                    (hx - hr * 0.9, hy - hr * 0.05),
                ],
                closed=False,
            ),
            hr * f("stripe-w", 0.16, 0.34),
            pal.dark if f.chance("stripe-d") else pal.light,
            inside=True,
        )
    if v.chance("cheek", 0.5):
        s.canvas.shadow(
            ellipse(hx + hr * 0.1, hy - hr * 0.3, hr * 0.3, hr * 0.24), 0.9, 0.008, pal.accent
        )
    s.canvas.ball(
        hx + hr * 0.38,
        hy + hr * 0.2,
        0.025,
        Material(oklch(f("iris-l", 0.2, 0.75), 0.12, f("iris-h", 20, 90)), 0.7),
    )
    s.canvas.ball(hx + hr * 0.38, hy + hr * 0.2, 0.017, Material((16, 14, 14), 0.9))
    s.canvas.flat(
        ellipse(hx + hr * 0.38 + 0.006, hy + hr * 0.2 + 0.007, 0.005, 0.005, n=8), (255, 255, 255)
    )
    wing_c = mix(pal.base, pal.dark, f("wing-dark", 0.15, 0.6))
    wl = f("wing", 0.8, 1.15)
    wing = along(
        [
            (length * 0.5, girth * 0.35),
            (0, girth * 0.62),
            (-length * 0.6, girth * 0.35),
            (-length * 1.15 * wl, -0.02),
            (-length * 0.4, -girth * 0.35),
            (length * 0.35, -girth * 0.2),
        ]
    )
    s.canvas.shadow(wing, 0.3, 0.02)
    s.canvas.blob(wing, plumage._replace(colour=wing_c), bevel=0.06)
    for k in range(5):
        y = girth * (0.22 - 0.12 * k)
        s.canvas.line(
            smooth(
                [
                    at(length * (0.1 - 0.08 * k), y),
                    at(-length * 0.5, y * 0.7 - 0.01),
                    at(-length * (1.05 * wl - 0.09 * k), y * 0.25 - 0.015),
                ],
                closed=False,
            ),
            0.011,
            scale(wing_c, 0.6),
            inside=True,
            opacity=0.8,
        )
    bars = v.count("wing-bars", 0, 3)
    for k in range(bars):
        x = length * (0.22 - 0.2 * k)
        s.canvas.line(
            smooth(
                [at(x, girth * 0.45), at(x - 0.04, girth * 0.1), at(x - 0.02, -girth * 0.22)],
                closed=False,
            ),
            0.026,
            pal.accent if k == 0 else pal.light,
            inside=True,
            opacity=0.9,
        )
    if s.label is not None:
        s.tag(0.0, 0.06, 0.4)
    s.base, s.foot = (cx - 0.12, cx + 0.16), 0.02


def _fish(s: Stage) -> None:
    f, v = s.f, s.v
    pal = s.palette(vivid=1.25, light=(0.5, 0.8))
    half, deep = 0.44, f("deep", 0.13, 0.32)
    y0 = 0.5
    nose = f("nose", -0.25, 0.2)
    peak = f("peak", 0.0, 0.22)
    fin = Material(mix(pal.second, pal.accent, f("fin-mix", 0, 0.7)), 0.4)
    sway = s.pose("sway", -0.04, 0.04)
    tl, fork = f("tail-l", 0.16, 0.28), f("fork", -0.05, 0.14)
    th = f("tail-h", 0.13, 0.24)
    tail = smooth(
        [
            (-half + 0.05, y0 + 0.03),
            (-half - tl * 0.5, y0 + th * 0.6 + sway),
            (-half - tl, y0 + th + sway),
            (-half - tl + fork, y0 + sway),
            (-half - tl, y0 - th + sway),
            (-half - tl * 0.5, y0 - th * 0.6 + sway),
            (-half + 0.05, y0 - 0.03),
        ],
        steps=6,
    )
    s.canvas.blob(tail, fin, puff=0.4, opacity=0.93)
    dl, dh = f("dorsal-l", 0.3, 0.75), f("dorsal-h", 0.06, 0.22)
    dx = f("dorsal-x", 0.0, 0.22)
    spikes = f.chance("spiny", 0.4)
    n = 9
    xs = np.linspace(dx, dx - dl * 0.8, n)
    rise = dh * np.sin(np.linspace(0.25, 2.9, n)) ** f("dorsal-p", 0.6, 1.6)
    if spikes:
        rise = rise * np.where(np.arange(n) % 2 == 0, 1.12, 0.8)
    body_top = (
        y0 + deep * np.sqrt(np.clip(1 - ((xs - peak * 0.3) / (half * 1.08)) ** 2, 0.02, 1)) * 0.85
    )
    dorsal = np.concatenate(
        [np.stack([xs, body_top + rise], 1), np.stack([xs[::-1], body_top[::-1] - 0.06], 1)]
    )
    s.canvas.blob(dorsal if spikes else smooth(dorsal, steps=4), fin, puff=0.4, opacity=0.93)
    for k in range(n):
        s.canvas.line(
            [(xs[k], body_top[k]), (xs[k] - 0.015, body_top[k] + rise[k] * 0.92)],
            0.005,
            scale(fin.colour, 0.6),
            opacity=0.6,
        )
    al = f("anal", 0.1, 0.25)
    s.canvas.blob(
        smooth(
            [
                (-0.02, y0 - deep * 0.75),
                (-0.16, y0 - deep * 0.8 - al * 0.6),
                (-0.24, y0 - deep * 0.6 - al * 0.5),
                (-0.3, y0 - deep * 0.4),
            ]
        ),
        fin,
        puff=0.4,
        opacity=0.93,
    )
    for k in range(5):
        a = math.pi + (k - 2) * 0.28
        s.canvas.line(
            [(-half - 0.03, y0), (-half + math.cos(a) * tl * 0.85, y0 + math.sin(a) * th + sway)],
            0.006,
            scale(fin.colour, 0.62),
            opacity=0.6,
            inside=True,
        )
    outline = smooth(
        [
            (half, y0 + nose * deep * 0.3),
            (half * 0.75, y0 + deep * 0.5),
            (peak, y0 + deep),
            (-half * 0.4, y0 + deep * 0.62),
            (-half * 0.85, y0 + 0.055),
            (-half - 0.02, y0 + 0.04),
            (-half - 0.02, y0 - 0.04),
            (-half * 0.85, y0 - 0.055),
            (-half * 0.4, y0 - deep * 0.6),
            (peak * 0.6, y0 - deep * 0.95),
            (half * 0.75, y0 - deep * 0.55),
        ]
    )
    sheet = _fish_skin(s, pal.base, pal.second, pal.accent, pal.light, deep)
    s.canvas.blob(outline, Material(WHITE, 0.6, bump=0.02, texture="leather"), albedo=sheet.rgb)
    step = 0.045
    for row in range(int(deep * 1.4 / step)):
        for col in range(12):
            x = 0.18 - col * step + (row % 2) * step / 2
            y = y0 + (row + 0.5) * step - deep * 0.7
            if abs(y - y0) < deep * 0.62 * math.sqrt(max(1 - ((x - 0.05) / half) ** 2, 0)):
                s.canvas.line(
                    np.stack(
                        [
                            x + step * 0.5 * np.cos(np.linspace(1.9, 4.4, 6)),
                            y + step * 0.5 * np.sin(np.linspace(1.9, 4.4, 6)),
                        ],
                        1,
                    ),
                    0.004,
                    (255, 255, 255),
                    opacity=0.22,
                )
    gill = half * 0.48
    s.canvas.line(
        smooth(
            [(gill, y0 + deep * 0.42), (gill - 0.05, y0), (gill, y0 - deep * 0.45)], closed=False
        ),
        0.012,
        scale(pal.base, 0.55),
        opacity=0.8,
    )
    s.canvas.blob(
        move(
            leaf(f("pectoral", 0.14, 0.24), 0.12, tip=0.65),
            gill - 0.07,
            y0 - deep * 0.1,
            turn=math.pi / 2 + 0.5 + s.pose("flap", -0.3, 0.3),
        ),
        fin,
        puff=0.5,
        opacity=0.9,
    )
    ex, ey = half * 0.72, y0 + deep * 0.14 + nose * deep * 0.2
    er = f("eye", 0.03, 0.045)
    s.canvas.ball(ex, ey, er * 1.25, Material(oklch(0.8, 0.13, f("iris", 40, 110)), 0.6))
    s.canvas.ball(ex, ey, er * 0.75, Material((12, 12, 14), 0.9))
    s.canvas.flat(ellipse(ex + er * 0.3, ey + er * 0.3, er * 0.22, er * 0.22, n=8), (255, 255, 255))
    s.canvas.line(
        smooth(
            [
                (half * 1.0, y0 + nose * deep * 0.3 - 0.01),
                (half * 0.93, y0 + nose * deep * 0.3 - 0.03),
                (half * 0.86, y0 + nose * deep * 0.25 - 0.03),
            ],
            closed=False,
        ),
        0.01,
        scale(pal.base, 0.45),
    )
    if s.label is not None:
        s.tag(0.0, 0.06, 0.44)
    del v


def _fish_skin(
    s: Stage, base: Colour, second: Colour, accent: Colour, light: Colour, deep: float
) -> Sheet:
    f, v = s.f, s.v
    sheet = s.sheet(0.92, deep * 1.95, base)
    h = sheet.height
    fade = (np.linspace(-0.3, 1.1, h).clip(0, 1) ** 1.4)[:, None, None]
    sheet.rgb = (sheet.rgb * (1 - fade * 0.75) + np.array(light) * fade * 0.75).astype(np.uint8)
    style = f.count("skin", 0, 3)
    if style == 0:
        n = f.count("bands", 2, 5) + v.count("bands", 0, 2)
        lean, wide = f("lean", -0.12, 0.12), f("band-w", 0.25, 0.6) / n
        for k in range(n):
            x = 0.1 + 0.72 * (k + 0.5) / n
            sheet.fill(
                [
                    (x - wide / 2 + lean, 0),
                    (x + wide / 2 + lean, 0),
                    (x + wide * 0.3 - lean, 1),
                    (x - wide * 0.3 - lean, 1),
                ],
                accent if k == v.count("odd", 0, 4) else second,
            )
    elif style == 1:
        n = f.count("lines", 1, 4) + v.count("lines", 0, 2)
        for k in range(n):
            y = 0.2 + 0.5 * (k + 0.5) / n
            xs = np.linspace(0, 1, 20)
            wave = f("wave", 0, 0.05) * np.sin(xs * 9 + k)
            sheet.stroke(
                np.stack([xs, y + wave], 1),
                0.25 / n,
                accent if k % 2 == v.count("odd", 0, 1) else second,
            )
    elif style == 2:
        rng = generator("fish", s.look.family, s.look.variant)
        for _ in range(v.count("dots", 10, 40)):
            x, y, r = (
                rng.uniform(0.1, 0.8),
                rng.uniform(0.1, 0.7),
                rng.uniform(0.03, f("dot", 0.05, 0.1)),
            )
            sheet.figure(
                ellipse(0, 0, 1, 1, n=16), x, y, r, accent if rng.random() < 0.4 else second
            )
    else:
        sheet.fill(
            [
                (0, 0),
                (f("half", 0.3, 0.6), 0),
                (f("half", 0.3, 0.6) - f("lean", -0.15, 0.15), 1),
                (0, 1),
            ],
            second,
        )
        x = v("spot-x", 0.5, 0.7)
        sheet.figure(ellipse(0, 0, 1, 1), x, 0.35, v("spot", 0.1, 0.2), accent)
    sheet.box(f("mask-x", 0.82, 0.9), 0, 1, 1, mix(base, accent, v("mask", 0, 0.7)))
    return sheet


def _butterfly(s: Stage) -> None:
    f, v = s.f, s.v
    pal = s.palette(vivid=1.2, light=(0.45, 0.8))
    cy = 0.5
    open_ = s.pose("open", 0.8, 1.0)
    rim = pal.dark if f.chance("dark-rim", 0.7) else pal.second
    up = smooth(
        [
            (0.0, 0.05),
            (0.14, 0.2),
            (f("fw-x", 0.34, 0.46), f("fw-y", 0.3, 0.44)),
            (f("fw-tx", 0.42, 0.5), f("fw-ty", 0.2, 0.34)),
            (f("fw-bx", 0.36, 0.46), f("fw-by", -0.02, 0.08)),
            (0.15, -0.05),
            (0.0, -0.04),
        ],
        steps=8,
    )
    tail = f("tail", 0.0, 0.16)
    low = smooth(
        [
            (0.0, 0.0),
            (0.2, 0.03),
            (f("hw-x", 0.32, 0.42), f("hw-y", -0.12, -0.02)),
            (f("hw-bx", 0.26, 0.36), f("hw-by", -0.34, -0.24)),
            (0.18, -0.3 - tail),
            (0.12, -0.28),
            (0.02, -0.1),
        ],
        steps=8,
    )
    rng = generator("butterfly", s.look.family)
    marks = [
        (rng.uniform(0.35, 0.9), rng.uniform(-0.8, 0.8), rng.uniform(0.02, 0.05)) for _ in range(12)
    ]
    for mirror in (-1.0, 1.0):
        m = np.array([mirror * open_ * (1.0 if mirror * s.view.yaw <= 0 else 0.93), 1.0])
        for wing, colour, depth in ((low, pal.second, 0), (up, pal.base, 1)):
            placed = wing * m + (0, cy)
            skin = Material(colour, 0.2, grain=0.05, bump=0.04, texture="fur")
            s.canvas.shadow(placed, 0.3, 0.02)
            s.canvas.blob(
                placed, skin._replace(colour=rim), bevel=0.05, puff=0.4, tilt=(0.15 * mirror, 0.1)
            )
            centre = wing.mean(0)
            inner = (centre + (wing - centre) * f(f"rim{depth}", 0.76, 0.9) - (0.015, 0)) * m + (
                0,
                cy,
            )
            s.canvas.blob(inner, skin, puff=0.25, tilt=(0.15 * mirror, 0.1))
            root = np.array([0.03, 0.05 if depth else -0.02])
            for k in range(6):
                tip = wing[int(len(wing) * (0.18 + 0.1 * k))]
                s.canvas.line(
                    np.stack([root * m + (0, cy), (root + (tip - root) * 0.93) * m + (0, cy)]),
                    0.008,
                    rim,
                    opacity=0.85,
                )
            core = (root + (wing - root) * f(f"core{depth}", 0.3, 0.55)) * m + (0, cy)
            s.canvas.shadow(
                core, 0.75, 0.015, pal.accent if f.chance(f"core-a{depth}") else pal.light
            )
            n = v.count(f"rim-dots{depth}", 3, 7)
            for k in range(n):
                p = wing[int(len(wing) * (0.25 + 0.42 * k / n))]
                spot = (centre + (p - centre) * 0.87) * m + (0, cy)
                s.canvas.flat(
                    ellipse(spot[0], spot[1], 0.014, 0.014, n=12),
                    pal.light if f.chance("dots-l") else pal.accent,
                )
            for share, swing, size in marks[: f.count("spots", 2, 8)]:
                target = (
                    centre + (wing[int((swing + 1) / 2 * (len(wing) - 1))] - centre) * share * 0.6
                )
                spot = target * m + (0, cy)
                s.canvas.flat(
                    ellipse(spot[0], spot[1], size, size * 0.85, n=16), pal.accent, inside=True
                )
            if f.chance(f"eye{depth}", 0.5):
                e = (centre + np.array([0.05, -0.02])) * m + (0, cy)
                r = f(f"eye-r{depth}", 0.04, 0.065) * v(f"eye-r{depth}", 0.8, 1.2)
                for q, colour in (
                    (1.0, pal.light),
                    (0.78, pal.dark),
                    (0.45, pal.accent),
                    (0.18, (255, 255, 255)),
                ):
                    s.canvas.flat(ellipse(e[0], e[1], r * q, r * q, n=20), colour)
    fuzz = Material(mix(pal.dark, (40, 30, 24), 0.5), 0.2, bump=0.2, texture="fur")
    s.canvas.blob(
        ribbon([(0, cy - 0.27), (0, cy - 0.1), (0, cy + 0.02)], [0.02, 0.055, 0.045]), fuzz
    )
    s.canvas.ball(0, cy + 0.05, 0.036, fuzz, 0.07)
    s.canvas.ball(0, cy + 0.135, 0.028, fuzz)
    for side in (-1, 1):
        s.canvas.tube(
            smooth(
                [(side * 0.01, cy + 0.15), (side * 0.06, cy + 0.26), (side * 0.12, cy + 0.31)],
                closed=False,
            ),
            0.008,
            fuzz,
        )
        s.canvas.ball(side * 0.12, cy + 0.31, 0.012, fuzz)
    if s.label is not None:
        s.tag(0.0, 0.03, 0.44)


PAINTERS = {
    "dog": Painter(_dog, (-0.85, -0.05, 0.95, 1.15), 0.75),
    "bird": Painter(_bird, (-0.75, -0.06, 0.7, 1.05), 0.25),
    "fish": Painter(_fish, (-0.78, -0.05, 0.5, 1.05), 0.2),
    "butterfly": Painter(_butterfly, (-0.55, -0.1, 0.55, 1.0), 0.1),
}
"""Painters of this module by kind."""
