"""Name → place."""

from __future__ import annotations

from simulator.world.places import indoors, outdoors
from simulator.world.places.setting import Place

PLACES: dict[str, Place] = {**indoors.PLACES, **outdoors.PLACES}
