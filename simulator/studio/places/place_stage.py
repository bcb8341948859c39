"""A place while it is built: who stands where, from where one looks, and what must not be hidden.

The wearer looks along +y; the middle of what is shown stands near x = y = 0. A stage first makes
room for the things that are asked for, then takes furniture as it comes, and clutter only where it
touches nothing and hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mmrag.errors import SpecError
from simulator.studio.solid.meshes import joined, posed
from simulator.studio.solid.scene_types import (
    Array,
    Light,
    Part,
    Placed,
    Point,
    Stands,
    Thing,
    cross,
    moved,
)
from simulator.world.pictures.traits import Draws


class Subject(NamedTuple):
    """What is to be shown: a place makes room for it."""

    sizes: tuple[tuple[float, float, float], ...]
    """Width, depth, height of each thing in metres, the main one first (one to about five)."""
    stands: Stands
    clutter: float
    """0: what belongs to the place alone; 1: crowded."""
    attended: bool = False
    """Whether the main one stands in the middle of the row, a step before the others."""


class Spot(NamedTuple):
    """Room for one thing."""

    at: Point
    """Where the origin of the thing goes (on the surface; on a wall: at its back)."""
    turn: float
    """Degrees about z: 0 faces -y; the engine adds a little of its own."""


class Setting(NamedTuple):
    """A place made ready."""

    placed: tuple[Placed, ...]
    """Room, furniture, clutter; named "room" or "clutter"."""
    light: Light
    spots: tuple[Spot, ...]
    """One for each of `Subject.sizes`, in their order; neighbours do not overlap."""
    near: Point
    """The eye when the wearer is as near as one would be."""
    far: Point
    """The eye when the wearer is as far as one can be and still looks at the thing; the engine
    moves between the two. The straight line between them and to the spots is free."""


Maker = Callable[[Draws], Thing]

TURN = 22.0
"""Degrees that a thing may be turned on its spot (the stage's own turn and a little of the
engine's): footprints are kept apart for it."""

_OWN_TURN = 12.0

_BEFORE = (1.6, 2.4)
"""Of its size: how far before the others a thing stands to which one turns."""
_CLOSE = (-0.1, 0.1)
"""Of a width: what is then between them, seen from the front."""


class Group(NamedTuple):
    """The things that are asked for, side by side."""

    places: tuple[tuple[float, float, float], ...]
    """x, y and turn of each thing, in the order of `Subject.sizes`."""
    width: float
    depth: float
    height: float
    """How much room all of them take."""
    size: float
    """The largest side of the main one."""


class Stage:
    """Furniture, clutter, spots and eyes of one setting; equal draws give equal stages."""

    def __init__(self, draws: Draws, need: Subject) -> None:
        self.draws = draws
        self.need = need
        self.spots: list[Spot] = []
        self.near: Point = (0.0, -1.0, 1.6)
        self.far: Point = (0.0, -2.0, 1.6)
        self.light = Light()
        self._room: list[Part] = []
        self._clutter: list[Part] = []
        self._taken: list[Array] = []
        self._sight: list[_Sight] = []
        self._deepest = 0.0

    def group(
        self, *, gap: tuple[float, float] = (0.15, 0.6), loose: float = 0.5,
        before: tuple[float, float] = _BEFORE, close: tuple[float, float] = _CLOSE,
    ) -> Group:  # fmt: skip
        """A loose row of what is needed, the main thing anywhere in it; where one turns to it, in
        its middle and `before` the others, with a `close` gap between them."""
        sizes, draws = self.need.sizes, self.draws
        order = sorted(range(len(sizes)), key=lambda i: draws(f"order-{i}"))
        ahead = 0.0
        if self.need.attended and sizes[1:]:
            order.remove(0)
            order.insert((len(order) + draws.chance("left")) // 2, 0)
            ahead, gap = draws("before", *before) * max(sizes[0]), close
        s, c = math.sin(math.radians(TURN)), math.cos(math.radians(TURN))
        wide = [w * c + d * s for w, d, _ in sizes]
        deep = [d * c + w * s for w, d, _ in sizes]
        mean = sum(wide) / len(wide)
        x, at = 0.0, dict[int, float]()
        for k, i in enumerate(order):
            x += 0.02 + mean * draws(f"gap-{k}", *gap) if k else 0.0
            at[i] = x + wide[i] / 2
            x += wide[i]
        depth = max(deep) * (1 + loose) + ahead

        def back(i: int) -> float:
            free = depth - deep[i]
            if not ahead:
                return free * draws(f"back-{i}", -0.5, 0.5)
            return -free / 2 if i == 0 else free / 2 * draws(f"back-{i}", 0.7, 1.0)

        places = tuple(
            (at[i] - x / 2, back(i), draws(f"turn-{i}", -_OWN_TURN, _OWN_TURN))
            for i in range(len(sizes))
        )
        return Group(places, x, depth, max(h for _, _, h in sizes), max(sizes[0]))

    def stand(
        self, group: Group, base: Point, *, rise: tuple[float, float], reach: tuple[float, float],
        eye: tuple[float, float] = (1.5, 1.72), lowest: float = 0.25,
    ) -> None:  # fmt: skip
        """Fix the spots about `base`, and the two eyes.

        `rise`: degrees by which one looks down when near; `reach`: metres to the main thing at the
        near eye and to the group at the far one; `eye`: how high the far one is above the floor.
        """
        self.spots = [
            Spot((base[0] + x, base[1] + y, base[2]), turn) for x, y, turn in group.places
        ]
        self._taken = [self._room_of(i) for i in range(len(self.spots))]
        draws, main = self.draws, self.spots[0].at
        side = math.radians(draws("side", -24, 24))
        up = math.radians(draws("rise", *rise))
        level = main[2] + self.need.sizes[0][2] / 2
        flat = reach[0] * math.cos(up)
        z = max(level + reach[0] * math.sin(up), lowest)
        near = (main[0] + flat * math.sin(side), main[1] - flat * math.cos(side), z)
        side += math.radians(draws("step", -12, 12))
        height = max(draws("eye", *eye), lowest)
        flat = math.sqrt(max(reach[1] ** 2 - (height - base[2]) ** 2, (0.35 * reach[1]) ** 2))
        front = main[1] if self.need.attended else base[1]
        far = (base[0] + flat * math.sin(side), front - flat * math.cos(side), height)
        self.look(near, far)

    def look(self, near: Point, far: Point) -> None:
        """Fix the two eyes themselves."""
        self.near, self.far = near, far
        things = [self._room_of(i) for i in range(len(self.spots))]
        self._deepest = max(float(box[1][1]) for box in things)
        self._sight = [_sight(eye, box) for eye in np.linspace(near, far, 4) for box in things]

    def many(self, low: int, high: int) -> int:
        """How many pieces of clutter, by how crowded the picture is to be."""
        return round(low + (high - low) * self.need.clutter)

    def room(self, *what: Part | Thing, pose: Array | None = None) -> None:
        """Furniture and walls: they stand where they are told to."""
        self._room += _posed(what, pose)

    def put(self, thing: Thing, x: float, y: float, z: float = 0.0, turn: float = 0.0) -> bool:
        """Clutter, if there is room for it and it hides nothing that is asked for."""
        pose = moved(x, y, z, turn=turn)
        parts = _posed((thing,), pose)
        every = np.concatenate([part.mesh.vertices for part in parts])
        box = np.stack([every.min(0), every.max(0)])
        if any(_touch(box, other) for other in self._taken) or self._hides(box):
            return False
        self._taken.append(box)
        self._clutter += parts
        return True

    def scatter(
        self, name: str, makers: Sequence[Maker], count: int, xs: tuple[float, float],
        ys: tuple[float, float], z: float = 0.0, *, turn: tuple[float, float] = (-180, 180),
    ) -> None:  # fmt: skip
        """Up to `count` pieces somewhere in a rectangle, each of another kind while there are."""
        order = sorted(makers, key=lambda m: self.draws(f"{name}-{m.__name__}"))
        for k in range(count):
            own = Draws(name, k, self.draws(f"{name}-{k}"))
            thing = order[k % len(order)](own)
            for trial in range(12):
                x, y = own(f"x{trial}", *xs), own(f"y{trial}", *ys)
                if self.put(thing, x, y, z, own(f"turn{trial}", *turn)):
                    break

    def block(self, low: Point, high: Point) -> None:
        """Keep clutter out of a box: a sink, a passage."""
        self._taken.append(np.array([low, high]))

    def done(self) -> Setting:
        """The setting."""
        placed = tuple(
            Placed(Thing(_merged(parts)), moved(), name)
            for parts, name in ((self._room, "room"), (self._clutter, "clutter"))
            if parts
        )
        return Setting(placed, self.light, tuple(self.spots), self.near, self.far)

    def _room_of(self, i: int) -> Array:
        """The box that a thing may fill on its spot."""
        (x, y, z), (w, d, h) = self.spots[i].at, self.need.sizes[i]
        s, c = math.sin(math.radians(TURN)), math.cos(math.radians(TURN))
        a, b = (w * c + d * s) / 2 + 0.005, (d * c + w * s) / 2 + 0.005
        if self.need.stands == "wall":
            return np.array([(x - w / 2, y - d - 0.01, z), (x + w / 2, y + 0.01, z + h)])
        return np.array([(x - a, y - b, z + 0.001), (x + a, y + b, z + h)])

    def _hides(self, box: Array) -> bool:
        """Whether a box comes between an eye and a thing, or into the wearer's face."""
        if not self._sight or box[0][1] > self._deepest:
            return False  # behind everything: the wearer looks along +y
        return any(_before(box, sight) for sight in self._sight) or (
            min(_distance(box, sight.eye) for sight in self._sight) < 0.22
        )


def refuse(place: str, need: Subject, why: str) -> SpecError:
    """The one line that says that a place has no room for what is asked."""
    w, d, h = need.sizes[0]
    return SpecError(f"{place}: no room for {w:.2g} × {d:.2g} × {h:.2g} m ({need.stands}): {why}")


def own(draws: Draws, name: str) -> Draws:
    """A stream of draws of its own for a piece of furniture."""
    return Draws(name, draws(name))


def _posed(what: Sequence[Part | Thing], pose: Array | None) -> list[Part]:
    parts = [p for one in what for p in (one.parts if isinstance(one, Thing) else (one,))]
    if pose is None:
        return parts
    return [Part(posed(p.mesh, pose), p.material) for p in parts]


def _touch(a: Array, b: Array) -> bool:
    return bool(np.all(a[0] < b[1]) and np.all(b[0] < a[1]))


_CORNERS = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)], bool)


