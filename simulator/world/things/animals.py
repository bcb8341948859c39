"""Animals: a dog, what sits in gardens, and a fish at the market."""

from __future__ import annotations

from simulator.world.things.birds import bird
from simulator.world.things.butterflies import butterfly
from simulator.world.things.dogs import dog
from simulator.world.things.fishes import fish
from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {
    "dog": Kind(dog, ("park", "living room", "garden", "street", "waterfront"), "ground"),
    "bird": Kind(bird, ("garden", "park", "waterfront", "street"), "air"),
    "fish": Kind(fish, ("market", "kitchen")),
    "butterfly": Kind(butterfly, ("garden", "park"), "air"),
}
