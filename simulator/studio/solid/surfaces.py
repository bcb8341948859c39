"""What floors, walls, tops and grounds are made of: sheets that tile without a seam.

Every surface is a `Surface`: a material and how many metres its sheet covers. `laid` puts it on a
mesh in metres, so that a brick is a brick on a garden wall and on a tower. Equal arguments give the
same object, so parts that share a surface share its material. Patterns are made once per process
for each seed and dyed for each colour: take seeds from a small range.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.scene_types import Array, Material, Mesh, Part
from simulator.world.pictures.randomness import generator
from simulator.world.pictures.traits import Colour

Field = NDArray[np.float32]
Bytes = NDArray[np.uint8]

SIDE = 1024
"""Pixels of a sheet."""


class Surface(NamedTuple):
    """A material, and the metres that its sheet covers."""

    material: Material
    width: float
    height: float
    unit: tuple[float, float] = (1.0, 1.0)
    """Of the sheet: by whole ones of these it may be shifted unseen, as by a board or a slab."""


@lru_cache(maxsize=48)
def surface_of(
    make: Callable[..., Any],
    args: tuple[Any, ...],
    colour: Colour,
    size: tuple[float, float],
    *,
    second: Colour | None = None,
    rough: float,
    coat: float = 0.0,
    metal: float = 0.0,
    grain: str = "stone",
    unit: tuple[float, float] = (1.0, 1.0),
) -> Surface:
    """A surface with the pattern that `make` draws, in a colour."""
    sheet = _dyed_sheet(make, args, colour, second)
    material = Material(sheet=sheet, rough=rough, coat=coat, metal=metal, grain=grain)
    return Surface(material, *size, unit)


def _in_colours(
    side: float, *, rough: float, coat: float = 0.0, metal: float = 0.0, grain: str = "stone"
) -> Callable[[Callable[[int], Array]], Callable[[Colour, int], Surface]]:
    """Make of a seed's pattern a surface in a colour, whose sheet covers `side` metres."""

    def in_colours(pattern: Callable[[int], Array]) -> Callable[[Colour, int], Surface]:
        @wraps(pattern)
        def surface(colour: Colour, seed: int) -> Surface:
            size = (side, side)
            return surface_of(
                pattern, (seed,), colour, size, rough=rough, coat=coat, metal=metal, grain=grain
            )

        return surface

    return in_colours


@lru_cache(maxsize=24)
def _dyed_sheet(
    make: Callable[..., Any], args: tuple[Any, ...], colour: Colour, second: Colour | None
) -> Bytes:
    level, share = _pattern(make, args)
    level = cv2.merge((level,) * 3) if level.ndim == 2 else level
    sheet = np.asarray(cv2.LUT(level, _dye(colour)))
    if share is not None and second is not None and second != colour:
        other = np.asarray(cv2.LUT(level, _dye(second)))
        weight = share.astype(np.float32) / 255
        sheet = np.asarray(cv2.blendLinear(sheet, other, 1 - weight, weight))
    return sheet.astype(np.uint8, copy=False)


_FULL = 160
"""The byte that stands for a level of 1."""


@lru_cache(maxsize=80)
def _pattern(make: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Bytes, Bytes | None]:
    """Levels, of each channel where they differ, and the share of the second colour if any."""
    made = make(*args)
    level, share = made if isinstance(made, tuple) else (made, None)
    dyed_share = None if share is None else np.clip(share * 255, 0, 255).astype(np.uint8)
    return np.clip(level * _FULL, 0, 255).astype(np.uint8), dyed_share


def _dye(colour: Colour) -> Bytes:
    steps = np.arange(256)[:, None] / _FULL * np.asarray(colour, float)
    return np.clip(steps, 4, 250).astype(np.uint8)[None]


def forget() -> None:
    """Drop all sheets that were made."""
    for cached in (surface_of, _dyed_sheet, _pattern):
        cached.cache_clear()


