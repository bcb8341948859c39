"""axe-core finds no serious fault on any page, at both widths and in both themes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from test_ui_pages import PAGES, open_tab, views
from ui_parts import Server


def axe() -> str:
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text()


def serious(page: Page) -> list[dict[str, str]]:
    """What axe finds to be serious or worse in what is shown now."""
    page.wait_for_timeout(500)
    page.evaluate(axe())
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
        "({id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map(n => n.html + ' | ' + "
        "(n.any[0]?.message || ''))})))"
    )
    return [one for one in found if one["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", PAGES)
def test_no_serious_fault(page: Page, server: Server, tab: str, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    open_tab(page, server, tab)
    for view in views(page, tab):
        assert not serious(page), view


OPENED = {
    "Home": ("#mm-new-run", "#mm-board tr[data-run=first] [data-note]"),
    "Replay": (".mm-now .mm-detail > summary", ".mm-enlarge", "[data-raw='0']"),
    "Lab": (".mm-exact > summary", "#mm-lab .mm-done > summary"),
    "Live": ("#mm-agent input",),
}  # fmt: skip
"""What can be opened on a page: dialogs, folded parts, choices."""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", OPENED)
def test_no_serious_fault_in_what_opens(
    page: Page, server: Server, tab: str, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server.url}/?tab={tab.lower()}&run=first&session=talk-0001&condition=low-light@3")
    expect(page.locator(PAGES[tab]).first).to_be_visible()
    for part in OPENED[tab]:
        page.locator(part).first.click()
        if "raw" in part:  # it is fetched first
            expect(page.locator(".mm-raw[open] pre")).to_be_visible()
        assert not serious(page), part
        page.keyboard.press("Escape")
    if tab == "Replay" and width > 760:  # on a phone these are with the list
        page.locator("#mm-filter-toggle").click()
        assert not serious(page)
    if tab == "Lab":
        for kind in ("rotated", "blurred"):
            page.locator(f"#mm-k-{kind}").fill("2")
        expect(page.locator("#mm-lab h2")).to_contain_text("rotated@2")
        assert not serious(page), "several kinds"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_fault_in_peoples_verdicts(
    page: Page, server: Server, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server.url}/?tab=replay&run=first&session=talk-0003")
    said = page.locator(".mm-now .mm-people")
    for word in ("wrong", "right"):
        page.locator(f".mm-now [data-say={word}]").click()
        expect(said).to_contain_text(word)
    page.keyboard.press("t")
    page.keyboard.type("because")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("because")
    page.locator(".mm-now .mm-earlier summary").first.click()
    assert not serious(page), "verdicts"
    page.locator(".mm-now [data-say=right]").click()  # as it was
