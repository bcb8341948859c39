"""A blind look at a picture's quality, and the restoration that follows from it.

Estimated from pixels alone: brightness, sharpness, noise. The metadata of a data set says what was
done to a picture; an agent is not told. Restored pictures are used beside the original, never in
its place, because restoring a good picture only loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmrag.records import Record

if TYPE_CHECKING:
    from PIL.Image import Image

_SIDE = 320


class Quality(Record, frozen=True, kw_only=True):
    """What can be seen of a picture's quality."""

    brightness: float
    """Mean luma, 0 to 1."""
    sharpness: float
    """Standard deviation of the Laplacian over that of the luma: falls with blur."""
    noise: float
    """Robust standard deviation of the finest detail, 0 to 1."""

    @property
    def needs_light(self) -> bool:
        """Too dark to read."""
        return self.brightness < 0.22

    @property
    def needs_sharpening(self) -> bool:
        """Blurred, and not merely plain."""
        return self.sharpness < 0.12


def estimate_quality(image: Image) -> Quality:
    """Measure a picture."""
    grey = image.convert("L")
    grey.thumbnail((_SIDE, _SIDE))
    luma = np.asarray(grey, dtype=np.float32) / 255.0
    if min(luma.shape) < 3:
        return Quality(brightness=float(luma.mean()), sharpness=1.0, noise=0.0)
    centre = luma[1:-1, 1:-1]
    laplace = luma[:-2, 1:-1] + luma[2:, 1:-1] + luma[1:-1, :-2] + luma[1:-1, 2:] - 4 * centre
    detail = laplace.std() / max(float(luma.std()), 1e-3)
    noise = float(np.median(np.abs(laplace - np.median(laplace)))) / 0.6745 / 4.47
    return Quality(
        brightness=round(float(luma.mean()), 4),
        sharpness=round(float(detail), 4),
        noise=round(noise, 4),
    )


def restore(image: Image, quality: Quality) -> Image | None:
    """A brighter or sharper version, or None when nothing is wrong."""
    from PIL import Image as pil
    from PIL import ImageFilter

    restored: Image | None = None
    if quality.needs_light:
        pixels = np.asarray(image, dtype=np.float32)
        top = max(float(np.percentile(pixels, 99.5)), 8.0)
        low = float(np.percentile(pixels, 0.5))
        span = np.clip((pixels - low) / max(top - low, 4.0), 0.0, 1.0)
        restored = pil.fromarray((255.0 * span**0.6).astype(np.uint8))
        if quality.noise > 0.015:
            restored = restored.filter(ImageFilter.MedianFilter(3))
    if quality.needs_sharpening:
        restored = (restored or image).filter(
            ImageFilter.UnsharpMask(radius=3, percent=180, threshold=2)
        )
    return restored
