"""Something between camera and entity, placed so that it covers a wanted share of the entity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box, Polygon, Record
from simulator.optics.light.srgb import WHITE, Image, Light, to_codes, to_light
from simulator.optics.shape import occluder_textures
from simulator.optics.shape.geometry import Matrix, bounds, clip, corners, cv_matrix, move_points

COVERED = (0.0, 0.10, 0.20, 0.35, 0.50, 0.65)
"""Severity → share of the entity that is covered (mean alpha)."""

WORLD = ("fence", "screen")
"""Occluders in the world are smeared by the head's motion; those on the lens are not."""

_VIEW = 96
"""Longest side of the grid on which coverage is measured."""

_BAND = 1 << 19
"""Samples of the picture that a matte is composed with at a time."""

_FAR = 1e6


class Occluder(Record, frozen=True, kw_only=True):
    """An occluder in its place: a texture and the map from it to the picture."""

    kind: str
    map: tuple[float, float, float, float, float, float]
    """2 × 3, texture pixels (continuous) → picture pixels."""
    look: int = 0
    pitch: int = 0
    fill: float = 0.0
    """Wire width over wire distance, of fences and screens."""


class Covering(Record, frozen=True, kw_only=True):
    """A matte and the share of the entity that it covers."""

    matte: Occluder
    covered: float
    clamped: bool = False


def cover(
    kind: str, size: tuple[int, int], entity: Polygon, target: float, draw: np.random.Generator
) -> Covering:
    """Solve position or scale for `target`. `entity` is in the picture's coordinates."""
    view = _View(size, entity)
    best: tuple[float, Occluder] | None = None
    for family in _FAMILIES[kind](size, view.box, draw):
        matte, reached = _solve(family, target, view.covered)
        if best is None or abs(reached - target) < abs(best[0] - target):
            best = (reached, matte)
        if abs(reached - target) <= 0.01:
            break
    assert best is not None
    return Covering(matte=best[1], covered=best[0], clamped=abs(best[0] - target) > 0.02)


def alpha(matte: Occluder, size: tuple[int, int]) -> NDArray[np.float32]:
    """How much of every pixel of the picture is covered, 0–1."""
    clear = _planes(matte.kind, matte.look, matte.pitch, matte.fill)[1]
    return 1.0 - _warped(clear, matte, _map(matte), size).astype(np.float32) / 65535.0


def lay_over(image: Image, matte: Occluder) -> Image:
    """The matte over sRGB codes: only where it lies are they turned into light and back."""
    out = image.copy()
    for where, colour, clear in _bands(image.shape[:2], matte):
        behind = to_light(out[where])
        _blend(behind, colour, clear)
        out[where] = to_codes(behind)
    return out


def compose(light: Light, matte: Occluder) -> Light:
    """C = αF + (1−α)I in linear light, in place."""
    for where, colour, clear in _bands(light.shape[:2], matte):
        _blend(light[where], colour, clear)
    return light


def _blend(behind: Light, colour: Light, clear: Light) -> None:
    cv2.multiply(behind, clear, behind, scale=1 / 65535.0)
    cv2.add(behind, colour, behind)


