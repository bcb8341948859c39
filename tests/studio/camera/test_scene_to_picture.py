"""Pictures of things in places: what is seen, what can be read, and that bytes repeat."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mmrag.errors import SpecError
from simulator.studio.camera import looking_again, scene_to_picture
from simulator.studio.camera.looking_again import AGAIN, retake
from simulator.studio.camera.photo_development import develop
from simulator.studio.camera.product_shot import stage_product
from simulator.studio.camera.scene_to_picture import _name_shown, compose, outline, stage_unhidden
from simulator.studio.camera.staging import READABLE, Staged, can_be_read, stage
from simulator.studio.camera.view_geometry import (
    aim_view,
    corners,
    eye_at,
    frame_view,
    look_at_print,
    project,
    silhouette,
    usual_share,
    visible_shares,
)
from simulator.studio.camera.wearer_hands import pointing_hand
from simulator.studio.solid.meshes import box, sheet
from simulator.studio.solid.scene_types import Material, Part, Placed, Print, Thing, View, moved
from simulator.studio.tracing.tracer import Traced, glance, trace
from simulator.world.facts.look import KINDS as DOMAINS
from simulator.world.facts.look import Look
from simulator.world.pictures.scene import Scene
from simulator.world.pictures.traits import Draws

DOMAIN = {kind: domain for domain, kinds in DOMAINS.items() for kind in kinds}
VIEW = View((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), angle=60.0)


def look(kind: str, family: int = 7, variant: int = 2, label: str | None = "Corvane Oat") -> Look:
    return Look(domain=DOMAIN[kind], kind=kind, family=family, variant=variant, label=label)


def small(kind: str, **more: object) -> Scene:
    more = {"main": look(kind), "key": "golden", "width": 96, "height": 128, **more}
    return Scene(**more)  # type: ignore[arg-type]


def cube(x: float = 0.0, y: float = 0.0, z: float = 0.0, size: float = 0.2) -> Placed:
    thing = Thing((Part(box(size, size, size), Material()),))
    return Placed(thing, moved(x, y, z - size / 2), "cube")


def test_points_are_projected_as_counted_by_hand() -> None:
    # focal length of a picture 200 × 100: 100 / tan 30° = 173.2 px; 2 m away, 0.5 m are 43.3 px
    seen = project(VIEW, 200, 100, np.array([(0, 0, 0), (0.5, 0, 0), (0, 0, 0.5), (0, 2, 0)]))
    expected = [(100, 50, 2), (143.3, 50, 2), (100, 50 - 43.3, 2), (100, 50, 4)]
    assert seen == pytest.approx(np.array(expected), abs=0.1)
    rolled = project(VIEW._replace(roll=90.0), 200, 100, np.array([(0.5, 0, 0)]))
    assert rolled[0] == pytest.approx((100, 50 + 43.3, 2), abs=0.1)  # the picture turns clockwise


def test_prints_are_as_large_as_counted_by_hand() -> None:
    corners = np.array([(-0.5, 0, -0.1), (0.5, 0, -0.1), (0.5, 0, 0.1), (-0.5, 0, 0.1)], np.float32)
    card = Thing((Part(sheet(1, 1), Material()),), (Print("Oat", corners, 0.1),))
    sight = look_at_print(card.prints[0], Placed(card, np.eye(4), "card"), VIEW, 200, 100)
    assert sight.cap == pytest.approx(173.2 * 0.1 / 2, abs=0.1)
    assert sight.facing == pytest.approx(1)
    turned = look_at_print(card.prints[0], Placed(card, moved(turn=60), "card"), VIEW, 200, 100)
    assert turned.facing == pytest.approx(0.5, abs=1e-6)
    behind = look_at_print(card.prints[0], Placed(card, moved(turn=180), "card"), VIEW, 200, 100)
    assert behind.facing == pytest.approx(-1)


def test_the_share_that_is_seen_is_measured() -> None:
    thing = cube()
    whole = silhouette(thing, VIEW, 200, 200)
    # its front is 1.9 m away: 0.2 m × 173.2 / 1.9 = 18.2 px
    assert whole.sum() == pytest.approx(18.2**2, rel=0.1)
    owner = np.where(whole, 0, -1).astype(np.int16)
    owner[:, :100] = -1
    assert visible_shares(owner, (thing,), VIEW)[0] == pytest.approx(0.5, abs=0.06)


def test_an_eye_walks_its_path_until_it_is_near_enough() -> None:
    path = [np.array((0, -10, 0.0)), np.array((0, -2, 0.0)), np.zeros(3)]
    assert eye_at(path, np.zeros(3), 4.0) == pytest.approx((0, -4, 0), abs=1e-6)
    assert eye_at(path, np.zeros(3), 1.0) == pytest.approx((0, -1, 0), abs=1e-6)
    assert eye_at(path, np.zeros(3), 40.0) == pytest.approx((0, -10, 0))


def test_a_gaze_puts_a_thing_where_it_is_to_lie_and_keeps_all_in_the_frame() -> None:
    found = aim_view(VIEW, np.zeros(3), 90, 120, (0.2, 0.7))
    assert project(found, 90, 120, np.zeros((1, 3)))[0, :2] == pytest.approx((18, 84), abs=0.2)
    both = frame_view(VIEW, (cube(), cube(0.5)), 90, 120, (0.9, 0.5))
    assert both is not None
    for thing in (cube(), cube(0.5)):
        rows, columns = np.nonzero(silhouette(thing, both, 90, 120))
        assert len(rows)
        assert columns.max() < 89
    assert frame_view(VIEW, (cube(-2), cube(2)), 90, 120, (0.5, 0.5)) is None, "they do not fit"


def test_a_row_seen_from_its_end_is_framed_as_a_whole() -> None:
    """Three fish on a market's table were said not to fit: the gaze began beside the row."""
    eye = View((0.9, -2.4, 1.7), (0.8, 0.0, 0.85), angle=66.0)
    row = [cube(x, 0.0, 0.9, 0.4) for x in (0.8, 0.0, -0.8)]
    found = frame_view(eye, row, 72, 96, (0.2, 0.5))
    assert found is not None
    for thing in row:
        _, columns = np.nonzero(silhouette(thing, found, 72, 96))
        assert 0 < columns.min() <= columns.max() < 71


