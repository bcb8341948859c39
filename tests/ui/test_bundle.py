"""A bundle, as files and in a browser that has no network and no server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import typer
from called_command import mmrag
from typer.testing import CliRunner
from ui_parts import ARGUMENTS, CHROMIUM, write_run

import ui.bundle
from mmrag.errors import ConflictError, StoreError, UsageError
from mmrag.records import Status, TurnResult
from simulator.exchange.importing import import_file
from simulator.run.results import score_run
from simulator.store.run_store import RunReader, RunStore
from ui.bundle import write_bundle
from ui.command import bundle


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "first", 12)
    write_run(folder / "evil", 2, evil=True)
    return folder


@pytest.fixture(scope="module")
def made(runs: Path) -> Path:
    """Every run as a folder and as a file."""
    for name in ("first", "evil"):
        write_bundle(runs / name, runs / f"{name}-bundle", report=name == "first")
        write_bundle(runs / name, runs / f"{name}.html")
    return runs


def test_a_folder_holds_page_conversations_pictures_and_report(made: Path) -> None:
    folder = made / "first-bundle"
    assert {path.name for path in folder.iterdir()} == {
        "index.html", "talks", "pictures", "report",
    }  # fmt: skip
    board = json.loads(inside((folder / "index.html").read_text(), "board"))
    for row in board["rows"]:
        for held in row["held"]:
            script = (folder / "talks" / f"{held['block']}.js").read_text()
            quoted = re.fullmatch(r'mmragTalks\("\d{4}",(".*")\)\n', script, re.S)
            assert quoted is not None
            view = json.loads(json.loads(quoted[1]))[held["place"]]
            assert (view["session_id"], view["degradation"]) == (row["session"], held["condition"])
            for name in filter(None, (view["picture"], view["before"])):
                assert (folder / "pictures" / name).stat().st_size > 0


def inside(page: str, name: str) -> str:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert found is not None
    return found[1]


def test_one_file_needs_nothing_beside_it(made: Path) -> None:
    page = (made / "first.html").read_text()
    pictures = json.loads(inside(page, "pictures"))
    assert pictures
    assert all(uri.startswith("data:image/") for uri in pictures.values())
    assert not re.search(r'(src|href)="(?!data:|#)', page)


@pytest.mark.parametrize("name", ["evil.html", "evil-bundle/index.html"])
def test_nothing_of_the_data_is_markup(made: Path, name: str) -> None:
    page = (made / name).read_text()
    assert page.count("<script") == page.count("</script>") == (4 if name == "evil.html" else 2)
    assert "onerror=" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert "'unsafe" not in page


def test_the_same_run_gives_the_same_bytes(made: Path) -> None:
    write_bundle(made / "first", made / "again", report=False)
    for path in (made / "again").rglob("*"):
        there = made / "first-bundle" / path.relative_to(made / "again")
        if path.is_file() and path.name != "index.html":  # whose link to the report differs
            assert path.read_bytes() == there.read_bytes()


def test_nothing_is_written_over_or_by_half(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ConflictError, match="exists already"):
        write_bundle(made / "first", tmp_path / "there")
    (tmp_path / "file").write_text("x")
    for out in ("file/deep", "file/deep.html"):
        with pytest.raises(StoreError, match="cannot be written"):
            write_bundle(made / "first", tmp_path / out)
    monkeypatch.setattr(ui.bundle, "MAX_FILE", 1000)
    with pytest.raises(UsageError, match="too large for one file"):
        write_bundle(made / "first", tmp_path / "one.html")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ui.bundle, "_report", full)
    with pytest.raises(StoreError, match="No space left"):
        write_bundle(made / "first", tmp_path / "half")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


def test_the_command(made: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(bundle)
    done = CliRunner().invoke(app, [str(made / "first"), str(tmp_path / "b"), "--no-report"])
    assert done.exit_code == 0, done.output
    assert f"bundle: {tmp_path / 'b' / 'index.html'}" in done.output


@pytest.mark.parametrize("name", ["own.jsonl", "own.eval"])
def test_a_run_with_a_failure_goes_out_and_comes_in_with_the_same_score(
    tmp_path: Path, name: str
) -> None:
    write_run(tmp_path / "run", 4)
    with RunStore(tmp_path / "run") as store:
        about, degradation = store.session_keys()[0]
        asked = store.turns(about, degradation)
        failed = TurnResult(
            session_id=about, turn_index=1, degradation=degradation, status=Status.AGENT_ERROR,
            query=asked[1].query, error="boom",
        )  # fmt: skip
        store.forget_turns(about, degradation, 1)
        store.commit(failed, *asked[2:]).result()
    mmrag("export", str(tmp_path / "run"), str(tmp_path / name))
    assert import_file(tmp_path / name, tmp_path / "back") == 32
    with RunReader(tmp_path / "run") as before, RunReader(tmp_path / "back") as after:
        assert before.failure_counts() == {"agent_error": 1}
        assert score_run(before) == score_run(after)


# ---- in a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(params=[1280, 390], ids=["wide", "phone"])
def look(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page without network; any request elsewhere, message or error fails the test."""
    context = chromium.new_context(viewport={"width": request.param, "height": 844}, offline=True)
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


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_a_deep_link_opens_its_turn_with_its_picture(look: Any, made: Path, name: str) -> None:
    board = json.loads(inside((made / name).read_text(), "board"))
    row = next(row for row in board["rows"] if len(row["held"][0]["outcomes"]) > 2)
    held = row["held"][-1]
    link = f"#{quote(row['session'], safe='')}/{quote(held['condition'], safe='')}/3"
    look.goto((made / name).as_uri() + link)
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


