"""Defocus, motion and head roll, all in linear light, where blur happens.

Motion is a doubling cascade x ← (x + shift(x, 2ⁱ·w))/2 over an antialiased segment w: log₂ of the
length many passes instead of one for each pixel of it, and exact, because the segments' vector w
is whole pixels. Defocus of a large radius is done at ½ or ¼ of the resolution.
"""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.records import Record
from simulator.optics.light.srgb import Image, Light, as_float

KERNEL_SUM = 512
"""Kernels are whole multiples of 1/512: with 15-bit light float32 sums are exact in any order."""

_LONGEST_SEGMENT = 10.4
"""A kernel of 11 × 11 is the largest that OpenCV convolves directly and not by FFT."""

_STRIP = 1 << 19
"""Samples convolved at a time."""

_BAND = 1 << 20
"""Samples smeared at a time."""

_TURN = math.radians(8)
"""How far a motion may turn from its drawn direction to meet whole pixels."""


class Motion(Record, frozen=True, kw_only=True):
    """A straight smear: `segments` (a power of two) copies of the vector (dx, dy) in a row."""

    dx: float
    dy: float
    segments: int = 1

    @property
    def length(self) -> float:
        """Of the smear in pixels."""
        return self.segments * math.hypot(self.dx, self.dy)

    @property
    def angle(self) -> float:
        """Of the smear in degrees, 0 to 180, counter-clockwise as one sees it."""
        return math.degrees(math.atan2(-self.dy, self.dx)) % 180.0

    @classmethod
    def near(cls, length: float, angle: float) -> Motion:
        """The smear nearest to a wanted length whose direction is within 8° of the wanted."""
        return _nearest(length, angle)


class Roll(Record, frozen=True, kw_only=True):
    """The head turns about an axis through the picture during the exposure."""

    degrees: float
    x: float
    y: float


