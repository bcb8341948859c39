"""Plain materials that places share, their colours, and what covers floors and walls."""

from __future__ import annotations

from functools import lru_cache

from simulator.studio.solid.scene_types import Material
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
from simulator.world.pictures.traits import Colour, Draws, oklch


@lru_cache(maxsize=1024)
def paint(colour: Colour, rough: float = 0.5, metal: float = 0.0, coat: float = 0.0) -> Material:
    """A plain material; equal arguments give the same object, so that its parts can be merged."""
    return Material(colour, rough=rough, metal=metal, coat=coat)


def tint(
    draws: Draws,
    name: str,
    *,
    level: tuple[float, float] = (0.35, 0.85),
    chroma: tuple[float, float] = (0.01, 0.12),
    hue: tuple[float, float] = (0, 360),
) -> Colour:
    """A colour, in steps coarse enough for sheets to be used again."""
    return oklch_whole(
        draws(f"{name}-level", *level),
        draws(f"{name}-chroma", *chroma),
        draws(f"{name}-hue", *hue) % 360,
    )


def oklch_whole(lightness: float, chroma: float, hue: float) -> Colour:
    """A colour in whole numbers."""
    r, g, b = oklch(lightness, chroma, hue)
    return float(round(r)), float(round(g)), float(round(b))


def timber(draws: Draws, name: str) -> Colour:
    """A colour of wood, from ash to walnut: one of a few, so that sheets are used again."""
    return draws.pick(name, TIMBERS)


TIMBERS: tuple[Colour, ...] = tuple(
    oklch_whole(level, chroma, hue)
    for level, chroma, hue in (
        (0.80, 0.045, 78), (0.76, 0.065, 72), (0.72, 0.05, 66), (0.70, 0.08, 68), (0.66, 0.075, 62),
        (0.62, 0.03, 70), (0.60, 0.075, 58), (0.55, 0.06, 60), (0.50, 0.07, 52), (0.44, 0.045, 56),
    )
)  # fmt: skip


def seed(draws: Draws, name: str) -> int:
    """Which of a few patterns a surface takes."""
    return draws.count(f"{name}-seed", 0, 2)


STEEL = Material((176, 178, 182), rough=0.28, metal=1.0)
CHROME = Material((214, 216, 220), rough=0.1, metal=1.0)
BRASS = Material((196, 160, 92), rough=0.25, metal=1.0)
IRON = Material((46, 46, 50), rough=0.45, metal=0.6)
BLACK = Material((34, 34, 37), rough=0.4)
RUBBER = Material((38, 38, 40), rough=0.85)
WHITE = Material((232, 231, 227), rough=0.32, coat=0.2)
PAPER = Material((236, 234, 227), rough=0.75)
CARD = Material((184, 146, 104), rough=0.8)
CLEAR = Material(glass=True)
SCREEN = Material((16, 17, 20), rough=0.08, coat=0.6)
CLAY = Material((178, 98, 66), rough=0.85)
CREAM = Material((226, 216, 198), rough=0.25, coat=0.3)


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
