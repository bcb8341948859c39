"""Skins over grids of points, and parts of a turn."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.solid.meshes import lathe, skin


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
    assert made.uv[0].tolist() == [0, 0]
    assert made.uv[-1].tolist() == [1, 1]