def test_large_things_take_more_of_a_picture() -> None:
    shares = [usual_share(size) for size in (0.025, 0.1, 0.25, 1.7, 4.5, 60)]
    assert shares == sorted(shares)
    assert shares[2] == pytest.approx(0.38)
    assert shares[0] > 0.25
    assert shares[-1] <= 0.8


def test_outlines_follow_what_is_seen() -> None:
    mask = np.zeros((100, 100), bool)
    mask[20:60, 30:80] = True
    assert set(outline(mask)) == {(30, 20), (79, 20), (79, 59), (30, 59)}
    y, x = np.mgrid[:100, :100]
    round_one = outline((x - 50) ** 2 + (y - 50) ** 2 < 40**2)
    assert 8 <= len(round_one) <= 64
    assert outline(np.zeros((9, 9), bool)) == ()


def test_a_phone_brightens_what_is_dark_up_to_its_limit() -> None:
    rng = np.random.default_rng(3)
    light = rng.uniform(0.1, 0.6, (64, 64, 3)).astype(np.float32)
    draws = Draws("develop", "x")
    day, evening = (develop(light * s, draws) for s in (1.0, 0.1))
    assert abs(float(day.mean()) - float(evening.mean())) < 8, "exposed alike"
    night = develop(light * 0.002, draws, limit=8.0)
    assert night.mean() < 0.4 * day.mean()

    def grain(level: float) -> float:
        even = np.full((64, 64, 3), level, np.float32)
        noisy, clean = (develop(even, draws, noise=n).astype(float) for n in (1.0, 0.0))
        return float((noisy - clean).std())

    assert grain(0.02) > 2 * grain(0.35), "little light is noisy"
    assert grain(0.35) < 1.0, "and a clean picture is clean"
    tapped = np.zeros((64, 64), bool)
    tapped[20:40, 20:40] = True
    backlit = np.where(tapped[..., None], 0.05, light).astype(np.float32)
    plain, seen = (develop(backlit, draws, subject=s)[tapped].mean() for s in (None, tapped))
    assert seen > 1.15 * plain, "what is tapped at is brought out of the dark"


def test_a_phone_takes_most_of_the_colour_out_of_the_light() -> None:
    blue = np.full((32, 32, 3), (0.2, 0.25, 0.5), np.float32)
    shown = develop(blue, Draws("d"), noise=0, swing=0).reshape(-1, 3).mean(0)
    assert shown[2] > shown[0], "some of it stays"
    assert shown[2] < 1.45 * shown[0], "linear light was 2.5 times as blue as red"


