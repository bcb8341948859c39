"""Pictures of the world: every kind, what is recorded about it, and that bytes repeat."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmrag.errors import SpecError
from simulator.world.facts.look import KINDS, LABELLED, Look
from simulator.world.pictures.photograph import PAINTERS
from simulator.world.pictures.renderer import PICTURES_VERSION, Painted, encode_jpeg, render
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.settings import PLACES

DOMAIN = {kind: domain for domain, kinds in KINDS.items() for kind in kinds}
GOLDEN = Path(__file__).parent / "pictures_golden.json"


def look(kind: str, family: int = 7, variant: int = 2, label: str | None = "Corvane Oat") -> Look:
    return Look(domain=DOMAIN[kind], kind=kind, family=family, variant=variant, label=label)


def small(kind: str, *, ego: bool, **more: object) -> Scene:
    size = (240, 320) if ego else (192, 192)
    more = {"main": look(kind), "key": "golden", "legible": True, **more}
    return Scene(is_ego=ego, width=size[0], height=size[1], **more)  # type: ignore[arg-type]


def inside(polygon: tuple[tuple[float, float], ...], shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(np.array(polygon)).astype(np.int32)], 1)
    return mask.astype(bool)


def thumbnail(image: np.ndarray) -> list[list[int]]:
    return cv2.resize(image, (6, 8), interpolation=cv2.INTER_AREA).reshape(-1, 3).tolist()


def test_every_kind_has_a_painter_and_a_place() -> None:
    assert set(PAINTERS) == set(DOMAIN) == set(PLACES)


@pytest.mark.parametrize("kind", sorted(DOMAIN))
@pytest.mark.parametrize("ego", [True, False])
def test_kind_is_painted_where_its_polygon_says(kind: str, ego: bool) -> None:
    shown = render(small(kind, ego=ego, noise=0.0, clutter=0.0))
    h, w = (320, 240) if ego else (192, 192)
    assert shown.image.shape == (h, w, 3)
    assert shown.image.dtype == np.uint8
    points = np.array(shown.polygon)
    assert points.shape[0] >= 3
    assert (points >= 0).all()
    assert (points <= (w, h)).all()
    area = inside(shown.polygon, shown.image.shape).mean()
    assert 0.004 < area < 0.75
    other = render(
        small(kind, ego=ego, noise=0.0, clutter=0.0, main=look(kind, family=8, variant=5))
    )
    change = np.abs(shown.image.astype(int) - other.image.astype(int)).sum(2)
    mask = inside(shown.polygon, shown.image.shape) | inside(other.polygon, shown.image.shape)
    assert change[mask].mean() > 3 * max(change[~mask].mean(), 0.5)


@pytest.mark.parametrize("kind", sorted(DOMAIN))
def test_variants_differ_less_than_families(kind: str) -> None:
    def picture(family: int, variant: int) -> np.ndarray:
        entity = look(kind, family, variant, None)
        shown = render(small(kind, ego=False, main=entity, noise=0.0, turn=0.0))
        return cv2.resize(shown.image, (32, 32), interpolation=cv2.INTER_AREA).astype(float)

    alike = [np.abs(picture(f, 1) - picture(f, 2)).mean() for f in range(4)]
    apart = [np.abs(picture(f, 1) - picture(f + 10, 1)).mean() for f in range(4)]
    assert min(alike) > 0.05, "a careful eye must be able to tell variants apart"
    assert np.mean(alike) < np.mean(apart)


def test_same_scene_same_bytes_in_any_order() -> None:
    scenes = [small(kind, ego=True, clutter=1.0) for kind in ("jar", "car", "fish", "coin")]
    first = [hashlib.sha256(render(scene).image).hexdigest() for scene in scenes]
    again = [hashlib.sha256(render(scene).image).hexdigest() for scene in reversed(scenes)]
    assert first == again[::-1]
    assert len(set(first)) == len(scenes)


def test_same_bytes_in_another_process() -> None:
    code = (
        "import hashlib; from simulator.world.facts.look import Look;"
        "from simulator.world.pictures.scene import Scene; "
        "from simulator.world.pictures.renderer import render; print(hashlib.sha256(render(Scene("
        "main=Look(domain='food', kind='jar', family=7, variant=2, label='Corvane Oat'), "
        "key='golden', legible=True, width=240, height=320)).image).hexdigest())"
    )
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env, cwd=root
    )
    assert ran.stdout.strip() == hashlib.sha256(render(small("jar", ego=True)).image).hexdigest()


def test_golden_pictures() -> None:
    golden = json.loads(GOLDEN.read_text())
    assert golden["version"] == PICTURES_VERSION, "raise PICTURES_VERSION with every pixel change"
    for name, expected in golden["thumbnails"].items():
        kind, where = name.split("/")
        shown = thumbnail(render(small(kind, ego=where == "ego")).image)
        # Other OpenCV versions round and filter a little differently; other pictures differ more.
        assert np.abs(np.array(shown) - expected).mean() < 2.0, name


def test_what_stands_beside_a_thing_held_close_to_be_read_is_as_close() -> None:
    def sides(*, legible: bool) -> list[float]:
        scene = small("jar", ego=True, legible=legible, entity_scale=0.6, others=(look("jar", 8),))
        shown = render(scene)
        return [float(np.ptp(np.array(p), axis=0).max()) for p in (shown.polygon,
                *shown.other_polygons)]  # fmt: skip

    far, near = sides(legible=False), sides(legible=True)
    assert near[0] > 1.3 * far[0], "the label has to be readable"
    assert near[1] > 1.3 * far[1]


@pytest.mark.parametrize("ego", [True, False])
@pytest.mark.parametrize("kind", ["motorcycle", "car", "jar", "poster"])
def test_four_in_a_row_fit_into_the_picture(kind: str, ego: bool) -> None:
    others = tuple(look(kind, family) for family in (8, 9, 10))
    for key in "abc":
        shown = render(small(kind, ego=ego, legible=True, others=others, key=key))
        width = shown.image.shape[1]
        for polygon in (shown.polygon, *shown.other_polygons):
            xs = np.array(polygon)[:, 0]
            assert xs.min() > 0, key
            assert xs.max() < width, key


FROM_NO_WORLD = 1_000_000_000
"""Families from here on belong to no world: props, of which nothing is asked."""
HANGS_ALONE = {"poster"}
COME_IN_NUMBERS = {"fish", "flower", "tree", "butterfly"}


def standing_beside(kind: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kinds of the props in three crowded pictures of a thing, painted in a photographer's shop
    of its own: the shared one keeps props that other tests had painted."""
    spec = importlib.util.find_spec("simulator.world.pictures.photograph")
    assert spec is not None
    assert spec.loader is not None
    shop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shop)
    paint, beside = shop.paint, list[str]()

    def noted(painter: object, look: Look, *given: object) -> object:
        if look.family >= FROM_NO_WORLD:
            beside.append(look.kind)
        return paint(painter, look, *given)

    monkeypatch.setattr(shop, "paint", noted)
    for key in "abc":
        shop.compose(small(kind, ego=True, clutter=1.0, key=key, entity_scale=0.6))
    return beside


