"""Plain materials that places share, and colours drawn for them."""

from __future__ import annotations

from functools import lru_cache

from simulator.studio.solid.forms import Colour, Material
from simulator.world.pictures.traits import Draws, oklch


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
