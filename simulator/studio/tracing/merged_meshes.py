"""Many parts as a few meshes, and their sheets side by side in one picture."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Placed, Point, cross
from simulator.studio.tracing.surface_structure import grain_of

_SLACK = 1e-3
"""How far beyond a sheet's edge is still on it."""

GRAINS_MOST = 64
FAR = 4
_NEAR = 18.0
"""Metres from the eye within which sheets are as fine as can be."""
_CELLS = 96
"""Squares across into which what is far away is cut at most."""

Place = tuple[float, float, float, float]
"""Left, top, width, height, in parts of a whole picture."""


class Piece(NamedTuple):
    """A part where it stands, the number of its thing, and where its sheet is."""

    part: Part
    pose: Array
    owner: int
    place: Place = (0.0, 0.0, 1.0, 1.0)
    far: Place | None = None
    """Where a coarse sheet of `FAR` × `FAR` of them is, for what is far away."""
    eye: Point = (0.0, 0.0, 0.0)

    @property
    def repeats(self) -> bool:
        """Whether its sheet goes on beyond its edges, as a floor's does."""
        m, uv = self.part.material, self.part.mesh.uv
        return m.sheet is not None and bool(uv.min() < -_SLACK or uv.max() > 1 + _SLACK)

    @property
    def is_vast(self) -> bool:
        """Whether its sheet is repeated so often that a coarse one must do for most of it."""
        return bool(np.ptp(self.part.mesh.uv, axis=0).max() > FAR)


class MergedMesh(NamedTuple):
    """Many pieces as one mesh."""

    at: NDArray[np.float32]
    normals: NDArray[np.float32]
    uv: NDArray[np.float32]
    faces: NDArray[np.uint32]
    owners: NDArray[np.int32]
    """Of each triangle its thing's number times `GRAINS_MOST`, and what it is made of."""


class SortedPieces(NamedTuple):
    """The pieces of a scene by what they become."""

    plain: list[Piece]
    glass: list[Piece]
    glow: list[Piece]


def sort_pieces(placed: Sequence[Placed], eye: Point) -> SortedPieces:
    """What of a scene is glass, what glows, and all else, and where it is seen from."""
    sorts = SortedPieces([], [], [])
    for owner, item in enumerate(placed):
        for part in item.thing.parts:
            m = part.material
            kind = sorts.glow if m.glow else sorts.glass if m.glass else sorts.plain
            kind.append(Piece(part, item.pose, owner, eye=eye))
    return sorts


def merged(pieces: Sequence[Piece]) -> MergedMesh | None:
    """One mesh of many; none of none."""
    if not pieces:
        return None
    fleshes = [_covered(_flesh(piece.part.mesh, piece.pose), piece) for piece in pieces]
    starts = np.cumsum([0, *(len(f[0]) for f in fleshes)])
    return MergedMesh(
        np.concatenate([f[0] for f in fleshes]),
        np.concatenate([f[1] for f in fleshes]),
        np.concatenate([f[2] for f in fleshes]),
        np.concatenate([f[3] + s for f, s in zip(fleshes, starts, strict=False)]).astype(np.uint32),
        np.repeat(
            np.array([p.owner * GRAINS_MOST + grain_of(p.part.material) for p in pieces], np.int32),
            [len(f[3]) for f in fleshes],
        ),
    )


