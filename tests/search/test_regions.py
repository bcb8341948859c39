"""Which squares of a picture are worth a look."""

from __future__ import annotations

import numpy as np
from PIL import Image

from mmrag.search.regions import MAX_REGIONS, regions_of


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
