"""The colour that a thing can be called by among others: seen in the picture, and its own.

Many look-alikes share their colours, so few things have one. It counts only where much of the thing
is of that colour, hardly anything of the others is, and the entity's palette has it: light alone
makes nothing blue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import MmragError
from mmrag.files.images import LazyImage
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits

Outline = Sequence[Sequence[float]]
Pixels = NDArray[np.float64]
Hues = tuple[Pixels, Pixels]
"""Chroma and hue of some pixels."""

_HUES = {
    "red": (15, 40), "orange": (48, 72), "yellow": (88, 108), "green": (128, 168),
    "blue": (232, 275), "purple": (290, 328), "pink": (340, 370),
}  # fmt: skip
"""Colour → its hues in OKLCH. Between them nobody is sure what to call it."""

_WHEEL = {
    "red": (340, 44), "orange": (15, 30), "yellow": (40, 32), "green": (72, 98),
    "blue": (190, 66), "purple": (245, 60), "pink": (302, 52),
}  # fmt: skip
"""Colour → where it begins on the wheel, in degrees, and how far it goes; the next may overlap."""

_MOST, _CLEAR, _LESS, _PALE, _NEAR = 0.2, 2.0, 3.0, 0.06, 20
"""Least share of a thing that has its colour; how much more that is than any other colour of it,
and than what any other thing has of the like; least chroma; degrees that light may turn a hue."""


def colours_of(
    image: LazyImage, outlines: Sequence[Outline], looks: Sequence[Look]
) -> tuple[str, ...]:
    """What colour each thing is called by among all of them; empty where by none."""
    things = [_oklch(pixels) for pixels in inside(image, outlines)]
    if len(things) != len(looks) or len(looks) < 2:
        return ("",) * len(looks)
    return tuple(
        _name(thing, things[:n] + things[n + 1 :], look)
        for n, (thing, look) in enumerate(zip(things, looks, strict=True))
    )


def palette_has(look: Look | None, colour: str) -> bool:
    """Whether a colour is in an entity's palette."""
    if look is None:
        return False
    palette = Traits(look).palette()
    own = np.array([palette.base, palette.second, palette.accent])
    return _share(colour, _oklch(own), turned=_NEAR) > 0


def inside(image: LazyImage, outlines: Sequence[Outline]) -> list[Pixels]:
    """The pixels within each outline; nothing where the picture cannot be read."""
    from PIL import Image, ImageDraw

    try:  # a fresh one: it is not to stay decoded for as long as the session lives
        picture = LazyImage.from_bytes(image.data, name=image.name).pil().convert("RGB")
    except MmragError:
        return []
    pixels, found = np.asarray(picture, np.float64), list[Pixels]()
    for outline in outlines:
        mask = Image.new("1", picture.size)
        ImageDraw.Draw(mask).polygon([(float(p[0]), float(p[1])) for p in outline], fill=1)
        found.append(pixels[np.asarray(mask)])
    return found


def colour_shares(pixels: Pixels) -> dict[str, float]:
    """Share of some pixels that is of each colour of a painter's wheel, where it is strong."""
    high, low = pixels.max(1, initial=0), pixels.min(1, initial=255)
    spread = np.maximum(high - low, 1e-6)
    red, green, blue = pixels.T
    sixth = np.where(
        high == red,
        (green - blue) / spread % 6,
        np.where(high == green, (blue - red) / spread + 2, (red - green) / spread + 4),
    )
    strong = (high - low > 0.15 * high) & (high > 30)
    return {
        name: float((strong & ((60 * sixth - start) % 360 < width)).mean()) if len(pixels) else 0.0
        for name, (start, width) in _WHEEL.items()
    }


def _name(mine: Hues, others: Sequence[Hues], look: Look) -> str:
    own = {name: _share(name, mine) for name in _HUES}
    second, first = sorted(own, key=lambda name: own[name])[-2:]
    clear = own[first] >= max(_MOST, _CLEAR * own[second])
    alone = all(own[first] >= _LESS * _share(first, other, turned=_NEAR) for other in others)
    return first if clear and alone and palette_has(look, first) else ""


def _share(name: str, hues: Hues, turned: float = 0) -> float:
    """How much is of a colour, or may be of it under another light."""
    (low, high), (chroma, hue) = _HUES[name], hues
    of_it = (chroma > _PALE) & ((hue - low + turned) % 360 <= high - low + 2 * turned)
    return float(of_it.mean()) if len(hue) else 0.0


def _oklch(pixels: Pixels) -> Hues:
    c = pixels / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    a, b = _TO_AB @ np.cbrt(_TO_LMS @ linear.T)
    return np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360


_TO_LMS: NDArray[Any] = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_AB: NDArray[Any] = np.array(
    [[1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]]
)
