"""Little light: photon and read noise, gain and tone in one table look-up.

A sensor collects e ~ Poisson(N₀·2^−EV·L) + N(0, σᵣ) electrons and shows enc(g·e/N₀). Instead of
drawing e for every sample, `table` holds the inverse distribution function of the *displayed code*
for each of 256 tones at 256 quantiles; one random byte per sample picks the quantile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from statistics import NormalDist

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.records import Record
from simulator.optics.light.srgb import WHITE, Image, Light, gather, srgb_to_light, to_codes
from simulator.optics.random_streams import generator, philox

FULL_WELL = 2000.0
"""N₀: electrons of a white sample at EV 0."""

READ_NOISE = 3.0
"""σᵣ in electrons."""

ROW_NOISE = {4: 0.7, 5: 1.1}
"""Severity → deviation of a row's offset, in electrons; cheap sensors stripe when starved."""

EV_STEP = 1 / 16
"""EV is quantised so that tables can be cached."""

SURROUND_EV = 0.8
"""The entity is the darkest spot: far from it there is this much more light."""

_STRIP = 1 << 17
"""Samples done at a time: index and picture stay in the second-level cache."""

_PERIOD, _OTHER_PERIOD = 1 << 16, 49_157

ROW_LEVELS = 16
"""Offsets are quantised to so many, each with a table."""


class Exposure(Record, frozen=True, kw_only=True):
    """What the sensor was given."""

    ev: float
    """Stops below a good exposure, at the entity."""
    row_noise: float = 0.0
    spot: tuple[float, float, float, float] | None = None
    """Centre and radii of the dark spot around the entity; None is even light."""

    @property
    def gain(self) -> float:
        """The camera lifts half of what is missing."""
        return 2.0 ** ((self.ev - 0.5) / 2)


Samples = tuple[slice, NDArray[np.uint16]]
"""Rows of a picture, and where each sample of them stands in a table: (tone, quantile)."""


def expose(image: Image | Light, exposure: Exposure, key: str, severity: int) -> Image:
    """The picture as the sensor delivers it, in sRGB codes. What comes in may be light or codes."""
    out = np.empty(image.shape, np.uint8)
    develop(table_indices(image, exposure.spot, key, severity), out, exposure, key, severity)
    return out


