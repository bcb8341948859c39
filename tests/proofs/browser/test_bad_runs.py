"""Runs that are old, broken, hostile or gone while somebody looks at them: on every page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from test_ui_pages import PAGES
from ui_parts import Server, write_run

from ui.opened_runs import open_runs

OLD = Path(__file__).parents[2] / "data" / "run-v1"
FIRST = {
    **PAGES,
    "Compare": "#mm-differences p",
    "Robustness": "#mm-breaking h2, #mm-examples h3",
    "Lab": "#mm-lab .mm-lab h2",
    "Live": "#mm-live img.mm-after",
}
"""What is there on each page of a run with one condition too, once the page has arrived."""


def look(page: Page, server: Server, tab: str, run: str) -> None:
    page.goto(f"{server.url}/?tab={tab.lower()}&run={run}")
    expect(page.locator(FIRST[tab]).first).to_be_visible()


def opened(server: Server, folder: Path) -> str:
    server.catalogues.update(open_runs([folder]))
    return folder.name


@pytest.mark.parametrize("tab", PAGES)
def test_a_run_of_the_first_version_is_shown(
    page: Page, server: Server, tmp_path: Path, tab: str
) -> None:
    look(page, server, tab, opened(server, shutil.copytree(OLD, tmp_path / "old")))
    assert page.locator("[role=alert]:visible").count() == 0


@pytest.mark.parametrize("tab", PAGES)
def test_hostile_words_are_words_on_every_page(
    page: Page, server: Server, tmp_path: Path, tab: str
) -> None:
    name = "<img src=x onerror=hacked=1>"
    folder = write_run(tmp_path / name, 3, evil=True)
    opened(server, folder)
    look(page, server, tab, "%3Cimg%20src%3Dx%20onerror%3Dhacked%3D1%3E")
    page.wait_for_timeout(500)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], img[src='http://evil.example/x.png']").count() == 0
    expect(page.locator("#mm-crumb")).to_have_text(name)


def test_a_run_that_is_gone_is_said_so_wherever_it_was_open(
    page: Page, server: Server, tmp_path: Path
) -> None:
    for tab, act, words in (
        ("Home", "#mm-board tr[data-run=doomed] [data-pick]", "no run called 'doomed'"),
        ("Compare", "#mm-pairs .mm-row:nth-of-type(2) button", "not open any more"),
        ("Robustness", ".mm-cell", "not open any more"),
        ("Lab", "[data-knob-reset]", "cannot be read"),
        ("Live", "#mm-live-shelf [data-sample]", "cannot be read"),
    ):
        folder = write_run(tmp_path / "doomed", 3)
        opened(server, folder)
        look(page, server, tab, "doomed")
        expect(page.locator(act).first).to_be_visible()
        page.wait_for_function("[...document.images].every((image) => image.complete)")
        shutil.rmtree(folder)
        server.catalogues.refresh()
        page.locator(act).first.click()
        expect(page.locator(f"#mm-page-{tab.lower()}")).to_contain_text(words)


@pytest.mark.parametrize("tab", ["Home", "Replay", "Compare", "Robustness"])
def test_a_run_that_is_damaged_while_it_is_open(
    page: Page, server: Server, tmp_path: Path, tab: str
) -> None:
    folder = write_run(tmp_path / "hurt", 3)
    opened(server, folder)
    look(page, server, tab, "hurt")
    for file in folder.glob("run.sqlite*"):
        file.write_bytes(b"no database at all, " * 500)
    page.reload()
    where = page.locator(f"#mm-page-{tab.lower()}")
    expect(where).to_contain_text("file is not a database")


def test_two_browsers_on_one_note(page: Page, server: Server, tmp_path: Path) -> None:
    opened(server, write_run(tmp_path / "noted", 1))
    other = page.context.new_page()
    for one in (page, other):
        one.goto(f"{server.url}/?tab=home&run=noted")
        one.locator("tr[data-run=noted] [data-note]").last.click()
    for one, words in ((page, "mine"), (other, "<b>theirs</b>")):
        one.locator("#mm-note-dialog textarea").fill(words)
        one.locator("#mm-note-dialog [type=submit]").click()
        expect(one.locator("#mm-note-dialog")).to_be_hidden()
    page.reload()
    note = page.locator("tr[data-run=noted] .mm-noteline").first
    expect(note).to_contain_text("mine")
    expect(note).to_contain_text("<b>theirs</b>")
    other.close()
