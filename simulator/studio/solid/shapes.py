"""Outlines: points in, points out. Everything is an (n, 2) array in the painter's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.traits import Draws

Array = NDArray[Any]
Points = NDArray[np.float64]
Path = Sequence[tuple[float, float]] | Array


def smooth(points: Path, *, closed: bool = True, steps: int = 8) -> Points:
    """A Catmull–Rom curve through the points."""
    p = np.asarray(points, np.float64)
    if closed:
        before, start, end, after = np.roll(p, 1, 0), p, np.roll(p, -1, 0), np.roll(p, -2, 0)
    else:
        padded = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
        before, start, end, after = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    b, s, e, a = (q[:, None, :] for q in (before, start, end, after))
    curve = 0.5 * (
        2 * s + (e - b) * t + (2 * b - 5 * s + 4 * e - a) * t**2 + (3 * s - b - 3 * e + a) * t**3
    )
    out = curve.reshape(-1, 2)
    return out if closed else np.concatenate([out, p[-1:]])


def ellipse(cx: float, cy: float, rx: float, ry: float, *, turn: float = 0, n: int = 40) -> Points:
    """An ellipse, turned by `turn` radians."""
    angle = np.linspace(0, 2 * math.pi, n, endpoint=False)
    return move(np.stack([rx * np.cos(angle), ry * np.sin(angle)], 1), cx, cy, turn=turn)


def star(n: int, inner: float, *, turn: float = 0, soft: bool = False) -> Points:
    """A star of radius 1 with n points; `soft` rounds them to petals."""
    angle = np.arange(2 * n) * math.pi / n + math.pi / 2 + turn
    radius = np.where(np.arange(2 * n) % 2 == 0, 1.0, inner)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return smooth(points, steps=5) if soft else points


def superellipse(rx: float, ry: float, power: float, n: int = 48) -> Points:
    """From diamond (1) over ellipse (2) to rectangle (8 and more)."""
    angle = np.linspace(0, 2 * math.pi, n, endpoint=False)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack(
        [rx * np.sign(c) * np.abs(c) ** (2 / power), ry * np.sign(s) * np.abs(s) ** (2 / power)], 1
    )


def ribbon(path: Path, widths: float | Sequence[float]) -> Points:
    """The outline of a stroke along a path whose width may change from end to end."""
    p = np.asarray(path, np.float64)
    along = np.gradient(p, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    given = np.atleast_1d(np.asarray(widths, np.float64))
    half = np.interp(np.linspace(0, 1, len(p)), np.linspace(0, 1, len(given)), given)[:, None] / 2
    return np.concatenate([p + across * half, (p - across * half)[::-1]])


def arc(
    cx: float, cy: float, rx: float, ry: float, start: float, end: float, n: int = 24
) -> Points:
    """Points of an elliptic arc; angles in degrees, anticlockwise from the right."""
    angle = np.radians(np.linspace(start, end, n))
    return np.stack([cx + rx * np.cos(angle), cy + ry * np.sin(angle)], 1)


def move(
    points: Path, dx: float = 0, dy: float = 0, *, size: float = 1.0, turn: float = 0
) -> Points:
    """Scale, turn (radians, anticlockwise), then shift."""
    c, s = math.cos(turn) * size, math.sin(turn) * size
    return np.asarray(points, np.float64) @ np.array([[c, s], [-s, c]]) + (dx, dy)


def leaf(length: float, width: float, *, tip: float = 0.6, n: int = 14) -> Points:
    """A leaf or petal from the origin upwards; `tip` is where it is widest (0–1)."""
    t = np.linspace(0, 1, n)
    power = math.log(0.5) / math.log(min(max(tip, 0.05), 0.95))
    half = width / 2 * np.sin(math.pi * t**power) ** 0.8
    y = t * length
    return np.concatenate([np.stack([half, y], 1), np.stack([-half, y], 1)[::-1]])


def emblem(draw: Draws) -> list[tuple[Points, int]]:
    """A family's sign: one to three nested figures of radius 1 with the palette index of each."""
    parts: list[tuple[Points, int]] = []
    size = 1.0
    for index in range(draw.count("emblem-parts", 2, 4)):
        name = f"emblem-{index}"
        n = draw.count(name + "n", 3, 9)
        shape = draw.count(name + "s", 0, 4)
        if shape == 0:
            points = ellipse(0, 0, 1, draw(name + "e", 0.6, 1.0))
        elif shape == 1:
            points = star(n, draw(name + "i", 0.35, 0.75))
        elif shape == 2:
            points = star(n, draw(name + "i", 0.3, 0.7), soft=True)
        elif shape == 3:
            points = superellipse(1, draw(name + "e", 0.7, 1.0), draw(name + "p", 1.2, 6))
        else:
            points = star(n, math.cos(math.pi / n))
        parts.append((move(points, size=size, turn=draw(name + "t", 0, 6.3)), index))
        size *= draw(name + "z", 0.45, 0.75)
    return parts
