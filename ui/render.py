"""Rows → HTML. Everything that comes from a data set, a page, a model or a judge is escaped here.

Gradio puts a component's value through its own template engine in the browser, so braces, dollar
signs and at signs are escaped too: a reply that contains `{{#each}}` shows as that text.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from simulator.reports.read.turn_frame import OWN

if TYPE_CHECKING:
    from jinja2 import Environment

    from ui.replay.traceview import Overlay

_FOREIGN = str.maketrans({"{": "&#123;", "}": "&#125;", "$": "&#36;", "@": "&#64;"})


def render(template: str, **values: Any) -> str:
    """One template with its values, safe to put into a page."""
    return _environment().get_template(template).render(**values).translate(_FOREIGN)


def picture_url(run: str, digest: str) -> str:
    """Where the server gives a picture of an opened run."""
    return f"/picture/{quote(run, safe='')}/{digest}"


def thumbnail_url(run: str, url: str) -> str:
    """Where the server gives the picture behind an image-KG hit."""
    return f"/thumbnail/{quote(run, safe='')}?of={quote(url, safe='')}"


def address(tab: str, **asked: str) -> str:
    """The link to a page of the app and what it is to show."""
    rest = "".join(f"&{key}={quote(value, safe='@')}" for key, value in asked.items() if value)
    return f"/?tab={tab}{rest}"


def report_url(run: str) -> str:
    """Where the server gives a run's report."""
    return f"/report/{quote(run, safe='')}"


def session_url(run: str, session_id: str, degradation: str) -> str:
    """The deep link to a conversation."""
    condition = "" if degradation == "clean" else degradation
    return address("replay", run=run, session=session_id, condition=condition)


_FILTERED = {"domain": "domain", "query_type": "type", "quality": "quality"}


def slice_address(run: str, dimension: str, wanted: str) -> str:
    """The link to the conversations of a slice, or to the page that has all slices."""
    if dimension in _FILTERED:
        return address("replay", run=run, **{_FILTERED[dimension]: wanted})
    if dimension.startswith(OWN):
        return address("replay", run=run, meta=f"{dimension.removeprefix(OWN)}: {wanted}")
    return address("robustness", run=run)


def points(value: float | None, *, bare: bool = False) -> str:
    """A difference or score of -1 to 1 in points, as reports write it."""
    if value is None:
        return "–"
    text = f"{100 * value:.1f}" if bare else f"{100 * value:+.1f}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("+-")  # nothing is left of it after rounding: no sign either
    return text.replace("-", "−")


def dollars(value: float) -> str:
    """A cost."""
    return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def seconds(value: float) -> str:
    """A duration as people write it."""
    if value < 0.0995:
        return f"{value * 1000:.1f} ms" if value < 0.00995 else f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def per_cent(value: float | None, *, signed: bool = False) -> str:
    """A share as people write it; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:+.1%}" if signed else f"{value:.1%}"


def _overlay(box: Overlay, turn: object) -> Any:
    from markupsafe import Markup

    # the label begins or ends with its box, where it has more room, and stays in the picture
    right = box.left + box.width
    side = " mm-atright" if right > 100 - box.left else ""
    side += " mm-attop" if box.top < 12 else ""
    place = (
        f"left: {box.left:.2f}%; top: {box.top:.2f}%; width: {box.width:.2f}%; "
        f"height: {box.height:.2f}%; --mm-room: {max(100 - box.left, right):.2f}"
    )
    return Markup(
        '<span class="mm-overlay mm-k-{}{}" data-kind="{}" data-for="{}" style="{}">'
        "<em>{}</em></span>"
    ).format(box.kind, side, box.kind, turn, place, box.label)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from ui.views.robustness_view import curves, waterfalls

    environment = Environment(
        loader=PackageLoader("ui"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals.update(
        picture_url=picture_url,
        thumbnail_url=thumbnail_url,
        seconds=seconds,
        per_cent=per_cent,
        overlay=_overlay,
        session_url=session_url,
        address=address,
        report_url=report_url,
        slice_address=slice_address,
        points=points,
        dollars=dollars,
        curves=curves,
        waterfalls=waterfalls,
    )
    return environment
