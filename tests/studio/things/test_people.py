"""People are as tall as people, and each is somebody else."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.things import people
from simulator.studio.things.people import SEAT, Stance, person
from simulator.world.pictures.traits import Draws

TALL: dict[Stance, tuple[float, float]] = {
    "standing": (1.5, 2.0),
    "walking": (1.48, 1.98),
    "sitting": (1.15, 1.6),
}


@pytest.mark.parametrize("stance", TALL)
def test_people_stand_on_the_ground_and_are_as_tall_as_people(stance: Stance) -> None:
    for i in range(3):
        thing = person(Draws("somebody", i), stance)
        low, high = thing.bounds
        assert np.isfinite([low, high]).all()
        assert low[2] == pytest.approx(0, abs=0.035)
        assert TALL[stance][0] < high[2] < TALL[stance][1]
        assert 0.4 < high[0] - low[0] < 0.8
        assert len(thing.parts) <= 7
        assert sum(len(p.mesh.faces) for p in thing.parts) < 50_000


def test_somebody_who_sits_has_a_seat() -> None:
    """The trousers touch a seat's height under the hips, and the knees are in front."""
    trousers = person(Draws("sitter"), "sitting").parts[0].mesh.vertices
    under = trousers[np.hypot(trousers[:, 0], trousers[:, 1]) < 0.12]
    assert under[:, 2].min() == pytest.approx(SEAT, abs=0.09)
    assert trousers[:, 1].min() < -0.35


def test_the_same_draws_give_the_same_person_and_others_another() -> None:
    one, other = person(Draws("p", 1), "standing"), person(Draws("p", 2), "standing")
    people._person.cache_clear()
    same = person(Draws("p", 1), "standing")
    assert same is not one
    assert one.parts[1].mesh.vertices.tobytes() == same.parts[1].mesh.vertices.tobytes()
    assert one.parts[1].material != other.parts[1].material
