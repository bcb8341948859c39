"""Structure laid over surfaces: even in the mean, in true scale, gone where it is too fine."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.solid.scene_types import Material
from simulator.studio.tracing.surface_structure import GRAINS, grain_of, structured

SUN = np.array((0.4, -0.5, 0.8, 0.0), np.float32)


def shown(
    name: str, metres: float, *, pixel: float | None = None, shift: float = 0.0
) -> np.ndarray:
    """A level square of even light, 128 pixels across."""
    n = 128
    line = np.linspace(0, metres, n, dtype=np.float32) + np.float32(shift)
    at = np.stack([*np.meshgrid(line, line), np.zeros((n, n), np.float32)], -1)
    normal = np.broadcast_to(np.array((0, 0, 1), np.float32), at.shape)
    wide = np.full((n, n), pixel or metres / n, np.float32)
    grain = np.full((n, n), GRAINS.index(name), np.int8)
    return structured(np.ones((n, n, 3), np.float32), grain, at, normal, wide, SUN)[..., 0]


@pytest.mark.parametrize("name", sorted({*GRAINS} - {"even"}))
def test_every_surface_has_structure_that_takes_no_light_away(name: str) -> None:
    for metres in (0.1, 1.0, 12.0):
        light = shown(name, metres)
        assert light.mean() == pytest.approx(1, abs=0.05 if metres > 1 else 0.6)
        assert light.std() > 0.002 or metres > 1
    assert np.array_equal(shown(name, 1.0), shown(name, 1.0))


@pytest.mark.parametrize("name", sorted({*GRAINS} - {"even"}))
def test_it_does_not_come_again_and_is_no_finer_than_a_pixel(name: str) -> None:
    here, alike = shown(name, 1.0), list[float]()
    for shift in (7.3, 19.1, 31.7, 53.9, 77.7, 91.3):
        there = shown(name, 1.0, shift=shift)
        alike.append(float(np.corrcoef(here.ravel(), there.ravel())[0, 1]))
    assert abs(np.mean(alike)) < 0.6
    assert shown(name, 0.5, pixel=30.0) == pytest.approx(1.0)


def test_what_is_even_stays_so() -> None:
    assert (shown("even", 1.0) == 1).all()


def test_nothing_is_laid_where_it_is_not_known_what_a_pixel_shows() -> None:
    assert shown("fur", 1.0, pixel=np.inf) == pytest.approx(1.0)


def test_what_a_material_is_made_of_is_said_or_told_by_its_gloss() -> None:
    names = [GRAINS[grain_of(m)] for m in (Material(metal=1.0), Material(rough=0.2),
             Material(rough=0.8), Material(rough=0.8, grain="fur"))]  # fmt: skip
    assert names == ["metal", "smooth", "plain", "fur"]


def ridge(up: float, name: str, metres: float = 0.1) -> np.ndarray:
    """Two slopes of 45° that meet in the middle, in an edge (`up` 1) or in a seam (-1)."""
    n = 128
    x, y = np.meshgrid(*(np.linspace(-metres / 2, metres / 2, n, dtype=np.float32),) * 2)
    at = np.stack([x, y, -up * np.abs(x)], -1)
    normal = np.stack([up * np.sign(x), np.zeros_like(x), np.ones_like(x)], -1) / np.sqrt(2)
    wide = np.full((n, n), metres / n, np.float32)
    grain = np.full((n, n), GRAINS.index(name), np.int8)
    light = np.ones((n, n, 3), np.float32)
    return structured(light, grain, at, normal.astype(np.float32), wide, SUN)[..., 0]


def test_edges_are_worn_in_places_and_seams_are_dark() -> None:
    middle, away = slice(62, 66), slice(20, 40)
    assert ridge(-1, "even")[:, middle].mean() < 0.95
    assert ridge(-1, "even")[:, away] == pytest.approx(1)
    assert ridge(1, "even") == pytest.approx(1)
    edge, side = ridge(1, "smooth")[:, middle], ridge(1, "smooth")[:, away]
    assert edge.mean() > side.mean() + 0.02
    assert edge.std() > 1.2 * side.std()
