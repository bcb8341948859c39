"""Name → place."""

from __future__ import annotations

from simulator.world.places import indoors
from simulator.world.places.setting import Place

PLACES: dict[str, Place] = {**indoors.PLACES}
