"""Shapes as triangles. Every function returns a `Mesh` in metres with sheet coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Mesh, cross

Profile = Sequence[tuple[float, float]] | Array


def lathe(profile: Profile, *, around: int = 64, smooth: bool = True,
    part: tuple[float, float] = (0.0, 1.0)) -> Mesh:  # fmt: skip
    """A profile of (radius, height), from below upwards, turned about z.

    The sheet is wrapped once around, its seam behind: u = 0.5 faces the front. A `part` of the
    turn (0 and 1 are behind, 0.25 is on the left) carries the whole sheet: a label in front.
    """
    p = np.asarray(profile, np.float64)
    angle = np.linspace(part[0], part[1], around + 1) * 2 * math.pi + math.pi / 2
    x = p[None, :, 0] * np.cos(angle)[:, None]
    y = p[None, :, 0] * np.sin(angle)[:, None]
    z = np.broadcast_to(p[None, :, 1], x.shape)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    u = np.broadcast_to(np.linspace(0, 1, around + 1)[:, None], x.shape)
    v = np.broadcast_to((along / max(along[-1], 1e-9))[None], x.shape)
    return _grid(np.stack([x, y, z], -1), np.stack([u, v], -1), smooth)


def box(width: float, depth: float, height: float, *, bevel: float = 0.0) -> Mesh:
    """A box on z = 0, its edges cut by `bevel`. Each of its six sides shows the whole sheet."""
    half = np.array([width, depth, height]) / 2
    b = min(bevel, 0.98 * float(half.min()))
    signs, inset, faces, uv = _box_table(b > 0)
    return _mesh(signs * (half - b * inset) + (0, 0, half[2]), faces, uv)


def sheet(width: float, height: float, *, bend: float = 0.0) -> Mesh:
    """An upright rectangle facing the front, its lower edge on z = 0; `bend` bulges it (metres)."""
    n = 24 if bend else 1
    u = np.linspace(0, 1, n + 1)
    x, y = (u - 0.5) * width, -bend * (1 - (2 * u - 1) ** 2)
    points = np.stack([np.stack([x, y, np.full(n + 1, z)], -1) for z in (0.0, height)], 1)
    uv = np.stack([np.stack([u, np.full(n + 1, v)], -1) for v in (0.0, 1.0)], 1)
    return _grid(points, uv, bool(bend))


def extrude(outline: Profile, depth: float, *, bevel: float = 0.0) -> Mesh:
    """A flat outline of (x, z), anticlockwise, given a thickness along y (centred on y = 0).

    The sheet lies on the front as on the outline's bounding box, and mirrored on the back.
    """
    p = np.asarray(outline, np.float64)
    low, size = p.min(0), np.maximum(np.ptp(p, axis=0), 1e-9)
    inner = _inset(p, bevel) if bevel else p
    d = depth / 2
    pieces: list[Mesh] = []
    triangles = _ears(inner)
    for y, order in ((-d, (0, 1, 2)), (d, (0, 2, 1))):
        at = np.stack([inner[:, 0], np.full(len(inner), y), inner[:, 1]], -1)
        pieces.append(_mesh(at, triangles[:, order], (inner - low) / size))
    rings = (
        [(inner, -d), (p, -d + bevel), (p, d - bevel), (inner, d)] if bevel else [(p, -d), (p, d)]
    )
    closed = [
        np.stack(
            [np.append(q[:, 0], q[0, 0]), np.full(len(q) + 1, y), np.append(q[:, 1], q[0, 1])], -1
        )
        for q, y in rings
    ]
    points = np.stack(closed, 1)
    edge = (points[..., (0, 2)] - low) / size
    pieces.append(_grid(points, edge, False))
    return joined(pieces)


def tube(path: Profile | Sequence[tuple[float, float, float]], radius: float | Sequence[float], *,
    around: int = 16, closed: bool = False, flat: float = 1.0) -> Mesh:  # fmt: skip
    """A round rod along a path of (x, y, z); `radius` may change along it, `flat` squashes it."""
    p = np.asarray(path, np.float64)
    n = len(p)
    along = np.roll(p, -1, 0) - np.roll(p, 1, 0) if closed else np.gradient(p, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    given = np.atleast_1d(np.asarray(radius, np.float64))
    radii = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(given)), given)
    side = cross(along[0], (0, 0, 1) if abs(along[0][2]) < 0.9 else (1, 0, 0))
    sides = np.empty_like(p)
    for i in range(n):  # carried along, so that the rod does not twist
        side = side - along[i] * (side @ along[i])
        side /= max(float(np.linalg.norm(side)), 1e-12)
        sides[i] = side
    ups = cross(along, sides)
    angle = np.linspace(0, 2 * math.pi, around + 1)
    ring = (
        sides[:, None] * np.cos(angle)[None, :, None]
        + ups[:, None] * np.sin(angle)[None, :, None] * flat
    )
    points = p[:, None] + ring * radii[:, None, None]
    if closed:
        points = np.concatenate([points, points[:1]])
    m = len(points)
    uv = np.stack(
        np.meshgrid(np.linspace(0, 1, m), np.linspace(0, 1, around + 1), indexing="ij"), -1
    )
    body = _grid(points, uv, True, flip=True)
    if closed:
        return body
    ends = [_fan(points[0, :-1], True), _fan(points[-1, :-1], False)]
    return joined([body, *ends], smooth=True)


def ball(rx: float, ry: float | None = None, rz: float | None = None, *, around: int = 48) -> Mesh:
    """An ellipsoid about the origin (not standing on the ground)."""
    b = np.linspace(-math.pi / 2, math.pi / 2, around // 2 + 1)
    unit = lathe(np.stack([np.cos(b).clip(1e-5), np.sin(b)], -1), around=around)
    return scaled(unit, rx, rx if ry is None else ry, rx if rz is None else rz)


def isosurface(values: Array, low: Sequence[float], cell: float) -> Mesh:
    """The surface where a grid of distances (negative inside) is nought.

    For what is soft: animals, fruit, hands. `cell` is the grid's step in metres; the sheet is
    seen from the front: (x, z) over the box from `low` on.
    """
    from skimage.measure import marching_cubes

    if not (values.min() < 0 < values.max()):
        raise ValueError("the field has no surface inside its box; give a wider box")
    lo = np.asarray(low, np.float64)
    size = cell * (np.array(values.shape) - 1)
    at, faces, _, _ = marching_cubes(values, 0.0, spacing=(cell,) * 3)  # type: ignore[no-untyped-call]
    uv = at[:, (0, 2)] / size[[0, 2]]
    at = at + lo
    return _mesh(at, faces[:, ::-1] if _inside_out(at, faces) else faces, uv, True)


def skin(points: Array, uv: Array | None = None, *, smooth: bool = True) -> Mesh:
    """A surface through an (n, m, 3) grid of points; the sheet lies over the grid as it runs."""
    if uv is None:
        n, m = (np.linspace(0, 1, k) for k in points.shape[:2])
        uv = np.stack(np.meshgrid(n, m, indexing="ij"), -1)
    return _grid(points, uv, smooth)


def joined(meshes: Sequence[Mesh], *, smooth: bool | None = None) -> Mesh:
    """Several meshes as one (of one material)."""
    starts = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + start for m, start in zip(meshes, starts, strict=False)]),
        np.concatenate([m.uv for m in meshes]),
        all(m.smooth for m in meshes) if smooth is None else smooth,
    )


def posed(mesh: Mesh, pose: Array) -> Mesh:
    """A mesh under a 4 × 4 pose."""
    at = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
    faces = mesh.faces if np.linalg.det(pose[:3, :3]) > 0 else mesh.faces[:, ::-1]
    return mesh._replace(vertices=at.astype(np.float32), faces=np.ascontiguousarray(faces))


def shifted(mesh: Mesh, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
    """A mesh somewhere else."""
    return mesh._replace(vertices=(mesh.vertices + np.array((x, y, z))).astype(np.float32))


def scaled(mesh: Mesh, x: float, y: float, z: float) -> Mesh:
    """A mesh stretched along its axes; a negative factor mirrors."""
    return posed(mesh, np.diag([x, y, z, 1.0]))


def smooth_path(points: Profile | Sequence[tuple[float, float, float]], steps: int = 8) -> Array:
    """A Catmull–Rom curve through points of two or three numbers, both ends kept."""
    p = np.asarray(points, np.float64)
    padded = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
    b, s, e, a = (q[:, None] for q in (padded[:-3], padded[1:-2], padded[2:-1], padded[3:]))
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    bent = 2 * s + (e - b) * t + (2 * b - 5 * s + 4 * e - a) * t**2 + (3 * s - b - 3 * e + a) * t**3
    return np.concatenate([(0.5 * bent).reshape(-1, p.shape[1]), p[-1:]])


def _mesh(at: Array, faces: Array, uv: Array, smooth: bool = False) -> Mesh:
    return Mesh(
        np.ascontiguousarray(at, np.float32),
        np.ascontiguousarray(faces, np.int32),
        np.ascontiguousarray(uv, np.float32),
        smooth,
    )


def _grid(points: Array, uv: Array, smooth: bool, *, flip: bool = False) -> Mesh:
    """Triangles over an (n, m) grid of points."""
    n, m = points.shape[:2]
    i, j = (q.ravel() for q in np.meshgrid(np.arange(n - 1), np.arange(m - 1), indexing="ij"))
    k = i * m + j
    faces = np.concatenate([np.stack([k, k + m, k + m + 1], 1), np.stack([k, k + m + 1, k + 1], 1)])
    return _mesh(
        points.reshape(-1, 3), faces[:, ::-1] if flip else faces, uv.reshape(-1, 2), smooth
    )


@lru_cache(maxsize=2)
def _box_table(bevelled: bool) -> tuple[Array, Array, Array, Array]:
    """A box of half sides 1: on which side of its middle each corner lies, along which axes the
    bevel draws it in, the triangles, and the sheet."""
    w = d = 1.0
    h, b = 2.0, 0.25 if bevelled else 0.0
    sides = (
        ((1, 0, 0), (0, 0, 1), (0, -d, h / 2), w, h / 2),  # front
        ((-1, 0, 0), (0, 0, 1), (0, d, h / 2), w, h / 2),  # back
        ((0, -1, 0), (0, 0, 1), (-w, 0, h / 2), d, h / 2),  # left
        ((0, 1, 0), (0, 0, 1), (w, 0, h / 2), d, h / 2),  # right
        ((1, 0, 0), (0, 1, 0), (0, 0, h), w, d),  # top
        ((1, 0, 0), (0, -1, 0), (0, 0, 0), w, d),  # bottom
    )
    pieces: list[Mesh] = []
    for right, up, centre, half_right, half_up in sides:
        r, t, c = (np.asarray(q, np.float64) for q in (right, up, centre))
        a, e = half_right - b, half_up - b
        corners = [c - a * r - e * t, c + a * r - e * t, c + a * r + e * t, c - a * r + e * t]
        pieces.append(_face(np.array(corners)))
    if b > 0:
        pieces += _bevels(w, d, h, b)
    mesh = joined(pieces)
    at = mesh.vertices.astype(np.float64) - (0, 0, 1)
    return np.sign(at), (1 - np.abs(at)) / max(b, 1e-9), mesh.faces, mesh.uv


def _face(corners: Array) -> Mesh:
    return _mesh(
        corners, np.array([(0, 1, 2), (0, 2, 3)]), np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    )


def _fan(ring: Array, backwards: bool) -> Mesh:
    n = len(ring)
    at = np.concatenate([ring, ring.mean(0, keepdims=True)])
    i = np.arange(n)
    faces = np.stack([i, (i + 1) % n, np.full(n, n)], 1)
    return _mesh(at, faces[:, ::-1] if not backwards else faces, np.full((n + 1, 2), 0.5), True)


def _bevels(w: float, d: float, h: float, b: float) -> list[Mesh]:
    """The twelve cut edges and eight cut corners of a box."""
    out: list[Mesh] = []
    half, centre = np.array([w, d, h / 2]), np.array([0, 0, h / 2])

    def corner(signs: tuple[int, int, int], axis: int) -> Array:
        """The point of a box's corner that lies on the side `axis`."""
        reach = half - b
        reach[axis] = half[axis]
        return centre + reach * signs

    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        for s in (-1, 1):
            for t in (-1, 1):
                ends = []
                for e in (-1, 1):
                    signs = [0, 0, 0]
                    signs[axis], signs[one], signs[two] = e, s, t
                    ends.append((signs[0], signs[1], signs[2]))
                quad = np.array(
                    [
                        corner(ends[0], one),
                        corner(ends[1], one),
                        corner(ends[1], two),
                        corner(ends[0], two),
                    ]
                )
                out.append(_outward(quad, centre))
    for sx in (-1, 1):
        for sy in (-1, 1):
            for sz in (-1, 1):
                out.append(_outward(np.array([corner((sx, sy, sz), a) for a in range(3)]), centre))
    return out


