"""The waterfall of a diagnosis: from 100 points down to the score, one chart for each condition."""

from __future__ import annotations

from typing import Any

from simulator.reports.draw.charts import RIGHT, TOP, Scale
from simulator.reports.draw.svg import Chart

_ROW, _LEFT, _BELOW = 24.0, 128.0, 20.0


def diagnosis_waterfalls(diagnosis: dict[str, Any], path: str) -> list[Chart]:
    """A chart for every condition whose figures are known, all on one scale."""
    known = [
        (place, fall)
        for place, fall in enumerate(diagnosis["falls"])
        if all(one["estimate"] is not None for one in (*fall["losses"], fall["score"]))
    ]
    levels = [level for _, fall in known for level in _levels(fall)]
    low = min(0.0, *levels) if levels else 0.0
    return [_fall(fall, f"{path}.falls.{place}", low) for place, fall in known]


def _levels(fall: dict[str, Any]) -> list[float]:
    """What is left after each loss."""
    left, found = 1.0, list[float]()
    for loss in fall["losses"]:
        left -= loss["estimate"]
        found.append(left)
    return found


def _fall(fall: dict[str, Any], path: str, low: float) -> Chart:
    losses, score = fall["losses"], fall["score"]["estimate"]
    words = ", ".join(f"{one['loss']} {100 * one['estimate']:.1f}" for one in losses)
    chart = Chart(
        f"fall-{fall['condition'].replace('@', '-')}", fall["condition"],
        f"Points lost under {fall['condition']}, from 100 to {100 * score:+.1f}: {words}",
        height=TOP + _ROW * (len(losses) + 1) + _BELOW,
    )  # fmt: skip
    x = Scale(low, 1.0, _LEFT, chart.width - RIGHT - 44)
    chart.text(_LEFT, 15, fall["condition"], "ink", bold=True, radius=12)
    for tick in x.ticks(0.25):
        chart.line([(x(tick), TOP - 4), (x(tick), chart.height - _BELOW)], "grid", width=1)
        chart.text(x(tick), chart.height - 6, f"{100 * tick:.0f}", anchor="middle")
    before = 1.0
    for row, (loss, after) in enumerate(zip(losses, _levels(fall), strict=True)):
        _bar(chart, x, row, loss, (before, after), f"{path}.losses.{row}")
        before = after
    last = {**fall["score"], "loss": "truthfulness"}
    _bar(chart, x, len(losses), last, (0.0, score), f"{path}.score", role="series-1")
    return chart


def _bar(
    chart: Chart, x: Scale, row: int, one: dict[str, Any], ends: tuple[float, float], path: str,
    *, role: str = "",
) -> None:  # fmt: skip
    y, value = TOP + row * _ROW, one["estimate"]
    left, right = sorted((x(ends[0]), x(ends[1])))
    span = ""
    if one["low"] is not None:
        span = f", 95 % {100 * one['low']:.1f} to {100 * one['high']:.1f}"
    name = one["loss"] if len(one["loss"]) < 20 else one["loss"].replace(" and ", " + ")
    chart.text(_LEFT - 8, y + 13, name, "ink", anchor="end")
    chart.box(
        left, y + 3, max(right - left, 1.5), _ROW - 8, role or ("bad" if value > 0 else "good"),
        radius=2, text=f"{one['loss']}: {100 * value:.1f} points{span}",
        path=f"{path}.estimate", value=value,
    )  # fmt: skip
    sure = "" if role or one.get("p_holm") is None or one["p_holm"] > 0.05 else "*"
    chart.text(right + 4, y + 13, f"{100 * value:.1f}{sure}".replace("-", "−"), radius=10)
