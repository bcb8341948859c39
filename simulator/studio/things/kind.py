"""What every kind of thing says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.studio.solid.forms import Thing
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits


class Kind(NamedTuple):
    """How a kind of thing is built, and where one would find it."""

    make: Callable[[Look, Traits], Thing]
    """The same look gives the same thing: what families share comes from `traits.family` or
    `traits.near`, what tells look-alikes apart from `traits.variant`."""
    places: tuple[str, ...]
    """Names in `simulator.studio.places.kinds.PLACES`, the most usual first."""
    stands: str = "surface"
    """surface (table, counter, shelf) · ground · wall · air · plinth · flat (lies on a surface)."""
    held: bool = False
    """Whether a wearer would hold it up in one hand."""
