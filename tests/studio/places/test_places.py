"""Every place makes room for what is asked for, however it stands, and hides none of it."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest

from mmrag.errors import SpecError
from simulator.studio.places.exterior import passers_by
from simulator.studio.places.place_kinds import PLACES
from simulator.studio.places.place_stage import Setting, Stage, Subject
from simulator.world.pictures.traits import Draws

NAMES = {
    "kitchen", "shop", "desk", "street", "market", "garden", "museum", "gym", "workshop",
    "living room", "square", "park", "waterfront", "classroom",
}  # fmt: skip

JAR = (0.08, 0.08, 0.12)
NEEDS = {
    "surface": (JAR, (0.3, 0.05, 0.22), (0.06, 0.06, 0.25), JAR, (0.2, 0.2, 0.3)),
    "flat": ((0.024, 0.024, 0.002), (0.2, 0.3, 0.01)),
    "ground": ((0.3, 0.8, 0.6), (0.22, 0.22, 0.22)), "wall": ((0.6, 0.02, 0.9), (0.5, 0.03, 0.3)),
    "air": ((0.12, 0.2, 0.15),)
}  # fmt: skip
"""Coin to dog."""

LARGE = {
    "car": (1.8, 4.5, 1.5), "shopfront": (7.0, 1.0, 5.0), "tower": (20.0, 20.0, 70.0),
    "bridge": (80.0, 9.0, 18.0)
}  # fmt: skip


def made(
    place: str, stands: str, seed: int = 0, *, sizes=None, clutter: float = 0.7
) -> tuple[Setting, Subject]:
    need = Subject(sizes or NEEDS[stands], stands, clutter)
    return PLACES[place](Draws("test", place, seed), need), need


def boxes(setting: Setting, need: Subject, turn: float = 20.0) -> list[np.ndarray]:
    """The upright boxes that the things fill, turned by up to `turn` degrees."""
    s, c = np.sin(np.radians(turn)), np.cos(np.radians(turn))
    out = []
    for spot, (w, d, h) in zip(setting.spots, need.sizes, strict=True):
        if need.stands == "wall":
            low, high = (-w / 2, -d, 0), (w / 2, 0, h)
        else:
            a, b = (w * c + d * s) / 2, (d * c + w * s) / 2
            low, high = (-a, -b, 0), (a, b, h)
        out.append(np.array([low, high]) + spot.at)
    return out


def triangles(setting: Setting) -> np.ndarray:
    return np.concatenate(
        [
            (part.mesh.vertices @ item.pose[:3, :3].T + item.pose[:3, 3])[part.mesh.faces]
            for item in setting.placed
            for part in item.thing.parts
        ]
    )


def hits(corners: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """At which shares of the way from start to end triangles are met (Möller and Trumbore)."""
    way = end - start
    low, high = np.minimum(start, end) - 1e-6, np.maximum(start, end) + 1e-6
    near = (corners.min(1) <= high).all(1) & (corners.max(1) >= low).all(1)
    corners = corners[near]
    a, e1, e2 = corners[:, 0] - start, corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(way, e2)
    det = (e1 * p).sum(1)
    safe = np.where(np.abs(det) < 1e-14, 1.0, det)
    u = (-a * p).sum(1) / safe
    q = np.cross(-a, e1)
    v = (way * q).sum(1) / safe
    t = (e2 * q).sum(1) / safe
    met = (np.abs(det) >= 1e-14) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (t < 1)
    return t[met]


def digest(setting: Setting) -> str:
    sha = hashlib.sha256(repr((setting.spots, setting.near, setting.far, setting.light)).encode())
    for item in setting.placed:
        sha.update(item.name.encode() + item.pose.tobytes())
        for part in item.thing.parts:
            sha.update(
                part.mesh.vertices.tobytes() + part.mesh.faces.tobytes() + part.mesh.uv.tobytes()
            )
            sheet = part.material.sheet
            sha.update(
                repr(part.material._replace(sheet=None)).encode()
                + (b"" if sheet is None else sheet.tobytes())
            )
    return sha.hexdigest()


def check(setting: Setting, need: Subject) -> None:
    """What every setting promises."""
    assert len(setting.spots) == len(need.sizes)
    filled = boxes(setting, need)
    for a, b in itertools.combinations(filled, 2):
        assert not (np.all(a[0] < b[1]) and np.all(b[0] < a[1])), "spots overlap"
    corners = triangles(setting)
    assert np.isfinite(corners).all()
    assert len(corners) <= 300_000
    assert sum(len(item.thing.parts) for item in setting.placed) <= 150
    assert {item.name for item in setting.placed} <= {"room", "clutter"}
    for part in (p for item in setting.placed for p in item.thing.parts):
        assert part.mesh.faces.max() < len(part.mesh.vertices)
        assert len(part.mesh.uv) == len(part.mesh.vertices)
    every = np.concatenate([*filled, [setting.near, setting.far]])
    low, high = every.min(0) - 0.1, every.max(0) + 0.1
    corners = corners[(corners.min(1) <= high).all(1) & (corners.max(1) >= low).all(1)]
    for spot, box in zip(setting.spots, filled, strict=True):
        _supported(corners, np.array(spot.at), need)
        middle = box.mean(0)
        for share in (0.0, 0.5, 1.0):
            eye = np.array(setting.near) * (1 - share) + np.array(setting.far) * share
            for lift in (0.0, 0.4 * np.ptp(box[:, 2])):
                target = middle + np.array((0, 0, lift))
                assert not len(hits(corners, eye, target)), f"hidden from {eye} at {target}"
    assert not len(hits(corners, np.array(setting.near), np.array(setting.far)))
    assert setting.far[2] <= 1.8
    if need.stands in ("surface", "flat"):
        assert all(0.4 <= spot.at[2] <= 1.15 for spot in setting.spots)
    assert np.linalg.norm(np.subtract(setting.far, setting.spots[0].at)) > 0.5 * max(need.sizes[0])


def _supported(corners: np.ndarray, at: np.ndarray, need: Subject) -> None:
    """There is something within 2 cm under the spot, or behind it on a wall."""
    towards = np.array((0, 0.02, 0)) if need.stands == "wall" else np.array((0, 0, -0.025))
    start = at - towards * 0.2
    start[2] += 0.3 * need.sizes[0][2] if need.stands == "wall" else 0.0
    assert len(hits(corners, start, start + towards * 1.3)), f"nothing holds what is at {at}"


def test_the_places_that_kinds_name_are_all_there() -> None:
    assert set(PLACES) == NAMES


@pytest.mark.proof("time")
@pytest.mark.parametrize("place", sorted(NAMES))
@pytest.mark.parametrize("stands", sorted(NEEDS))
def test_a_place_makes_room(place: str, stands: str) -> None:
    check(*made(place, stands))


@pytest.mark.proof("time")
@pytest.mark.parametrize("place", ["street", "square", "park", "waterfront", "market"])
@pytest.mark.parametrize("what", sorted(LARGE))
def test_large_things_stand_in_the_open(place: str, what: str) -> None:
    setting, need = made(place, "ground", sizes=(LARGE[what],))
    check(setting, need)
    away = np.linalg.norm(np.subtract(setting.near, setting.spots[0].at))
    assert 1.0 <= away / max(LARGE[what]) <= 2.2


def test_equal_draws_give_equal_bytes_and_others_another_room() -> None:
    for place in ("shop", "garden"):
        once, again = made(place, "surface", 3)[0], made(place, "surface", 3)[0]
        assert digest(once) == digest(again)
        assert digest(once) != digest(made(place, "surface", 4)[0])


@pytest.mark.proof("time")
def test_crowded_pictures_have_more_clutter() -> None:
    for place in ("kitchen", "desk"):
        few, many = (
            sum(
                len(part.mesh.faces)
                for seed in range(2)
                for item in made(place, "surface", seed, clutter=c)[0].placed
                if item.name == "clutter"
                for part in item.thing.parts
            )
            for c in (0.0, 1.0)
        )
        assert many > 1.3 * few


def test_the_main_thing_is_not_always_in_the_middle() -> None:
    need = Subject(NEEDS["surface"], "surface", 0.5)
    groups = [Stage(Draws("test", seed), need).group().places for seed in range(60)]
    assert {sorted(places).index(places[0]) for places in groups} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("place", "stands", "size"),
    [
        ("kitchen", "ground", (4.5, 1.8, 1.5)), ("desk", "surface", (2.0, 0.5, 0.5)),
        ("park", "surface", (3.0, 1.0, 1.0)),
    ]
)  # fmt: skip
def test_what_has_no_room_is_refused_in_one_line(place: str, stands: str, size: tuple) -> None:
    with pytest.raises(SpecError, match=rf"^{place}: no room for .* m \({stands}\): ") as refused:
        made(place, stands, sizes=(size,))
    assert "\n" not in str(refused.value)


def test_somebody_may_pass_by_where_there_is_room() -> None:
    """Nobody, one or a few, on their feet, no taller than people are, and within the bounds."""
    counts = []
    for seed in range(20):
        stage = Stage(Draws("passing", seed), Subject((JAR,), "ground", 0.5))
        passers_by(stage, Draws("walkers", seed), (-4, 4), (6, 9))
        found = stage.done().placed
        assert {item.name for item in found} <= {"clutter"}
        if not found:
            counts.append(0)
            continue
        at = np.concatenate([part.mesh.vertices for part in found[0].thing.parts])
        heads = at[at[:, 2] > 1.4]
        assert at[:, 2].min() > -0.05
        assert at[:, 2].max() < 2.0
        assert np.all(np.abs(at[:, 0]) < 5)
        assert np.all((at[:, 1] > 5) & (at[:, 1] < 10))
        counts.append(1 + int(np.sum(np.diff(np.sort(heads[:, 0])) > 0.3)))
    assert 4 < counts.count(0) < 14
    assert max(counts) > 1


def test_nobody_passes_where_something_stands() -> None:
    stage = Stage(Draws("passing", 1), Subject((JAR,), "ground", 0.5))
    stage.block((-9, 0, 0), (9, 20, 3))
    for seed in range(10):
        passers_by(stage, Draws("walkers", seed), (-4, 4), (6, 9))
    assert not stage.done().placed
