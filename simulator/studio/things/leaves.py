"""Leaves and petals, the sheets on them, and the pots that plants stand in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.meshes import lathe, shifted, skin, smooth_path
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part
from simulator.studio.solid.soft_bodies import noise
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, mix, oklch

GOLDEN = 137.508
"""Degrees from one leaf to the next: none stands above another."""


def blade(length: float, width: float, *, base: float = 0.6, tip: float = 0.9, bend: float = 30.0,
    fold: float = 0.15, wave: float = 0.0, lobes: float = 0.0,
    steps: tuple[int, int] = (4, 8)) -> Mesh:  # fmt: skip
    """A leaf or petal from the origin along +y, its upper side up; v runs from stalk to tip.

    `base` and `tip` say how fast its edge opens and closes (small is blunt); `bend` is how many
    degrees it droops to its end; `fold` lifts its edges; `lobes` cuts into them.
    """
    t = np.linspace(0, 1, steps[1] + 1)
    s = np.linspace(-1, 1, steps[0] + 1)
    q = np.clip(t, 1e-6, 1 - 1e-6)
    peak = base / (base + tip)
    open_ = (q / peak) ** base * ((1 - q) / (1 - peak)) ** tip
    half = width / 2 * np.maximum(open_, 0.015)
    if lobes:
        half = half * (1 - lobes * np.abs(np.sin(t * math.pi * steps[1] / 2)))
    angle = -np.radians(bend) * t
    step = length / steps[1]
    y = np.concatenate([[0], np.cumsum(np.cos(angle[1:]) * step)])
    z = np.concatenate([[0], np.cumsum(np.sin(angle[1:]) * step)])
    lift = fold * np.abs(s[:, None]) ** 1.5 * half + wave * half * np.sin(9 * t) * s[:, None]
    points = np.stack([s[:, None] * half, y - lift * np.sin(angle), z + lift * np.cos(angle)], -1)
    return skin(points)


def strewn(mesh: Mesh, poses: Array) -> Mesh:
    """One mesh at many poses (k, 4, 4)."""
    k, n = len(poses), len(mesh.vertices)
    at = np.einsum("kij,nj->kni", poses[:, :3, :3], mesh.vertices) + poses[:, None, :3, 3]
    faces = mesh.faces[None] + np.arange(k)[:, None, None] * n
    return Mesh(
        at.reshape(-1, 3).astype(np.float32),
        faces.reshape(-1, 3).astype(np.int32),
        np.tile(mesh.uv, (k, 1)),
        mesh.smooth,
    )


def grown(at: Array, turn: Array | float, rise: Array | float, size: Array | float = 1.0,
    roll: Array | float = 0.0) -> Array:  # fmt: skip
    """Poses of blades that start `at` (k, 3), look to `turn` and climb by `rise` (degrees)."""
    at = np.atleast_2d(at)
    k = len(at)
    a, b, c = (np.radians(np.broadcast_to(q, k).astype(np.float64)) for q in (turn, rise, roll))
    ahead = np.stack([-np.sin(a) * np.cos(b), np.cos(a) * np.cos(b), np.sin(b)], -1)
    side = np.stack([np.cos(a), np.sin(a), np.zeros(k)], -1)
    up = np.cross(side, ahead)
    side, up = (
        side * np.cos(c)[:, None] + up * np.sin(c)[:, None],
        up * np.cos(c)[:, None] - side * np.sin(c)[:, None],
    )
    out = np.tile(np.eye(4), (k, 1, 1))
    out[:, :3, :3] = np.stack([side, ahead, up], -1) * np.broadcast_to(size, k)[:, None, None]
    out[:, :3, 3] = at
    return out


def on_path(path: Array, t: Array) -> Array:
    """Points at shares `t` of a path's steps."""
    steps = np.linspace(0, 1, len(path))
    return np.stack([np.interp(t, steps, path[:, j]) for j in range(3)], -1)


def seeded(traits: Draws, name: str) -> np.random.Generator:
    """A generator of one name: for what comes in hundreds."""
    return np.random.Generator(np.random.Philox(key=traits.count(name, 0, 1 << 40)))


