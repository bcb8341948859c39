"""Which squares of a picture are worth a look."""

from __future__ import annotations

import numpy as np
from PIL import Image

from mmrag.search.image.regions import (
    BEST_PLACES,
    CLOSER,
    MAX_REGIONS,
    SMALL,
    SMALL_SHARE,
    Region,
    closer,
    regions_of,
)


def two_things() -> Image.Image:
    """A large loud thing and a small quiet one in the opposite corner."""
    rng = np.random.default_rng(5)
    pixels = np.full((1280, 960, 3), 200, np.uint8)
    blocks = rng.integers(0, 255, (13, 13, 3)).repeat(50, axis=0).repeat(50, axis=1)
    pixels[20:670, 30:680] = blocks
    pixels[1000:1200, 700:900] = (20, 40, 160)
    return Image.fromarray(pixels)


def test_the_whole_picture_first_then_squares_inside_it_the_same_every_time() -> None:
    image = two_things()
    regions = regions_of(image)
    assert regions == regions_of(image)
    assert len(regions) == MAX_REGIONS
    assert regions[0].kind == "whole"
    assert len({r.box for r in regions}) == len(regions)
    for x0, y0, x1, y1 in (r.box for r in regions[1:]):
        assert 0 <= x0 < x1 <= 960
        assert 0 <= y0 < y1 <= 1280
        assert abs((x1 - x0) - (y1 - y0)) < 1e-6


def test_small_squares_leave_room_to_large_ones() -> None:
    for most in (9, MAX_REGIONS):
        sides = [r.box[2] - r.box[0] for r in regions_of(two_things(), most)[1:]]
        assert sum(side < SMALL * 960 + 1 for side in sides) == round(SMALL_SHARE * (most - 1))
        assert len(sides) == most - 1


def test_a_loud_thing_does_not_take_every_square() -> None:
    """Squares over the quiet thing are chosen too, although each is worth less by itself."""
    regions = regions_of(two_things())[1:]

    def holds(box: tuple[float, ...], thing: tuple[float, ...]) -> bool:
        across = min(box[2], thing[2]) - max(box[0], thing[0])
        down = min(box[3], thing[3]) - max(box[1], thing[1])
        return across > 0.8 * (thing[2] - thing[0]) and down > 0.8 * (thing[3] - thing[1])

    quiet = [r for r in regions if holds(r.box, (700, 1000, 900, 1200))]
    loud = [r for r in regions if holds(r.box, (250, 250, 450, 450))]
    assert quiet
    assert len(loud) >= 3


def test_tiny_pictures_have_no_squares() -> None:
    assert [r.kind for r in regions_of(Image.new("RGB", (20, 900)))] == ["whole"]


def test_the_best_squares_are_looked_at_closer() -> None:
    squares = [Region((0.0, 0.0, side, side), "square") for side in (100.0, 200.0, 300.0)]
    regions = [Region((0.0, 0.0, 900.0, 900.0), "whole"), *squares]
    found = closer(regions, np.array([0.99, 0.2, 0.9, 0.2], np.float32))
    assert len(found) == len(squares) * len(CLOSER)  # the whole picture is none of them
    assert [round(r.box[2] - r.box[0], 6) for r in found[:2]] == [200 * part for part in CLOSER]
    for region in found[:2]:
        assert (region.box[0] + region.box[2]) / 2 == 100
        assert region.kind == "square"
    assert found[2].box[2] + found[2].box[0] == 100  # of two that are alike, the first
    many = regions[:1] + [Region((float(i), 0.0, i + 9.0, 9.0), "square") for i in range(20)]
    assert len(closer(many, np.zeros(21, np.float32))) == BEST_PLACES * len(CLOSER)
    assert closer(regions[:1], np.zeros(1, np.float32)) == []
