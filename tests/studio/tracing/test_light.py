"""Light as it is known to be: of a lamp on a wall, in a furnace, and by whatever kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simulator.studio.solid.meshes import ball, box, joined, posed, sheet, shifted
from simulator.studio.solid.scene_types import (
    Lamp,
    Light,
    Material,
    Mesh,
    Part,
    Placed,
    Thing,
    View,
    moved,
)
from simulator.studio.tracing.loaded_scene import SKIES, sky_light
from simulator.studio.tracing.merged_meshes import WHITEST, linear
from simulator.studio.tracing.mitsuba_variant import mitsuba
from simulator.studio.tracing.tracer import trace

pytestmark = pytest.mark.proof("render")

DARK = Light("studio", strength=0.0)
WHITE, GREY = (255.0, 255.0, 255.0), (200.0, 200.0, 200.0)
SHINE = 5.0


def placed(mesh: Mesh, material: Material) -> Placed:
    return Placed(Thing((Part(mesh, material),)), np.eye(4), "thing")


@pytest.mark.parametrize("name", sorted(path.stem for path in SKIES.glob("*.exr")))
def test_no_sky_takes_light_away_and_none_has_lost_any(name: str) -> None:
    mi = mitsuba()
    file = mi.Bitmap(str(SKIES / f"{name}.exr"))
    kept = np.array(file.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False))
    light = sky_light(name)
    assert light.min() >= 0
    rows = np.sin((np.arange(len(light)) + 0.5) * np.pi / len(light))[:, None, None]
    assert (light * rows).sum((0, 1)) == pytest.approx((kept * rows).sum((0, 1)), rel=1e-3)


def given_back(material: Material) -> float:
    """The share of light that comes from a ball in a room that is as bright all around."""
    room = box(8, 8, 8)
    room = shifted(room._replace(faces=room.faces[:, ::-1]), z=-4)
    even = placed(ball(0.5, around=40), material._replace(grain="even"))
    things = (placed(room, Material(WHITE, glow=1)), even)
    eye = View((0, -2, 0), (0, 0, 0), angle=40, aperture=1e-5)
    seen = trace(things, DARK, eye, 40, 40, paths=256)
    return float(seen.light[seen.owner == 1].mean())


def test_a_furnace_gets_back_from_a_mirror_what_it_sends() -> None:
    """All but what the whitest colour keeps."""
    mirror = Material(WHITE, rough=0.1, metal=1)
    assert given_back(mirror) == pytest.approx(float(linear(np.array(WHITEST))), rel=0.015)


@pytest.mark.parametrize("coat", [0.0, 1.0])
@pytest.mark.parametrize("rough", [0.1, 1.0])
def test_nothing_gives_back_more_light_than_it_gets(rough: float, coat: float) -> None:
    assert 0.9 < given_back(Material(WHITE, rough=rough, coat=coat)) < 1.005


def before_the_wall(mesh: Mesh) -> Mesh:
    """A metre before it, and turned to it."""
    return posed(mesh, moved(0, -1, 0, turn=180))


CARD = before_the_wall(shifted(sheet(0.2, 0.2), 0, 0, -0.1))
TILES = before_the_wall(joined([shifted(sheet(0.02, 0.02), 0.02 * i - 0.09, 0, 0.02 * k - 0.1)
                                for i in range(10) for k in range(10)]))  # fmt: skip
BALL = before_the_wall(ball(0.1, around=32))


def falling(mesh: Mesh) -> float:
    """The light that falls on the wall's middle, summed over the pieces of what shines."""
    corners = mesh.vertices[mesh.faces].astype(float)
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    at = corners.mean(1)
    far = np.linalg.norm(at, axis=1)
    seen = np.maximum(-(outward * at).sum(1) / far, 0)
    return float((SHINE * seen * -at[:, 1] / far / far**2).sum())


@pytest.mark.parametrize("shape", ["lamp", "card", "tiles", "ball"])
def test_a_known_power_on_a_known_wall_is_as_counted_by_hand(shape: str) -> None:
    """At the wall's middle, which light meets upright, seen at 45°."""
    wall = placed(shifted(sheet(3, 3), 0, 0, -1.5), Material(GREY, rough=1.0, grain="even"))
    meshes = {"lamp": [], "card": [CARD], "tiles": [TILES], "ball": [BALL]}[shape]
    lamps = (Lamp((0, -1, 0), (0, 0, 0), 0.2, 0.2, WHITE, SHINE),) if shape == "lamp" else ()
    things = (wall, *(placed(mesh, Material(WHITE, glow=SHINE)) for mesh in meshes))
    eye = View((1.2, -1.2, 0), (0, 0, 0), angle=3, aperture=1e-5)
    light = trace(things, DARK._replace(lamps=lamps), eye, 24, 24, paths=256).light
    # Disney's surface, wholly rough: its colour, and a gloss of 1.17 % at these angles
    share = float(linear(np.array(GREY[0]))) + 0.0117
    expected = falling(BALL if shape == "ball" else TILES) * share / np.pi
    assert light.mean() == pytest.approx(expected, rel=0.02)


SCENE = """
import json, sys
sys.path.insert(0, "tests/studio/tracing")
from test_light import in_colours
from simulator.studio.tracing.mitsuba_variant import mitsuba
print(json.dumps([mitsuba().variant(), in_colours()]))
"""


def in_colours() -> list[float]:
    """The light on 36 places of a picture of blocks, a sheet and a thing that glows."""
    colours = [(200.0, 40.0, 40.0), (40.0, 200.0, 40.0), (40.0, 40.0, 200.0)]
    block = box(0.4, 0.25, 0.6)
    things = [placed(shifted(block, 0.5 * i - 0.5), Material(c)) for i, c in enumerate(colours)]
    card = np.full((1200, 40, 3), 30, np.uint8)
    card[600:] = (240, 220, 30)
    things.append(placed(shifted(sheet(0.7, 0.6), -0.4, 0.1, 0.65), Material(sheet=card)))
    things.append(placed(shifted(ball(0.2, around=20), 0.4, -0.2, 0.9), Material(WHITE, glow=3)))
    light = Light("studio", 0.5, lamps=(Lamp((0, -2, 3), (0, 0, 0), 1, 1, WHITE, 5),))
    eye = View((0, -2.5, 0.6), (0, 0, 0.6), angle=34, aperture=1e-5)
    seen = trace(tuple(things), light, eye, 48, 48, paths=128)
    return seen.light.reshape(6, 8, 6, 8, 3).mean((1, 3)).ravel().tolist()


def test_every_sort_of_kernel_gives_the_same_light() -> None:
    """Those for this processor, those for an older one, and none. No sample is below nothing."""
    root = Path(__file__).parents[3]
    found: dict[str, list[float]] = {}
    for kernels in ("", "avx2", "none"):
        env = {**os.environ, "PYTHONPATH": str(root), "MMRAG_KERNELS": kernels}
        ran = subprocess.run([sys.executable, "-c", SCENE], capture_output=True, text=True,
                             check=True, cwd=root, env=env)  # fmt: skip
        assert "Invalid sample" not in ran.stdout + ran.stderr
        variant, found[kernels] = json.loads(ran.stdout.splitlines()[-1])
        assert variant.startswith("scalar") == (kernels == "none")
    here = np.array(found[""])
    for kernels in ("avx2", "none"):  # other paths are followed: alike within their noise
        assert np.abs(found[kernels] - here).sum() < 0.06 * here.sum()
        assert sum(found[kernels]) == pytest.approx(here.sum(), rel=0.02)
