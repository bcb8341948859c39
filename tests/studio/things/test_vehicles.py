"""Bicycles, motorcycles, cars and vans: right in size, on their wheels, told apart, lettered."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, faults_of_prints, look_of

from simulator.studio.solid.scene_types import Light, Placed, View, moved
from simulator.studio.things.bodies import drawn_wheel, wheel_parts
from simulator.studio.things.kinds import build
from simulator.studio.things.making import CHROME, RUBBER
from simulator.world.pictures.traits import Draws

BOUNDS = {
    "bicycle": ((1.6, 0.5, 0.85), (1.95, 0.72, 1.2)),
    "motorcycle": ((1.9, 0.7, 1.0), (2.5, 1.05, 1.55)),
    "car": ((3.6, 1.85, 1.35), (4.85, 2.3, 1.75)),
    "van": ((4.8, 2.0, 1.9), (6.0, 2.4, 2.65)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_vehicles_are_sound_and_told_apart(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind]) == []


@pytest.mark.parametrize("kind", BOUNDS)
def test_tyres_touch_the_ground_under_both_axles(kind: str) -> None:
    for family in range(4):
        thing = build(look_of(kind, family))
        rubber = [p.mesh.vertices for p in thing.parts if p.material == RUBBER]
        low = np.concatenate([v[v[:, 2] < 0.02] for v in rubber])
        assert abs(float(low[:, 2].min())) < 0.002
        length = float(np.ptp(thing.bounds[:, 0]))
        assert float(np.ptp(low[:, 0])) > 0.5 * length


@pytest.mark.parametrize("family", range(3))
def test_nothing_of_a_car_s_wall_hides_its_wheels(family: int) -> None:
    thing = build(look_of("car", family))
    tyres = np.concatenate([p.mesh.vertices for p in thing.parts if p.material == RUBBER])
    reach = float(tyres[:, 2].max())
    side = float(thing.bounds[0, 1])
    for front in (True, False):
        mine = tyres[(tyres[:, 0] > 0) == front]
        axle = np.array([(mine[:, 0].min() + mine[:, 0].max()) / 2, reach / 2])
        for part in thing.parts:
            middle = part.mesh.vertices[part.mesh.faces].mean(1)
            outside = middle[:, 1] < side + 0.2
            near = np.hypot(*(middle[:, (0, 2)] - axle).T) < reach / 2 * 0.85
            hides = outside & near & (middle[:, 1] < float(mine[:, 1].min()) - 0.003)
            assert not hides.any()


@pytest.mark.parametrize("family", range(5))
def test_a_van_is_lettered_on_both_sides_so_that_each_reads_from_left_to_right(family: int) -> None:
    thing = build(look_of("van", family, 1, "Marrel Torvick", "Fresh flowers"))
    assert faults_of_prints(thing, ["Marrel Torvick", "Fresh flowers"] * 2) == []
    sides = [thing.prints[0], thing.prints[2]]
    assert sides[0].corners[:, 1].max() < 0 < sides[1].corners[:, 1].min()
    for name, way in zip(sides, (1, -1), strict=True):
        along = name.corners[1] - name.corners[0]
        up = name.corners[3] - name.corners[0]
        assert way * along[0] > 0.8
        assert up[2] > 0
        assert name.cap > 0.03 * float(np.ptp(thing.bounds[:, 0]))


def test_a_van_without_a_name_has_no_print() -> None:
    assert build(look_of("van", 3, 1)).prints == ()


def test_a_wheel_s_spokes_end_at_its_rim() -> None:
    for family in range(6):
        wheel = drawn_wheel(Draws("a wheel", family), 0.33, 0.2)
        parts = wheel_parts(wheel, CHROME)
        reach = [float(np.hypot(m.vertices[:, 0], m.vertices[:, 2]).max()) for _, m in parts]
        assert reach[0] == pytest.approx(0.33, abs=1e-6)
        assert 0.9 * 0.33 * wheel.rim < reach[3] < 0.33 * wheel.rim * 1.02


@pytest.mark.proof("render")
def test_a_car_can_be_pictured() -> None:
    from simulator.studio.tracing.tracer import trace

    placed = [Placed(build(look_of("car", 1)), moved(), "car")]
    seen = trace(placed, Light("park"), View((1, -7, 1.6), (0, 0, 0.7)), 96, 96)
    assert np.isfinite(seen.light).all()
    assert 0.03 < float((seen.owner == 0).mean()) < 0.6
