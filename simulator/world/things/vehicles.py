"""Vehicles. They stand along x, nose to the right: the near side of a street shows them so."""

from __future__ import annotations

from simulator.world.things.bicycles import bicycle
from simulator.world.things.cars import car
from simulator.world.things.kind import Kind
from simulator.world.things.motorcycles import motorcycle
from simulator.world.things.vans import van

KINDS: dict[str, Kind] = {
    "bicycle": Kind(bicycle, ("street", "park", "square", "waterfront"), "ground"),
    "car": Kind(car, ("street", "square", "waterfront"), "ground"),
    "motorcycle": Kind(motorcycle, ("street", "square", "waterfront"), "ground"),
    "van": Kind(van, ("street", "market", "square"), "ground"),
}
