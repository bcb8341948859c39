"""Many parts as a few meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.world.solid.forms import Array, Mesh, Part, Placed

_SLACK = 1e-3
"""How far beyond a sheet's edge is still on it."""


class Piece(NamedTuple):
    """A part where it stands, and the number of its thing."""

    part: Part
    pose: Array
    owner: int


class Shape(NamedTuple):
    """Many pieces as one mesh."""

    at: NDArray[np.float32]
    normals: NDArray[np.float32]
    uv: NDArray[np.float32]
    faces: NDArray[np.uint32]
    owners: NDArray[np.int16]
    """Of each triangle."""


class Sorts(NamedTuple):
    """The pieces of a scene by what they become."""

    plain: list[Piece]
    glass: list[Piece]
    glow: list[Piece]
    repeated: list[list[Piece]]
    """By sheet."""


def sort(placed: Sequence[Placed]) -> Sorts:
    """What of a scene is glass, what glows, and what has a sheet that repeats."""
    sorts = Sorts([], [], [], [])
    repeated: dict[tuple[object, ...], list[Piece]] = {}
    for owner, item in enumerate(placed):
        for part in item.thing.parts:
            m, uv = part.material, part.mesh.uv
            piece = Piece(part, item.pose, owner)
            if m.glow:
                sorts.glow.append(piece)
            elif m.glass:
                sorts.glass.append(piece)
            elif m.sheet is not None and (uv.min() < -_SLACK or uv.max() > 1 + _SLACK):
                repeated.setdefault((id(m.sheet), m.rough, m.metal, m.coat), []).append(piece)
            else:
                sorts.plain.append(piece)
    return sorts._replace(repeated=list(repeated.values()))


def merged(pieces: Sequence[Piece]) -> Shape | None:
    """One mesh of many; none of none."""
    if not pieces:
        return None
    fleshes = [_flesh(piece.part.mesh, piece.pose) for piece in pieces]
    starts = np.cumsum([0, *(len(f[0]) for f in fleshes)])
    return Shape(
        np.concatenate([f[0] for f in fleshes]),
        np.concatenate([f[1] for f in fleshes]),
        np.concatenate([f[2] for f in fleshes]),
        np.concatenate([f[3] + s for f, s in zip(fleshes, starts, strict=False)]).astype(np.uint32),
        np.repeat(np.array([p.owner for p in pieces], np.int16), [len(f[3]) for f in fleshes]),
    )


def filled(shape: Shape | None, at: Array, to: int) -> Shape:
    """A shape made up to a multiple of `to` triangles by specks: a sampler of light keeps the
    number of triangles that it began with."""
    count = 0 if shape is None else len(shape.faces)
    more = speck(at)
    repeats = max(-(-count // to), 1) * to - count
    fill = more._replace(
        faces=np.repeat(more.faces, repeats, 0), owners=np.repeat(more.owners, repeats)
    )
    if shape is None:
        return fill
    return Shape(
        np.concatenate([shape.at, fill.at]),
        np.concatenate([shape.normals, fill.normals]),
        np.concatenate([shape.uv, fill.uv]),
        np.concatenate([shape.faces, fill.faces + np.uint32(len(shape.at))]),
        np.concatenate([shape.owners, fill.owners]),
    )


def speck(at: Array) -> Shape:
    """A triangle that nobody sees, for a shape that a scene has no use for."""
    corners = at + np.array([(0, 0, 0), (1e-3, 0, 0), (0, 1e-3, 0)])
    return Shape(
        corners.astype(np.float32), np.array([(0, 0, 1)] * 3, np.float32),
        np.zeros((3, 2), np.float32), np.array([(0, 1, 2)], np.uint32), np.array([-1], np.int16),
    )  # fmt: skip


def _flesh(mesh: Mesh, pose: Array) -> tuple[Array, Array, Array, Array]:
    """Points, directions, sheet and triangles of a mesh where it stands; flat meshes are taken
    apart, so that all have directions."""
    at = (mesh.vertices @ pose[:3, :3].T + pose[:3, 3]).astype(np.float32)
    faces = mesh.faces if np.linalg.det(pose[:3, :3]) > 0 else mesh.faces[:, ::-1]
    corners = at[faces].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if not mesh.smooth:
        return (
            at[faces].reshape(-1, 3), np.repeat(_unit(across), 3, axis=0),
            mesh.uv[faces].reshape(-1, 2), np.arange(3 * len(faces)).reshape(-1, 3),
        )  # fmt: skip
    _, same = np.unique(_keys(mesh.vertices), return_inverse=True)
    same = same.ravel()
    of, count = same[faces].ravel(), int(same.max()) + 1
    total = np.stack([np.bincount(of, np.repeat(across[:, k], 3), count) for k in range(3)], 1)
    return at, _unit(total)[same], mesh.uv, faces


def _keys(at: NDArray[np.float32]) -> NDArray[np.int64]:
    """Equal for points that are the same to a millionth of the mesh's size: seams are closed."""
    low, size = at.min(0), max(float(np.ptp(at, axis=0).max()), 1e-9)
    steps = np.rint((at.astype(np.float64) - low) / size * 1e6).astype(np.int64)
    return (steps[:, 0] << 42) | (steps[:, 1] << 21) | steps[:, 2]


def _unit(directions: Array) -> NDArray[np.float32]:
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    found = np.where(length > 1e-20, directions / np.maximum(length, 1e-20), (0, 0, 1))
    return found.astype(np.float32)
