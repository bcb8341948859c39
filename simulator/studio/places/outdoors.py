"""The places in the open: what each is made of and what belongs there."""

from __future__ import annotations

from functools import partial

from simulator.studio.places import houses
from simulator.studio.places.coverings import lawn, paving
from simulator.studio.places.exterior import (
    HUGE,
    Exterior,
    along,
    house_row,
    in_the_open,
    is_front,
    passers_by,
)
from simulator.studio.places.furnishing import clutter, growth, stationery, street, tabletop
from simulator.studio.places.furnishing.furniture import bench, chair, crate, table, top_surface
from simulator.studio.places.indoors import on_table
from simulator.studio.places.paint import STEEL, paint, seed, tint
from simulator.studio.places.setting import Place
from simulator.studio.places.stage import Group, Maker, Stage, own
from simulator.studio.solid.forms import Part, Thing, moved
from simulator.studio.solid.meshes import ball, box, joined, posed, scaled, shifted
from simulator.studio.solid.surfaces import asphalt, dyed, granite, gravel, laid, shades, water
from simulator.world.pictures.noise import generator
from simulator.world.pictures.traits import Draws, scale

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
        growth.tree if draws.chance("trees", 0.4) else street.bollard,
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
                stage.put(growth.tree(own(avenue, f"{s}"), 8.0), s * (reach - 6), at)
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
    along(stage, growth.tree, own(draws, "trees"), (-reach, reach), y + 5.0, 13.0, wander=2.0)
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
            growth.flower_bed(draws, min(w, 7.0), 1.0),
            pose=moved(draws("bed-x", -1.5, 1.5), y - 0.6),
        )
    if draws.chance("fence", 0.6):
        stage.room(street.fence(draws, w), pose=moved(0, y))
    else:
        stage.room(
            growth.hedge(draws, min(w, 12.0), 0.7, draws("hedge", 1.2, 2.2)), pose=moved(0, y + 0.3)
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
        growth.hedge(draws, min(3 * half, 24.0), 0.9, draws("hedge", 0.8, 1.6)),
        pose=moved(draws("hx", -4, 4), y + 8 + half * 0.3),
    )
    _wood(stage, draws, y + 5.0, 2.4 * half, 9)


def _wood(stage: Stage, draws: Draws, y: float, width: float, many: int) -> None:
    """Trees of two or three sorts, scattered."""
    sorts = [growth.tree(own(draws, f"sort{k}"), draws(f"tall{k}", 5.0, 11.0)) for k in range(2)]
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
        partial(growth.tree, height=9.0),
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
    fruit = shades(scale(colour, 0.85), colour, scale(colour, 1.12), rough=0.35)
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


def front(draws: Draws, width: float) -> Thing:
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
    street.bollard, street.litter_bin, growth.planter, street.wheelie, clutter.carton,
    street.litter, street.cabinet, street.cover, street.stand, street.litter, street.cover,
)  # fmt: skip
GREEN = (growth.pot, street.watering_can, growth.bush, growth.pot, street.trowel)
CAFE = (
    tabletop.tumbler,
    stationery.phone,
    tabletop.bowl,
    stationery.notebook,
    tabletop.plates,
    stationery.papers,
)

SITES = (
    Exterior("street", paving, road, partial(outdoor_table, height=(0.7, 0.75), tops=("steel",
    "marble", "veneer"), things=CAFE), TOWN, wall=front, room=(1.4, 3.0)),
    Exterior("square", paving, piazza, partial(outdoor_table, height=(0.7, 0.75), tops=("steel",
    "marble", "veneer"), things=CAFE), (street.bollard, growth.planter, cafe, street.litter_bin,
    street.cover, street.litter, street.stand), wall=front),
    Exterior("market", paving, stalls, stall_table, (crate, produce, clutter.carton,
    street.litter_bin, street.litter, street.cover), wall=front, room=(1.0, 2.0)),
    Exterior("garden", lawn, borders, partial(outdoor_table, height=(0.68, 0.76),
    tops=("planks",), things=(growth.pot, street.trowel, tabletop.tumbler, tabletop.bowl,
    street.watering_can, tabletop.towel)), GREEN, grass=True, room=(2.5, 6.0)),
    Exterior("park", lawn, greenery, partial(outdoor_table, height=(0.7, 0.78), tops=("planks",),
    things=(tabletop.tumbler, stationery.phone, stationery.notebook, tabletop.bowl,
    tabletop.towel)), (growth.bush, street.litter_bin, growth.bush), grass=True, room=(1.5, 5.0)),
    Exterior("waterfront", paving, river, partial(outdoor_table, height=(0.7, 0.95),
    tops=("planks", "steel"), things=CAFE), (street.bollard, street.litter_bin, bench,
    growth.planter, street.litter, street.cover, street.stand), wall=front, room=(0.6, 2.5)),
)  # fmt: skip

PLACES: dict[str, Place] = {s.name: Place(partial(in_the_open, s)) for s in SITES}
