"""Furniture, and what stands along walls and hangs on them. What stands does so on z = 0."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.places import room
from simulator.studio.places.furnishing import clutter, printed_labels, tabletop, workshop_and_gym
from simulator.studio.places.place_materials import (
    BLACK,
    BRASS,
    CHROME,
    IRON,
    PAPER,
    STEEL,
    WHITE,
    paint,
    seed,
    timber,
    tint,
)
from simulator.studio.places.place_stage import Maker, own
from simulator.studio.solid.meshes import (
    box,
    joined,
    lathe,
    posed,
    scaled,
    sheet,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Mesh, Part, Thing, turned
from simulator.studio.solid.surfaces import Surface, cloth, granite, laid, marble, metal, wood
from simulator.world.pictures.traits import Draws


def top_surface(draws: Draws, options: tuple[str, ...]) -> Surface:
    """What a worktop or table is made of."""
    kind, s = draws.pick("top", options), seed(draws, "top")
    if kind == "granite":
        return granite(tint(draws, "top", level=(0.3, 0.72), chroma=(0, 0.02)), s)
    if kind == "marble":
        return marble(tint(draws, "top", level=(0.86, 0.93), chroma=(0, 0.012)), s)
    if kind == "steel":
        return metal((186, 188, 190), s)
    if kind == "butcher":
        return wood(timber(draws, "top"), s, board=(0.5, 0.042), gloss=draws("gloss", 0.1, 0.5))
    if kind == "planks":
        return wood(
            timber(draws, "top"),
            s,
            board=(1.2, draws.pick("board", (0.09, 0.14))),
            gloss=draws("gloss", 0, 0.3),
        )
    return wood(timber(draws, "top"), s, gloss=draws("gloss", 0.1, 0.6))


def table(draws: Draws, width: float, depth: float, height: float, top: Surface) -> Thing:
    """Four legs and an apron, of wood or steel."""
    slab = laid(shifted(box(width, depth, 0.035, bevel=0.004), z=height - 0.035), top)
    inset, leg = 0.07, draws("leg", 0.04, 0.07)
    feet = [
        shifted(
            box(leg, leg, height - 0.035, bevel=0.004),
            sx * (width / 2 - inset),
            sy * (depth / 2 - inset),
        )
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    apron = [
        shifted(box(width - 2 * inset, 0.022, 0.08), 0, s * (depth / 2 - inset), height - 0.115)
        for s in (-1, 1)
    ]
    frame = joined([*feet, *apron])
    if draws.chance("steel", 0.35):
        return Thing.of(slab, Part(frame, draws.pick("iron", (IRON, WHITE, BLACK))))
    return Thing.of(slab, laid(frame, wood(timber(draws, "legs"), seed(draws, "legs"))))


def cabinets(draws: Draws, width: float, depth: float, height: float) -> Thing:
    """Base cupboards with doors, gaps, handles and a plinth; the front at -depth / 2."""
    carcass = shifted(box(width, depth - 0.05, height - 0.1), 0, 0.01, 0.1)
    plinth = shifted(box(width, depth - 0.1, 0.1), 0, 0.04)
    n = max(2, round(width / draws("door", 0.42, 0.6)))
    w = width / n
    doors, handles = [], []
    drawers = draws.count("drawers", 0, n - 1)
    for k in range(n):
        x = -width / 2 + (k + 0.5) * w
        rows = ([(0.11, 0.33), (0.45, 0.2),
            (0.66, height - 0.67)] if k == drawers else [(0.11, height - 0.12)])  # fmt: skip
        for z, h in rows:
            doors.append(shifted(box(w - 0.006, 0.02, h, bevel=0.003), x, -depth / 2 + 0.025, z))
            if draws.chance("shaker", 0.5) and h > 0.3:
                doors += _rails(x, -depth / 2 + 0.013, z, w - 0.006, h)
            handles.append(_handle(draws, x, -depth / 2 + 0.012, z + h - 0.06))
    colour = tint(draws, "front", level=(0.32, 0.93), chroma=(0.005, 0.07))
    front = (
        laid(joined(doors), wood(timber(draws, "front"), seed(draws, "front"), gloss=0.2))
        if draws.chance("wooden", 0.3)
        else Part(joined(doors), paint(colour, draws.pick("sheen", (0.25, 0.5))))
    )
    return Thing.of(
        front,
        Part(carcass, paint((214, 210, 202))),
        Part(plinth, BLACK),
        Part(joined(handles, smooth=True), draws.pick("metal", (STEEL, BLACK, CHROME))),
    )


def _rails(x: float, y: float, z: float, w: float, h: float) -> list[Mesh]:
    b = 0.055
    return [
        *(shifted(box(b, 0.008, h, bevel=0.002), x + s * (w - b) / 2, y, z) for s in (-1, 1)),
        *(shifted(box(w, 0.008, b, bevel=0.002), x, y, q) for q in (z, z + h - b)),
    ]


def _handle(draws: Draws, x: float, y: float, z: float) -> Mesh:
    if draws.chance("knobs", 0.4):
        knob = lathe(
            [(0.006, 0), (0.006, 0.012), (0.014, 0.018), (0.012, 0.026), (1e-4, 0.028)], around=16
        )
        return shifted(posed(knob, turned((1, 0, 0), 90)), x, y, z)
    points = [
        (x - 0.07, y, z),
        (x - 0.07, y - 0.028, z),
        (x + 0.07, y - 0.028, z),
        (x + 0.07, y, z),
    ]
    return tube(points, 0.006, around=8)


def shelf_unit(
    draws: Draws, width: float, depth: float, levels: tuple[float, ...], tall: float
) -> Thing:
    """Boards between uprights with a back: shop or library shelving; boards' tops at `levels`."""
    boards = [shifted(box(width, depth, 0.028, bevel=0.003), 0, 0, z - 0.028) for z in levels]
    lips = [
        shifted(box(width, 0.012, 0.042, bevel=0.002), 0, -depth / 2, z - 0.036) for z in levels
    ]
    ends = [shifted(box(0.03, depth, tall), s * (width / 2 + 0.015), 0) for s in (-1, 1)]
    back = shifted(box(width, 0.02, tall), 0, depth / 2 - 0.01)
    if draws.chance("wooden", 0.45):
        surface = wood(timber(draws, "wood"), seed(draws, "wood"))
        return Thing.of(
            laid(joined([*boards, *ends, back]), surface),
            Part(joined(lips), draws.pick("lip", (WHITE, BLACK))),
        )
    colour = tint(draws, "paint", level=(0.75, 0.95), chroma=(0, 0.015))
    return Thing.of(
        Part(joined([*boards, *ends]), paint(colour, 0.4)),
        Part(back, paint(tint(draws, "back", level=(0.5, 0.9), chroma=(0, 0.03)), 0.6)),
        Part(joined(lips), paint(tint(draws, "lips", level=(0.3, 0.95), chroma=(0.0, 0.025)), 0.4)),
    )


