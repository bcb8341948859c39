"""Where things end up: rotation, truncation, polygons and boxes. One matrix for each picture.

Matrices are 3 × 3, take continuous pixel coordinates (the left edge of the first pixel is 0) of
the input to those of the output. The output has the size of the input, and no corner of it is
black: windows never leave the picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError
from mmrag.records import Box, Polygon, Record
from simulator.optics.light.srgb import Image

Matrix = NDArray[np.float64]

ANGLES = (0.0, 12.0, 18.0, 27.0, 40.0, 60.0)
"""Severity → degrees. CRAG-MM calls a capture rotated from 10° on."""

_KEPT = 0.9
"""A rotation has to keep this share of the entity."""


class WarpFit(Record, frozen=True, kw_only=True):
    """A warp and how well it met its target."""

    matrix: tuple[float, ...]
    zoom: float
    value: float
    """Degrees of a rotation; visible share of a truncation."""
    clamped: bool = False
    reason: str = ""


def fit_rotation(size: tuple[int, int], entity: Polygon, degrees: float, *, keep: bool) -> WarpFit:
    """Turn and zoom until no corner is empty, about the point that keeps the entity best. With
    `keep` the angle is reduced, down to level 1's, until 90 % of the entity stays visible."""
    wanted = abs(degrees)
    sign = math.copysign(1.0, degrees)
    least = min(ANGLES[1], wanted)
    matrix, zoom = _turned(size, entity, degrees)
    if not keep or visible_share(size, entity, matrix) >= _KEPT:
        return WarpFit(matrix=_flat(matrix), zoom=zoom, value=degrees)
    low, high = least, wanted
    for _ in range(12):
        middle = (low + high) / 2
        fits = visible_share(size, entity, _turned(size, entity, sign * middle)[0]) >= _KEPT
        low, high = (middle, high) if fits else (low, middle)
    matrix, zoom = _turned(size, entity, sign * low)
    return WarpFit(
        matrix=_flat(matrix),
        zoom=zoom,
        value=sign * low,
        clamped=True,
        reason=f"the entity does not fit the window of {wanted:g}°",
    )


@dataclass(frozen=True, eq=False)
class FramedEntity:
    """What the question is about, inside the frame."""

    polygon: Polygon
    whole_frame: bool
    note: str = ""


def framed_entity(
    focus: Box | None, polygon: Polygon | None, size: tuple[int, int]
) -> FramedEntity:
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
        return FramedEntity(corners(frame), whole_frame=True)
    if area(outline) < 1.0:
        note = "the focus is empty or outside the frame; the whole frame was the entity"
        return FramedEntity(corners(frame), whole_frame=True, note=note)
    return FramedEntity(outline, whole_frame=False)


def warp(image: Image, matrix: Matrix) -> Image:
    """Apply a matrix, bilinear, between sRGB codes.

    Zooms are at least 1: samples are interpolated and never averaged over an area, and between
    codes that comes nearer to a picture taken with more pixels than between light (tested).
    """
    h, w = image.shape[:2]
    if matrix[0, 1] == 0 and matrix[1, 0] == 0:
        x0, y0 = -matrix[0, 2] / matrix[0, 0], -matrix[1, 2] / matrix[1, 1]
        window = np.array([x0, y0, x0 + w / matrix[0, 0], y0 + h / matrix[1, 1]])
        whole = np.rint(window)
        if np.abs(window - whole).max() < 1e-6:
            left, top, right, bottom = (int(v) for v in whole)
            part = image[top:bottom, left:right]
            return np.asarray(cv2.resize(part, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)
    # OpenCV warps four channels more than twice as fast as three, to the same bytes.
    four = cv2.cvtColor(image, cv2.COLOR_RGB2RGBA)
    turned = cv2.warpAffine(
        four, cv_matrix(matrix), (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.cvtColor(turned, cv2.COLOR_RGBA2RGB), np.uint8)


def cv_matrix(matrix: Matrix) -> Matrix:
    """The upper 2 × 3 as OpenCV wants it, which counts from the centres of pixels."""
    inner = matrix[:2].copy()
    inner[:, 2] += (inner[:, 0] + inner[:, 1] - 1) / 2
    return inner


def move_points(points: Polygon, matrix: Matrix) -> Polygon:
    """Points under a matrix."""
    a, b, c, d, e, f = (float(v) for v in matrix[:2].ravel())
    return tuple((a * x + b * y + c, d * x + e * y + f) for x, y in points)


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
    result = points
    for axis, limit, sign in ((0, x0, 1.0), (0, x1, -1.0), (1, y0, 1.0), (1, y1, -1.0)):
        inside = [sign * (point[axis] - limit) for point in result]
        if not inside or min(inside) >= 0:
            continue
        source, result = result, []
        before, a = source[-1], inside[-1]
        for here, b in zip(source, inside, strict=True):
            if (a >= 0) != (b >= 0):
                t = a / (a - b)
                x, y = before
                # On the limit itself: rounding must not leave a point a hair outside.
                x = x + t * (here[0] - x) if axis else limit
                y = limit if axis else y + t * (here[1] - y)
                result.append((x, y))
            if b >= 0:
                result.append(here)
            before, a = here, b
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
