"""House fronts with real window niches, garden walls, and what is screwed to them."""

from __future__ import annotations

from simulator.studio.places.furnishing.growth import ivy
from simulator.studio.places.paint import IRON, STEEL, WHITE, paint, seed, tint
from simulator.studio.solid.forms import Material, Mesh, Part, Thing, turned
from simulator.studio.solid.meshes import box, joined, lathe, posed, shifted, tube
from simulator.studio.solid.surfaces import Surface, bricks, concrete, laid, plaster, slabs, tiles
from simulator.world.pictures.traits import Draws

PANE = Material((34, 40, 48), rough=0.06, coat=0.5)


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
    """A front with real window niches, a door, cornice and roof; its face at y = 0, base z = 0."""
    storey, bays = draws("storey", 2.9, 3.5), max(1, round(width / draws("bay", 1.9, 2.8)))
    step = width / bays
    ww, wh = step * draws("ww", 0.4, 0.55), storey * draws("wh", 0.45, 0.58)
    deep, entrance = 0.35, draws.count("door", 0, bays - 1)
    wall: list[Mesh] = []
    trim: list[Mesh] = []
    glass: list[Mesh] = []
    shutters: list[Mesh] = []
    doors: list[Mesh] = []
    style = draws.count("style", 0, 2) if fine else 0
    for f in range(floors):
        z = f * storey
        low, high = z + 0.9, z + 0.9 + wh
        for b in range(bays):
            x = -width / 2 + (b + 0.5) * step
            base = z if f == 0 and b == entrance else low
            wall.append(shifted(box(step - ww, deep, storey), x - step / 2, deep / 2, z))
            if base > z:
                wall.append(shifted(box(ww, deep, base - z), x, deep / 2, z))
            wall.append(shifted(box(ww, deep, z + storey - high), x, deep / 2, high))
            if base == z and f == 0:
                doors.append(shifted(box(ww, 0.05, high - z), x, 0.2, z))
                doors.append(shifted(box(ww * 0.7, 0.03, 0.6, bevel=0.01), x, 0.17, z + 0.2))
                continue
            glass.append(shifted(box(ww, 0.01, wh), x, 0.2, low))
            trim += (
                _frame(x, low, ww, wh, style)
                if fine
                else [shifted(box(0.06, 0.05, wh), x, 0.18, low)]
            )
            trim.append(shifted(box(ww + 0.16, 0.16, 0.06), x, -0.03, low - 0.06))
            if style == 1 and f > 0:
                shutters += [
                    shifted(box(ww / 2, 0.05, wh), x + s * ww * 0.77, -0.03, low) for s in (-1, 1)
                ]
        wall.append(shifted(box(step - ww, deep, storey), width / 2, deep / 2, z))
    top = floors * storey
    trim.append(shifted(box(width + 0.1, 0.5, 0.22), 0, 0.05, top))
    if draws.chance("band"):
        trim.append(shifted(box(width, 0.1, 0.12), 0, -0.02, storey - 0.06))
    pipe = tube([(-width / 2 + 0.15, -0.07, 0), (-width / 2 + 0.15, -0.07, top)], 0.05, around=8)
    roof = posed(box(width + 0.2, 4.0, 0.12), turned((1, 0, 0), draws("pitch", 28, 42)))
    roof = shifted(roof, 0, 1.5, top + 1.0)
    white = (
        WHITE
        if draws.chance("white", 0.6)
        else paint(tint(draws, "trim", level=(0.3, 0.85), chroma=(0, 0.04)), 0.5)
    )
    parts = [
        laid(joined(wall), house_wall(draws)), Part(joined(trim), white), Part(joined(glass), PANE),
        Part(pipe, STEEL),
        laid(roof, _roof_tiles(draws)),
    ]  # fmt: skip
    if doors:
        parts.append(
            Part(
                joined(doors),
                paint(tint(draws, "leaf", level=(0.25, 0.5), chroma=(0.02, 0.1)), 0.4),
            )
        )
    if shutters:
        parts.append(
            Part(
                joined(shutters),
                paint(tint(draws, "shut", level=(0.3, 0.6), chroma=(0.02, 0.09)), 0.6),
            )
        )
    return Thing(tuple(parts))


def _roof_tiles(draws: Draws) -> Surface:
    colour = tint(draws, "roof", level=(0.35, 0.55), chroma=(0.02, 0.09), hue=(25, 60))
    return tiles(
        colour, 0, tile=(0.2, 0.3), bond=0.5, joint=0.02, grout=(60, 44, 40), spread=0.12, rough=0.8
    )  # fmt: skip


def _frame(x: float, z: float, w: float, h: float, style: int) -> list[Mesh]:
    b = 0.07
    bars = [shifted(box(b, 0.08, h), x + s * (w - b) / 2, 0.16, z) for s in (-1, 1)]
    bars += [shifted(box(w, 0.08, b), x, 0.16, q) for q in (z, z + h - b)]
    bars.append(shifted(box(b * 0.8, 0.07, h), x, 0.16, z))
    if style:
        bars.append(shifted(box(w, 0.07, b * 0.7), x, 0.16, z + h * 0.66))
    return bars


def garden_wall(draws: Draws, width: float, height: float) -> Thing:
    """A wall of brick or plaster with coping."""
    body = laid(shifted(box(width, 0.25, height), 0, 0.125), house_wall(draws))
    cap = laid(
        shifted(box(width + 0.06, 0.33, 0.07, bevel=0.012), 0, 0.125, height),
        concrete((168, 162, 152), 0),
    )
    return Thing((body, cap))


def letterbox(draws: Draws) -> Thing:
    """A metal box on a wall."""
    w, h = draws("w", 0.24, 0.36), draws("h", 0.3, 0.4)
    body = shifted(box(w, 0.11, h, bevel=0.008), 0, -0.055)
    flap = shifted(box(w * 0.8, 0.012, 0.04, bevel=0.003), 0, -0.115, h - 0.07)
    m = paint(tint(draws, "c", level=(0.25, 0.8), chroma=(0, 0.12)), 0.35)
    return Thing((Part(body, m), Part(flap, STEEL)))


def vent(draws: Draws) -> Thing:
    """A grille with slats."""
    w = draws("w", 0.16, 0.3)
    rim = shifted(box(w, 0.012, w, bevel=0.003), 0, -0.006)
    slats = [
        shifted(
            posed(box(w * 0.84, 0.014, 0.003), turned((1, 0, 0), 35)),
            0,
            -0.016,
            w * (0.1 + 0.1 * k),
        )
        for k in range(9)
    ]
    return Thing((Part(rim, STEEL), Part(joined(slats), draws.pick("m", (STEEL, IRON)))))


def pipe(draws: Draws) -> Thing:
    """A rain pipe with its clips, from the ground to the eaves."""
    tubes = [tube([(0, -0.07, -1.2), (0, -0.07, 4.5)], 0.045, around=12)]
    tubes += [
        shifted(lathe([(0.052, 0), (0.052, 0.04)], around=16), 0, -0.07, z)
        for z in (-0.6, 0.5, 1.6)
    ]
    return Thing((Part(joined(tubes, smooth=True), draws.pick("m", (STEEL, IRON, WHITE))),))


ON_WALLS = (letterbox, vent, pipe, ivy, vent)
