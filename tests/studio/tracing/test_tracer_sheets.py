"""A material's sheet lies on a mesh the right way up."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.studio.solid.meshes import sheet
from simulator.studio.solid.scene_types import Light, Material, Part, Placed, Thing, View, moved
from simulator.studio.tracing.tracer import trace


@pytest.mark.proof("render")
def test_the_upper_half_of_a_sheet_is_shown_above_the_lower() -> None:
    print_ = np.zeros((16, 16, 3), np.uint8)
    print_[:8, :, 0], print_[8:, :, 2] = 220, 220
    wall = Thing((Part(sheet(1, 1), Material(sheet=print_, rough=0.9)),))
    seen = trace(
        [Placed(wall, moved(), "wall")], Light("studio"), View((0, -1.5, 0.5), (0, 0, 0.5)), 32, 32
    )
    red, blue = seen.light[12, 16], seen.light[20, 16]
    assert red[0] > 2 * red[2]
    assert blue[2] > 2 * blue[0]
