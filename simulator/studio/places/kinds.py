"""Name → place."""

from __future__ import annotations

from simulator.studio.places import indoors, outdoors
from simulator.studio.places.setting import Place

PLACES: dict[str, Place] = {**indoors.PLACES, **outdoors.PLACES}