class _Sight(NamedTuple):
    """A thing's box as an eye sees it."""

    eye: Array
    frame: Array
    depth: float
    first: Array
    last: Array


def _sight(eye: Array, thing: Array) -> _Sight:
    axis = thing.mean(0) - eye
    depth = float(np.linalg.norm(axis))
    right = cross(axis, (0, 0, 1))
    right /= max(float(np.linalg.norm(right)), 1e-9)
    frame = np.stack([right, cross(right, axis / depth), axis / depth], -1)
    return _Sight(eye, frame, depth, *_outline(thing, eye, frame))


def _before(box: Array, sight: _Sight) -> bool:
    """Whether a box, seen from an eye, covers a part of a thing's box and is the nearer one."""
    low, high = _outline(box, sight.eye, sight.frame)
    if low[2] > sight.depth or high[2] < 0.02:
        return False
    first, last = sight.first, sight.last
    edge = 0.04 * (last - first)
    return bool(np.all((low < last - edge)[:2]) and np.all((high > first + edge)[:2]))


def _outline(box: Array, eye: Array, frame: Array) -> tuple[Array, Array]:
    """How a box's corners spread in a view: to the right, upwards (as slopes), and in depth."""
    seen = (np.where(_CORNERS, box[1], box[0]) - eye) @ frame
    slopes = seen[:, :2] / np.maximum(seen[:, 2:], 0.02)
    every = np.concatenate([slopes, seen[:, 2:]], 1)
    return every.min(0), every.max(0)


def _distance(box: Array, eye: Array) -> float:
    return float(np.linalg.norm(np.maximum(np.maximum(box[0] - eye, eye - box[1]), 0)))


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Pieces of one material as one: each shape costs the renderer a little."""
    groups: dict[tuple[int, bool], list[Part]] = {}
    for part in parts:
        groups.setdefault((id(part.material), part.mesh.smooth), []).append(part)
    return tuple(Part(joined([p.mesh for p in some]), some[0].material) for some in groups.values())
