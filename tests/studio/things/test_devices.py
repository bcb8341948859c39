"""Headphones, speakers, lamps and watches."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, look_of

from simulator.studio.things.kinds import build

BOUNDS = {
    "headphones": ((0.16, 0.06, 0.16), (0.27, 0.18, 0.24)),
    "speaker": ((0.08, 0.08, 0.1), (0.24, 0.27, 0.38)),
    "lamp": ((0.2, 0.14, 0.25), (0.56, 0.36, 0.58)),
    "watch": ((0.034, 0.17, 0.008), (0.055, 0.23, 0.016)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_devices_are_sound_and_told_apart(kind: str) -> None:
    assert faults_of_kind(kind, BOUNDS[kind], families=range(6)) == []


def test_a_lamp_may_be_lit() -> None:
    lit = {
        any(p.material.glow > 0 for p in build(look_of("lamp", 3, variant)).parts)
        for variant in range(8)
    }
    assert lit == {True, False}


def test_no_name_stands_on_a_device() -> None:
    for kind in BOUNDS:
        named = build(look_of(kind, 2, 0, "Marrel Torvick"))
        plain = build(look_of(kind, 2, 0))
        assert named.prints == ()
        for a, b in zip(named.parts, plain.parts, strict=True):
            assert np.array_equal(a.mesh.vertices, b.mesh.vertices)
