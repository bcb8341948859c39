"""axe-core finds no serious fault on any page, at both widths and in both themes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Page
from test_ui_pages import PAGES, open_tab, views
from ui_parts import Server

pytestmark = pytest.mark.browser


def axe() -> str:
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", PAGES)
def test_no_serious_fault(page: Page, server: Server, tab: str, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    open_tab(page, server, tab)
    for view in views(page, tab):
        page.wait_for_timeout(500)
        page.evaluate(axe())
        found = page.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
            "({id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map(n => n.html + ' | ' + "
            "(n.any[0]?.message || ''))})))"
        )
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert not serious, (view, serious)
