"""Truncation: a window that slides over a side or corner until only a share of the entity is in it.

All windows that could do are looked at together, by `shares`; the chosen one is then moved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box, Polygon
from simulator.optics.shape.geometry import WarpFit, area, bounds, clip

VISIBLE = (1.0, 0.85, 0.70, 0.55, 0.40, 0.25)
"""Severity → share of the entity that stays in the frame."""

_SCALES = (0.7, 0.6, 0.8, 0.5, 0.9, 0.4, 0.95, 0.3, 0.975, 0.2)
"""Sizes of the window in the order in which they are tried: smaller ones cut off more, and an
entity larger than the window needs a larger one."""

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))

_SNAP = 0.008
"""How much of the visible share may be given up for a window of whole pixels."""

Windows = NDArray[np.float64]
"""n × (left, top, right, bottom)."""


def fit_truncation(
    size: tuple[int, int], entity: Polygon, visible: float, draw: np.random.Generator
) -> WarpFit:
    """Shift a window of constant scale over a side or corner until only `visible` is in it."""
    order = np.array(_SIDES)[draw.permutation(len(_SIDES))]
    scales, sides = np.repeat(_SCALES, len(order)), np.tile(order, (len(_SCALES), 1))
    starts, ends = _slides(size, entity, scales, sides)
    most, least = np.split(shares(entity, np.concatenate([starts, ends])), 2)
    # One that can show the whole ladder comes first, so that levels differ in nothing else.
    able = np.flatnonzero((least <= VISIBLE[-1]) & (most >= VISIBLE[1]))
    if not able.size:
        able = np.flatnonzero((least <= visible) & (most >= visible))
    if able.size:
        first = int(able[0])
        start, end = starts[first], ends[first]
    else:  # the entity is about as large as the picture
        start, end = _cornered(size, entity, visible, order[0])
    window, reached = _stopped(size, entity, visible, start, end)
    missed = abs(reached - visible) > 0.02
    x0, y0, x1, y1 = window
    kx, ky = size[0] / (x1 - x0), size[1] / (y1 - y0)
    return WarpFit(
        matrix=(kx, 0.0, -x0 * kx, 0.0, ky, -y0 * ky, 0.0, 0.0, 1.0),
        zoom=float(size[0] / (start[2] - start[0])),
        value=reached,
        clamped=missed,
        reason=f"no window shows {visible:.0%} of the entity" if missed else "",
    )


def shares(entity: Polygon, windows: Windows) -> NDArray[np.float64]:
    """The share of the entity that each window shows, by Green's theorem along its edges."""
    points = np.asarray(entity, np.float64)
    left, top, right, bottom = (windows[:, i, None] for i in range(4))
    (xa, ya), (xb, yb) = points.T, np.roll(points, -1, axis=0).T
    slope = np.divide(yb - ya, xb - xa, out=np.zeros_like(xa), where=xb != xa)
    x0, x1 = np.clip(xa, left, right), np.clip(xb, left, right)
    # Heights above the window's top at both ends, and the integral of the clipped height between.
    y0, y1 = ya + (x0 - xa) * slope - top, ya + (x1 - xa) * slope - top
    high = bottom - top
    rise = _clipped_integral(y1, high) - _clipped_integral(y0, high)
    level = np.abs(y1 - y0) < 1e-9
    mean = np.where(level, np.clip(y0, 0.0, high), rise / np.where(level, 1.0, y1 - y0))
    return np.abs(((x1 - x0) * mean).sum(axis=1)) / max(area(entity), 1e-9)


def _clipped_integral(y: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """∫ min(max(y, 0), high) dy."""
    inside = np.clip(y, 0.0, high)
    return inside * inside / 2 + high * np.maximum(y - high, 0.0)


def _slides(
    size: tuple[int, int], entity: Polygon, scales: NDArray[np.float64], sides: NDArray[np.int_]
) -> tuple[Windows, Windows]:
    """Windows over the entity, and where they end: at a side or corner of the picture."""
    x0, y0, x1, y1 = bounds(entity) or (0.0, 0.0, float(size[0]), float(size[1]))
    extent = np.array(size) * scales[:, None]
    room = np.array(size) - extent
    start = np.clip((np.array([x0 + x1, y0 + y1]) - extent) / 2, 0.0, room)
    end = np.where(sides > 0, room, np.where(sides < 0, 0.0, start))
    return np.hstack([start, start + extent]), np.hstack([end, end + extent])


def _cornered(
    size: tuple[int, int], entity: Polygon, visible: float, side: NDArray[np.int_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The window in a corner that has the size to show just so much."""
    corner = np.where(side == 0, 1, side)[None]
    low, high = _SCALES[-1], 1.0
    for _ in range(24):
        middle = (low + high) / 2
        end = _slides(size, entity, np.array([middle]), corner)[1]
        low, high = (low, middle) if shares(entity, end)[0] > visible else (middle, high)
    starts, ends = _slides(size, entity, np.array([high]), corner)
    return starts[0], ends[0]


def _stopped(
    size: tuple[int, int],
    entity: Polygon,
    visible: float,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
) -> tuple[Box, float]:
    """The window on its way at which the wanted share is left, or the nearest; and the share."""
    whole_area = max(area(entity), 1e-9)

    a, b = start.tolist(), end.tolist()

    def at(t: float) -> Box:
        x0, y0, x1, y1 = (u + t * (v - u) for u, v in zip(a, b, strict=True))
        return x0, y0, x1, y1

    def share(window: Box) -> float:
        return area(clip(entity, window)) / whole_area

    low, high = (0.0, share(at(0.0)) - visible), (1.0, share(at(1.0)) - visible)
    t, miss = min(low, high, key=lambda end: abs(end[1]))
    before = 0.0
    for _ in range(24):
        if not low[1] > 0 > high[1] or abs(miss) < 1e-4:
            break
        t = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        miss = share(at(t)) - visible
        # False position; an end that stays twice gives way (Illinois).
        give = 0.5 if miss * before > 0 else 1.0
        if miss > 0:
            low, high = (t, miss), (high[0], high[1] * give)
        else:
            low, high = (low[0], low[1] * give), (t, miss)
        before = miss
    window = at(t)
    snapped = _whole_pixels(size, window)
    reached = share(snapped)
    if abs(reached - visible) <= max(abs(miss), _SNAP):
        return snapped, reached
    return window, visible + miss


def _whole_pixels(size: tuple[int, int], window: Box) -> Box:
    """The nearest window of whole pixels: it is enlarged ten times faster."""
    w, h = size
    x0, y0, x1, y1 = window
    cw, ch = max(1, round(x1 - x0)), max(1, round(y1 - y0))
    x, y = min(round(x0), w - cw), min(round(y0), h - ch)
    return float(x), float(y), float(x + cw), float(y + ch)
