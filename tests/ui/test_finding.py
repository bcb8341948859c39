"""A thing that was tapped on: found where it stands out, nothing where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ui.views.box_from_tap import box_at


def scene(*, things: list[tuple[int, int, int, int]]) -> Image.Image:
    noise = np.random.default_rng(0).integers(0, 12, (320, 240, 3))
    image = Image.fromarray((noise + np.array([190, 180, 160])).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for number, box in enumerate(things):
        draw.ellipse(box, fill=((200, 40, 40), (30, 60, 190))[number % 2])
    return image


@pytest.mark.parametrize("thing", [(60, 80, 180, 240), (100, 140, 140, 200), (10, 20, 70, 90)])
def test_the_thing_is_boxed(thing: tuple[int, int, int, int]) -> None:
    found = box_at(scene(things=[thing]), (thing[0] + thing[2]) / 2, (thing[1] + thing[3]) / 2)
    assert found == pytest.approx(thing, abs=8)


def test_of_two_the_one_that_was_meant() -> None:
    left, right = (20, 120, 90, 200), (140, 120, 210, 200)
    image = scene(things=[left, right])
    assert box_at(image, 55, 160) == pytest.approx(left, abs=8)
    assert box_at(image, 175, 160) == pytest.approx(right, abs=8)


def test_at_the_rim_and_in_a_picture_of_a_few_pixels() -> None:
    image = scene(things=[(60, 80, 180, 240)])
    for x, y in ((0, 0), (239.9, 319.9)):
        found = box_at(image, x, y)
        assert found is None or (found[0] >= 0 and found[3] <= 320)
    assert box_at(Image.new("RGB", (6, 6)), 3, 3) is None
    assert box_at(Image.new("L", (300, 4)), 3, 3) is None
