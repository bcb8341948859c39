"""What is soft and grown: limbs of round cones melted together, and skin painted on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.meshes import isosurface
from simulator.studio.solid.scene_types import Array, Mesh, Point

Paint = Callable[[Array, Array], Array]
"""Colours (n, 3), 0–255, of points (n, 3) whose surface looks along directions (n, 3)."""


class Limb(NamedTuple):
    """A round cone between two points; a ball where they are one."""

    start: Point | Array
    end: Point | Array
    thick: tuple[float, float]
    """Radius at the start and at the end, metres."""
    melt: float = 0.0
    """How far it flows into what is there already, metres."""
    along: Point = (0.0, 0.0, 1.0)
    squash: float = 1.0
    """Times thinner in the direction `along`."""
    carve: bool = False
    """Taken away instead of added."""


def vec(x: float, y: float, z: float) -> Array:
    """A step in space, to be added to a point."""
    return np.array((x, y, z), np.float64)


def chain(points: Sequence[Sequence[float]] | Sequence[Array] | Array, radii: Sequence[float],
    melt: float = 0.0) -> list[Limb]:  # fmt: skip
    """Limbs one after the other; `radii` are spread over the points."""
    p = np.asarray(points, np.float64)
    r = np.interp(np.linspace(0, 1, len(p)), np.linspace(0, 1, len(radii)), radii).tolist()
    return [Limb(p[i], p[i + 1], (r[i], r[i + 1]), melt) for i in range(len(p) - 1)]


def flesh(
    limbs: Sequence[Limb], cell: float, *, unevenness: Callable[[Array], Array] | None = None
) -> Mesh:
    """The skin around limbs, on a grid of `cell` metres; `unevenness` raises it (metres).

    Each limb is worked out near itself only, so that twenty cost little more than one.
    """
    added = [q for q in limbs if not q.carve]
    ends = np.array([[np.asarray(q.start), np.asarray(q.end)] for q in added], np.float64)
    wide = np.array([max(q.thick) for q in added])[:, None, None] + 3 * cell
    low, high = (ends - wide).min((0, 1)), (ends + wide).max((0, 1))
    counts = np.ceil((high - low) / cell).astype(int) + 1
    axes = [(low[i] + cell * np.arange(counts[i])).astype(np.float32) for i in range(3)]
    values = np.full(counts, 4 * cell, np.float32)
    for limb in limbs:
        _melt(values, axes, limb, cell)
    if unevenness is not None:
        near = np.nonzero(np.abs(values) < 2.5 * cell)
        points = np.stack([axes[i][near[i]] for i in range(3)], -1)
        values[near] -= unevenness(points)
    return isosurface(values, low.tolist(), cell)


def painted(mesh: Mesh, paint: Paint, *, side: int = 512) -> tuple[Mesh, NDArray[np.uint8]]:
    """A mesh with a sheet of about `side`² that shows `paint` all over it, without seams.

    Two triangles share a square of the sheet; every texel is painted where it lies in space.
    """
    n = len(mesh.faces)
    row = int(np.ceil(np.sqrt((n + 1) // 2)))
    s = max(side // row, 5)
    corners = mesh.vertices[mesh.faces].astype(np.float32)
    normals = _directions(mesh)[mesh.faces]
    j, i = (q.ravel() for q in np.mgrid[0:s, 0:s].astype(np.float32))
    first = i + j < s
    one = np.where(first, i / (s - 2), (s - 1 - i) / (s - 3))
    two = np.where(first, j / (s - 2), (s - 1 - j) / (s - 3))
    weights = np.stack([1 - one - two, one, two], -1).astype(np.float32)
    pad = np.zeros((2 * row * row - n, 3, 3), np.float32)
    whole = (s * row, s * row, 3)

    def spread(of: Array) -> Array:
        """What the corners say, at every texel of the sheet."""
        pairs = np.concatenate([of, pad]).reshape(row * row, 2, 3, 3)
        out = np.empty((s * s, row * row, 3), np.float32)
        for half, texels in ((0, first), (1, ~first)):
            flat = pairs[:, half].transpose(1, 0, 2).reshape(3, -1)
            out[texels] = (weights[texels] @ flat).reshape(-1, row * row, 3)
        return out.reshape(s, s, row, row, 3).transpose(2, 0, 3, 1, 4).reshape(whole)

    at, facing = spread(corners).reshape(-1, 3), spread(normals).reshape(-1, 3)
    sheet = np.clip(paint(at, facing) + 0.5, 0, 255).astype(np.uint8).reshape(whole)
    k = np.arange(n)
    place = np.stack([k // 2 % row, k // 2 // row], -1) * s
    own = np.array([[(0, 0), (s - 2, 0), (0, s - 2)], [(s - 1, s - 1), (2, s - 1), (s - 1, 2)]])
    texel = (place[:, None] + own[k % 2] + 0.5) / (s * row)
    uv = np.stack([texel[..., 0], 1 - texel[..., 1]], -1).reshape(-1, 2).astype(np.float32)
    faces = np.arange(3 * n, dtype=np.int32).reshape(-1, 3)
    return Mesh(corners.reshape(-1, 3), faces, uv, mesh.smooth), sheet


def noise(at: Array, size: float | Sequence[float], key: int = 0) -> Array:
    """Smooth unevenness between about -1 and 1 whose bumps are `size` metres wide."""
    from scipy.ndimage import map_coordinates

    where = np.asarray(at, np.float32) / np.asarray(size, np.float32) + 7.31 * key
    return np.asarray(map_coordinates(_lattice(), where.T, order=1, mode="grid-wrap"))


@lru_cache(maxsize=1)
def _lattice() -> NDArray[np.float32]:
    draws = np.random.Generator(np.random.Philox(key=22))
    return draws.uniform(-1, 1, (32, 32, 32)).astype(np.float32)


def _melt(values: Array, axes: Sequence[Array], limb: Limb, cell: float) -> None:
    """Add a limb to the grid, or take it away."""
    a, b = np.asarray(limb.start, np.float32), np.asarray(limb.end, np.float32)
    reach = max(limb.thick) + limb.melt + 3 * cell
    spans = [
        slice(*np.searchsorted(axes[i], [min(a[i], b[i]) - reach, max(a[i], b[i]) + reach]))
        for i in range(3)
    ]
    away = [axes[i][spans[i]] - a[i] for i in range(3)]
    x, y, z = away[0][:, None, None], away[1][None, :, None], away[2][None, None, :]
    d = b - a
    length = float(d @ d)
    t = np.clip((x * d[0] + y * d[1] + z * d[2]) / length, 0, 1) if length > 1e-12 else 0.0
    gaps = [x - t * d[0], y - t * d[1], z - t * d[2]]
    square = gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2
    if limb.squash != 1.0:
        n = np.asarray(limb.along) / np.linalg.norm(limb.along)
        across = gaps[0] * n[0] + gaps[1] * n[1] + gaps[2] * n[2]
        square = square + (limb.squash**2 - 1) * across**2
    own = np.sqrt(square) - (limb.thick[0] + t * (limb.thick[1] - limb.thick[0]))
    here = values[spans[0], spans[1], spans[2]]
    if limb.carve:
        here[...] = np.maximum(here, -own + _bridge(here, -own, limb.melt))
    else:
        here[...] = np.minimum(here, own) - _bridge(here, own, limb.melt)


def _bridge(one: Array, two: Array, melt: float) -> Array | float:
    """How much a smooth union fills where two surfaces meet."""
    if melt <= 0:
        return 0.0
    return np.maximum(melt - np.abs(one - two), 0) ** 2 / (4 * melt)


def _directions(mesh: Mesh) -> NDArray[np.float32]:
    """Where the surface looks at each vertex."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    flat = np.cross(b - a, c - a)
    total = np.zeros((len(mesh.vertices), 3))
    for i in range(3):
        np.add.at(total, mesh.faces[:, i], flat)
    return (total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-20)).astype(
        np.float32
    )
