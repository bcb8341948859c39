"""People's verdicts in a real browser: one key, kept for good, by several people at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from ui_parts import EVIL, Faults, Server, write_run

from simulator.application.run_human_verdicts import RunHumanVerdicts
from simulator.people.human_verdicts import FILE
from simulator.store.run_reader import RunReader


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "first", 8)


@pytest.fixture
def own(run: Path, tmp_path: Path) -> Iterator[Server]:
    running = Server([run], tmp_path / "saved")
    yield running
    running.stop()


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Page]]:
    """A browser of its own for each visitor, with a name; whatever goes wrong in it fails."""
    opened: list[tuple[object, Faults]] = []

    def come(
        server: Server, person: str, where: str = "", width: int = 1280, touch: bool = False
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, has_touch=touch, is_mobile=touch
        )
        context.add_init_script(f"localStorage.setItem('mmrag-person', '{person}')")
        page = context.new_page()
        page.set_default_timeout(45_000)
        opened.append((context, Faults(page, server.url)))
        look(page, server, where)
        return page

    yield come
    for context, faults in opened:
        context.close()
        # a question under way when its page is left is cut, which is no fault of anybody
        cut = [
            one for one in faults.found if one.startswith("failed: ") and "component_server" in one
        ]
        assert [one for one in faults.found if one not in cut] == []


def look(page: Page, server: Server, where: str = "") -> None:
    where = where or "session=talk-0000"
    page.goto(f"{server.url}/?tab=replay&run=first&{where}")
    expect(page.locator(".mm-now .mm-sayform")).to_be_visible()


def pressed(page: Page) -> str:
    chosen = page.locator(".mm-now .mm-sayit[aria-pressed=true]")
    return chosen.get_attribute("data-say") if chosen.count() else ""


def test_a_verdict_survives_a_restart(run: Path, own: Server, visit, tmp_path: Path) -> None:
    page = visit(own, "anna")
    page.keyboard.press("n")
    expect(page.locator(".mm-now .mm-sayit[data-say=wrong]")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.locator(".mm-now .mm-under")).to_contain_text("right")  # the judge's stays
    with RunReader(run) as reader:
        assert str(reader.turns("talk-0000")[0].verdict.outcome) == "perfect"
    own.stop()
    again = Server([run], tmp_path / "saved")
    try:
        page = visit(again, "anna")
        expect(page.locator(".mm-now .mm-people")).to_contain_text("wrong")
        assert pressed(page) == "wrong"
        page.keyboard.press("n")  # the same key takes it back
        expect(page.locator(".mm-now .mm-people")).to_have_count(0)
    finally:
        again.stop()
    assert [str(v.said) for v in RunHumanVerdicts(run).log().verdicts] == ["wrong", "withdrawn"]


def test_two_people_at_once_lose_nothing(run: Path, own: Server, visit) -> None:
    one, two = visit(own, "anna"), visit(own, "ben")
    for turn in range(4):  # neither waits for the other
        one.keyboard.press("y")
        two.keyboard.press("n" if turn == 1 else "y")
        one.keyboard.press("ArrowRight")
        two.keyboard.press("ArrowRight")
    for page in (one, two):
        expect(page.locator(".mm-now .mm-people")).to_be_visible()
    for page in (one, two):
        look(page, own, "session=talk-0000&turn=2")
        for who, said in (("anna", "right"), ("ben", "wrong")):
            expect(page.locator(".mm-now .mm-people li", has_text=who)).to_contain_text(said)
    said = {(v.person, v.turn_index): str(v.said) for v in RunHumanVerdicts(run).log().verdicts}
    assert said == {
        **{("anna", n): "right" for n in range(4)},
        **{("ben", n): "wrong" if n == 1 else "right" for n in range(4)},
    }


def test_two_browsers_of_one_person_on_one_note(run: Path, own: Server, visit) -> None:
    one, two = visit(own, "anna"), visit(own, "anna")
    for page, note in ((one, "first thought"), (two, "second thought")):
        page.keyboard.press("m")
        expect(page.locator(".mm-now .mm-sayit[data-say=missing]")).to_have_attribute(
            "aria-pressed", "true"
        )
        page.keyboard.press("t")
        page.keyboard.type(note)
        page.keyboard.press("Enter")
        expect(page.locator(".mm-now .mm-people q").first).to_have_text(note)
    look(one, own)
    one.click(".mm-now .mm-earlier summary")
    expect(one.locator(".mm-now .mm-earlier")).to_contain_text("first thought")
    assert [v.note for v in RunHumanVerdicts(run).log().verdicts if v.note] == [
        "first thought", "second thought",
    ]  # fmt: skip


def test_notes_and_names_are_texts(run: Path, own: Server, visit) -> None:
    RunHumanVerdicts(run).say("talk-0000", 0, "wrong", person="<b>eve</b>", note=EVIL)
    page = visit(own, "anna")
    expect(page.locator(".mm-now .mm-people q")).to_have_text(EVIL)
    expect(page.locator(".mm-now .mm-people b")).to_have_text("<b>eve</b>")
    page.keyboard.press("t")
    page.keyboard.type(EVIL)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator(".mm-now .mm-people q")).to_have_count(2)
    assert page.evaluate("window.hacked") is None


def test_keys_are_letters_while_somebody_types(run: Path, own: Server, visit) -> None:
    page = visit(own, "anna")
    page.keyboard.press("t")
    page.keyboard.type("yes? many")
    page.keyboard.press("Enter")
    expect(page.locator(".mm-now .mm-sayerror")).to_contain_text("kept with a verdict")
    assert RunHumanVerdicts(run).log().verdicts == ()
    expect(page.locator(".mm-now .mm-saved")).to_have_text("kept with a verdict")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".mm-now .mm-saynote")).to_have_value("yes? many")
    page.keyboard.press("y")
    expect(page.locator(".mm-now .mm-people q")).to_have_text("yes? many")
    assert [v.note for v in RunHumanVerdicts(run).log().verdicts] == ["yes? many"]


def test_a_key_pressed_before_the_verdicts_are_there_is_not_lost(
    run: Path, own: Server, visit
) -> None:
    page = visit(own, "anna")
    page.evaluate(_LATE)
    page.keyboard.press("j")
    page.wait_for_function(
        "document.querySelector('.mm-head h2')?.textContent === 'talk-0001'"
        " && document.querySelector('.mm-turn.mm-now')"
    )
    page.keyboard.press("y")
    expect(page.locator(".mm-now .mm-people")).to_contain_text("right")
    assert [v.key[0] for v in RunHumanVerdicts(run).log().verdicts] == ["talk-0001"]


_LATE = """() => {
  const fetched = window.fetch;
  window.fetch = async (...asked) => {
    const late = String(asked[1]?.body).includes("show_verdicts") ? 700 : 0;
    await new Promise((go) => setTimeout(go, late));
    return fetched(...asked);
  };
}"""


def test_what_cannot_be_kept_says_so_and_the_note_stays(run: Path, own: Server, visit) -> None:
    page = visit(own, "anna")
    (run / FILE).mkdir()  # stands for a folder that nobody may write to
    page.keyboard.press("t")
    page.keyboard.type("because")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    trouble = page.locator(".mm-now .mm-sayerror")
    expect(trouble).to_contain_text("the verdict was not kept")
    expect(page.locator(".mm-now .mm-saynote")).to_have_value("because")
    (run / FILE).rmdir()
    page.keyboard.press("n")
    expect(page.locator(".mm-now .mm-people q")).to_have_text("because")


def test_a_run_that_is_deleted_while_it_is_open(run: Path, own: Server, visit) -> None:
    page = visit(own, "anna")
    shutil.rmtree(run)
    page.keyboard.press("y")
    expect(page.locator(".mm-now .mm-sayerror")).to_contain_text("no longer there")
    assert not run.exists()


def test_on_a_phone_there_are_buttons(run: Path, own: Server, visit) -> None:
    page = visit(own, "anna", "session=talk-0001&condition=low-light@3", width=390, touch=True)
    buttons = page.locator(".mm-now .mm-sayit")
    assert all(buttons.nth(n).bounding_box()["height"] >= 44 for n in range(4))
    expect(page.locator(".mm-now .mm-sayform kbd").last).to_be_hidden()
    page.locator(".mm-under .mm-outcome").nth(1).tap()
    expect(page.locator(".mm-now .mm-num")).to_have_text("2")
    buttons.nth(0).tap()
    expect(page.locator(".mm-now .mm-saved")).to_have_text("saved")
    expect(page.locator(".mm-now .mm-people")).to_contain_text("you (anna)")
    marks = "[data-condition='low-light@3'] .mm-otherwise"
    for place in (".mm-conditions", ".mm-row[data-session=talk-0001]"):
        expect(page.locator(f"{place} {marks}")).to_have_attribute("title", "you said right")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("scrollY") > 0
    page.get_by_role("button", name="Next conversation").tap()
    expect(page.locator(".mm-head h2")).to_have_text("talk-0002")
    assert page.evaluate("scrollY") == 0


def test_on_a_phone_the_buttons_of_the_turn_of_a_link_are_under_no_bar(
    run: Path, own: Server, visit
) -> None:
    page = visit(own, "anna", "session=talk-0001&turn=3", width=390, touch=True)
    bar = page.locator("#mm-nav").bounding_box()["y"]
    buttons = page.locator(".mm-now .mm-say")
    expect(buttons).to_be_visible()
    page.wait_for_function(
        "bar => document.querySelector('.mm-now .mm-say').getBoundingClientRect().bottom <= bar",
        arg=bar,
    )
