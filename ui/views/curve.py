"""One robustness curve as SVG whose points are buttons. The report's own charts do not click."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 420, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 12, 10, 28


def severity_curve(
    kind: str,
    points: Sequence[dict[str, Any]],
    clean: dict[str, Any],
    beside: Sequence[dict[str, Any]] = (),
) -> Markup:
    """Truthfulness against severity for one kind, with its band; severity 0 is clean.

    `beside` are the points of all curves of a page: their axes are alike, or an eye is misled.
    """
    known = [p for p in points if p["severity"] and p["truthfulness"]["estimate"] is not None]
    if not known or clean["estimate"] is None:
        return Markup('<p class="mm-empty">{}: no scored turn.</p>').format(kind)
    series = [(0, clean, None)]
    series += [
        (p["severity"], p["truthfulness"], p)
        for p in sorted(known, key=lambda point: point["severity"])
    ]
    shown = [clean, *(point["truthfulness"] for point in (*known, *beside))]
    ends = [f[end] for f in shown for end in ("low", "high", "estimate")]
    low, high, step = _span([value for value in ends if value is not None])
    last = max(severity for severity, _, _ in series)

    def x(severity: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * severity / last

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    parts = [
        f'<svg class="mm-chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" '
        f'aria-label="Truthfulness under {escape(kind)} by severity">',
        *_axes(x, y, low, high, step, last),
    ]
    banded = [(s, f) for s, f, _ in series if f["low"] is not None]
    if len(banded) > 1:
        upper = " ".join(f"{x(s):.1f},{y(f['high']):.1f}" for s, f in banded)
        lower = " ".join(f"{x(s):.1f},{y(f['low']):.1f}" for s, f in reversed(banded))
        parts.append(f'<polygon points="{upper} {lower}" fill="var(--mm-accent)" opacity="0.15"/>')
    line = " ".join(f"{x(s):.1f},{y(f['estimate']):.1f}" for s, f, _ in series)
    parts.append(
        f'<polyline points="{line}" fill="none" stroke="var(--mm-accent)" stroke-width="2"/>'
    )
    for severity, found, point in series:
        condition = point["condition"] if point else "clean"
        sure = point is not None and point["change"]["p_holm"] <= 0.05
        tone = _tone(point["change"]["estimate"] if point else 0.0)
        words = f"{condition}: {signed(found['estimate'])}, {found['n']} turns"
        parts.append(
            f'<circle class="mm-point" tabindex="0" role="button" '
            f'data-condition="{escape(condition)}" aria-label="{escape(words)}" '
            f'cx="{x(severity):.1f}" cy="{y(found["estimate"]):.1f}" r="5" '
            f'fill="{tone if sure else "var(--mm-ground)"}" '
            f'stroke="{tone}" stroke-width="2"><title>{escape(words)}</title></circle>'
        )
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704  every text in it is escaped above


def signed(share: float, places: int = 1) -> str:
    """A share as points of a hundred, with its sign.

    >>> signed(-0.1234), signed(0.5, 0)
    ('−12.3', '+50')
    """
    words = f"{100 * share:+.{places}f}"
    return words.lstrip("+-") if not float(words) else words.replace("-", "−")


def _tone(change: float | None) -> str:
    """The colour of a point: bad and good as in the map, the line's own where nothing changed."""
    if change is None or not round(change, 3):
        return "var(--mm-accent)"
    return "var(--mm-bad)" if change < 0 else "var(--mm-good)"


def _span(values: Sequence[float]) -> tuple[float, float, float]:
    """Ends of the axis on round numbers, and the step between its labels."""
    spread = max(max(values) - min(values), 0.1)
    step = next(s for s in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if spread / s <= 4.5)
    return math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step, step


def _axes(x: Any, y: Any, low: float, high: float, step: float, last: int) -> list[str]:
    parts: list[str] = []
    for value in (low + step * number for number in range(round((high - low) / step) + 1)):
        parts.append(
            f'<line class="mm-axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">'
            f"{signed(value, 0)}</text>"
        )
    for severity in range(last + 1):
        parts.append(
            f'<text x="{x(severity):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{severity}</text>'
        )
    return parts
