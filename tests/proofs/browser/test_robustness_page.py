"""Robustness in a real browser: a map of differences that leads to photographs and to Replay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from called_command import mmrag
from planted_runs import by_severity, plant
from playwright.sync_api import Page, Route, expect
from ui_parts import Faults, Server, write_run

CONDITIONS = ("clean", "low-light@1", "low-light@3", "low-light@5", "blurred@3")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("robust")
    plant(folder / "sweep", sessions=40, conditions=CONDITIONS, effect=by_severity)
    plant(folder / "plain", sessions=4, conditions=("clean",))
    return [folder / "sweep", folder / "plain", write_run(folder / "evil", 3, evil=True)]


@pytest.fixture(scope="module")
def robust(runs: list[Path]) -> Iterator[Server]:
    running = Server(runs, runs[0].parent / "saved")
    yield running
    running.stop()


@pytest.fixture
def visitor(browser, robust: Server) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(45_000)
    faults = Faults(page, robust.url)
    yield page
    context.close()
    cut = [one for one in faults.found if one.startswith("failed: ") and "component_server" in one]
    assert [one for one in faults.found if one not in cut] == []


def look(page: Page, server: Server, run: str = "sweep", more: str = "") -> None:
    page.goto(f"{server.url}/?tab=robustness&run={run}{more}")
    expect(page.locator(".mm-breaking")).to_be_visible()


def cell(page: Page, condition: str):
    return page.locator(f'.mm-cell[data-of][data-condition="{condition}"]')


def test_the_map_says_what_the_report_says(visitor: Page, robust: Server, runs, tmp_path) -> None:
    look(visitor, robust)
    mmrag("report", str(runs[0]), "--out", str(tmp_path / "r"), "--failures", "0")
    report = json.loads((tmp_path / "r" / "report.json").read_text())["runs"][0]["robustness"]
    for point in report["points"]:
        shown = cell(visitor, point["condition"]).inner_text()
        words = f"{100 * point['change']['estimate']:+.1f}".replace("-", "−")
        sure = point["change"]["p_holm"] <= 0.05
        assert words in shown
        assert shown[0] == ("▼" if sure else "▽")
    worst = min(report["points"], key=lambda p: p["change"]["estimate"])
    expect(visitor.locator(".mm-costs")).to_contain_text(
        f"{100 * worst['change']['estimate']:+.1f}".replace("-", "−")
    )
    expect(visitor.locator(".mm-costs")).to_contain_text(f"under {worst['condition']}")
    expect(visitor.locator("#mm-examples h3")).to_have_text(worst["condition"])


def test_a_cell_leads_to_photographs_and_on_to_replay(visitor: Page, robust: Server) -> None:
    look(visitor, robust)
    cell(visitor, "blurred@3").click()
    expect(visitor.locator("#mm-examples h3")).to_have_text("blurred@3")
    expect(visitor.locator("[data-curveof=blurred]")).to_be_visible()
    expect(visitor.locator("[data-curveof=low-light]")).to_be_hidden()
    assert "condition=blurred%403" in visitor.url or "condition=blurred@3" in visitor.url
    first = visitor.locator(".mm-examples li").first
    expect(first.locator("img")).to_have_count(2)
    expect(first.locator(".mm-two > .mm-small")).to_have_text(["clean", "blurred@3"])
    expect(first.locator(".mm-outcome").first).to_contain_text("✓")
    expect(first.locator(".mm-outcome").last).not_to_contain_text("✓")
    visitor.reload()
    expect(visitor.locator("#mm-examples h3")).to_have_text("blurred@3")
    visitor.locator(".mm-examples li a").first.click()
    expect(visitor.locator(".mm-conversation")).to_have_attribute("data-condition", "blurred@3")
    visitor.go_back()
    expect(visitor.locator("#mm-examples h3")).to_have_text("blurred@3")


def test_slices_stages_and_points_of_curves_lead_there_too(visitor: Page, robust: Server) -> None:
    look(visitor, robust)
    part = visitor.locator('.mm-cell[data-dimension="domain"][data-condition="low-light@5"]').first
    name = part.get_attribute("data-slice")
    part.click()
    expect(visitor.locator("#mm-examples h3")).to_have_text(f"low-light@5, Domain: {name}")
    box = visitor.locator("#mm-examples").bounding_box()
    assert 0 <= box["y"] < 700  # what was asked for is in view
    visitor.locator(
        '.mm-stagepart[data-stage="entity missed"][data-condition="low-light@3"]'
    ).click()
    expect(visitor.locator("#mm-examples h3")).to_have_text("low-light@3, entity missed")
    point = visitor.locator('[data-curveof="low-light"] .point[data-condition="low-light@1"]')
    point.focus()
    visitor.keyboard.press("Enter")
    expect(visitor.locator("#mm-examples h3")).to_have_text("low-light@1")


def test_more_than_are_shown_are_in_replay(visitor: Page, robust: Server) -> None:
    waiting: list[Route] = []
    look(visitor, robust)
    visitor.route("**/component_server/", lambda route: waiting.append(route))
    cell(visitor, "low-light@5").click()
    cell(visitor, "low-light@3").click()
    expect(visitor.locator("#mm-examples [role=status]")).to_contain_text("low-light@3 are loading")
    assert len(waiting) == 2
    for one in waiting:
        one.continue_()
    visitor.unroute("**/component_server/")
    rest = visitor.get_by_role("link", name=re.compile(r"all \d+ lost"))
    rest.click()
    expect(visitor.locator(".mm-conversation")).to_have_attribute("data-condition", "low-light@3")
    expect(visitor.locator("[data-filter=flipped]")).to_have_value("lost low-light@3")


def test_the_run_stays_chosen(visitor: Page, robust: Server) -> None:
    look(visitor, robust, "evil")
    visitor.locator("#mm-nav [data-page=replay]").click()
    expect(visitor.locator(".mm-conversation")).to_have_attribute("data-run", "evil")
    visitor.locator("#mm-nav [data-page=robustness]").click()
    expect(visitor.locator(".mm-breaking")).to_have_attribute("data-run", "evil")
    assert visitor.evaluate("window.hacked") is None
    visitor.locator("#mm-robust-run").select_option("sweep")
    expect(visitor.locator(".mm-breaking")).to_have_attribute("data-run", "sweep")


def test_nothing_to_set_against_and_nobody_there(visitor: Page, robust: Server) -> None:
    look(visitor, robust, "plain")
    expect(visitor.locator(".mm-breaking .mm-empty")).to_contain_text("--degrade sweep")
    visitor.locator("details:has(.mm-slicemap) summary").click()  # slices of few turns are folded
    expect(visitor.locator(".mm-slicemap")).to_be_visible()
    visitor.goto(f"{robust.url}/?tab=robustness&run=nobody")
    expect(visitor.locator("#mm-breaking .mm-message")).to_contain_text("No opened run is called")
    look(visitor, robust, "sweep", "&condition=nothing@9")
    expect(visitor.locator("#mm-examples .mm-message")).to_contain_text("no condition")


def test_differences_are_told_apart_without_colour(visitor: Page, robust: Server) -> None:
    look(visitor, robust)
    for tone, shapes in (("bad", "▼▽↓"), ("good", "▲△↑"), ("even", "=")):
        for one in visitor.locator(f".mm-cell.mm-tone-{tone}").all():
            words = (one.text_content() or "").strip()
            assert words[0] in shapes
            assert ("−" in words) == (tone == "bad")
