"""House fronts with real window niches, garden walls, and what is screwed to them."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.studio.places.furnishing.vegetation import ivy
from simulator.studio.places.place_materials import (
    BRASS,
    CLAY,
    CREAM,
    IRON,
    STEEL,
    WHITE,
    paint,
    seed,
    tint,
)
from simulator.studio.places.place_stage import own
from simulator.studio.solid.meshes import ball, box, joined, lathe, posed, sheet, shifted, tube
from simulator.studio.solid.prints import BOLD, Sheet, showing, side_by_side
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import (
    Surface,
    bricks,
    concrete,
    granite,
    laid,
    plaster,
    slabs,
    tiles,
)
from simulator.studio.things.shared_shapes import DARK_GLASS, Tray
from simulator.world.pictures.traits import Draws, brighten

STONE = Material((150, 146, 138), rough=0.85, grain="stone")
LEAF = Material((62, 96, 48), rough=0.8, grain="leaf")
BLOOM = tuple(paint(c, 0.7) for c in ((196, 50, 60), (226, 130, 160), (236, 200, 90)))


def house_wall(draws: Draws) -> Surface:
    """Plaster in a town's colours, brick, or stone."""
    s = seed(draws, "wall")
    kind = draws.pick("kind", ("plaster", "plaster", "brick", "stone"))
    if kind == "brick":
        return bricks(tint(draws, "c", level=(0.42, 0.62), chroma=(0.04, 0.1), hue=(28, 60)), s)
    if kind == "stone":
        return slabs(
            tint(draws, "c", level=(0.6, 0.8), chroma=(0.005, 0.03), hue=(60, 90)),
            s,
            slab=(0.6, 0.3),
        )
    hue = draws.pick("hue", (85, 75, 60, 40, 95, 130, 240))
    return plaster(
        tint(draws, "c", level=(0.62, 0.93), chroma=(0.01, 0.07), hue=(hue - 8, hue + 8)), s
    )


