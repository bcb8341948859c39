"""The kinds of place, rooms and in the open: what each is made of and what belongs there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simulator.studio.places import houses, room
from simulator.studio.places.exterior import (
    HUGE,
    Exterior,
    along,
    house_row,
    is_front,
    make_exterior,
    passers_by,
)
from simulator.studio.places.furnishing import (
    clutter,
    street,
    tabletop,
    vegetation,
    workshop_and_gym,
)
from simulator.studio.places.furnishing.furniture import (
    bench,
    big_frame,
    blackboard,
    bookcase,
    cabinets,
    chair,
    crate,
    cushion,
    exhibit,
    plaque,
    rack,
    radiator,
    ropes,
    school_desk,
    shelf_unit,
    sideboard,
    sofa,
    table,
    top_surface,
    wall_bars,
)
from simulator.studio.places.furnishing.printed_labels import fill_shelf
from simulator.studio.places.interior import Interior, line_up, make_interior
from simulator.studio.places.place_materials import (
    STEEL,
    any_floor,
    boards,
    hard_floor,
    lawn,
    paint,
    painted,
    paving,
    rough_wall,
    seed,
    tiled,
    tint,
)
from simulator.studio.places.place_stage import Group, Maker, Setting, Stage, Subject, own
from simulator.studio.solid.meshes import (
    ball,
    box,
    joined,
    posed,
    scaled,
    shifted,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Part, Thing, moved
from simulator.studio.solid.surfaces import (
    asphalt,
    carpet,
    dyed,
    granite,
    gravel,
    laid,
    shades,
    water,
)
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Draws, brighten


def _stand_on(
    stage: Stage, group: Group, top: float, eye: tuple[float, float] = (1.5, 1.72)
) -> None:
    """Stand things on a table: one looks more steeply, and nearer, at what lies flat."""
    flat = stage.need.stands == "flat"
    near = max((1.7 if flat else 2.4) * group.size, 0.3)
    far = max(1.15, 1.3 * group.width, 2.6 * group.size)
    rise = (48, 68) if flat else (12, 42)
    stage.stand(group, (0, 0, top), rise=rise, reach=(near, far), eye=eye)


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
    _stand_on(stage, group, top, (1.16, 1.28) if seated else (1.5, 1.72))
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
    _stand_on(stage, group, top)
    wide = max(4.6, group.width + 2.2)
    stage.room(cabinets(draws, wide, 0.6, top - 0.036))
    _worktop(stage, draws, wide, top, group.width)
    near = group.width / 2
    line_up(stage, "row", TALL, back, (-near - 0.9, near + 0.9), z=top, gap=(0.01, 0.2))
    stage.scatter(
        "beside", KITCHEN, stage.many(3, 24), (-near - 0.55, near + 0.55), (-0.25, 0.16), top
    )
    if draws.chance("shelf", 0.5):
        x = draws("shelf-x", -0.5, 0.5)
        wood_shelf = room.wall_shelf(own(draws, "shelf"), 1.3)
        if stage.put(wood_shelf, x, back, 1.5):
            line_up(
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
    # A shelf has no depth for a step before the others: they stand farther aside.
    group = stage.group(gap=(0.06, 0.25), loose=0.3, before=(0.3, 0.6), close=(0.3, 0.7))
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
            fill_shelf(
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
    tabletop.tumbler, tabletop.canister, tabletop.pan, tabletop.tray, clutter.phone,
)  # fmt: skip


DESK = (
    clutter.laptop, clutter.keyboard, clutter.monitor, clutter.pens,
    clutter.papers, clutter.notebook, clutter.pen_cup, clutter.cable, clutter.phone,
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
    clutter.candle, clutter.vase, tabletop.bowl, clutter.notebook, tabletop.tumbler,
    clutter.phone,
    tabletop.towel, clutter.papers, tabletop.tray,
)  # fmt: skip


BENCH = (
    workshop_and_gym.screwdriver, workshop_and_gym.hammer, workshop_and_gym.spanners,
    clutter.tape, clutter.tin, workshop_and_gym.shavings, workshop_and_gym.planks, clutter.pens,
    clutter.tin, clutter.papers, clutter.cable,
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
    stage.put(
        workshop_and_gym.tool_board(draws),
        draws("x", -0.5, 0.5),
        back - 0.002,
        draws("z", 1.05, 1.3),
    )


def court_lines(stage: Stage, draws: Draws, back: float) -> None:
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
        "warehouse", "bridge"), nearer=1.8, strength=3.0),
        along=(bookcase, clutter.carton), hung=(room.frame, room.socket), about=(clutter.carton,
        crate, clutter.storage), window=0.1, height=3.0,
    ),
    Interior(
        "desk", partial(on_table, height=(0.72, 0.76), tops=("veneer", "planks", "veneer"),
        things=DESK, seated=True, behind=(0.02, 0.6)),
        boards, painted, HOME_LIGHT, along=(bookcase, sideboard, clutter.bin_, radiator),
        hung=(room.frame, clutter.notes, room.socket, room.frame),
        about=(chair, clutter.bin_, clutter.carton), window=0.45,
    ),
    Interior(
        "living room", partial(on_table, height=(0.42, 0.52), tops=("veneer", "planks",
        "marble"), things=LOUNGE, behind=(0.4, 1.4)),
        boards, painted, HOME_LIGHT, along=(sofa, sideboard, bookcase, radiator),
        hung=(room.frame, room.frame, room.socket),
        about=(cushion, clutter.basket, cushion, clutter.notebook), over=lounge, window=0.45,
    ),
    Interior(
        "workshop", partial(on_table, height=(0.86, 0.94), tops=("planks", "butcher"),
        things=BENCH, behind=(0.02, 0.2), depth=0.75, least=1.7),
        hard_floor, rough_wall, partial(room.daylight, skies=("workshop", "warehouse",
        "lab")), along=(bookcase, crate, workshop_and_gym.planks, clutter.carton),
        hung=(workshop_and_gym.tool_board, room.socket, workshop_and_gym.tool_board), over=tools,
        about=(crate, clutter.carton, clutter.storage, clutter.bin_, workshop_and_gym.shavings),
    ),
    Interior(
        "classroom", partial(on_table, height=(0.7, 0.76), tops=("veneer",), things=DESK,
        seated=True, behind=(0.6, 2.2), least=1.2),
        any_floor, painted, partial(room.daylight, skies=("lobby", "apartment", "hall")),
        along=(school_desk, bookcase, radiator, school_desk),
        hung=(blackboard, room.frame, clutter.notes, room.socket), about=(chair, school_desk,
        clutter.bin_), height=3.0, half=3.2,
    ),
    Interior(
        "gym", partial(on_table, height=(0.42, 0.75), tops=("planks", "veneer"),
        things=(tabletop.towel, clutter.phone, clutter.tape, tabletop.tumbler),
        behind=(0.3, 1.2)),
        boards, painted, HALL_LIGHT,
        along=(wall_bars, rack, workshop_and_gym.mats, workshop_and_gym.step),
        hung=(room.socket,),
        over=court_lines,
        about=(workshop_and_gym.dumbbell, workshop_and_gym.kettlebells, workshop_and_gym.mats,
        workshop_and_gym.cones, workshop_and_gym.step), height=4.5, half=4.0, window=0.15,
    ),
    Interior(
        "museum", partial(on_table, height=(0.85, 1.0), tops=("veneer", "marble"),
        things=(clutter.papers, clutter.notebook), behind=(0.4, 1.6)),
        any_floor, painted, HALL_LIGHT, along=(exhibit, ropes, exhibit), hung=(big_frame, plaque,
        big_frame, plaque),
        about=(ropes, exhibit), height=4.2, half=3.6, window=0.0,
    ),
)  # fmt: skip


# ------------------------------------------------------------------------------- behind


def road(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """Kerb, road and the houses across; cars and the like stand on the road itself."""
    size = max(stage.need.sizes[0])
    tar = asphalt(tint(draws, "tar", level=(0.36, 0.5), chroma=(0, 0.008)), seed(draws, "tar"))
    far = max(2 * half, 30.0)
    if stage.need.stands == "ground" and size > 1.9:
        low, high = -max(2.6, stage.spots[0].at[1] + 2.6), y
    else:
        low, high = y - 0.6, y + 6.0
    if is_front(stage.need):
        low, high = y - 8.5, y - 2.6 - stage.need.sizes[0][1]
    # the road lies a hand's breadth over the paving, its kerbs above that
    stage.room(laid(shifted(box(far, high - low, 0.012), 0, (low + high) / 2, -0.0), tar))
    kerb = granite((150, 148, 144), 0)
    for edge in (low, high):
        if stage.near[1] + 0.3 < edge or edge < stage.far[1] - 1:
            stage.room(laid(shifted(box(far, 0.14, 0.1, bevel=0.02), 0, edge), kerb))
    line = joined(
        [
            shifted(box(1.5, 0.1, 0.002), k * 3.0 - far / 2, (low + high) / 2, 0.012)
            for k in range(int(far / 3))
        ]
    )
    stage.room(Part(line, paint((222, 222, 216), 0.8)))
    house_row(
        stage,
        draws,
        -far / 2,
        far / 2,
        y if is_front(stage.need) else high + draws("pavement", 1.8, 3.0),
        floors=(2, 4),
    )
    along(stage, street.lamp_post, draws, (-half, half), high + 0.5, 9.0)
    along(
        stage,
        vegetation.tree if draws.chance("trees", 0.4) else street.bollard,
        own(draws, "row"),
        (-half, half),
        high + 0.7,
        5.0,
    )
    along(stage, street.bollard, own(draws, "posts"), (-half, half), low - 0.3, 2.4)
    passers_by(stage, own(draws, "walkers"), (-half, half), (high + 0.4, high + 1.5))


def piazza(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """Houses on three sides, lamps, planters, café tables."""
    size, w = max(stage.need.sizes[0]), stage.need.sizes[0][0]
    reach = w / 2 + draws("reach", 14, 24)
    back = y + (draws("open", 8, 22) if size < HUGE else 4.0)
    back = y if is_front(stage.need) else back
    start = stage.far[1] - 4
    if size > HUGE:
        start = stage.near[1] + 8
        avenue = own(draws, "avenue")
        for k in range(4):
            for s in (-1, 1):
                at = start + (back - start) * (k + 0.4) / 4
                stage.put(vegetation.tree(own(avenue, f"{s}"), 8.0), s * (reach - 6), at)
    wide = min(reach * 2.2, 75.0)
    house_row(stage, draws, -wide, wide, back, floors=(3, 5))
    for s in (-1, 1):
        if size > HUGE or draws.chance(f"side{s}", 0.7):
            house_row(
                stage,
                own(draws, f"side{s}"),
                start,
                back,
                s * reach,
                turn=-s * 90.0,
                floors=(2, 4),
                designs=2,
            )
    along(stage, street.lamp_post, draws, (-half, half), y + 1.5, 11.0, wander=1.5)
    along(
        stage,
        cafe if draws.chance("cafe", 0.6) else bench,
        own(draws, "seats"),
        (-reach * 0.6, reach * 0.6),
        y + 2.5,
        3.4,
        wander=1.2,
    )
    along(stage, vegetation.tree, own(draws, "trees"), (-reach, reach), y + 5.0, 13.0, wander=2.0)
    if back > y + 4:
        passers_by(stage, own(draws, "walkers"), (-6, 6), (y + 2.5, back - 1.5), 5)


def stalls(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """More stalls behind, their awnings, and houses beyond."""
    for k in range(4):
        own_ = own(draws, f"stall{k}")
        x = (k - 1.5) * 3.6 + own_("x", -0.5, 0.5)
        roof = street.awning(own_, 3.0, 2.2, 2.15)
        counter = stall(own_, 2.7)
        stage.put(
            Thing.of(*roof.parts, *counter.parts),
            x,
            y + own_("y", 1.6, 3.2),
            0.0,
            own_("turn", -8, 8),
        )
    house_row(
        stage,
        draws,
        -half * 2,
        half * 2,
        y if is_front(stage.need) else y + draws("square", 9, 16),
        floors=(2, 4),
    )
    if not is_front(stage.need):
        passers_by(stage, own(draws, "shoppers"), (-5, 5), (y + 3.5, y + 8), 5)


def borders(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """A bed, a fence or hedge, trees over it, sometimes the neighbour's house."""
    w = min(2 * half, 18.0)
    if draws.chance("bed", 0.8):
        stage.room(
            vegetation.flower_bed(draws, min(w, 7.0), 1.0),
            pose=moved(draws("bed-x", -1.5, 1.5), y - 0.6),
        )
    if draws.chance("fence", 0.6):
        stage.room(street.fence(draws, w), pose=moved(0, y))
    else:
        stage.room(
            vegetation.hedge(draws, min(w, 12.0), 0.7, draws("hedge", 1.2, 2.2)),
            pose=moved(0, y + 0.3),
        )
    for s in (-1, 1):
        stage.room(street.fence(own(draws, f"f{s}"), 9.0), pose=moved(s * w / 2, y - 4.5, turn=90))
    _wood(stage, draws, y + 3.0, w, 5)
    if draws.chance("house", 0.5):
        house_row(stage, draws, draws("hx", -12, 2), 8.0, y + 11.0, floors=(2, 2), designs=2)


