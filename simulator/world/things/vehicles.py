"""Vehicles. They stand along x, nose to the right: the near side of a street shows them so."""

from __future__ import annotations

from simulator.world.things.cars import car, van
from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {
    "van": Kind(van, ("street", "market", "square"), "ground"),
    "car": Kind(car, ("street", "square", "waterfront"), "ground"),
}