def house(draws: Draws, width: float, floors: int, *, fine: bool = True) -> Thing:
    """A front with real window niches, a door, cornice and roof; its face at y = 0, base z = 0.
    Of one that is not `fine` nothing hangs before the windows: there are many of those."""
    storey, bays = draws("storey", 2.9, 3.5), max(1, round(width / draws("bay", 1.9, 2.8)))
    step = width / bays
    ww, wh = step * draws("ww", 0.4, 0.55), storey * draws("wh", 0.45, 0.58)
    style, entrance = draws.count("style", 0, 3) if fine else 4, draws.count("door", 0, bays - 1)
    tray, wall, glass = Tray(), list[Mesh](), list[Mesh]()
    white = (
        WHITE
        if draws.chance("white", 0.6)
        else paint(tint(draws, "trim", level=(0.3, 0.85), chroma=(0, 0.04)), 0.5)
    )
    leaf = paint(tint(draws, "leaf", level=(0.25, 0.5), chroma=(0.02, 0.1)), 0.4)
    shutter = paint(tint(draws, "shut", level=(0.3, 0.6), chroma=(0.02, 0.09)), 0.6)
    for f in range(floors):
        z = f * storey
        low, high = z + 0.9, z + 0.9 + wh
        for b in range(bays):
            x = -width / 2 + (b + 0.5) * step
            is_door = f == 0 and b == entrance
            base = z if is_door else low
            wall.append(shifted(box(step - ww, 0.35, storey), x - step / 2, 0.175, z))
            wall.append(shifted(box(ww, 0.35, z + storey - high), x, 0.175, high))
            tray.add(white, shifted(box(ww + 0.2, 0.05, 0.14), x, -0.01, high))
            if is_door:
                _entrance(tray, draws, x, ww, high, (leaf, white))
                continue
            wall.append(shifted(box(ww, 0.35, base - z), x, 0.175, z))
            glass.append(
                showing(
                    shifted(sheet(ww, wh), x, 0.2, low),
                    draws.count(f"pane{f}.{b}", 0, 23),
                    *WINDOWS,
                )
            )
            tray.add(white, *_frame(x, low, ww, wh, style))
            tray.add(white, shifted(box(ww + 0.16, 0.2, 0.06), x, -0.03, low - 0.06))
            if fine:
                _outside(tray, own(draws, f"{f}.{b}"), (x, low, ww, wh), style if f else 0, shutter)
        wall.append(shifted(box(step - ww, 0.35, storey), width / 2, 0.175, z))
    top = floors * storey
    tray.add(white, shifted(box(width + 0.1, 0.5, 0.22, bevel=0.04), 0, 0.05, top))
    tray.add(white, shifted(box(width + 0.06, 0.4, 0.1, bevel=0.03), 0, 0.08, top - 0.12))
    if draws.chance("band"):
        tray.add(white, shifted(box(width, 0.1, 0.12, bevel=0.02), 0, -0.02, storey - 0.06))
    pipe = -width / 2 + 0.15
    tray.add(
        STEEL,
        tube([(pipe, -0.07, 0), (pipe, -0.07, top)], 0.05, around=8),
        *(shifted(box(0.16, 0.1, 0.03), pipe, -0.05, q) for q in np.arange(1.0, top, 1.8)),
        tube([(-width / 2, -0.22, top + 0.2), (width / 2, -0.22, top + 0.2)], 0.07, around=8),
    )
    pitch = draws("pitch", 28, 42)
    roof = posed(box(width + 0.2, 4.0, 0.12), turned((1, 0, 0), pitch))
    parts = [
        laid(joined(wall), house_wall(draws)),
        laid(shifted(roof, 0, 1.5, top + 1.0), _roof_tiles(draws)),
        Part(joined(glass), windows(draws.count("rooms", 0, 2))),
    ]
    rise = math.tan(math.radians(pitch))
    for k in range(draws.count("chimneys", 0, 2)):
        x, y = width * (draws(f"chimney{k}") - 0.5) * 0.8, draws(f"deep{k}", 1.6, 3.0)
        stack = shifted(box(0.7, 0.5, 1.5, bevel=0.03), x, y, top + y * rise - 0.5)
        parts.append(laid(stack, bricks((142, 88, 66), 0)))
        tray.add(
            CLAY,
            *(
                shifted(lathe([(0.1, 0), (0.12, 0.35)], around=10), x + q, y, top + y * rise + 1.0)
                for q in (-0.18, 0.18)
            ),
        )
    if draws.chance("aerial", 0.4):
        x, foot = width * draws("aerial-x", -0.3, 0.3), top + 1.6 * rise
        arms = [
            tube([(x - 0.5, 1.6, foot + q), (x + 0.5, 1.6, foot + q)], 0.012, around=5)
            for q in (1.6, 1.75, 1.9)
        ]
        tray.add(IRON, tube([(x, 1.6, foot - 0.3), (x, 1.6, foot + 2.0)], 0.02, around=6), *arms)
    if draws.chance("base", 0.7):
        stone = shifted(box(width, 0.05, draws("plinth", 0.3, 0.6)), 0, -0.01)
        parts.append(laid(stone, granite((140, 136, 130), 0)))
    return Thing.of(*parts, *tray.parts())


WINDOWS = (6, 4)
"""Rooms behind windows on one sheet, across and down."""


@lru_cache(maxsize=3)
def windows(key: int) -> Material:
    """Rooms as one sees them by day through panes: dim, now and then lit, curtained, planted."""
    cells = [_behind(Draws("window", key, k)) for k in range(WINDOWS[0] * WINDOWS[1])]
    return Material(sheet=side_by_side(cells, WINDOWS[0]), rough=0.05, coat=0.6)


