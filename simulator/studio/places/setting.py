"""What a place offers: where things may stand, and where the wearer may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.studio.solid.forms import Light, Placed, Point
from simulator.world.pictures.traits import Draws


class Subject(NamedTuple):
    """What is to be shown: a place makes room for it."""

    sizes: tuple[tuple[float, float, float], ...]
    """Width, depth, height of each thing in metres, the main one first (one to about five)."""
    stands: str
    """As `Kind.stands` says."""
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


class Place(NamedTuple):
    """A sort of place; equal draws give an equal setting."""

    make: Callable[[Draws, Subject], Setting]
