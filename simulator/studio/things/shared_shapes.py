"""Shapes and materials that several kinds share, and a tray that gathers them by material."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import cv2
import numpy as np

from simulator.studio.solid.meshes import (
    Profile,
    extrude,
    joined,
    lathe,
    posed,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Point, Thing, turned
from simulator.world.pictures.noise_tiles import tile
from simulator.world.pictures.traits import Colour

Surface = Callable[[Array, Array], Array]
"""Two numbers (arrays of one shape) → points on a body, (…, 3)."""
_INSIDE = np.array((0, 0, 0.7))
"""A point inside every body."""

RUBBER = Material((30, 30, 32), rough=0.75)
CHROME = Material((205, 206, 210), rough=0.12, metal=1.0)
STEEL = Material((150, 152, 156), rough=0.35, metal=1.0)
BLACK = Material((26, 26, 28), rough=0.35)
BRASS = Material((196, 158, 84), rough=0.25, metal=1.0)
DARK_GLASS = Material((16, 19, 22), rough=0.06, coat=1.0)
CLEAR = Material(glass=True)
AMBER = Material((214, 112, 20), rough=0.15, coat=1.0)
RED_LENS = Material((158, 16, 20), rough=0.13, coat=1.0)
LENS = Material((224, 225, 222), rough=0.07, coat=1.0)
"""The glass of a small lamp."""


class Tray:
    """Pieces of a thing, gathered so that each material becomes one part (two: smooth and flat)."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, bool], tuple[Material, list[Mesh]]] = {}

    def add(self, material: Material, *meshes: Mesh) -> None:
        """Put pieces of one material on the tray."""
        for mesh in meshes:
            key = (id(material), mesh.smooth)
            self._pieces.setdefault(key, (material, []))[1].append(mesh)

    def parts(self, pose: Array | None = None) -> tuple[Part, ...]:
        """Everything on the tray, moved by `pose`."""
        done = [(joined(meshes), material) for material, meshes in self._pieces.values()]
        return tuple(Part(mesh if pose is None else posed(mesh, pose), m) for mesh, m in done)


def grounded(thing: Thing) -> Thing:
    """A thing let down until it stands on z = 0, over the middle of its footprint."""
    low, high = thing.bounds
    x, y = (-(low + high)[:2] / 2).tolist()
    by = (x, y, -float(low[2]))
    return Thing.of(*(p._replace(mesh=shifted(p.mesh, *by)) for p in thing.parts))


def circle(radius: float, *, n: int = 32, squash: float = 1.0) -> Array:
    """An anticlockwise outline (x, z) about the origin."""
    a = np.linspace(0, 2 * math.pi, n, endpoint=False)
    return np.stack([radius * np.cos(a), radius * squash * np.sin(a)], -1)


def rounded(width: float, height: float, radius: float, *, n: int = 5) -> Array:
    """The anticlockwise outline of a rectangle with round corners, about the origin."""
    r = min(radius, 0.499 * min(width, height))
    a = np.linspace(0, math.pi / 2, n)
    corners = [np.stack([x + r * np.cos(a + k), z + r * np.sin(a + k)], -1) for x, z,
        k in ((width / 2 - r, height / 2 - r, 0.0), (r - width / 2, height / 2 - r, math.pi / 2),
        (r - width / 2, r - height / 2, math.pi), (width / 2 - r, r - height / 2,
        1.5 * math.pi))]  # fmt: skip
    return np.concatenate(corners)


def crisp(profile: Profile, by: float = 0.001) -> Array:
    """A profile whose corners are cut by `by`, so that smooth shading keeps them as edges."""
    p = np.asarray(profile, np.float64)
    out = [p[0]]
    for before, here, after in zip(p[:-2], p[1:-1], p[2:], strict=True):
        for other in (before, after):
            away = other - here
            length = max(float(np.linalg.norm(away)), 1e-9)
            out.append(here + away * min(by / length, 0.4))
    return np.array([*out, p[-1]])


def turning(profile: Profile, *, around: int = 40, by: float = 0.001) -> Mesh:
    """A lathed piece with crisp edges."""
    return lathe(crisp(profile, by), around=around)


