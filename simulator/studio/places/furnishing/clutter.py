"""What lies about in any room and on desks, of kinds that nobody asks about."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.places.furnishing import printed_labels
from simulator.studio.places.place_materials import (
    BLACK,
    BRASS,
    CARD,
    CHROME,
    CREAM,
    IRON,
    PAPER,
    SCREEN,
    STEEL,
    WHITE,
    paint,
    tint,
)
from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    lathe,
    posed,
    scaled,
    sheet,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Material, Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import dyed, shades
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws


def carton(draws: Draws) -> Thing:
    """A cardboard box with a strip of tape, sometimes open."""
    w, d, h = draws("w", 0.22, 0.45), draws("d", 0.2, 0.36), draws("h", 0.14, 0.34)
    body = box(w, d, h, bevel=0.004)
    parts = [
        Part(body, printed_labels.parcel_print(printed_labels.pick_variety(draws))),
        Part(shifted(box(0.05, d + 0.001, 0.001), z=h), paint((176, 134, 84), 0.25)),
    ]
    if draws.chance("flaps", 0.4):
        flap = [
            shifted(
                posed(box(w / 2, d, 0.004), turned((0, 1, 0), s * draws(f"f{s}", 20, 70))),
                s * w * 0.7,
                0,
                h,
            )
            for s in (-1, 1)
        ]
        parts.append(Part(joined(flap), CARD))
    return Thing.of(*parts)


def storage(draws: Draws) -> Thing:
    """A lidded plastic box."""
    w, d, h = draws("w", 0.25, 0.42), draws("d", 0.2, 0.3), draws("h", 0.14, 0.26)
    colour = tint(draws, "c", level=(0.4, 0.9), chroma=(0.01, 0.12))
    return Thing.of(
        Part(box(w, d, h, bevel=0.012), paint(colour, 0.35)),
        Part(
            shifted(box(w + 0.02, d + 0.02, 0.03, bevel=0.008), z=h - 0.01),
            paint(tint(draws, "lid"), 0.35),
        ),
        Part(
            shifted(sheet(0.11, 0.061), 0, -d / 2 - 0.0012, 0.35 * h),
            printed_labels.card(printed_labels.pick_variety(draws)),
        ),
    )


def folders(draws: Draws) -> Thing:
    """A row of ring binders, the last one leaning."""
    n = draws.count("many", 3, 7)
    colours = [tint(draws, f"c{k}", level=(0.25, 0.85), chroma=(0.01, 0.14)) for k in range(3)]
    x, row, labels, rings = 0.0, [], [], []
    for k in range(n):
        w = draws.pick(f"w{k}", (0.05, 0.08, 0.08))
        row.append(
            dyed(
                shifted(box(w - 0.003, 0.28, 0.315, bevel=0.003), x + w / 2),
                draws.count(f"which{k}", 0, 2),
                3,
            )
        )
        labels.append(shifted(sheet(w * 0.6, 0.12), x + w / 2, -0.1405, 0.14))
        rings.append(shifted(posed(lathe([(0.008, 0), (0.012, 0.002), (0.008, 0.003)], around=16),
            turned((1, 0, 0), 90)), x + w / 2, -0.14, 0.06))  # fmt: skip
        x += w
    parts = (
        Part(joined(row), shades(*colours, rough=0.5)),
        Part(joined(labels), printed_labels.binder(printed_labels.pick_variety(draws))),
        Part(joined(rings, smooth=True), STEEL),
    )
    return Thing.of(*(Part(shifted(p.mesh, -x / 2), p.material) for p in parts))


def tin(draws: Draws) -> Thing:
    """A paint tin, dripped on."""
    r, h = draws("r", 0.045, 0.085), draws("h", 0.08, 0.18)
    body = lathe(
        [
            (r, 0),
            (r, 0.005),
            (r * 0.985, 0.008),
            (r * 0.985, h - 0.008),
            (r, h - 0.005),
            (r, h),
            (r * 0.9, h - 0.003),
            (1e-4, h - 0.004),
        ],
        around=48,
    )
    band = lathe([(r * 0.99, h * 0.2), (r * 0.99, h * draws("full", 0.65, 0.85))], around=48)
    return Thing.of(
        Part(body, STEEL), Part(band, printed_labels.tin_label(printed_labels.pick_variety(draws)))
    )


def vase(draws: Draws) -> Thing:
    """A vase with dry twigs."""
    h, r = draws("h", 0.16, 0.34), draws("r", 0.05, 0.09)
    neck = draws("neck", 0.25, 0.5)
    profile = smooth_path(
        [
            (r * 0.6, 0),
            (r, h * draws("belly", 0.3, 0.5)),
            (r * neck, h * 0.86),
            (r * neck * 1.2, h),
        ],
        6,
    )
    body = lathe([(1e-4, 0), *profile.tolist(), (r * neck, h - 0.01), (r * neck * 0.8, h * 0.7)])
    twigs = []
    for k in range(draws.count("twigs", 3, 7)):
        a, lean = k * 2.4, draws(f"lean{k}", 0.05, 0.3)
        top = h * draws(f"long{k}", 1.7, 2.6)
        path = [
            (0, 0, h * 0.6),
            (lean * 0.3 * top * math.cos(a), lean * 0.3 * top * math.sin(a), top * 0.7),
            (lean * top * math.cos(a), lean * top * math.sin(a), top),
        ]
        twigs.append(tube(smooth_path(path, 4), [0.003, 0.0015], around=6))
        twigs += [
            shifted(
                ball(0.008, 0.008, 0.014, around=8),
                path[-1][0] * q,
                path[-1][1] * q,
                h * 0.6 + (top - h * 0.6) * q,
            )
            for q in (0.85, 0.93, 1.0)
        ]
    return Thing.of(
        Part(body, paint(tint(draws, "glaze"), draws.pick("r2", (0.2, 0.75)))),
        Part(joined(twigs, smooth=True), paint((150, 120, 84), 0.9)),
    )


def candle(draws: Draws) -> Thing:
    """A candle on a dish."""
    r, h = draws("r", 0.025, 0.04), draws("h", 0.05, 0.16)
    dish = lathe([(r * 1.5, 0), (r * 2, 0.012), (r * 1.9, 0.013), (1e-4, 0.005)])
    wax = lathe([(r, 0.005), (r, h), (r * 0.85, h - 0.004), (1e-4, h - 0.007)])
    return Thing.of(
        Part(dish, draws.pick("d", (BRASS, CREAM, IRON))),
        Part(wax, paint(tint(draws, "w", level=(0.6, 0.94)), 0.5)),
        Part(shifted(tube([(0, 0, 0), (0.002, 0, 0.012)], 0.001, around=6), z=h - 0.008), BLACK),
    )


def basket(draws: Draws) -> Thing:
    """A woven basket with a blanket in it."""
    r, h = draws("r", 0.16, 0.24), draws("h", 0.2, 0.32)
    weave = [
        tube(
            [
                (
                    (r + 0.006 * math.cos(8 * a + k * math.pi)) * math.cos(a),
                    (r + 0.006 * math.cos(8 * a + k * math.pi)) * math.sin(a),
                    0.012 + 0.022 * k,
                )
                for a in np.linspace(0, 2 * math.pi, 40)
            ],
            0.011,
            around=6,
        )
        for k in range(int(h / 0.022))
    ]
    wool = shifted(scaled(ball(1, around=24), r * 0.9, r * 0.85, 0.1), z=h - 0.02)
    return Thing.of(
        Part(joined(weave, smooth=True), paint((172, 132, 84), 0.85)),
        Part(wool, paint(tint(draws, "wool"), 0.95)),
    )


def bin_(draws: Draws) -> Thing:
    """A waste-paper basket with crumpled paper."""
    r, h = draws("r", 0.11, 0.15), draws("h", 0.26, 0.36)
    body = lathe([(r * 0.8, 0), (r, h), (r - 0.004, h), (r * 0.78, 0.01), (1e-4, 0.01)])
    rng = generator("crumpled", draws("c"))
    wads = []
    for k in range(4):
        wad = ball(0.045, around=12)
        wads.append(
            shifted(
                wad._replace(
                    vertices=(
                        wad.vertices * (1 + 0.2 * rng.standard_normal((len(wad.vertices), 1)))
                    ).astype(np.float32),
                    smooth=False,
                ),
                0.05 * math.cos(k * 2.4),
                0.05 * math.sin(k * 2.4),
                h * 0.75 + 0.02 * k,
            )
        )
    return Thing.of(Part(body, draws.pick("m", (BLACK, STEEL, WHITE))), Part(joined(wads), PAPER))


def pens(draws: Draws) -> Thing:
    """Two or three pens and pencils that were put down."""
    parts: list[Part] = []
    for k in range(draws.count("many", 2, 4)):
        r, long = 0.0038, draws(f"long{k}", 0.12, 0.18)
        stick = tube([(-long / 2, 0, r), (long / 2 - 0.018, 0, r)], r, around=8)
        tip = tube([(long / 2 - 0.018, 0, r), (long / 2, 0, r)], [r, 0.0008], around=8)
        pose = turned((0, 0, 1), draws(f"turn{k}", -70, 70))
        y = (k - 1) * 0.03
        colour = tint(draws, f"c{k}", level=(0.3, 0.8), chroma=(0.02, 0.18))
        parts.append(Part(shifted(posed(stick, pose), 0, y), paint(colour, 0.35)))
        parts.append(
            Part(shifted(posed(tip, pose), 0, y), draws.pick(f"t{k}", (CHROME, BLACK, CARD)))
        )
    return Thing.of(*parts)


def pen_cup(draws: Draws) -> Thing:
    """A cup full of pens, a ruler, scissors' handles."""
    r, h = draws("r", 0.034, 0.043), draws("h", 0.085, 0.11)
    cup = lathe([(r, 0), (r, h), (r - 0.003, h), (r - 0.003, 0.006), (1e-4, 0.006)], around=40)
    n = draws.count("many", 4, 8)
    colours = [tint(draws, f"c{k}", level=(0.25, 0.85), chroma=(0.02, 0.18)) for k in range(n)]
    sticks = []
    for k in range(n):
        a = k * 2.4
        lean = turned((-math.sin(a), math.cos(a), 0), draws(f"lean{k}", 4, 15))
        stick = tube([(0, 0, 0), (0, 0, draws(f"l{k}", 0.13, 0.18))], 0.004, around=8)
        sticks.append(
            dyed(
                shifted(posed(stick, lean), 0.4 * r * math.cos(a), 0.4 * r * math.sin(a), 0.008),
                k,
                n,
            )
        )
    body = Part(cup, draws.pick("m", (STEEL, BLACK, WHITE, paint(tint(draws, "cup"), 0.3))))
    return Thing.of(body, Part(joined(sticks, smooth=True), shades(*colours, rough=0.4)))


