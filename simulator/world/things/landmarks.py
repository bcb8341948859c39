"""Landmarks: what one meets on a walk through a town."""

from __future__ import annotations

from simulator.world.things.bridges import bridge
from simulator.world.things.kind import Kind
from simulator.world.things.shopfronts import shopfront
from simulator.world.things.statues import statue
from simulator.world.things.towers import tower

KINDS: dict[str, Kind] = {
    "tower": Kind(tower, ("square", "waterfront", "park"), "ground"),
    "bridge": Kind(bridge, ("waterfront",), "ground"),
    "shopfront": Kind(shopfront, ("street", "square"), "ground"),
    "statue": Kind(statue, ("square", "park"), "ground"),
}
