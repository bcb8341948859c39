"""The replay page in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from ui_parts import Server, press, result, session, write_run

from simulator.store.run_store import RunStore
from ui.opened_runs import open_runs


def open_page(page: Page, server: Server, query: str = "/?tab=replay&run=first") -> None:
    page.goto(server.url + query)
    expect(page.locator("#mm-view .mm-turn").first).to_be_visible()


def now(page: Page) -> str:
    return page.locator(".mm-turn.mm-now").get_attribute("data-turn") or ""


def condition(page: Page) -> str:
    return page.locator(".mm-conversation").get_attribute("data-condition") or ""


def in_view(page: Page, selector: str) -> bool:
    """Whether the top of something comes to be seen: in the window, in its pane, under no bar."""
    for _ in range(20):
        if page.locator(selector).first.evaluate(_IN_VIEW):
            return True
        page.wait_for_timeout(100)  # what arrives late may have pushed it
    return False


_IN_VIEW = """part => {
  const box = part.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + 12;
  return y > 0 && y < innerHeight && part.contains(document.elementFromPoint(x, y));
}"""


def test_the_first_conversation_is_there_at_once(page: Page, server: Server) -> None:
    open_page(page, server)
    expect(page.locator(".mm-head h2")).to_have_text("talk-0000")
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(40)  # both conditions in each
    expect(page.locator("#mm-sessions .mm-row").first.locator(".mm-cond")).to_have_count(2)
    expect(page.locator(".mm-count")).to_contain_text("40 conversations")
    expect(page.locator(".mm-frame img.mm-after")).to_be_visible()
    expect(page.locator(".mm-after")).to_have_js_property("naturalWidth", 240)


def test_a_deep_link_opens_its_turn(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=first&session=talk-0005&degradation=low-light@3&turn=2")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0005")
    assert now(page) == "1"
    expect(page.locator(".mm-strike").last).to_contain_text("gives up here")
    expect(page.locator(".mm-turn.mm-skipped")).to_have_count(1)
    expect(page.locator(".mm-turn.mm-skipped")).to_contain_text("not asked")
    page.keyboard.press("ArrowRight")
    for part in ("tab=replay", "run=first", "session=talk-0005", "condition=low-light@3", "turn=3"):
        assert part in page.url
    page.reload()
    expect(page.locator(".mm-turn.mm-now")).to_have_attribute("data-turn", "2")
    assert condition(page) == "low-light@3"


def test_stepping_by_buttons_and_keys(page: Page, server: Server) -> None:
    open_page(page, server)
    assert now(page) == "0"
    page.click("[data-act=next]")
    assert now(page) == "1"
    expect(page.locator(".mm-where")).to_have_text("turn 2 of 4")
    page.keyboard.press("End")
    assert now(page) == "3"
    page.keyboard.press("ArrowLeft")
    assert now(page) == "2"
    page.keyboard.press("Home")
    assert now(page) == "0"
    page.locator(".mm-ask").nth(2).click()
    assert now(page) == "2"


@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_selected_is_in_view(page: Page, server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    open_page(page, server, "/?tab=replay&run=first&session=talk-0039&turn=4")
    assert in_view(page, ".mm-turn.mm-now")
    if width > 760:
        assert in_view(page, ".mm-row.mm-here")
    page.keyboard.press("Home")
    assert in_view(page, ".mm-turn.mm-now")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        assert in_view(page, ".mm-turn.mm-now")
    page.keyboard.press("e")  # with its evidence open the turn is taller than the screen
    expect(page.locator(".mm-now .mm-detail")).to_have_attribute("open", "")
    page.keyboard.press("ArrowLeft")
    assert in_view(page, ".mm-turn.mm-now")


def test_a_frame_that_comes_late_does_not_scroll_back(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 600})
    open_page(page, server, "/?tab=replay&run=first&session=talk-0039&turn=4")
    page.evaluate("window.requestAnimationFrame = (then) => setTimeout(then, 300)")
    page.keyboard.press("e")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(600)
    assert in_view(page, ".mm-turn.mm-now")


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
    page.locator(".mm-now .mm-detail > summary").click()
    detail = page.locator(".mm-detail[open]")
    expect(detail).to_have_count(1)
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
    page.keyboard.press("ArrowRight")  # what is open stays open from turn to turn
    expect(page.locator(".mm-detail[open]")).to_have_attribute("data-turn", "1")


def test_the_raw_record_of_a_turn(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator("[data-raw='1']").click()
    record = json.loads(page.locator(".mm-raw pre").inner_text())
    assert record["turn"]["query"] == "What about thing 1 of picture 0?"
    assert record["result"]["seconds"] == 0.4
    page.keyboard.press("Escape")
    expect(page.locator(".mm-raw")).to_be_hidden()


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
    page.keyboard.press("j")  # and stays so in the next conversation
    expect(page.locator(".mm-head h2")).to_have_text("talk-0001")
    expect(page.locator(".mm-overlay.mm-k-ocr:visible")).to_have_count(1)


def test_nothing_hangs_out_of_the_picture_or_the_margin(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(page, server)
    page.check(".mm-toggle[data-kind=region]")
    out = """() => { const frame = document.querySelector('.mm-frame').getBoundingClientRect();
        return [...document.querySelectorAll('.mm-of-focus, .mm-shown em')].filter(one => {
            const box = one.getBoundingClientRect();
            return box.right > frame.right + 1 || box.left < frame.left - 1;
        }).length; }"""
    assert page.evaluate(out) == 0
    page.set_viewport_size({"width": 390, "height": 844})
    box = page.locator(".mm-rawbutton").first.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] == 390 - 16  # where the list's and the picture's words end


def test_before_and_after(page: Page, server: Server) -> None:
    open_page(page, server, "/?run=first&session=talk-0001&degradation=low-light@3")
    frame = page.locator("#mm-view .mm-frame")
    expect(page.locator("#mm-view .mm-before")).to_be_visible()
    before, ends = page.locator("#mm-view .mm-before"), page.locator("#mm-view .mm-slide span")
    for value, end, cut in (("0", 0, "100%"), ("100", 1, "0%")):  # at each end what it names
        page.locator(".mm-slider").fill(value)
        expect(ends.nth(end)).to_have_text(("after", "before")[end])
        expect(before).to_have_css("clip-path", re.compile(rf"inset\(0(px)? {cut}"))
    page.locator(".mm-slider").fill("80")
    assert frame.evaluate("f => f.style.getPropertyValue('--mm-split')") == "80%"
    page.click("text=What was done to the picture")
    expect(page.locator(".mm-conversation .mm-left")).to_contain_text("low-light")


def test_the_picture_enlarged(page: Page, server: Server) -> None:
    open_page(page, server, "/?tab=replay&run=first&session=talk-0001&condition=low-light@3")
    page.locator("#mm-view .mm-frame").click(position={"x": 20, "y": 20})
    zoom = page.locator(".mm-zoom")
    expect(zoom.locator(".mm-overlay.mm-k-focus")).to_be_visible()
    before = zoom.locator(".mm-frame").bounding_box()
    zoom.get_by_role("button", name="Larger").click()
    after = zoom.locator(".mm-frame").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] == pytest.approx(1.5 * before["width"], rel=0.01)
    zoom.locator(".mm-slider").fill("100")
    split = zoom.locator(".mm-frame").evaluate("f => f.style.getPropertyValue('--mm-split')")
    assert split == "100%"
    zoom.locator(".mm-toggle[data-kind=focus]").uncheck()
    expect(page.locator(".mm-overlay.mm-k-focus:visible")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(zoom).to_be_hidden()


def test_filters_narrow_the_list_as_one_types(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator("#mm-text").press_sequentially("picture 7?")
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(1)
    expect(page.locator(".mm-head h2")).to_have_text("talk-0007")
    assert "text=picture%207" in page.url
    page.locator("#mm-text").fill("no such words")
    expect(page.locator("#mm-sessions .mm-empty")).to_contain_text("No match")
    page.click("[data-clear]")
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(40)
    assert page.locator("#mm-text").input_value() == ""
    page.click("#mm-filter-toggle")
    page.get_by_label("Stopped early").check()
    expect(page.locator(".mm-count")).to_contain_text("40 of 40 conversations")
    expect(page.locator(".mm-row").first.locator(".mm-other")).to_have_count(1)
    page.locator("[data-filter=kind]").select_option("clean")
    expect(page.locator("#mm-sessions .mm-empty")).to_be_visible()
    page.reload()  # the filters are in the address
    expect(page.locator("#mm-sessions .mm-empty")).to_be_visible()
    expect(page.locator("#mm-filter-toggle")).to_contain_text("2")


def test_a_growing_conversation_stays_where_it_is_read(
    page: Page, server: Server, tmp_path: Path
) -> None:
    folder = write_run(tmp_path / "growing", 1, finished=False)
    server.catalogues.update(open_runs([folder]))
    open_page(page, server, "/?run=growing&session=talk-0000")
    page.keyboard.press("End")
    assert now(page) == "3"
    with RunStore(folder) as store:
        store.commit(result(session(0), 3, "i")).result()
        expect(page.locator(".mm-reply.mm-o-incorrect")).to_be_visible(timeout=45_000)
        assert now(page) == "3"
        store.begin(1, session(1)).result()
        expect(page.locator(".mm-count")).to_contain_text("2 conversations", timeout=45_000)


def test_a_run_that_is_deleted_while_it_is_open(page: Page, server: Server, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "doomed", 4)
    server.catalogues.update(open_runs([folder]))
    open_page(page, server, "/?tab=replay&run=doomed")
    page.wait_for_function("document.querySelector('#mm-view .mm-after').naturalWidth > 0")
    shutil.rmtree(folder)
    server.catalogues.refresh()
    press(page, "jj")  # to one that was not fetched before
    said = page.locator("#mm-view .mm-message[role=alert]")
    expect(said).to_contain_text("'doomed' is not open any more")
    open_page(page, server, "/?tab=replay&run=doomed")
    expect(page.locator("#mm-view")).to_contain_text("No opened run is called 'doomed'")


def test_flipped_conversations(page: Page, server: Server) -> None:
    open_page(page, server)
    page.click("#mm-filter-toggle")
    page.get_by_label("Flipped").select_option("lost under low-light@3")
    expect(page.locator(".mm-count")).to_contain_text("40 of 40 conversations")
    page.get_by_label("Flipped").select_option("")
    page.get_by_label("Outcome of a turn").select_option("wrong")
    clean, faded = (
        page.locator(f".mm-cond[data-condition='{one}']").first for one in ("clean", "low-light@3")
    )
    expect(clean).to_have_class(re.compile("mm-other"))
    expect(clean).to_have_css("opacity", "1")  # beside what it is compared with, never faded
    page.get_by_label("Outcome of a turn").select_option("")
    page.get_by_label("Degradation").select_option("clean")
    expect(faded).to_have_attribute("title", re.compile("^low-light@3: .*faded, for the filters"))


def test_going_through_the_list(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator(".mm-row .mm-rowtext").nth(2).click()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0002")
    page.keyboard.press("ArrowRight")
    page.locator(".mm-row.mm-here .mm-cond").nth(1).click()
    expect(page.locator(".mm-conditions [aria-pressed=true]")).to_contain_text("low-light@3")
    assert now(page) == "1"  # another picture of the same turn
    page.click("#mm-next-session")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0003")
    assert condition(page) == "low-light@3"
    page.keyboard.press("1")
    expect(page.locator(".mm-conditions [aria-pressed=true]")).to_contain_text("clean")
    page.keyboard.press("k")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0002")


def test_a_long_list_grows_as_it_is_scrolled(page: Page, server: Server, tmp_path: Path) -> None:
    server.catalogues.update(open_runs([write_run(tmp_path / "long", 90)]))
    open_page(page, server, "/?tab=replay&run=long&session=talk-0045")
    rows = page.locator("#mm-sessions .mm-row")
    expect(rows.first).to_have_attribute("data-session", "talk-0040")
    page.locator(".mm-row").last.scroll_into_view_if_needed()
    expect(rows).to_have_count(50)
    page.click(".mm-before-these")
    expect(rows.first).to_have_attribute("data-session", "talk-0000")


def test_a_phone_goes_from_the_list_to_the_conversation_and_back(
    page: Page, server: Server
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/?tab=replay&run=first")
    row = page.locator(".mm-row").nth(3)
    expect(row).to_be_visible()
    expect(page.locator("#mm-view")).to_be_hidden()
    row.locator(".mm-rowtext").click()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0003")
    expect(page.locator("#mm-sessions")).to_be_hidden()
    assert "session=talk-0003" in page.url
    page.go_back()
    expect(page.locator("#mm-sessions")).to_be_visible()
    expect(page.locator("#mm-view")).to_be_hidden()


def test_another_run(page: Page, server: Server) -> None:
    open_page(page, server)
    page.locator("#mm-run").select_option("evil")
    expect(page.locator(".mm-count")).to_contain_text("2 conversations")
    assert re.search("run=evil", page.url)
    page.go_back()
    expect(page.locator(".mm-count")).to_contain_text("40 conversations")
