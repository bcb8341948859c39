"""Quantities in their base units, by hand."""

from __future__ import annotations

import pytest

from mmrag.text.units import UNITS


@pytest.mark.parametrize(
    ("number", "unit", "kind", "base"),
    [
        (2, "cubic m", "volume", 2000), (2, "m cubed", "volume", 2000), (1, "cu m", "volume", 1000),
        (3, "square m", "area", 3), (3, "cm squared", "area", 0.0003), (1, "sq km", "area", 1e6),
        (36, "km per h", "speed", 10), (36, "km h", "speed", 10), (5, "m a s", "speed", 5),
    ],
)  # fmt: skip
def test_what_is_made_of_lengths(number: float, unit: str, kind: str, base: float) -> None:
    of, factor, offset = UNITS[unit]
    assert (of, (number + offset) * factor) == (kind, pytest.approx(base))


def test_a_small_figure_behind_feet_is_a_height() -> None:
    assert "m 2" in UNITS
    assert "ft 2" not in UNITS