def noise(seed: int, layer: int, rows: int, columns: int) -> Field:
    """Smooth periodic noise of so many cells (powers of two); mean 0, deviation about 1."""
    rows, columns = min(rows, SIDE), min(columns, SIDE)
    small = generator("surface", seed, layer).standard_normal((rows, columns), np.float32)
    sy, sx = SIDE // rows, SIDE // columns
    how = cv2.INTER_LINEAR if sx * sy < 9 else cv2.INTER_CUBIC
    wide = cv2.resize(np.pad(small, 2, mode="wrap"), None, fx=sx, fy=sy, interpolation=how)
    return wide[2 * sy : 2 * sy + SIDE, 2 * sx : 2 * sx + SIDE] * 1.25


def clouds(seed: int, many: int, octaves: int) -> Field:
    """Noise of so many cells, then octaves each twice as fine and half as strong."""
    total = noise(seed, 20, many, many)
    for k in range(1, octaves):
        total = total + noise(seed, 20 + k, many << k, many << k) / 2**k
    return total * np.float32(0.8)


def cells(
    seed: int, count: int, points: Array | None = None
) -> tuple[NDArray[np.int32], Field, Field]:
    """Periodic cells around points in the unit square.

    For each pixel: whose it is, pixels to that point, and pixels to the cell's edge.
    """
    if points is None:
        points = generator("cells", seed).random((count, 2))
    margin = 96
    wide = SIDE + 2 * margin
    around = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    spot = np.floor((points[None] + around[:, None]).reshape(-1, 2) * SIDE).astype(int) + margin
    inside = np.all((spot >= 0) & (spot < wide), axis=1)
    mask = np.full((wide, wide), 255, np.uint8)
    mask[spot[inside, 1], spot[inside, 0]] = 0
    distance, which = cv2.distanceTransformWithLabels(
        mask, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    near, label = np.asarray(distance, np.float32), np.asarray(which, np.int32)
    owners = np.zeros(int(label.max()) + 1, np.int32)
    owners[label[spot[inside, 1], spot[inside, 0]]] = np.nonzero(inside)[0] % len(points)
    same = (label == np.roll(label, 1, 0)) & (label == np.roll(label, 1, 1))
    edge = np.asarray(cv2.distanceTransform(same.astype(np.uint8), cv2.DIST_L2, 3), np.float32)
    cut = slice(margin, margin + SIDE)
    return owners[label[cut, cut]], near[cut, cut], edge[cut, cut]


def laid(mesh: Mesh, surface: Surface) -> Part:
    """The mesh covered with a surface in true scale; wood grows along what it is made into.

    Flat meshes take the sheet from the side that each triangle faces; round ones keep how it lies
    on them, stretched to metres.
    """
    size, is_wood = np.array([surface.width, surface.height]), surface.material.grain == "wood"
    if mesh.smooth:
        uv = _unwrapped(mesh)[:, :: -1 if is_wood else 1] / size
        return Part(mesh._replace(uv=uv.astype(np.float32)), surface.material)
    corners = mesh.vertices[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    axis = np.abs(normal).argmax(1)
    along, up = np.where(axis == 0, 1, 0), np.where(axis == 2, 1, 2)
    if is_wood:
        reach, each = _reach(mesh), np.arange(len(axis))
        upright = reach[each, up] > 1.1 * reach[each, along]
        along, up = np.where(upright, up, along), np.where(upright, along, up)
    uv = np.stack([np.take_along_axis(corners, k[:, None, None], 2)[..., 0] for k in (along, up)],
                  -1).reshape(-1, 2) / size  # fmt: skip
    faces = np.arange(len(uv), dtype=np.int32).reshape(-1, 3)
    flat = Mesh(corners.reshape(-1, 3).astype(np.float32), faces, uv.astype(np.float32))
    return Part(flat, surface.material)


def _reach(mesh: Mesh) -> Array:
    """Of each triangle how far the piece that it belongs to extends in x, y and z."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    _, same = np.unique(np.rint(mesh.vertices * 1e5).astype(np.int64), axis=0, return_inverse=True)
    a, b = same.ravel()[mesh.faces[:, [0, 1]]].T, same.ravel()[mesh.faces[:, [1, 2]]].T
    ends = np.concatenate([a, b], 1)
    many = int(same.max()) + 1
    graph = coo_matrix((np.ones(ends.shape[1], bool), tuple(ends)), (many, many))
    count, label = connected_components(graph, directed=False)
    piece = label[same.ravel()]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, piece, mesh.vertices)
    np.maximum.at(high, piece, mesh.vertices)
    return (high - low)[piece[mesh.faces[:, 0]]]


_STRIPS = 40
"""In about so many vast ground is covered."""


def spread(x: tuple[float, float], y: tuple[float, float], surface: Surface) -> Part:
    """Level ground between two x and two y at z = 0, covered in strips that begin anywhere on their
    sheet: boards and slabs go on, and nothing is seen to come again."""
    rows = max(round((y[1] - y[0]) / (_STRIPS * surface.height)), 1)
    edges = np.append(np.arange(*y, rows * surface.height), y[1])
    rng = generator("spread", *x, *y)
    at, uv = [], []
    for low, high in pairwise(edges):
        first = rng.integers(0, 64, 2) * surface.unit
        ends = np.array([(x[0], low), (x[1], low), (x[1], high), (x[0], high)])
        at.append(np.column_stack([ends, np.zeros(4)]))
        uv.append((ends - (0, low)) / (surface.width, surface.height) + first % 1)
    corners = 4 * np.arange(len(at))[:, None, None] + np.array([(0, 1, 2), (0, 2, 3)])
    points, places = (np.concatenate(rows).astype(np.float32) for rows in (at, uv))
    return Part(Mesh(points, corners.reshape(-1, 3).astype(np.int32), places), surface.material)


def shades(*colours: Colour, rough: float = 0.7, grain: str = "plain") -> Material:
    """Several colours in one material: `dyed` picks one for a mesh."""
    return _shades(colours, rough, grain)


def dyed(mesh: Mesh, index: int | NDArray[np.int_], of: int) -> Mesh:
    """A mesh (or each of its vertices) in one of the `of` colours of `shades`."""
    u = np.broadcast_to((np.asarray(index) + 0.5) / of, len(mesh.uv))
    return mesh._replace(uv=np.stack([u, np.full(len(u), 0.5)], -1).astype(np.float32))


# ------------------------------------------------------------------------------------ wood


def wood(
    colour: Colour, seed: int, *, board: tuple[float, float] | None = None, gloss: float = 0.0
) -> Surface:
    """Veneer, or boards of (length, width) in metres: floors, worktops, crates, decking."""
    width = 2.0 if board is None else max(2 * board[0], 0.8)
    rows = 1 if board is None else max(4, round(1.0 / board[1]))
    height = 1.0 if board is None else rows * board[1]
    return surface_of(
        _wood,
        (seed, rows, height),
        colour,
        (width, height),
        rough=0.5 - 0.25 * gloss,
        coat=gloss,
        grain="wood",
        unit=(0.137, 1 / rows),
    )


def _wood(seed: int, rows: int, height: float) -> Array:
    figure, tone = _leaves(seed), np.ones((SIDE, SIDE), np.float32)
    if rows > 1:
        figure, tone = _boards(figure, seed, rows, height)
    level = tone * (1 + figure + 0.03 * clouds(seed, 2, 5))
    return np.stack([level, level + 0.12 * figure, level + 0.3 * figure], -1)


def _leaves(seed: int, many: int = 6) -> Array:
    """Veneer sawn past the heart, in leaves side by side, grain along u: rings that end in arches,
    fibres, pores. Its darkest is about -.3, its mean 0."""
    rng = generator("leaves", seed)
    u = np.linspace(0, 1, SIDE, endpoint=False, dtype=np.float32)[None]
    v = np.linspace(0, many, SIDE, endpoint=False, dtype=np.float32)[:, None]
    leaf = v.astype(int)
    heart, wide = rng.uniform(0.2, 0.8, many)[leaf], rng.uniform(9, 22, many)[leaf]
    arches = rng.integers(2, 5, many)[leaf] * rng.choice((-1, 1), many)[leaf]
    bend = 0.5 * noise(seed, 1, 8, 4) + 0.14 * noise(seed, 2, 64, 16)
    rings = (wide * (v - leaf - heart) ** 2 * 2 + arches * u + bend) % 1
    late = np.where(rings < 0.8, rings / 0.8, (1 - rings) / 0.2) ** 3
    fibre = 0.6 * noise(seed, 4, 512, 16) + 0.4 * noise(seed, 5, 256, 4)
    pores = np.clip(noise(seed, 6, 1024, 64) - 1.3, 0, 1.5) * (0.4 + 0.6 * late)
    tone = rng.normal(0, 0.03, many)[leaf]
    figure = tone - 0.11 * (late - 0.25) + 0.022 * fibre - 0.1 * pores
    return (figure - figure.mean()).astype(np.float32)


def _boards(figure: Array, seed: int, rows: int, height: float) -> tuple[Array, Array]:
    """The figure cut into boards that each have their own place in the log and their own tone."""
    rng = generator("boards", seed)
    out, tone = np.empty_like(figure), np.empty_like(figure)
    edges = np.linspace(0, SIDE, rows + 1).astype(int)
    seam = max(1, round(0.0016 / height * SIDE))
    for low, high in pairwise(edges):
        first = int(rng.integers(0, SIDE))
        second = first + int(rng.integers(3 * SIDE // 8, 5 * SIDE // 8))
        for start, end in ((first, second), (second, first + SIDE)):
            columns = np.arange(start, end) % SIDE
            lift = int(rng.integers(0, SIDE))
            board = np.take(figure, np.arange(low + lift, high + lift) % SIDE, 0)
            out[low:high, columns] = board[:, (columns + lift) % SIDE]
            tone[low:high, columns] = 1 + 0.07 * rng.standard_normal()
            tone[low:high, columns[:seam]] *= 0.45
        tone[low : low + seam] *= 0.42
        tone[low + seam : low + 2 * seam] *= 1.08
    return out, tone


# ------------------------------------------------------------------------------------ stone


@_in_colours(0.36, rough=0.18, coat=0.3)
def granite(seed: int) -> Array:
    """A polished top with dark and light grains."""
    owner, near, _ = cells(seed, 9000)
    tones = generator("granite", seed).choice(
        [0.35, 0.8, 1.0, 1.06, 1.12, 1.35], 9000, p=[0.14, 0.2, 0.26, 0.2, 0.12, 0.08]
    )
    fine = 0.05 * noise(seed, 1, 16, 16) + 0.04 * noise(seed, 2, 512, 512)
    return tones[owner] * (1 - 0.006 * near) + fine


@_in_colours(0.8, rough=0.25, coat=0.2)
def terrazzo(seed: int) -> Array:
    """Chips of several stones in cement, ground flat: floors of halls and shops."""
    owner, near, edge = cells(seed, 3000)
    rng = generator("terrazzo", seed)
    tones = rng.normal(1.0, 0.22, (3000, 1)) * (1 + rng.normal(0, 0.05, (3000, 3)))
    chips = (np.minimum(near, 14 - edge) < rng.uniform(2.0, 9.0, 3000)[owner])[..., None]
    ground = (1 + 0.03 * noise(seed, 1, 256, 256) + 0.03 * noise(seed, 2, 8, 8))[..., None]
    return np.where(chips, tones[owner], ground)


@_in_colours(2.4, rough=0.75, grain="ground")
def concrete(seed: int) -> Array:
    """Cast and stained: yards, workshop floors, kerbs, plinths."""
    pits = noise(seed, 9, 256, 256) > 2.5
    return 1 + 0.07 * clouds(seed, 4, 5) + 0.035 * noise(seed, 8, 512, 512) - 0.25 * pits


@_in_colours(1.6, rough=0.12, coat=0.5)
def marble(seed: int) -> Array:
    """Polished, with veins."""
    bend = clouds(seed, 2, 6) * 0.3
    v = np.linspace(0, 1, SIDE, endpoint=False, dtype=np.float32)
    vein = np.abs(np.sin((v[:, None] + v[None] + bend) * np.pi * 2))
    thin = np.abs(np.sin((2 * v[:, None] - v[None] + 0.4 * clouds(seed + 1, 2, 6)) * np.pi * 2))
    cloudy = clouds(seed + 2, 2, 4)
    soft = np.exp(-vein * 3.5) * np.clip(0.5 + cloudy * 0.5, 0, 1)
    return 1 - 0.16 * soft - 0.3 * soft * np.exp(-vein * 22) - 0.14 * np.exp(-thin * 30) * soft


@_in_colours(1.32, rough=0.55, grain="ground")
def cobbles(seed: int) -> Array:
    """Rounded paving stones in rows, sand between."""
    rng, per = generator("cobbles", seed), 12
    grid = np.stack(np.meshgrid(np.arange(per), np.arange(per)), -1).reshape(-1, 2) + 0.5
    grid[:, 0] += (0.5 if seed % 2 else 0.15) * (grid[:, 1].astype(int) % 2)
    points = (grid + rng.uniform(-0.16, 0.16, grid.shape)) / per
    owner, _, edge = cells(seed, len(points), points)
    tones = rng.normal(1, 0.11, (len(points), 1)) * (1 + rng.normal(0, 0.025, (len(points), 3)))
    worn = 0.05 * noise(seed, 1, 256, 256) + 0.05 * noise(seed, 2, 64, 64)
    return tones[owner] * (0.42 + 0.6 * np.clip(edge / 26, 0, 1) ** 0.5 + worn)[..., None]


@_in_colours(1.2, rough=0.85, grain="ground")
def gravel(seed: int) -> Array:
    """Loose small stones: paths, yards."""
    count = 7000
    owner, _, edge = cells(seed, count)
    rng = generator("gravel", seed)
    tones = rng.normal(1, 0.2, (count, 1)) * (1 + rng.normal(0, 0.03, (count, 3)))
    level = 0.55 + 0.45 * np.clip(edge / 5.0, 0, 1) + 0.06 * noise(seed, 1, 512, 512)
    return tones[owner] * level[..., None]


# ------------------------------------------------------------------------------- laid courses


def tiles(colour: Colour, seed: int, *, tile: tuple[float, float] = (0.15, 0.15), bond: float = 0.0,
    joint: float = 0.003, grout: Colour = (176, 172, 166), spread: float = 0.02,
    rough: float = 0.14, stain: float = 0.02) -> Surface:  # fmt: skip
    """Tiles, slabs or bricks of (width, height) metres; `bond` shifts every second course."""
    count = tuple(max(2, 2 * round(1.2 / (2 * t))) for t in tile)
    size = (count[0] * tile[0], count[1] * tile[1])
    args = (seed, tile, count, bond, joint, spread, stain)
    unit = (1 / count[0], 2 / count[1])
    return surface_of(_tiles, args, colour, size, second=grout, rough=rough, unit=unit,
                      grain="smooth" if rough < 0.25 else "stone")  # fmt: skip


def bricks(colour: Colour, seed: int) -> Surface:
    """A wall in running bond."""
    return tiles(
        colour, seed, tile=(0.225, 0.075), bond=0.5, joint=0.011, grout=(168, 160, 148),
        spread=0.12, rough=0.85, stain=0.07,
    )  # fmt: skip


def slabs(colour: Colour, seed: int, *, slab: tuple[float, float] = (0.4, 0.4)) -> Surface:
    """Paving."""
    return tiles(
        colour, seed, tile=slab, bond=0.5, joint=0.008, grout=(92, 88, 80), spread=0.05, rough=0.7,
        stain=0.06,
    )  # fmt: skip


def _tiles(seed: int, tile: tuple[float, float], count: tuple[int, int], bond: float, joint: float,
    spread: float, stain: float) -> tuple[Array, Array]:  # fmt: skip
    """The faces, and which share of each pixel is grout."""
    (wide, high), (across, up) = tile, count
    pixel = across * wide / SIDE
    x = np.arange(SIDE, dtype=np.float32)[None] * pixel
    y = np.arange(SIDE, dtype=np.float32)[:, None] * (up * high / SIDE)
    row = np.floor(y / high).astype(int) % up
    slid = x + (row % 2) * bond * wide
    column = np.floor(slid / wide).astype(int) % across
    px, py = slid % wide, np.broadcast_to(y % high, slid.shape)
    inside = np.minimum(np.minimum(px, wide - px), np.minimum(py, high - py))
    inside = inside + 0.0007 * noise(seed, 3, 64, 64) * np.clip(spread * 25 - 1, 0, 1)
    rng = generator("tiles", seed)
    tones = rng.normal(1, spread, (up, across, 1)) * (
        1 + rng.normal(0, spread / 4, (up, across, 3))
    )
    rim = np.where(py < high / 2, 1.05, 0.94)  # a bevel catches light above and darkens below
    near = np.clip((inside - joint / 2) / 0.004, 0, 1)
    worn = 1 + stain * clouds(seed, 8, 4) + min(2 * stain, 0.06) * noise(seed, 5, 512, 512)
    face = tones[row, column] * (worn * (near + (1 - near) * rim))[..., None]
    lit = np.clip((inside - joint / 2) / (2.2 * pixel), 0, 1)
    grout = 0.9 + 0.06 * noise(seed, 6, 256, 256)
    return grout[..., None] + (face - grout[..., None]) * lit[..., None], 1 - lit


# ------------------------------------------------------------------------------- soft and rough


@_in_colours(2.0, rough=0.8, grain="wall")
def plaster(seed: int) -> Array:
    """A painted wall: nearly even, never quite."""
    return 0.98 + 0.018 * clouds(seed, 4, 4) + 0.012 * noise(seed, 7, 256, 256)


def cloth(
    colour: Colour, seed: int, *, second: Colour | None = None, pattern: str = "plain"
) -> Surface:
    """Woven: plain, stripes, check or herringbone."""
    return surface_of(
        _cloth,
        (seed, pattern),
        colour,
        (0.7, 0.7),
        second=second or colour,
        rough=0.95,
        grain="cloth",
    )


def _cloth(seed: int, pattern: str) -> tuple[Array, Array]:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.int32)
    over = np.array([[1, 1, -1, -1], [1, 1, -1, -1], [-1, -1, 1, 1], [-1, -1, 1, 1]])
    level = np.tile((1 + 0.035 * over).astype(np.float32), (SIDE // 4, SIDE // 4))
    level += 0.05 * noise(seed, 1, 512, 16) + 0.05 * noise(seed, 2, 16, 512)
    share = {
        "plain": np.zeros((SIDE, SIDE)),
        "stripes": ((x // 32) % 4 == 0) * 0.9,
        "check": 0.45 * ((x // 64) % 2) + 0.45 * ((y // 64) % 2),
        "herringbone": 0.5 * (((x + np.where((x // 32) % 2, y, -y)) // 8) % 2),
    }[pattern]
    return level + 0.03 * clouds(seed, 4, 3), share


def carpet(colour: Colour, second: Colour, seed: int) -> Surface:
    """A rug's pile with a woven pattern of bands; the sheet covers one rug of 1 m, stretch it."""
    return surface_of(_carpet, (seed,), colour, (1.0, 1.0), second=second, rough=1.0, grain="cloth")


def _carpet(seed: int) -> tuple[Array, Array]:
    rng = generator("carpet", seed)
    v = np.abs(np.linspace(-1, 1, SIDE, dtype=np.float32))
    x, y = np.meshgrid(v, v)
    many = int(rng.integers(2, 5))
    lozenge = np.abs((x * many) % 2 - 1) + np.abs((y * many) % 2 - 1)
    shapes = (lozenge, np.maximum(x, y), np.broadcast_to(y, x.shape), x + y)
    bands = (np.floor(shapes[rng.integers(4)] * rng.integers(3, 8)) % 2) * rng.uniform(0.2, 0.8)
    border = (np.maximum(x, y) > 0.84) & (np.maximum(x, y) < 0.93)
    pile = 1 + 0.13 * noise(seed, 1, 512, 512) + 0.06 * noise(seed, 2, 64, 64)
    return pile, np.where(border, 0.85, bands)


@_in_colours(2.2, rough=0.95, grain="grass")
def grass(seed: int) -> Array:
    """A lawn seen from above: blades, dry patches."""
    blades = noise(seed, 1, 512, 512) + 0.8 * noise(seed, 2, 256, 512)
    dry = np.clip(clouds(seed, 4, 5) * 0.5, -1, 1)
    level = 1 + 0.17 * (blades + 0.7 * noise(seed, 3, 128, 256)) + 0.12 * dry
    return np.stack([level * (1 + 0.16 * dry), level * (1 + 0.04 * dry), level], -1)


@_in_colours(3.0, rough=0.8, grain="ground")
def asphalt(seed: int) -> Array:
    """A road: grit, wear, hair cracks."""
    grit = noise(seed, 1, 512, 512) * 0.13 + 0.4 * (noise(seed, 2, 512, 512) > 2.3)
    crack = np.abs(clouds(seed + 3, 4, 5)) < 0.012
    return 1 + grit + 0.07 * clouds(seed, 4, 4) - 0.3 * crack


@_in_colours(0.8, rough=0.95, grain="stone")
def bark(seed: int) -> Array:
    """A trunk's furrows, upright."""
    ridge = np.abs(noise(seed, 1, 8, 32) + 0.6 * noise(seed, 2, 16, 64))
    return 0.62 + 0.3 * ridge + 0.1 * noise(seed, 3, 128, 256)


@_in_colours(0.8, rough=0.32, metal=1.0, grain="metal")
def metal(seed: int) -> Array:
    """Brushed sheet with scratches and fingermarks."""
    return 1 + 0.05 * noise(seed, 1, 512, 4) + 0.03 * noise(seed, 2, 8, 8)


@_in_colours(6.0, rough=0.12, grain="smooth")
def water(seed: int) -> Array:
    """A river from the bank: ripples as light and dark streaks."""
    streaks = 0.16 * noise(seed, 1, 128, 32) + 0.12 * noise(seed, 2, 64, 8)
    return 1 + streaks + 0.1 * noise(seed, 3, 256, 64)


@lru_cache(maxsize=64)
def _shades(colours: tuple[Colour, ...], rough: float, grain: str) -> Material:
    row = np.repeat(np.array(colours, np.float32), 16, axis=0)[None]
    return Material(
        sheet=np.ascontiguousarray(np.repeat(row, 8, axis=0).astype(np.uint8)),
        rough=rough,
        grain=grain,
    )


def _unwrapped(mesh: Mesh) -> Array:
    """The sheet coordinates of a round mesh in metres: its edges say how long they are."""
    a, b = mesh.faces[:, [0, 1, 2]].ravel(), mesh.faces[:, [1, 2, 0]].ravel()
    long = np.linalg.norm(mesh.vertices[a] - mesh.vertices[b], axis=1)
    turn = np.abs(mesh.uv[a] - mesh.uv[b]).astype(np.float64)
    metres = np.ones(2)
    for k in (0, 1):
        along = (turn[:, k] > 1e-6) & (turn[:, 1 - k] < 1e-6)
        if np.any(along):
            metres[k] = np.median(long[along] / turn[along, k])
    return mesh.uv * metres
