"""Any picture the library is given → RGB codes, h × w × 3."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mmrag.errors import ImageError
from mmrag.images import MAX_PIXELS, LazyImage, upright_rgb
from simulator.optics.tone import Image

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

    Picture = np.ndarray[Any, np.dtype[Any]] | PilImage | LazyImage


def as_rgb(image: Picture) -> Image:
    """Accept arrays (grey, RGB, RGBA; 8 or 16 bits), Pillow pictures of any mode, LazyImage."""
    if isinstance(image, LazyImage):
        return np.asarray(image.pil(), np.uint8)
    if not isinstance(image, np.ndarray):
        if image.size[0] * image.size[1] > MAX_PIXELS:
            raise ImageError(f"{image.size[0]} × {image.size[1]} pixels: scale it down first.")
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
    if array.shape[0] * array.shape[1] > MAX_PIXELS:
        raise ImageError(f"{array.shape[1]} × {array.shape[0]} pixels: scale it down first.")
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