@pytest.mark.proof("render")
@pytest.mark.parametrize("kind", ["jar", "dog", "car", "poster", "coin"])
def test_things_are_seen_where_it_is_said(kind: str) -> None:
    shown = compose(small(kind, entity_scale=0.8))
    assert shown.image.shape == (128, 96, 3)
    assert shown.image.std() > 8
    assert shown.visible[0] > 0.6
    points = np.array(shown.polygon)
    rows, columns = np.nonzero(shown.masks[0])
    assert points[:, 0].min() >= columns.min() - 3
    assert points[:, 0].max() <= columns.max() + 3
    assert points[:, 1].max() <= rows.max() + 3
    assert (shown.depth[shown.masks[0]] > 0.1).all()
    assert not shown.text_boxes


@pytest.mark.proof("render")
def test_the_same_scene_gives_the_same_bytes_and_another_key_another_eye() -> None:
    first, other, again_ = (compose(small("jar", key=key)) for key in ("a", "b", "a"))
    assert (first.image == again_.image).all()
    assert first.polygon == again_.polygon
    assert first.polygon != other.polygon


_TAKEN = """
import hashlib, sys
from simulator.studio.tracing.mitsuba_variant import mitsuba
mitsuba()
import drjit
drjit.set_thread_count(int(sys.argv[1]))
sys.path.insert(0, "tests/studio/camera")
from test_scene_to_picture import compose, small
for key in sys.argv[2:]:
    shown = compose(small("jar", key=key))
    print(key, hashlib.sha256(shown.image.tobytes() + shown.depth.tobytes()).hexdigest())
"""


@pytest.mark.proof("render")
def test_any_worker_with_any_number_of_threads_takes_the_same_picture() -> None:
    root, found = Path(__file__).parents[3], set[str]()
    for threads, keys in (("2", "ab"), ("3", "ba")):
        ran = subprocess.run(
            [sys.executable, "-c", _TAKEN, threads, *keys], capture_output=True, text=True,
            check=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
        )  # fmt: skip
        found |= set(ran.stdout.split("\n")) - {""}
    assert sorted(line[0] for line in found) == ["a", "b"]


@pytest.mark.proof("render")
def test_what_a_table_would_hide_is_not_held_up() -> None:
    """A succulent was held below the desk in all five tries, and nothing of it was seen."""
    plant = look("succulent", 10, 2, "Marrel Torvick")
    scene = small("succulent", main=plant, key="bench/10", legible=True, width=720, height=960,
                  entity_scale=0.44, clutter=0.9)  # fmt: skip
    staged = stage_unhidden(scene)
    owner = glance(staged.placed, staged.light, staged.view, 90, 120).owner
    assert visible_shares(owner, staged.placed[:1], staged.view)[0] > 0.6


