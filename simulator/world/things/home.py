"""Things of a household."""

from __future__ import annotations

from simulator.world.things.appliances import kettle, toaster
from simulator.world.things.clocks import clock
from simulator.world.things.kind import Kind
from simulator.world.things.mugs import mug

KINDS: dict[str, Kind] = {
    "kettle": Kind(kettle, ("kitchen", "shop")),
    "mug": Kind(mug, ("kitchen", "desk", "living room"), held=True),
    "clock": Kind(clock, ("living room", "desk", "shop")),
    "toaster": Kind(toaster, ("kitchen", "shop")),
}
