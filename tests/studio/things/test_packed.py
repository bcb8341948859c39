"""Bottles, jars, cartons and packets: right in size, the same again, with their names on them."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, look_of

from simulator.studio.solid.scene_types import Lamp, Light, Placed, View, moved
from simulator.studio.things.kinds import build
from simulator.studio.tracing.tracer import trace

BOUNDS = {
    "bottle": ((0.06, 0.06, 0.13), (0.14, 0.14, 0.36)),
    "jar": ((0.05, 0.05, 0.08), (0.13, 0.13, 0.16)),
    "carton": ((0.06, 0.03, 0.14), (0.11, 0.11, 0.3)),
    "packet": ((0.11, 0.03, 0.04), (0.27, 0.11, 0.31)),
}
LONG = "Shraiskumble Claizzadis Oat Drink"


@pytest.mark.parametrize("kind", BOUNDS)
def test_packed_goods_are_sound_and_carry_their_names(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], LONG, "1350 g") == []


@pytest.mark.parametrize("kind", BOUNDS)
def test_packed_goods_without_a_name_carry_none(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], families=range(3, 5)) == []


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_name_is_large_enough_and_on_the_front(kind: str) -> None:
    for family in range(20, 32):
        thing = build(look_of(kind, family, 3, "Marrel Torvick Honey", "340 g"))
        label = thing.prints[0]
        low, high = thing.bounds
        assert label.cap > 0.02 * float((high - low).max())
        assert label.corners[1, 0] > label.corners[0, 0]
        assert label.corners[3, 2] > label.corners[0, 2]
        assert label.corners[:, 1].mean() < 0


def test_what_a_name_promises_is_in_the_jar() -> None:
    def tone(label: str) -> np.ndarray:
        core = build(look_of("jar", 3, 0, label)).parts[0].material.sheet
        assert core is not None
        return core.reshape(-1, 3).mean(0)

    honey, jam = tone("Marrel Torvick Honey"), tone("Marrel Torvick Jam")
    assert honey[0] > 150
    assert honey[0] > honey[1] > honey[2]
    assert jam[0] > 1.8 * jam[1]
    assert honey[1] > jam[1] + 40


@pytest.mark.proof("render")
def test_a_jar_shows_its_label_and_the_glass_above_it() -> None:
    thing = build(look_of("jar", 2, 0, "Marrel Torvick Jam", "340 g"))
    placed = [Placed(thing, moved(), "jar")]
    lamp = Lamp((-0.4, -0.5, 0.6), (0, 0, 0.05), 0.3, 0.3, (255, 240, 220), 9)
    view = View((0, -0.3, 0.1), (0, 0, 0.05), angle=30)
    seen = trace(placed, Light("studio", lamps=(lamp,)), view, 96, 96, seed=3)
    shown = seen.owner == 0
    assert 0.2 < shown.mean() < 0.9
    label = thing.parts[2].material.sheet
    assert label is not None
    middle = seen.light[50:60, 40:56].reshape(-1, 3).mean(0)
    assert middle.max() > 2 * middle.min()  # a coloured label, not grey glass
