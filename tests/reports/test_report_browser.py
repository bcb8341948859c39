"""The page in a real browser: no request, no error, nothing wider than the screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None and os.environ.get("CI") != "true":
        pytest.skip("there is no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield opened
        opened.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_and_fits(
    browser: Any, sweep_report: Path, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith("data:") else noise.append(request.url),
    )
    url = (sweep_report / "report.html").as_uri()
    page.goto(url)
    assert noise == [url]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg[role=img]").count() >= 10
    assert page.locator("img:not([alt])").count() == 0
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert page.evaluate(broken) == 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, sweep_report: Path, scheme: str) -> None:
    """WCAG AA: 4.5 to 1 for the text roles on the grounds they stand on."""
    page = browser.new_page(color_scheme=scheme)
    page.goto((sweep_report / "report.html").as_uri())
    ratios = page.evaluate(
        """() => {
        const root = getComputedStyle(document.documentElement);
        const light = name => {
            const hex = root.getPropertyValue(name).trim().slice(1);
            const full = hex.length === 3 ? [...hex].map(c => c + c).join('') : hex;
            const [r, g, b] = [0, 2, 4].map(i => parseInt(full.slice(i, i + 2), 16) / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const found = {};
        for (const text of ['--ink', '--muted', '--accent'])
            for (const ground of ['--card', '--bg', '--head']) {
                const [a, b] = [light(text), light(ground)].sort((x, y) => y - x);
                found[text + ground] = (a + 0.05) / (b + 0.05);
            }
        return found; }"""
    )
    assert len(ratios) == 9
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}
    page.close()
