"""Which squares of a picture are worth a look."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from small_index import COLOURS, ColourEncoder, coloured

from mmrag.encoders.vector_cache import EmbeddingCache
from mmrag.search.image.regions import (
    BEST_PLACES,
    CLOSER,
    MAX_REGIONS,
    SMALL,
    SMALL_SHARE,
    Region,
    closer_regions,
    regions_of,
)
from mmrag.search.image.views import KIND, encode_views, views_of
from mmrag.search.index.build import build_index
from mmrag.search.index.open import open_index, read_manifests
from mmrag.search.index.sources import open_source


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
    assert (len(regions), regions[0].kind) == (MAX_REGIONS, "whole")
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
    found = closer_regions(regions, np.array([0.99, 0.2, 0.9, 0.2], np.float32))
    assert len(found) == len(squares) * len(CLOSER)  # the whole picture is none of them
    assert [round(r.box[2] - r.box[0], 6) for r in found[:2]] == [200 * part for part in CLOSER]
    for region in found[:2]:
        assert ((region.box[0] + region.box[2]) / 2, region.kind) == (100, "square")
    assert found[2].box[2] + found[2].box[0] == 100  # of two that are alike, the first
    many = regions[:1] + [Region((float(i), 0.0, i + 9.0, 9.0), "square") for i in range(20)]
    assert len(closer_regions(many, np.zeros(21, np.float32))) == BEST_PLACES * len(CLOSER)
    assert closer_regions(regions[:1], np.zeros(1, np.float32)) == []


# -- views


def target(size: tuple[int, int]) -> Image.Image:
    """Red in the middle, blue at the edges."""
    image = Image.new("RGB", size, (0, 0, 255))
    wide, high = size
    ImageDraw.Draw(image).rectangle(
        (wide * 0.2, high * 0.2, wide * 0.8, high * 0.8), fill=(255, 0, 0)
    )
    return image


def red(image: Image.Image) -> float:
    return float((np.asarray(image)[..., 0] > 128).mean())


def test_views_go_away_and_come_nearer() -> None:
    shares = [red(view) for view in views_of(target((200, 160)))]
    assert shares == pytest.approx([0.36, 0.36 / 1.35**2, 0.36 / 0.64, 0.36 / 0.65**2], abs=0.03)
    away = np.asarray(views_of(target((200, 160)))[1])
    assert (away[[0, -1]] == (0, 0, 255)).all()


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 2), (7, 5)])
def test_any_size_has_four_views(size: tuple[int, int]) -> None:
    views = views_of(Image.new("RGB", size))
    assert len(views) == 4
    assert all(min(view.size) >= 1 for view in views)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK"])
def test_any_mode_has_four_views(mode: str) -> None:
    assert len(views_of(target((40, 40)).convert(mode))) == 4


def test_a_vector_is_the_mean_of_the_views() -> None:
    pictures = [coloured(colour) for colour in COLOURS.values()]
    pictures[0] = target((96, 96))
    encoder = ColourEncoder()
    found = encode_views(pictures, encoder.encode_crops)
    assert found.shape == (len(pictures), 4)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(pictures)), abs=1e-6)
    mean = encoder.encode_crops(views_of(pictures[0])).mean(axis=0)
    assert found[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert encode_views(pictures[:1], encoder.encode_crops) == pytest.approx(found[:1])


def test_an_index_says_what_its_vectors_are(source_folder: Path, tmp_path: Path) -> None:
    source = open_source(str(source_folder))
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    for name, views in (("four", True), ("one", False)):
        build_index(
            source, tmp_path / name, image_encoder="test-colours", text_encoder="test-words",
            views=views, cache=cache,
        )  # fmt: skip
    images = {name: read_manifests(tmp_path / name)[0] for name in ("four", "one")}
    assert (images["four"].views, images["one"].views) == (KIND, "")
    encoder = ColourEncoder()
    pictures = [coloured(COLOURS[name]) for name in sorted(COLOURS)]
    plain = open_index(tmp_path / "one").images
    assert plain is not None
    assert np.asarray(plain.vectors.matrix) == pytest.approx(encoder.encode_crops(pictures))