def motion_blur(picture: Image | Light, motion: Motion) -> Light:
    """Smear the picture. Its content stays where it was: the smear is centred."""
    dx, dy, count = round(motion.dx), round(motion.dy), motion.segments
    kernel = segment_kernel(motion)
    if count == 1:
        return convolve(picture, kernel)
    soft = convolve(picture, kernel)
    h, w = soft.shape[:2]
    reach_x, reach_y = (count - 1) * abs(dx), (count - 1) * abs(dy)
    # The half pixel that an odd reach leaves over is inside the kernel.
    left, above = reach_x // 2, reach_y // 2
    right, below = reach_x - left, reach_y - above
    out = np.empty_like(soft)
    # In bands that stay in the cache through all passes; each sees the rows that its smear reaches.
    bands = max(1, h // max(2 * reach_y + 1, _BAND // (w * 3)))
    for band in range(bands):
        top, bottom = h * band // bands, h * (band + 1) // bands
        first, last = max(0, top - above), min(h, bottom + below)
        x = cv2.copyMakeBorder(
            soft[first:last], first - top + above, bottom + below - last, left, right,
            cv2.BORDER_REFLECT_101,
        )  # fmt: skip
        step = 1
        while step < count:
            sx, sy = step * dx, step * dy
            bh, bw = x.shape[:2]
            ax, bx = max(0, -sx), max(0, sx)
            ay, by = max(0, -sy), max(0, sy)
            one, other = x[ay : bh - by, ax : bw - bx], x[by : bh - ay, bx : bw - ax]
            step *= 2
            shown = out[top:bottom] if step == count else None
            x = cv2.addWeighted(one, 0.5, other, 0.5, 0.0, shown)
    return out


def roll(light: Light, turn: Roll) -> Light:
    """Smear along circles: the same cascade over rotations."""
    h, w = light.shape[:2]
    far = max(math.hypot(x - turn.x, y - turn.y) for x in (0, w) for y in (0, h))
    passes = max(1, math.ceil(math.log2(max(2.0, far * math.radians(abs(turn.degrees)) / 1.5))))

    def rotated(picture: Light, degrees: float) -> Light:
        matrix = cv2.getRotationMatrix2D((turn.x - 0.5, turn.y - 0.5), degrees, 1.0)
        return np.asarray(
            cv2.warpAffine(
                picture, matrix, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101
            ),
            np.uint16,
        )

    # OpenCV warps four channels more than twice as fast as three, to the same bytes.
    x = np.asarray(cv2.cvtColor(light, cv2.COLOR_RGB2RGBA), np.uint16)
    del light  # nobody else may hold it
    x = rotated(x, -turn.degrees * (1 - 0.5**passes) / 2)
    for i in range(1, passes + 1):  # in place: else the largest pictures take a gigabyte and more
        cv2.addWeighted(x, 0.5, rotated(x, turn.degrees * 0.5**i), 0.5, 0.0, dst=x)
    return np.asarray(cv2.cvtColor(x, cv2.COLOR_RGBA2RGB), np.uint16)


def defocus(light: Light, radius: float) -> Light:
    """A disc of confusion of that radius in pixels."""
    if radius < 0.5:
        return light
    h, w = light.shape[:2]
    shrink = reduction(radius)
    if shrink == 1:
        return convolve(light, disc_kernel(reduced_radius(radius)))
    padded = cv2.copyMakeBorder(light, 0, -h % shrink, 0, -w % shrink, cv2.BORDER_REPLICATE)
    ph, pw = padded.shape[:2]
    small = cv2.resize(padded, (pw // shrink, ph // shrink), interpolation=cv2.INTER_AREA)
    kernel = disc_kernel(reduced_radius(radius))
    large = cv2.resize(
        convolve(np.asarray(small, np.uint16), kernel), (pw, ph), interpolation=cv2.INTER_LINEAR
    )
    return np.ascontiguousarray(np.asarray(large, np.uint16)[:h, :w])


def reduction(radius: float) -> int:
    """By how much the picture is made smaller before a disc of this radius is applied."""
    return 1 if radius < 5 else 2 if radius < 10 else 4 if radius < 20 else 8


def reduced_radius(radius: float) -> float:
    """The disc's radius there, less what making smaller and larger blurs by itself."""
    shrink = reduction(radius)
    return math.sqrt(max(radius**2 - _BOX[shrink], 0.25)) / shrink if shrink > 1 else radius


def convolve(picture: Image | Light, kernel: NDArray[np.float32]) -> Light:
    """A small kernel in multiples of 1/512 over light or codes, rounded half to even."""
    out = np.empty(picture.shape, np.uint16)
    h, reach = picture.shape[0], kernel.shape[0] // 2
    # In strips that stay in the cache as float32; each sees the rows that its kernel reaches.
    rows = max(16, 4 * reach, _STRIP // max(1, picture[0].size))
    for top in range(0, h, rows):
        first, last = max(0, top - reach), min(h, top + rows + reach)
        part = cv2.filter2D(
            as_float(picture[first:last]), cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT_101
        )[top - first : top - first + rows]
        out[top : top + rows] = np.rint(part, out=part)
    return out


@lru_cache(maxsize=256)
def segment_kernel(motion: Motion) -> NDArray[np.float32]:
    """An antialiased line along one segment, with the half pixel that centres the whole smear."""
    reach = motion.segments - 1
    cx = -(reach * abs(round(motion.dx)) % 2) / 2 if reach else 0.0
    cy = -(reach * abs(round(motion.dy)) % 2) / 2 if reach else 0.0
    return _whole(line_psf(motion.dx, motion.dy, cx, cy))


@lru_cache(maxsize=256)
def disc_kernel(radius: float) -> NDArray[np.float32]:
    """An antialiased disc."""
    return _whole(disc_psf(radius))


def line_psf(dx: float, dy: float, cx: float = 0.0, cy: float = 0.0) -> NDArray[np.float64]:
    """A line from −(dx, dy)/2 to +(dx, dy)/2 about (cx, cy), bilinear, summing to one."""
    half_x = math.ceil(abs(dx) / 2 + abs(cx))
    half_y = math.ceil(abs(dy) / 2 + abs(cy))
    count = max(2, 8 * math.ceil(math.hypot(dx, dy)))
    t = (np.arange(count) + 0.5) / count - 0.5
    x, y = half_x + cx + t * dx, half_y + cy + t * dy
    psf = np.zeros((2 * half_y + 2, 2 * half_x + 2))
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0
    for oy, wy in ((0, 1 - fy), (1, fy)):
        for ox, wx in ((0, 1 - fx), (1, fx)):
            np.add.at(psf, (y0 + oy, x0 + ox), wx * wy)
    return psf[:-1, :-1] / psf[:-1, :-1].sum()


def disc_psf(radius: float) -> NDArray[np.float64]:
    """The share of every pixel that a disc covers, summing to one."""
    half = math.ceil(radius)
    fine = (np.arange((2 * half + 1) * 8) + 0.5) / 8 - half - 0.5
    inside = (fine[:, None] ** 2 + fine[None, :] ** 2) <= radius**2
    psf = inside.reshape(2 * half + 1, 8, 2 * half + 1, 8).sum(axis=(1, 3)).astype(np.float64)
    return psf / psf.sum()


def _whole(psf: NDArray[np.float64]) -> NDArray[np.float32]:
    """Weights as multiples of 1/512; what rounding leaves over goes to the largest fractions."""
    exact = psf * KERNEL_SUM
    weights = np.floor(exact + 1e-9)
    missing = round(KERNEL_SUM - weights.sum())
    # A point-symmetric choice keeps the content where it was.
    order = np.argsort(-(exact - weights).ravel(), kind="stable")
    weights.ravel()[order[:missing]] += 1
    return (weights / KERNEL_SUM).astype(np.float32)


@lru_cache(maxsize=256)
def _nearest(length: float, angle: float) -> Motion:
    turn = math.radians(angle)
    segments = 1
    while length / segments > _LONGEST_SEGMENT:
        segments *= 2
    if segments == 1:
        return Motion(dx=length * math.cos(turn), dy=-length * math.sin(turn))
    choices: list[tuple[float, int, int, int]] = []
    for dx, dy, span, direction in _whole_vectors():
        off = abs((direction - turn + math.pi / 2) % math.pi - math.pi / 2)
        if off > _TURN:
            continue
        for count in (segments, segments * 2):
            miss = abs(count * span / length - 1)
            if miss < 0.2:
                choices.append((miss + 0.05 * off / _TURN, count, dx, dy))
    _, count, dx, dy = min(choices)
    return Motion(dx=dx, dy=dy, segments=count)


@lru_cache(maxsize=1)
def _whole_vectors() -> list[tuple[int, int, float, float]]:
    """Vectors that a segment may be: x, y, length, direction in radians."""
    span = range(-10, 11)
    every = [(dx, dy, math.hypot(dx, dy), math.atan2(-dy, dx)) for dx in span for dy in span]
    return [vector for vector in every if 4.0 <= vector[2] <= _LONGEST_SEGMENT]


# Variance that reducing by a box and enlarging linearly adds, times 4: a disc's is r²/4.
_BOX = {shrink: 4 * (shrink**2 - 1) / 12 + 4 * (shrink**2) / 6 for shrink in (2, 4, 8)}