def papers(draws: Draws) -> Thing:
    """Sheets of A4, not quite square to each other, written on."""
    parts = [
        Part(
            shifted(
                posed(box(0.21, 0.297, 0.0006), turned((0, 0, 1), draws(f"turn{k}", -14, 14))),
                draws(f"x{k}", -0.02, 0.02),
                draws(f"y{k}", -0.02, 0.02),
                k * 0.0008,
            ),
            PAPER,
        )
        for k in range(draws.count("many", 2, 6))
    ]
    top = posed(box(0.21, 0.297, 0.0006), turned((0, 0, 1), draws("top", -14, 14)))
    return Thing.of(
        *parts,
        Part(shifted(top, z=0.006), printed_labels.letter(printed_labels.pick_variety(draws))),
    )


def notebook(draws: Draws) -> Thing:
    """Notebooks and folders in a pile, spines any way."""
    parts: list[Part] = []
    z = 0.0
    for k in range(draws.count("many", 1, 4)):
        w, d, h = draws(f"w{k}", 0.14, 0.23), draws(f"d{k}", 0.2, 0.3), draws(f"h{k}", 0.008, 0.028)
        pose = turned((0, 0, 1), draws(f"turn{k}", -18, 18))
        cover = joined(
            [
                box(w, d, 0.002),
                shifted(box(w, d, 0.002), z=h - 0.002),
                shifted(box(0.003, d, h), -w / 2),
            ]
        )
        pages = shifted(box(w - 0.008, d - 0.008, h - 0.004), z=0.002)
        front = printed_labels.cover(draws.count(f"cover{k}", 0, 4 * printed_labels.VARIETY - 1))
        parts += [
            Part(shifted(posed(cover, pose), z=z), front),
            Part(shifted(posed(pages, pose), z=z), PAPER),
        ]
        z += h
    return Thing.of(*parts)


