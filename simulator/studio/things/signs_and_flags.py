"""What stands in the open: signs on posts, flags on poles."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import ball, box, extrude, joined, lathe, shifted, skin, tube
from simulator.studio.solid.motifs import Colours, illustrate, star, superellipse
from simulator.studio.solid.prints import BOLD, Font, Sheet, prints_on
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing
from simulator.studio.things.pack_design import Design, design
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, mix, oklch

_ROAD = (Font("DejaVuSans-Bold.ttf", 0.86), Font("DejaVuSans-Bold.ttf", 0.74, True, 0.0, 0.02),
    Font("cmss10.ttf", 1.0, False, 0.035), Font("DejaVuSerif-Bold.ttf", 0.84))  # fmt: skip


def sign(look: Look, traits: Traits) -> Thing:
    """A sign on one or two posts: enamelled metal or carved planks."""
    f, v, made = traits.family, traits.variant, design(look, traits)
    wide, tall = traits.near("wide", 0.68, 0.95, 0.05), traits.near("tall", 0.36, 0.52, 0.05)
    low = f("low", 0.75, 1.05)
    wooden = f.chance("wooden", 0.35)
    outline = _panel_outline(f, wide, tall)
    ground = oklch(0.42, 0.06, f("wood", 45, 75)) if wooden else _enamel(f)
    page = Sheet(wide, tall, ground, side=960)
    _sign_face(page, made, ground, outline, wooden)
    if wooden:
        page.shade(1 + 0.09 * page.noise("wood", f("gx"), v("gy")))
    weather = page.noise("cloud", v("wx"), v("wy"))
    page.blend(np.clip(weather - 1.1, 0, 1) * v("weather", 0.05, 0.3), (150, 142, 120))
    thick = 0.035 if wooden else 0.004
    board = shifted(extrude(outline, thick, bevel=thick * 0.25), z=low)
    face = _front_of(outline, -thick / 2 - 0.0006, low)
    finish = Material(rough=0.75) if wooden else Material(rough=0.28, coat=0.5)
    back = (
        Material(brighten(ground, 0.9), rough=0.8)
        if wooden
        else Material((150, 152, 154), rough=0.45, metal=1.0)
    )
    parts = [Part(face, finish._replace(sheet=page.rgb)), Part(board, back)]
    parts += _posts(f, wide, low + tall, thick, wooden)
    return Thing(tuple(parts), prints_on(face, page))


def _enamel(f: Draws) -> Colour:
    """The ground of a sign of metal: white, or one of the deep colours that authorities like."""
    if f.chance("white", 0.3):
        return oklch(0.95, 0.015, 95)
    hue = f.pick("enamel", (148.0, 160.0, 250.0, 262.0, 48.0, 28.0, 95.0))
    return oklch(0.84 if hue == 95.0 else f("deep", 0.36, 0.5), 0.13 if hue == 95.0 else 0.09, hue)


def _panel_outline(f: Draws, wide: float, tall: float) -> Array:
    """A board's shape: rounded, pointed like an arrow, arched, or with cut corners."""
    shape = f.pick("panel", ("round", "round", "arrow", "arch", "cut"))
    w, h = wide / 2, tall
    if shape == "arrow":
        tip = 0.16 * wide
        points = [(-w, 0.0), (w - tip, 0.0), (w, h / 2), (w - tip, h), (-w, h)]
    elif shape == "arch":
        a = np.linspace(0, math.pi, 21)
        top = [(w * math.cos(t), h * 0.78 + h * 0.22 * math.sin(t)) for t in a]
        points = [(-w, 0.0), (w, 0.0), *top]
    elif shape == "cut":
        c = 0.12 * tall
        points = [
            (-w + c, 0),
            (w - c, 0),
            (w, c),
            (w, h - c),
            (w - c, h),
            (-w + c, h),
            (-w, h - c),
            (-w, c),
        ]
    else:
        return superellipse(w, h / 2, 12, 64) + np.array((0, h / 2))
    return np.array(points)


def _front_of(outline: Array, y: float, z: float) -> Mesh:
    """The front of a board, its sheet over the board's bounding box."""
    whole = extrude(outline, 0.0004)
    n = len(outline)
    keep = whole.faces[(whole.faces < n).all(1)]
    at = whole.vertices[:n] + np.array((0, y, z), np.float32)
    return Mesh(at.astype(np.float32), keep, whole.uv[:n])


