"""Plants are as large as plants, each family and each variant something of its own."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_variants, made

from simulator.studio.things import plants
from simulator.world.facts.look import KINDS as DOMAINS

SIZES = {  # the least and the most height and width in metres
    "flower": ((0.22, 0.75), (0.10, 0.60)),
    "houseplant": ((0.20, 0.75), (0.15, 0.95)),
    "succulent": ((0.08, 0.40), (0.08, 0.45)),
    "tree": ((2.5, 12.0), (0.8, 10.0)),
}


def test_every_kind_of_plant_has_a_believable_size() -> None:
    assert set(DOMAINS["plants and gardening"]) == set(SIZES)


@pytest.mark.parametrize("kind", SIZES)
def test_plants_stand_on_the_ground_and_are_as_large_as_plants(kind: str) -> None:
    (least, most), (slim, broad) = SIZES[kind]
    for family in range(6):
        for variant in range(1 if kind == "tree" else 2):
            thing = made(kind, family, variant)
            low, high = thing.bounds
            assert np.isfinite([low, high]).all()
            assert low[2] == pytest.approx(0, abs=0.03)
            assert least < high[2] < most
            assert slim < (high - low)[:2].max() < broad
            assert len(thing.parts) <= 8
            limit = 60_000 if kind == "tree" else 36_000
            assert sum(len(p.mesh.faces) for p in thing.parts) < limit
            for part in thing.parts:
                assert part.mesh.faces.max() < len(part.mesh.vertices)
                assert np.isfinite(part.mesh.uv).all()


@pytest.mark.parametrize("kind", SIZES)
def test_the_same_look_gives_the_same_plant_and_variants_differ(kind: str) -> None:
    assert faults_of_variants(kind, 3, plants._tree) == []
