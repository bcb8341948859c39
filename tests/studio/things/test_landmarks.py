"""Towers, bridges, shopfronts and statues."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, faults_of_prints, look_of

from simulator.studio.things.kinds import build

BOUNDS = {
    "tower": ((6.0, 6.0, 38.0), (26.0, 26.0, 105.0)),
    "bridge": ((35.0, 6.0, 6.0), (130.0, 20.0, 48.0)),
    "shopfront": ((5.0, 1.2, 6.4), (7.6, 2.6, 8.0)),
    "statue": ((1.6, 1.6, 2.8), (2.4, 2.4, 5.9)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_landmarks_are_sound_and_told_apart(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], families=range(2 if kind == "statue" else 5)) == []


@pytest.mark.parametrize("family", range(4))
@pytest.mark.parametrize("label", ["Torvick", "Shraiskumble Claizzadis & Daughters"])
def test_a_shop_s_sign_says_its_name_large(family: int, label: str) -> None:
    thing = build(look_of("shopfront", family, 1, label, "12 Mill Street"))
    assert faults_of_prints(thing, [label, "12 Mill Street"]) == []
    name = thing.prints[0]
    assert name.corners[1, 0] > name.corners[0, 0]
    assert name.corners[:, 1].max() < 0
    assert name.cap > (0.03 if len(label) > 20 else 0.045) * float(
        np.ptp(thing.bounds, axis=0).max()
    )


def test_a_tower_has_its_clock_on_four_sides() -> None:
    faces = [
        p.mesh.vertices for family in range(12) for p in build(look_of("tower", family)).parts
        if p.material.sheet is not None and p.material.sheet.shape[:2] == (256, 256)
    ]  # fmt: skip
    dials = [
        v for v in faces if np.allclose(v[:, 0].max(), -v[:, 0].min(), atol=0.01) and len(v) < 2000
    ]
    assert dials
    for v in dials:
        assert np.ptp(v[:, 0]) == pytest.approx(np.ptp(v[:, 1]), rel=0.01)


def test_a_bridge_stands_on_more_than_one_place_and_leaves_the_water_free() -> None:
    for family in range(8):
        thing = build(look_of("bridge", family))
        at = np.concatenate([p.mesh.vertices for p in thing.parts])
        low = at[at[:, 2] < 0.5]
        length = float(np.ptp(thing.bounds[:, 0]))
        share = np.unique(np.floor(low[:, 0] / length * 40)).size / 40
        assert low.size
        assert share < 0.6


def test_a_statue_s_figure_stands_on_its_plinth() -> None:
    for family in range(4):
        thing = build(look_of("statue", family))
        figure = thing.parts[-1].mesh.vertices
        block = np.concatenate([p.mesh.vertices for p in thing.parts[:-1]])
        assert 0 <= float(block[:, 2].max()) - float(figure[:, 2].min()) < 0.1
        assert 1.8 < float(np.ptp(figure[:, 2])) < 3.3