def greenery(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """A path, benches, and trees one behind the other."""
    path = gravel(
        tint(draws, "path", level=(0.62, 0.8), chroma=(0.01, 0.03), hue=(60, 90)),
        seed(draws, "path"),
    )
    wide = draws("wide", 1.4, 2.6)
    stage.room(laid(shifted(box(max(40.0, 3 * half), wide, 0.012), 0, y + 0.6), path))
    along(stage, bench, own(draws, "benches"), (-half, half), y + 2.0 + wide / 2, 6.0, wander=0.2)
    passers_by(stage, own(draws, "walkers"), (-7, 7), (y + 1.2, y + 7), 3)
    along(stage, street.lamp_post, own(draws, "lamps"), (-half, half), y + 1.9 + wide / 2, 14.0)
    stage.room(
        vegetation.hedge(draws, min(3 * half, 24.0), 0.9, draws("hedge", 0.8, 1.6)),
        pose=moved(draws("hx", -4, 4), y + 8 + half * 0.3),
    )
    _wood(stage, draws, y + 5.0, 2.4 * half, 9)


def _wood(stage: Stage, draws: Draws, y: float, width: float, many: int) -> None:
    """Trees of two or three sorts, scattered."""
    sorts = [
        vegetation.tree(own(draws, f"sort{k}"), draws(f"tall{k}", 5.0, 11.0)) for k in range(2)
    ]
    deep = max(6.0, width * 0.35)
    for k in range(many):
        x = width * ((k + 0.5) / many - 0.5) + draws(f"tx{k}", -1.5, 1.5)
        stage.put(sorts[k % 2], x, y + draws(f"ty{k}", 0, deep), 0.0, draws(f"tt{k}", 0, 360))


def river(stage: Stage, draws: Draws, y: float, half: float) -> None:
    """A quay with a railing, water, and the town on the other bank."""
    size, (w, d, _) = max(stage.need.sizes[0]), stage.need.sizes[0]
    wet = water(
        tint(draws, "water", level=(0.34, 0.52), chroma=(0.015, 0.05), hue=(190, 240)),
        seed(draws, "water"),
    )
    far = max(6 * half, 120.0)
    if stage.need.stands == "ground" and size > HUGE:
        near_bank = stage.near[1] + 4.0
        spans = w > 2.5 * d  # a bridge goes over the water; a tower stands on the other bank
        bank = y + (0.2 * size if spans else -d - 0.25 * size)
    else:
        near_bank = y + 0.6
        bank = near_bank + draws("river", 35, 70)
    stage.room(laid(shifted(box(far, bank - near_bank, 0.02), 0, (bank + near_bank) / 2), wet))
    stage.room(
        street.railing(draws, 24.0), pose=moved(0, near_bank - 0.25)
    ) if size <= HUGE else None
    edge = granite((158, 152, 144), 1)
    stage.room(laid(shifted(box(far, 0.5, 0.16, bevel=0.03), 0, near_bank), edge))
    stage.room(laid(shifted(box(far, 1.2, 1.4, bevel=0.05), 0, bank), edge))
    row = bank + 7.0 if not (size > HUGE) else max(bank + 6.0, y + 3.0)
    house_row(stage, draws, -far * 0.4, far * 0.4, row, floors=(2, 5), designs=4)
    along(
        stage,
        partial(vegetation.tree, height=9.0),
        own(draws, "trees"),
        (-half * 2, half * 2),
        row - 3.5,
        max(12.0, half * 0.35),
    )


# ------------------------------------------------------------------------------- tables


def outdoor_table(
    stage: Stage,
    group: Group,
    draws: Draws,
    *,
    height: tuple[float, float],
    tops: tuple[str, ...],
    things: tuple[Maker, ...],
) -> float:
    """A table in the open; what is behind begins at its far edge."""
    return on_table(
        stage,
        group,
        draws,
        height=height,
        tops=tops,
        things=things,
        behind=(0.1, 0.3),
        seated=draws.chance("seated", 0.6),
    )


def stall_table(stage: Stage, group: Group, draws: Draws) -> float:
    """A market trader's boards under an awning, with crates of produce about the things."""
    y = on_table(
        stage,
        group,
        draws,
        height=(0.78, 0.9),
        tops=("planks", "veneer"),
        things=(produce, produce, scales, clutter.carton),
        behind=(0.1, 0.3),
        depth=0.9,
        least=2.2,
    )
    if draws.chance("roof", 0.75):
        stage.room(street.awning(draws, max(3.2, group.width + 1.5), 2.4, 2.2), pose=moved(0, 0.5))
    return y


def stall(draws: Draws, width: float) -> Thing:
    """A stall seen from the front: crates in rows on slanting boards."""
    boards = table(draws, width, 0.9, 0.75, top_surface(draws, ("planks",)))
    parts = list(boards.parts)
    sorts = [produce(own(draws, f"{k}")) for k in range(3)]
    for k in range(int(width / 0.6)):
        for r in range(2):
            at = (-width / 2 + 0.32 + 0.6 * k, -0.22 + 0.42 * r, 0.75 + 0.1 * r)
            heap = sorts[draws.count(f"sort{k}{r}", 0, 2)]
            parts += [Part(shifted(p.mesh, *at), p.material) for p in heap.parts]
    return Thing.of(*parts)


def produce(draws: Draws) -> Thing:
    """A crate heaped with one sort of fruit or vegetable."""
    w, d, h = draws("w", 0.38, 0.56), draws("d", 0.28, 0.38), draws("h", 0.1, 0.16)
    rng = generator("produce", draws("key"))
    colour, r, tall = tabletop.FRUIT[draws.count("sort", 0, len(tabletop.FRUIT) - 1)]
    if draws.chance("other", 0.4):
        colour, r, tall = draws.pick(
            "veg",
            (
                ((206, 60, 40), 0.034, 0.85),
                ((96, 44, 76), 0.036, 1.8),
                ((120, 140, 60), 0.03, 1.5),
                ((196, 160, 110), 0.034, 0.8),
                ((216, 120, 40), 0.02, 3.0),
            ),
        )
    lump = ball(r, around=8)
    pieces = []
    step = 2.02 * r
    for layer in range(2):
        z = h * 0.7 + layer * r * 1.5
        nx, ny = int((w - 0.04) / step) - layer, int((d - 0.04) / step) - layer
        for i in range(nx):
            for j in range(ny):
                at = ((i - (nx - 1) / 2) * step, (j - (ny - 1) / 2) * step)
                jog = rng.normal(0, r * 0.12, 3)
                turned_ = scaled(lump, 1 + 0.08 * rng.standard_normal(), 1, min(tall, 1.3))
                pieces.append(
                    dyed(
                        shifted(turned_, at[0] + jog[0], at[1] + jog[1], z + jog[2]),
                        int(rng.integers(0, 3)),
                        3,
                    )
                )
    fruit = shades(brighten(colour, 0.85), colour, brighten(colour, 1.12), rough=0.35)
    return Thing.of(*crate(draws, w, d, h).parts, Part(joined(pieces, smooth=True), fruit))


def scales(draws: Draws) -> Thing:
    """A trader's weighing scales with a steel pan."""
    foot = box(0.3, 0.3, 0.09, bevel=0.02)
    pan = shifted(box(0.34, 0.3, 0.012, bevel=0.005), z=0.12)
    neck = shifted(box(0.1, 0.1, 0.04), z=0.085)
    return Thing.of(
        Part(
            joined([foot, neck]), paint(tint(draws, "c", level=(0.4, 0.9), chroma=(0, 0.05)), 0.4)
        ),
        Part(pan, STEEL),
    )


def cafe(draws: Draws) -> Thing:
    """A small round table and two chairs."""
    top = table(draws, 0.6, 0.6, 0.73, top_surface(draws, ("marble", "veneer", "steel")))
    parts = list(top.parts)
    for s in (-1, 1):
        seat = chair(draws)
        pose = moved(s * 0.62, draws(f"y{s}", -0.15, 0.15), turn=-s * 90 + draws(f"t{s}", -25, 25))
        parts += [Part(posed(p.mesh, pose), p.material) for p in seat.parts]
    return Thing.of(*parts)


def house_backdrop(draws: Draws, width: float) -> Thing:
    """A house's blank wall to hang things on, its windows and door to either side."""
    body = laid(shifted(box(width + 14.0, 0.3, 6.2), 0, 0.15), houses.house_wall(draws))
    base = shifted(box(width + 14.0, 0.05, draws("base", 0.3, 0.7), bevel=0.01), 0, -0.02)
    parts = [body, laid(base, granite((140, 136, 130), 0))]
    for s in (-1, 1):
        beside = houses.house(own(draws, f"{s}"), 6.0, 2)
        x = s * (width / 2 + 3.0 + draws(f"beside{s}", 0.5, 1.4))
        parts += [Part(shifted(p.mesh, x, -0.02), p.material) for p in beside.parts]
    return Thing.of(*parts)


TOWN = (
    street.bollard, street.litter_bin, vegetation.planter, street.wheelie, clutter.carton,
    street.litter, street.cabinet, street.cover, street.stand, street.litter, street.cover,
)  # fmt: skip
GREEN = (vegetation.pot, street.watering_can, vegetation.bush, vegetation.pot, street.trowel)
CAFE = (
    tabletop.tumbler,
    clutter.phone,
    tabletop.bowl,
    clutter.notebook,
    tabletop.plates,
    clutter.papers,
)

SITES = (
    Exterior("street", paving, road, partial(outdoor_table, height=(0.7, 0.75), tops=("steel",
    "marble", "veneer"), things=CAFE), TOWN, wall=house_backdrop, room=(1.4, 3.0)),
    Exterior("square", paving, piazza, partial(outdoor_table, height=(0.7, 0.75), tops=("steel",
    "marble", "veneer"), things=CAFE), (street.bollard, vegetation.planter, cafe, street.litter_bin,
    street.cover, street.litter, street.stand), wall=house_backdrop),
    Exterior("market", paving, stalls, stall_table, (crate, produce, clutter.carton,
    street.litter_bin, street.litter, street.cover), wall=house_backdrop, room=(1.0, 2.0)),
    Exterior("garden", lawn, borders, partial(outdoor_table, height=(0.68, 0.76),
    tops=("planks",), things=(vegetation.pot, street.trowel, tabletop.tumbler, tabletop.bowl,
    street.watering_can, tabletop.towel)), GREEN, grass=True, room=(2.5, 6.0)),
    Exterior("park", lawn, greenery, partial(outdoor_table, height=(0.7, 0.78), tops=("planks",),
    things=(tabletop.tumbler, clutter.phone, clutter.notebook, tabletop.bowl,
    tabletop.towel)), (vegetation.bush, street.litter_bin, vegetation.bush), grass=True,
    room=(1.5, 5.0)),
    Exterior("waterfront", paving, river, partial(outdoor_table, height=(0.7, 0.95),
    tops=("planks", "steel"), things=CAFE), (street.bollard, street.litter_bin, bench,
    vegetation.planter, street.litter, street.cover, street.stand),
    wall=house_backdrop, room=(0.6, 2.5)),
)  # fmt: skip


PLACES: dict[str, Callable[[Draws, Subject], Setting]] = {
    **{room.name: partial(make_interior, room) for room in ROOMS},
    **{site.name: partial(make_exterior, site) for site in SITES},
}
"""Name → what makes such a place; equal draws give an equal setting."""
