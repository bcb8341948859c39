"""Balls, rackets, guitars, models and instruments."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, look_of

from simulator.studio.things.kinds import KINDS, build
from simulator.studio.things.science import ATOMS, structure
from simulator.world.pictures.traits import Draws

BOUNDS = {
    "ball": ((0.06, 0.06, 0.06), (0.34, 0.34, 0.34)),
    "racket": ((0.12, 0.24, 0.01), (0.29, 0.7, 0.05)),
    "guitar": ((0.34, 0.3, 1.0), (0.45, 0.5, 1.2)),
    "molecule": ((0.1, 0.1, 0.18), (0.45, 0.4, 0.5)),
    "instrument": ((0.12, 0.14, 0.28), (0.62, 0.4, 0.65)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_play_and_instruments_are_sound_and_told_apart(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], families=range(3 if kind == "guitar" else 6)) == []


def test_every_sort_of_ball_comes_and_is_drawn_in_several_colours() -> None:
    sizes = set()
    for family in range(16):
        thing = build(look_of("ball", family))
        sheet = thing.parts[0].material.sheet
        assert sheet is not None
        assert float(sheet.reshape(-1, 3).std(0).max()) > 12
        sizes.add(round(float(thing.bounds[1, 2]), 1))
    assert sizes == {0.1, 0.2, 0.3}


def test_atoms_have_as_many_bonds_as_their_kind_allows() -> None:
    for family in range(12):
        for variant in range(3):
            places, kinds, bonds = structure(Draws("m", family), Draws("m", family, variant))
            count = np.bincount(np.array(bonds).ravel(), minlength=len(kinds))
            assert [ATOMS[k][2] for k in kinds] == count.tolist(), (family, variant)
            gaps = np.linalg.norm(np.array(places)[:, None] - np.array(places)[None], axis=-1)
            assert gaps[np.triu_indices(len(kinds), 1)].min() > 0.45, (family, variant)


def test_a_racket_lies_flat_and_may_be_held() -> None:
    assert KINDS["racket"].stands == "flat"
    assert KINDS["racket"].held
    for family in range(6):
        low, high = build(look_of("racket", family)).bounds
        assert high[1] - low[1] > 1.6 * (high[0] - low[0])