def pad_triangles(shape: MergedMesh | None, at: Array, to: int) -> MergedMesh:
    """A shape made up to a multiple of `to` triangles by specks: a sampler of light keeps the
    number of triangles that it began with."""
    count = 0 if shape is None else len(shape.faces)
    more = speck(at)
    repeats = max(-(-count // to), 1) * to - count
    fill = more._replace(
        faces=np.repeat(more.faces, repeats, 0), owners=np.repeat(more.owners, repeats)
    )
    if shape is None or not repeats:
        return shape or fill
    return MergedMesh(
        np.concatenate([shape.at, fill.at]),
        np.concatenate([shape.normals, fill.normals]),
        np.concatenate([shape.uv, fill.uv]),
        np.concatenate([shape.faces, fill.faces + np.uint32(len(shape.at))]),
        np.concatenate([shape.owners, fill.owners]),
    )


def speck(at: Array) -> MergedMesh:
    """A triangle that nobody sees, for a shape that a scene has no use for."""
    corners = at + np.array([(0, 0, 0), (1e-4, 0, 0), (0, 1e-4, 0)])
    return MergedMesh(
        corners.astype(np.float32), np.array([(0, 0, 1)] * 3, np.float32),
        np.zeros((3, 2), np.float32), np.array([(0, 1, 2)], np.uint32), np.array([-1], np.int32),
    )  # fmt: skip


Flesh = tuple[Array, Array, Array, Array]


def _covered(flesh: Flesh, piece: Piece) -> Flesh:
    """The same surface on the piece's place of a picture. A surface is cut wherever its sheet
    begins anew, so that each triangle lies on one."""
    if not piece.repeats:
        at, normals, uv, faces = flesh
        return at, normals, _laid(uv, piece.place), faces
    near = np.concatenate(flesh[:3], 1)[flesh[3]].astype(np.float64)
    pieces: list[tuple[Array, Place]] = []
    if piece.far:
        # a plain of a kilometre is cut into no more pieces than a square of a hundred metres
        coarser = FAR * max(math.ceil(float(np.ptp(near[..., 6:])) / (FAR * _CELLS)), 1)
        near[..., 6:] /= coarser
        near = _cut(near)
        away = np.linalg.norm(near[..., :3].mean(1) - piece.eye, axis=1) > _NEAR
        pieces.append((near[away], piece.far))
        near = near[~away]
        near[..., 6:] *= coarser
    pieces.append((_cut(near), piece.place))
    for corners, place in pieces:
        first = np.floor(corners[..., 6:].mean(1, keepdims=True))
        corners[..., 6:] = _laid(corners[..., 6:] - first, place)
    rows = np.concatenate([corners.reshape(-1, 8) for corners, _ in pieces]).astype(np.float32)
    return rows[:, :3], rows[:, 3:6], rows[:, 6:], np.arange(len(rows)).reshape(-1, 3)


def _laid(uv: Array, place: Place) -> NDArray[np.float32]:
    """Where a sheet's points are on a picture, which begins with its uppermost row."""
    x, y, w, h = place
    return (np.clip(uv, 0, 1) * (w, -h) + (x, y + h)).astype(np.float32)


def _cut(corners: Array) -> Array:
    """Triangles (n, 3, 8) cut where their sheet begins anew."""
    for axis in (6, 7):
        done: list[Array] = []
        while len(corners):
            u = corners[..., axis]
            low, high = np.floor(u.min(1) + 1e-6), np.ceil(u.max(1) - 1e-6)
            crosses = high - low > 1.5
            done.append(corners[~crosses])
            line = np.floor((low + high) / 2)[crosses]
            corners = _halves(corners[crosses], axis, line)
        corners = np.concatenate([corners, *done])
    return corners


def _halves(corners: Array, axis: int, line: Array) -> Array:
    """Triangles cut in three by a line that each of them crosses."""
    beyond = corners[..., axis] > line[:, None]
    lone = np.where(beyond.sum(1) == 1, beyond.argmax(1), (~beyond).argmax(1))
    turned = (lone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(corners, turned[..., None], 1), 1, 0)

    def met(end: Array) -> Array:
        part = (line - a[:, axis]) / (end[:, axis] - a[:, axis])
        point = a + (end - a) * part[:, None]
        point[:, axis] = line
        return point

    ab, ac = met(b), met(c)
    return np.concatenate([np.stack(t, 1) for t in ((a, ab, ac), (ab, b, c), (ab, c, ac))])


def _flesh(mesh: Mesh, pose: Array) -> Flesh:
    """Points, directions, sheet and triangles of a mesh where it stands; flat meshes are taken
    apart, so that all have directions."""
    at = (mesh.vertices @ pose[:3, :3].T + pose[:3, 3]).astype(np.float32)
    faces = mesh.faces if np.linalg.det(pose[:3, :3]) > 0 else mesh.faces[:, ::-1]
    corners = at[faces].astype(np.float64)
    across = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
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


_WIDTH = 4128
"""Four sheets of floors or walls side by side."""
_WIDEST = 2044
"""Pixels of a sheet's width."""
_CELL = 8
"""Sheets begin at multiples of this, so that gloss can be said on a coarser grid."""
_EDGE = 2
"""Pixels of its own colour around a sheet: between two texels there is never a neighbour's."""
WHITEST = 245
"""No colour is brighter: with its gloss and lacquer it would give back more light than it gets."""
_MOST = 16_000_000
"""Pixels of all sheets together; beyond it the largest are made smaller."""
_LEAST = 512 * 512
"""Pixels to which a sheet that repeats is made smaller before any print is."""


class Atlas(NamedTuple):
    """Sheets in one picture."""

    colour: NDArray[np.uint8]
    gloss: NDArray[np.float32]
    """Roughness, metal, lacquer, on a coarser grid."""
    places: list[Place]
    """Of each material."""


def in_one_picture(pieces: Sequence[Piece]) -> tuple[list[Piece], Atlas]:
    """Pieces as they lie on one picture; a plain colour is a small square of it."""
    numbers: dict[tuple[object, ...], int] = {}
    materials: list[Material] = []
    repeating: set[int] = set()

    def number(piece: Piece, coarse: bool) -> int:
        m = piece.part.material
        key = (m.colour if m.sheet is None else id(m.sheet), m.rough, m.metal, m.coat, coarse)
        if key not in numbers:
            numbers[key] = len(materials)
            materials.append(m._replace(sheet=_coarse(m.sheet)) if coarse else m)
        if coarse or piece.repeats:
            repeating.add(numbers[key])
        return numbers[key]

    of = [number(piece, False) for piece in pieces]
    far = [number(piece, True) if piece.repeats and piece.is_vast else None for piece in pieces]
    atlas = pack(materials, repeating)
    places = atlas.places
    laid = [
        piece._replace(place=places[n], far=None if f is None else places[f])
        for piece, n, f in zip(pieces, of, far, strict=True)
    ]
    return laid, atlas


def pack(materials: Sequence[Material], repeating: Collection[int] = ()) -> Atlas:
    """The sheets and colours of materials; shelves are filled from the tallest on."""
    sheets = _fitting([_sheet(m) for m in materials], repeating)
    rooms = [tuple(-(-(n + 2 * _EDGE) // _CELL) * _CELL for n in s.shape[:2]) for s in sheets]
    corners, height = _shelved(rooms)
    colour = np.zeros((height, _WIDTH, 3), np.uint8)
    gloss = np.full((height // _CELL, _WIDTH // _CELL, 3), 0.5, np.float32)
    places: list[Place] = []
    for i, (m, sheet) in enumerate(zip(materials, sheets, strict=True)):
        (h, w), (left, top) = rooms[i], corners[i]
        tall, wide = sheet.shape[:2]
        edges = ((_EDGE, h - tall - _EDGE), (_EDGE, w - wide - _EDGE), (0, 0))
        how = "wrap" if i in repeating else "edge"
        colour[top : top + h, left : left + w] = np.minimum(np.pad(sheet, edges, how), WHITEST)
        rows = slice(top // _CELL, (top + h) // _CELL)
        gloss[rows, left // _CELL : (left + w) // _CELL] = (m.rough, m.metal, m.coat)
        x, y = (left + _EDGE) / _WIDTH, (top + _EDGE) / height
        places.append((x, y, wide / _WIDTH, tall / height))
    return Atlas(colour, gloss, places)


def linear(screen: Array) -> NDArray[np.float32]:
    """A screen's colours (0–255) as light (0–1)."""
    x = np.asarray(screen, np.float32) / 255
    return np.where(x > 0.04045, ((x + 0.055) / 1.055) ** 2.4, x / 12.92).astype(np.float32)


def _shelved(rooms: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, int]], int]:
    """The upper left corner of each room, and the height of all."""
    corners = [(0, 0)] * len(rooms)
    x = y = shelf = 0
    for i in sorted(range(len(rooms)), key=lambda i: (-rooms[i][0], i)):
        h, w = rooms[i]
        if x + w > _WIDTH:
            x, y, shelf = 0, y + shelf, 0
        corners[i] = (x, y)
        x, shelf = x + w, max(shelf, h)
    return corners, max(y + shelf, 4 * _CELL)  # a texture of one row ends the process


def _sheet(material: Material) -> NDArray[np.uint8]:
    if material.sheet is not None:
        return material.sheet
    colour = np.clip(np.rint(material.colour), 0, 255).astype(np.uint8)
    return np.broadcast_to(colour, (_CELL - 2 * _EDGE, _CELL - 2 * _EDGE, 3))


def _fitting(
    sheets: list[NDArray[np.uint8]], repeating: Collection[int]
) -> list[NDArray[np.uint8]]:
    """Sheets that are no more than a scene may have, and no wider than one may be: what repeats is
    made smaller before what is read."""
    sheets = [_halved(s) if s.shape[1] > _WIDEST else s for s in sheets]
    while sum(areas := [s.shape[0] * s.shape[1] for s in sheets]) > _MOST:
        some = [i for i in repeating if areas[i] > _LEAST] or range(len(sheets))
        largest = max(areas[i] for i in some)
        for i in some:
            if areas[i] == largest:
                sheets[i] = _halved(sheets[i])
    return sheets


def _coarse(sheet: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """A sheet as it looks from far away, `FAR` times `FAR`."""
    import cv2

    assert sheet is not None
    side = tuple(max(n // FAR, 1) for n in sheet.shape[1::-1])
    small = np.asarray(cv2.resize(sheet, side, interpolation=cv2.INTER_AREA), np.uint8)
    return np.tile(small, (FAR, FAR, 1))


def _halved(sheet: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import cv2

    size = (max(sheet.shape[1] // 2, 1), max(sheet.shape[0] // 2, 1))
    return np.asarray(cv2.resize(sheet, size, interpolation=cv2.INTER_AREA), np.uint8)
