"""Packed goods: what stands on a shop's shelves with a name on it."""

from __future__ import annotations

from simulator.world.things.kind import Kind
from simulator.world.things.packs import carton, packet
from simulator.world.things.vessels import bottle, jar

KINDS: dict[str, Kind] = {
    "bottle": Kind(bottle, ("kitchen", "shop", "market"), held=True),
    "jar": Kind(jar, ("kitchen", "shop", "market"), held=True),
    "carton": Kind(carton, ("kitchen", "shop"), held=True),
    "packet": Kind(packet, ("kitchen", "shop", "desk"), held=True),
}