def _behind(draws: Draws) -> Array:
    page = Sheet(1.0, 1.5, (30, 32, 36), side=192)
    lit = draws.chance("lit", 0.16)
    room = tint(
        draws, "room", level=(0.62, 0.76) if lit else (0.2, 0.36), chroma=(0.01, 0.05), hue=(40, 90)
    )
    page.fade(brighten(room, 0.8), brighten(room, 0.45))
    page.box((0, 0, 1, 0.16), brighten(room, 1.25))
    for k in range(draws.count("things", 0, 3)):
        x, y = draws(f"x{k}", 0.1, 0.7), draws(f"y{k}", 0.25, 0.6)
        tall = draws(f"t{k}", 0.1, 0.5)
        page.box(
            (x, y, x + draws(f"w{k}", 0.1, 0.35), y + tall),
            brighten(tint(draws, f"c{k}", level=(0.2, 0.5)), 1.4 if lit else 0.7),
        )
    if lit:
        page.disc(draws("lx", 0.3, 0.7), 0.2, 0.09, (255, 240, 205))
    dress = draws.pick("dress", ("curtains", "curtains", "net", "blind", "plants", "bare"))
    cloth = tint(draws, "cloth", level=(0.5, 0.85), chroma=(0.005, 0.05))
    u = np.linspace(0, 1, 96)[None]
    folds = 0.75 + 0.25 * np.sin(u * draws("folds", 50, 80))
    if dress in ("curtains", "net"):
        wide = draws("wide", 0.14, 0.34)
        cover = np.where(dress == "net", 0.62, (u < wide) | (u > 1 - draws("other", 0.14, 0.34)))
        page.blend(np.repeat(cover * folds, 2, 0), brighten(cloth, 0.8))
    elif dress == "blind":
        low = draws("drawn", 0.2, 0.9)
        page.box((0, 0, 1, low), brighten(cloth, 0.85))
        page.box((0, low - 0.015, 1, low), brighten(cloth, 0.6))
    elif dress == "plants":
        for k in range(14):
            page.disc(draws(f"px{k}", 0.1, 0.9), draws(f"py{k}", 0.72, 0.95), draws(f"r{k}", 0.03,
                0.09), tint(draws, f"leaf{k}", level=(0.25, 0.45), chroma=(0.04, 0.09),
                hue=(110, 140)))  # fmt: skip
    v = np.linspace(1, 0, 96)[:, None]
    slant = np.clip(1 - np.abs(u + 0.7 * v - draws("glare", 0.2, 1.6)) * 5, 0, 1)
    page.blend(0.32 * v**1.5 + 0.22 * slant, (196, 208, 224))
    return page.rgb


def _entrance(
    tray: Tray, draws: Draws, x: float, wide: float, high: float, colours: tuple[Material, Material]
) -> None:
    """A panelled door under a fanlight, a step, a bell, a lamp and the house's number."""
    leaf, trim = colours
    door = high - 0.45
    tray.add(leaf, shifted(box(wide, 0.05, door), x, 0.2))
    tray.add(
        leaf,
        *(
            shifted(box(wide * 0.32, 0.03, h, bevel=0.012), x + s * wide * 0.21, 0.17, z)
            for s in (-1, 1)
            for z, h in ((0.2, 0.6), (0.95, door - 1.15))
        ),
    )
    tray.add(trim, shifted(box(wide, 0.08, 0.08), x, 0.17, door))
    tray.add(DARK_GLASS, shifted(sheet(wide, 0.37), x, 0.19, door + 0.08))
    tray.add(BRASS, shifted(ball(0.035, around=10), x + wide * 0.4, 0.14, 1.05))
    tray.add(STONE, shifted(box(wide + 0.3, 0.45, 0.13, bevel=0.015), x, -0.1))
    plate = Sheet(0.2, 0.16, (44, 60, 110), side=96)
    number = str(draws.count("number", 1, 98))
    plate.text(number, (0.12, 0.16, 0.88, 0.84), (240, 240, 236), BOLD)
    tray.add(
        Material(sheet=plate.rgb, rough=0.3, coat=0.4),
        shifted(sheet(0.2, 0.16), x + wide / 2 + 0.22, -0.012, 1.75),
    )
    tray.add(STEEL, shifted(box(0.1, 0.02, 0.2, bevel=0.004), x + wide / 2 + 0.22, -0.01, 1.3))
    if draws.chance("lantern"):
        tray.add(IRON, shifted(box(0.12, 0.14, 0.24, bevel=0.02), x - wide / 2 - 0.22, -0.08, 2.0))


