"""Animals are as large as animals, and each family and variant is an animal of its own."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_variants, made

from simulator.studio.things import animals, dogs
from simulator.world.facts.look import KINDS as DOMAINS

SIZES = {  # the least and the most height, and the most width or depth, in metres
    "dog": (0.22, 0.95, 1.0),
    "bird": (0.08, 0.50, 0.60),
    "fish": (0.06, 0.45, 0.75),
    "butterfly": (0.05, 0.25, 0.30),
}


def test_every_kind_of_animal_has_a_believable_size() -> None:
    assert set(DOMAINS["animal"]) == set(SIZES)


@pytest.mark.parametrize("kind", SIZES)
def test_animals_stand_on_the_ground_and_are_as_large_as_animals(kind: str) -> None:
    least, most, broad = SIZES[kind]
    for family in range(2 if kind in ("dog", "bird") else 5):
        for variant in range(2):
            thing = made(kind, family, variant)
            low, high = thing.bounds
            assert np.isfinite([low, high]).all()
            assert low[2] == pytest.approx(0, abs=0.01)
            assert least < high[2] < most
            assert (high - low)[:2].max() < broad
            assert len(thing.parts) <= 12
            assert sum(len(p.mesh.faces) for p in thing.parts) < 36_000


@pytest.mark.parametrize("kind", SIZES)
def test_the_same_look_gives_the_same_animal_and_variants_differ(kind: str) -> None:
    assert faults_of_variants(kind, 3, dogs._dog, animals._bird) == []
