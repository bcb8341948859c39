from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from ui_parts import ARGUMENTS, CHROMIUM, Faults, Server, write_run

SHOTS = Path(os.environ.get("MMRAG_ARTEFACTS", "artefacts")) / "screenshots"


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    if not Path(CHROMIUM).exists():
        if os.environ.get("CI"):
            pytest.fail("there is no chromium, and in CI the browser tests must run")
        warnings.warn("BROWSER TESTS SKIPPED: install Debian's chromium", stacklevel=1)
        pytest.skip("there is no chromium: apt-get install chromium")
    # per module: while it is open, Playwright keeps an event loop running in this thread, and
    # nothing else in it may use asyncio.run
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("runs")
    running = Server([write_run(folder / "first", 40), write_run(folder / "evil", 2, evil=True)])
    yield running
    running.stop()


@pytest.fixture
def page(browser, server: Server, request: pytest.FixtureRequest) -> Iterator[object]:
    """A page at 1280 px; leaves a screenshot, and fails the test for anything that went wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    faults = Faults(opened, server.url)
    yield opened
    SHOTS.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=SHOTS / f"{request.node.name}.png", full_page=True)
    context.close()
    assert faults.found == []
