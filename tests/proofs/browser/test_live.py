"""Live conversations in the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from test_accessibility import serious
from test_ui_pages import open_tab
from ui_agents import Watched
from ui_parts import Server, hold

from mmrag.agents import agents


@pytest.fixture(autouse=True)
def waiting() -> Iterator[None]:
    Watched.go_on.clear()
    yield
    Watched.go_on.set()


@pytest.fixture(autouse=True, scope="module")
def watched() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(agents._targets, "watched", lambda resources: Watched())
        yield


NOTE_STATUS = """() => {
  window.noted = []
  const note = () => {
    const status = document.querySelector("#mm-talk [role=status]")
    if (status) window.noted.push(status.textContent)
  }
  const all = {childList: true, subtree: true, characterData: true}
  new MutationObserver(note).observe(document.body, all)
}"""
"""Keeps every state that is shown: a busy machine may look too late to see one of half a second."""


def choose_another(page: Page) -> None:
    """Than the first, which comes by itself; it is there when this returns."""
    seen = page.locator("#mm-live img.mm-after")
    expect(seen).to_be_visible()
    first = seen.get_attribute("src") or ""
    page.locator("#mm-live-shelf [data-sample]").nth(1).click()
    expect(seen).not_to_have_attribute("src", first)


def test_talking_in_the_browser(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    page.click("#mm-ask")
    expect(page.locator("#mm-saved")).to_contain_text("Type a question first")
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()  # the run's first picture
    page.locator("#mm-question textarea, #mm-question input").fill("what is it?")
    page.evaluate(NOTE_STATUS)
    page.keyboard.press("Enter")
    expect(page.locator("#mm-live .mm-reply")).to_contain_text("reply 1, after nothing")
    noted = page.evaluate("window.noted")
    assert "working" in noted[0]
    assert any("planner" in text for text in noted)  # the trace unfolds before the reply is there
    page.locator("#mm-question textarea, #mm-question input").fill("evil, and this?")
    page.click("#mm-ask")
    expect(page.locator("#mm-live .mm-reply").nth(1)).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    page.click("#mm-save")
    expect(page.locator("#mm-saved")).to_contain_text("Saved as run live-")
    page.click("#mm-saved a")
    expect(page.locator("#mm-view .mm-turn").first).to_contain_text("what is it?")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_talk(
    page: Page, server: Server, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server.url}/?tab=live&run=first")
    page.locator("#mm-question textarea, #mm-question input").fill("what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-live .mm-reply")).to_contain_text("reply 1")
    page.click("#mm-save")
    expect(page.locator("#mm-saved")).to_contain_text("Saved as run live-")
    assert not serious(page)


def test_looking_again_goes_on_with_the_conversation(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    question = page.locator("#mm-question textarea, #mm-question input")
    question.fill("what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-live .mm-reply")).to_contain_text("reply 1, after nothing")
    page.get_by_label("Look again").check()
    choose_another(page)
    expect(page.locator("#mm-live .mm-turn")).to_have_count(1)  # what was said stays
    question.fill("and now?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-live .mm-reply").nth(1)).to_contain_text("reply 2, after what is it?")
    expect(page.locator("#mm-live .mm-turn").nth(1)).to_contain_text("another picture")


def test_a_picture_chosen_while_the_agent_works_is_the_one_that_is_asked_about(
    page: Page, server: Server
) -> None:
    open_tab(page, server, "Live")
    choose_another(page)
    page.locator("#mm-question textarea, #mm-question input").fill("wait: what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-talk")).to_contain_text("working")
    page.click("#mm-fresh")
    expect(page.locator("#mm-talk")).not_to_contain_text("working")
    Watched.go_on.set()
    page.wait_for_timeout(2000)  # longer than the agent works
    expect(page.locator("#mm-talk")).not_to_contain_text("what is it?")
    box = page.locator("#mm-question textarea, #mm-question input")
    for text in ("first", "second"):  # the second while the first is worked on
        box.fill(text)
        page.keyboard.press("Enter")
        expect(box).to_have_value("")  # taken: what is typed from now on is the next question
    expect(page.locator("#mm-live .mm-reply").nth(1)).to_contain_text("reply 2, after first")


def test_what_is_typed_while_the_agent_works_stays(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    box = page.locator("#mm-question textarea, #mm-question input")
    box.fill("wait: what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-talk")).to_contain_text("working")
    expect(box).to_have_value("")
    box.fill("and then")
    Watched.go_on.set()
    expect(page.locator("#mm-live .mm-reply")).to_contain_text("reply 1, after nothing")
    page.wait_for_timeout(1000)  # what Gradio sends last has come
    expect(box).to_have_value("and then")


def test_what_is_typed_before_the_server_has_heard_stays(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    box = page.locator("#mm-question textarea, #mm-question input")
    for number, text in enumerate(("what is it?", "and this?")):
        let_go = hold(page, "queue/join")
        box.fill(text)
        page.keyboard.press("Enter")
        expect(box).to_have_value("")
        box.press_sequentially("and then")
        let_go()
        expect(page.locator("#mm-live .mm-reply").nth(number)).to_contain_text(
            f"reply {number + 1}"
        )
        page.wait_for_timeout(1000)  # what Gradio sends last has come
        expect(box).to_have_value("and then")


@pytest.mark.parametrize("typed", ["", "and then"])
def test_what_cannot_be_asked_comes_back_unless_more_is_typed(
    page: Page, server: Server, typed: str
) -> None:
    open_tab(page, server, "Live")
    choose_another(page)
    page.locator("#mm-agent input").click()
    page.get_by_role("option", name="nobody").click()
    expect(page.locator("#mm-talk")).to_contain_text("Talk to nobody")
    box = page.locator("#mm-question textarea, #mm-question input")
    box.fill("what is it?")
    let_go = hold(page, "queue/join")
    page.keyboard.press("Enter")
    expect(box).to_have_value("")
    box.press_sequentially(typed)
    let_go()
    expect(page.locator("#mm-saved")).to_contain_text("no agent is called 'nobody'")
    expect(box).to_have_value(typed or "what is it?")


def test_the_picture_is_seen_on_a_phone(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_tab(page, server, "Live")
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    page.locator("#mm-live-shelf [data-sample]").nth(1).click()
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("width", [390, 1280])
def test_what_was_asked_last_is_in_view(page: Page, server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    open_tab(page, server, "Live")
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    box = page.locator("#mm-question textarea, #mm-question input")
    for number in range(1, 5):
        box.fill(f"question {number}?")
        page.keyboard.press("Enter")
        last = page.locator(".mm-live .mm-turn").nth(number - 1)
        expect(last.locator(".mm-reply")).to_contain_text(f"reply {number}")
        for part in (last.locator(".mm-asked"), last.locator(".mm-reply p").first, box):
            expect(part).to_be_in_viewport()
        asked = last.locator(".mm-reply p").first.bounding_box()
        row = page.locator("#mm-askrow").bounding_box()
        assert asked["y"] + asked["height"] <= row["y"]  # nor under the question box