def test_what_has_no_room_where_it_is_asked_about_is_met_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At home a board game lies in the living room only: a build ended there."""
    tried: list[str | None] = []

    def full(scene: Scene, attempt: int = 0, place: str | None = None) -> Staged:
        tried.append(place)
        if place == "living room":
            raise SpecError("full")
        return stage(scene, attempt, place)

    monkeypatch.setattr(scene_to_picture, "stage", full)
    scene = small("board_game", place="home", clutter=0.0, key="full")
    assert stage_unhidden(scene).things == 1
    assert set(tried) == {"living room", "shop"}


@pytest.mark.parametrize("level", [0.1, 1.6, 3.0])
def test_a_finger_that_points_ends_at_the_thing_and_is_seen_at_length(level: float) -> None:
    """Along the line of sight, as at what stands at the height of the eyes, it was seen as a
    fist."""
    view = View((0.0, -2.0, 1.6), (0.0, 0.0, level), angle=60.0)
    hand = pointing_hand("golden", view, cube(z=level), (240, 320))
    tip = hand.pose[:3, 3]
    seen = project(view, 240, 320, tip[None])[0, :2]
    assert np.abs(seen - project(view, 240, 320, np.array([[0, 0, level]]))[0, :2]).max() < 40
    sight = (tip - np.asarray(view.eye)) / np.linalg.norm(tip - np.asarray(view.eye))
    between = math.degrees(math.acos(float(hand.pose[:3, 1] @ sight)))
    assert between > 38


@pytest.mark.proof("time")
@pytest.mark.parametrize(("attended", "found"), [(True, {1}), (False, {0, 1, 2})])
def test_others_stand_beside_it_and_it_is_amid_them_where_it_is_attended(
    attended: bool, found: set[int]
) -> None:
    """Where it is not, nothing tells which is asked about."""
    others = tuple(look("jar", family) for family in (8, 9))
    middles: list[float] = []
    for key in "abcdefgh":
        scene = small("jar", others=others, key=key, clutter=0.0, attended=attended)
        staged = stage(scene)
        at = [p.pose[:3, 3] for p in staged.placed[:3]]
        seen = project(staged.view, 96, 128, np.array(at))
        order = sorted(range(3), key=lambda i: float(seen[i, 0]))
        middles.append(order.index(0))
        for i, thing in enumerate(staged.placed[:3]):
            _, columns = np.nonzero(silhouette(thing, staged.view, 96, 128))
            assert 0 < columns.min() <= columns.max() < 95, (key, i)
    assert set(middles) == found


@pytest.mark.proof("time")
@pytest.mark.parametrize("kind", ["jar", "book", "poster", "sign", "carton", "van", "coin"])
def test_what_is_to_be_read_is_large_and_nothing_else_can_be_read(kind: str) -> None:
    for key in "ab":
        near = stage(small(kind, legible=True, key=key, width=720, height=960))
        marks = near.placed[0].thing.prints
        sights = [look_at_print(m, near.placed[0], near.view, 720, 960) for m in marks]
        best = max(s.cap for s in sights if s.facing > 0.3)
        assert best > 0.8 * READABLE, (key, best)
        far = stage(small(kind, key=key, width=720, height=960, others=(look(kind, 9),)))
        assert not any(can_be_read(p, far.view, 720, 960) for p in far.placed[:2]), key


@pytest.mark.proof("time")
@pytest.mark.parametrize("kind", ["jar", "book", "coin"])
@pytest.mark.parametrize("key", ["a", "b"])
def test_what_is_to_be_read_is_in_focus_and_turned_to_the_eye(kind: str, key: str) -> None:
    """Books were seen at 20 degrees, and all lenses focused one metre ahead: coins were a blur."""
    scene = small(kind, legible=True, key=key, width=720, height=960, entity_scale=0.44)
    staged = stage(scene, attempt=3)  # not held
    main, view = staged.placed[0], staged.view
    assert max(look_at_print(p, main, view, 720, 960).facing for p in main.thing.prints) > 0.6
    away = np.linalg.norm(corners(main).mean(0) - view.eye)
    assert view.focus == pytest.approx(away)
    assert view.aperture <= 0.0012 * away / 0.6 + 1e-9, "little else would be sharp"


def test_a_name_behind_a_table_is_not_shown() -> None:
    """A packet was held up inside a table; most of it was seen, but not its name."""
    scene = small("carton", legible=True, key="a", width=180, height=240)
    staged = stage(scene, attempt=3)
    front = np.zeros((240, 180), np.int16)
    assert _name_shown(scene, staged, front) == pytest.approx(1, abs=0.1)
    assert _name_shown(scene, staged, front - 1) == 0


@pytest.mark.parametrize("key", "abcdef")
def test_a_sign_that_is_not_to_be_read_is_not_seen_edge_on(key: str) -> None:
    staged = stage_product(small("sign", is_ego=False, key=key, width=96, height=96))
    sign, view = staged.placed[0], staged.view
    assert not can_be_read(sign, view, 96, 96)
    wide = silhouette(sign, view, 96, 96)
    plate = np.ptp(np.nonzero(wide[:48])[1]) / np.ptp(np.nonzero(wide)[0])
    assert plate > 0.15, "a post and an edge"


def test_under_towers_no_pattern_of_metres_is_laid() -> None:
    for key in "abc":
        scene = small("tower", is_ego=False, key=key, width=96, height=96)
        (floor,) = stage_product(scene).placed[1].thing.parts
        assert np.ptp(floor.mesh.uv, axis=0).max() <= 4.01


def test_a_lawn_stays_green_where_the_light_is_known() -> None:
    lawn = np.full((32, 32, 3), (0.1, 0.3, 0.08), np.float32)
    guessed, known = (
        develop(lawn, Draws("d"), noise=0, swing=0, white=white).reshape(-1, 3).mean(0)
        for white in (None, np.ones(3, np.float32))
    )
    assert known[1] / known[2] > 1.2 * guessed[1] / guessed[2]


@pytest.mark.proof("render")
@pytest.mark.parametrize("kind", ["jar", "poster", "car"])
def test_catalogue_pictures_show_the_thing_large_and_from_another_side(kind: str) -> None:
    ways = set()
    for key in "abcd":
        scene = small(kind, is_ego=False, key=key, width=96, height=96)
        staged = stage_product(scene)
        mask = silhouette(staged.placed[0], staged.view, 96, 96)
        assert 0.45 * 96 < max(np.ptp(np.nonzero(mask)[0]), np.ptp(np.nonzero(mask)[1])) < 96
        pose = staged.placed[0].pose
        ways.add(round(math.degrees(math.atan2(pose[1, 0], pose[0, 0])) / 5))
    assert len(ways) > 2 or kind == "poster"
    shown = compose(small(kind, is_ego=False, width=96, height=96))
    assert shown.visible[0] > 0.9


@pytest.mark.proof("render")
def test_who_looks_again_sees_more() -> None:
    scene = small("jar", key="twin", entity_scale=0.5)
    plain = compose(scene)
    closer = retake(scene, "closer")
    assert closer.masks[0].sum() > 1.8 * plain.masks[0].sum()
    level = stage_unhidden(scene).view
    assert level.roll != 0
    assert AGAIN["level"](stage_unhidden(scene), scene).view.roll == 0


@pytest.mark.proof("render")
def test_a_look_is_taken_once_and_exposed_for_the_thing_where_it_stands_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[Traced] = []
    tapped: list[NDArray[np.bool_]] = []

    def traced(*scene: object, **how: object) -> Traced:
        taken.append(trace(*scene, **how))  # type: ignore[arg-type]
        return taken[-1]

    def developed(*light: object, **how: object) -> NDArray[np.uint8]:
        tapped.append(how["subject"])  # type: ignore[arg-type]
        return develop(*light, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(looking_again, "trace", traced)
    monkeypatch.setattr(looking_again, "develop", developed)
    found = retake(small("jar", key="twin", entity_scale=0.5), "closer")
    assert len(taken) == 1
    assert np.array_equal(tapped[0], found.masks[0])


@pytest.mark.proof("render")
def test_a_look_is_the_same_whatever_was_looked_at_before() -> None:
    """What a scene has on the stage stays for the next look at it."""
    scene, other = small("jar", key="twin"), small("lamp", key="other")
    first = [compose(scene), retake(scene, "closer"), retake(scene, "other side")]
    for key in ("x", "y"):
        compose(small("jar", key=key))  # nothing of the scene is left
    later = [retake(scene, "other side"), compose(other), retake(scene, "closer"), compose(scene)]
    later = [later[3], later[2], later[0]]
    for one, two in zip(first, later, strict=True):
        assert (one.image == two.image).all()
        assert one.polygon == two.polygon


@pytest.mark.proof("render")
@pytest.mark.parametrize("is_ego", [True, False])
@pytest.mark.parametrize(
    ("odd", "cure"),
    [
        ({"main": Look(domain="x", kind="unicorn", family=0, variant=0)}, "no picture of a 'uni"),
        ({"main": look("jar", label="")}, "Latin letters"),
        ({"main": look("jar", label=" \u200b")}, "Latin letters"),
        ({"main": look("jar", label="\u871c\u8702")}, "Latin letters"),
        ({"main": look("book", label="\ud800 Oat")}, "Latin letters"),
        ({"others": (look("jar", label="x" * 900),)}, "at most 200"),
        ({"entity_scale": 0}, "give 0.05 to 20"),
        ({"entity_scale": math.nan}, "give 0.05 to 20"),
        ({"entity_scale": 1e9}, "give 0.05 to 20"),
        ({"clutter": -math.inf}, "give 0 to 1"),
        ({"width": 48.5}, "whole numbers"),
        ({"width": math.nan}, "whole numbers"),
        ({"height": 9000}, "32 to 8192"),
        ({"key": "a\ud800"}, "give plain text"),
        ({"place": "Shop"}, "give shop, home, out"),
    ],
)
def test_odd_scenes_are_refused_in_one_line_with_the_cure(
    is_ego: bool, odd: dict[str, object], cure: str
) -> None:
    with pytest.raises(SpecError, match=cure) as refused:
        compose(small("jar", is_ego=is_ego, **{"main": look("jar"), **odd}))
    assert "\n" not in str(refused.value)
    str(refused.value).encode()
