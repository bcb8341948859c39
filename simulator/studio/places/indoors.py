"""The rooms: what each is made of and what belongs there."""

from __future__ import annotations

from functools import partial

from simulator.studio.places import room
from simulator.studio.places.coverings import (
    any_floor,
    boards,
    hard_floor,
    painted,
    rough_wall,
    tiled,
)
from simulator.studio.places.furnishing import clutter, gear, stationery, tabletop
from simulator.studio.places.furnishing.fittings import (
    big_frame,
    blackboard,
    bookcase,
    exhibit,
    plaque,
    rack,
    radiator,
    ropes,
    school_desk,
    sideboard,
    wall_bars,
)
from simulator.studio.places.furnishing.furniture import (
    cabinets,
    chair,
    crate,
    cushion,
    shelf_unit,
    sofa,
    table,
    top_surface,
)
from simulator.studio.places.furnishing.packs import facings
from simulator.studio.places.interior import Interior, furnished, line
from simulator.studio.places.paint import STEEL, paint, seed, tint
from simulator.studio.places.setting import Place
from simulator.studio.places.stage import Group, Maker, Stage, own
from simulator.studio.solid.forms import Part, moved
from simulator.studio.solid.meshes import box, joined, shifted, smooth_path, tube
from simulator.studio.solid.surfaces import carpet, laid
from simulator.world.pictures.traits import Draws


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
    things: tuple[Maker, ...],
    seated: bool = False,
    behind: tuple[float, float] = (0.02, 0.9),
    depth: float = 0.7,
    least: float = 1.3,
) -> float:
    """A table with clutter about what is asked for; the wall stands somewhere behind it."""
    top = draws("height", *height)
    stage.stand(
        group, (0, 0, top), rise=rise(stage, 12, 42), reach=reach(group,
        stage.need.stands == "flat"),
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
    stage.scatter("top", things, stage.many(3, 24), xs, ys, top, turn=(-40, 40))
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
        "beside", KITCHEN, stage.many(3, 24), (-near - 0.55, near + 0.55), (-0.25, 0.16), top
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
    group = stage.group(gap=(0.06, 0.25), loose=0.3)
    level, deep = draws("level", 0.95, 1.12), max(0.4, group.depth + 0.12)
    stage.stand(
        group, (0, 0, level), rise=(3, 16), reach=(max(2.5 * group.size, 0.42), max(1.2,
        1.4 * group.width, 2.8 * group.size)),
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
    tabletop.tumbler, tabletop.canister, tabletop.pan, tabletop.tray, stationery.phone,
)  # fmt: skip


DESK = (
    stationery.laptop, stationery.keyboard, stationery.monitor, stationery.pens,
    stationery.papers, stationery.notebook, stationery.pen_cup, stationery.cable, stationery.phone,
    stationery.tape, tabletop.tumbler, stationery.notebook, stationery.papers,
)  # fmt: skip


COUNTER = (
    stationery.papers,
    stationery.pens,
    stationery.tape,
    stationery.pen_cup,
    clutter.carton,
    stationery.phone,
)


LOUNGE = (
    clutter.candle, clutter.vase, tabletop.bowl, stationery.notebook, tabletop.tumbler,
    stationery.phone,
    tabletop.towel, stationery.papers, tabletop.tray,
)  # fmt: skip


BENCH = (
    gear.screwdriver, gear.hammer, gear.spanners, stationery.tape, clutter.tin, gear.shavings,
    gear.planks, stationery.pens, clutter.tin, stationery.papers, stationery.cable,
)  # fmt: skip


def rug(stage: Stage, draws: Draws, back: float) -> None:
    """A rug under what is shown, and a lamp's cord or two."""
    w, d = draws("w", 1.6, 2.4), draws("d", 1.1, 1.7)
    surface = carpet(
        tint(draws, "a", level=(0.3, 0.7), chroma=(0.01, 0.06)),
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
    stage.put(gear.tool_board(draws), draws("x", -0.5, 0.5), back - 0.002, draws("z", 1.05, 1.3))


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
        "kitchen", counter, any_floor, tiled, HOME_LIGHT, along=(sideboard, chair, clutter.bin_,
        crate),
        hung=(room.socket, room.frame, room.socket), about=(chair, clutter.bin_, clutter.basket),
        over=pendants,
    ),
    Interior(
        "shop", shelves, hard_floor, painted, partial(room.ceiling_panels, skies=("hall",
        "warehouse", "bridge")),
        along=(bookcase, clutter.carton), hung=(room.frame, room.socket), about=(clutter.carton,
        crate, clutter.storage), window=0.1, height=3.0,
    ),
    Interior(
        "desk", partial(on_table, height=(0.72, 0.76), tops=("veneer", "planks", "veneer"),
        things=DESK, seated=True, behind=(0.02, 0.6)),
        boards, painted, HOME_LIGHT, along=(bookcase, sideboard, clutter.bin_, radiator),
        hung=(room.frame, stationery.notes, room.socket, room.frame),
        about=(chair, clutter.bin_, clutter.carton), window=0.45,
    ),
    Interior(
        "living room", partial(on_table, height=(0.42, 0.52), tops=("veneer", "planks",
        "marble"), things=LOUNGE, behind=(0.4, 1.4)),
        boards, painted, HOME_LIGHT, along=(sofa, sideboard, bookcase, radiator),
        hung=(room.frame, room.frame, room.socket),
        about=(cushion, clutter.basket, cushion, stationery.notebook), over=lounge, window=0.45,
    ),
    Interior(
        "workshop", partial(on_table, height=(0.86, 0.94), tops=("planks", "butcher"),
        things=BENCH, behind=(0.02, 0.2), depth=0.75, least=1.7),
        partial(hard_floor), rough_wall, partial(room.daylight, skies=("workshop", "warehouse",
        "lab")), along=(bookcase, crate, gear.planks, clutter.carton),
        hung=(gear.tool_board, room.socket, gear.tool_board), over=tools,
        about=(crate, clutter.carton, clutter.storage, clutter.bin_, gear.shavings),
    ),
    Interior(
        "classroom", partial(on_table, height=(0.7, 0.76), tops=("veneer",), things=DESK,
        seated=True, behind=(0.6, 2.2), least=1.2),
        any_floor, painted, partial(room.daylight, skies=("lobby", "apartment", "hall")),
        along=(school_desk, bookcase, radiator, school_desk),
        hung=(blackboard, room.frame, stationery.notes, room.socket), about=(chair, school_desk,
        clutter.bin_), height=3.0, half=3.2,
    ),
    Interior(
        "gym", partial(on_table, height=(0.42, 0.75), tops=("planks", "veneer"),
        things=(tabletop.towel, stationery.phone, stationery.tape, tabletop.tumbler),
        behind=(0.3, 1.2)),
        boards, painted, HALL_LIGHT, along=(wall_bars, rack, gear.mats, gear.step),
        hung=(room.socket,),
        over=court,
        about=(gear.dumbbell, gear.kettlebells, gear.mats, gear.cones, gear.step), height=4.5,
        half=4.0, window=0.15,
    ),
    Interior(
        "museum", partial(on_table, height=(0.85, 1.0), tops=("veneer", "marble"),
        things=(stationery.papers, stationery.notebook), behind=(0.4, 1.6)),
        any_floor, painted, HALL_LIGHT, along=(exhibit, ropes, exhibit), hung=(big_frame, plaque,
        big_frame, plaque),
        about=(ropes, exhibit), height=4.2, half=3.6, window=0.0,
    ),
)  # fmt: skip


PLACES: dict[str, Place] = {r.name: Place(partial(furnished, r)) for r in ROOMS}
