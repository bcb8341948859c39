"""Views: what a picture's vector is the mean of, and that an index says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from small_index import COLOURS, ColourEncoder, coloured

from mmrag.encoders.vector_cache import EmbeddingCache
from mmrag.search.image.views import KIND, encode_views, views_of
from mmrag.search.index.build import build_index
from mmrag.search.index.open import open_index, read_manifests
from mmrag.search.index.sources import open_source


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
