"""What is worn and carried."""

from __future__ import annotations

from simulator.world.things.backpacks import backpack
from simulator.world.things.bags import handbag
from simulator.world.things.hats import hat
from simulator.world.things.kind import Kind
from simulator.world.things.shoes import shoe

KINDS: dict[str, Kind] = {
    "shoe": Kind(shoe, ("shop", "living room", "gym", "market")),
    "handbag": Kind(handbag, ("shop", "living room", "desk", "market")),
    "hat": Kind(hat, ("shop", "market", "living room", "desk"), held=True),
    "backpack": Kind(backpack, ("classroom", "gym", "shop", "park", "desk"), "ground"),
}
