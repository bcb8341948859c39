"""What is worn is as large as what is worn, and each family and variant is a thing of its own."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_variants, made

from simulator.studio.solid.scene_types import Light, Placed, View, moved
from simulator.studio.things import clothes
from simulator.studio.tracing.tracer import trace

SIZES = {  # height, width and depth in metres: the least and the most
    "shoe": ((0.08, 0.26), (0.16, 0.36), (0.20, 0.42)),
    "handbag": ((0.12, 0.62), (0.18, 0.50), (0.05, 0.45)),
    "hat": ((0.09, 0.28), (0.16, 0.45), (0.18, 0.48)),
    "backpack": ((0.38, 0.62), (0.22, 0.52), (0.12, 0.36)),
}


@pytest.mark.parametrize("kind", SIZES)
def test_wear_stands_on_the_ground_and_is_as_large_as_wear(kind: str) -> None:
    high_, wide, deep = SIZES[kind]
    for family in range(3 if kind == "shoe" else 6):
        for variant in range(2):
            thing = made(kind, family, variant)
            low, high = thing.bounds
            size = high - low
            assert np.isfinite(size).all()
            assert low[2] == pytest.approx(0, abs=0.006)
            assert high_[0] < size[2] < high_[1]
            assert wide[0] < size[0] < wide[1]
            assert deep[0] < size[1] < deep[1]
            assert len(thing.parts) <= 12
            assert sum(len(p.mesh.faces) for p in thing.parts) < 40_000


@pytest.mark.parametrize("kind", SIZES)
def test_the_same_look_gives_the_same_wear_and_variants_differ(kind: str) -> None:
    assert faults_of_variants(kind, 4, clothes._shoe) == []


@pytest.mark.proof("render")
def test_a_bag_is_seen_by_the_renderer() -> None:
    bag = made("handbag", 1, 0)
    view = View((0, -0.9, 0.4), (0, 0, 0.2), angle=40)
    seen = trace([Placed(bag, moved(), "bag")], Light("studio"), view, 96, 96)
    assert 0.1 < np.mean(seen.owner == 0) < 0.6
    assert np.isfinite(seen.light).all()
