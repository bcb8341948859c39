"""Car bodies: a rounded plan pulled up along a profile, and the wheels under it.

A shell's two numbers are u (−1…1: from the tail along the far side, the nose at 0, along the near
side back to the tail) and v (0…1 from its lower edge up its wall, 1…2 over its deck).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simulator.studio.solid.meshes import joined, lathe, posed, shifted, skin, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Point, moved
from simulator.studio.things.shared_shapes import (
    RUBBER,
    STEEL,
    Tray,
    facing,
    laid,
    plate,
    repeated,
    turning,
)
from simulator.world.pictures.traits import Draws

Line = tuple[tuple[float, float], ...]
"""Pairs to interpolate between, the first numbers rising."""

ROWS = np.linspace(0, 1, 14) ** 0.95
"""Heights of a wall's rows."""


_EVENLY = np.linspace(0, 1, 300)


class Shell(NamedTuple):
    """A hollow body, nose towards +x."""

    tail: float
    nose: float
    width: float
    floor: Line
    """Height of the lower edge along x."""
    top: Line
    """Height of the wall's upper edge along x."""
    side: Line
    """How far the wall is drawn in, over its height from 0 to 1."""
    front: Line
    back: Line
    square: float = 4.5
    """How square the plan is: 2 an ellipse, 8 almost a rectangle."""
    crown: float = 0.04
    """How much the deck rises to its middle."""
    arches: tuple[tuple[float, float, float], ...] = ()
    """Openings for wheels: x, height of the axle, radius."""
    flare: float = 0.02
    """How far the wall swells around them."""
    ease: float = 12.0
    """How little of the front's and back's slope reaches the middle."""
    steps: int = 62
    """Columns from nose to tail."""

    def at(self, u: Array, v: Array) -> Array:
        """Points of the surface."""
        x, y, ny = self._plan(np.abs(u))
        h = np.clip(v, 0, 1)
        drawn = np.abs(ny) * _along(self.side, h)
        share = (x - self.tail) / (self.nose - self.tail)
        x = x - share**self.ease * _along(self.front, h)
        x = x + (1 - share) ** self.ease * _along(self.back, h)
        low, high = _along(self.floor, x), _along(self.top, x)
        for at, axle, r in self.arches:
            off = np.hypot(x - at, low + (high - low) * h - axle) - r
            drawn = drawn - np.abs(ny) * self.flare * np.exp(-((off / 0.1) ** 2))
        y = np.maximum(y - drawn, 0)
        inward = np.clip(v - 1, 0, 1)
        edge = 0.03 * np.sin(inward.clip(0, 0.1) * 5 * math.pi)
        wide = np.minimum(2 * y / self.width, 1) ** 2  # no step where the plan closes
        z = low + (high - low) * h + wide * (edge + self.crown * (1 - (1 - inward) ** 2))
        return np.stack([x, np.where(u > 0, -1, 1) * y * (1 - inward), z], -1)

    def u_of(self, x: float, v: float = 0.5) -> float:
        """Where along the near side a place x is, at a height of the wall."""
        return float(np.interp(-x, _stations(self, v), _EVENLY))

    def v_of(self, x: float, z: float) -> float:
        """Where up the wall a height is."""
        low, high = _along(self.floor, x), _along(self.top, x)
        return float((z - low) / (high - low))

    def mesh(self) -> Mesh:
        """Wall and deck, the wheel arches cut out."""
        every = _columns(self)
        x = self.at(every, np.full(len(every), 0.4))[:, 0]
        start = self._lowest(x)
        wall = start[:, None] + (1 - start[:, None]) * ROWS
        deck = np.concatenate([[0.02, 0.05, 0.1], np.linspace(0.2, 1, 4)]) + 1
        v = np.concatenate([wall, np.broadcast_to(deck, (len(every), len(deck)))], 1)
        return skin(self.at(np.broadcast_to(every[:, None], v.shape), v))

    def panel(
        self, u: tuple[float, float], v: tuple[float, float], lift: float, *, lean: float = 0.0
    ) -> Mesh:
        """A piece of the wall, raised; `lean` shifts the top of its second edge along u.

        It uses the wall's own rows and columns, so that it lies on it like a film.
        """
        u = u if u[0] < u[1] else (u[1], u[0])
        columns = _columns(self)
        inside = columns[(columns > u[0] + 2e-4) & (columns < u[1] - 2e-4)]
        rows = ROWS[(v[0] < ROWS) & (v[1] > ROWS)]
        across, up = np.array([u[0], *inside, u[1]]), np.array([v[0], *rows, v[1]])
        shift = lean * (up - v[0]) / (v[1] - v[0])
        grid = np.clip(across[:, None], u[0] + np.maximum(-shift, 0) * (u[0] < 0),
            u[1] + np.minimum(shift, 0) * (u[1] > 0))  # fmt: skip
        return laid(self.at, grid, np.broadcast_to(up, grid.shape), lift=lift)

    def arch_edge(self, arch: tuple[float, float, float], side: int) -> Array:
        """The line of points where the wall ends over a wheel, from front to rear."""
        x, axle, r = arch
        at = [(x + r * math.cos(k), axle + r * math.sin(k)) for k in np.linspace(0, math.pi, 21)]
        low = float(_along(self.floor, x))
        at = [(x + r, low), *at, (x - r, low)]
        u = np.array([side * self.u_of(p) for p, _ in at])
        v = np.array([self.v_of(*p) for p in at])
        return self.at(u, v)

    def _lowest(self, x: Array) -> Array:
        low, high = _along(self.floor, x), _along(self.top, x)
        start = low.copy()
        for at, axle, r in self.arches:
            over = axle + np.sqrt(np.maximum(r**2 - (x - at) ** 2, 0))
            start = np.where(np.abs(x - at) < r, np.maximum(start, over), start)
        return (start - low) / (high - low)

    def _plan(self, u: Array) -> tuple[Array, Array, Array]:
        """Place and sideways direction on the half outline, u running evenly along it."""
        along, table = _outline(self.square, self.nose - self.tail, self.width)
        x, y, ny = (np.interp(np.clip(u, 0, 1) * along[-1], along, q) for q in table)
        return x + (self.nose + self.tail) / 2, y, ny