def _outward(corners: Array, centre: Array) -> Mesh:
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    if normal @ (corners.mean(0) - centre) < 0:
        corners = corners[::-1]
    faces = np.array([(0, i, i + 1) for i in range(1, len(corners) - 1)])
    return _mesh(corners, faces, np.full((len(corners), 2), 0.02))


def _inside_out(at: Array, faces: Array) -> bool:
    a, b, c = (at[faces[:, i]] for i in range(3))
    return float((np.cross(b - a, c - a) * (a - at.mean(0))).sum()) < 0


def _inset(p: Array, by: float) -> Array:
    """An anticlockwise outline moved inwards."""
    before, after = p - np.roll(p, 1, 0), np.roll(p, -1, 0) - p
    normals = []
    for edge in (before, after):
        edge = edge / np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-12)
        normals.append(np.stack([-edge[:, 1], edge[:, 0]], -1))
    mean = normals[0] + normals[1]
    scale = np.maximum((mean**2).sum(1, keepdims=True) / 2, 0.3)
    return p + by * mean / scale


def _ears(p: Array) -> NDArray[np.int32]:
    """Triangles that fill a simple anticlockwise outline (ear clipping)."""
    left = list(range(len(p)))
    faces: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for k in range(len(left)):
            i, j, m = left[k - 1], left[k], left[(k + 1) % len(left)]
            if _is_ear(p, left, i, j, m):
                faces.append((i, j, m))
                left.pop(k)
                break
        else:  # an outline that crosses itself: what is left is filled as a fan
            break
    faces += [(left[0], left[k], left[k + 1]) for k in range(1, len(left) - 1)]
    return np.array(faces, np.int32)


def _is_ear(p: Array, left: list[int], i: int, j: int, m: int) -> bool:
    a, b, c = p[i], p[j], p[m]
    if _cross(a, b, c) <= 1e-15:
        return False
    others = p[[k for k in left if k not in (i, j, m)]]
    inside = (_cross(a, b, others) >= 0) & (_cross(b, c, others) >= 0) & (_cross(c, a, others) >= 0)
    return not bool(np.any(inside))


def _cross(a: Array, b: Array, c: Array) -> Array:
    return (b[0] - a[0]) * (c[..., 1] - a[1]) - (b[1] - a[1]) * (c[..., 0] - a[0])
