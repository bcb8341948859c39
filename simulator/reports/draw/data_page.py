"""One page of somebody's own data: escaped, offline, pictures as thumbnails."""

from __future__ import annotations

import itertools
from typing import Any

from simulator.datasets.own.own_data import Examined, OwnData
from simulator.reports.draw.page import TEMPLATES
from simulator.reports.figures.failures import thumbnail


def draw_data(source: OwnData, limit: int) -> tuple[str, int]:
    """The page as HTML, and how many sessions are on it. URLs are not fetched."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    lines = [_view(line) for line in itertools.islice(source.examined_with_pictures(), limit)]
    page = environment.get_template("data.html.j2").render(
        name=source.path.name, lines=lines, total=len(source)
    )
    return page, len(lines)


def _view(line: Examined) -> dict[str, Any]:
    session = line.session
    capture = None if line.is_lost else session.capture
    url = capture.image.name if capture is not None and "://" in capture.image.name else ""
    return {
        "place": line.place,
        "id": session.id,
        "lost": line.is_lost,
        "url": url,
        "picture": thumbnail(capture.image) if capture is not None and not url else None,
        "turns": () if line.is_lost else session.turns,
        "passages": session.passages,
        "faults": line.faults,
    }
