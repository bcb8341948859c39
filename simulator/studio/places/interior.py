"""What all rooms have in common: a table to stand things on, a wall to hang them on, a floor.

An `Interior` says what a room is made of and what belongs there; `furnished` builds it about the
things that are asked for, whether they stand, lie, hang or perch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from simulator.studio.places import room
from simulator.studio.places.place_materials import IRON, timber
from simulator.studio.places.place_stage import (
    Group,
    Maker,
    Setting,
    Stage,
    Subject,
    own,
    refuse,
)
from simulator.studio.solid.meshes import joined, tube
from simulator.studio.solid.scene_types import Part
from simulator.studio.solid.surfaces import Surface, laid, wood
from simulator.world.pictures.traits import Draws


class Interior(NamedTuple):
    """A sort of room."""

    name: str
    top: Callable[[Stage, Group, Draws], float]
    """Builds what things stand on, fixes the spots, and says at which y the back wall is."""
    floor: Callable[[Draws], Surface]
    wall: Callable[[Draws], Surface]
    light: Callable[[Stage, float], None]
    """Given half the room's width."""
    along: tuple[Maker, ...] = ()
    """Furniture along the back wall, where nothing else stands."""
    hung: tuple[Maker, ...] = ()
    """On the wall."""
    about: tuple[Maker, ...] = ()
    """On the floor."""
    over: Callable[[Stage, Draws, float], None] | None = None
    """What only this room has (its back wall's y is given)."""
    height: float = 2.7
    half: float = 2.5
    window: float = 0.35
    """How often there is a window in the back wall."""
    seated: bool = False


def make_interior(interior: Interior, draws: Draws, need: Subject) -> Setting:
    """The room about its things."""
    stage = Stage(draws, need)
    make = {
        "surface": _on_top, "flat": _on_top, "ground": _on_floor, "wall": _on_wall, "air": _perched,
    }[need.stands]  # fmt: skip
    back, half, window = make(stage, interior)
    d = own(draws, "shell")
    opening = None
    if window and d.chance("window", interior.window):
        opening = (d("wx", -1.0, 1.0), d("wz", 1.0, 1.2), d("ww", 0.8, 1.4), d("wh", 1.0, 1.3))
    room.shell(
        stage, floor=interior.floor(d), wall=interior.wall(d), back=back, half=half,
        height=interior.height, window=opening,
    )  # fmt: skip
    if opening:
        x, z, w, h = opening
        stage.block((x - w / 2 - 0.5, back - 0.14, z - 0.3), (x + w / 2 + 0.5, back, z + h + 0.3))
    if interior.over is not None:
        interior.over(stage, own(draws, "over"), back)
    line_up(stage, "along", interior.along, back, (-half, half))
    hang(stage, "hung", interior.hung, stage.many(1, 10), back, (-half * 0.8, half * 0.8))
    front = min(stage.far[1] - 0.5, -1.0)
    stage.scatter("about", interior.about, stage.many(0, 12), (-half, half), (front, back - 0.3))
    interior.light(stage, half)
    return stage.done()


def line_up(
    stage: Stage, name: str, makers: Sequence[Maker], back: float, xs: tuple[float, float],
    *, z: float = 0.0, gap: tuple[float, float] = (0.03, 0.5),
) -> None:  # fmt: skip
    """Pieces side by side with their backs at y = `back`, where there is room."""
    if not makers:
        return
    draws = own(stage.draws, name)
    order = sorted(makers, key=lambda m: draws(m.__name__))
    x, k = xs[0] + draws("start", 0.02, 0.4), 0
    while x < xs[1] and k < 14:
        piece = order[k % len(order)](own(draws, f"{k}"))
        low, high = piece.bounds
        if x + float(high[0] - low[0]) > xs[1]:
            break
        stage.put(piece, x - float(low[0]), back - float(high[1]) - 0.01, z)
        x += float(high[0] - low[0]) + draws(f"gap{k}", *gap)
        k += 1


