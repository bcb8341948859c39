"""Live conversations in the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from test_ui_pages import open_tab
from ui_agents import Watched
from ui_parts import Server

from mmrag.agents import agents

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True, scope="module")
def watched() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(agents._targets, "watched", lambda resources: Watched())
        yield


NOTE_STATUS = """() => {
  window.noted = []
  const note = () => {
    const status = document.querySelector("#mm-live [role=status]")
    if (status) window.noted.push(status.textContent)
  }
  const all = {childList: true, subtree: true, characterData: true}
  new MutationObserver(note).observe(document.body, all)
}"""
"""Keeps every state that is shown: a busy machine may look too late to see one of half a second."""


def test_talking_in_the_browser(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    page.click("#mm-ask")
    expect(page.locator("#mm-saved")).to_contain_text("Type a question first")
    page.locator("#mm-question textarea, #mm-question input").fill("what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-saved")).to_contain_text("Choose a picture first")
    page.locator("#mm-live-shelf [data-sample]").first.click()
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
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


def test_a_picture_chosen_while_the_agent_works_is_the_one_that_is_asked_about(
    page: Page, server: Server
) -> None:
    open_tab(page, server, "Live")
    page.locator("#mm-live-shelf [data-sample]").first.click()
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    page.locator("#mm-question textarea, #mm-question input").fill("what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-talk")).to_contain_text("working")
    page.click("#mm-fresh")
    expect(page.locator("#mm-talk")).not_to_contain_text("working")
    page.wait_for_timeout(2000)  # longer than the agent works
    expect(page.locator("#mm-talk")).not_to_contain_text("what is it?")
    box = page.locator("#mm-question textarea, #mm-question input")
    for text in ("first", "second"):  # the second while the first is worked on
        box.fill(text)
        page.keyboard.press("Enter")
        expect(box).to_have_value("")  # taken: what is typed from now on is the next question
    expect(page.locator("#mm-live .mm-reply").nth(1)).to_contain_text("reply 2, after first")


def test_the_picture_is_seen_on_a_phone(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_tab(page, server, "Live")
    page.locator("#mm-live-shelf [data-sample]").first.click()
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_an_agent_that_cannot_be_made(page: Page, server: Server) -> None:
    open_tab(page, server, "Live")
    page.locator("#mm-live-shelf [data-sample]").first.click()
    expect(page.locator("#mm-live img.mm-after")).to_be_visible()
    page.locator("#mm-agent input").click()
    page.get_by_role("option", name="nobody").click()
    page.locator("#mm-question textarea, #mm-question input").fill("what is it?")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-saved")).to_contain_text("no agent is called 'nobody'")
