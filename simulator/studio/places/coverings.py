"""What floors and walls of rooms are covered with."""

from __future__ import annotations

from simulator.studio.places.paint import seed, timber, tint
from simulator.studio.solid.surfaces import (
    Surface,
    bricks,
    cobbles,
    concrete,
    grass,
    plaster,
    slabs,
    terrazzo,
    tiles,
    wood,
)
from simulator.world.pictures.traits import Draws


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
    size = ((0.2, 0.1) if kind == "metro" else draws.pick("tile",
        ((0.1, 0.1), (0.15, 0.15), (0.3, 0.2))))  # fmt: skip
    return tiles(
        colour,
        s,
        tile=size,
        bond=0.5 if kind == "metro" else 0.0,
        spread=draws.pick("spread", (0.012, 0.045)),
    )


def paving(draws: Draws) -> Surface:
    """Slabs, setts or worn concrete."""
    kind, s = draws.pick("paving", ("slabs", "cobbles", "slabs")), seed(draws, "paving")
    colour = tint(draws, "paving", level=(0.5, 0.72), chroma=(0.003, 0.025), hue=(50, 100))
    if kind == "cobbles":
        return cobbles(colour, s)
    return slabs(colour, s, slab=draws.pick("slab", ((0.4, 0.4), (0.6, 0.4), (0.3, 0.3))))


def lawn(draws: Draws) -> Surface:
    """Mown grass."""
    return grass(
        tint(draws, "lawn", level=(0.42, 0.54), chroma=(0.045, 0.08), hue=(112, 126)),
        seed(draws, "lawn"),
    )
