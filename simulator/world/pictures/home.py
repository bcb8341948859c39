"""Things of a household: kettle, lamp, clock, toaster, speaker, headphones."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.letters import FACES, set_text
from simulator.world.pictures.light import Material
from simulator.world.pictures.shapes import (
    arc,
    ellipse,
    emblem,
    move,
    rounded,
    smooth,
    star,
    superellipse,
)
from simulator.world.pictures.stage import Box, Painter, Stage
from simulator.world.pictures.traits import WHITE, mix, oklch, scale


def _kettle(s: Stage) -> None:
    f, pal = s.f, s.palette()
    pitch = s.view.pitch * 0.8
    r, h = f("r", 0.3, 0.38), f("h", 0.55, 0.7)
    top = r * f("taper", 0.5, 0.95)
    belly = f("belly", 0.0, 0.16)
    metal = 0.85 if f.chance("steel", 0.45) else 0.0
    shell = Material(
        mix(pal.base, (205, 208, 212), 0.75 if metal else 0.0),
        0.75,
        metal,
        texture="brushed",
        grain=0.03 if metal else 0.0,
    )
    trim = Material(mix(pal.dark, (30, 30, 32), 0.4), 0.5)
    side = -1 if s.view.flip else 1
    spout_y, spout_r = h * f("spout-y", 0.55, 0.8), f("spout", 0.24, 0.36)
    width = f("spout-w", 0.07, 0.12)
    spout = smooth(
        [
            (-side * r * 0.6, spout_y + width),
            (-side * (r + spout_r * 0.5), spout_y + width * 1.2 + 0.05),
            (-side * (r + spout_r), h * 1.02),
            (-side * (r + spout_r - 0.03), h * 1.04 - 0.03),
            (-side * (r + spout_r * 0.35), spout_y - width * 0.4),
            (-side * r * 0.6, spout_y - width * 1.6),
        ]
    )
    s.canvas.blob(spout, shell)
    style = f.count("handle", 0, 1)
    grip = Material(pal.second if f.chance("grip") else trim.colour, 0.4)
    if style == 0:
        path = smooth(
            [
                (side * top * 0.8, h + 0.02),
                (side * (r + 0.2), h + 0.02),
                (side * (r + 0.27), h * 0.6),
                (side * r * 0.9, h * 0.2),
            ],
            closed=False,
        )
        s.canvas.tube(path, f("grip-w", 0.07, 0.1), grip)
    else:
        path = arc(0, h - 0.02, top * 0.95, 0.34, 0, 180)
        s.canvas.tube(path, 0.03, Material((170, 172, 176), 0.8, 0.9))
        s.canvas.tube(arc(0, h - 0.02, top * 0.95, 0.34, 52, 128), f("grip-w", 0.06, 0.09), grip)
    profile = [
        (y * h, r + (top - r) * y ** f("curve", 0.8, 2.2) + belly * r * math.sin(y * math.pi))
        for y in np.linspace(0.03, 1, 12)
    ]
    sheet = s.sheet(2 * math.pi * r, h, shell.colour)
    if f.chance("band", 0.6):
        y = f("band-y", 0.15, 0.8)
        sheet.box(0, y, 1, y + f("band-h", 0.04, 0.16), pal.accent)
    if f.chance("patterned", 0.35):
        sheet.pattern(s.traits, (mix(shell.colour, pal.second, 0.6), shell.colour))
    sheet.emblem(s.traits, 0.5, 0.5, 0.16, (pal.light, pal.accent, pal.dark, pal.second))
    s.canvas.revolve(0, [(-0.02, r * 1.02), (0.05, r * 1.02)], trim, pitch=pitch)
    s.wrap(0, profile, sheet, shell._replace(colour=WHITE), pitch=pitch, turn=s.view.yaw * 0.4)
    lid = Material(scale(shell.colour, 0.94), 0.75, metal)
    dome = [(h, top), (h + 0.03, top * 0.92), (h + 0.07, top * 0.62), (h + 0.09, top * 0.3)]
    s.canvas.revolve(0, dome, lid, pitch=pitch)
    knob = f("knob", 0.03, 0.055)
    s.canvas.ball(
        0, h + 0.1 + knob * 0.7, knob, Material(pal.accent, 0.6), knob * f("knob-flat", 0.6, 1.1)
    )
    for k in range(s.v.count("marks", 1, 4)):
        s.canvas.flat(
            rounded(r * 0.5, 0.12 + 0.05 * k, r * 0.62, 0.14 + 0.05 * k, 0.008), pal.accent
        )
    s.tag(-side * (r * 0.45), -0.05 + 0.1, 0.5)
    s.foot, s.base = r * math.sin(pitch), (-r, r)


def _lamp(s: Stage) -> None:
    f, pal = s.f, s.palette()
    pitch = s.view.pitch * 0.7
    metal = 0.9 if f.chance("brass", 0.4) else 0.0
    stem = Material(oklch(0.72, 0.1, 85) if metal else pal.second, 0.7, metal)
    base_r = f("base-r", 0.13, 0.2)
    style = f.count("stem", 0, 2)
    s.canvas.revolve(
        0, [(0, base_r), (0.025, base_r), (0.045, base_r * 0.9)], stem, pitch=pitch, cap=stem
    )
    top = f("top", 0.5, 0.62)
    if style == 0:
        s.canvas.tube([(0, 0.04), (0, top + 0.1)], f("stem-w", 0.025, 0.05), stem)
        for k in range(f.count("beads", 0, 4)):
            s.canvas.ball(
                0,
                0.13 + k * f("bead-gap", 0.07, 0.11),
                f("bead", 0.03, 0.06),
                Material(
                    pal.accent if k == s.v.count("odd-bead", 0, 3) else stem.colour, 0.7, metal
                ),
            )
    elif style == 1:
        bulb = f("vase", 0.09, 0.17)
        ys = np.linspace(0.04, top, 14)
        waist = f("vase-y", 0.25, 0.6)
        profile = [
            (float(y), 0.03 + bulb * math.exp(-(((y / top - waist) / 0.26) ** 2))) for y in ys
        ]
        sheet = s.sheet(2 * math.pi * bulb, top, stem.colour)
        sheet.pattern(s.traits, (pal.accent, stem.colour))
        s.wrap(0, profile, sheet, Material(WHITE, 0.85), pitch=pitch)
        s.canvas.tube([(0, top), (0, top + 0.1)], 0.022, Material((190, 160, 90), 0.7, 0.9))
    else:
        for k in (-1, 0, 1):
            s.canvas.tube(
                [(k * base_r * 0.9, 0.02), (0, top + 0.05)],
                0.024,
                Material(stem.colour, 0.3, grain=0.08, texture="bark"),
            )
    low, high = f("shade-low", 0.2, 0.3), f("shade-high", 0.1, 0.24)
    sh = f("shade-h", 0.26, 0.36)
    curve = f("shade-curve", -0.05, 0.08)
    ys = np.linspace(0, 1, 9)
    shade_profile = [
        (top + y * sh, low + (high - low) * y + curve * math.sin(y * math.pi)) for y in ys
    ]
    cloth = mix(pal.base, (255, 240, 205), 0.35)
    sheet = s.sheet(2 * math.pi * low, sh, cloth)
    if f.chance("patterned", 0.65):
        sheet.pattern(s.traits, (mix(pal.base, pal.accent, 0.6), cloth), "shade")
    sheet.box(0, 0, 1, 0.05, pal.accent)
    sheet.box(0, 0.94, 1, 1, pal.accent)
    for k in range(s.v.count("rings", 0, 2)):
        sheet.box(0, 0.82 - 0.09 * k, 1, 0.85 - 0.09 * k, pal.dark)
    s.wrap(0, shade_profile, sheet, Material(WHITE, 0.05), pitch=pitch)
    if s.pose.chance("lit", 0.7):
        s.canvas.glow(
            ellipse(0, top + sh * 0.42, low * 0.5, sh * 0.32), 0.62, 0.07, (255, 238, 190)
        )
    s.tag(base_r * 0.4, 0.1, 0.4)
    s.foot, s.base = base_r * math.sin(pitch), (-base_r, base_r)


def _clock(s: Stage) -> None:
    f, pal = s.f, s.palette()
    r = 0.47
    power = f.pick("form", (2.0, 2.0, 2.0, 2.6, 3.4, 6.0)) + f("power", 0, 0.4)
    rx = r * f("aspect", 0.86, 1.0)
    c = (0.0, 0.5)
    metal = 0.85 if f.chance("metal", 0.35) else 0.0
    frame = Material(oklch(0.75, 0.08, f("metal-h", 60, 100)) if metal else pal.base, 0.7, metal)
    sides = f.count("sides", 0, 3)
    outline = (
        move(star(f.count("lobes", 8, 14), f("lobe", 0.86, 0.93), soft=True), *c, size=r)
        if sides == 0
        else move(superellipse(rx, r, power, 64), *c)
    )
    s.canvas.blob(outline, frame, bevel=f("frame", 0.05, 0.1) * 0.8)
    width = f("rim", 0.78, 0.88)
    dial_colour = f.pick("dial", (pal.light, pal.dark, mix(pal.light, pal.second, 0.4)))
    dial = move(superellipse(rx * width, r * width, power, 64), *c)
    s.canvas.flat(
        move(superellipse(rx * (width + 0.02), r * (width + 0.02), power, 64), *c),
        scale(frame.colour, 0.45),
    )
    s.canvas.face(dial, Material(dial_colour, 0.25), (0.0, 0.1))
    ink = pal.dark if dial_colour != pal.dark else pal.light
    if f.chance("ring", 0.6):
        s.canvas.line(move(superellipse(rx * 0.6, r * 0.6, power, 64), *c), 0.01, pal.accent)
    if f.chance("dial-emblem", 0.7):
        colours = (
            mix(dial_colour, pal.second, 0.5),
            mix(dial_colour, pal.accent, 0.6),
            dial_colour,
            pal.second,
        )
        for points, index in emblem(f, s.v("turn", 0, 6)):
            s.canvas.flat(move(points, *c, size=r * 0.42), colours[index % 4])
    numerals = f.count("numerals", 0, 2)
    for hour in range(12):
        angle = math.pi / 2 - hour * math.pi / 6
        reach = 0.68 * r * width / 0.82
        x, y = c[0] + math.cos(angle) * reach * rx / r, c[1] + math.sin(angle) * reach
        if numerals == 0:
            long = 0.05 if hour % 3 == 0 else 0.028
            d = (math.cos(angle), math.sin(angle))
            s.canvas.line(
                [(x, y), (x + d[0] * long, y + d[1] * long)], 0.018 if hour % 3 == 0 else 0.01, ink
            )
        elif numerals == 1:
            s.canvas.flat(ellipse(x, y, 0.02, 0.02), pal.accent if hour % 3 == 0 else ink)
        else:
            sheet_px = max(int(0.1 * s.px), 6)
            mask = set_text(
                str(hour or 12), sheet_px, sheet_px, FACES[f.count("numeral-face", 0, 8)], 1
            ).mask[:sheet_px]
            ground = np.full((*mask.shape, 3), ink, np.uint8)
            half = sheet_px / s.px / 2
            s.canvas.quad(
                [
                    (x - half, y + half),
                    (x + half, y + half),
                    (x + half, y - half),
                    (x - half, y - half),
                ],
                ground,
                cover=mask,
            )
    hour, minute = s.pose("hour", 0, 12), s.pose("minute", 0, 60)
    hand = f("hand", 0.014, 0.026)
    for turn, length, thick, colour in (
        (hour / 12, 0.48, hand * 1.3, ink),
        (minute / 60, 0.68, hand, ink),
        (s.pose("second"), 0.7, 0.007, pal.accent),
    ):
        angle = math.pi / 2 - turn * 2 * math.pi
        end = (c[0] + math.cos(angle) * length * r, c[1] + math.sin(angle) * length * r)
        tail = (c[0] - math.cos(angle) * 0.1 * r, c[1] - math.sin(angle) * 0.1 * r)
        s.canvas.shadow(
            [
                (tail[0] + 0.012, tail[1] - 0.012),
                (end[0] + 0.012, end[1] - 0.012),
                (end[0] + 0.02, end[1] - 0.02),
            ],
            0.25,
            0.008,
        )
        s.canvas.line([tail, end], thick, colour)
    s.canvas.ball(*c, 0.03, Material(pal.accent, 0.7))
    s.canvas.shadow(
        move(superellipse(rx * width, r * width, power, 64), c[0], c[1] + r * 0.9), 0.25, 0.04
    )
    s.canvas.glow(
        move(ellipse(0, 0, rx * 0.5, r * 0.16, turn=0.5), c[0] - rx * 0.35, c[1] + r * 0.45),
        0.22,
        0.04,
    )
    feet = f.chance("feet", 0.6)
    if feet:
        for x in (-0.22, 0.22):
            s.canvas.ball(x, 0.02, 0.035, Material(scale(frame.colour, 0.6), 0.5))
    s.tag(0, -0.03 if not feet else 0.02, 0.4)
    s.base, s.foot = (-0.25, 0.25), 0.02


def _toaster(s: Stage) -> None:
    f, pal = s.f, s.palette()
    w, h, d = f("w", 0.8, 1.0), f("h", 0.5, 0.64), f("d", 0.3, 0.42)
    metal = 0.8 if f.chance("steel", 0.4) else 0.0
    shell = Material(
        mix(pal.base, (205, 207, 212), 0.7 if metal else 0),
        0.7,
        metal,
        grain=0.025 if metal else 0,
        texture="brushed",
    )
    rise = d * math.sin(s.view.pitch + 0.15)
    r = f("round", 0.06, 0.22)
    for x in (-w * 0.38, w * 0.38):
        s.canvas.ball(x, 0.0, 0.05, Material((40, 40, 42), 0.3), 0.035)
    s.canvas.blob(
        rounded(-w / 2, 0.0, w / 2, h + rise, r + 0.02),
        shell._replace(colour=scale(shell.colour, 0.96)),
        bevel=0.09,
    )
    s.canvas.face(
        rounded(-w / 2 + 0.03, h - r * 0.2, w / 2 - 0.03, h + rise - 0.015, r * 0.6),
        shell,
        (0.0, 0.72),
    )
    slots = f.count("slots", 1, 2)
    for k in range(slots):
        y = h + rise * (0.5 if slots == 1 else 0.3 + 0.42 * k)
        s.canvas.flat(rounded(-w * 0.36, y - 0.028, w * 0.36, y + 0.022, 0.02), (28, 26, 26))
        s.canvas.line(
            [(-w * 0.35, y - 0.028), (w * 0.35, y - 0.028)],
            0.008,
            mix(shell.colour, WHITE, 0.5),
        )
        if s.pose.chance(f"toast{k}", 0.4):
            tilt = s.pose(f"tilt{k}", -0.02, 0.02)
            bread = rounded(-w * 0.3 + tilt, y - 0.01, w * 0.3 + tilt, y + 0.17, 0.06)
            s.canvas.blob(
                bread, Material((196, 138, 72), 0.05, grain=0.12, texture="leafage"), bevel=0.03
            )
    front = rounded(-w / 2 + 0.0, 0.0, w / 2, h, r)
    s.canvas.blob(front, shell, bevel=0.1)
    if f.chance("band", 0.7):
        y0 = f("band-y", 0.1, 0.3)
        s.canvas.face(
            rounded(-w / 2 + 0.035, y0, w / 2 - 0.035, y0 + f("band-h", 0.06, 0.18), 0.02),
            Material(pal.second, 0.5),
            (0, 0.05),
        )
    colours = (pal.light, pal.accent, pal.dark, pal.second)
    for points, index in emblem(f, s.v("turn", 0, 6)):
        s.canvas.flat(move(points, -w * 0.22, h * 0.56, size=0.11), colours[index % 4])
    x = w * 0.3
    s.canvas.flat(rounded(x - 0.012, h * 0.3, x + 0.012, h * 0.8, 0.01), (34, 32, 34))
    lever = h * s.pose("lever", 0.4, 0.75)
    s.canvas.blob(
        rounded(x - 0.06, lever - 0.03, x + 0.06, lever + 0.03, 0.02), Material(pal.accent, 0.5)
    )
    for k in range(s.v.count("knobs", 1, 3)):
        kx = w * 0.05 - 0.1 * k
        s.canvas.ball(kx, h * 0.22, 0.04, Material(pal.accent if k == 0 else pal.light, 0.6))
        s.canvas.line([(kx, h * 0.22), (kx + 0.02, h * 0.22 + 0.025)], 0.008, pal.dark)
    s.tag(w * 0.02, h * 0.55, 0.36)
    s.foot, s.base = rise * 0.4, (-w * 0.44, w * 0.44)


def _speaker(s: Stage) -> None:
    f, pal = s.f, s.palette(light=(0.3, 0.7))
    w, h = f("w", 0.44, 0.62), f("h", 0.85, 1.0)
    d = f("d", 0.35, 0.5)
    box = Box(s, w, h, d, yaw=s.view.yaw * 0.8)
    wood = f.chance("wood", 0.45)
    case = oklch(f("wood-l", 0.45, 0.65), 0.07, f("wood-h", 50, 75)) if wood else pal.base
    side = s.sheet(d, h, case)
    top = s.sheet(w, d, case)
    front = s.sheet(w, h, pal.dark if f.chance("dark-front") else pal.second)
    for sheet in (side, top):
        sheet.grain(0.06 if wood else 0.02, "wood" if wood else "fine")
    if f.chance("grille", 0.4):
        front.pattern(s.traits, (mix(pal.base, pal.accent, 0.4), pal.dark), opacity=0.8)
    m = 0.03
    front.box(0, 0, 1, m, case)
    front.box(0, 1 - m, 1, 1, case)
    front.box(0, 0, 1.5 * m, 1, case)
    front.box(1 - 1.5 * m, 0, 1, 1, case)
    box.paint({"front": front, "right": side, "top": top}, gloss=0.4)
    front_c = [box.at(0, y, d / 2) for y in (0.3 * h, 0.7 * h)]
    squash = math.cos(box.yaw)
    cones = f.count("cones", 1, 3)
    for k in range(cones):
        y = h * (0.33 + 0.36 * k) if cones > 1 else h * 0.5
        y = min(y, h * 0.86)
        rr = w * (f("woofer", 0.34, 0.42) if k == 0 else f("tweeter", 0.14, 0.26) / k)
        cx, cy = box.at(0, y, d / 2)
        ring = Material(pal.accent if s.v.chance(f"ring{k}", 0.6) else (170, 170, 175), 0.7, 0.5)
        s.canvas.blob(ellipse(cx, cy, rr * squash, rr), ring, bevel=0.03)
        s.canvas.face(
            ellipse(cx, cy, rr * 0.86 * squash, rr * 0.86), Material((26, 26, 28), 0.3), (0, -0.2)
        )
        s.canvas.ball(
            cx,
            cy,
            rr * 0.78 * squash,
            Material(mix((44, 44, 48), pal.second, f("cone-tint", 0, 0.7)), 0.25),
            rr * 0.78,
        )
        s.canvas.shadow(ellipse(cx, cy, rr * 0.5 * squash, rr * 0.5), 0.5, 0.05)
        s.canvas.ball(
            cx,
            cy,
            rr * 0.3 * squash,
            Material(pal.accent if s.v.chance(f"dome{k}") else (60, 60, 64), 0.7),
            rr * 0.3,
        )
    x, y = box.at(0, h * 0.06, d / 2)
    s.canvas.flat(ellipse(x, y, 0.018, 0.018), pal.accent)
    for k in range(s.v.count("dots", 0, 4)):
        x, y = box.at(-w * 0.3 + 0.06 * k, h * 0.07, d / 2)
        s.canvas.flat(ellipse(x, y, 0.012, 0.012), pal.light)
    del front_c
    s.tag(0, 0.2, 0.4)


def _headphones(s: Stage) -> None:
    f, pal = s.f, s.palette()
    tilt = s.view.yaw * 0.5
    rx, ry = f("band-rx", 0.34, 0.4), f("band-ry", 0.42, 0.5)
    cup_w, cup_h = f("cup-w", 0.12, 0.17), f("cup-h", 0.2, 0.27)
    cup_y = cup_h + 0.02
    metal = Material((196, 198, 204), 0.8, 0.9)
    band = Material(pal.base, f("gloss", 0.1, 0.6), grain=0.04, bump=0.05, texture="leather")
    top_y = cup_y + 0.12
    far = arc(0.02, top_y - 0.02, rx, ry, 8, 172)
    s.canvas.tube(far, 0.03, metal)
    path = arc(0, top_y, rx, ry, 0, 180, 40)
    s.canvas.tube(path, 0.04, Material(pal.second, 0.5))
    pad = arc(0, top_y, rx, ry, 40, 140, 30)
    s.canvas.tube(pad, f("pad", 0.07, 0.11), band)
    for k in range(f.count("ribs", 0, 7)):
        angle = math.radians(60 + 60 * (k + 0.5) / 7)
        x, y = math.cos(angle) * rx, top_y + math.sin(angle) * ry
        s.canvas.line(
            [(x * 0.95, y - 0.04), (x * 1.03, y + 0.045)], 0.01, scale(pal.base, 0.6), inside=True
        )
    for side in (-1, 1):
        x = side * rx
        s.canvas.tube([(x, top_y + 0.1), (x, cup_y)], 0.03, metal)
        squash = 1.0 + side * tilt * 0.5
        w = cup_w * squash
        s.canvas.blob(
            move(superellipse(w * 0.7, cup_h, 2.6), x - side * cup_w * 0.62, cup_y),
            Material((44, 42, 44), 0.15, grain=0.05, texture="leather"),
        )
        shell = move(superellipse(w, cup_h * 0.96, f("cup-form", 1.8, 3.6)), x + side * 0.02, cup_y)
        s.canvas.blob(shell, Material(pal.base, 0.6), puff=0.7)
        ring = move(superellipse(w * 0.72, cup_h * 0.7, 2.2), x + side * 0.03, cup_y)
        s.canvas.blob(ring, Material(pal.accent, 0.6), bevel=0.02)
        cap = move(superellipse(w * 0.62, cup_h * 0.6, 2.2), x + side * 0.03, cup_y)
        s.canvas.blob(cap, Material(pal.second, 0.4, grain=0.04, texture="cloth"), puff=0.4)
        for points, index in emblem(f, s.v("turn", 0, 6)):
            flat = points * (squash * 0.75, 1.0)
            s.canvas.flat(
                move(flat, x + side * 0.03, cup_y, size=cup_h * 0.42),
                (pal.light, pal.accent, pal.dark, pal.base)[index % 4],
                opacity=0.95,
            )
    for k in range(s.v.count("marks", 0, 4)):
        s.canvas.flat(ellipse(-rx - 0.02, top_y + 0.06 + k * 0.035, 0.01, 0.01), pal.light)
    s.tag(0, 0.16, 0.34, string=(rx * 0.75, cup_y + 0.1) if f.chance("never", 0.0) else None)
    s.base, s.foot = (-rx - cup_w, rx + cup_w), 0.03


PAINTERS = {
    "kettle": Painter(_kettle, (-0.85, -0.2, 0.85, 1.15), 0.26),
    "lamp": Painter(_lamp, (-0.45, -0.1, 0.45, 1.12), 0.5),
    "clock": Painter(_clock, (-0.55, -0.15, 0.55, 1.02), 0.28),
    "toaster": Painter(_toaster, (-0.6, -0.1, 0.6, 1.1), 0.2),
    "speaker": Painter(_speaker, (-0.6, -0.2, 0.6, 1.25), 0.3),
    "headphones": Painter(_headphones, (-0.62, -0.03, 0.62, 0.95), 0.2),
}
"""Painters of this module by kind."""
