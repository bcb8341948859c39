"""What stands along walls and hangs on them: cupboards, shelves, racks, boards, exhibits."""

from __future__ import annotations

import numpy as np

from simulator.studio.places import room
from simulator.studio.places.furnishing import (
    clutter,
    furniture,
    gear,
    printed,
    stationery,
    tabletop,
)
from simulator.studio.places.furnishing.furniture import (
    cabinets,
    chair,
    shelf_unit,
    table,
    top_surface,
)
from simulator.studio.places.paint import (
    BRASS,
    IRON,
    PAPER,
    STEEL,
    WHITE,
    paint,
    seed,
    timber,
    tint,
)
from simulator.studio.places.stage import Maker, own
from simulator.studio.solid.forms import Part, Thing
from simulator.studio.solid.meshes import (
    box,
    joined,
    lathe,
    scaled,
    sheet,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.surfaces import laid, wood
from simulator.world.pictures.traits import Draws


def sideboard(draws: Draws) -> Thing:
    """A low cupboard with things on it."""
    w, h = draws("w", 1.0, 1.6), draws("h", 0.6, 0.8)
    body = cabinets(draws, w, 0.42, h)
    top = laid(
        shifted(box(w + 0.03, 0.44, 0.025, bevel=0.004), z=h),
        top_surface(draws, ("veneer", "veneer", "marble")),
    )
    return Thing.of(
        *body.parts,
        top,
        *_set_out(
            draws, (clutter.vase, clutter.candle, stationery.notebook, tabletop.bowl), w, h + 0.025
        ),
    )


def bookcase(draws: Draws) -> Thing:
    """Shelves with binders, boxes and bowls."""
    levels = (0.08, 0.44, 0.8, 1.16, 1.52)
    w = draws("w", 0.8, 1.1)
    case = shelf_unit(draws, w, 0.32, levels, 1.9)
    inside = [
        p
        for n, z in enumerate(levels)
        for p in _set_out(
            own(draws, f"{n}"),
            (clutter.folders, clutter.storage, stationery.notebook, tabletop.bowl, clutter.folders),
            w - 0.1,
            z,
        )
    ]
    return Thing.of(*case.parts, *inside)


def _set_out(draws: Draws, makers: tuple[Maker, ...], width: float, z: float) -> list[Part]:
    """Pieces in a row on something, in the order they come."""
    parts: list[Part] = []
    x = -width / 2 + draws("start", 0, 0.1)
    for k in range(6):
        thing = draws.pick(f"which{k}", makers)(own(draws, f"piece{k}"))
        low, high = thing.bounds
        if x + float(high[0] - low[0]) > width / 2:
            break
        if float(high[1] - low[1]) < 0.34:
            parts += [
                Part(
                    shifted(p.mesh, x - float(low[0]), -float(low[1] + high[1]) / 2, z), p.material
                )
                for p in thing.parts
            ]
        x += float(high[0] - low[0]) + draws(f"gap{k}", 0.02, 0.25)
    return parts


def radiator(draws: Draws) -> Thing:
    """A panel radiator below a window."""
    w = draws("w", 0.7, 1.3)
    ribs = [
        shifted(box(0.05, 0.03, 0.5, bevel=0.012), -w / 2 + 0.06 * k, -0.04, 0.12)
        for k in range(int(w / 0.06))
    ]
    return Thing.of(
        Part(joined([shifted(box(w, 0.03, 0.5, bevel=0.01), 0, -0.01, 0.12), *ribs]), WHITE)
    )


def wall_bars(draws: Draws) -> Thing:
    """A gym's climbing bars."""
    surface = wood(timber(draws, "bars"), seed(draws, "bars"), gloss=0.4)
    posts = [shifted(box(0.04, 0.1, 2.5, bevel=0.004), x, -0.05) for x in (-0.9, 0.0, 0.9)]
    bars = [
        shifted(box(1.84, 0.028, 0.04, bevel=0.01), 0, -0.075, 0.15 + 0.17 * k) for k in range(14)
    ]
    return Thing.of(laid(joined([*posts, *bars]), surface))


def rack(draws: Draws) -> Thing:
    """A steel rack with dumbbells and weights in rows."""
    w = 1.5
    frame = [shifted(box(0.06, 0.5, 0.9), s * w / 2) for s in (-1, 1)] + [
        shifted(box(w, 0.36, 0.03), 0, 0, z) for z in (0.3, 0.7)
    ]
    parts = [Part(joined(frame), IRON)]
    for n, z in enumerate((0.33, 0.73)):
        for k in range(4):
            pair = gear.dumbbell(own(draws, f"{n}{k // 2}"))
            parts += [Part(shifted(p.mesh, -0.55 + 0.37 * k, 0, z), p.material) for p in pair.parts]
    return Thing.of(*parts)


def blackboard(draws: Draws) -> Thing:
    """A board, black, green or white, in a frame, with a ledge; half wiped."""
    w = draws("w", 1.8, 2.8)
    pane = shifted(sheet(w, 1.1), 0, -0.02)
    rim = [shifted(box(w + 0.06, 0.035, 0.03, bevel=0.004), 0, -0.017, z) for z in (-0.03, 1.1)]
    rim += [
        shifted(box(0.03, 0.035, 1.1, bevel=0.004), s * (w / 2 + 0.015), -0.017) for s in (-1, 1)
    ]
    ledge = shifted(box(w, 0.08, 0.015), 0, -0.05, -0.02)
    return Thing.of(
        Part(pane, printed.board(printed.which(draws))),
        Part(joined([*rim, ledge]), draws.pick("f", (STEEL, paint((186, 146, 96), 0.5)))),
    )


def school_desk(draws: Draws) -> Thing:
    """A pupil's table with its chair."""
    desk = table(draws, 0.7, 0.5, 0.72, top_surface(draws, ("veneer",)))
    seat = chair(draws)
    return Thing.of(*desk.parts, *(Part(shifted(p.mesh, 0, 0.45), p.material) for p in seat.parts))


def ropes(draws: Draws) -> Thing:
    """Two posts with a sagging rope."""
    posts = [lathe([(0.15, 0), (0.15, 0.02), (0.02, 0.04), (0.02, 0.92), (0.035, 0.95),
        (0.02, 0.99), (1e-4, 1.0)], around=32)]  # fmt: skip
    both = joined([shifted(posts[0], s * 0.75) for s in (-1, 1)], smooth=True)
    x = np.linspace(-0.75, 0.75, 24)
    rope = tube(np.stack([x, 0 * x, 0.6 + 0.3 * (x / 0.75) ** 2], -1), 0.018, around=10)
    return Thing.of(
        Part(both, draws.pick("m", (BRASS, STEEL))),
        Part(rope, paint(draws.pick("c", ((130, 26, 36), (30, 36, 70), (40, 40, 42))), 0.95)),
    )


def exhibit(draws: Draws) -> Thing:
    """A block with an urn or a smooth shape on it."""
    h = draws("h", 0.8, 1.1)
    block = furniture.plinth(draws, 0.45, 0.45, h)
    if draws.chance("urn"):
        top = lathe(
            smooth_path([(0.06, 0), (0.15, 0.18), (0.14, 0.3), (0.06, 0.4), (0.08, 0.45)], 6)
        )
    else:
        top = lathe(smooth_path([(0.1, 0), (0.05, 0.12), (0.15, 0.3), (0.02, 0.52)], 6))
        top = scaled(top, 1, 0.6, 1)
    return Thing.of(
        *block.parts,
        Part(
            shifted(top, z=h),
            paint(tint(draws, "urn", level=(0.35, 0.8), chroma=(0.01, 0.08), hue=(30, 90)), 0.5),
        ),
    )


def big_frame(draws: Draws) -> Thing:
    """A painting of a gallery's size."""
    small = room.frame(draws)
    s = draws("scale", 1.6, 2.4)
    return Thing.of(*(Part(scaled(p.mesh, s, 1.6, s), p.material) for p in small.parts))


def plaque(draws: Draws) -> Thing:
    """A small card on the wall."""
    card = shifted(box(0.15, 0.006, 0.1, bevel=0.001), 0, -0.003)
    face = shifted(sheet(0.148, 0.098), 0, -0.0062, 0.001)
    return Thing.of(Part(card, PAPER), Part(face, printed.caption(printed.which(draws))))
