"""Compare, robustness and lab in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from ui_parts import Server

PAGES = {
    "Home": "#mm-board table",
    "Replay": "#mm-view .mm-turn.mm-now",
    "Compare": "#mm-pairs table",
    "Robustness": "#mm-examples h3",
    "Lab": "#mm-lab .mm-lab",
    "Live": "#mm-talk .mm-live",
}
"""Each page, and what is visible once it is complete."""

LISTS = {"Replay": "#mm-sessions .mm-row"}
"""The pages that a phone opens with their list alone, and a row of it."""

# also what moves because of a click, which the usual figure (cumulative layout shift) leaves out
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifts.push({
    value: entry.value, at: Math.round(entry.startTime), clicked: entry.hadRecentInput,
    moved: entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName || ''),
  });
}).observe({ type: 'layout-shift', buffered: true });
"""


# one view put in another's place is no jump of what is on it
NEXT_VIEW = """
() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
  window.shifts = (window.shifts || []).filter((shift) => shift.at < performance.now() - 300);
  done();
}, 50)))
"""


def open_tab(page: Page, server: Server, name: str) -> None:
    """Go to a page as a visitor does: by the navigation, from Home."""
    page.goto(f"{server.url}/?run=first")
    expect(page.locator("#mm-board tbody tr").first).to_be_visible()
    page.locator(f"#mm-nav [data-page={name.lower()}]").click()


def views(page: Page, tab: str) -> Iterator[str]:
    """What a page shows, once it is complete: on a phone a list and then what is in it."""
    if tab in LISTS and page.viewport_size["width"] < 760:
        row = page.locator(LISTS[tab]).first
        expect(row).to_be_visible()
        yield "list"
        row.click(position={"x": 60, "y": 12})
        page.evaluate(NEXT_VIEW)
    expect(page.locator(PAGES[tab])).to_be_visible()
    yield "whole"


def choose(page: Page, dropdown: str, value: str) -> None:
    page.locator(f"{dropdown} input").click()
    page.get_by_role("option", name=value, exact=True).click()


def test_compare_two_conditions_of_one_run(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=compare&run=first&other=first")
    figures = page.locator("#mm-differences .mm-figure")
    expect(figures).to_have_count(6)  # clean and dark of the run that is open
    page.locator("#mm-condition-b").select_option("clean")
    expect(page.locator("#mm-differences")).to_contain_text("both sides are the same")
    page.locator("#mm-condition-b").select_option("low-light@3")
    expect(figures).to_have_count(6)
    # clean: 4 turns right; low light: 1 right, 2 wrong, and the fourth missing, never asked
    expect(figures.first).to_contain_text("−125.0")
    expect(page.locator("#mm-differences h2")).to_contain_text("clean is better by 125.0 points")
    expect(figures.nth(1)).to_contain_text("−75.0")
    expect(figures.nth(1)).to_contain_text("100.0% → 25.0%")
    expect(page.locator("#mm-differences")).to_contain_text("40 conversations")
    pairs = page.locator("#mm-pairs tbody[data-session]")
    expect(pairs.first.locator("[data-flip=lost]")).to_have_count(2)
    while pairs.count() < 40:  # the rest comes as the page itself is scrolled
        page.keyboard.press("End")
        page.wait_for_timeout(100)
    expect(page.locator(".mm-morepairs")).to_have_count(0)
    page.click("#mm-swap")
    expect(figures.first).to_contain_text("+125.0")
    expect(pairs.first.locator("[data-flip=won]")).to_have_count(2)
    page.reload()
    expect(page.locator("#mm-condition-a")).to_have_value("low-light@3")
    expect(figures.first).to_contain_text("+125.0")
    pairs.nth(5).get_by_label("Replay B, talk-0005, turn 2").click()
    expect(page.locator(".mm-head h2").first).to_have_text("talk-0005")
    expect(page.locator("#mm-view .mm-turn.mm-now")).to_have_attribute("data-turn", "1")


def test_compare_keeps_its_pair_and_takes_what_is_ticked(page: Page, server: Server) -> None:
    open_tab(page, server, "Compare")
    sides = [page.locator(f"#mm-{one}") for one in ("run-a", "condition-a", "run-b", "condition-b")]

    def shown(*values: str) -> None:
        for side, value in zip(sides, values, strict=True):
            expect(side).to_have_value(value)

    shown("first", "clean", "evil", "clean")
    sides[3].select_option("low-light@3")
    expect(page.locator("#mm-differences")).to_contain_text("Two things differ here")
    sides[2].select_option("first")
    shown("first", "clean", "first", "low-light@3")
    expect(page.locator("#mm-differences")).not_to_contain_text("Two things differ here")
    sides[0].select_option("evil")
    expect(page).to_have_url(re.compile("run=evil"))
    page.locator("#mm-nav [data-page=home]").click()
    page.locator("#mm-board tr[data-run=first] [data-pick]").first.click()
    expect(page).to_have_url(re.compile("tab=home.*run=first|run=first.*tab=home"))
    page.locator("#mm-nav [data-page=compare]").click()
    shown("evil", "clean", "first", "low-light@3")
    page.locator("#mm-nav [data-page=home]").click()
    for run in ("first", "evil"):
        page.locator(f"#mm-board tr[data-run={run}] input").check()
    page.locator("#mm-nav [data-page=compare]").click()
    shown("first", "clean", "evil", "clean")


@pytest.mark.parametrize("tab", PAGES)
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_or_jumps(page: Page, server: Server, width: int, tab: str) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(WATCH_SHIFTS)
    open_tab(page, server, tab)
    for view in views(page, tab):
        page.wait_for_timeout(1000)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
    shifts = page.evaluate("window.shifts")
    assert sum(shift["value"] for shift in shifts) < 0.06, shifts


@pytest.mark.parametrize("width", [390, 1280])
def test_the_frame_is_there_before_gradio(browser: Any, server: Server, width: int) -> None:
    """The header keeps 48 px and is painted while Gradio's scripts have not come."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.route("**/*.js", lambda route: route.abort())
    page.goto(server.url, wait_until="commit")
    expect(page.locator("#mm-nav a")).to_have_count(6)
    expect(page.locator("#mm-nav [aria-current]")).to_have_text("Home")
    assert page.locator("#mm-bar").bounding_box()["height"] == 48
    below = page.locator("#mm-nav").bounding_box()["y"] > 700
    assert below == (width < 760)
    page.close()


def test_back_and_forth_through_the_pages(page: Page, server: Server) -> None:
    open_tab(page, server, "Replay")
    expect(page.locator(PAGES["Replay"])).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.locator("#mm-nav [data-page=robustness]").click()
    expect(page.locator(PAGES["Robustness"])).to_be_visible()
    assert "run=first" in page.url  # the run stays chosen
    page.locator("#mm-nav [data-page=replay]").click()
    expect(page.locator(PAGES["Replay"])).to_have_attribute("data-turn", "1")
    page.go_back()
    expect(page.locator(PAGES["Robustness"])).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.locator(PAGES["Home"])).to_be_visible()


def test_a_page_that_is_not_there_is_home(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=cellar")
    expect(page.locator("#mm-board")).to_be_visible()
    expect(page.locator("#mm-nav [aria-current]")).to_have_text("Home")
