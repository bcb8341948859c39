"""The README's pictures of the app: open runs, look at four pages, keep what is seen.

mmrag ui runs/A runs/B --port 7860 &
python scripts/screenshots.py http://127.0.0.1:7860
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGES = (("replay", "Replay", "light"), ("compare", "Compare", "light"),
         ("robustness", "Robustness", "dark"), ("lab", "Lab", "light"))  # fmt: skip


def main(url: str) -> None:
    folder = Path(__file__).parent.parent / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
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
            page.screenshot(path=folder / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