@lru_cache(maxsize=8)
def _columns(shell: Shell) -> Array:
    """The u at which a wall has its columns, dense where a wheel's arch is."""
    u = set(np.linspace(0, 1, shell.steps))
    for x, _, r in shell.arches:
        marks = [shell.u_of(x + r * math.cos(k)) for k in np.linspace(0, math.pi, 15)]
        u = {k for k in u if not marks[0] - 0.004 < k < marks[-1] + 0.004}
        u |= {*marks, marks[0] - 1e-4, marks[-1] + 1e-4}
    half = np.array(sorted(u))
    return np.concatenate([-half[:0:-1], half])


@lru_cache(maxsize=8)
def _outline(square: float, length: float, width: float) -> tuple[Array, Array]:
    """Lengths along half a rounded rectangle from its front; x, y and how far it faces sideways."""
    a = np.linspace(0, math.pi, 801)
    c, s = np.cos(a), np.sin(a)
    x = length / 2 * np.sign(c) * np.abs(c) ** (2 / square)
    y = width / 2 * np.maximum(s, 0) ** (2 / square)
    along = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    dx, dy = np.gradient(x), np.gradient(y)
    size = np.maximum(np.hypot(dx, dy), 1e-12)
    return along, np.stack([x, y, -dx / size])


_LIP = 0.008


def wells(tray: Tray, shell: Shell, paint: Material, dark: Material) -> None:
    """What is seen through the wheel arches, and the edges around them."""
    for arch in shell.arches:
        for side in (-1, 1):
            edge = shell.arch_edge(arch, side)
            inner = edge * (1, 0.62, 1)
            tray.add(dark, skin(np.stack([edge, inner], 1)))
            tray.add(paint, tube(edge + np.array((0, side * _LIP / 2, 0)), _LIP, around=8))


class Wheel(NamedTuple):
    """A wheel of a car or motorcycle."""

    radius: float
    width: float
    rim: float
    """Radius of the rim as a share of the tyre's."""
    spokes: int
    waist: float
    """Width of a spoke at the hub, as a share of the rim's radius."""
    flare: float
    """Its width at the rim over that at the hub."""
    twin: bool