def hang(
    stage: Stage, name: str, makers: Sequence[Maker], count: int, back: float,
    xs: tuple[float, float], zs: tuple[float, float] = (1.15, 1.75),
) -> None:  # fmt: skip
    """Pieces on the back wall."""
    if not makers:
        return
    draws = own(stage.draws, name)
    order = sorted(makers, key=lambda m: draws(m.__name__))
    for k in range(count):
        thing = order[k % len(order)](own(draws, f"{k}"))
        for t in range(6):
            if stage.put(thing, draws(f"x{k}.{t}", *xs), back - 0.002, draws(f"z{k}.{t}", *zs)):
                break


def _on_top(stage: Stage, interior: Interior) -> tuple[float, float, bool]:
    _fits(stage, interior, 1.3, 1.3)
    group = stage.group()
    back = interior.top(stage, group, own(stage.draws, "top"))
    return back, max(interior.half, group.width / 2 + 0.8), True


def _on_floor(stage: Stage, interior: Interior) -> tuple[float, float, bool]:
    _fits(stage, interior, 2.8, interior.height - 0.1)
    group = stage.group(gap=(0.2, 0.6))
    size = group.size
    stage.stand(
        group, (0, 0, 0), rise=(14, 34) if size > 0.6 else (36, 56),
        reach=(max(1.7 * size, 1.1), max(2.4, 2.6 * size, 1.3 * group.width)), lowest=1.0,
    )  # fmt: skip
    back = group.depth / 2 + stage.draws("behind", 0.35, 1.4)
    return back, max(interior.half, group.width / 2 + 1.0), True


def _on_wall(stage: Stage, interior: Interior) -> tuple[float, float, bool]:
    _fits(stage, interior, 3.0, interior.height - 0.5)
    group = stage.group(gap=(0.2, 0.7))
    on_wall(stage, group)
    return 0.0, max(interior.half, group.width / 2 + 0.8), False


def on_wall(stage: Stage, group: Group) -> None:
    """Spots on a wall at y = 0, the main thing's middle at 1.3–1.7 m."""
    flat = tuple((x, 0.0, 0.0) for x, _, _ in group.places)
    z = max(stage.draws("level", 1.3, 1.7) - group.height / 2, 0.25)
    stage.stand(
        group._replace(places=flat), (0, 0, z), rise=(-4, 14),
        reach=(max(1.7 * group.size, 0.5), max(1.8, 2.6 * group.size, 1.4 * group.width)),
        lowest=1.2,
    )  # fmt: skip


def _perched(stage: Stage, interior: Interior) -> tuple[float, float, bool]:
    _fits(stage, interior, 1.0, 1.2)
    group = stage.group()
    z = perched(stage, group)
    rod(stage, own(stage.draws, "rod"), group.width / 2 + 0.25, z, interior.height)
    return group.depth / 2 + stage.draws("behind", 0.3, 1.2), interior.half, True


def perched(stage: Stage, group: Group) -> float:
    """Spots in the air on something thin along y = 0; says how high."""
    flat = tuple((x, 0.0, turn) for x, _, turn in group.places)
    z = stage.draws("height", 1.35, 1.75)
    stage.stand(
        group._replace(places=flat), (0, 0, z), rise=(-12, 12),
        reach=(max(2.4 * group.size, 0.5), max(1.6, 6 * group.size, 1.4 * group.width)),
        lowest=1.2,
    )  # fmt: skip
    return z


def rod(stage: Stage, draws: Draws, reach: float, z: float, ceiling: float) -> None:
    """A wooden bar on two cords from the ceiling, its top at z."""
    bar = laid(
        tube([(-reach, 0, z - 0.012), (reach, 0, z - 0.012)], 0.012), wood(timber(draws, "rod"), 0)
    )
    cords = [
        tube([(s * reach * 0.95, 0, z - 0.01), (s * reach * 0.95, 0, ceiling)], 0.003, around=6)
        for s in (-1, 1)
    ]
    stage.room(bar, Part(joined(cords, smooth=True), IRON))


def _fits(stage: Stage, interior: Interior, widest: float, tallest: float) -> None:
    """Refuse what no such room could hold."""
    for w, d, h in stage.need.sizes:
        if max(w, d) > widest or h > tallest:
            why = f"at most {widest:g} m wide and {tallest:.2g} m high; choose a place in the open"
            raise refuse(interior.name, stage.need, why)