@pytest.mark.parametrize("kind", sorted(set(DOMAIN) - COME_IN_NUMBERS))
def test_a_crowded_picture_holds_one_thing_of_the_kind(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks about "this shoe" must not stand before three shoes."""
    beside = standing_beside(kind, monkeypatch)
    assert bool(beside) == (kind not in HANGS_ALONE), "the picture was not crowded"
    assert kind not in beside


@pytest.mark.parametrize("kind", sorted(COME_IN_NUMBERS))
def test_what_comes_in_numbers_has_others_behind_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kind in standing_beside(kind, monkeypatch)


def test_others_of_its_kind_stay_small_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shoal may swim behind the fish that is asked about, but not hide which one it is."""
    compose = importlib.import_module("simulator.world.pictures.photograph")
    sizes: list[float] = []
    mains: list[float] = []
    props, prop, resized = compose._props, compose._prop, compose._resized
    drawn: list[str] = []

    def noted_props(*given: object) -> object:
        mains.append(max(given[4].sprite.size))  # type: ignore[attr-defined]
        sizes.clear()
        return props(*given)

    def noted_prop(kind: str, index: int, outdoor: bool) -> object:
        drawn.append(kind)
        return prop(kind, index, outdoor)

    def noted_resized(*given: object, **more: object) -> object:
        made = resized(*given, **more)
        if drawn and drawn[-1] == main:
            sizes.append(max(made.size))
        return made

    monkeypatch.setattr(compose, "_props", noted_props)
    monkeypatch.setattr(compose, "_prop", noted_prop)
    monkeypatch.setattr(compose, "_resized", noted_resized)
    most = 0
    for main, part in compose._SMALLER_BEHIND.items():
        for key in "abcd":
            render(small(main, ego=True, clutter=1.5, key=key))
            most = max(most, len(sizes))
            assert all(size <= part * mains[-1] + 2 for size in sizes), (main, key)
    assert most >= 4


def test_renderer_protocol_and_jpeg() -> None:
    renderer = Painted()
    assert renderer.id == f"painted-{PICTURES_VERSION}"
    shown = renderer.render(small("mug", ego=False))
    decoded = cv2.imdecode(np.frombuffer(encode_jpeg(shown.image), np.uint8), cv2.IMREAD_COLOR)
    assert np.abs(decoded[..., ::-1].astype(int) - shown.image).mean() < 6


def test_others_stand_beside_the_main_entity() -> None:
    others = (look("jar", 3, 1), look("bottle", 4, 1))
    shown = render(small("jar", ego=True, others=others, clutter=0.0))
    masks = [inside(p, shown.image.shape) for p in (shown.polygon, *shown.other_polygons)]
    assert len(masks) == 3
    for a in range(3):
        for b in range(a):
            assert (masks[a] & masks[b]).sum() < 0.05 * min(masks[a].sum(), masks[b].sum())


def test_only_readable_text_is_reported() -> None:
    for kind in sorted(LABELLED):
        assert not render(small(kind, ego=True, legible=False)).text_boxes, kind
        texts = " ".join(text for text, _ in render(small(kind, ego=True)).text_boxes).lower()
        assert "corvane" in texts, kind
        bare = render(small(kind, ego=True, main=look(kind, label=None))).text_boxes
        assert "corvane" not in " ".join(t for t, _ in bare).lower()


def test_key_moves_the_camera_and_not_the_entity() -> None:
    first, second = (render(small("bottle", ego=True, key=key)) for key in ("a", "b"))
    assert first.polygon != second.polygon


def test_facts_do_not_leak() -> None:
    # The domain is a word of the caller's; pixels must follow from the look itself.
    entity = look("mug")
    renamed = Look(domain="another", kind="mug", family=7, variant=2, label="Corvane Oat")
    assert (
        render(small("mug", ego=False, main=entity)).image
        == render(small("mug", ego=False, main=renamed)).image
    ).all()


def test_impossible_scenes_are_refused() -> None:
    with pytest.raises(SpecError, match="unicorn"):
        render(Scene(main=Look(domain="x", kind="unicorn", family=0, variant=0)))
    with pytest.raises(SpecError, match="9000"):
        render(Scene(main=look("jar"), width=9000))
