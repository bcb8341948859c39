"""The minute's version of the attack: every area, a few seconds each, no fault."""

from __future__ import annotations

import pytest

from scripts.bench.attack import SHORT, areas, attack

pytestmark = pytest.mark.proof("time")


@pytest.mark.parametrize("area", areas())
def test_nothing_goes_wrong_in_the_first_seconds(area: str) -> None:
    tries, faults = attack(area, seed=1, seconds=SHORT)
    assert tries
    assert faults == []
