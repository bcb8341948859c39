"""What "this" means, on masks drawn by hand: 200 pixels wide, 300 high; a box is x, y, w, h."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mmrag.errors import DataError
from simulator.world.pictures.pixel_truth import (
    HAND,
    decode_depth,
    decode_owners,
    encode_depth,
    encode_owners,
    owners_of,
)
from simulator.world.pictures.referents import AMBIGUOUS, ViewQuestion, gaze_at, referent_cues

MUG, PLATE = "mug", "plate"
MIDDLE = (70, 110, 60, 80)
LEFT, RIGHT = (5, 120, 40, 60), (155, 120, 40, 60)


def mask(*boxes: tuple[int, int, int, int], hand: tuple[int, int, int, int] | None = None):
    owners: NDArray[np.uint8] = np.zeros((300, 200), np.uint8)
    for number, (x, y, w, h) in enumerate(boxes, 1):
        owners[y : y + h, x : x + w] = number
    if hand is not None:
        x, y, w, h = hand
        owners[y : y + h, x : x + w] = HAND
    return owners


def this(way: str = "attention", *could: str) -> ViewQuestion:
    return ViewQuestion((1,), could or (MUG,), way)


def way(
    owners: NDArray[np.uint8],
    *asked: ViewQuestion,
    kinds: tuple[str, ...] = (MUG, MUG),
    **more: bool,
):
    return referent_cues(owners, kinds, asked, **more)


def test_a_thing_is_alone_where_no_other_could_be_meant() -> None:
    assert way(mask(MIDDLE), this(), kinds=(MUG,)) == ["alone"]
    assert way(mask(LEFT, MIDDLE), this(), kinds=(MUG, PLATE)) == ["alone"]
    assert way(mask(LEFT, MIDDLE), this("attention", MUG, PLATE), kinds=(MUG, PLATE)) == [AMBIGUOUS]


def test_what_nobody_can_make_out_is_not_in_view() -> None:
    """Of 60,000 pixels 30 are the least."""
    assert way(mask(MIDDLE, (10, 10, 29, 1)), this()) == ["alone"]
    assert way(mask((10, 10, 29, 1), MIDDLE), this()) == [AMBIGUOUS]
    assert way(mask((10, 10, 29, 1)), this(), kinds=(MUG,)) == [AMBIGUOUS]


def test_attention_is_the_middle_and_the_size_by_clear_margins() -> None:
    assert way(mask(MIDDLE, RIGHT), this()) == ["attention"]
    assert way(mask(RIGHT, MIDDLE), this()) == [AMBIGUOUS]
    same_size = (140, 110, 60, 80)
    assert way(mask(MIDDLE, same_size), this()) == [AMBIGUOUS]
    beside = ((60, 110, 40, 80), (105, 110, 30, 80))  # larger by a third, off by 20 and 20 of 200
    assert way(mask(*beside), this()) == [AMBIGUOUS]


@pytest.mark.parametrize(("area", "settled"), [(60 * 80 / 1.98, False), (60 * 80 / 2.02, True)])
def test_larger_means_twice_as_large(area: float, settled: bool) -> None:
    rival = (155, 60, 40, round(area / 40))
    assert (way(mask(MIDDLE, rival), this()) == ["attention"]) is settled


@pytest.mark.parametrize(("step", "settled"), [(23, False), (25, True)])
def test_nearer_means_by_twelve_hundredths_of_the_shorter_side(step: int, settled: bool) -> None:
    """Above and below each other: 24 of 200 pixels decide."""
    thing, rival = (50, 150 - 60, 100, 60), (85, 150 + 30 + step - 15, 30, 30)
    assert (way(mask(thing, rival), this()) == ["attention"]) is settled


def test_a_turn_that_leans_means_what_the_turn_before_meant() -> None:
    owners = mask(RIGHT, LEFT)
    nothing, other = ViewQuestion((), (), ""), ViewQuestion((2,), (MUG,), "history")
    assert way(owners, this(), this("history")) == [AMBIGUOUS, AMBIGUOUS]
    assert way(owners, this(), this("history"), gaze=True) == ["gaze", "history"]
    assert way(owners, this(), nothing, this("history"), gaze=True)[2] == "history"
    assert way(owners, other, this("history"), gaze=True)[1] == "gaze"
    assert way(owners, this("history")) == [AMBIGUOUS]


def test_what_an_earlier_answer_has_named_needs_no_picture() -> None:
    """ "Which of these is cheapest", "the Ashby Jug", "how much is that one": the neighbour."""
    all_, that = ViewQuestion((1, 2), (MUG,), "alone"), ViewQuestion((2,), (MUG,), "named")
    owners = mask(MIDDLE, RIGHT)
    assert way(owners, all_, that) == ["words", "history"]
    leaning = ViewQuestion((2,), (MUG,), "history")
    assert way(owners, all_, leaning) == ["words", AMBIGUOUS]


def test_words_that_say_where_things_stand_fit_one_choice_only() -> None:
    both, second = ViewQuestion((1, 2), (MUG,), "words"), ViewQuestion((2,), (MUG,), "words")
    assert way(mask(MIDDLE, RIGHT), both, second) == ["words", "words"]
    assert way(mask(RIGHT, MIDDLE), both, second) == [AMBIGUOUS, AMBIGUOUS]
    third = (20, 20, 30, 40)
    alike = ViewQuestion((1, 2), (MUG,), "alone")  # "these two": neither has to stand out
    assert way(mask(RIGHT, MIDDLE), alike) == ["words"]
    assert way(mask(RIGHT, MIDDLE, third), alike, kinds=(MUG, MUG, MUG)) == [AMBIGUOUS]
    three = mask(MIDDLE, RIGHT, third)
    kinds = (MUG, MUG, MUG)
    assert way(three, both, kinds=kinds) == [AMBIGUOUS]
    assert way(three, ViewQuestion((1, 2, 3), (MUG,), "words"), kinds=kinds) == ["words"]
    assert way(three, second, kinds=kinds) == ["words"]  # 80 off; the third is 128 off
    assert way(mask(MIDDLE, RIGHT, LEFT), second, kinds=kinds) == [AMBIGUOUS]


def test_a_hand_settles_what_it_holds() -> None:
    held = mask(RIGHT, MIDDLE, hand=(165, 180, 30, 120))
    assert way(held, this()) == ["hand"]
    assert way(mask(MIDDLE, RIGHT, hand=(165, 180, 30, 120)), this()) == [AMBIGUOUS]


def test_a_finger_settles_what_it_points_at() -> None:
    """A fist at the lower rim with a finger 6 pixels wide, its tip 20 below the thing."""
    owners = mask((140, 120, 40, 60), (20, 100, 70, 90), hand=(140, 260, 40, 40))
    owners[200:260, 157:163] = HAND
    assert way(owners, this()) == ["hand"]
    elsewhere = mask((20, 100, 70, 90), (140, 120, 40, 60), hand=(140, 260, 40, 40))
    elsewhere[200:260, 157:163] = HAND
    assert way(elsewhere, this()) == [AMBIGUOUS]


def test_a_finger_that_ends_too_far_away_points_at_nothing() -> None:
    owners = mask((140, 20, 40, 60), (20, 100, 70, 90), hand=(140, 260, 40, 40))
    owners[200:260, 157:163] = HAND
    assert way(owners, this()) == [AMBIGUOUS]


def test_gaze_settles_the_rest_where_it_is_handed_over() -> None:
    assert way(mask(RIGHT, MIDDLE), this(), gaze=True) == ["gaze"]
    assert way(mask(RIGHT, MIDDLE), this()) == [AMBIGUOUS]
    assert way(mask((0, 0, 1, 1), MIDDLE), this(), gaze=True) == [AMBIGUOUS]
    both, second = ViewQuestion((1, 2), (MUG,), "words"), ViewQuestion((2,), (MUG,), "words")
    assert way(mask(RIGHT, MIDDLE), both, second, gaze=True) == ["gaze", "gaze"]
    three = {"kinds": (MUG, MUG, MUG), "gaze": True}
    assert way(mask(RIGHT, MIDDLE, LEFT), both, **three) == [AMBIGUOUS]


def test_a_turn_about_nothing_in_view_is_settled_by_none() -> None:
    assert way(mask(MIDDLE, RIGHT), ViewQuestion((), (), "")) == [""]


def test_the_gaze_lies_within_the_thing() -> None:
    """In a ring, no middle of which is it; in shares of the sides."""
    ring = mask((50, 100, 100, 100))
    ring[110:190, 60:150] = 0
    gaze = gaze_at(ring, 1)
    assert gaze is not None
    assert ring[int(gaze[1] * 300), int(gaze[0] * 200)] == 1
    square = gaze_at(mask((49, 149, 3, 3)), 1)
    assert square == (50.5 / 200, round(150.5 / 300, 4))
    assert gaze_at(ring, 2) is None


# -- ground truth


def test_owners_come_back_to_the_pixel() -> None:
    main, other = np.zeros((2, 40, 30), bool)
    main[3:9, 4:20] = True
    other[20:22, 0:5] = True
    found = decode_owners(encode_owners(owners_of((main, other))))
    assert (found == main.astype(int) + 2 * other).all()


def test_depth_comes_back_within_three_in_a_hundred() -> None:
    depth = np.geomspace(0.1, 200, 64 * 48).reshape(64, 48).astype(np.float32)
    depth[:8] = 0
    found = decode_depth(encode_depth(depth))
    expected = depth[2::4, 2::4]
    assert found.shape == (16, 12)
    assert (found[expected == 0] == 0).all()
    seen = expected > 0
    assert np.abs(found[seen] / expected[seen] - 1).max() < 0.016
    assert decode_depth(encode_depth(np.full((4, 4), 900, np.float32)))[0, 0] == pytest.approx(200)


def test_what_is_no_picture_is_named() -> None:
    with pytest.raises(DataError, match="not a picture"):
        decode_depth(b"no png")