def chair(draws: Draws) -> Thing:
    """A dining or classroom chair; its back towards +y."""
    seat = shifted(box(0.42, 0.41, 0.025, bevel=0.008), 0, 0, 0.44)
    rest = shifted(posed(box(0.4, 0.02, 0.24, bevel=0.008), turned((1, 0, 0), -8)), 0, 0.2, 0.62)
    legs = [tube([(sx * 0.19, sy * 0.19, 0), (sx * 0.17, sy * 0.17, 0.44)], 0.015,
        around=10) for sx in (-1, 1) for sy in (-1,
        1)] + [tube([(sx * 0.17, 0.17, 0.44), (sx * 0.18, 0.23, 0.86)], 0.015,
        around=10) for sx in (-1, 1)]  # fmt: skip
    if draws.chance("wooden", 0.5):
        surface = wood(timber(draws, "wood"), seed(draws, "wood"))
        return Thing.of(
            laid(joined([seat, rest]), surface), laid(joined(legs, smooth=False), surface)
        )
    colour = paint(tint(draws, "seat", level=(0.3, 0.8)), 0.45)
    return Thing.of(
        Part(joined([seat, rest]), colour),
        Part(joined(legs, smooth=True), draws.pick("l", (CHROME, BLACK))),
    )


def sofa(draws: Draws, width: float = 1.9) -> Thing:
    """A sofa with seat and back cushions."""
    surface = _fabric(draws)
    body = [shifted(box(width, 0.86, 0.3, bevel=0.03), 0, 0, 0.12),
        shifted(box(width, 0.2, 0.62, bevel=0.06), 0, 0.34, 0.16)]  # fmt: skip
    body += [
        shifted(box(0.18, 0.84, 0.46, bevel=0.06), s * (width / 2 - 0.09), 0, 0.14) for s in (-1, 1)
    ]
    n = 2 if width < 2 else 3
    inner = (width - 0.38) / n
    pads = [
        shifted(
            cushion_mesh(inner - 0.01, 0.62, 0.16), -width / 2 + 0.19 + (k + 0.5) * inner, -0.1, 0.4
        )
        for k in range(n)
    ]
    rests = [
        shifted(
            posed(cushion_mesh(inner - 0.02, 0.44, 0.18), turned((1, 0, 0), 74)),
            -width / 2 + 0.19 + (k + 0.5) * inner,
            0.16,
            0.68,
        )
        for k in range(n)
    ]
    legs = [
        shifted(lathe([(0.02, 0), (0.03, 0.13)], around=16), sx * (width / 2 - 0.1), sy * 0.36)
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return Thing.of(
        laid(joined(body), surface),
        laid(joined([*pads, *rests], smooth=True), surface),
        Part(joined(legs, smooth=True), BLACK),
    )


def _fabric(draws: Draws) -> Surface:
    colour = tint(draws, "fabric", level=(0.35, 0.8), chroma=(0.01, 0.09))
    return cloth(
        colour,
        seed(draws, "fabric"),
        second=tint(draws, "fabric2"),
        pattern=draws.pick("weave", ("plain", "plain", "herringbone")),
    )


def cushion_mesh(width: float, depth: float, thick: float) -> Mesh:
    """A stuffed pillow about z = 0, its corners thin."""
    n = 14
    u = np.linspace(-1, 1, n)
    a, b = np.meshgrid(u, u, indexing="ij")
    puff = ((1 - a**4) * (1 - b**4)) ** 0.45 * thick / 2
    pinch = 1 - 0.06 * (a**2 + b**2) * (abs(a) + abs(b)) / 2
    x, y = a * width / 2 * (1.04 - 0.04 * b**2) * pinch**0.3, b * depth / 2 * (1.04 - 0.04 * a**2)
    uv = np.stack([a, b], -1) * 0.5
    up = skin(np.stack([x, y, puff], -1), uv)
    down = skin(np.stack([-x, y, -puff], -1), uv)
    return joined([up, down], smooth=True)


def cushion(draws: Draws) -> Thing:
    """A cushion dropped on the floor."""
    s = draws("s", 0.38, 0.5)
    pillow = posed(cushion_mesh(s, s, 0.15), turned((1, 0, 0), draws("lean", 2, 14)))
    colour = tint(draws, "a", level=(0.4, 0.9), chroma=(0.02, 0.13))
    surface = cloth(
        colour,
        seed(draws, "c"),
        second=tint(draws, "b", level=(0.5, 0.95)),
        pattern=draws.pick("p", ("plain", "stripes", "check", "herringbone")),
    )
    return Thing.of(laid(shifted(pillow, 0, 0, 0.085), surface))


def plinth(draws: Draws, width: float, depth: float, height: float) -> Thing:
    """A museum's block, painted or of stone."""
    block = box(width, depth, height, bevel=0.006)
    foot = shifted(box(width - 0.04, depth - 0.04, 0.04), 0, 0)
    if draws.chance("stone", 0.3):
        return Thing.of(
            laid(
                block,
                marble(tint(draws, "stone", level=(0.7, 0.9), chroma=(0, 0.02)), seed(draws, "s")),
            )
        )
    colour = tint(draws, "paint", level=(0.25, 0.95), chroma=(0, 0.03))
    return Thing.of(
        Part(shifted(box(width, depth, height - 0.03, bevel=0.004), z=0.03), paint(colour, 0.55)),
        Part(foot, BLACK),
    )


def bench(draws: Draws, width: float = 1.6) -> Thing:
    """Slats on iron feet, with a back: parks and squares."""
    slats = [
        shifted(box(width, 0.09, 0.03, bevel=0.006), 0, -0.2 + k * 0.105, 0.43) for k in range(4)
    ]
    slats += [shifted(posed(box(width, 0.03, 0.09, bevel=0.006), turned((1, 0, 0), -12)), 0,
        0.2 + 0.03 * k, 0.52 + 0.13 * k) for k in range(3)]  # fmt: skip
    feet = [tube([(s * width * 0.4, -0.24, 0), (s * width * 0.4, -0.2, 0.42),
        (s * width * 0.4, 0.18, 0.43), (s * width * 0.4, 0.3, 0.88)], 0.022,
        around=10) for s in (-1, 1)] + [tube([(s * width * 0.4, 0.2, 0),
        (s * width * 0.4, 0.17, 0.43)], 0.022, around=10) for s in (-1, 1)]  # fmt: skip
    surface = wood(timber(draws, "slats"), seed(draws, "slats"), board=(0.8, 0.09))
    return Thing.of(laid(joined(slats), surface), Part(joined(feet, smooth=True), IRON))


def crate(draws: Draws, width: float = 0.55, depth: float = 0.37, height: float = 0.2) -> Thing:
    """A slatted box for fruit, open above."""
    n = max(2, round(height / 0.09))
    step = height / n
    sides = []
    for k in range(n):
        z = k * step + 0.006
        sides += [shifted(box(width, 0.012, step - 0.014), 0, s * depth / 2, z) for s in (-1, 1)]
        sides += [shifted(box(0.012, depth, step - 0.014), s * width / 2, 0, z) for s in (-1, 1)]
    posts = [
        shifted(box(0.03, 0.03, height), sx * (width / 2 - 0.02), sy * (depth / 2 - 0.02))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    floor = box(width, depth, 0.01)
    if draws.chance("plastic", 0.35):
        return Thing.of(
            Part(
                joined([*sides, *posts, floor]),
                paint(tint(draws, "p", level=(0.3, 0.65), chroma=(0.05, 0.14)), 0.5),
            )
        )
    return Thing.of(
        laid(joined([*sides, *posts, floor]), wood(timber(draws, "wood"), seed(draws, "wood")))
    )


def ring(radius: float, tube_radius: float, *, around: int = 24) -> Mesh:
    """A torus about z."""
    a = np.linspace(0, 2 * math.pi, around, endpoint=False)
    return tube(
        np.stack([radius * np.cos(a), radius * np.sin(a), 0 * a], -1),
        tube_radius,
        around=8,
        closed=True,
    )


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
            draws, (clutter.vase, clutter.candle, clutter.notebook, tabletop.bowl), w, h + 0.025
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
            (clutter.folders, clutter.storage, clutter.notebook, tabletop.bowl, clutter.folders),
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
            pair = workshop_and_gym.dumbbell(own(draws, f"{n}{k // 2}"))
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
        Part(pane, printed_labels.board(printed_labels.pick_variety(draws))),
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
    block = plinth(draws, 0.45, 0.45, h)
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
    return Thing.of(
        Part(card, PAPER), Part(face, printed_labels.caption(printed_labels.pick_variety(draws)))
    )
