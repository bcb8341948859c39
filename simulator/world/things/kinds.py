"""Kind → how it is built; one module per group."""

from __future__ import annotations

from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits
from simulator.world.solid.forms import Thing
from simulator.world.things import (
    animals,
    devices,
    home,
    landmarks,
    packed,
    plants,
    play,
    printed,
    vehicles,
    wear,
)
from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {
    **animals.KINDS,
    **devices.KINDS,
    **home.KINDS,
    **landmarks.KINDS,
    **packed.KINDS,
    **plants.KINDS,
    **play.KINDS,
    **printed.KINDS,
    **vehicles.KINDS,
    **wear.KINDS,
}


def build(look: Look) -> Thing:
    """The thing that a look describes, standing at the origin."""
    return KINDS[look.kind].make(look, Traits(look))