def green(traits: Traits, *, light: tuple[float, float] = (0.40, 0.62)) -> Colour:
    """A leaf's green: from blue-grey to yellowish, as the family is."""
    f, v = traits.family, traits.variant
    return oklch(f("leaf-level", *light) + v("leaf-level", -0.02, 0.02),
        f("leaf-chroma", 0.06, 0.13), f("leaf-hue", 112, 148) + v("leaf-hue", -4, 4))  # fmt: skip


def leaf_sheet(colour: Colour, pale: Colour, *, veins: float = 0.3, margin: float = 0.0,
    stripes: float = 0.0, blotch: float = 0.0, key: int = 0) -> NDArray[np.uint8]:  # fmt: skip
    """A leaf's surface: midrib and side veins, a pale margin, stripes along it, blotches."""
    h, w = 192, 96
    v, u = np.mgrid[0:h, 0:w]
    t, s = 1 - (v + 0.5) / h, np.abs((u + 0.5) / w * 2 - 1)
    at = np.stack([u.ravel() / w, t.ravel() * h / w, np.zeros(u.size)], -1)
    uneven = (
        noise(at, 0.12, key).reshape(h, w) * 0.07 + noise(at, 0.4, key + 1).reshape(h, w) * 0.06
    )
    branch = np.abs(((t - 0.42 * s) * 9) % 1 - 0.5) * 2
    rib = np.exp(-((s / 0.05) ** 2)) + 0.55 * np.clip(branch * 8 - 7.1, 0, 1) * (1 - s)
    share = veins * np.clip(rib, 0, 1)
    if margin:
        edge = noise(at, (0.3, 0.08, 1), key + 2).reshape(h, w) * 0.25
        share = np.maximum(share, np.clip((s - (1 - margin) + edge) * 14, 0, 1) * 0.9)
    if stripes:
        band = np.sin(t * 46 + 7 * s + noise(at, 0.25, key + 3).reshape(h, w) * 3)
        share = np.maximum(share, np.clip(band * 2, 0, 1) * stripes)
    if blotch:
        spots = noise(at, 0.16, key + 4).reshape(h, w)
        share = np.maximum(share, np.clip((spots - 0.62 + 0.4 * blotch) * 9, 0, 1) * 0.85)
    return _coloured(np.array(colour), np.array(pale), share, uneven)


def petal_sheet(root: Colour, tip: Colour, *, streaks: float = 0.3, spots: float = 0.0,
    rim: Colour | None = None, key: int = 0) -> NDArray[np.uint8]:  # fmt: skip
    """A petal's surface: one colour passing into another, streaks from the throat, freckles."""
    h, w = 128, 64
    v, u = np.mgrid[0:h, 0:w]
    t, s = 1 - (v + 0.5) / h, np.abs((u + 0.5) / w * 2 - 1)
    at = np.stack([u.ravel() / w, t.ravel() * h / w, np.zeros(u.size)], -1)
    fine = noise(at, (0.05, 1.2, 1), key).reshape(h, w)
    uneven = fine * 0.05 + noise(at, 0.3, key + 1).reshape(h, w) * 0.04
    share = np.clip(t * 1.5 - 0.15 + streaks * fine * (1 - t), 0, 1)
    out = _coloured(np.array(root), np.array(tip), share, uneven).astype(np.float64)
    if spots:
        dots = noise(at, 0.09, key + 2).reshape(h, w) > 0.62
        out[dots & (t < spots)] *= 0.55
    if rim is not None:
        edge = np.clip((np.maximum(s, t) - 0.86) * 12, 0, 1)[..., None]
        out = out + (np.array(rim) - out) * edge
    return np.clip(out, 0, 255).astype(np.uint8)