def _outside(tray: Tray, draws: Draws, window: tuple[float, float, float, float], style: int,
    shutter: Material) -> None:  # fmt: skip
    """What hangs before a window: shutters, open or not, flowers, a rail, washing, a cooler."""
    x, low, ww, wh = window
    if style == 1:
        shut = draws.chance("shut", 0.2)
        for s in (-1, 1):
            at = (x + s * ww * (0.25 if shut else 0.77), 0.1 if shut else -0.03, low)
            tray.add(shutter, shifted(box(ww / 2, 0.04, wh), *at))
            tray.add(
                shutter,
                *(
                    shifted(box(ww * 0.4, 0.02, 0.2), at[0], at[1] - 0.025, low + q)
                    for q in np.arange(0.15, wh - 0.1, 0.3)
                ),
            )
    if style == 2 and draws.chance("rail", 0.6):
        rails = [shifted(box(ww + 0.1, 0.03, 0.03), x, -0.06, low + q) for q in (0.05, 0.5)]
        bars = [
            shifted(box(0.016, 0.016, 0.45), x + q, -0.06, low + 0.05)
            for q in np.arange(-ww / 2, ww / 2, 0.1)
        ]
        tray.add(IRON, *rails, *bars)
    if draws.chance("flowers", 0.16):
        tray.add(CLAY, shifted(box(ww * 0.8, 0.2, 0.18, bevel=0.02), x, -0.12, low))
        for k in range(9):
            spot = (x + ww * draws(f"fx{k}", -0.38, 0.38), draws(f"fy{k}", -0.24, -0.04))
            lump = ball(draws(f"fr{k}", 0.04, 0.09), around=6)
            tray.add(
                LEAF if k % 3 else BLOOM[draws.count(f"bloom{k}", 0, 2)],
                shifted(lump, *spot, low + draws(f"fz{k}", 0.16, 0.3)),
            )
    elif draws.chance("cooler", 0.06):
        tray.add(CREAM, shifted(box(0.7, 0.3, 0.5, bevel=0.03), x, -0.16, low - 0.7))


def _roof_tiles(draws: Draws) -> Surface:
    colour = tint(draws, "roof", level=(0.35, 0.55), chroma=(0.02, 0.09), hue=(25, 60))
    return tiles(
        colour, 0, tile=(0.2, 0.3), bond=0.5, joint=0.02, grout=(60, 44, 40), spread=0.12, rough=0.8
    )


def _frame(x: float, z: float, w: float, h: float, style: int) -> list[Mesh]:
    b = 0.07
    bars = [shifted(box(b, 0.08, h), x + s * (w - b) / 2, 0.16, z) for s in (-1, 1)]
    bars += [shifted(box(w, 0.08, b), x, 0.16, q) for q in (z, z + h - b)]
    bars.append(shifted(box(b * 0.8, 0.07, h), x, 0.16, z))
    if style == 4:  # far off
        return bars[4:]
    if style % 2 == 0:
        bars.append(shifted(box(w, 0.07, b * 0.7), x, 0.16, z + h * 0.66))
    return bars


def garden_wall(draws: Draws, width: float, height: float) -> Thing:
    """A wall of brick or plaster with coping."""
    body = laid(shifted(box(width, 0.25, height), 0, 0.125), house_wall(draws))
    cap = laid(shifted(box(width + 0.06, 0.33, 0.07, bevel=0.012), 0, 0.125, height),
        concrete((168, 162, 152), 0))  # fmt: skip
    return Thing.of(body, cap)


def letterbox(draws: Draws) -> Thing:
    """A metal box on a wall."""
    w, h = draws("w", 0.24, 0.36), draws("h", 0.3, 0.4)
    body = shifted(box(w, 0.11, h, bevel=0.008), 0, -0.055)
    flap = shifted(box(w * 0.8, 0.012, 0.04, bevel=0.003), 0, -0.115, h - 0.07)
    m = paint(tint(draws, "c", level=(0.25, 0.8), chroma=(0, 0.12)), 0.35)
    return Thing.of(Part(body, m), Part(flap, STEEL))


def vent(draws: Draws) -> Thing:
    """A grille with slats."""
    w = draws("w", 0.16, 0.3)
    rim = shifted(box(w, 0.012, w, bevel=0.003), 0, -0.006)
    slats = [shifted(posed(box(w * 0.84, 0.014, 0.003), turned((1, 0, 0), 35)), 0, -0.016,
        w * (0.1 + 0.1 * k)) for k in range(9)]  # fmt: skip
    return Thing.of(Part(rim, STEEL), Part(joined(slats), draws.pick("m", (STEEL, IRON))))


def pipe(draws: Draws) -> Thing:
    """A rain pipe with its clips, from the ground to the eaves."""
    tubes = [tube([(0, -0.07, -1.2), (0, -0.07, 4.5)], 0.045, around=12)]
    tubes += [shifted(lathe([(0.052, 0), (0.052, 0.04)], around=16), 0, -0.07, z) for z in (-0.6,
        0.5, 1.6)]  # fmt: skip
    return Thing.of(Part(joined(tubes, smooth=True), draws.pick("m", (STEEL, IRON, WHITE))))


ON_WALLS = (letterbox, vent, pipe, ivy, vent)
