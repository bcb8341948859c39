"""Where things end up: rotation, truncation, polygons and boxes. One matrix for each picture.

Matrices are 3 × 3, take continuous pixel coordinates (the left edge of the first pixel is 0) of
the input to those of the output. The output has the size of the input, and no corner of it is
black: windows never leave the picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError
from mmrag.records import Box, Polygon, Record
from simulator.optics.tone import Image, to_codes, to_light

Matrix = NDArray[np.float64]

ANGLES = (0.0, 12.0, 18.0, 27.0, 40.0, 60.0)
"""Severity → degrees. CRAG-MM calls a capture rotated from 10° on."""

VISIBLE = (1.0, 0.85, 0.70, 0.55, 0.40, 0.25)
"""Severity → share of the entity that stays in the frame."""

TRUNCATION_SCALE = 0.7
"""The shifted window's size where the entity's own size does not ask for another."""

_SMALLEST_WINDOW = 0.2
_SNAP = 0.008
"""How much of the visible share may be given up for a window of whole pixels."""
_KEPT = 0.9
"""A rotation has to keep this share of the entity."""


class Placed(Record, frozen=True, kw_only=True):
    """A warp and how well it met its target."""

    matrix: tuple[float, ...]
    zoom: float
    value: float
    """Degrees of a rotation; visible share of a truncation."""
    clamped: bool = False
    reason: str = ""


def rotation(size: tuple[int, int], entity: Polygon, degrees: float, *, keep: bool) -> Placed:
    """Turn and zoom until no corner is empty, about the point that keeps the entity best.

    With `keep` the angle is reduced, down to level 1's, until 90 % of the entity stays visible.
    """
    wanted = abs(degrees)
    sign = math.copysign(1.0, degrees)
    least = min(ANGLES[1], wanted)
    matrix, zoom = _turned(size, entity, degrees)
    if not keep or visible_share(size, entity, matrix) >= _KEPT:
        return Placed(matrix=_flat(matrix), zoom=zoom, value=degrees)
    low, high = least, wanted
    for _ in range(12):
        middle = (low + high) / 2
        fits = visible_share(size, entity, _turned(size, entity, sign * middle)[0]) >= _KEPT
        low, high = (middle, high) if fits else (low, middle)
    matrix, zoom = _turned(size, entity, sign * low)
    return Placed(
        matrix=_flat(matrix),
        zoom=zoom,
        value=sign * low,
        clamped=True,
        reason=f"the entity does not fit the window of {wanted:g}°",
    )


def upright(size: tuple[int, int], entity: Polygon, zoom: float) -> Matrix:
    """The window of a rotation without its turn: the control of what zoom alone does."""
    return _window(size, entity, 0.0, zoom)


def truncation(
    size: tuple[int, int], entity: Polygon, visible: float, draw: np.random.Generator
) -> Placed:
    """Shift a window of constant scale over a side or corner until only `visible` is in it."""
    sides = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
    order = [sides[i] for i in draw.permutation(len(sides))]
    # Smaller windows cut off more; an entity larger than the window needs a larger one.
    scales = (TRUNCATION_SCALE, 0.6, 0.8, 0.5, 0.9, 0.4, 0.95, 0.3, 0.975, _SMALLEST_WINDOW)
    slides = [_Slide(size, entity, scale, side) for scale in scales for side in order]
    # One that can show the whole ladder comes first, so that levels differ in nothing else.
    slide = next((s for s in slides if s.least <= VISIBLE[-1] and s.most >= VISIBLE[1]), None)
    if slide is None:
        slide = next((s for s in slides if s.least <= visible <= s.most), None)
    if slide is None:  # the entity is about as large as the picture: another window for each level
        slide = _cornered(size, entity, visible, order[0])
    matrix, reached = slide.showing(visible)
    missed = abs(reached - visible) > 0.02
    return Placed(
        matrix=_flat(matrix),
        zoom=1 / slide.scale,
        value=reached,
        clamped=missed,
        reason=f"no window shows {visible:.0%} of the entity" if missed else "",
    )


@dataclass(frozen=True, eq=False)
class Entity:
    """What the question is about, inside the frame."""

    polygon: Polygon
    whole_frame: bool
    note: str = ""


def entity_of(focus: Box | None, polygon: Polygon | None, size: tuple[int, int]) -> Entity:
    """The entity's outline inside the frame; the frame itself where there is none."""
    w, h = size
    frame = (0.0, 0.0, float(w), float(h))
    for value in [*(focus or ()), *(v for point in polygon or () for v in point)]:
        if not math.isfinite(value):
            raise DataError(f"a focus of {focus or polygon}: every number has to be finite.")
    if focus is not None and (focus[0] > focus[2] or focus[1] > focus[3]):
        raise DataError(
            f"the box {tuple(focus)} is inverted; write left, top, right, bottom in this order."
        )
    if polygon is not None and area(polygon) >= 1.0:
        outline = clip(polygon, frame)
    elif focus is not None:
        outline = clip(corners(focus), frame)
    else:
        return Entity(corners(frame), whole_frame=True)
    if area(outline) < 1.0:
        note = "the focus is empty or outside the frame; the whole frame was the entity"
        return Entity(corners(frame), whole_frame=True, note=note)
    return Entity(outline, whole_frame=False)