def table_indices(
    image: Image | Light, spot: tuple[float, float, float, float] | None, key: str, severity: int
) -> Iterator[Samples]:
    """What does not depend on how much light there is, strip by strip."""
    h, w = image.shape[:2]
    shade = None if spot is None else illumination((h, w), spot)
    windows, turns = _dither_rows(key, severity, h, w) if shade is not None else (None, None)
    rows = min(h, max(16, _STRIP // (w * 3)))
    take = _random_source(key, severity, rows * w * 3)
    for top in range(0, h, rows):
        strip = slice(top, top + rows)
        tones = image[strip]
        if shade is not None and windows is not None and turns is not None:
            tones = _tones_under(tones, shade[strip], windows[turns[strip]])
        elif tones.dtype != np.uint8:
            tones = to_codes(np.asarray(tones, np.uint16))
        quantile = take(top * w * 3, tones.size)
        index = cv2.merge([quantile[None], tones.reshape(1, -1)]).view(np.uint16)
        yield strip, index.reshape(-1, w * 3)


def develop(
    strips: Iterable[Samples], out: Image, exposure: Exposure, key: str, severity: int
) -> None:
    """Fill in the displayed codes of those rows."""
    h, w = out.shape[:2]
    square = exposure.spot is not None
    ev = exposure.ev - (SURROUND_EV if square else 0.0)
    offsets = row_levels(h, exposure, key, severity)
    shifts = [0.0] if offsets is None else [level_offset(n, exposure) for n in range(ROW_LEVELS)]
    tables = [code_table(ev, exposure.gain, shift, square) for shift in shifts]
    for strip, index in strips:
        shown = out[strip].reshape(-1, w * 3)
        if offsets is None:
            gather(tables[0], index, shown)
            continue
        for i, level in enumerate(offsets[strip]):
            gather(tables[level], index[i : i + 1], shown[i : i + 1])


@lru_cache(maxsize=512)
def code_table(ev: float, gain: float, offset: float, square: bool) -> Image:
    """Displayed code by (tone, quantile). Tones are sRGB codes, or roots of light if `square`."""
    tones = np.arange(256) / 255.0
    light = tones**2 if square else srgb_to_light(tones)
    electrons = (FULL_WELL * 2.0**-ev * light)[:, None]
    variance = electrons + READ_NOISE**2
    z = _quantiles()[None, :]
    # Cornish–Fisher: exact cumulants of Poisson + normal, whose skew is small thanks to σᵣ.
    skew = electrons / variance**1.5
    kurt = electrons / variance**2
    shape = (
        z + skew * (z**2 - 1) / 6 + kurt * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    )
    shape /= np.sqrt((shape**2).mean(axis=1, keepdims=True))
    drawn = electrons + offset + np.sqrt(variance) * shape
    shown = np.clip(gain / FULL_WELL * WHITE * drawn, 0, 65535) + 0.5
    return to_codes(shown.astype(np.uint16)).reshape(-1)


@lru_cache(maxsize=512)
def moments(ev: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of the displayed code for every sRGB code."""
    shown = code_table(ev, Exposure(ev=ev).gain, 0.0, False).reshape(256, 256)
    return shown.mean(axis=1), shown.std(axis=1)


def illumination(
    shape: tuple[int, int], spot: tuple[float, float, float, float]
) -> NDArray[np.uint16]:
    """Root of the light on every pixel, 65535 far from the entity. Smooth, so drawn small."""
    h, w = shape
    cx, cy, rx, ry = spot
    small_h, small_w = min(h, 64), min(w, 64)
    y = ((np.arange(small_h) + 0.5) * h / small_h - cy) / ry
    x = ((np.arange(small_w) + 0.5) * w / small_w - cx) / rx
    near = np.exp(-0.5 * (x[None, :] ** 2 + y[:, None] ** 2))
    root = 2.0 ** (-SURROUND_EV * near / 2)
    small = np.rint(root * 65535.0).astype(np.uint16)
    return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_LINEAR), np.uint16)


def _random_source(
    key: str, severity: int, longest: int
) -> Callable[[int, int], NDArray[np.uint8]]:
    """The bytes of the samples from a place on, at most `longest` of them.

    Two short streams, repeated and combined: each byte is uniform and any two are independent, as
    their lengths have no common divisor. Drawing a byte for every sample would cost ten times more.
    """
    bits = philox(key, "low-light", severity)
    one, other = (
        np.resize(_bytes_of(bits, period), longest + period) for period in (_PERIOD, _OTHER_PERIOD)
    )

    def take(start: int, count: int) -> NDArray[np.uint8]:
        a, b = start % _PERIOD, start % _OTHER_PERIOD
        return np.bitwise_xor(one[a : a + count], other[b : b + count])

    return take


def row_levels(rows: int, exposure: Exposure, key: str, severity: int) -> NDArray[np.intp] | None:
    """Which of 16 offset levels each row has; None without row noise."""
    if exposure.row_noise <= 0:
        return None
    return generator(key, "row-noise", severity).integers(0, ROW_LEVELS, rows)


def level_offset(level: int, exposure: Exposure) -> float:
    """The offset of one of the levels in electrons."""
    return exposure.row_noise * NormalDist().inv_cdf((level + 0.5) / ROW_LEVELS)


def _tones_under(
    image: Image | Light, shade: NDArray[np.uint16], rounding: NDArray[np.uint16]
) -> Image:
    """Roots of the light that falls on the sensor, dithered to 8 bits so that means are kept."""
    if image.dtype == np.uint8:
        lit = np.asarray(cv2.LUT(image, roots()), np.uint16)
    else:
        lit = gather(_roots_of_light(), np.asarray(image, np.uint16))
    cv2.multiply(lit, cv2.cvtColor(shade, cv2.COLOR_GRAY2RGB), lit, scale=1 / 65535.0)
    np.add(lit, rounding.reshape(lit.shape), out=lit)
    return (lit >> 8).astype(np.uint8)


def _dither_rows(
    key: str, severity: int, h: int, w: int
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The row in every rotation, and the rotation of each row of the picture."""
    tile = _bytes_of(philox(key, "dither", severity), w * 3).astype(np.uint16)
    turns = generator(key, "dither-rows", severity).integers(0, w * 3, h)
    twice = np.concatenate([tile, tile])
    return np.lib.stride_tricks.sliding_window_view(twice, w * 3), turns


@cache
def _quantiles() -> NDArray[np.float64]:
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / 256) for i in range(256)])


@cache
def roots() -> NDArray[np.uint16]:
    """Root of the light of every sRGB code, in 8.8 bits."""
    return np.rint(np.sqrt(srgb_to_light(np.arange(256) / 255.0)) * 65280.0).astype(np.uint16)


@cache
def _roots_of_light() -> NDArray[np.uint16]:
    """The same for every value of linear light."""
    return np.rint(np.sqrt(np.minimum(np.arange(65536) / WHITE, 1.0)) * 65280.0).astype(np.uint16)


def _bytes_of(bits: np.random.Philox, count: int) -> NDArray[np.uint8]:
    raw = bits.random_raw(-(-count // 8))
    return raw.astype("<u8", copy=False).view(np.uint8)[:count]
