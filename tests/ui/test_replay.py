"""The replay page in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from ui_parts import Server, result, session, write_run

from simulator.store.run_store import RunStore
from ui.catalogue import open_catalogues

pytestmark = pytest.mark.browser


def open_page(page: Page, server: Server, query: str = "") -> None:
    page.goto(server.url + query)
    expect(page.locator(".mm-turn").first).to_be_visible()


def now(page: Page) -> str:
    return page.locator(".mm-turn.mm-now").get_attribute("data-turn") or ""


def test_the_first_conversation_is_there_at_once(page: Page, server: Server) -> None:
    open_page(page, server)
    expect(page.locator(".mm-head h2")).to_have_text("talk-0000")
    expect(page.locator(".mm-row")).to_have_count(30)
    expect(page.locator(".mm-count")).to_contain_text("of 80 conversations")
    expect(page.locator(".mm-frame img.mm-after")).to_be_visible()
    width = page.locator(".mm-after").evaluate("image => image.naturalWidth")
    assert width == 240


def test_a_deep_link_opens_its_turn(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=first&session=talk-0005&degradation=low-light@3&turn=2")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0005")
    assert now(page) == "1"
    expect(page.locator(".mm-strike").last).to_contain_text("gives up here")
    expect(page.locator(".mm-turn.mm-skipped")).to_have_count(1)
    expect(page.locator(".mm-turn.mm-skipped")).to_contain_text("not asked")
    page.keyboard.press("ArrowRight")
    assert "turn=3" in page.url
    page.reload()
    expect(page.locator(".mm-turn.mm-now")).to_have_attribute("data-turn", "2")


def test_a_link_to_nowhere_says_so(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=first&session=nobody&turn=99999999999")
    expect(page.locator("#mm-view")).to_contain_text("no session 'nobody'")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0000")
    open_page(page, server, "/?run=nothing&session=talk-0003")
    expect(page.locator("#mm-view")).to_contain_text("No opened run is called 'nothing'")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0000")


def test_stepping_by_buttons_keys_and_scrubber(page: Page, server: Server) -> None:
    open_page(page, server)
    assert now(page) == "0"
    page.click("[data-act=next]")
    assert now(page) == "1"
    expect(page.locator(".mm-detail:visible h3")).to_contain_text("Turn 2")
    page.keyboard.press("End")
    assert now(page) == "3"
    page.keyboard.press("ArrowLeft")
    assert now(page) == "2"
    page.locator(".mm-scrub").fill("0")
    assert now(page) == "0"
    page.locator(".mm-ask").nth(2).click()
    assert now(page) == "2"


def test_playing_reveals_turn_after_turn(page: Page, server: Server) -> None:
    open_page(page, server)
    page.click(".mm-play")
    expect(page.locator(".mm-turn:visible")).to_have_count(1)
    expect(page.locator(".mm-turn:visible")).to_have_count(2, timeout=20_000)
    page.click(".mm-play")
    shown = page.locator(".mm-turn:visible").count()
    page.wait_for_timeout(2000)
    assert page.locator(".mm-turn:visible").count() == shown


def test_the_trace_of_a_turn(page: Page, server: Server) -> None:
    open_page(page, server)
    detail = page.locator(".mm-detail:visible")
    expect(detail).to_contain_text("what about it")  # the plan
    expect(detail).to_contain_text("Velden Kettle")
    expect(detail).to_contain_text("similarity 0.830")
    expect(detail.locator("mark")).to_contain_text("The answer is truth 0")
    expect(detail.locator(".mm-g-answers")).to_be_visible()
    expect(detail).to_contain_text("2026-01-02")
    expect(detail).to_contain_text("VELDEN")
    expect(detail).to_contain_text("second")  # a vote of the panel
    expect(detail).to_contain_text("200 in, 9 out")
    expect(detail.locator(".mm-step")).to_have_count(5)


def test_overlays_are_switched_on_and_off(page: Page, server: Server) -> None:
    open_page(page, server)
    expect(page.locator(".mm-overlay.mm-k-focus")).to_be_visible()
    expect(page.locator(".mm-overlay.mm-k-ocr:visible")).to_have_count(0)
    page.check(".mm-toggle[data-kind=ocr]")
    expect(page.locator(".mm-overlay.mm-k-ocr:visible")).to_have_count(1)
    page.check(".mm-toggle[data-kind=region]")
    expect(page.locator(".mm-overlay.mm-k-region:visible")).to_have_count(1)
    page.uncheck(".mm-toggle[data-kind=focus]")
    expect(page.locator(".mm-overlay.mm-k-focus:visible")).to_have_count(0)


def test_before_and_after(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=first&session=talk-0001&degradation=low-light@3")
    frame = page.locator(".mm-frame")
    expect(page.locator(".mm-before")).to_be_visible()
    page.locator(".mm-slider").fill("80")
    assert frame.evaluate("f => f.style.getPropertyValue('--mm-split')") == "80%"
    page.click("text=What was done to the picture")
    expect(page.locator(".mm-left")).to_contain_text("low-light")


def test_filters_narrow_the_list(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator("#mm-text textarea, #mm-text input").first.fill("picture 7?")
    page.keyboard.press("Enter")
    expect(page.locator(".mm-row")).to_have_count(2)
    expect(page.locator(".mm-head h2")).to_have_text("talk-0007")
    page.locator("#mm-text textarea, #mm-text input").first.fill("no such words")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-sessions .mm-empty")).to_contain_text("No conversation passes")
    page.locator("#mm-text textarea, #mm-text input").first.fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".mm-row")).to_have_count(30)
    page.click("#mm-filters button")
    page.get_by_label("Stopped early").check()
    expect(page.locator(".mm-count")).to_contain_text("of 40 conversations")
    page.get_by_label("Severity", exact=True).first.click()
    page.get_by_role("option", name="3").click()
    expect(page.locator(".mm-count")).to_contain_text("of 40 conversations")
    page.get_by_label("Degradation", exact=True).first.click()
    page.get_by_role("option", name="clean").click()
    expect(page.locator("#mm-sessions .mm-empty")).to_be_visible()


def test_a_growing_conversation_stays_where_it_is_read(
    page: Page, server: Server, tmp_path: Path
) -> None:
    folder = write_run(tmp_path / "growing", 1, finished=False)
    server.catalogues.update(open_catalogues([folder]))
    open_page(page, server, "/?run=growing&session=talk-0000")
    page.keyboard.press("End")
    assert now(page) == "3"
    with RunStore(folder) as store:
        store.commit(result(session(0), 3, "i")).result()
        expect(page.locator(".mm-reply.mm-o-incorrect")).to_be_visible(timeout=45_000)
        assert now(page) == "3"
        store.begin(1, session(1)).result()
        expect(page.locator(".mm-count")).to_contain_text("of 3 conversations", timeout=45_000)


def test_flipped_conversations(page: Page, server: Server) -> None:
    open_page(page, server)
    page.click("#mm-filters button")
    page.get_by_label("Flipped by a degradation").check()
    expect(page.locator(".mm-count")).to_contain_text("of 80 conversations")


def test_going_through_the_list(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator(".mm-row").nth(4).click()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0002")
    page.click("#mm-next-session")
    expect(page.locator(".mm-chips .mm-chip").first).to_have_text("low-light@3")
    page.click("#mm-previous-session")
    expect(page.locator(".mm-chips .mm-chip").first).to_have_text("clean picture")
    expect(page.locator("#mm-earlier")).to_be_disabled()
    page.click("#mm-later")
    expect(page.locator("#mm-earlier")).to_be_enabled()
    expect(page.locator(".mm-count")).to_contain_text("31–60 of 80")
    page.keyboard.press("n")
    expect(page.locator(".mm-chips .mm-chip").first).to_have_text("low-light@3")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out(page: Page, server: Server, width: int, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 844})
    open_page(page, server, "/?run=first&session=talk-0005&degradation=low-light@3&turn=2")
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    picture = page.locator(".mm-frame").bounding_box()
    assert picture is not None
    assert picture["width"] > 200
    assert picture["height"] > 200


def test_hostile_text_shows_as_text(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=evil&session=talk-0000")
    reply = page.locator(".mm-reply p").first
    expect(reply).to_contain_text("<script>window.hacked=1</script>")
    expect(reply).to_contain_text("{{#each}} ${1+1} @children ![x](http://evil.example/x.png)")
    assert page.evaluate("window.hacked") is None


def test_another_run(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator("#mm-run input").click()
    page.get_by_role("option", name="evil").click()
    expect(page.locator(".mm-count")).to_contain_text("of 4 conversations")
    assert re.search("run=evil", page.url)