def drawn_wheel(draws: Draws, radius: float, width: float) -> Wheel:
    """A design of wheel."""
    return Wheel(radius, width, draws("rim", 0.64, 0.74), draws.count("spokes", 5, 9),
        draws("waist", 0.14, 0.26), draws("flare", 0.6, 1.7),
        draws.chance("twin", 0.4))  # fmt: skip


def wheel_parts(wheel: Wheel, metal: Material) -> tuple[tuple[Material, Mesh], ...]:
    """A wheel about the origin, its face towards the viewer."""
    r, w = wheel.radius, wheel.width / 2
    rim = r * wheel.rim
    tyre = [(rim, -w * 0.9), (rim + 0.015, -w), (r * 0.9, -w * 1.03), (r * 0.965, -w * 0.9),
        (r, -w * 0.7), (r, 0), (r, w * 0.7), (r * 0.965, w * 0.9), (r * 0.9, w * 1.03),
        (rim + 0.015, w), (rim, w * 0.9)]  # fmt: skip
    barrel = [(rim, -w * 0.9), (rim * 0.94, -w * 0.5), (rim * 0.93, w * 0.7), (rim, w * 0.84),
        (rim, w * 0.88), (rim + 0.007, w * 0.97)]  # fmt: skip
    disc = [(0.0, -0.2 * w), (rim * 0.7, -0.2 * w), (rim * 0.7, -0.05 * w), (0.0, -0.05 * w)]
    hub = [(rim * 0.17, w * 0.2), (rim * 0.17, w * 0.86), (rim * 0.1, w * 0.93), (0.0, w * 0.93)]
    face = joined([facing(lathe(barrel, around=36)), facing(turning(hub, around=20))])
    return ((RUBBER, facing(lathe(tyre, around=36))), (STEEL, facing(turning(disc, around=18))),
        (metal, face), (metal, shifted(_spokes(wheel, rim, w), y=-w * 0.72)))  # fmt: skip


def put_wheels(tray: Tray, wheel: Wheel, metal: Material, places: Sequence[Point]) -> None:
    """The same wheel in several places, its face outwards."""
    parts = wheel_parts(wheel, metal)
    for at in places:
        pose = moved(*at, turn=0 if at[1] <= 0 else 180)
        for material, mesh in parts:
            tray.add(material, posed(mesh, pose))


def _spokes(wheel: Wheel, rim: float, w: float) -> Mesh:
    a, b = rim * wheel.waist / 2, rim * wheel.waist * wheel.flare / 2
    if not wheel.twin:
        one = [(-a, rim * 0.1), (a, rim * 0.1), (b, rim * 0.97), (-b, rim * 0.97)]
        return repeated(plate(one, w * 0.3, bevel=0.006), wheel.spokes, axis=(0, 1, 0))
    gap, thin = rim * 0.1, a * 0.55
    pair = []
    for s in (-1, 1):
        one = [(s * thin * 0.7 - thin, rim * 0.1), (s * thin * 0.7 + thin, rim * 0.1),
            (s * gap * 1.4 + thin, rim * 0.97), (s * gap * 1.4 - thin, rim * 0.97)]  # fmt: skip
        pair.append(plate(one, w * 0.3, bevel=0.005))
    return repeated(joined(pair), min(wheel.spokes, 6), axis=(0, 1, 0))


def _along(line: Line, at: Array | float) -> Array:
    """A line through its pairs, its corners eased."""
    return np.asarray(np.interp(at, *_eased(line)))


@lru_cache(maxsize=64)
def _eased(line: Line) -> tuple[Array, Array]:
    p = np.asarray(line, np.float64)
    length = p[-1, 0] - p[0, 0]
    x = np.linspace(p[0, 0] - 0.1 * length, p[-1, 0] + 0.1 * length, 241)
    near = x[:, None] + 0.04 * length * np.array([-1, -0.4, 0.4, 1])
    return x, np.interp(near, p[:, 0], p[:, 1]).mean(1)


@lru_cache(maxsize=16)
def _stations(shell: Shell, v: float) -> Array:
    """How far back the wall is at evenly spaced u."""
    return -shell.at(_EVENLY, np.full(len(_EVENLY), v))[:, 0]
