"""The board of runs in a browser."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from ui_parts import Server, write_run

from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from ui.opened_runs import open_runs


def test_a_report_leads_to_its_replays_and_back(page: Page, server: Server, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "reported", 4)
    make_report([folder], folder / "report", ReportOptions(failures=2))
    server.catalogues.update(open_runs([folder]))
    page.goto(f"{server.url}/?tab=home&run=reported")
    page.get_by_role("link", name="Report", exact=True).click()
    failure = page.locator(".failure dd a").first
    place = failure.inner_text()
    failure.click()
    expect(page.locator("#mm-view .mm-head h2")).to_have_text(place.partition(",")[0])
    turn = page.locator(".mm-turn.mm-now").get_attribute("data-turn")
    assert place.endswith(f"turn {int(turn or 0) + 1}")
    page.go_back()
    expect(failure).to_have_text(place)


def test_the_board_in_the_browser(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=home")
    rows = page.locator("#mm-board tbody tr")
    expect(rows).to_have_count(len(server.catalogues))
    line = page.locator("#mm-board tr[data-run=first]")
    expect(line).to_contain_text("+100.0")
    line.locator("[data-pick]").click()
    expect(page.locator("#mm-hero h1")).to_have_text("first")
    assert "run=first" in page.url
    expect(page.locator("#mm-wrong")).to_contain_text(
        "The largest loss beyond chance is under low-light@3"
    )
    page.evaluate("""() => { window.mixed = 0; new MutationObserver(() => {
        const named = document.querySelector("#mm-hero h1")?.textContent;
        const said = document.querySelector("#mm-wrong").textContent;
        window.mixed += named === "evil" && said.includes("beyond chance is under");
    }).observe(document.querySelector("#mm-home"), { childList: true, subtree: true }); }""")
    page.locator("#mm-board tr[data-run=evil] [data-pick]").click()
    expect(page.locator("#mm-hero h1")).to_have_text("evil")
    expect(page.locator("#mm-wrong")).to_contain_text("low-light@3")  # of its own, by chance
    assert page.evaluate("window.mixed") == 0  # nothing of one run under another's name
    line.locator("[data-pick]").click()
    for link in (".findings a", ".map td a"):
        page.locator(f"#mm-wrong {link}", has_text=re.compile("low-light@3|▼")).first.click()
        expect(page.locator("#mm-examples h3")).to_have_text("low-light@3")
        page.go_back()
    line.locator("[data-note]").click()
    page.get_by_label("Tags, separated by commas").fill("baseline, <b>x</b>")
    page.get_by_label("Note", exact=True).fill("the first look")
    page.get_by_role("button", name="Save").click()
    expect(line).to_contain_text("<b>x</b>")
    expect(page.locator("#mm-hero")).to_contain_text("the first look")
    page.reload()
    expect(line).to_contain_text("baseline")
    page.locator("#mm-board-filter").fill("basel")
    expect(page.locator("#mm-board tbody tr:visible")).to_have_count(1)
    page.locator("#mm-board-filter").fill("")
    page.locator("[data-sort=name]").click()
    names = page.locator("#mm-board tbody tr").evaluate_all("all => all.map(r => r.dataset.run)")
    assert names == sorted(names)
    for run in ("first", "evil"):
        page.locator(f"#mm-board tr[data-run={run}] input").check()
    page.get_by_role("link", name="Compare two").click()
    expect(page.locator("#mm-run-a")).to_have_value("first")
    expect(page.locator("#mm-run-b")).to_have_value("evil")