@pytest.mark.browser
def test_the_list_is_searched_and_says_when_nothing_matches(look: Any, made: Path) -> None:
    look.goto((made / PAGES[0]).as_uri())
    look.locator("#list li").first.wait_for()
    board = json.loads(inside((made / PAGES[0]).read_text(), "board"))
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


@pytest.mark.browser
def test_play_goes_through_the_turns(look: Any, made: Path) -> None:
    look.goto((made / PAGES[0]).as_uri() + "#" + session_of(made, 0) + "/1")
    look.locator(".turn.here").wait_for()
    look.locator("#play").click()
    look.locator(".turn.later").first.wait_for(state="attached")
    look.locator('.turn.here[data-turn="1"]').wait_for()
    look.locator("#play").click()
    assert look.locator(".turn.later").count() == 0


def session_of(made: Path, place: int) -> str:
    rows = json.loads(inside((made / PAGES[0]).read_text(), "board"))["rows"]
    return quote(rows[place]["session"], safe="")


@pytest.mark.browser
@pytest.mark.parametrize("name", ["evil-bundle/index.html", "evil.html"])
def test_answers_that_are_html_stay_text(look: Any, made: Path, name: str) -> None:
    look.goto((made / name).as_uri())
    rows = json.loads(inside((made / name).read_text(), "board"))["rows"]
    for row in rows:
        look.goto((made / name).as_uri() + "#" + quote(row["session"], safe="") + "/1")
        look.locator(".turn").first.wait_for()
        for summary in look.locator("#talk summary").all():
            if summary.is_visible():
                summary.click()
        assert look.locator("#talk script, #talk b[onclick], #talk img:not([alt])").count() == 0
    assert look.evaluate("window.pwned === undefined")


@pytest.mark.browser
def test_a_link_that_leads_nowhere_says_so(look: Any, made: Path) -> None:
    look.goto((made / PAGES[1]).as_uri() + "#nobody/1")
    assert "no conversation nobody" in look.locator("#talk").inner_text()
    look.goto((made / PAGES[1]).as_uri() + "#%E0%A4%A/x/y/z")
    assert "no conversation" in look.locator("#talk").inner_text()


@pytest.mark.browser
def test_a_failure_of_the_report_leads_to_its_replay(look: Any, made: Path) -> None:
    look.goto((made / "first-bundle" / "report" / "report.html").as_uri())
    link = look.locator(".failure dd a").first
    session, turn = link.inner_text().split(", turn ")
    link.click()
    look.locator(".turn.here").wait_for()
    assert look.locator(".turn.here").get_attribute("data-turn") == str(int(turn) - 1)
    assert look.locator("#talk h2").inner_text() == session


@pytest.mark.browser
def test_axe_finds_nothing_serious(look: Any, made: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    look.goto((made / PAGES[1]).as_uri() + "#" + session_of(made, 0) + "/1")
    look.locator(".turn.here").wait_for()
    # axe's own script comes in by the browser, past the page's policy
    found = Axe().run(look).response["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert not serious, [(v["id"], [n["html"] for n in v["nodes"]][:3]) for v in serious]
