"""The colours of people: skin of all humankind, hair, and what they wear."""

from __future__ import annotations

import numpy as np

from simulator.studio.solid.forms import Material
from simulator.world.pictures.traits import Colour, Draws, luma, oklch

_SKIN = np.array([(238, 200, 178), (226, 180, 152), (206, 154, 120), (176, 122, 86), (132, 86, 58),
    (92, 60, 44), (64, 44, 36)], np.float64)  # fmt: skip
"""From the lightest to the darkest, as a phone shows them in daylight."""

_HAIR: tuple[Colour, ...] = (
    (30, 26, 24), (46, 34, 28), (74, 50, 36), (110, 76, 48), (150, 148, 146), (122, 62, 36),
    (168, 130, 84),
)  # fmt: skip


def skin(draws: Draws) -> Colour:
    """A skin tone; the same draws always give the same person's."""
    along = draws("skin", 0, len(_SKIN) - 1)
    tone = [float(np.interp(along, range(len(_SKIN)), _SKIN[:, i])) for i in range(3)]
    warm = draws("skin-warm", -5, 5)
    return (tone[0] + warm, tone[1], tone[2] - warm)


def hair(draws: Draws) -> Material:
    """Hair: black and brown mostly; fair and red with fair skin."""
    fair = min(2 + int(luma(skin(draws)) / 35), len(_HAIR))
    return Material(draws.pick("hair", _HAIR[:fair]), rough=0.55, grain="fur")


def cloth(draws: Draws, name: str, *, rough: float = 0.85) -> Material:
    """What a garment is made of: mostly quiet colours, now and then a bright one."""
    vivid = draws.chance(f"{name}-vivid", 0.3)
    level = draws(f"{name}-level", 0.24, 0.86)
    chroma = draws(f"{name}-chroma", 0.08, 0.16) if vivid else draws(f"{name}-chroma", 0.0, 0.05)
    colour = oklch(level, chroma, draws(f"{name}-hue", 0, 360))
    return Material(colour, rough=rough, grain="cloth")