def _sign_face(page: Sheet, made: Design, ground: Colour, outline: Array, wooden: bool) -> None:
    """Border, picture, name, and an arrow beside the distance."""
    f = made.draw
    ink = mix((244, 236, 214), made.accent, 0.12) if wooden else made.ink(ground)
    face = f.pick("sign-face", _ROAD)
    if not wooden:
        low, size = outline.min(0), np.ptp(outline, axis=0)
        shape = ((outline - low) / size - 0.5) * (1, -1)
        page.fill(shape * (0.965, 0.935) + 0.5, ink)
        page.fill(shape * (0.945, 0.9) + 0.5, ground)
    motif = made.motif(ground) if not wooden else (ink, ink, mix(ink, ground, 0.35), ink)
    if made.look.label is None:
        illustrate(page, f, motif, 0.5, 0.5, 0.34)
        return
    aside = f.chance("aside", 0.55)
    left = 0.25 if aside else 0.08
    if aside:
        illustrate(page, f, motif, 0.14, 0.5, 0.16)
    right = 0.8 if f.pick("panel", ("round", "round", "arrow", "arch", "cut")) == "arrow" else 0.93
    align = "left" if aside else "centre"
    page.text(made.look.label, (left, 0.12, right, 0.62), ink, face, lines=2, align=align)
    if made.look.sublabel:
        y = 0.78
        text = (left + 0.16, y - 0.09, left + 0.62, y + 0.09)
        page.text(made.look.sublabel, text, ink, BOLD, align="left")
        flip = -1 if made.variant.chance("way") else 1
        x = left + 0.07
        arrow = [
            (x - 0.05 * flip, y - 0.022),
            (x + 0.012 * flip, y - 0.022),
            (x + 0.012 * flip, y - 0.075),
            (x + 0.06 * flip, y),
            (x + 0.012 * flip, y + 0.075),
            (x + 0.012 * flip, y + 0.022),
            (x - 0.05 * flip, y + 0.022),
        ]
        page.fill(arrow, ink)


def _posts(f: Draws, wide: float, top: float, thick: float, wooden: bool) -> list[Part]:
    """Posts behind the board, clamps or bolts that hold it, a foot of concrete or earth."""
    two = f.chance("two-posts", 0.5)
    spots = (-wide * 0.32, wide * 0.32) if two else (0.0,)
    if wooden:
        stuff = Material(oklch(0.4, 0.05, f("wood", 45, 75)), rough=0.85)
        post = box(0.09, 0.09, top + 0.06, bevel=0.008)
        back = thick / 2 + 0.045
    else:
        stuff = f.pick("post", (Material((168, 170, 172), rough=0.4, metal=1.0),
            Material((52, 60, 56), rough=0.4)))  # fmt: skip
        post = lathe(
            [(0.03, 0.0), (0.03, top + 0.03), (0.026, top + 0.036), (1e-4, top + 0.037)], around=24
        )
        back = thick / 2 + 0.03
    posts = joined([shifted(post, x, back) for x in spots])
    bolt = ball(0.008, 0.004, 0.008, around=12)
    heights = (top - 0.09, top - 0.28)
    bolts = joined([shifted(bolt, x, -thick / 2 - 0.0008, z) for x in spots for z in heights])
    foot = lathe([(0.13, 0.0), (0.12, 0.02), (0.06, 0.035), (1e-4, 0.035)], around=24)
    feet = joined([shifted(foot, x, back) for x in spots])
    return [
        Part(posts, stuff),
        Part(bolts, Material((170, 172, 174), rough=0.35, metal=1.0)),
        Part(feet, Material((128, 122, 112), rough=0.95)),
    ]


