"""Animals."""

from __future__ import annotations

from simulator.world.things.dogs import dog
from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {
    "dog": Kind(dog, ("park", "living room", "garden", "street", "waterfront"), "ground"),
}