def laptop(draws: Draws) -> Thing:
    """An open laptop, its screen dark or bright."""
    w, d = draws("w", 0.3, 0.36), draws("d", 0.21, 0.25)
    case = draws.pick("case", (Material((168, 170, 174), rough=0.35, metal=1.0), BLACK))
    base = box(w, d, 0.014, bevel=0.004)
    hinge, tilt = (0, d / 2, 0.012), draws("tilt", 12, 28)
    lid = posed(shifted(box(w, 0.007, d, bevel=0.003), 0, 0), turned((1, 0, 0), -tilt))
    pane = posed(
        shifted(box(w - 0.02, 0.001, d - 0.025), 0, -0.0042, 0.014), turned((1, 0, 0), -tilt)
    )
    rows = [
        shifted(
            box(0.0155, 0.0155, 0.0015, bevel=0.0004),
            -w * 0.44 + 0.0185 * i + 0.004 * (j % 2),
            -0.01 + 0.0185 * j,
            0.014,
        )
        for j in range(5)
        for i in range(int(w * 0.86 / 0.0185))
    ]
    pad = shifted(box(0.1, 0.062, 0.0006), 0, -d * 0.32, 0.014)
    shine = (
        SCREEN
        if draws.chance("off", 0.25)
        else printed_labels.screen(printed_labels.pick_variety(draws))
    )
    return Thing.of(
        Part(joined([base, shifted(lid, *hinge)]), case),
        Part(shifted(pane, *hinge), shine),
        Part(joined(rows), paint((28, 28, 30), 0.6)),
        Part(pad, paint((120, 121, 124), 0.4)),
    )