def flag(look: Look, traits: Traits) -> Thing:
    """A flag that flies from a pole."""
    f, v, made = traits.family, traits.variant, design(look, traits)
    tall = traits.near("pole", 2.5, 3.4, 0.05)
    high = traits.near("high", 0.75, 1.05, 0.05)
    long = high * f.pick("ratio", (1.4, 1.5, 1.6, 1.75))
    page = Sheet(long, high, made.paper, side=640)
    _charges(page, made)
    page.grain(0.02, "cloth")
    u, w = np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 25), indexing="ij")
    waves, phase = v("waves", 7, 12), v("phase", 0, 6.3)
    slack = v("slack", 0.05, 0.3)
    sway = (
        high
        * 0.11
        * u**0.8
        * (np.sin(waves * u - phase + 1.1 * w) + 0.35 * np.sin(1.9 * waves * u + w))
    )
    x = 0.05 + long * u * (0.93 - 0.12 * slack)
    z = tall - 0.12 - high + high * w - slack * high * u**1.6 - 0.02 * np.cos(waves * u - phase)
    cloth = skin(np.stack([x, sway, z], -1))
    pole = lathe([(0.035, 0.0), (0.034, 0.5), (0.024, tall), (1e-4, tall + 0.001)], around=20)
    foot = lathe([(0.16, 0), (0.16, 0.03), (0.15, 0.045), (0.06, 0.05), (0.05, 0.2), (0.036, 0.21)],
        around=28)  # fmt: skip
    top = shifted(ball(0.05, around=20), z=tall + 0.035)
    rope = tube([(0.04, -0.01, 0.9), (0.045, -0.012, tall * 0.6), (0.04, -0.005, tall - 0.05)],
        0.004, around=6)  # fmt: skip
    steel = f.pick(
        "pole-of",
        (
            Material((214, 216, 218), rough=0.35),
            Material((160, 162, 166), rough=0.3, metal=1.0),
            Material((120, 84, 52), rough=0.5),
        ),
    )
    return Thing.of(
        Part(cloth, Material(sheet=page.rgb, rough=0.85)),
        Part(joined([pole, foot], smooth=True), steel),
        Part(top, Material((206, 168, 88), rough=0.25, metal=1.0)),
        Part(rope, Material((226, 222, 210), rough=0.9)),
    )


def _charges(page: Sheet, d: Design) -> None:
    """The division of a flag, and what lies on it."""
    f = d.draw
    one, two, three = d.paper, d.field, mix(d.light, d.accent, 0.0 if f.chance("pale") else 1.0)
    way = f.pick(
        "division", ("tiers", "pales", "cross", "canton", "chevron", "disc", "bend", "border")
    )
    n = f.count("bands", 2, 5)
    if way in ("tiers", "canton", "chevron"):
        for i in range(n):
            page.box((0, i / n, 1, (i + 1) / n), (one, three, two)[i % 3])
    elif way == "pales":
        for i in range(min(n, 3)):
            page.box((i / min(n, 3), 0, (i + 1) / min(n, 3), 1), (one, three, two)[i % 3])
    elif way == "cross":
        at, wide = f("cross", 0.32, 0.5), f("cross-w", 0.05, 0.1)
        for grow, colour in ((1.9, three), (1.0, two)):
            page.box((at - wide * grow / page.aspect, 0, at + wide * grow / page.aspect, 1), colour)
            page.box((0, 0.5 - wide * grow, 1, 0.5 + wide * grow), colour)
    elif way == "bend":
        page.fill([(0, 1), (1, 0), (1, 1)], two)
        page.line([(0, 1), (1, 0)], f("bend", 0.08, 0.2), three)
    elif way == "border":
        page.frame((0, 0, 1, 1), 0.3, two)
    if way == "canton":
        page.box((0, 0, 0.42, 0.5), two)
    if way == "chevron":
        page.fill([(0, 0), (0.45, 0.5), (0, 1)], two)
    if way == "disc":
        page.disc(0.5, 0.5, 0.33, two)
    x, y, r, ground = {
        "canton": (0.21, 0.25, 0.19, two), "chevron": (0.14, 0.5, 0.17, two),
        "disc": (0.5, 0.5, 0.25, two),
    }.get(way, (0.5, 0.5, 0.27, one))  # fmt: skip
    if way in ("canton", "chevron", "disc", "border") or f.chance("charged", 0.4):
        colours: Colours = d.motif(ground)
        if d.variant.chance("starred", 0.25):
            page.figure(star(d.variant.count("points", 5, 8), 0.45), x, y, r, colours[2])
        else:
            illustrate(page, f, colours, x, y, r)
    for k in range(d.variant.count("fringe", 0, 2)):
        page.box((0, 0.96 - 0.05 * k, 1, 0.985 - 0.05 * k), d.accent)