def _bands(
    shape: tuple[int, int], matte: Occluder
) -> Iterator[tuple[tuple[slice, slice], Light, Light]]:
    """Where a matte lies, its premultiplied light, and 1 − α in three channels.

    It comes in bands of rows: they stay in the cache, and a slanting matte fills them better than
    one box around it.
    """
    h, w = shape
    shrink = _shrink(matte)
    sw, sh = -(-w // shrink), -(-h // shrink)
    planes, _ = _planes(matte.kind, matte.look, matte.pitch, matte.fill)
    matrix = np.diag((1 / shrink, 1 / shrink, 1.0)) @ _map(matte)
    outline = corners((0.0, 0.0, float(sw), float(sh)))
    if matte.kind not in WORLD:
        outline = clip(
            move_points(corners(_support(matte.kind, matte.look)), matrix),
            (0.0, 0.0, float(sw), float(sh)),
        )
    rows = max(8, _BAND // (w * 3 * shrink))
    for top in range(0, sh, rows):
        box = bounds(clip(outline, (0.0, float(top), float(sw), float(top + rows))))
        if box is None:
            continue
        # One more pixel around: enlarging draws from the neighbours.
        x0, x1 = max(0, math.floor(box[0]) - 1), min(sw, math.ceil(box[2]) + 1)
        y0, y1 = max(0, top - 1), min(sh, top + rows + 1)
        shifted = np.array([[1.0, 0, -x0], [0, 1, -y0], [0, 0, 1]]) @ matrix
        small = _warped(planes, matte, shifted, (x1 - x0, y1 - y0))
        if matte.kind not in WORLD:
            touched = np.flatnonzero(small[..., 3].min(axis=0) < 65535)
            if not touched.size:
                continue
            first, last = max(0, int(touched[0]) - 1), min(x1 - x0, int(touched[-1]) + 2)
            small = np.ascontiguousarray(small[:, first:last])
            x0, x1 = x0 + first, x0 + last
        colour, clear = cv2.cvtColor(small, cv2.COLOR_RGBA2RGB), cv2.extractChannel(small, 3)
        if shrink > 1:
            size = (x1 - x0) * shrink, (y1 - y0) * shrink
            colour, clear = (cv2.resize(c, size) for c in (colour, clear))
        bottom, right = min(h, (top + rows) * shrink), min(w, x1 * shrink)
        own = slice((top - y0) * shrink, bottom - y0 * shrink), slice(0, right - x0 * shrink)
        clear = cv2.cvtColor(clear[own], cv2.COLOR_GRAY2RGB)
        where = slice(top * shrink, bottom), slice(x0 * shrink, right)
        yield where, np.asarray(colour, np.uint16)[own], np.asarray(clear, np.uint16)


Family = Callable[[float], Occluder]
"""Strength 0–1 → matte; coverage grows with strength."""


def _fingers(size: tuple[int, int], box: Box, draw: np.random.Generator) -> list[Family]:
    """A finger that comes in from the nearest edge; wider ones follow where one is too thin."""
    w, h = size
    x0, y0, x1, y1 = box
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    look = int(draw.integers(occluder_textures.LOOKS))
    edges = {180.0: cx / w, 0.0: (w - cx) / w, 90.0: (h - cy) / h, 270.0: cy / h}
    come = min(edges, key=lambda a: edges[a] + 0.25 * draw.random()) + draw.uniform(-35, 35)
    side = draw.uniform(-0.18, 0.18)
    reach = math.hypot(x1 - x0, y1 - y0) / 2
    least = max(0.42 * min(x1 - x0, y1 - y0), 0.07 * w)

    def family(radius: float) -> Family:
        turn = math.radians(come)
        ax, ay = math.cos(turn), math.sin(turn)

        def at(strength: float) -> Occluder:
            # The tip starts beyond the entity on the edge's side and ends beyond its far side.
            ahead = (reach + 0.3 * radius) - strength * (2 * reach + 2.2 * radius)
            off = side * min(x1 - x0, y1 - y0)
            tx, ty = cx + ax * ahead - ay * off, cy + ay * ahead + ax * off
            scale = radius / occluder_textures.FINGER_UNIT
            a, b, c, d = ax * scale, -ay * scale, ay * scale, ax * scale
            u, v = (f * occluder_textures.FINGER_UNIT for f in occluder_textures.FINGER_TIP)
            return Occluder(
                kind="finger", look=look, map=(a, b, tx - a * u - b * v, c, d, ty - c * u - d * v)
            )

        return at

    return [family(least * wider) for wider in (1.0, 1.3, 1.7, 2.2, 3.0, 4.5)]


def _meshes(kind: str) -> Callable[[tuple[int, int], Box, np.random.Generator], list[Family]]:
    def families(size: tuple[int, int], box: Box, draw: np.random.Generator) -> list[Family]:
        w = size[0]
        x0, y0, x1, y1 = box
        short = min(x1 - x0, y1 - y0)
        wide = 0.075 * w * draw.uniform(0.8, 1.2) if kind == "fence" else w / 95
        pitch = max(4, round(min(wide, max(short / 2.5, 6.0))))
        turn = math.radians(draw.uniform(-4, 4))
        stretch = draw.uniform(1.0, 1.25) if kind == "fence" else 1.0
        cx, cy = (x0 + x1) / 2 + draw.uniform(-1, 1), (y0 + y1) / 2 + draw.uniform(-1, 1)

        def at(strength: float) -> Occluder:
            fill = round(0.01 + 0.74 * strength, 4)
            a, b = math.cos(turn), -math.sin(turn) * stretch
            c, d = math.sin(turn), math.cos(turn) * stretch
            return Occluder(kind=kind, pitch=pitch, fill=fill, map=(a, b, cx, c, d, cy))

        return [at]

    return families


def _straps(size: tuple[int, int], box: Box, draw: np.random.Generator) -> list[Family]:
    """A lock that falls across the whole picture and over the entity."""
    w, h = size
    x0, y0, x1, y1 = box
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    look = int(draw.integers(occluder_textures.LOOKS))
    lean = math.radians(90 + draw.uniform(-38, 38))
    length = 1.5 * math.hypot(w, h)
    span = max(x1 - x0, y1 - y0)
    aside = draw.uniform(-0.2, 0.2) * min(x1 - x0, y1 - y0)
    along, across = occluder_textures.HAIR_SIZE

    def at(strength: float) -> Occluder:
        half = span * (0.01 + 1.9 * strength**1.5)
        su = length / along
        sv = half / (occluder_textures.HAIR_HALF * across)
        ux, uy = math.cos(lean), math.sin(lean)
        a, b, c, d = ux * su, -uy * sv, uy * su, ux * sv
        tx, ty = cx - uy * aside, cy + ux * aside
        return Occluder(
            kind="strap",
            look=look,
            map=(
                a, b, tx - a * along / 2 - b * across / 2,
                c, d, ty - c * along / 2 - d * across / 2,
            ),
        )  # fmt: skip

    return [at]


_FAMILIES: dict[str, Callable[[tuple[int, int], Box, np.random.Generator], list[Family]]] = {
    "finger": _fingers,
    "fence": _meshes("fence"),
    "screen": _meshes("screen"),
    "strap": _straps,
}


class _View:
    """The entity on a small grid of its own, so that coverage is exact for tiny entities too."""

    def __init__(self, size: tuple[int, int], entity: Polygon) -> None:
        self.box = bounds(entity) or (0.0, 0.0, float(size[0]), float(size[1]))
        x0, y0, x1, y1 = self.box
        bw, bh = max(x1 - x0, 1e-3), max(y1 - y0, 1e-3)
        scale = _VIEW / max(bw, bh)
        self._size = max(2, math.ceil(bw * scale)), max(2, math.ceil(bh * scale))
        sx, sy = self._size[0] / bw, self._size[1] / bh
        self._map = np.array([[sx, 0.0, -x0 * sx], [0.0, sy, -y0 * sy], [0.0, 0.0, 1.0]])
        points = np.array([((x - x0) * sx - 0.5, (y - y0) * sy - 0.5) for x, y in entity])
        mask = np.zeros((self._size[1], self._size[0]), np.uint8)
        cv2.fillPoly(mask, [np.rint(points * 16).astype(np.int32)], 1, shift=4)
        self._mask = mask if mask.any() else np.ones_like(mask)

    def covered(self, matte: Occluder) -> float:
        """Mean alpha over the entity."""
        clear = _planes(matte.kind, matte.look, matte.pitch, matte.fill)[1]
        placed = _warped(clear, matte, self._map @ _map(matte), self._size)
        return 1.0 - cv2.mean(placed, self._mask)[0] / 65535.0


def _solve(
    family: Family, target: float, covered: Callable[[Occluder], float]
) -> tuple[Occluder, float]:
    low, high = 0.0, 1.0
    best = family(1.0)
    reached = covered(best)
    if reached <= target:
        return best, reached
    for _ in range(14):
        middle = (low + high) / 2
        matte = family(middle)
        share = covered(matte)
        if abs(share - target) < abs(reached - target):
            best, reached = matte, share
        if abs(share - target) < 0.004:
            break
        low, high = (middle, high) if share < target else (low, middle)
    return best, reached


@lru_cache(maxsize=32)
def _planes(
    kind: str, look: int, pitch: int, fill: float
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """A texture as premultiplied 15-bit light and 16-bit clearness, and that alone."""
    if kind in WORLD:
        image = (occluder_textures.fence if kind == "fence" else occluder_textures.screen)(
            pitch, fill
        )
    else:
        image = (occluder_textures.finger if kind == "finger" else occluder_textures.hair)(look)
    planes = np.empty(image.shape, np.uint16)
    planes[..., :3] = np.rint(image[..., :3] * WHITE)
    planes[..., 3] = np.rint((1.0 - image[..., 3]) * 65535.0)
    return planes, np.ascontiguousarray(planes[..., 3])


@lru_cache(maxsize=32)
def _support(kind: str, look: int) -> Box:
    """The part of a texture that covers anything; what reaches an edge goes on beyond it."""
    touched = _planes(kind, look, 0, 0.0)[1] < 65535
    h, w = touched.shape
    cols, rows = np.flatnonzero(touched.any(axis=0)), np.flatnonzero(touched.any(axis=1))
    x0, x1, y0, y1 = int(cols[0]), int(cols[-1]) + 1, int(rows[0]), int(rows[-1]) + 1
    return (
        -_FAR if x0 == 0 else x0 - 1.0,
        -_FAR if y0 == 0 else y0 - 1.0,
        _FAR if x1 == w else x1 + 1.0,
        _FAR if y1 == h else y1 + 1.0,
    )


def _map(matte: Occluder) -> Matrix:
    """Texture → picture."""
    return np.array([*matte.map, 0.0, 0.0, 1.0]).reshape(3, 3)


def _inverse(matrix: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(matrix), np.float64)


def _warped(
    planes: NDArray[np.uint16], matte: Occluder, matrix: Matrix, size: tuple[int, int]
) -> NDArray[np.uint16]:
    """A texture as it lies in a view of the picture."""
    border = cv2.BORDER_REPLICATE
    if matte.kind in WORLD:
        view = corners((0.0, 0.0, float(size[0]), float(size[1])))
        x0, y0, x1, y1 = bounds(move_points(view, _inverse(matrix))) or (0.0, 0.0, 0.0, 0.0)
        h, w = planes.shape[:2]
        left, top = math.floor((x0 - 1) / w), math.floor((y0 - 1) / h)
        across, down = math.ceil((x1 + 1) / w) - left, math.ceil((y1 + 1) / h) - top
        if across * w * down * h <= 4 * size[0] * size[1]:
            # Seven times faster than OpenCV's repeating border, but not for a view from afar.
            planes = np.asarray(cv2.repeat(planes, down, across), np.uint16)
            matrix = matrix @ np.array([[1.0, 0, left * w], [0, 1, top * h], [0, 0, 1]])
        else:
            border = cv2.BORDER_WRAP
    return np.asarray(
        cv2.warpAffine(planes, cv_matrix(matrix), size, flags=cv2.INTER_LINEAR, borderMode=border),
        np.uint16,
    )


def _shrink(matte: Occluder) -> int:
    """Mattes are smooth: they can be placed at a part of the resolution and enlarged."""
    if matte.kind in WORLD:
        return 2 if matte.pitch * matte.fill >= 16 else 1
    scale = math.hypot(matte.map[1], matte.map[4])
    return 4 if scale >= 2 else 2 if scale >= 1 else 1
