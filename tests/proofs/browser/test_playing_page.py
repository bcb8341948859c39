"""A person plays the wearer in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import Locator, Page, expect
from test_accessibility import serious
from ui_agents import Seeing
from ui_parts import Server, hold

from mmrag.agents import agents


@pytest.fixture(autouse=True, scope="module")
def seeing() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(agents._targets, "seeing", lambda resources: Seeing())
        yield


def begin(page: Page, server: Server) -> str:
    """Begin a run of one conversation; its name."""
    name = server.playing.begin("seeing", "mini", "none", 1)
    page.goto(f"{server.url}/?tab=live&play={name}")
    expect(page.locator("#mm-play-card")).to_contain_text("You want to know")
    return name


def words(page: Page) -> Locator:
    return page.locator("#mm-play-text textarea, #mm-play-text input")


def turns(page: Page) -> Locator:
    return page.locator("#mm-play-talk .mm-turn")


def test_playing_from_the_beginning_to_the_replay(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=live")
    page.click(".mm-modes [data-mode=play]")
    page.locator("#mm-play-agent input").click()
    page.get_by_role("option", name="seeing").click()
    page.click("#mm-play-start")
    card = page.locator("#mm-play-card")
    expect(card).to_contain_text("You want to know")
    expect(page).to_have_url(f"{server.url}/?tab=live&play=mini-person-1")
    page.click("#mm-play-send")
    expect(page.locator("#mm-play-note")).to_contain_text("Type what you say first")
    words(page).fill("x" * 10_000)
    page.click("#mm-play-send")
    expect(page.locator("#mm-play-note")).to_contain_text("these are 10,000")
    expect(words(page)).to_have_value("x" * 10_000)  # to be shortened, not typed again
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_contain_text("asks: look")
    expect(page.locator("#mm-play-look label")).to_have_count(3)
    words(page).fill("I cannot, evil one")
    page.click("#mm-play-send")
    expect(turns(page).nth(1)).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    page.click("#mm-play-leave")
    expect(card).to_contain_text("You left")
    expect(card).to_contain_text("--wearer live")
    page.locator("#mm-play-card a").click()
    expect(page.locator("#mm-view")).to_contain_text("played by a person")


def serious_anywhere(page: Page) -> list[str]:
    """What axe finds in light and dark, on a phone and on a desk."""
    found: list[str] = []
    for width, theme in product((390, 1280), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=theme)
        found += [f"{width} {theme}: {one}" for one in serious(page)]
    return found


def test_axe_finds_nothing_serious_while_somebody_plays(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=live&play=new")
    expect(page.locator("#mm-play-start")).to_be_visible()
    assert not serious_anywhere(page), "before"
    begin(page, server)
    assert not serious_anywhere(page), "the goal"
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    # Who played before decides which conversation it is; about two things "closer" is not offered.
    expect(page.locator("#mm-play-look label").nth(1)).to_be_visible()
    assert not serious_anywhere(page), "another picture"
    page.click("#mm-play-leave")
    expect(page.locator("#mm-play-card")).to_contain_text("You left")
    page.locator("#mm-play-card summary").click()
    assert not serious_anywhere(page), "the end"


def test_a_page_that_is_loaded_again_goes_on_and_loses_nothing(page: Page, server: Server) -> None:
    begin(page, server)
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
    words(page).fill("slow, please")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-play-talk [role=status]")).to_contain_text("working")
    page.reload()
    expect(turns(page).nth(1)).to_contain_text("better look")
    expect(page.locator("#mm-play-talk [role=status]")).to_have_count(0)


def test_what_is_typed_while_the_assistant_works_stays(page: Page, server: Server) -> None:
    begin(page, server)
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
    words(page).fill("slow, please")
    let_go = hold(page, "queue/join")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_value("")  # before the server has heard of it
    let_go()
    working = page.locator("#mm-play-talk [role=status]")
    expect(working).to_contain_text("working")
    expect(words(page)).to_have_value("")
    words(page).fill("and then")
    expect(working).to_have_count(0)
    expect(turns(page)).to_have_count(2)
    page.wait_for_timeout(1000)  # what Gradio sends last has come
    expect(words(page)).to_have_value("and then")
    page.click("#mm-play-letbe")
    expect(page.locator("#mm-play-card")).to_contain_text("goal 2 of")
    expect(words(page)).to_have_value("and then")
    words(page).press("Enter")
    expect(turns(page).nth(2)).to_contain_text("better look")
    expect(words(page)).to_have_value("")


def test_no_conversations_are_refused_in_the_apps_own_words(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=live&play=new")
    for count in ("0", "99"):
        page.locator("#mm-play-count input").fill(count)
        page.click("#mm-play-start")
        expect(page.locator("#mm-play-note")).to_contain_text("Play 1 to 20 conversations")
        expect(page.locator(".toast-body")).to_have_count(0)


def test_of_two_tabs_the_one_that_is_behind_is_told(page: Page, server: Server) -> None:
    begin(page, server)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#mm-play-card")).to_contain_text("You want to know")
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
    words(other).fill("and this?")
    other.keyboard.press("Enter")
    expect(other.locator("#mm-play-note")).to_contain_text("gone on elsewhere")
    expect(turns(other)).to_have_count(1)
    expect(words(other)).to_have_value("and this?")
    other.close()


def test_on_a_phone_the_goal_and_the_words_are_in_view(browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    begin(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    words(page).fill("what is it?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
    expect(page.locator("#mm-play-card h2")).to_be_in_viewport()
    expect(page.locator("#mm-play-send")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    for _ in range(4):  # nothing slides over the picture, or it over the words
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(100)
        picture, card = (
            page.locator(part).bounding_box() for part in ("#mm-play-picture", "#mm-play-card")
        )
        assert picture
        assert card
        assert card["y"] >= picture["y"] + picture["height"]
    context.close()


def test_words_sent_while_the_assistant_works_stay_and_are_said_after_it(
    page: Page, server: Server
) -> None:
    begin(page, server)
    words(page).fill("slow, please")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-play-talk [role=status]")).to_contain_text("working")
    words(page).fill("and then")
    page.keyboard.press("Enter")  # too early: nothing is said, nothing is lost
    expect(turns(page).first).to_contain_text("better look")
    expect(words(page)).to_have_value("and then")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(2)
    expect(turns(page).nth(1)).to_contain_text("and then")
