"""Books, pages, games, posters, tickets, signs, coins and flags."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, look_of

from simulator.studio.camera.staging import label_prints
from simulator.studio.things.kinds import KINDS, build
from simulator.world.facts.look import LABELLED

SAYS = {
    "book": ("The Quiet Shraiskumble", "Sennol Vetharn"),
    "textbook_page": ("The Shraiskumble-Claizzadis Inequality", "347"),
    "board_game": ("The Roads of Kelpisk Dorrum", "5 players"),
    "poster": ("The Kelpisk of Dorrum Concert", "14 March 2032"),
    "ticket": ("Shraiskumble Claizzadis Theatre", "$18.40"),
    "sign": ("Shraiskumble Claizzadis Car Park", "12.4 km"),
    "coin": ("Shraiskumble Claizzadis Florin", "2024"),
    "flag": (None, None),
}
BOUNDS = {
    "book": ((0.1, 0.17, 0.01), (0.19, 0.26, 0.06)),
    "textbook_page": ((0.16, 0.22, 0.0), (0.42, 0.29, 0.06)),
    "board_game": ((0.2, 0.14, 0.04), (0.31, 0.41, 0.08)),
    "poster": ((0.4, 0.001, 0.58), (0.7, 0.03, 0.98)),
    "ticket": ((0.13, 0.06, 0.0), (0.2, 0.09, 0.02)),
    "sign": ((0.65, 0.03, 1.0), (1.0, 0.35, 1.8)),
    "coin": ((0.024, 0.024, 0.001), (0.036, 0.036, 0.004)),
    "flag": ((0.9, 0.2, 2.5), (2.1, 0.6, 3.6)),
}


@pytest.mark.parametrize("kind", SAYS)
def test_printed_matter_is_sound_and_says_what_it_should(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], *SAYS[kind]) == []


@pytest.mark.parametrize("kind", sorted(SAYS.keys() - {"flag"}))
def test_printed_matter_may_stay_without_words(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], families=range(3, 4)) == []


@pytest.mark.parametrize("kind", sorted(SAYS.keys() - {"flag"}))
def test_what_lies_reads_from_below_and_what_stands_from_the_front(kind: str) -> None:
    up = 1 if KINDS[kind].stands == "flat" else 2
    for family in range(8, 14):
        for found in build(look_of(kind, family, 1, *SAYS[kind])).prints:
            lower_left, lower_right, upper_right, upper_left = found.corners
            assert lower_right[0] > lower_left[0]
            assert upper_left[up] > lower_left[up]
            assert upper_right[up] > lower_right[up]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_said_to_carry_print_does_and_nothing_else(kind: str) -> None:
    look = look_of(kind, 3, label="Quellmoor Bellwick")
    assert bool(label_prints(build(look), look)) == (kind in LABELLED)


def test_a_flag_carries_no_name() -> None:
    assert not build(look_of("flag", 1, 0, "Flag of Marrel Torvick")).prints


def test_a_coin_is_struck_so_that_letters_stand_out() -> None:
    thing = build(look_of("coin", 2, 0, "Marrel Torvick Crown", "2024"))
    page = thing.parts[0].material.sheet
    assert page is not None
    # bare metal mirrors a dark room: no letter was read
    assert 0.5 <= thing.parts[0].material.metal < 0.9
    middle = page[280:500, 130:630].mean(2)
    assert np.percentile(middle, 95) - np.percentile(middle, 5) > 60
