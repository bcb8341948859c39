"""Numbers that make an entity itself: continuous draws hashed from kind, family and variant.

Every draw has a name, so adding one never changes another, and there is no list of presets to run
out of: two families differ in dozens of independent numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from simulator.world.facts.look import Look

T = TypeVar("T")

Colour = tuple[float, float, float]
"""Red, green, blue as on a screen (sRGB), 0–255."""

WHITE: Colour = (255.0, 255.0, 255.0)
"""White; as a material's colour it leaves the colour to the sheet."""


def hashed_number(*parts: object) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / (1 << 53)


class Draws:
    """A named stream of draws under one key."""

    def __init__(self, *key: object) -> None:
        self._key = key

    def _unit(self, name: str) -> float:
        return hashed_number(*self._key, name)

    def __call__(self, name: str, low: float = 0.0, high: float = 1.0) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self._unit(name)

    def count(self, name: str, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._unit(name) * (high - low + 1))

    def chance(self, name: str, share: float = 0.5) -> bool:
        """True in `share` of the cases."""
        return self._unit(name) < share

    def pick(self, name: str, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self._unit(name) * len(options))]


class _FamilyDraws(Draws):
    """What a family shares, but for the traits that one of it has otherwise."""

    def __init__(self, look: Look) -> None:
        super().__init__("family", look.kind, look.family)
        self._look = look

    def _unit(self, name: str) -> float:
        look = self._look
        if look.own_traits and hashed_number("own", look.kind, look.family, name) < look.own_traits:
            return hashed_number(*self._key, look.variant, name)
        return super()._unit(name)


class Palette(NamedTuple):
    """The colours of one entity: the family decides the first two, the variant the accent."""

    base: Colour
    second: Colour
    accent: Colour
    dark: Colour
    light: Colour
    hue: float


class Traits:
    """The numbers of one entity: look-alikes share the `family` draws, not the `variant` ones."""

    def __init__(self, look: Look) -> None:
        self.family: Draws = _FamilyDraws(look)
        self.variant = Draws("variant", look.kind, look.family, look.variant)

    def near(self, name: str, low: float, high: float, spread: float = 0.25) -> float:
        """A family number that each variant bends by up to `spread` of the range."""
        own = self.family(name, low, high)
        bent = own + (high - low) * spread * (self.variant(name) - 0.5) * 2
        return min(max(bent, low), high)

    def palette(self, *, vivid: float = 1.0, light: tuple[float, float] = (0.45, 0.75)) -> Palette:
        """The entity's colours. `vivid` scales the chroma, `light` bounds the base's lightness."""
        f, v = self.family, self.variant
        hue = f("hue", 0, 360) + v("hue", -9, 9)
        chroma = f("chroma", 0.05, 0.19) * vivid
        level = f("level", *light) + v("level", -0.035, 0.035)
        step = f.pick("scheme", (28.0, 60.0, 120.0, 150.0, 180.0, 210.0, 320.0))
        second = hue + step + v("second", -16, 16)
        accent = v("accent", 0, 360)
        return Palette(
            base=oklch(level, chroma, hue),
            second=oklch(
                f("second-level", 0.4, 0.88), f("second-chroma", 0.04, 0.17) * vivid, second
            ),
            accent=oklch(
                v("accent-level", 0.55, 0.8), v("accent-chroma", 0.11, 0.19) * vivid, accent
            ),
            dark=oklch(0.27, min(chroma, 0.06), hue),
            light=oklch(0.95, 0.02, second),
            hue=hue % 360,
        )


def oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """OKLCH to sRGB: steps of equal size look equally large, so palettes stay balanced.

    The numbers are Björn Ottosson's (Oklab, 2020), by way of linear sRGB.
    """
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        _encode(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
        _encode(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
        _encode(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short),
    )


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the second colour in the first."""
    return (
        first[0] + (second[0] - first[0]) * share,
        first[1] + (second[1] - first[1]) * share,
        first[2] + (second[2] - first[2]) * share,
    )


def brighten(colour: Colour, factor: float) -> Colour:
    """Lighter (above 1) or darker."""
    return (
        min(colour[0] * factor, 255.0),
        min(colour[1] * factor, 255.0),
        min(colour[2] * factor, 255.0),
    )


def luma(colour: Colour) -> float:
    """Perceived brightness, 0–255."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def ink_on(ground: Colour, palette: Palette) -> Colour:
    """The palette's colour that can be read on `ground`."""
    return brighten(palette.dark, 0.7) if luma(ground) > _PALE else mix(palette.light, WHITE, 0.6)


_PALE = 135
"""Perceived brightness above which a ground takes dark ink."""


def _encode(linear: float) -> float:
    linear = min(max(linear, 0.0), 1.0)
    if linear <= 0.0031308:
        return 255 * 12.92 * linear
    return 255 * (1.055 * linear ** (1 / 2.4) - 0.055)
