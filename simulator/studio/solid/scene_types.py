"""The types that scenes are built of: meshes, materials, lights, views and poses, in metres.

Axes: x to the right, y away from the viewer, z up. A thing stands on z = 0 with the middle of its
footprint at the origin and its front towards -y. What hangs on a wall has its back at y = 0.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.traits import Colour

Array = NDArray[Any]
Point = tuple[float, float, float]
Stands = Literal["surface", "ground", "wall", "air", "flat"]
"""On a surface (table, counter, shelf), on the ground, at a wall, in the air; flat: it lies on a
surface."""


class Mesh(NamedTuple):
    """Triangles; `smooth` ones are shaded as if they were curved."""

    vertices: NDArray[np.float32]
    """(n, 3), metres."""
    faces: NDArray[np.int32]
    """(m, 3), anticlockwise seen from outside."""
    uv: NDArray[np.float32]
    """(n, 2): where a material's sheet lies on it; (0, 0) is the sheet's lower left corner."""
    smooth: bool = False


class Material(NamedTuple):
    """How a surface looks; few numbers, so that every scene compiles to the same kernel."""

    colour: Colour = (128.0, 128.0, 128.0)
    sheet: NDArray[np.uint8] | None = None
    """Height × width × 3: a picture in place of the colour, laid on by the mesh's `uv`."""
    rough: float = 0.5
    """0.05 polished, 0.3 glossy plastic, 0.6 paper, 0.9 cloth."""
    metal: float = 0.0
    coat: float = 0.0
    """A clear lacquer on top, 0–1."""
    glass: bool = False
    """Clear and thin, like a bottle's wall; its colour and sheet are not used."""
    grain: str = ""
    """What it is made of, as `tracing/surface_structure.py` knows it; else its gloss tells."""
    glow: float = 0.0
    """Light that it gives itself, as a multiple of its colour; a sheet is not used then."""


class Part(NamedTuple):
    """A piece of one material."""

    mesh: Mesh
    material: Material


class Print(NamedTuple):
    """Text that stands on a thing, and where."""

    text: str
    corners: NDArray[np.float32]
    """(4, 3): lower left, lower right, upper right, upper left of the text's line, on the thing."""
    cap: float
    """Height of a capital letter in metres: how near one must be to read it."""


class Thing(NamedTuple):
    """A thing from all sides."""

    parts: tuple[Part, ...]
    prints: tuple[Print, ...] = ()

    @classmethod
    def of(cls, *parts: Part) -> Thing:
        """A thing on which nothing is printed."""
        return cls(parts)

    @property
    def bounds(self) -> NDArray[np.float32]:
        """(2, 3): the lowest and the highest corner."""
        every = np.concatenate([part.mesh.vertices for part in self.parts])
        return np.stack([every.min(0), every.max(0)])


class Placed(NamedTuple):
    """A thing somewhere in a scene."""

    thing: Thing
    pose: Array
    """4 × 4, from the thing's metres to the scene's."""
    name: str
    """What the index of the picture calls it: every pixel of its parts belongs to this name."""


class Lamp(NamedTuple):
    """A rectangle that shines one way: a window, a ceiling panel, the sun when small and strong."""

    at: Point
    towards: Point
    width: float
    height: float
    colour: Colour
    power: float
    """Radiance as a multiple of the colour's linear value: a window about 5, a lamp about 20."""


class Light(NamedTuple):
    """What shines on a scene."""

    sky: str = "apartment"
    """An environment of `assets/light`: what reflections show, and what stands behind."""
    strength: float = 1.0
    turn: float = 0.0
    """Degrees about z."""
    lamps: tuple[Lamp, ...] = ()
    air: float = 0.0
    """Metres at which the air hides most of what is there; 0: it hides nothing."""


class View(NamedTuple):
    """An eye: where it is, what it looks at, and its lens."""

    eye: Point
    target: Point
    roll: float = 0.0
    """Degrees, clockwise as the picture shows it."""
    angle: float = 66.0
    """Field of view along the picture's larger side, degrees."""
    aperture: float = 0.002
    """Radius of the opening in metres: 0.002 a phone, more blurs what is near or far."""
    focus: float | None = None
    """Distance that is sharp, metres; none: the target's."""


def cross(a: Any, b: Any) -> NDArray[np.float64]:
    """The vectors upright on pairs of others, (…, 3): `np.cross`, at a third of what it costs for
    the few vectors of most calls."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)


def moved(
    x: float = 0.0, y: float = 0.0, z: float = 0.0, *, turn: float = 0.0, size: float = 1.0
) -> Array:
    """A pose: scaled, turned by `turn` degrees about z (anticlockwise from above), then shifted."""
    a = np.radians(turn)
    c, s = np.cos(a) * size, np.sin(a) * size
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, size, z], [0, 0, 0, 1]], np.float64)


def turned(axis: Point, degrees: float) -> Array:
    """A turn about an axis through the origin."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    a = np.radians(degrees)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(a) * k + (1 - np.cos(a)) * (k @ k)
    return pose
