"""The geometric check: local features, how they are kept, and what they do to a search."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from small_index import build

from mmrag.errors import ConflictError, StoreError
from mmrag.files.images import LazyImage
from mmrag.search.image.corners import KEPT, WIDTH, corners_of, kept, unpacked
from mmrag.search.image.correspondence import check
from mmrag.search.image.image_kg import Hit, verified
from mmrag.search.image.regions import Region
from mmrag.search.index.build import build_index
from mmrag.search.index.identity import Manifest, write_manifest
from mmrag.search.index.open import open_index, read_manifests, rebuild_derived, verify_index
from mmrag.search.index.sources import open_source

THINGS = 5


def thing(number: int, side: int = 256) -> Image.Image:
    """Shapes in a round of grey middle: the test encoder sees the same grey in all of them."""
    rng = np.random.default_rng(number)
    image = Image.new("RGB", (side, side), (128, 128, 128))
    draw = ImageDraw.Draw(image)
    for _ in range(40):
        x, y = rng.integers(8, side - 40, 2)
        w, h = rng.integers(10, 40, 2)
        colour = tuple(int(c) for c in rng.integers(0, 255, 3))
        draw.rectangle((x, y, x + w, y + h), fill=colour)
    draw.rectangle((side * 0.2, side * 0.2, side * 0.8, side * 0.8), fill=(128, 128, 128))
    return image


def view(number: int, turn: float = 12.0, scale: float = 0.8) -> Image.Image:
    """A thing moved, turned and made smaller in a larger picture."""
    small = (
        thing(number)
        .resize((round(256 * scale),) * 2)
        .rotate(turn, expand=True, fillcolor=(128, 128, 128))
    )
    scene = Image.new("RGB", (640, 480), (128, 128, 128))
    scene.paste(small, (300, 140))
    return scene


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("things")
    for number in range(THINGS):
        thing(number).save(folder / f"thing {number}.png")
    return folder


@pytest.fixture(scope="module")
def folder(things: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(things, tmp_path_factory.mktemp("things-index") / "ix")


def test_a_thing_is_known_again_when_moved_turned_and_scaled() -> None:
    stored = np.stack([kept(thing(number)) for number in range(THINGS)])
    for number in range(THINGS):
        found = check(corners_of(view(number)), stored)
        others = np.delete(found.inliers, number)
        assert found.weights.argmax() == number
        assert found.inliers[number] >= 8 > others.max()


def test_where_corners_lie_counts_and_not_only_what_they_are() -> None:
    """The same patches in other places are another thing."""
    whole = thing(1)
    shuffled = Image.new("RGB", whole.size, (128, 128, 128))
    quarters = [(0, 0), (128, 0), (0, 128), (128, 128)]
    for (x, y), place in zip(quarters, [(128, 128), (0, 128), (128, 0), (0, 0)], strict=True):
        shuffled.paste(whole.crop((x, y, x + 128, y + 128)), place)
    same, moved = check(corners_of(whole), np.stack([kept(whole), kept(shuffled)])).inliers
    assert moved < 0.6 * same


def test_colours_tell_things_of_one_shape_apart() -> None:
    dyed = Image.merge("RGB", [thing(2).getchannel(c) for c in "GBR"])
    weights = check(corners_of(view(2)), np.stack([kept(thing(2)), kept(dyed)])).weights
    assert weights[0] > 1.5 * weights[1]


def test_kept_corners_are_the_picture_s_own() -> None:
    row = kept(thing(3))
    assert row.shape == (KEPT, WIDTH)
    assert (row == kept(thing(3))).all()
    stored, fresh = unpacked(row), corners_of(thing(3), side=384, count=KEPT)
    n = len(fresh.levels)
    assert 20 < n < KEPT
    assert not row[n:].any()
    assert (stored.levels[n:] == -1).all()
    np.testing.assert_allclose(stored.places[:n], fresh.places, atol=1 / 128)
    assert (stored.levels[:n] == fresh.levels).all()
    turned = np.abs(stored.angles[:n] - fresh.angles)
    assert np.minimum(turned, 1 - turned).max() <= 1 / 512 + 1e-6
    assert (stored.bits[:n] == fresh.bits).all()
    assert (stored.colours[:n] == fresh.colours).all()


@pytest.mark.parametrize("size", [(1, 1), (3, 2000), (2000, 1), (31, 31), (64, 64)])
def test_a_picture_without_corners_agrees_with_nothing(size: tuple[int, int]) -> None:
    plain = Image.new("RGB", size, (90, 90, 90))
    assert not kept(plain).any()
    for seen, stored in ((plain, thing(0)), (thing(0), plain), (plain, plain)):
        found = check(corners_of(seen), kept(stored)[None])
        assert found.inliers.tolist() == [0]
        assert found.weights.tolist() == [0.0]


def test_the_search_finds_by_corners_what_the_encoder_cannot_tell_apart(folder: Path) -> None:
    images = open_index(folder).images
    pictures = [LazyImage.from_pil(view(number)) for number in range(THINGS)]
    checked = images.search_images(pictures, 3)
    assert [hits[0].text for hits in checked] == [f"thing {n}" for n in range(THINGS)]
    assert all(hits[0].attributes["inliers"] >= 8 for hits in checked)
    plain = images.search_regions(pictures, 3)
    assert [hits[0].text for hits in plain] != [f"thing {n}" for n in range(THINGS)]
    assert "inliers" not in plain[0][0].attributes
    assert open_index(folder, geometry=False).images.search_images(pictures, 3) == plain
    # the best of few is the best of many
    assert [h[0].id for h in images.search_images(pictures, 1)] == [h[0].id for h in checked]


def test_an_older_index_is_searched_without(folder: Path, things: Path, tmp_path: Path) -> None:
    old = shutil.copytree(folder, tmp_path / "ix")
    (old / "images/features.npy").unlink()
    about = json.loads((old / "images/manifest.json").read_text())
    del about["files"]["features.npy"], about["features"]
    (old / "images/manifest.json").write_text(json.dumps(about))
    plan = json.loads((old / "images/build.json").read_text())
    del plan["features"]
    (old / "images/build.json").write_text(json.dumps(plan))
    pictures = [LazyImage.from_pil(view(0))]
    images = open_index(old).images
    assert images.search_images(pictures, 3) == images.search_regions(pictures, 3)
    assert verify_index(old) == []
    build(things, old)  # finished, so it is left as it is
    assert read_manifests(old)[0].features == ""
    (old / "images/manifest.json").unlink()
    with pytest.raises(ConflictError, match="features"):
        build(things, old)


def test_features_of_another_kind_are_not_used(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "ix")
    manifest = read_manifests(other)[0]
    fields = {name: getattr(manifest, name) for name in manifest.__struct_fields__}
    write_manifest(other / "images", Manifest(**{**fields, "features": "other/9"}))
    assert open_index(other).images.features is None


def test_broken_features_are_seen_and_put_aside(folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(folder, tmp_path / "ix")
    path = broken / "images/features.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(StoreError, match=r"features\.npy"):
        open_index(broken)
    assert len(verify_index(broken)) == 1
    assert rebuild_derived(broken) == ["images"]
    assert verify_index(broken) == []
    assert not path.exists()
    assert open_index(broken).images.features is None
    (broken / "images/vectors.npy").unlink()  # what Chroma has is made again as before
    assert rebuild_derived(broken) == ["images"]


def test_other_files_are_repaired_beside_whole_features(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "ix")
    (copy / "images/vectors.npy").unlink()
    assert rebuild_derived(copy) == ["images"]
    assert verify_index(copy) == []
    before, after = (read_manifests(place)[0] for place in (folder, copy))
    assert after.files["features.npy"] == before.files["features.npy"]
    assert open_index(copy).images.features is not None


def test_the_order_of_the_unchecked_is_kept() -> None:
    where = Region((0.0, 0.0, 1.0, 1.0), "whole")
    stored = np.stack([kept(thing(number % THINGS)) for number in range(120)])
    hits = [Hit(row, 1.0 - row / 1000, where, 1) for row in range(120)]
    found = verified(view(4), hits, stored)
    assert [hit.inliers for hit in found].count(None) == 20
    assert found[0].row == 4
    assert [hit.row for hit in found if hit.inliers is None] == list(range(100, 120))


def test_a_world_of_pages_only_has_no_features(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/a.html").write_text("<html><body><p>A kettle boils water.</p></body></html>")
    made = build_index(open_source(str(tmp_path / "s")), tmp_path / "ix", text_encoder="test-words")
    assert [manifest.features for manifest in made] == [""]
