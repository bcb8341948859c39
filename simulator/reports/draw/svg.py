"""A small drawing surface: SVG that follows the page's theme.

A chart is a list of marks in pixels with colours by role (`ink`, `grid`, `series-1`, `good`). In
SVG a role is a CSS class, so that one drawing serves light, dark and print; marks that show a
number of the report carry its path, so that a test can compare every one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

Point = tuple[float, float]

PALETTE = {
    "ink": ("#1c2430", "#e8ebf0"),
    "muted": ("#5c6675", "#a3adbb"),
    "grid": ("#dfe3ea", "#323b49"),
    "surface": ("#ffffff", "#171c24"),
    "series-1": ("#2563c9", "#7fb0ff"),
    "series-2": ("#c2570c", "#ffa45c"),
    "series-3": ("#0d7d57", "#4fd0a0"),
    "series-4": ("#8343b8", "#cf9bff"),
    "series-5": ("#b8305f", "#ff8fb3"),
    "series-6": ("#0b7285", "#62cfe0"),
    "good": ("#1f8a5b", "#4cc38a"),
    "soft": ("#c9a227", "#dcb94a"),
    "bad": ("#c0392b", "#f0776a"),
    "stage-1": ("#8e2f5c", "#e58bb5"),
    "stage-2": ("#c0392b", "#f0776a"),
    "stage-3": ("#c9a227", "#dcb94a"),
    "stage-4": ("#d98324", "#f0a860"),
    "stage-5": ("#7a5230", "#c79b73"),
    "stage-6": ("#9aa3b0", "#6b7686"),
}
"""Role → colour on light and on dark ground."""


@dataclass(frozen=True)
class Mark:
    """One thing that is drawn. `path` and `value` tie it to a figure of the report."""

    shape: str
    points: tuple[Point, ...]
    role: str
    text: str = ""
    width: float = 1.5
    radius: float = 0.0
    dashed: bool = False
    anchor: str = "start"
    bold: bool = False
    path: str = ""
    value: float | None = None
    condition: str = ""
    """What a page that can be asked shows when the mark is chosen."""


@dataclass
class Chart:
    """A drawing with a name (for files), a title and a description for those who cannot see it."""

    name: str
    title: str
    description: str
    width: float = 360
    height: float = 220
    marks: list[Mark] = field(default_factory=list[Mark])

    def line(self, points: Sequence[Point], role: str, **more: Any) -> None:
        """An open line."""
        self.marks.append(Mark("line", tuple(points), role, **more))

    def area(self, points: Sequence[Point], role: str) -> None:
        """A filled outline."""
        self.marks.append(Mark("area", tuple(points), role))

    def box(self, x: float, y: float, width: float, height: float, role: str, **more: Any) -> None:
        """A filled rectangle."""
        corners = ((x, y), (x + max(width, 0.0), y + max(height, 0.0)))
        self.marks.append(Mark("box", corners, role, **more))

    def dot(self, x: float, y: float, role: str, *, radius: float = 3.5, **more: Any) -> None:
        """A filled circle."""
        self.marks.append(Mark("dot", ((x, y),), role, radius=radius, **more))

    def ring(self, x: float, y: float, role: str, *, radius: float = 3.5, **more: Any) -> None:
        """An open circle."""
        self.marks.append(Mark("ring", ((x, y),), role, radius=radius, **more))

    def text(self, x: float, y: float, text: str, role: str = "muted", **more: Any) -> None:
        """A label; `anchor` is start, middle or end."""
        values: dict[str, Any] = {"radius": 11, **more}
        self.marks.append(Mark("text", ((x, y),), role, text=text, **values))


def svg(chart: Chart, *, standalone: bool = False, chosen: bool = False) -> str:
    """The chart as an SVG element; standalone, it brings its own colours for light and dark.
    `chosen`: marks with a condition are buttons, as in the app; a report asks nobody."""
    size = f'viewBox="0 0 {chart.width:g} {chart.height:g}"'
    role = "group" if chosen else "img"
    attributes = f'class="chart" {size} role="{role}" aria-label="{escape(chart.description)}"'
    if standalone:
        attributes += (
            f' xmlns="http://www.w3.org/2000/svg" width="{chart.width:g}" height="{chart.height:g}"'
        )
    parts = [f"<svg {attributes}>", f"<title>{escape(chart.title)}</title>"]
    if standalone:
        parts.append(f"<style>{_standalone_style()}</style>")
        parts.append('<rect width="100%" height="100%" class="f-surface"/>')
    parts += [_svg_mark(mark, chosen) for mark in chart.marks]
    return "".join([*parts, "</svg>"])


def colour_rules() -> str:
    """CSS classes for every role, drawing on custom properties."""
    return "".join(
        f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in PALETTE
    )


def colour_properties(*, dark: bool) -> str:
    """CSS custom properties for every role."""
    return "".join(f"--{role}:{pair[dark]};" for role, pair in PALETTE.items())


def _svg_mark(mark: Mark, chosen: bool) -> str:
    data, button = "", ""
    if chosen and mark.condition:
        data = (
            f' tabindex="0" role="button" data-condition="{escape(mark.condition)}"'
            f' aria-label="{escape(mark.text)}"'
        )
        button = "point "
    if mark.path and mark.value is not None:
        data += f' data-path="{escape(mark.path)}" data-value="{mark.value!r}"'
    spots = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
    (x, y), tip = mark.points[0], f"<title>{escape(mark.text)}</title>" if mark.text else ""
    if mark.shape == "line":
        dash = ' stroke-dasharray="4 4"' if mark.dashed else ""
        return (
            f'<polyline points="{spots}" fill="none" class="s-{mark.role}" '
            f'stroke-width="{mark.width:g}" stroke-linejoin="round"{dash}{data}>{tip}</polyline>'
        )
    if mark.shape == "area":
        return f'<polygon points="{spots}" class="f-{mark.role}" opacity="0.16"/>'
    if mark.shape == "box":
        right, bottom = mark.points[1]
        return (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}" '
            f'rx="{mark.radius:g}" class="f-{mark.role}"{data}>{tip}</rect>'
        )
    if mark.shape == "dot":
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:g}" '
            f'class="{button}f-{mark.role}"{data}>{tip}</circle>'
        )
    if mark.shape == "ring":
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:g}" '
            f'class="{button}f-surface s-{mark.role}" stroke-width="{mark.width:g}"{data}>'
            f"{tip}</circle>"
        )
    weight = ' font-weight="600"' if mark.bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="f-{mark.role}" font-size="{mark.radius:g}" '
        f'text-anchor="{mark.anchor}"{weight}{data}>{escape(mark.text)}</text>'
    )


def _standalone_style() -> str:
    return (
        f"svg{{{colour_properties(dark=False)}font-family:system-ui,sans-serif}}"
        f"@media(prefers-color-scheme:dark){{svg{{{colour_properties(dark=True)}}}}}"
        + colour_rules()
    )
