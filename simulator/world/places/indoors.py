"""Kitchens and other rooms."""

from __future__ import annotations

from simulator.world.pictures.traits import Draws
from simulator.world.places import room, tabletop
from simulator.world.places.furniture import cabinets, top_surface
from simulator.world.places.paint import STEEL, seed, timber, tint
from simulator.world.places.setting import Need, Place, Setting
from simulator.world.places.stage import Stage, own
from simulator.world.solid.forms import Part
from simulator.world.solid.meshes import box, joined, shifted, smooth_path, tube
from simulator.world.solid.surfaces import bricks, laid, plaster, tiles, wood

ROOMS = ("apartment", "lobby", "apartment")


def kitchen(draws: Draws, need: Need) -> Setting:
    """A counter before a tiled wall."""
    stage = Stage(draws, need)
    group = stage.group()
    top, back = draws("top", 0.88, 0.93), 0.3
    stage.stand(group, (0, 0, top), rise=(22, 46), reach=(max(2.4 * group.size, 0.32), max(1.2, 1.25 * group.width)))
    f = own(draws, "furniture")
    wide = max(4.0, group.width + 1.2)
    stage.room(cabinets(f, wide, 0.6, top - 0.035))
    _worktop(stage, f, wide, top, group.width)
    room.shell(
        stage, floor=_floor(f), wall=_kitchen_wall(f), back=back, half=wide / 2,
        window=(draws("wx", -1.2, 1.2), top + 0.25, draws("ww", 0.8, 1.3), 1.0) if draws.chance("window", 0.35) else None,
    )
    n = stage.many(4, 11)
    near = group.width / 2
    stage.scatter("beside", TABLE, n, (-near - 0.55, near + 0.55), (-0.24, 0.22), top)
    for k, x in enumerate((draws("s1", -0.9, -0.3), draws("s2", 0.4, 1.0))):
        stage.put(room.socket(own(draws, f"socket{k}")), x, back, top + 0.17)
    room.daylight(stage, ROOMS)
    return stage.done()


TABLE = (
    tabletop.cutting_board, tabletop.towel, tabletop.mill, tabletop.bowl, tabletop.plates, tabletop.tumbler,
    tabletop.canister, tabletop.utensils, tabletop.soap, tabletop.pan, tabletop.tray,
)


def _worktop(stage: Stage, draws: Draws, wide: float, top: float, free: float) -> None:
    surface = top_surface(draws, ("granite", "butcher", "marble", "veneer", "butcher", "steel"))
    s = draws.pick("sink-side", (-1, 1))
    x = s * (free / 2 + draws("sink", 0.45, 0.9))
    t, w, d = 0.038, 0.5, 0.38
    z = top - t
    left, right = -wide / 2, wide / 2
    spans = [(left, x - w / 2, -0.32, 0.3), (x + w / 2, right, -0.32, 0.3), (x - w / 2, x + w / 2, -0.32, -d / 2), (x - w / 2, x + w / 2, d / 2, 0.3)]
    stage.room(*(laid(shifted(box(x1 - x0, y1 - y0, t, bevel=0.0), (x0 + x1) / 2, (y0 + y1) / 2, z), surface) for x0, x1, y0, y1 in spans))
    deep = 0.17
    basin = [shifted(box(w, d, 0.005), x, 0, top - deep)]
    basin += [shifted(box(0.006, d, deep), x + q * (w / 2 - 0.003), 0, top - deep) for q in (-1, 1)]
    basin += [shifted(box(w, 0.006, deep), x, q * (d / 2 - 0.003), top - deep) for q in (-1, 1)]
    y = d / 2 + 0.05
    spout = tube(smooth_path([(x, y, top), (x, y, top + 0.24), (x, y - 0.06, top + 0.31), (x, y - 0.14, top + 0.29), (x, y - 0.16, top + 0.22)]), 0.012)
    lever = tube([(x + 0.02, y, top + 0.07), (x + 0.09, y, top + 0.1)], 0.006, around=8)
    foot = shifted(box(0.05, 0.05, 0.012, bevel=0.004), x, y, top)
    stage.room(Part(joined(basin), STEEL), Part(joined([spout, lever], smooth=True), STEEL), Part(foot, STEEL))
    stage.block((x - w / 2 - 0.02, -d / 2, top - deep), (x + w / 2 + 0.02, y + 0.05, top + 0.4))


def _floor(draws: Draws):
    if draws.chance("tiled", 0.4):
        return tiles(tint(draws, "floor", level=(0.4, 0.85), chroma=(0.005, 0.05)), seed(draws, "floor"), tile=(0.3, 0.3), spread=0.04, rough=0.3)
    return wood(timber(draws, "floor"), seed(draws, "floor"), board=(1.1, 0.14), gloss=0.3)


def _kitchen_wall(draws: Draws):
    kind = draws.pick("wall", ("metro", "square", "plaster", "metro", "brick"))
    s = seed(draws, "wall")
    if kind == "plaster":
        return plaster(tint(draws, "wall", level=(0.7, 0.95), chroma=(0.005, 0.06)), s)
    if kind == "brick":
        return bricks(tint(draws, "wall", level=(0.5, 0.9), chroma=(0.01, 0.09), hue=(30, 60)), s)
    colour = tint(draws, "wall", level=(0.55, 0.95), chroma=(0.004, 0.07))
    size = (0.2, 0.1) if kind == "metro" else draws.pick("tile", ((0.1, 0.1), (0.15, 0.15), (0.3, 0.2)))
    return tiles(colour, s, tile=size, bond=0.5 if kind == "metro" else 0.0, spread=draws("spread", 0.01, 0.06))


PLACES: dict[str, Place] = {"kitchen": Place(kitchen)}
