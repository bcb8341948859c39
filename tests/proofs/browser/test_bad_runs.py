"""Runs that are old, broken, hostile or gone while somebody looks at them: on every page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect
from small_runs import write
from test_ui_pages import PAGES, views
from ui_parts import Server, press, result, session, write_run

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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("tab", ["Home", "Replay", "Compare", "Robustness"])
def test_texts_of_any_length_and_script_stay_in_their_place(
    page: Page, server: Server, tmp_path: Path, tab: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    said = ["w" * 100_000, "\u202eمرحبا \u2067שלום " * 50, "👩🏽‍🚀🇺🇳" * 400, "a word " * 15_000]
    opened(server, write_run(tmp_path / "long", 4, said=said))
    if tab == "Home":  # beside the run of an agent in Python, under more conditions than fit
        one, agent = session(0), "object:name=__main__.my_agent,source=63e4cba9c549"
        looks = ["clean", *(f"{kind}@{n}" for kind in ("dark", "blur") for n in range(1, 21))]
        held = [replace(one, capture=replace(one.capture, degradation=look)) for look in looks]
        config = {"data": "python:name=my_data/MyQuestions", "agent": agent}
        talks = [(look, [result(look, 0, "c")]) for look in held]
        many = write(tmp_path / "mini-my_agent-1", *talks, judge="rules/1", config=config)
        opened(server, many)
    page.goto(f"{server.url}/?tab={tab.lower()}&run=long")
    for view in views(page, tab):
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
    if tab == "Home":
        row = page.locator("#mm-board tr[data-run=mini-my_agent-1]")
        expect(row).to_have_attribute("data-v-conditions", "41")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        wide = "all => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length"
        assert page.locator("#mm-board :is(.mm-c-agent, .mm-c-data)").evaluate_all(wide) == 0
        assert row.locator(".mm-runname").bounding_box()["height"] < 80
    if tab == "Replay":  # whatever direction a reply has, what stands under it goes from the left
        for number in (1, 2):
            page.goto(f"{server.url}/?tab=replay&run=long&session=talk-000{number}")
            expect(page.locator(".mm-head h2")).to_have_text(f"talk-000{number}")
            truth = page.locator(".mm-now .mm-reference b").bounding_box()
            assert truth["x"] < page.locator(".mm-now .mm-reply").bounding_box()["x"] + 20


@pytest.mark.parametrize("tab", PAGES)
def test_a_run_without_pictures_is_shown(
    page: Page, server: Server, tmp_path: Path, tab: str
) -> None:
    talks = [replace(session(number), capture=None) for number in range(3)]
    write(tmp_path / "blind", *((one, [result(one, 0, "c")]) for one in talks), judge="rules/1")
    opened(server, tmp_path / "blind")
    page.goto(f"{server.url}/?tab={tab.lower()}&run=blind")
    words = {"Replay": "A conversation without a picture.", "Robustness": "--degrade sweep"}
    expect(page.locator(f"#mm-page-{tab.lower()}")).to_contain_text(words.get(tab, ""))
    page.wait_for_timeout(1000)
    assert page.locator("[role=alert]:visible").count() == 0


def test_a_server_that_restarts_is_waited_for(browser: Browser, tmp_path: Path) -> None:
    """The page says that nobody answers, and goes on where it was as soon as somebody does."""
    write_run(tmp_path / "run", 30)

    def served(port: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "simulator.cli", "ui", "run", "--port", port]
        server = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        return server, re.findall(r"http://\S+:(\d+)", server.stderr.readline())[0]

    first, port = served("0")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"http://127.0.0.1:{port}/?tab=replay&run=run&session=talk-0000")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0000")
    first.kill()
    first.communicate()
    press(page, "jjjjj")  # to one that was not fetched before
    expect(page.locator("#mm-view .mm-message")).to_contain_text("Is mmrag ui still running?")
    again, _ = served(port)
    press(page, "j")
    expect(page.locator(".mm-head h2")).to_have_text("talk-0006")
    page.locator("#mm-nav [data-page=robustness]").click()
    expect(page.locator("#mm-examples h3")).to_be_visible()
    page.close()
    again.kill()
    again.communicate()


def test_a_run_that_is_gone_is_said_so_wherever_it_was_open(
    page: Page, server: Server, tmp_path: Path
) -> None:
    for tab, act, words in (
        ("Home", "#mm-board tr[data-run=doomed] [data-pick]", "no run called 'doomed'"),
        ("Compare", "#mm-swap", "not open any more"),
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
