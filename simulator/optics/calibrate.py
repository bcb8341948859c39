"""A level means the same for every picture: parameters are solved for a similarity on the entity.

Similarity is SSIM of the entity's crop at a canonical size. A quick model of each operation at
that size is bisected; the pipeline then renders, measures and corrects.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box
from simulator.optics.light import blur, lowlight
from simulator.optics.light.srgb import Image, light_to_srgb, srgb_to_light

LADDER = (1.0, 0.90, 0.78, 0.66, 0.54, 0.42)
"""Severity → SSIM on the entity."""

CANONICAL = 160
"""Longest side of the crop on which similarity is measured."""

EV = (0.0, 1.5, 2.5, 3.5, 4.5, 5.5)
MOTION = (0.0, 0.01, 0.02, 0.035, 0.06, 0.10)
"""Severity → length/width without calibration; roll uses it for the arc at the entity."""
DEFOCUS = (0.0, 0.004, 0.008, 0.013, 0.02, 0.032)
"""Severity → radius/width without calibration."""
RESAMPLED = (1.0, 1.5, 2.5, 4.0, 6.0, 10.0)
"""Severity → how many times smaller, without calibration."""
PACKED = (0.0, 60.0, 80.0, 90.0, 95.0, 98.0)
"""Severity → 100 − quality without calibration; beyond 99 a smaller picture."""
DENOISED = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Severity → the contrast that is smoothed, without calibration."""
FLARE = (0.0, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Severity → strength of the stray light without calibration."""

EV_RANGE = (0.25, 10.0)
LENGTH_RANGE = (0.0, 0.25)
RADIUS_RANGE = (0.0, 0.08)
FACTOR_RANGE = (1.05, 64.0)
PACKED_RANGE = (1.0, 130.0)
CONTRAST_RANGE = (0.005, 4.0)
FLARE_RANGE = (0.01, 20.0)

TOLERANCE = 0.03
"""A step whose similarity misses the ladder by more is flagged as clamped."""

_ALIGNED = 8
"""Of this a reduction of the picture is a divisor."""

_ROUGH = 1e-3
"""A similarity nearer to the target than this is computed to the last bit."""

_CLOSE = 0.018
_CORRECTIONS = 6
_STEPS = 7
_LEAST = 16

Gray = NDArray[np.float32]

Rendered = TypeVar("Rendered")


class Crop:
    """The entity at canonical size, with the surroundings that a blur draws from."""

    def __init__(self, image: Image, box: Box) -> None:
        h, w = image.shape[:2]
        self.box = _grown(box, w, h)
        x0, y0, x1, y1 = self.box
        self.scale = min(1.0, CANONICAL / max(x1 - x0, y1 - y0))
        pad = max(x1 - x0, y1 - y0) // 2
        wide = (max(0, x0 - pad), max(0, y0 - pad), min(w, x1 + pad), min(h, y1 + pad))
        self.wide = _shrunk(image, wide, self.scale)
        self._inner = tuple(
            round(v * self.scale) for v in (x0 - wide[0], y0 - wide[1], x1 - wide[0], y1 - wide[1])
        )
        self.clean = self.inner(gray(self.wide))
        self.before = GrayReference(self.clean)

    def inner(self, plane: NDArray[np.float32]) -> Gray:
        """The entity's part of a plane."""
        x0, y0, x1, y1 = self._inner
        return np.ascontiguousarray(plane[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)])

    def smeared(self, light: Gray, psf: NDArray[np.float64], *, roughly: bool) -> Gray:
        """The entity under a blur. Roughly leaves out what lies too far away to reach it: the same
        but for the last bits, as OpenCV's Fourier transforms are then of another size."""
        top, left = 0, 0
        if roughly:
            x0, y0, x1, y1 = self._inner
            ry, rx = (side // 2 + 1 for side in psf.shape)
            top, left = max(0, y0 - ry), max(0, x0 - rx)
            light = light[top : y1 + 1 + ry, left : x1 + 1 + rx]
        done = cv2.filter2D(light, cv2.CV_32F, psf, borderType=cv2.BORDER_REFLECT_101)
        whole = np.asarray(done, np.float32)
        x0, y0, x1, y1 = self._inner
        part = whole[y0 - top : max(y1, y0 + 1) - top, x0 - left : max(x1, x0 + 1) - left]
        return np.ascontiguousarray(part)


class CleanReference:
    """A clean picture's entity, or all of it, as similarity looks at it."""

    def __init__(self, clean: Image, box: Box | None = None) -> None:
        h, w = clean.shape[:2]
        self.box = _grown(box or (0.0, 0.0, float(w), float(h)), w, h)
        x0, y0, x1, y1 = self.box
        self._scale = min(1.0, CANONICAL / max(x1 - x0, y1 - y0))
        self._before = GrayReference(gray(_shrunk(clean, self.box, self._scale)))

    def similarity(
        self, degraded: Image, start: tuple[int, int] = (0, 0), *, gain_matched: bool = False
    ) -> float:
        """SSIM at canonical size. `degraded` may be a part that starts at x, y of the picture."""
        left, top = start
        x0, y0, x1, y1 = self.box
        inside = (x0 - left, y0 - top, x1 - left, y1 - top)
        after = gray(_shrunk(degraded, inside, self._scale))
        return self._before.ssim(self._before.brightened(after) if gain_matched else after)


class GrayReference:
    """A clean plane, with what is the same in all comparisons to it."""

    def __init__(self, plane: Gray) -> None:
        self._plane = plane
        mu = self._mu = _mean(plane)
        self._var = _mean(plane * plane) - mu * mu

    def ssim(self, after: Gray) -> float:
        """Structural similarity with the usual Gaussian window and constants."""
        c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
        mu, mu_after = self._mu, _mean(after)
        square = mu_after * mu_after
        var_after = _mean(after * after) - square
        both = _mean(self._plane * after) - mu * mu_after
        value = ((2 * mu * mu_after + c1) * (2 * both + c2)) / (
            (mu * mu + square + c1) * (self._var + var_after + c2)
        )
        return float(value.mean())

    def brightened(self, after: Gray) -> Gray:
        """Whole codes with the exposure of this plane: noise counts and darkness does not."""
        codes = after.astype(np.uint8)
        light = srgb_to_light(np.arange(256, dtype=np.float32) / 255.0)
        gain = self._gain(float(light[codes].mean()))
        return (light_to_srgb(light * gain) * 255.0).astype(np.float32)[codes]

    def matched(self, after: Gray) -> Gray:
        """The same for values between codes."""
        light = srgb_to_light(after / 255.0)
        return (light_to_srgb(light * self._gain(float(light.mean()))) * 255.0).astype(np.float32)

    def _gain(self, there: float) -> float:
        return self._light / there if there > 0 else 1.0

    @cached_property
    def _light(self) -> float:
        return float(srgb_to_light(self._plane / 255.0).mean())


def gray(image: Image) -> Gray:
    """Luma as float."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.float32)


def solve_ev(crop: Crop, target: float) -> float:
    """Stops below a good exposure, in steps that share tables."""
    rng = np.random.Generator(np.random.Philox(key=7))
    z = rng.standard_normal(crop.clean.shape).astype(np.float32)
    # Shrinking averages scale⁻² samples of three channels weighted as luma is.
    calm = crop.scale * math.sqrt(0.299**2 + 0.587**2 + 0.114**2)
    codes = np.rint(crop.clean).astype(np.uint8)

    def after(ev: float) -> float:
        mean, spread = lowlight.moments(quantised(ev))
        noisy = mean[codes] + calm * spread[codes] * z
        shown = np.clip(noisy, 0, 255).astype(np.float32)
        return crop.before.ssim(crop.before.matched(shown))

    return quantised(bisect_strength(after, target, *EV_RANGE))


def quantised(ev: float) -> float:
    """An EV on the grid of the cached tables."""
    low, high = EV_RANGE
    return min(max(round(ev / lowlight.EV_STEP) * lowlight.EV_STEP, low), high)


def solve_length(crop: Crop, target: float, width: int, angle: float) -> float:
    """Length of a straight smear in pixels of the full picture."""
    light = _light(crop)

    def psf(length: float) -> NDArray[np.float64]:
        turn = math.radians(angle)
        dx, dy = (crop.scale * length * f for f in (math.cos(turn), -math.sin(turn)))
        return blur.line_psf(dx, dy)

    after = _sided(crop, light, psf, target)
    return bisect_strength(after, target, *(f * width for f in LENGTH_RANGE))


def solve_radius(crop: Crop, target: float, width: int) -> float:
    """Radius of the disc of confusion in pixels of the full picture."""
    light = _light(crop)

    def psf(radius: float) -> NDArray[np.float64]:
        return blur.disc_psf(max(radius * crop.scale, 0.3))

    after = _sided(crop, light, psf, target)
    return bisect_strength(after, target, *(f * width for f in RADIUS_RANGE))


def surroundings(shape: tuple[int, ...], box: Box, reach: float) -> tuple[slice, slice]:
    """The part of a picture that a blur with this reach draws the entity from. A blur of the part
    is to the bit the part of the blur: it starts where a reduced pixel does."""
    h, w = shape[:2]
    x0, y0, x1, y1 = _grown(box, w, h)
    margin = math.ceil(reach) + 4 * _ALIGNED
    left, top = (max(0, (v - margin) // _ALIGNED * _ALIGNED) for v in (x0, y0))
    right, bottom = min(w, x1 + margin), min(h, y1 + margin)
    if right < w:
        right = left + (right - left) // _ALIGNED * _ALIGNED
    if bottom < h:
        bottom = top + (bottom - top) // _ALIGNED * _ALIGNED
    return slice(top, bottom), slice(left, right)


def correct_strength(
    render: Callable[[float], tuple[float, Rendered]],
    start: float,
    target: float,
    bounds: tuple[float, float],
) -> tuple[float, float, Rendered]:
    """Render, measure, and move the parameter until the measurement agrees with the ladder."""
    low, high = bounds
    value = min(max(start, low), high)
    reached, image = render(value)
    best = (abs(reached - target), value, reached, image)
    tried = [(value, reached)]
    for _ in range(_CORRECTIONS):
        if best[0] <= _CLOSE:
            break
        above = [t for t in tried if t[1] > target]
        below = [t for t in tried if t[1] <= target]
        if above and below:
            # Similarity falls with the parameter: interpolate between the tightest pair.
            (a, sa), (b, sb) = max(above), min(below)
            value = a + (b - a) * min(max((sa - target) / max(sa - sb, 1e-6), 0.1), 0.9)
        else:
            last = tried[-1][0]
            factor = 1.25 if best[0] < 0.06 else 1.6
            value = last * factor if above else last / factor
            value = min(max(value, low), high)
        if any(math.isclose(value, v, rel_tol=1e-3) for v, _ in tried):
            break
        reached, image = render(value)
        tried.append((value, reached))
        best = min(best, (abs(reached - target), value, reached, image), key=lambda t: t[0])
    return best[1], best[2], best[3]


def bisect_strength(
    after: Callable[[float], float], target: float, low: float, high: float
) -> float:
    """Solve for a parameter that grows where similarity falls; out of reach is the nearest end."""
    if after(high) >= target:
        return high
    # The first steps are geometric: the ladder's parameters span two decades.
    for i in range(_STEPS + 2):
        middle = math.sqrt(max(low, high * 0.01) * high) if i < 3 else (low + high) / 2
        low, high = (middle, high) if after(middle) > target else (low, middle)
    return (low + high) / 2


def _sided(
    crop: Crop, light: Gray, psf: Callable[[float], NDArray[np.float64]], target: float
) -> Callable[[float], float]:
    """Similarity under a blur, good enough to say on which side of the target it lies."""

    def after(value: float) -> float:
        kernel = psf(value)
        for roughly in (True, False):
            shown = light_to_srgb(crop.smeared(light, kernel, roughly=roughly)) * 255.0
            reached = crop.before.ssim(shown.astype(np.float32))
            if abs(reached - target) > _ROUGH:
                break
        return reached

    return after


def _mean(x: Gray) -> Gray:
    return np.asarray(cv2.GaussianBlur(x, (11, 11), 1.5), np.float32)


def _light(crop: Crop) -> Gray:
    return srgb_to_light(gray(crop.wide) / 255.0).astype(np.float32)


def _grown(box: Box, w: int, h: int) -> tuple[int, int, int, int]:
    """Whole pixels inside the frame, at least 16 on a side where the frame has them."""

    def side(low: float, high: float, limit: int) -> tuple[int, int]:
        a, b = max(0, math.floor(low)), min(limit, math.ceil(high))
        least = min(_LEAST, limit)
        if b - a < least:
            a = min(max(0, round((low + high) / 2) - least // 2), limit - least)
            b = a + least
        return a, b

    x0, x1 = side(box[0], box[2], w)
    y0, y1 = side(box[1], box[3], h)
    return x0, y0, x1, y1


def _shrunk(image: Image, box: tuple[int, int, int, int], scale: float) -> Image:
    x0, y0, x1, y1 = box
    part = image[y0:y1, x0:x1]
    if scale >= 1.0:
        return np.ascontiguousarray(part)
    size = max(1, round((x1 - x0) * scale)), max(1, round((y1 - y0) * scale))
    return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.uint8)
