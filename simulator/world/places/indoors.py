"""The rooms: what each is made of and what belongs there."""

from __future__ import annotations

from functools import partial

import numpy as np

from simulator.world.pictures.traits import Draws
from simulator.world.places import clutter, furniture, room, tabletop
from simulator.world.places.furniture import (
    cabinets,
    chair,
    crate,
    cushion,
    shelf_unit,
    sofa,
    table,
    top_surface,
)
from simulator.world.places.interior import Interior, furnished, line
from simulator.world.places.packs import facings
from simulator.world.places.paint import (
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
from simulator.world.places.setting import Place
from simulator.world.places.stage import Group, Stage, own
from simulator.world.solid.forms import Part, Thing, moved
from simulator.world.solid.meshes import box, joined, lathe, scaled, shifted, smooth_path, tube
from simulator.world.solid.surfaces import (
    Surface,
    bricks,
    carpet,
    concrete,
    laid,
    plaster,
    terrazzo,
    tiles,
    wood,
)

# ------------------------------------------------------------------------- floors and walls


def boards(draws: Draws) -> Surface:
    """A wooden floor."""
    size = draws.pick("board", ((1.1, 0.14), (0.6, 0.07), (1.6, 0.19)))
    return wood(
        timber(draws, "floor"), seed(draws, "floor"), board=size, gloss=draws("gloss", 0.1, 0.5)
    )


def hard_floor(draws: Draws) -> Surface:
    """Tiles, terrazzo or concrete."""
    kind, s = draws.pick("hard", ("tiles", "terrazzo", "concrete", "tiles")), seed(draws, "floor")
    colour = tint(draws, "floor", level=(0.45, 0.85), chroma=(0.003, 0.04))
    if kind == "tiles":
        side = draws.pick("side", (0.2, 0.3, 0.6))
        return tiles(colour, s, tile=(side, side), spread=0.04, rough=0.3)
    return terrazzo(colour, s) if kind == "terrazzo" else concrete(colour, s)


def any_floor(draws: Draws) -> Surface:
    """Wood or tiles."""
    return boards(draws) if draws.chance("wooden", 0.6) else hard_floor(draws)


def painted(draws: Draws) -> Surface:
    """A plastered wall, mostly light."""
    hue = draws.pick("hue", (85, 75, 95, 60, 30, 140, 235))
    light = draws.chance("light", 0.7)
    level, chroma = ((0.84, 0.95), (0.004, 0.03)) if light else ((0.45, 0.75), (0.02, 0.06))
    colour = tint(draws, "wall", level=level, chroma=chroma, hue=(hue - 8, hue + 8))
    return plaster(colour, seed(draws, "wall"))


def rough_wall(draws: Draws) -> Surface:
    """Brick, whitewashed brick or concrete."""
    kind, s = draws.pick("wall", ("brick", "white", "concrete", "plaster")), seed(draws, "wall")
    if kind == "plaster":
        return painted(draws)
    if kind == "concrete":
        return concrete(tint(draws, "wall", level=(0.6, 0.8), chroma=(0, 0.01)), s)
    white = kind == "white"
    return bricks(
        tint(
            draws,
            "wall",
            level=(0.82, 0.92) if white else (0.48, 0.62),
            chroma=(0.01, 0.02) if white else (0.05, 0.09),
            hue=(30, 50),
        ),
        s,
    )


def tiled(draws: Draws) -> Surface:
    """A kitchen's wall."""
    kind, s = (
        draws.pick("wall", ("metro", "square", "plaster", "metro", "square")),
        seed(draws, "wall"),
    )
    if kind == "plaster":
        return painted(draws)
    colour = tint(draws, "wall", level=(0.55, 0.95), chroma=(0.004, 0.07))
    size = (
        (0.2, 0.1)
        if kind == "metro"
        else draws.pick("tile", ((0.1, 0.1), (0.15, 0.15), (0.3, 0.2)))
    )
    return tiles(
        colour,
        s,
        tile=size,
        bond=0.5 if kind == "metro" else 0.0,
        spread=draws("spread", 0.01, 0.06),
    )


# ------------------------------------------------------------------------------- what stands on


def reach(group: Group, flat: bool) -> tuple[float, float]:
    """How near and how far one looks at what lies on a table."""
    return max((1.7 if flat else 2.4) * group.size, 0.3), max(
        1.15, 1.3 * group.width, 2.6 * group.size
    )


def rise(stage: Stage, low: float, high: float) -> tuple[float, float]:
    """How steeply one looks down: more at what lies flat."""
    return (48, 68) if stage.need.stands == "flat" else (low, high)


def on_table(
    stage: Stage,
    group: Group,
    draws: Draws,
    *,
    height: tuple[float, float],
    tops: tuple[str, ...],
    things: tuple,
    seated: bool = False,
    behind: tuple[float, float] = (0.02, 0.9),
    depth: float = 0.7,
    least: float = 1.3,
) -> float:
    """A table with clutter about what is asked for; the wall stands somewhere behind it."""
    top = draws("height", *height)
    stage.stand(
        group, (0, 0, top), rise=rise(stage, 12, 42), reach=reach(group, stage.need.stands == "flat"),
        eye=(1.16, 1.28) if seated else (1.5, 1.72),
    )  # fmt: skip
    wide = max(least, group.width + 0.5) * draws("wide", 1.0, 1.25)
    deep = max(depth, group.depth + 0.25)
    off = draws("off", -0.5, 0.5) * (wide - group.width - 0.2)
    y = deep / 2 - group.depth / 2 - draws("edge", 0.08, 0.2)
    stage.room(table(draws, wide, deep, top, top_surface(draws, tops)), pose=moved(off, y, 0))
    xs, ys = (
        (off - wide / 2 + 0.1, off + wide / 2 - 0.1),
        (y - deep / 2 + 0.08, y + deep / 2 - 0.08),
    )
    stage.scatter("top", things, stage.many(7, 22), xs, ys, top, turn=(-40, 40))
    return y + deep / 2 + draws("behind", *behind)


def counter(stage: Stage, group: Group, draws: Draws) -> float:
    """A kitchen's worktop with a sink, tiles behind."""
    top, back = draws("top", 0.88, 0.93), 0.3
    stage.stand(
        group,
        (0, 0, top),
        rise=rise(stage, 12, 42),
        reach=reach(group, stage.need.stands == "flat"),
    )
    wide = max(4.6, group.width + 2.2)
    stage.room(cabinets(draws, wide, 0.6, top - 0.036))
    _worktop(stage, draws, wide, top, group.width)
    near = group.width / 2
    line(stage, "row", TALL, back, (-near - 0.9, near + 0.9), z=top, gap=(0.01, 0.2))
    stage.scatter(
        "beside", KITCHEN, stage.many(7, 22), (-near - 0.55, near + 0.55), (-0.25, 0.16), top
    )
    if draws.chance("shelf", 0.5):
        x = draws("shelf-x", -0.5, 0.5)
        wood_shelf = room.wall_shelf(own(draws, "shelf"), 1.3)
        if stage.put(wood_shelf, x, back, 1.5):
            line(
                stage,
                "on-shelf",
                (*TALL, tabletop.plates, tabletop.bowl),
                back - 0.01,
                (x - 0.6, x + 0.6),
                z=1.526,
                gap=(0.01, 0.1),
            )
    stage.scatter(
        "sockets",
        (room.socket,),
        2,
        (-near - 0.6, near + 0.6),
        (back, back),
        top + 0.2,
        turn=(0, 0),
    )
    return back


def _worktop(stage: Stage, draws: Draws, wide: float, top: float, free: float) -> None:
    """The slab, cut out for a basin with its tap."""
    surface = top_surface(draws, ("granite", "butcher", "marble", "veneer", "butcher", "steel"))
    x = draws.pick("sink-side", (-1, 1)) * (free / 2 + draws("sink", 0.45, 0.8))
    t, w, d, deep = 0.038, 0.5, 0.36, 0.17
    spans = [
        (-wide / 2, x - w / 2, -0.32, 0.3), (x + w / 2, wide / 2, -0.32, 0.3),
        (x - w / 2, x + w / 2, -0.32, -d / 2), (x - w / 2, x + w / 2, d / 2, 0.3),
    ]  # fmt: skip
    for x0, x1, y0, y1 in spans:
        slab = shifted(box(x1 - x0, y1 - y0, t), (x0 + x1) / 2, (y0 + y1) / 2, top - t)
        stage.room(laid(slab, surface))
    basin = [shifted(box(w, d, 0.005), x, 0, top - deep)]
    basin += [shifted(box(0.006, d, deep), x + q * (w / 2 - 0.003), 0, top - deep) for q in (-1, 1)]
    basin += [shifted(box(w, 0.006, deep), x, q * (d / 2 - 0.003), top - deep) for q in (-1, 1)]
    y = d / 2 + 0.05
    bow = [(x, y, top), (x, y, top + 0.24), (x, y - 0.06, top + 0.31), (x, y - 0.14, top + 0.29)]
    spout = tube(smooth_path([*bow, (x, y - 0.16, top + 0.22)]), 0.012)
    lever = tube([(x + 0.02, y, top + 0.07), (x + 0.09, y, top + 0.1)], 0.006, around=8)
    stage.room(Part(joined(basin), STEEL), Part(joined([spout, lever], smooth=True), STEEL))
    stage.block((x - w / 2 - 0.02, -d / 2, top - deep), (x + w / 2 + 0.02, y + 0.05, top + 0.4))


def shelves(stage: Stage, group: Group, draws: Draws) -> float:
    """Between the packs of a shop's shelf; what lies flat lies on the counter instead."""
    if stage.need.stands == "flat":
        return on_table(
            stage, group, draws, height=(0.9, 0.98), tops=("veneer", "marble"), things=COUNTER
        )
    level, deep = draws("level", 0.95, 1.12), max(0.4, group.depth + 0.12)
    stage.stand(
        group, (0, 0, level), rise=(3, 16), reach=(max(2.5 * group.size, 0.42), max(1.2, 1.4 * group.width, 2.8 * group.size)),
        eye=(1.45, 1.6),
    )  # fmt: skip
    clear = group.height + draws("clear", 0.1, 0.16)
    levels = (0.14, level - 0.42, level, level + max(clear, 0.34), level + max(clear, 0.34) + 0.36)
    y = deep / 2 - group.depth / 2 - 0.04
    width = max(1.2, group.width + 0.9)
    for k, x in enumerate((-width - 0.035, 0.0, width + 0.035)):
        stage.room(
            shelf_unit(own(draws, "unit"), width, deep, levels, levels[-1] + 0.5),
            pose=moved(x, y, 0),
        )
        for n, z in enumerate(levels):
            hole = group.width / 2 + 0.03 if k == 1 and n == 2 else 0.0
            high = (levels[n + 1] if n + 1 < len(levels) else z + 0.4) - z - 0.05
            facings(
                stage,
                own(draws, f"row{k}{n}"),
                (x - width / 2, x + width / 2),
                hole,
                y - deep / 2 + 0.02,
                deep - 0.08,
                z,
                high,
            )
    return y + deep / 2 + 0.02


# ------------------------------------------------------------------------------- what belongs

TALL = (
    tabletop.canister,
    tabletop.utensils,
    tabletop.mill,
    tabletop.plates,
    tabletop.canister,
    tabletop.soap,
)
KITCHEN = (
    tabletop.cutting_board, tabletop.towel, tabletop.mill, tabletop.bowl, tabletop.plates,
    tabletop.tumbler, tabletop.canister, tabletop.pan, tabletop.tray, clutter.phone,
)  # fmt: skip
DESK = (
    clutter.laptop, clutter.keyboard, clutter.monitor, clutter.pens, clutter.papers, clutter.notebook, clutter.pen_cup, clutter.cable, clutter.phone,
    clutter.tape, tabletop.tumbler, clutter.notebook, clutter.papers,
)  # fmt: skip
COUNTER = (
    clutter.papers,
    clutter.pens,
    clutter.tape,
    clutter.pen_cup,
    clutter.carton,
    clutter.phone,
)
LOUNGE = (
    clutter.candle, clutter.vase, tabletop.bowl, clutter.notebook, tabletop.tumbler, clutter.phone,
    tabletop.towel, clutter.papers, tabletop.tray,
)  # fmt: skip
BENCH = (
    clutter.screwdriver, clutter.hammer, clutter.spanners, clutter.tape, clutter.tin, clutter.shavings,
    clutter.planks, clutter.pens, clutter.tin, clutter.papers, clutter.cable,
)  # fmt: skip


def sideboard(draws: Draws) -> Thing:
    """A low cupboard with things on it."""
    w, h = draws("w", 1.0, 1.6), draws("h", 0.6, 0.8)
    body = cabinets(draws, w, 0.42, h)
    top = laid(
        shifted(box(w + 0.03, 0.44, 0.025, bevel=0.004), z=h),
        top_surface(draws, ("veneer", "veneer", "marble")),
    )
    return Thing(
        (
            *body.parts,
            top,
            *_set_out(
                draws, (clutter.vase, clutter.candle, clutter.notebook, tabletop.bowl), w, h + 0.025
            ),
        )
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
    return Thing((*case.parts, *inside))


def _set_out(draws: Draws, makers: tuple, width: float, z: float) -> list[Part]:
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
    return Thing(
        (Part(joined([shifted(box(w, 0.03, 0.5, bevel=0.01), 0, -0.01, 0.12), *ribs]), WHITE),)
    )


def wall_bars(draws: Draws) -> Thing:
    """A gym's climbing bars."""
    surface = wood(timber(draws, "bars"), seed(draws, "bars"), gloss=0.4)
    posts = [shifted(box(0.04, 0.1, 2.5, bevel=0.004), x, -0.05) for x in (-0.9, 0.0, 0.9)]
    bars = [
        shifted(box(1.84, 0.028, 0.04, bevel=0.01), 0, -0.075, 0.15 + 0.17 * k) for k in range(14)
    ]
    return Thing((laid(joined([*posts, *bars]), surface),))


def rack(draws: Draws) -> Thing:
    """A steel rack with dumbbells and weights in rows."""
    w = 1.5
    frame = [shifted(box(0.06, 0.5, 0.9), s * w / 2) for s in (-1, 1)] + [
        shifted(box(w, 0.36, 0.03), 0, 0, z) for z in (0.3, 0.7)
    ]
    parts = [Part(joined(frame), IRON)]
    for n, z in enumerate((0.33, 0.73)):
        for k in range(4):
            pair = clutter.dumbbell(own(draws, f"{n}{k // 2}"))
            parts += [Part(shifted(p.mesh, -0.55 + 0.37 * k, 0, z), p.material) for p in pair.parts]
    return Thing(tuple(parts))


def blackboard(draws: Draws) -> Thing:
    """A board, black, green or white, in a frame, with a ledge; half wiped."""
    w = draws("w", 1.8, 2.8)
    colour = draws.pick("c", ((44, 66, 56), (46, 50, 54), (236, 238, 238)))
    pane = shifted(box(w, 0.02, 1.1), 0, -0.01)
    rim = [shifted(box(w + 0.06, 0.035, 0.03, bevel=0.004), 0, -0.017, z) for z in (-0.03, 1.1)]
    rim += [
        shifted(box(0.03, 0.035, 1.1, bevel=0.004), s * (w / 2 + 0.015), -0.017) for s in (-1, 1)
    ]
    ledge = shifted(box(w, 0.08, 0.015), 0, -0.05, -0.02)
    return Thing(
        (
            laid(pane, plaster(colour, 1)),
            Part(joined([*rim, ledge]), draws.pick("f", (STEEL, paint((186, 146, 96), 0.5)))),
        )
    )


def school_desk(draws: Draws) -> Thing:
    """A pupil's table with its chair."""
    desk = table(draws, 0.7, 0.5, 0.72, top_surface(draws, ("veneer",)))
    seat = chair(draws)
    return Thing((*desk.parts, *(Part(shifted(p.mesh, 0, 0.45), p.material) for p in seat.parts)))


def ropes(draws: Draws) -> Thing:
    """Two posts with a sagging rope."""
    posts = [
        lathe(
            [
                (0.15, 0),
                (0.15, 0.02),
                (0.02, 0.04),
                (0.02, 0.92),
                (0.035, 0.95),
                (0.02, 0.99),
                (1e-4, 1.0),
            ],
            around=32,
        )
    ]
    both = joined([shifted(posts[0], s * 0.75) for s in (-1, 1)], smooth=True)
    x = np.linspace(-0.75, 0.75, 24)
    rope = tube(np.stack([x, 0 * x, 0.6 + 0.3 * (x / 0.75) ** 2], -1), 0.018, around=10)
    return Thing(
        (
            Part(both, draws.pick("m", (BRASS, STEEL))),
            Part(rope, paint(draws.pick("c", ((130, 26, 36), (30, 36, 70), (40, 40, 42))), 0.95)),
        )
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
    return Thing(
        (
            *block.parts,
            Part(
                shifted(top, z=h),
                paint(
                    tint(draws, "urn", level=(0.35, 0.8), chroma=(0.01, 0.08), hue=(30, 90)), 0.5
                ),
            ),
        )
    )


def big_frame(draws: Draws) -> Thing:
    """A painting of a gallery's size."""
    small = room.frame(draws)
    s = draws("scale", 1.6, 2.4)
    return Thing(tuple(Part(scaled(p.mesh, s, 1.6, s), p.material) for p in small.parts))


def plaque(draws: Draws) -> Thing:
    """A small card on the wall with grey lines."""
    lines = [
        shifted(box(draws(f"l{k}", 0.05, 0.11), 0.001, 0.005), -0.01, -0.0062, 0.075 - 0.016 * k)
        for k in range(4)
    ]
    return Thing(
        (
            Part(shifted(box(0.15, 0.006, 0.1, bevel=0.001), 0, -0.003), PAPER),
            Part(joined(lines), paint((96, 96, 98), 0.8)),
        )
    )


def rug(stage: Stage, draws: Draws, back: float) -> None:
    """A rug under what is shown, and a lamp's cord or two."""
    w, d = draws("w", 1.6, 2.4), draws("d", 1.1, 1.7)
    surface = carpet(
        tint(draws, "a", level=(0.3, 0.7), chroma=(0.01, 0.09)),
        tint(draws, "b", level=(0.5, 0.92), chroma=(0.01, 0.05)),
        seed(draws, "rug"),
    )
    lain = laid(
        shifted(
            box(w, d, 0.012, bevel=0.004), draws("x", -0.3, 0.3), min(-0.2, back - d / 2 - 0.2)
        ),
        surface._replace(width=w, height=d),
    )
    stage.room(lain)


def pendants(stage: Stage, draws: Draws, back: float) -> None:
    """Lamps that hang from the ceiling; a rug as well in living rooms."""
    for k in range(draws.count("n", 0, 2)):
        shade = room.pendant(draws, draws("drop", 0.5, 0.8))
        stage.put(shade, draws(f"x{k}", -1.2, 1.2), back - draws(f"y{k}", 0.2, 0.9), 2.69)


def tools(stage: Stage, draws: Draws, back: float) -> None:
    """The board with the tools, above the bench."""
    stage.put(clutter.tool_board(draws), draws("x", -0.5, 0.5), back - 0.002, draws("z", 1.05, 1.3))


def court(stage: Stage, draws: Draws, back: float) -> None:
    """Painted lines on a gym's floor."""
    for k in range(draws.count("lines", 2, 4)):
        colour = paint(
            draws.pick(f"c{k}", ((210, 60, 50), (40, 80, 160), (232, 230, 224), (226, 180, 50))),
            0.35,
        )
        x, y = draws(f"x{k}", -2.5, 2.5), back - draws(f"y{k}", 0.4, 2.5)
        line = box(0.05, 9.0, 0.002) if k % 2 else box(9.0, 0.05, 0.002)
        stage.room(Part(shifted(line, x if k % 2 else 0.0, -1.5 if k % 2 else y), colour))


def lounge(stage: Stage, draws: Draws, back: float) -> None:
    """Rug and lamps."""
    rug(stage, own(draws, "rug"), back)
    pendants(stage, draws, back)


HOME_LIGHT = partial(room.daylight, skies=("apartment", "apartment", "bridge"))
HALL_LIGHT = partial(room.ceiling_panels, skies=("hall", "warehouse", "bridge", "apartment"))

ROOMS = (
    Interior(
        "kitchen", counter, any_floor, tiled, HOME_LIGHT, along=(sideboard, chair, clutter.bin_, crate),
        hung=(room.socket, room.frame, room.socket), about=(chair, clutter.bin_, clutter.basket), over=pendants,
    ),
    Interior(
        "shop", shelves, hard_floor, painted, partial(room.ceiling_panels, skies=("hall", "warehouse", "bridge")),
        along=(bookcase, clutter.carton), hung=(room.frame, room.socket), about=(clutter.carton, crate, clutter.storage), window=0.1, height=3.0,
    ),
    Interior(
        "desk", partial(on_table, height=(0.72, 0.76), tops=("veneer", "planks", "veneer"), things=DESK, seated=True, behind=(0.02, 0.6)),
        boards, painted, HOME_LIGHT, along=(bookcase, sideboard, clutter.bin_, radiator), hung=(room.frame, clutter.notes, room.socket, room.frame),
        about=(chair, clutter.bin_, clutter.carton), window=0.45,
    ),
    Interior(
        "living room", partial(on_table, height=(0.42, 0.52), tops=("veneer", "planks", "marble"), things=LOUNGE, behind=(0.4, 1.4)),
        boards, painted, HOME_LIGHT, along=(sofa, sideboard, bookcase, radiator), hung=(room.frame, room.frame, room.socket),
        about=(cushion, clutter.basket, cushion, clutter.notebook), over=lounge, window=0.45,
    ),
    Interior(
        "workshop", partial(on_table, height=(0.86, 0.94), tops=("planks", "butcher"), things=BENCH, behind=(0.02, 0.2), depth=0.75, least=1.7),
        partial(hard_floor), rough_wall, partial(room.daylight, skies=("workshop", "warehouse", "lab")), along=(bookcase, crate, clutter.planks, clutter.carton),
        hung=(clutter.tool_board, room.socket, clutter.tool_board), over=tools,
        about=(crate, clutter.carton, clutter.storage, clutter.bin_, clutter.shavings),
    ),
    Interior(
        "classroom", partial(on_table, height=(0.7, 0.76), tops=("veneer",), things=DESK, seated=True, behind=(0.6, 2.2), least=1.2),
        any_floor, painted, partial(room.daylight, skies=("lobby", "apartment", "hall")), along=(school_desk, bookcase, radiator, school_desk),
        hung=(blackboard, room.frame, clutter.notes, room.socket), about=(chair, school_desk, clutter.bin_), height=3.0, half=3.2,
    ),
    Interior(
        "gym", partial(on_table, height=(0.42, 0.75), tops=("planks", "veneer"), things=(tabletop.towel, clutter.phone, clutter.tape, tabletop.tumbler), behind=(0.3, 1.2)),
        boards, painted, HALL_LIGHT, along=(wall_bars, rack, clutter.mats, clutter.step), hung=(room.socket,),
        over=court,
        about=(clutter.dumbbell, clutter.kettlebells, clutter.mats, clutter.cones, clutter.step), height=4.5, half=4.0, window=0.15,
    ),
    Interior(
        "museum", partial(on_table, height=(0.85, 1.0), tops=("veneer", "marble"), things=(clutter.papers, clutter.notebook), behind=(0.4, 1.6)),
        any_floor, painted, HALL_LIGHT, along=(exhibit, ropes, exhibit), hung=(big_frame, plaque, big_frame, plaque),
        about=(ropes, exhibit), height=4.2, half=3.6, window=0.0,
    ),
)  # fmt: skip

PLACES: dict[str, Place] = {r.name: Place(partial(furnished, r)) for r in ROOMS}