def warp(image: Image, matrix: Matrix) -> Image:
    """Apply a matrix, in linear light. Bilinear, which is enough as zooms are at least 1."""
    h, w = image.shape[:2]
    if matrix[0, 1] == 0 and matrix[1, 0] == 0:
        x0, y0 = -matrix[0, 2] / matrix[0, 0], -matrix[1, 2] / matrix[1, 1]
        window = np.array([x0, y0, x0 + w / matrix[0, 0], y0 + h / matrix[1, 1]])
        whole = np.rint(window)
        if np.abs(window - whole).max() < 1e-6:
            left, top, right, bottom = (int(v) for v in whole)
            part = to_light(np.ascontiguousarray(image[top:bottom, left:right]))
            enlarged = cv2.resize(part, (w, h), interpolation=cv2.INTER_LINEAR)
            return to_codes(np.asarray(enlarged, np.uint16))
    light = to_light(image)
    # OpenCV counts from pixel centres.
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    inner = np.linalg.inv(half) @ matrix @ half
    turned = cv2.warpAffine(
        light, inner[:2], (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return to_codes(np.asarray(turned, np.uint16))


def move_points(points: Polygon, matrix: Matrix) -> Polygon:
    """Points under a matrix."""
    xy = np.asarray(points, np.float64).reshape(-1, 2)
    moved = np.c_[xy, np.ones(len(xy))] @ matrix.T
    return tuple((float(x / z), float(y / z)) for x, y, z in moved)


def corners(box: Box) -> Polygon:
    """A box as a polygon."""
    x0, y0, x1, y1 = box
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def bounds(points: Polygon) -> Box | None:
    """The box around points; None without any."""
    if not points:
        return None
    xs, ys = zip(*points, strict=True)
    return (min(xs), min(ys), max(xs), max(ys))


def clip(points: Polygon, box: Box) -> Polygon:
    """The part of a polygon inside a box (Sutherland–Hodgman)."""
    x0, y0, x1, y1 = box
    result = list(points)
    for axis, limit, sign in ((0, x0, 1.0), (0, x1, -1.0), (1, y0, 1.0), (1, y1, -1.0)):
        source, result = result, []
        for i, here in enumerate(source):
            before = source[i - 1]
            a, b = sign * (before[axis] - limit), sign * (here[axis] - limit)
            if (a >= 0) != (b >= 0):
                t = a / (a - b)
                result.append(
                    (before[0] + t * (here[0] - before[0]), before[1] + t * (here[1] - before[1]))
                )
            if b >= 0:
                result.append(here)
    return tuple(result)


def area(points: Polygon) -> float:
    """Area of a simple polygon."""
    if len(points) < 3:
        return 0.0
    total = 0.0
    for i, (x, y) in enumerate(points):
        px, py = points[i - 1]
        total += px * y - x * py
    return abs(total) / 2


def visible_share(size: tuple[int, int], entity: Polygon, matrix: Matrix) -> float:
    """The share of the entity that a warp leaves inside the frame."""
    w, h = size
    moved = move_points(entity, matrix)
    whole = area(moved)
    return area(clip(moved, (0.0, 0.0, w, h))) / whole if whole > 0 else 0.0


def matrix_of(flat: tuple[float, ...]) -> Matrix:
    """A recorded matrix as an array."""
    return np.array(flat, np.float64).reshape(3, 3)


def _flat(matrix: Matrix) -> tuple[float, ...]:
    return tuple(float(v) for v in matrix.ravel())


def _turned(size: tuple[int, int], entity: Polygon, degrees: float) -> tuple[Matrix, float]:
    w, h = size
    c, s = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    zoom = max((w * c + h * s) / w, (w * s + h * c) / h)
    return _window(size, entity, degrees, zoom), zoom


def _window(size: tuple[int, int], entity: Polygon, degrees: float, zoom: float) -> Matrix:
    """A window of 1/zoom, turned, as near to the entity's centre as the frame lets it be."""
    w, h = size
    turn = math.radians(degrees)
    c, s = math.cos(turn), math.sin(turn)
    half_w = (w * abs(c) + h * abs(s)) / zoom / 2
    half_h = (w * abs(s) + h * abs(c)) / zoom / 2
    x0, y0, x1, y1 = bounds(entity) or (0.0, 0.0, float(w), float(h))
    cx = min(max((x0 + x1) / 2, half_w), max(w - half_w, half_w))
    cy = min(max((y0 + y1) / 2, half_h), max(h - half_h, half_h))
    return np.array(
        [
            [zoom * c, zoom * s, w / 2 - zoom * (c * cx + s * cy)],
            [-zoom * s, zoom * c, h / 2 - zoom * (-s * cx + c * cy)],
            [0.0, 0.0, 1.0],
        ]
    )


def _cornered(
    size: tuple[int, int], entity: Polygon, visible: float, side: tuple[int, int]
) -> _Slide:
    """The window in a corner that has the size to show just so much."""
    corner = (side[0] or 1, side[1] or 1)
    low, high = _SMALLEST_WINDOW, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        more = _Slide(size, entity, middle, corner).least > visible
        low, high = (low, middle) if more else (middle, high)
    return _Slide(size, entity, high, corner)


class _Slide:
    """A window that moves from over the entity towards a side or corner of the picture."""

    def __init__(
        self, size: tuple[int, int], entity: Polygon, scale: float, side: tuple[int, int]
    ) -> None:
        w, h = size
        x0, y0, x1, y1 = bounds(entity) or (0.0, 0.0, float(w), float(h))
        room_x, room_y = w * (1 - scale), h * (1 - scale)
        from_x = min(max((x0 + x1 - w * scale) / 2, 0.0), room_x)
        from_y = min(max((y0 + y1 - h * scale) / 2, 0.0), room_y)
        self.scale = scale
        self._size, self._entity = size, entity
        self._area = max(area(entity), 1e-9)
        self._from = from_x, from_y
        self._to = (
            {1: room_x, 0: from_x, -1: 0.0}[side[0]],
            {1: room_y, 0: from_y, -1: 0.0}[side[1]],
        )

    @cached_property
    def most(self) -> float:
        """The visible share at the start."""
        return self._share(0.0)

    @cached_property
    def least(self) -> float:
        """The visible share at the end."""
        return self._share(1.0)

    def showing(self, visible: float) -> tuple[Matrix, float]:
        """The place at which the wanted share is left, or the nearest to it."""
        low, high = 0.0, 1.0
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if self._share(middle) > visible else (low, middle)
        t = min((0.0, low, high, 1.0), key=lambda t: abs(self._share(t) - visible))
        window, share = self._at(t), self._share(t)
        whole = self._whole_pixels(window)
        if abs(self._inside(whole) - visible) <= max(abs(share - visible), _SNAP):
            window, share = whole, self._inside(whole)
        x0, y0, x1, y1 = window
        kx, ky = self._size[0] / (x1 - x0), self._size[1] / (y1 - y0)
        return np.array([[kx, 0, -x0 * kx], [0, ky, -y0 * ky], [0, 0, 1.0]]), share

    def _share(self, t: float) -> float:
        return self._inside(self._at(t))

    def _inside(self, window: Box) -> float:
        return area(clip(self._entity, window)) / self._area

    def _at(self, t: float) -> Box:
        x, y = (a + t * (b - a) for a, b in zip(self._from, self._to, strict=True))
        return x, y, x + self._size[0] * self.scale, y + self._size[1] * self.scale

    def _whole_pixels(self, window: Box) -> Box:
        """The nearest window of whole pixels: it is enlarged ten times faster."""
        w, h = self._size
        cw, ch = max(1, round(w * self.scale)), max(1, round(h * self.scale))
        x, y = min(round(window[0]), w - cw), min(round(window[1]), h - ch)
        return float(x), float(y), float(x + cw), float(y + ch)
