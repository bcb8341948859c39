"""Plants: what grows in pots, vases and gardens."""

from __future__ import annotations

from simulator.world.things.flowers import flower
from simulator.world.things.kind import Kind
from simulator.world.things.potted import houseplant
from simulator.world.things.succulents import succulent
from simulator.world.things.trees import tree

KINDS: dict[str, Kind] = {
    "flower": Kind(flower, ("living room", "garden", "market", "kitchen", "desk")),
    "houseplant": Kind(houseplant, ("living room", "desk", "shop", "classroom", "kitchen")),
    "succulent": Kind(succulent, ("desk", "kitchen", "living room", "shop"), held=True),
    "tree": Kind(tree, ("park", "street", "garden", "square", "waterfront"), "ground"),
}
