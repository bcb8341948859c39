"""One browser for all tests of a worker, and a page that says what went wrong in it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from planted_runs import sweep, sweep_report
from playwright.sync_api import Browser, Page, expect, sync_playwright
from ui_parts import ARGUMENTS, CHROMIUM, Faults, Server, bundles, server

__all__ = ["bundles", "server", "sweep", "sweep_report"]

MISSING = "there is no chromium: install Debian's, or name another with $MMRAG_CHROMIUM"
SHOTS = Path(os.environ.get("MMRAG_ARTEFACTS", "artefacts")) / "screenshots"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without a browser: skip and say so in the summary; in CI, where a skip hides a fault, fail.

    Before any fixture, so that no server is started for nothing.
    """
    if CHROMIUM is not None or "browser" not in item.fixturenames:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{MISSING}; in CI the browser tests must run", pytrace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # warnings are errors elsewhere; this one is to be read
        warnings.warn(f"BROWSER TESTS SKIPPED: {MISSING}", stacklevel=1)
    pytest.skip(MISSING)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """While it is open, an event loop runs in this thread: nothing else in it may start another."""
    expect.set_options(timeout=45_000)  # a busy machine is no fault of the app
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page at 1280 px; leaves a screenshot, and fails the test for anything that went wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(45_000)
    faults = Faults(opened, server.url)
    yield opened
    SHOTS.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=SHOTS / f"{request.node.name}.png", full_page=True)
    context.close()
    assert not faults.found, "\n".join(faults.found)
