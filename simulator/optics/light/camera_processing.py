"""What happens to a picture beside the thing it shows: stray light in the lens, and then the
camera's own processor, which smooths, balances, resizes and packs.

Where albumentations has the operation it is the one that runs, with values in place of its draws.
"""

from __future__ import annotations

import io
import os
from functools import cache, lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.files.images import check_can_write
from simulator.optics.light.srgb import WHITE, Image, Light, light_to_srgb, srgb_to_light

MIREDS = (0.0, 25.0, 50.0, 75.0, 100.0, 130.0)
"""Severity → how far the white balance is off, in mired of colour temperature. 5 can be seen."""

_DAYLIGHT = 6500.0
_FLARE_SIDE = 320
"""Longer side at which flare is drawn: there albumentations' fixed blurs are wide."""
_VEIL = 0.08
"""Of the flare's brightest light, what the lens spreads over the whole picture."""
_SUN = (255, 250, 235)
_GHOSTS = ((0.55, 9, (120, 160, 255)), (1.25, 16, (255, 190, 120)), (1.7, 24, (150, 255, 190)))
"""Where on the line from the source through the middle (1), radius, colour."""


def resampled(image: Image, factor: float, variant: str) -> Image:
    """Make the picture `factor` times smaller and as large as it was again."""
    h, w = image.shape[:2]
    if variant == "narrow":  # as a stream sends fewer columns than it shows
        small = cv2.resize(image, (max(1, round(w / factor)), h), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)
    down, up = (
        (cv2.INTER_NEAREST, cv2.INTER_NEAREST)
        if variant == "aliased"
        else (cv2.INTER_AREA, cv2.INTER_LINEAR)
    )
    least = 1.0 / min(h, w)
    return np.asarray(_pixel().downscale(image, max(1 / factor, least), down, up), np.uint8)


def compress_picture(image: Image, quality: int, factor: float, variant: str) -> Image:
    """Encode and decode once, chroma at half resolution; first `factor` times smaller."""
    h, w = image.shape[:2]
    if factor > 1:
        size = max(1, round(w / factor)), max(1, round(h / factor))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    if variant != "avif":
        kind = ".jpg" if variant == "jpeg" else ".webp"
        done = np.ascontiguousarray(_pixel().image_compression(image, quality, kind))
    else:
        from PIL import Image as pil

        check_can_write("avif")
        buffer = io.BytesIO()
        pil.fromarray(image).save(buffer, "AVIF", quality=quality, speed=9, max_threads=1)
        with pil.open(buffer) as decoded:
            done = np.asarray(decoded.convert("RGB"), np.uint8)
    if factor > 1:
        done = np.asarray(cv2.resize(done, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)
    return done


def denoised(image: Image, contrast: float, radius: int) -> Image:
    """Smooth what differs by less than about `contrast` (0–1) and keep edges: a guided filter.
    Colour, which phones smooth more, is averaged over the whole window."""
    window = (2 * radius + 1, 2 * radius + 1)
    planes = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb)
    luma = np.ascontiguousarray(planes[:, :, 0]).astype(np.float32)
    mean = cv2.blur(luma, window)
    spread = cv2.blur(luma * luma, window) - mean * mean
    share = np.maximum(spread, 0) / (np.maximum(spread, 0) + (255.0 * contrast) ** 2)
    smooth = cv2.blur(share, window) * luma + cv2.blur((1 - share) * mean, window)
    planes[:, :, 0] = np.clip(np.rint(smooth), 0, 255).astype(np.uint8)
    planes[:, :, 1:] = cv2.blur(planes[:, :, 1:], window)
    return np.asarray(cv2.cvtColor(planes, cv2.COLOR_YCrCb2RGB), np.uint8)


def shift_white_balance(image: Image, mireds: float) -> Image:
    """A white balance that is off by so many mired, warm above 0: gains in linear light."""
    return np.asarray(cv2.LUT(image, _balance(mireds)), np.uint8)


def white_gains(mireds: float) -> NDArray[np.float64]:
    """Gains of red, green and blue, at equal luminance of white."""
    kelvin = 1e6 / (1e6 / _DAYLIGHT + abs(mireds))
    shift = _planck(kelvin) / _planck(_DAYLIGHT)
    gains = shift if mireds >= 0 else 1 / shift
    return gains / float(gains @ np.array([0.2126, 0.7152, 0.0722]))


def stray_light(size: tuple[int, int], x: float, y: float) -> Light:
    """What a lamp at (x, y), in parts of the frame, adds to a picture: glow, rays, ghosts, veil."""
    w, h = size
    scale = min(1.0, _FLARE_SIDE / max(w, h))
    sw, sh = max(2, round(w * scale)), max(2, round(h * scale))
    ghosts = [
        # albumentations draws circles with the cube root of what it is given
        (1.0, (round(sw * (x + t * (0.5 - x))), round(sh * (y + t * (0.5 - y)))), r**3 + 1, colour)
        for t, r, colour in _GHOSTS
    ]
    drawn: Any = _pixel().add_sun_flare_physics_based(
        np.zeros((sh, sw, 3), np.uint8), (round(sw * x), round(sh * y)), max(2, sw // 12), _SUN,
        ghosts,
    )  # fmt: skip
    glow = cv2.GaussianBlur(drawn.astype(np.float32) / 255.0, (0, 0), 2.0) + _VEIL
    field = np.rint(np.minimum(glow, 1.0) * WHITE).astype(np.uint16)
    return np.asarray(cv2.resize(field, (w, h), interpolation=cv2.INTER_LINEAR), np.uint16)


def add_stray_light(light: Light, stray: Light, strength: float) -> Light:
    """The picture's light with some of the stray light on top."""
    return np.minimum(cv2.scaleAdd(stray.astype(np.float32), strength, light.astype(np.float32)),
                      WHITE).astype(np.uint16)  # fmt: skip


@lru_cache(maxsize=16)
def _balance(mireds: float) -> Image:
    codes = srgb_to_light(np.arange(256) / 255.0)[:, None] * white_gains(mireds)
    return np.rint(light_to_srgb(codes) * 255.0).astype(np.uint8)[None]


def _planck(kelvin: float) -> NDArray[np.float64]:
    white = _pixel().planckian_jitter(np.ones((1, 1, 3), np.float32) / 4, kelvin, "blackbody")
    return np.asarray(white, np.float64).ravel() * 4


@cache
def _pixel() -> Any:
    """Albumentations' functions; it takes a second to load, and would ask the network for news."""
    os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")
    from albumentations.augmentations.pixel import functional

    return functional
