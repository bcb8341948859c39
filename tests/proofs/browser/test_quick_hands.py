"""Whoever is quicker than the server sees what they did last, and loses nothing they typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from test_lab_page import look as open_lab
from test_lab_page import slide
from ui_parts import Server, hold, press, write_run

from simulator.application.run_human_verdicts import RunHumanVerdicts


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("quick")
    runs = [write_run(folder / name, 8) for name in ("first", "second", "third")]
    runs.append(write_run(folder / "long", 50))
    running = Server(runs, folder / "saved")
    yield running
    running.stop()


def test_the_last_of_three_pictures_is_shown(page: Page, server: Server) -> None:
    open_lab(page, server)
    samples = page.locator("#mm-shelf [data-sample]")
    before = page.locator("#mm-lab .mm-before")
    first = before.get_attribute("src") or ""
    samples.nth(2).click()
    expect(before).not_to_have_attribute("src", first)
    last = before.get_attribute("src") or ""
    samples.nth(0).click()
    expect(before).to_have_attribute("src", first)
    let_go = hold(page, "/queue/join")
    for place in (1, 2):
        samples.nth(place).click()
        page.wait_for_timeout(200)
    let_go()
    expect(before).to_have_attribute("src", last)


def test_answers_of_one_shape_follow_one_another(page: Page, server: Server) -> None:
    open_lab(page, server)
    for severity in (4, 5, 2, 1):  # nothing but figures changes from one to the next
        slide(page, "low-light", severity)
        page.wait_for_timeout(150)
    expect(page.locator("#mm-lab h2")).to_have_text("low-light@1", timeout=15_000)


def test_a_run_chosen_beside_another_stays_chosen(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=compare&run=first&other=first")
    expect(page.locator("#mm-run-a")).to_have_value("first")
    expect(page.locator("#mm-pairs [data-flip]").first).to_be_visible()
    let_go = hold(page, '"second"')
    page.locator("#mm-run-a").select_option("second")
    page.wait_for_timeout(200)
    page.locator("#mm-run-b").select_option("third")
    page.wait_for_timeout(200)
    let_go()
    expect(page).to_have_url(re.compile("other=third"))
    expect(page.locator("#mm-run-a")).to_have_value("second")
    expect(page.locator("#mm-run-b")).to_have_value("third")


def test_a_filter_and_a_conversation_both_come(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=replay&run=first")
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(8)
    let_go = hold(page, "list_conversations")
    page.locator("#mm-text").fill("nothing says this")
    page.wait_for_timeout(200)
    page.locator("#mm-sessions .mm-row").nth(3).locator("[data-open]").first.click()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0003")
    let_go()
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(0)


def test_a_conversation_chosen_while_the_list_comes_stays(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=replay&run=second&session=talk-0000")
    expect(page.locator("#mm-sessions .mm-row")).to_have_count(8)
    listed, opened = hold(page, "list_conversations"), hold(page, "show_conversation")
    page.locator("#mm-text").fill("0003")
    page.wait_for_timeout(200)
    page.locator("#mm-sessions .mm-row").nth(5).locator("[data-open]").first.click()
    listed()
    page.wait_for_timeout(500)
    opened()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0005")


def test_every_key_counts(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=replay&run=first&session=talk-0000")
    title, here = page.locator(".mm-head h2"), page.locator("#mm-sessions .mm-here")
    expect(title).to_have_text("talk-0000")
    press(page, "jjjjjjjkk")  # before any of them is answered
    expect(here).to_have_attribute("data-session", "talk-0005")
    expect(title).to_have_text("talk-0005")
    press(page, "k")
    expect(title).to_have_text("talk-0004")


def test_keys_count_past_the_end_of_the_list(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=replay&run=long&session=talk-0036")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0036")
    press(page, "j" * 12)
    expect(page.locator(".mm-head h2")).to_have_text("talk-0048")
    press(page, "jjj")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0049")


def test_neighbours_are_there_before_they_are_asked_for(page: Page, server: Server) -> None:
    answered: list[str] = []
    page.on("response", lambda one: answered.append(one.request.post_data or ""))
    page.goto(f"{server.url}/?tab=replay&run=first&session=talk-0003")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0003")
    while sum("show_conversation" in one for one in answered) < 2:
        page.wait_for_timeout(100)
    let_go = hold(page, "show_conversation")
    press(page, "j")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0004")
    let_go()


def test_a_note_stays_the_note_of_its_turn(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=replay&run=third&session=talk-0000")
    expect(page.locator(".mm-now .mm-sayform")).to_be_visible()
    let_go = hold(page, "say_verdict")
    page.keyboard.press("y")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("t")
    page.keyboard.type("half of")
    let_go()
    expect(page.locator(".mm-turn").first.locator(".mm-sayit[data-say=right]")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.keyboard.type(" this")
    expect(page.locator(".mm-now .mm-saynote")).to_have_value("half of this")
    expect(page.locator(".mm-turn").first.locator(".mm-saynote")).to_have_value("")
    run = Path(server.catalogues["third"].run.folder)
    assert [str(v.said) for v in RunHumanVerdicts(run).log().verdicts] == ["right"]


def test_a_late_answer_leaves_other_pages_alone(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=home")
    expect(page.locator("#mm-board tbody tr").first).to_be_visible()
    let_go = hold(page, "open_robustness")
    page.evaluate("mmrag.go({ tab: 'robustness', run: 'first' })")
    page.wait_for_timeout(300)
    page.evaluate("mmrag.go({ tab: 'home', run: 'second' })")
    let_go()
    page.wait_for_timeout(1500)
    assert "run=second" in page.url
