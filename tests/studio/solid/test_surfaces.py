"""Sheets tile without a seam and lie on meshes in metres."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from simulator.studio.solid import surfaces
from simulator.studio.solid.meshes import box, joined, lathe, shifted, skin
from simulator.studio.solid.surfaces import Surface, dyed, laid, shades

MAKERS: dict[str, Callable[[int], Surface]] = {
    "wood": lambda s: surfaces.wood((150, 104, 66), s),
    "boards": lambda s: surfaces.wood((150, 104, 66), s, board=(1.1, 0.14)),
    "granite": lambda s: surfaces.granite((120, 116, 110), s),
    "terrazzo": lambda s: surfaces.terrazzo((200, 196, 188), s),
    "concrete": lambda s: surfaces.concrete((150, 148, 142), s),
    "marble": lambda s: surfaces.marble((225, 222, 218), s),
    "cobbles": lambda s: surfaces.cobbles((120, 115, 108), s),
    "gravel": lambda s: surfaces.gravel((160, 150, 135), s),
    "tiles": lambda s: surfaces.tiles((225, 226, 222), s, tile=(0.2, 0.1), bond=0.5),
    "bricks": lambda s: surfaces.bricks((150, 84, 62), s),
    "slabs": lambda s: surfaces.slabs((160, 156, 148), s),
    "plaster": lambda s: surfaces.plaster((220, 214, 200), s),
    "cloth": lambda s: surfaces.cloth((200, 60, 50), s, second=(240, 235, 225), pattern="check"),
    "grass": lambda s: surfaces.grass((86, 120, 52), s),
    "asphalt": lambda s: surfaces.asphalt((84, 84, 86), s),
    "bark": lambda s: surfaces.bark((110, 90, 70), s),
    "metal": lambda s: surfaces.metal((180, 182, 186), s),
    "water": lambda s: surfaces.water((60, 84, 90), s),
}


@pytest.fixture(autouse=True, scope="module")
def _coarse_sheets() -> Iterator[None]:
    """Sheets of 256 pixels are enough to see a seam."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surfaces, "SIDE", 256)
        surfaces.forget()
        yield
    surfaces.forget()


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_sheet_tiles_without_a_seam(name: str) -> None:
    """Across the border, neighbours differ no more than the most different neighbours within."""
    sheet = MAKERS[name](1).material.sheet
    assert sheet is not None
    grey = sheet.astype(float).mean(-1)
    for axis in (0, 1):
        within = np.abs(np.diff(grey, axis=axis)).mean(1 - axis)
        across = np.abs(np.take(grey, 0, axis) - np.take(grey, -1, axis)).mean()
        assert across <= 1.25 * within.max() + 1


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_seed_gives_the_same_sheet_again_and_another_seed_another(name: str) -> None:
    once = np.array(MAKERS[name](0).material.sheet)
    surfaces.forget()
    again, other = (np.array(MAKERS[name](seed).material.sheet) for seed in (0, 1))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


def test_a_brick_is_a_brick_on_any_wall() -> None:
    surface = MAKERS["bricks"](0)
    wall = laid(box(4.5, 0.002, 3.0), surface)
    assert np.ptp(wall.mesh.uv[:, 0]) * surface.width == pytest.approx(4.5, abs=1e-4)
    assert np.ptp(wall.mesh.uv[:, 1]) * surface.height == pytest.approx(3.0, abs=0.002)


def test_wood_grows_along_what_it_is_made_into() -> None:
    surface = MAKERS["wood"](0)
    for sides, along in (((0.05, 0.05, 0.7), 2), ((0.7, 0.05, 0.05), 0), ((0.05, 0.7, 0.04), 1)):
        mesh = joined([box(*sides), shifted(box(0.02, 0.03, 0.01), 3.0)])
        part = laid(mesh, surface)
        piece = np.abs(part.mesh.vertices[:, 0]) < 1
        rows = np.abs(np.ptp(part.mesh.uv[piece], axis=0) * (surface.width, surface.height))
        assert rows[0] == pytest.approx(sides[along], abs=0.026)  # ends reach beyond the middle


def test_round_things_are_covered_in_metres_too() -> None:
    surface = MAKERS["wood"](0)
    post = laid(lathe([(0.1, 0.0), (0.1, 2.0)]), surface)
    assert np.ptp(post.mesh.uv[:, 1]) * surface.height == pytest.approx(2 * np.pi * 0.1, rel=0.01)
    assert np.ptp(post.mesh.uv[:, 0]) * surface.width == pytest.approx(2.0, rel=0.01)


def test_equal_surfaces_share_their_material() -> None:
    one, two = surfaces.marble((225, 222, 218), 0), surfaces.marble((225, 222, 218), 0)
    assert one.material is two.material
    assert surfaces.marble((225, 222, 210), 0).material is not one.material


def test_many_colours_in_one_material() -> None:
    paint = shades((200, 20, 20), (20, 200, 20), (20, 20, 200))
    assert paint.sheet is not None
    for k in range(3):
        mesh = dyed(shifted(box(1, 1, 1), 1), k, 3)
        column = int(mesh.uv[0, 0] * paint.sheet.shape[1])
        assert paint.sheet[0, column].argmax() == k


# -- skins


def test_a_part_of_a_turn_carries_the_whole_sheet_in_front() -> None:
    label = lathe([(0.04, 0.0), (0.04, 0.1)], part=(0.4, 0.6))
    assert label.vertices[:, 1].max() < -0.03
    left, right = label.vertices[label.uv[:, 0] == 0], label.vertices[label.uv[:, 0] == 1]
    assert left[:, 0] == pytest.approx(-0.04 * np.sin(0.2 * np.pi), abs=1e-5)
    assert right[:, 0] == pytest.approx(0.04 * np.sin(0.2 * np.pi), abs=1e-5)


def test_a_skin_faces_the_viewer_who_sees_its_sheet_upright() -> None:
    x, z = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(0, 1, 3), indexing="ij")
    made = skin(np.stack([x, np.zeros_like(x), z], -1))
    a, b, c = (made.vertices[made.faces[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 1] < 0).all()
    assert (made.uv[0].tolist(), made.uv[-1].tolist()) == ([0, 0], [1, 1])
