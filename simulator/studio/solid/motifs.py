"""Outlines, and the illustrations and patterns that packs, covers, mugs and flags are printed with.

An outline is an (n, 2) array in the painter's units. Each illustration is drawn from a family's own
numbers: two families that both show a branch show different branches, and there is no list of
pictures that runs out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.prints import Sheet
from simulator.studio.solid.scene_types import Array
from simulator.world.pictures.traits import Colour, Draws, mix

Points = NDArray[np.float64]
Path = Sequence[tuple[float, float]] | Array


def _rounded(points: Points) -> Points:
    """A closed Catmull–Rom curve through the points."""
    b, s, e, a = (np.roll(points, k, 0)[:, None, :] for k in (1, 0, -1, -2))
    t = np.linspace(0, 1, 5, endpoint=False)[None, :, None]
    curve = 0.5 * (
        2 * s + (e - b) * t + (2 * b - 5 * s + 4 * e - a) * t**2 + (3 * s - b - 3 * e + a) * t**3
    )
    return curve.reshape(-1, 2)


def ellipse(cx: float, cy: float, rx: float, ry: float, *, turn: float = 0, n: int = 40) -> Points:
    """An ellipse, turned by `turn` radians."""
    angle = np.linspace(0, 2 * math.pi, n, endpoint=False)
    return move(np.stack([rx * np.cos(angle), ry * np.sin(angle)], 1), cx, cy, turn=turn)


def star(n: int, inner: float, *, turn: float = 0, soft: bool = False) -> Points:
    """A star of radius 1 with n points; `soft` rounds them to petals."""
    angle = np.arange(2 * n) * math.pi / n + math.pi / 2 + turn
    radius = np.where(np.arange(2 * n) % 2 == 0, 1.0, inner)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return _rounded(points) if soft else points


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


def leaf(length: float, width: float, *, tip: float = 0.6) -> Points:
    """A leaf or petal from the origin upwards; `tip` is where it is widest (0–1)."""
    t = np.linspace(0, 1, 14)
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


Colours = tuple[Colour, Colour, Colour, Colour]
"""Main, second, accent, and what stands out on all of them."""
Put = Callable[[Array, Colour], None]


def illustrate(
    sheet: Sheet, draw: Draws, colours: Colours, x: float, y: float, radius: float, turn: float = 0
) -> None:
    """The family's picture, inside a circle of `radius` (in parts of the sheet's shorter side)."""

    def put(points: Array, colour: Colour) -> None:
        sheet.figure(points, x, y, radius, colour, turn=turn)

    draw.pick("motif", _MOTIFS)(put, draw, colours)


def pattern(sheet: Sheet, draw: Draws, colour: Colour, *, name: str = "pattern") -> None:
    """Stripes, dots, checks, waves, scales, rays, tiles or scattered leaves over a whole sheet."""
    style = draw.pick(name, _PATTERNS)
    h, w = sheet.rgb.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32) / min(h, w)
    count = draw(name + "-count", 4, 9)
    sheet.blend(style(x, y, count, Draws(draw(name + "-key"))), colour)


def _fruit(put: Put, d: Draws, c: Colours) -> None:
    squash, dent = d("squash", 0.8, 1.0), d("dent", 0.0, 0.22)
    t = np.linspace(0, 2 * math.pi, 60, endpoint=False)
    r = 0.72 * (
        1 - dent * np.exp(-(((t - math.pi / 2 + math.pi) % (2 * math.pi) - math.pi) ** 2) / 0.12)
    )
    body = np.stack([r * np.cos(t), r * np.sin(t) * squash - 0.18], 1)
    put(body, c[0])
    put(move(body, 0.1, -0.02, size=0.82), mix(c[0], c[1], 0.35))
    put(move(leaf(0.34, 0.1), -0.36, -0.05, turn=0.25), mix(c[0], (255, 255, 255), 0.55))
    put(ribbon([(0.0, 0.42), (0.03, 0.6), (0.12, 0.78)], 0.07), c[3])
    for side in range(d.count("leaves", 1, 2)):
        put(move(leaf(0.62, 0.3), 0.06, 0.56, turn=-0.9 + 2.2 * side), c[2])


def _citrus(put: Put, d: Draws, c: Colours) -> None:
    put(ellipse(0, 0, 1, 1), c[0])
    put(ellipse(0, 0, 0.88, 0.88), c[3])
    n = d.count("wedges", 7, 11)
    for i in range(n):
        wedge = np.concatenate([[(0.0, 0.1)], arc(0, 0, 0.82, 0.82, 90 - 150 / n, 90 + 150 / n, 9)])
        put(move(wedge, turn=i * 2 * math.pi / n), c[1] if i % 2 else mix(c[0], c[1], 0.4))


def _blossom(put: Put, d: Draws, c: Colours) -> None:
    n, wide = d.count("petals", 5, 9), d("petal", 0.35, 0.75)
    for ring in range(d.count("rings", 1, 3)):
        petal = leaf(1.0 - 0.28 * ring, wide * (1 - 0.2 * ring), tip=d("tip", 0.5, 0.75))
        for i in range(n):
            put(move(petal, turn=(i + ring / 2) * 2 * math.pi / n), c[ring % 2])
    put(ellipse(0, 0, 0.2, 0.2), c[2])
    for i in range(n):
        a = (i + 0.5) * 2 * math.pi / n
        put(ellipse(0.12 * math.cos(a), 0.12 * math.sin(a), 0.03, 0.03), c[3])


def _in_circle(heights: Array, x: Array) -> Array:
    """What of the land below a line lies in the unit circle."""
    rim = np.sqrt(np.maximum(1 - x**2, 0))
    top = np.clip(heights, -rim, rim)
    return np.concatenate([np.stack([x, top], 1), np.stack([x, -rim], 1)[::-1]])


def _land(put: Put, d: Draws, c: Colours) -> None:
    x = np.linspace(-1, 1, 72)
    put(ellipse(0, 0, 1, 1), c[3])
    sun = d("sun", -0.5, 0.5)
    put(ellipse(sun, 0.3, *([d("sun-r", 0.2, 0.36)] * 2)), c[2])
    peaks = d.chance("peaks")
    for k in range(layers := d.count("layers", 2, 4)):
        phase, wave = d(f"phase{k}", 0, 6), d(f"wave{k}", 2.0, 4.5)
        shape = np.sin(x * wave + phase)
        if peaks and k == 0:
            shape = 2 * np.abs(((x * wave / 4 + phase) % 1) - 0.5) * 2 - 1
        put(_in_circle(0.28 - 0.38 * k + 0.2 * shape, x), mix(c[0], c[1], k / max(layers - 1, 1)))


def _sea(put: Put, d: Draws, c: Colours) -> None:
    x = np.linspace(-1, 1, 90)
    put(ellipse(0, 0, 1, 1), c[3])
    put(ellipse(d("sun", -0.4, 0.4), 0.42, 0.24, 0.24), c[2])
    waves = d("waves", 4, 9)
    for k in range(n := d.count("rows", 3, 6)):
        crest = (
            np.abs(np.sin(x * waves / 2 + k * 0.8)) if d.chance("crests") else np.sin(x * waves + k)
        )
        put(_in_circle(0.2 - 1.0 * k / n + 0.09 * crest, x), (c[0], c[1])[k % 2])


def _wheat(put: Put, d: Draws, c: Colours) -> None:
    for ear in range(ears := d.count("ears", 1, 3)):
        lean = (ear - (ears - 1) / 2) * 0.5
        put(move(ribbon([(0, -1), (0.02, -0.3), (0, 0.3)], (0.06, 0.03)), turn=-lean * 0.8), c[2])
        for i in range(n := d.count("grains", 4, 6)):
            for side in (-1, 1):
                grain = move(
                    leaf(0.42, 0.19, tip=0.5), 0.02 * side, -0.2 + i * 0.9 / n, turn=-side * 0.5
                )
                put(move(grain, turn=-lean * 0.8), (c[0], c[1])[(i + (side > 0)) % 2])


def _sprig(put: Put, d: Draws, c: Colours) -> None:
    bow = d("bow", -0.4, 0.4)
    t = np.linspace(0, 1, 20)
    stem = np.stack([bow * np.sin(t * 2.6), -0.95 + 1.7 * t], 1)
    put(ribbon(stem, (0.07, 0.025)), c[2])
    wide, n = d("wide", 0.16, 0.42), d.count("pairs", 3, 6)
    for i in range(n):
        at = stem[4 + i * 15 // n]
        for side in (-1, 1):
            size = 0.62 * (1 - 0.5 * i / n)
            put(
                move(leaf(1, wide * 1.6), *at, size=size, turn=-side * d("open", 0.6, 1.2)),
                (c[0], c[1])[side > 0],
            )
    put(move(leaf(0.4, wide), *stem[-1]), c[0])
    for i in range(d.count("berries", 0, 4)):
        x, y = stem[5 + 3 * i]
        put(ellipse(x + (-0.16 if i % 2 else 0.16), y + 0.05, 0.09, 0.09), c[3])


def _tiles(put: Put, d: Draws, c: Colours) -> None:
    n = d.count("side", 2, 3)
    size = 1.5 / n
    for i in range(n):
        for j in range(n):
            at = (-0.75 + size * (i + 0.5), -0.75 + size * (j + 0.5))
            square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * size
            k = d.count(f"c{i}{j}", 0, 3)
            put(square + at, c[k])
            style, turn = d.count(f"s{i}{j}", 0, 3), d.count(f"t{i}{j}", 0, 3) * math.pi / 2
            quarter = np.concatenate([[(-0.5, -0.5)], arc(-0.5, -0.5, 1, 1, 0, 90)])
            shape = (quarter, ellipse(0, 0, 0.36, 0.36), quarter, square[:3] / size)[style]
            put(move(shape, *at, size=size, turn=turn), c[(k + 1 + d.count(f"d{i}{j}", 0, 2)) % 4])


def _rays(put: Put, d: Draws, c: Colours) -> None:
    n = d.count("rays", 9, 20)
    for i in range(n):
        long = 1.0 if i % 2 else d("short", 0.72, 0.95)
        put(move(leaf(long, 0.16, tip=d("tip", 0.4, 0.8)), turn=i * 2 * math.pi / n), c[i % 2])
    put(ellipse(0, 0, 0.46, 0.46), c[3])
    put(ellipse(0, 0, 0.38, 0.38), c[2])
    put(star(d.count("points", 4, 8), d("inner", 0.3, 0.6)) * 0.26, c[3])


def _drops(put: Put, d: Draws, c: Colours) -> None:
    t = np.linspace(0, 2 * math.pi, 50, endpoint=False)
    drop = np.stack([np.sin(t) * np.sin(t / 2) ** 1.5 * 0.62, np.cos(t)], 1)
    for k, (x, y, size) in enumerate(((-0.42, -0.25, 0.6), (0.45, -0.3, 0.52), (0.02, 0.1, 0.86))):
        put(move(drop, x, y, size=size * d(f"size{k}", 0.85, 1.0)), c[k % 3])
        put(
            move(leaf(0.5, 0.16), x - 0.18 * size, y - 0.55 * size, size=size),
            mix(c[k % 3], c[3], 0.6),
        )


def _bowl(put: Put, d: Draws, c: Colours) -> None:
    n = d.count("pieces", 14, 26)
    for i in range(n):
        x = (i + 0.5) / n * 1.6 - 0.8
        lift = 0.36 * math.sqrt(max(1 - (x / 0.86) ** 2, 0)) * d(f"lift{i}", 0.1, 1)
        piece = star(d.count("corners", 3, 7), d("bite", 0.6, 0.95), soft=True)
        put(
            move(piece, x, 0.02 + lift, size=0.17, turn=d(f"turn{i}", 0, 6)),
            (c[0], c[1], mix(c[0], c[1], 0.5))[i % 3],
        )
    put(arc(0, 0.02, 0.95, 0.85, 180, 360), c[2])
    put(arc(0, 0.02, 0.95, 0.85, 180, 250), mix(c[2], c[3], 0.25))
    put(np.array([(-0.97, -0.02), (0.97, -0.02), (0.97, 0.08), (-0.97, 0.08)]), c[3])
    put(np.array([(-0.34, -0.88), (0.34, -0.88), (0.28, -0.78), (-0.28, -0.78)]), c[2])


def _bird(put: Put, d: Draws, c: Colours) -> None:
    put(move(leaf(1.5, d("plump", 0.7, 0.95), tip=0.4), 0.72, -0.25, turn=1.35), c[0])
    put(move(leaf(0.9, 0.3), -0.3, -0.1, turn=1.9), c[2])
    put(ellipse(0.5, 0.2, 0.27, 0.27), c[0])
    put(move(leaf(1.0, 0.46, tip=0.35), 0.35, -0.05, turn=d("wing", 0.9, 1.5)), c[1])
    put(move(leaf(0.66, 0.28, tip=0.35), 0.3, -0.05, turn=d("wing", 0.9, 1.5)), c[2])
    put(np.array([(0.72, 0.28), (1.0, 0.16), (0.74, 0.1)]), c[2])
    put(ellipse(0.56, 0.25, 0.05, 0.05), c[3])


def _fish(put: Put, d: Draws, c: Colours) -> None:
    put(move(leaf(1.5, d("deep", 0.6, 0.9), tip=0.42), -0.62, 0, turn=-math.pi / 2), c[0])
    put(np.array([(-0.5, 0.0), (-1.0, 0.4), (-0.86, 0.0), (-1.0, -0.4)]), c[1])
    for i in range(d.count("bars", 2, 5)):
        put(move(leaf(0.5, 0.1, tip=0.5), -0.2 + 0.2 * i, -0.25), (c[1], c[2])[i % 2])
    put(move(leaf(0.4, 0.3), 0.0, 0.26, turn=0.7), c[2])
    put(ellipse(0.6, 0.08, 0.09, 0.09), c[3])
    put(ellipse(0.62, 0.08, 0.045, 0.045), (30, 30, 34))


def _sign(put: Put, d: Draws, c: Colours) -> None:
    for points, index in emblem(d):
        put(points, c[index % 4])


_MOTIFS = (
    _fruit, _citrus, _blossom, _land, _sea, _wheat, _sprig, _tiles, _rays, _drops, _bowl, _bird,
    _fish, _sign,
)  # fmt: skip


def _bar(value: Array, duty: float) -> Array:
    return np.clip((duty / 2 - np.abs(value % 1 - 0.5)) * 24 + 0.5, 0, 1)


def _stripes(x: Array, y: Array, n: float, d: Draws) -> Array:
    across = d.pick("way", (x, y, x + y, x - y))
    return _bar(across * n * d("fine", 0.8, 2.2), d("duty", 0.25, 0.6))


def _dots(x: Array, y: Array, n: float, d: Draws) -> Array:
    shift = 0.5 * (np.floor(y * n) % 2) * d.count("shift", 0, 1)
    cell = np.hypot((x * n + shift) % 1 - 0.5, (y * n) % 1 - 0.5)
    return np.clip((d("dot", 0.12, 0.36) - cell) * 40 / math.sqrt(n) + 0.5, 0, 1)


def _checks(x: Array, y: Array, n: float, d: Draws) -> Array:
    half = d("duty", 0.35, 0.6)
    return (_bar(x * n, half) + _bar(y * n, half)) / 2


def _waves(x: Array, y: Array, n: float, d: Draws) -> Array:
    bend = 0.1 * np.sin(x * d("long", 8, 22))
    return _bar((y + bend) * n * 1.4, d("duty", 0.25, 0.6))


def _scales(x: Array, y: Array, n: float, d: Draws) -> Array:
    ring = np.zeros_like(x)
    for k in (1, 0):
        row = np.floor(y * n) + k
        dx = (x * n / 2 + 0.5 * (row % 2)) % 1 - 0.5
        dy = (y * n - row) / 2
        far = np.hypot(dx, dy)
        inside = far < 0.5
        ring = np.where(inside, _bar(far * d("rings", 4, 7), 0.5), ring)
    return ring


def _sunray(x: Array, y: Array, n: float, d: Draws) -> Array:
    angle = np.arctan2(y - d("cy", 0.2, 0.9) * y.max(), x - d("cx", 0.3, 0.7) * x.max())
    return _bar(angle / (2 * math.pi) * round(n * 3), d("duty", 0.35, 0.6))


def _zigzag(x: Array, y: Array, n: float, d: Draws) -> Array:
    return _bar(
        (y + np.abs((x * n * 0.6) % 1 - 0.5) * d("steep", 0.15, 0.35)) * n, d("duty", 0.3, 0.6)
    )


def _quarters(x: Array, y: Array, n: float, d: Draws) -> Array:
    i, j = np.floor(x * n), np.floor(y * n)
    turn = np.floor((np.sin(i * 12.9898 + j * 78.233 + d("seed", 0, 90)) * 43758.5) % 4)
    u, v = x * n - i, y * n - j
    u, v = np.where(turn % 2, 1 - u, u), np.where(turn >= 2, 1 - v, v)
    return np.clip((1 - np.hypot(u, v)) * 30, 0, 1)


def _scattered(x: Array, y: Array, n: float, d: Draws) -> Array:
    """Seeds or leaves, each turned its own way."""
    i, j = np.floor(x * n), np.floor(y * n)
    noise = np.sin(i * 127.1 + j * 311.7 + d("seed", 0, 90)) * 43758.5
    a = (noise % 1) * 2 * math.pi
    u, v = x * n - i - 0.5, y * n - j - 0.5
    p, q = u * np.cos(a) + v * np.sin(a), v * np.cos(a) - u * np.sin(a)
    return np.clip((0.4 - np.hypot(p, q * d("slim", 1.6, 4.0))) * 26, 0, 1)


_PATTERNS = (_stripes, _dots, _checks, _waves, _scales, _sunray, _zigzag, _quarters, _scattered)
