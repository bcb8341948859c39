"""Any picture the library is given → RGB codes, h × w × 3."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mmrag.errors import ImageError
from mmrag.files.images import LazyImage, check_size, decode, size_of, upright_rgb
from simulator.optics.light.srgb import Image

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

    Picture = np.ndarray[Any, np.dtype[Any]] | PilImage | LazyImage


MAX_PIXELS = 36_000_000
"""Largest picture that is degraded: a pixel takes up to 28 bytes while light is computed."""

_KEPT = 16_000_000
"""Largest picture that its `LazyImage` keeps decoded for the next condition."""


def as_rgb(image: Picture) -> Image:
    """Accept arrays (grey, RGB, RGBA; 8 or 16 bits), Pillow pictures of any mode, LazyImage."""
    if isinstance(image, LazyImage):
        width, height = size_of(image.data, name=image.name)
        check_size(width, height, name=image.name, most=MAX_PIXELS)
        kept = width * height <= _KEPT
        return np.asarray(image.pil() if kept else decode(image.data, name=image.name), np.uint8)
    if not isinstance(image, np.ndarray):
        check_size(*image.size, most=MAX_PIXELS)
        return np.asarray(upright_rgb(image), np.uint8)
    array = image
    if array.dtype == np.uint16:
        array = (array / 257.0 + 0.5).astype(np.uint8)
    if array.dtype != np.uint8:
        raise ImageError(f"an array of {array.dtype}; give uint8 or uint16.")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or 0 in array.shape:
        raise ImageError(f"an array of shape {image.shape}; give h × w, h × w × 3 or h × w × 4.")
    check_size(array.shape[1], array.shape[0], most=MAX_PIXELS)
    if array.shape[2] == 4:
        over = array[:, :, 3:].astype(np.uint16)
        mixed = array[:, :, :3].astype(np.uint16) * over + 255 * (255 - over)
        array = ((mixed + 127) // 255).astype(np.uint8)
    if array.shape[2] == 1:
        array = np.repeat(array, 3, axis=2)
    return np.ascontiguousarray(array)


def digest(image: Image) -> str:
    """Hash of the pixels and their shape."""
    sha = hashlib.sha256(repr(image.shape).encode())
    sha.update(np.ascontiguousarray(image).data)
    return sha.hexdigest()