def keyboard(draws: Draws) -> Thing:
    """A keyboard and a mouse."""
    base = box(0.43, 0.13, 0.012, bevel=0.004)
    keys = [
        shifted(
            box(0.0165, 0.0165, 0.005, bevel=0.0015),
            -0.2 + 0.0195 * i + 0.005 * (j % 3),
            -0.045 + 0.0205 * j,
            0.011,
        )
        for j in range(5)
        for i in range(21)
    ]
    mouse = shifted(scaled(ball(0.5, around=24), 0.062, 0.105, 0.07), 0.32, -0.01, 0.002)
    dark = draws.chance("dark", 0.6)
    case = paint((44, 44, 47) if dark else (226, 225, 221), 0.5)
    return Thing.of(
        Part(base, case),
        Part(joined(keys), BLACK if dark else paint((240, 239, 235), 0.5)),
        Part(_above(mouse), case),
    )


def _above(mesh: Mesh) -> Mesh:
    at = mesh.vertices.copy()
    at[:, 2] = np.maximum(at[:, 2], 0)
    return mesh._replace(vertices=at)


def cable(draws: Draws) -> Thing:
    """A cable in loops, its plug at the end."""
    points = [(0.0, 0.0)]
    angle = draws("start", 0, 6)
    for k in range(9):
        angle += draws(f"bend{k}", -1.1, 1.5)
        points.append(
            (points[-1][0] + 0.055 * math.cos(angle), points[-1][1] + 0.055 * math.sin(angle))
        )
    path = [(x, y, 0.003 + 0.004 * (k % 2)) for k, (x, y) in enumerate(points)]
    plug = shifted(box(0.022, 0.012, 0.008, bevel=0.002), *path[-1][:2])
    return Thing.of(
        Part(tube(smooth_path(path, 6), 0.0025, around=8), draws.pick("c", (BLACK, WHITE))),
        Part(plug, WHITE),
    )


def phone(draws: Draws) -> Thing:
    """A phone face up, locked or dark."""
    case = paint(tint(draws, "case", level=(0.2, 0.8)), 0.3)
    shine = (
        SCREEN
        if draws.chance("off", 0.25)
        else printed_labels.lock_screen(printed_labels.pick_variety(draws))
    )
    pane = shifted(box(0.068, 0.145, 0.0006), z=0.0079)
    return Thing.of(Part(box(0.072, 0.15, 0.008, bevel=0.0025), case), Part(pane, shine))


def tape(draws: Draws) -> Thing:
    """A roll of tape."""
    r, h = draws("r", 0.03, 0.055), draws("h", 0.018, 0.048)
    roll = lathe([(r * 0.65, 0), (r, 0), (r, h), (r * 0.65, h), (r * 0.65, 0)], around=40)
    return Thing.of(Part(roll, paint(tint(draws, "c", level=(0.35, 0.9)), 0.3)))


def notes(draws: Draws) -> Thing:
    """Sticky notes on a wall."""
    parts = []
    for k in range(draws.count("many", 2, 6)):
        pose = turned((0, 1, 0), draws(f"turn{k}", -9, 9))
        note = shifted(posed(posed(box(0.076, 0.076, 0.0008), turned((1, 0, 0), 84)), pose),
            draws(f"x{k}", -0.16, 0.16), -0.008, draws(f"z{k}", 0.02, 0.3))  # fmt: skip
        parts.append(
            Part(note, printed_labels.note(draws.count(f"c{k}", 0, 2 * printed_labels.VARIETY - 1)))
        )
    return Thing.of(*parts)


def monitor(draws: Draws) -> Thing:
    """A screen on its foot."""
    w = draws("w", 0.5, 0.66)
    h = w * 0.56
    back = shifted(box(w, 0.022, h, bevel=0.006), 0, 0, 0.12)
    pane = shifted(box(w - 0.016, 0.002, h - 0.02), 0, -0.0115, 0.13)
    foot = [box(0.22, 0.18, 0.01, bevel=0.003), shifted(box(0.06, 0.02, 0.2), 0, 0.02)]
    return Thing.of(
        Part(joined([back, *foot]), draws.pick("c", (BLACK, STEEL))),
        Part(pane, printed_labels.screen(printed_labels.pick_variety(draws))),
    )
