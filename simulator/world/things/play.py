"""Balls and what they are played with."""

from __future__ import annotations

from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits
from simulator.world.solid.forms import Material, Part, Thing
from simulator.world.solid.meshes import ball, shifted
from simulator.world.things.kind import Kind


def _ball(look: Look, traits: Traits) -> Thing:
    radius = traits.near("radius", 0.09, 0.12)
    return Thing(
        (Part(shifted(ball(radius), z=radius), Material(traits.palette().base, coat=0.3)),)
    )


KINDS: dict[str, Kind] = {
    "ball": Kind(_ball, ("gym", "garden", "living room"), "ground", held=True)
}
