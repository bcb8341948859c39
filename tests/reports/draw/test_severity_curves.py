"""The curves of a report and of the app's Robustness page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from simulator.reports.draw.charts import severity_curves
from simulator.reports.draw.svg import svg

CLEAN = {"estimate": 0.5, "low": 0.4, "high": 0.6, "n": 9}


def point(kind: str, change: float, p: float = 1.0) -> dict[str, Any]:
    estimate = 0.5 + change
    found = {"estimate": estimate, "low": estimate - 0.1, "high": estimate + 0.1, "n": 9}
    return {"kind": kind, "severity": 3, "condition": f"{kind}@3", "truthfulness": found,
            "change": {"estimate": change, "p_holm": p}}  # fmt: skip


def drawn(*points: dict[str, Any], chosen: bool = False) -> list[str]:
    found = severity_curves({"clean": CLEAN, "points": points}, "points")
    return [svg(chart, chosen=chosen) for chart in found]


def test_curves_side_by_side_have_one_scale() -> None:
    axes = [re.findall(r">([+−]\d+)</text>", one)
            for one in drawn(point("blurred", -0.9), point("rotated", -0.05))]  # fmt: skip
    assert axes[0] == axes[1]
    assert axes[0] != re.findall(r">([+−]\d+)</text>", *drawn(point("rotated", -0.05)))


@pytest.mark.parametrize(
    ("change", "p", "classes"),
    [
        (-0.2, 0.01, "f-bad"),
        (0.2, 0.01, "f-good"),
        (-0.2, 0.5, "f-surface s-bad"),  # hollow: this could be chance
        (0.0, 1.0, "f-surface s-series-1"),
    ],
)
def test_points_have_the_colours_of_the_map(change: float, p: float, classes: str) -> None:
    (curve,) = drawn(point("blurred", change, p))
    assert re.findall('<circle[^>]*class="([^"]*)"', curve) == [classes]


def test_points_are_buttons_where_somebody_answers() -> None:
    (asked,) = drawn(point("blurred", -0.2, 0.01), chosen=True)
    assert 'data-condition="blurred@3"' in asked
    assert 'role="button"' in asked
    assert 'role="group"' in asked
    (still,) = drawn(point("blurred", -0.2, 0.01))
    assert "button" not in still
