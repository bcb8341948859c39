"""Limbs melt together, and what is painted on them is seen where it was painted."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.solid.meshes import box
from simulator.studio.solid.scene_types import Array
from simulator.studio.solid.soft_bodies import Limb, chain, flesh, noise, painted


def test_a_ball_is_as_large_as_it_says() -> None:
    mesh = flesh([Limb((0, 0, 0.1), (0, 0, 0.1), (0.05, 0.05))], 0.004)
    assert np.linalg.norm(mesh.vertices - (0, 0, 0.1), axis=1) == pytest.approx(0.05, abs=2e-4)
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    outward = (np.cross(b - a, c - a) * (a - (0, 0, 0.1))).sum(1)
    assert np.sum(outward < -1e-12) == 0


def test_a_squashed_ball_is_thin_along_its_axis_only() -> None:
    mesh = flesh([Limb((0, 0, 0), (0, 0, 0), (0.06, 0.06), along=(1, 0, 0), squash=2.0)], 0.004)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.06, 0.12, 0.12], abs=1e-3)


def test_limbs_melt_where_they_meet_and_carving_takes_away() -> None:
    rods = [
        Limb((0, 0, -0.1), (0, 0, 0.1), (0.02, 0.02)),
        Limb((-0.1, 0, 0), (0.1, 0, 0), (0.02, 0.02), 0.03),
    ]
    assert len(flesh(rods, 0.004).vertices) > len(flesh(rods[:1], 0.004).vertices)
    gap = flesh(rods, 0.004).vertices
    plain = flesh([rods[0], rods[1]._replace(melt=0.0)], 0.004).vertices
    corner = np.array([0.02, 0, 0.02])
    assert _nearest(gap, corner) > _nearest(plain, corner) + 0.003
    hole = Limb((0, 0, 0.12), (0, 0, 0.12), (0.012, 0.012), carve=True)
    top = flesh([rods[0], hole], 0.004).vertices
    assert top[np.hypot(top[:, 0], top[:, 1]) < 0.004][:, 2].max() == pytest.approx(0.108, abs=1e-3)


def test_a_chain_has_a_limb_between_neighbours_and_spreads_its_radii() -> None:
    limbs = chain([(0, 0, 0), (0, 0, 1), (0, 0, 2)], (3.0, 1.0))
    assert [q.thick for q in limbs] == [(3.0, 2.0), (2.0, 1.0)]


def test_paint_is_seen_where_it_was_painted() -> None:
    """Any point of any triangle shows the colour of its place: no seam, no leak."""

    def paint(at: Array, facing: Array) -> Array:
        return 60 + 600 * np.abs(at)

    mesh, sheet = painted(
        flesh([Limb((0, 0, 0), (0, 0, 0.1), (0.06, 0.03))], 0.006), paint, side=512
    )
    draws = np.random.default_rng(3)
    face = draws.integers(0, len(mesh.faces), 4000)
    share = draws.dirichlet((1, 1, 1), 4000)
    at = np.einsum("nk,nkx->nx", share, mesh.vertices[mesh.faces[face]])
    uv = np.einsum("nk,nkx->nx", share, mesh.uv[mesh.faces[face]])
    shown = _bilinear(sheet, uv)
    assert np.abs(shown - (60 + 600 * np.abs(at))).max() < 4


def test_a_small_sheet_and_an_odd_number_of_triangles_are_well() -> None:
    few = box(0.1, 0.1, 0.1)
    few = few._replace(faces=few.faces[:-1])
    mesh, sheet = painted(few, lambda at, facing: np.abs(facing) * 200, side=16)
    assert len(mesh.faces) == 11
    assert mesh.uv.min() >= 0
    assert mesh.uv.max() <= 1
    assert sheet.shape[2] == 3


def test_noise_is_bounded_smooth_and_the_same_again() -> None:
    at = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    one = noise(at, 0.1, 4)
    assert np.abs(one).max() <= 1
    assert np.array_equal(one, noise(at, 0.1, 4))
    assert not np.array_equal(one, noise(at, 0.1, 5))
    assert np.abs(noise(at + 1e-5, 0.1, 4) - one).max() < 1e-3


def _nearest(points: Array, to: Array) -> float:
    return float(np.linalg.norm(points - to, axis=1).min())


def _bilinear(sheet: Array, uv: Array) -> Array:
    side = sheet.shape[0]
    x, y = uv[:, 0] * side - 0.5, (1 - uv[:, 1]) * side - 0.5
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    out = np.zeros((len(uv), 3))
    for di in (0, 1):
        for dj in (0, 1):
            weight = (1 - np.abs(x - i - di)) * (1 - np.abs(y - j - dj))
            out += (
                weight[:, None] * sheet[np.clip(j + dj, 0, side - 1), np.clip(i + di, 0, side - 1)]
            )
    return out
