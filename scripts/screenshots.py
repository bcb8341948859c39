"""The pictures of README and docs: four pages of the app, and a report, as they are now.

scripts/demo --no-ui
mmrag ui runs/demo-* --port 7860 &
python scripts/screenshots.py http://127.0.0.1:7860 runs/demo-grounded-24/report/report.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

PAGES = (("replay", "Replay", "light"), ("compare", "Compare", "light"),
         ("robustness", "Robustness", "dark"), ("lab", "Lab", "light"))  # fmt: skip
REPORTS = (("report-wide", 1280, 3300, "light", ""), ("report-phone", 390, 2400, "dark", ""),
           ("report-failures", 1280, 2100, "light", "[id^=failures]"))  # fmt: skip
"""Name, width, height, theme, and the part that stands first."""

FOLDER = Path(__file__).parent.parent / "docs" / "images"


def main(url: str, report: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, tab, theme in PAGES:
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme)
            page.goto(url)
            page.locator(".mm-turn").first.wait_for()
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(5000)
            page.screenshot(path=FOLDER / f"{name}.png")
            page.close()
        for name, width, height, theme, first in REPORTS:
            size: Any = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=theme)
            page.goto(report.resolve().as_uri())
            page.wait_for_timeout(1500)
            top = page.locator(first).first.bounding_box()["y"] if first else 0
            place = FOLDER / f"{name}.png"
            page.screenshot(path=place, full_page=True, clip={"x": 0, "y": top, **size})
            page.close()
            # a third of the size: a report is long, and of few colours but for its photographs
            Image.open(place).convert("RGB").quantize(256, dither=0).save(place, optimize=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
