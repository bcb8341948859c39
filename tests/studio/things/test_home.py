"""Kettles, mugs, clocks and toasters."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, look_of

from simulator.studio.things.kinds import KINDS, build
from simulator.world.pictures.traits import Traits

BOUNDS = {
    "kettle": ((0.14, 0.13, 0.16), (0.36, 0.25, 0.36)),
    "mug": ((0.08, 0.06, 0.07), (0.15, 0.12, 0.12)),
    "clock": ((0.09, 0.03, 0.09), (0.22, 0.12, 0.3)),
    "toaster": ((0.25, 0.14, 0.15), (0.4, 0.2, 0.28)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_things_of_a_household_are_sound_and_nameless(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind]) == []
    assert not build(look_of(kind, 5, 0, "Marrel Torvick Kettle")).prints


@pytest.mark.parametrize("kind", BOUNDS)
def test_families_differ_in_shape_and_colour(kind: str) -> None:
    things = [build(look_of(kind, family)) for family in range(12)]
    heights = {round(float(thing.bounds[1, 2]), 3) for thing in things}
    assert len(heights) >= 10
    assert len({len(thing.parts) for thing in things}) > 1 or kind == "mug"


def test_hands_of_a_clock_stand_at_the_variants_own_hour() -> None:
    def hand(variant: int) -> np.ndarray:
        return build(look_of("clock", 4, variant)).parts[-3].mesh.vertices

    assert not np.allclose(hand(0), hand(1))


def test_every_kind_names_places_that_exist() -> None:
    known = {
        "kitchen", "shop", "desk", "street", "market", "garden", "museum", "gym", "workshop",
        "living room", "square", "park", "waterfront", "classroom",
    }  # fmt: skip
    assert all(set(KINDS[kind].places) <= known for kind in BOUNDS)
    assert Traits(look_of("mug", 1)).family("hue", 0, 360) == pytest.approx(
        Traits(look_of("mug", 1, 3)).family("hue", 0, 360)
    )