def upright(p: Array | tuple[float, float], y: float = 0.0) -> Point:
    """A point of a side view, (x, z), at a distance from its plane."""
    return (float(p[0]), y, float(p[1]))


def rod(a: Point, b: Point, radius: float | Sequence[float], *, around: int = 10) -> Mesh:
    """A straight round bar between two points."""
    return tube(np.array([a, b], np.float64), radius, around=around)


def wire(points: Sequence[Point], radius: float | Sequence[float], *, around: int = 10) -> Mesh:
    """A bent round bar through points."""
    return tube(smooth_path(points, 5), radius, around=around)


def swell(path: Sequence[Point], radii: Sequence[float], flat: float) -> Mesh:
    """A soft body along a path, `flat` times as high as wide: tanks, seats, saddles."""
    wide = smooth_path(np.asarray(radii)[:, None], 6)[:, 0].clip(0.004)
    return tube(smooth_path(path, 6), wide.tolist(), around=24, flat=flat)


def hoop(radius: float, thick: float, *, n: int = 40, around: int = 10, flat: float = 1.0) -> Mesh:
    """A ring in the plane of x and z, about the origin."""
    p = circle(radius, n=n)
    path = np.stack([p[:, 0], np.zeros(n), p[:, 1]], -1)
    return tube(path, thick, around=around, closed=True, flat=flat)


def facing(mesh: Mesh) -> Mesh:
    """What stood along z now points at the viewer: a wheel from a lathe, a dial from a disc."""
    return posed(mesh, turned((1, 0, 0), 90))


def along_x(mesh: Mesh) -> Mesh:
    """What stood along z now points to the right."""
    return posed(mesh, turned((0, 1, 0), 90))


def repeated(mesh: Mesh, count: int, *, axis: Point = (0, 0, 1)) -> Mesh:
    """Copies of a piece turned evenly about an axis through the origin."""
    step = 360 / count
    return joined([posed(mesh, turned(axis, i * step)) for i in range(count)])


def both(mesh: Mesh, *, axis: int = 1) -> Mesh:
    """A piece and its mirror image in the plane through the origin."""
    flip = np.eye(4)
    flip[axis, axis] = -1
    return joined([mesh, posed(mesh, flip)])


def plate(outline: Profile, thick: float, at: Point = (0, 0, 0), *, bevel: float = 0.0) -> Mesh:
    """A flat outline of (x, z) with a thickness, its middle at a point."""
    return shifted(extrude(outline, thick, bevel=bevel), *at)


def laid(body: Surface, u: Array, v: Array, *, lift: float = 0.0) -> Mesh:
    """A piece of a body's surface over a grid of its two numbers, raised by `lift` metres.

    The sheet lies over the grid: u to the right, v upwards.
    """
    at, normal = _on(body, u, v)
    return skin(at + normal * lift)


def seam(
    body: Surface, points: Sequence[tuple[float, float]], radius: float, *, sink: float = 0.3
) -> Mesh:
    """A thin line along a body's surface through pairs of its two numbers."""
    p = np.asarray(points, np.float64)
    t = np.linspace(0, len(p) - 1, (len(p) - 1) * 6 + 1)
    u, v = (np.interp(t, np.arange(len(p)), p[:, i])[:, None] for i in (0, 1))
    at, normal = _on(body, u, v)
    return tube((at - normal * radius * sink)[:, 0], radius, around=6)


def mottled(
    colour: Colour, *, grain: str = "cloud", amount: float = 0.12, side: int = 256
) -> Array:
    """A square sheet of one colour, uneven as stone, hide or weathered metal are."""
    noise = cv2.resize(tile(grain), (side, side), interpolation=cv2.INTER_AREA)
    return np.clip(np.asarray(colour) * (1 + amount * noise[..., None]), 0, 255).astype(np.uint8)


def _on(body: Surface, u: Array, v: Array) -> tuple[Array, Array]:
    """Points and their outward directions."""
    e = 1e-4
    at = body(u, v)
    normal = np.cross(body(u + e, v) - body(u - e, v), body(u, v + e) - body(u, v - e))
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-15)
    outward = np.sign((normal * (at - _INSIDE)).sum(-1, keepdims=True))
    return at, normal * np.where(outward == 0, 1, outward)
