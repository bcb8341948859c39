"""A bundle in a browser that has no network and no server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page
from ui_parts import inside


@pytest.fixture(params=[1280, 390], ids=["wide", "phone"])
def look(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page without network; any request elsewhere, message or error fails the test."""
    context = browser.new_context(viewport={"width": request.param, "height": 844}, offline=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.on("dialog", lambda dialog: (faults.append("a dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url)
        ),
    )
    yield page
    context.close()
    assert not faults, faults


PAGES = ["first-bundle/index.html", "first.html"]


@pytest.mark.parametrize("name", PAGES)
def test_a_deep_link_opens_its_turn_with_its_picture(look: Page, bundles: Path, name: str) -> None:
    board = json.loads(inside((bundles / name).read_text(), "board"))
    row = next(row for row in board["rows"] if len(row["held"][0]["outcomes"]) > 2)
    held = row["held"][-1]
    link = f"#{quote(row['session'], safe='')}/{quote(held['condition'], safe='')}/3"
    look.goto((bundles / name).as_uri() + link)
    here = look.locator(".turn.here")
    here.wait_for()
    assert here.get_attribute("data-turn") == "2"
    assert here.is_visible()
    wide = look.evaluate("document.querySelector('.frame img').decode().then(() => 1)")
    assert wide == 1
    assert look.evaluate("document.documentElement.scrollWidth <= innerWidth")
    look.keyboard.press("ArrowLeft")
    assert look.url.endswith("/2")
    assert look.locator(".turn.here").get_attribute("data-turn") == "1"
    here.locator("summary").first.click()
    assert look.locator(".turn.here .behind section").count() > 0


def test_the_list_is_searched_and_says_when_nothing_matches(look: Page, bundles: Path) -> None:
    look.goto((bundles / PAGES[0]).as_uri())
    look.locator("#list li").first.wait_for()
    board = json.loads(inside((bundles / PAGES[0]).read_text(), "board"))
    total = len(board["rows"])
    assert look.locator("#list li").count() == total
    look.fill("#search", board["rows"][3]["session"])
    assert look.locator("#list li").count() == 1
    assert look.locator("#count").inner_text() == f"1 of {total} conversations"
    look.fill("#search", "no such words anywhere")
    assert "No conversation matches" in look.locator("#list").inner_text()
    look.get_by_role("button", name="show all").click()
    assert look.locator("#list li").count() == total
    look.locator("#list li").nth(1).click()
    look.locator(".turn").first.wait_for()
    assert look.url.partition("#")[2].startswith(quote(board["rows"][1]["session"]))


def test_play_goes_through_the_turns(look: Page, bundles: Path) -> None:
    look.goto((bundles / PAGES[0]).as_uri() + "#" + session_of(bundles, 0) + "/1")
    look.locator(".turn.here").wait_for()
    look.locator("#play").click()
    look.locator(".turn.later").first.wait_for(state="attached")
    look.locator('.turn.here[data-turn="1"]').wait_for()
    look.locator("#play").click()
    assert look.locator(".turn.later").count() == 0


def session_of(bundles: Path, place: int) -> str:
    rows = json.loads(inside((bundles / PAGES[0]).read_text(), "board"))["rows"]
    return quote(rows[place]["session"], safe="")


@pytest.mark.parametrize("name", ["evil-bundle/index.html", "evil.html"])
def test_answers_that_are_html_stay_text(look: Page, bundles: Path, name: str) -> None:
    look.goto((bundles / name).as_uri())
    rows = json.loads(inside((bundles / name).read_text(), "board"))["rows"]
    for row in rows:
        look.goto((bundles / name).as_uri() + "#" + quote(row["session"], safe="") + "/1")
        look.locator(".turn").first.wait_for()
        for summary in look.locator("#talk summary").all():
            if summary.is_visible():
                summary.click()
        assert look.locator("#talk script, #talk b[onclick], #talk img:not([alt])").count() == 0
    assert look.evaluate("window.pwned === undefined")


def test_a_link_that_leads_nowhere_says_so(look: Page, bundles: Path) -> None:
    look.goto((bundles / PAGES[1]).as_uri() + "#nobody/1")
    assert "no conversation nobody" in look.locator("#talk").inner_text()
    look.goto((bundles / PAGES[1]).as_uri() + "#%E0%A4%A/x/y/z")
    assert "no conversation" in look.locator("#talk").inner_text()


def test_a_failure_of_the_report_leads_to_its_replay(look: Page, bundles: Path) -> None:
    look.goto((bundles / "first-bundle" / "report" / "report.html").as_uri())
    link = look.locator(".failure dd a").first
    session, turn = link.inner_text().split(", turn ")
    link.click()
    look.locator(".turn.here").wait_for()
    assert look.locator(".turn.here").get_attribute("data-turn") == str(int(turn) - 1)
    assert look.locator("#talk h2").inner_text() == session


def test_axe_finds_nothing_serious(look: Page, bundles: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    look.goto((bundles / PAGES[1]).as_uri() + "#" + session_of(bundles, 0) + "/1")
    look.locator(".turn.here").wait_for()
    # axe's own script comes in by the browser, past the page's policy
    found = Axe().run(look).response["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert not serious, [(v["id"], [n["html"] for n in v["nodes"]][:3]) for v in serious]