def pot(traits: Traits, radius: float, height: float) -> list[Part]:
    """A pot with soil in it, standing on the ground; the plant starts at 0.9 of its height."""
    f, v = traits.family, traits.variant
    shape = f.pick("pot", ("terracotta", "cylinder", "bowl", "square-shouldered", "tapered"))
    foot = {"terracotta": 0.68, "cylinder": 0.96, "bowl": 0.55, "square-shouldered": 0.8}.get(
        shape, 0.6
    )
    belly = {"bowl": 1.12, "square-shouldered": 1.06}.get(shape, 0.5 * (1 + foot) + 0.02)
    rim = 1.07 if shape == "terracotta" else 1.0
    r, h = radius * v("pot-wide", 0.96, 1.04), height
    wall = smooth_path([(foot * r, 0.05 * h), (belly * r, 0.5 * h), (r, 0.80 * h)], 8)
    lip = [
        (rim * r, 0.81 * h),
        (rim * r * 1.01, 0.985 * h),
        (rim * r * 0.985, h),
        (rim * r * 0.93, h),
    ]
    if shape != "terracotta":
        lip = [(r * 1.005, 0.985 * h), (r * 0.985, h), (r * 0.93, h)]
    under = [(0, 0.0), (foot * r * 0.97, 0.0), (foot * r, 0.012 * h)]
    profile = [*under, *map(tuple, wall), *lip, (r * 0.90, 0.965 * h), (r * 0.88, 0.80 * h)]
    clay = mix(
        oklch(f("pot-level", 0.4, 0.9), f("pot-chroma", 0.0, 0.09), f("pot-hue", 0, 360)),
        traits.palette().accent,
        v("pot-accent", 0, 0.3),
    )
    if shape == "terracotta":
        clay = (f("clay", 168, 192), f("clay", 168, 192) * 0.58, f("clay", 168, 192) * 0.40)
    return [
        Part(lathe(profile, around=48), _glaze(traits, clay, shape == "terracotta")),
        Part(_soil(0.9 * r, 0.86 * h), Material((58, 44, 34), rough=0.95, grain="ground")),
    ]


def _glaze(traits: Traits, colour: Colour, plain: bool) -> Material:
    """What a pot's outside looks like: bare clay, glaze, bands, speckles."""
    f, v = traits.family, traits.variant
    style = "plain" if plain else f.pick("glaze", ("plain", "band", "speckled", "dipped", "ribbed"))
    h, w = 128, 256
    y, x = np.mgrid[0:h, 0:w]
    at = np.stack(
        [np.cos(x / w * 2 * math.pi).ravel(), np.sin(x / w * 2 * math.pi).ravel(), y.ravel() / h],
        -1,
    )
    uneven = noise(at, 0.22, f.count("pot-key", 0, 99)).reshape(h, w) * (0.09 if plain else 0.03)
    other = brighten(traits.palette(vivid=0.6).second, 0.95)
    t = 1 - y / h + noise(at, 0.5, 5).reshape(h, w) * 0.012
    share = np.zeros((h, w))
    if style == "band":
        middle, wide = v("band", 0.45, 0.62), f("band-wide", 0.04, 0.14)
        share = (np.abs(t - middle) < wide).astype(float)
    elif style == "dipped":
        share = np.clip((t - v("dip", 0.40, 0.55)) * 60, 0, 1)
    elif style == "speckled":
        share = np.clip((noise(at, 0.02, v.count("speck", 0, 99)).reshape(h, w) - 0.55) * 9, 0, 0.8)
    elif style == "ribbed":
        uneven = uneven + 0.12 * np.sin(x / w * 2 * math.pi * f.count("ribs", 18, 40))
    sheet = _coloured(np.array(colour), np.array(other), share, uneven)
    return Material(sheet=sheet, rough=0.85 if plain else f("glaze-rough", 0.15, 0.6))


def _soil(radius: float, height: float) -> Mesh:
    """A little heap of earth."""
    ring = np.linspace(radius, 0, 7)
    mesh = lathe(
        [(float(r), float(height + 0.012 * (1 - (r / radius) ** 2))) for r in ring], around=28
    )
    at = mesh.vertices.copy()
    at[:, 2] += noise(at, 0.012, 6) * 0.004 * (np.hypot(at[:, 0], at[:, 1]) < radius * 0.98)
    return shifted(mesh._replace(vertices=at), z=0.0)


def _coloured(base: Array, other: Array, share: Array, uneven: Array) -> NDArray[np.uint8]:
    out = base + (other - base) * share[..., None]
    return np.clip(out * (1 + uneven[..., None]) + 0.5, 0, 255).astype(np.uint8)
