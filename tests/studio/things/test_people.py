"""People are as tall as people, and each is somebody else."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.solid.scene_types import Array
from simulator.studio.things import people
from simulator.studio.things.people import SEAT, Pose, Stance, hand, person, skin
from simulator.world.pictures.traits import Draws, luma

TALL: dict[Stance, tuple[float, float]] = {
    "standing": (1.5, 2.0), "walking": (1.48, 1.98), "sitting": (1.15, 1.6)
}  # fmt: skip


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


# -- hands

POSES: tuple[Pose, ...] = ("hold", "point", "reach", "cover")


@pytest.mark.parametrize("pose", POSES)
def test_a_hand_is_as_large_as_a_hand_and_its_arm_comes_from_the_wearer(pose: Pose) -> None:
    thing = hand(Draws("someone"), pose)
    flesh, nails = thing.parts[0].mesh.vertices, thing.parts[1].mesh.vertices
    assert np.isfinite(flesh).all()
    low, high = thing.bounds
    assert 0.35 < np.linalg.norm(high - low) < 0.75  # with a forearm and a sleeve
    assert np.ptp(nails, axis=0).max() < 0.16
    far = np.concatenate([p.mesh.vertices for p in thing.parts])
    end = far[np.argsort(np.linalg.norm(far, axis=1))[-200:]].mean(0)
    assert end[2] < -0.02
    if pose != "cover":
        assert end[1] < -0.15
    assert len(thing.parts) <= 4
    assert sum(len(p.mesh.faces) for p in thing.parts) < 45_000


@pytest.mark.parametrize("grip", [0.006, 0.03, 0.08])
def test_thumb_and_fingers_touch_what_they_hold_from_two_sides(grip: float) -> None:
    """A rod of that thickness through the origin, leaning as the hand leans."""
    thing = hand(Draws("wearer", 3), "hold", grip=grip)
    lean = np.radians(20)
    axis = np.array([np.sin(lean), 0, np.cos(lean)])

    def gaps(points: Array) -> Array:
        return points - np.outer(points @ axis, axis)

    nails = gaps(thing.parts[1].mesh.vertices.reshape(5, -1, 3).mean(1).astype(float))
    reach = np.linalg.norm(nails, axis=1)
    thumb, index = 0, 1
    assert nails[thumb, 1] < 0 < nails[index, 1]
    assert grip / 2 + 0.004 < reach[thumb] < grip / 2 + 0.022
    assert grip / 2 + 0.004 < reach[index] < grip / 2 + 0.022
    flesh = gaps(thing.parts[0].mesh.vertices.astype(float))
    assert np.linalg.norm(flesh, axis=1).min() > grip / 2 - 0.010  # flesh gives


def test_a_left_hand_mirrors_a_right_one() -> None:
    right, left = (hand(Draws(1), "reach", left=q) for q in (False, True))
    assert np.allclose(left.parts[0].mesh.vertices[:, 0], -right.parts[0].mesh.vertices[:, 0])
    a, b, c = (left.parts[1].mesh.vertices[left.parts[1].mesh.faces[:, i]] for i in range(3))
    middle = left.parts[1].mesh.vertices[: 25 * 25].mean(0)
    outward = np.cross(b - a, c - a)[:200]
    assert (outward * (a[:200] - middle)).sum() > 0


def test_the_same_person_has_the_same_hand_and_another_another() -> None:
    one, other = hand(Draws("p", 1), "hold"), hand(Draws("p", 2), "hold")
    people._hand.cache_clear()
    same = hand(Draws("p", 1), "hold")
    assert same is not one
    assert one.parts[0].mesh.vertices.tobytes() == same.parts[0].mesh.vertices.tobytes()
    assert one.parts[0].material.sheet is not None
    assert other.parts[0].material.sheet is not None
    assert one.parts[0].material.sheet.mean() != other.parts[0].material.sheet.mean()


def test_skin_tones_span_humankind() -> None:
    tones = sorted(luma(skin(Draws("anyone", i))) for i in range(60))
    assert tones[0] < 70
    assert tones[-1] > 195
    assert max(np.diff(tones)) < 25
