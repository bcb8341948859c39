"""sRGB codes ↔ linear light, by table.

Linear light is kept in 15 bits of a uint16: code 1 of sRGB is 10 units, so nothing is lost, and
a convolution with weights that sum to 512 stays below 2²⁴, where float32 is exact. That is what
lets another backend reproduce the bytes whatever order it sums in.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""h × w × 3, RGB, sRGB codes."""

Light = NDArray[np.uint16]
"""h × w × 3, RGB, linear light, 0 to `WHITE`."""

WHITE = 32767

Value = TypeVar("Value", np.uint8, np.uint16)


def srgb_to_light(codes: NDArray[Any]) -> NDArray[np.float64]:
    """The sRGB curve on 0–1."""
    x = np.asarray(codes, np.float64)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def light_to_srgb(light: NDArray[Any]) -> NDArray[np.float64]:
    """Its inverse on 0–1."""
    x = np.clip(np.asarray(light, np.float64), 0.0, 1.0)
    return np.where(x <= 0.0031308, x * 12.92, 1.055 * x ** (1 / 2.4) - 0.055)


def to_light(image: Image) -> Light:
    """Codes to linear light."""
    return cv2.LUT(image, _decoding()).astype(np.uint16, copy=False)


def as_light(picture: Image | Light) -> Light:
    """Light as it is, or the light of codes."""
    if picture.dtype == np.uint8:
        return to_light(np.asarray(picture, np.uint8))
    return np.asarray(picture, np.uint16)


def as_float(picture: Image | Light) -> NDArray[np.float32]:
    """Light, or the light of codes, as float32 on the same scale."""
    if picture.dtype == np.uint8:
        return np.asarray(cv2.LUT(picture, _decoding().astype(np.float32)), np.float32)
    return picture.astype(np.float32)


def to_codes(light: Light) -> Image:
    """Linear light to codes; `to_codes(to_light(x)) == x`."""
    return gather(_encoding(), light)


def gather(
    table: NDArray[Value], index: NDArray[np.uint16], out: NDArray[Value] | None = None
) -> NDArray[Value]:
    """`table[index]` for a table of 65,536; OpenCV 5 does it ten times faster than NumPy."""
    if _HAS_WIDE_LUT:
        found = cv2.LUT(index, table.reshape(1, -1), out)
        return np.asarray(found, table.dtype).reshape(index.shape)
    return np.take(table, index, out=out)


@cache
def _decoding() -> NDArray[np.uint16]:
    return np.rint(srgb_to_light(np.arange(256) / 255.0) * WHITE).astype(np.uint16)


@cache
def _encoding() -> Image:
    return np.rint(light_to_srgb(np.arange(65536) / WHITE) * 255.0).astype(np.uint8)


def _wide_lut_works() -> bool:
    """OpenCV 4 has no 16-bit LUT."""
    index = np.array([[0, 258, 65535]], np.uint16)
    table = (np.arange(65536) % 251).astype(np.uint8)
    try:
        return bool((cv2.LUT(index, table.reshape(1, -1)).ravel() == table[index.ravel()]).all())
    except cv2.error:
        return False


_HAS_WIDE_LUT = _wide_lut_works()
