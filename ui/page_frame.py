"""The frame around every page: header, navigation, look and scripts, in the page before Gradio is.

Gradio's own page is empty until its scripts have run. What stands here is painted with the first
bytes, so that nobody looks at nothing, and it is outside of what Gradio redraws.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ui.render import render

_STATIC = Path(__file__).parent / "static"


class AppPage(NamedTuple):
    """One of the six pages."""

    id: str
    title: str
    icon: str
    """Strokes of its icon, on a 24 × 24 grid."""


PAGES = (
    AppPage("home", "Home", "M4 11.5 12 5l8 6.5V20h-5.5v-5h-5v5H4z"),
    AppPage("replay", "Replay", "M4 5h16v11H4z M10.5 8.2v4.6l4-2.3z M8 20h8"),
    AppPage("compare", "Compare", "M4 5h6.5v14H4z M13.5 5H20v14h-6.5z"),
    AppPage("robustness", "Robustness", "M4 4v16h16 M7 8c4 0 4 8 12 8"),
    AppPage(
        "lab", "Lab", "M5 7h9 M18 7h1 M16 5v4 M5 12h2 M11 12h8 M9 10v4 M5 17h7 M16 17h3 M14 15v4"
    ),
    AppPage("live", "Live", "M4 5h16v11h-9l-4.5 4v-4H4z M8 9.5h8 M8 12.5h5"),
)

STYLES = (
    "tokens", "shell", "gradio", "parts", "home", "replay", "verdicts", "compare", "robustness",
    "pages", "lab", "live",
)  # fmt: skip
SCRIPTS = ("shell", "home", "replay", "verdicts", "compare", "robustness", "lab", "live")


@cache
def page_frame() -> str:
    """What goes into the page before Gradio's element."""
    return render("shell.html.j2", pages=PAGES).replace(
        "<!-- look -->",
        f"<style>{_all(STYLES, 'css')}</style><script>{_all(SCRIPTS, 'js')}</script>",
    )


def _all(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((_STATIC / f"{name}.{suffix}").read_text("utf-8") for name in names)
