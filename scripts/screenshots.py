"""The pictures of README and docs: pages of the app, four of them on a phone too, and a report.

They are made as things are now:

scripts/demo --no-ui --sessions 24
mmrag ui runs/demo-* --port 7860 &
python scripts/screenshots.py http://127.0.0.1:7860 runs/demo-grounded-24/report/report.html

A third argument chooses what is shown, as "session=multi-00024&other=demo-straightforward-24".
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright
from replay_loop import telling

from simulator.store.run_reader import RunReader
from ui.replay.conversation_list import ConversationList, Filter

PAGES = (("home", "#mm-wrong h4", "light"), ("replay", "#mm-view .mm-turn", "light"),
         ("compare", "#mm-pairs img", "light"),
         ("robustness", "#mm-robustness table", "dark"),
         ("lab", "#mm-lab .mm-lab", "light"),
         ("live", "#mm-live img.mm-after", "dark"))  # fmt: skip
"""Page of the app, what is there once it is complete, and theme."""

PHONE = ("home", "replay", "lab", "live")
"""Pages that are shown on a phone too."""

REPORTS = (("report-wide", 1280, 3300, "light", ""), ("report-phone", 390, 2400, "dark", ""),
           ("report-failures", 1280, 2100, "light", "[id^=failures]"))  # fmt: skip
"""Name, width, height, theme, and the part that stands first."""

FOLDER = Path(__file__).parent.parent / "docs" / "images"


def main(url: str, report: Path, more: str = "") -> None:
    folder = report.resolve().parent.parent
    with RunReader(folder) as run:
        best = max(ConversationList(run).find_conversations(Filter()), key=telling)
    shown = f"run={folder.name}&{more or f'session={best.session_id}'}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, complete, theme in PAGES:
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme)
            _shoot(page, f"{url}/?tab={name}&{shown}", complete, FOLDER / f"{name}.png")
        for name, complete in ((n, c) for n, c, _ in PAGES if n in PHONE):
            page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
            _shoot(page, f"{url}/?tab={name}&{shown}", complete, FOLDER / f"{name}-phone.png")
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
            Image.open(place).convert("RGB").quantize(128, dither=0).save(place, optimize=True)
        browser.close()


def _shoot(page: Any, address: str, complete: str, place: Path) -> None:
    page.set_default_timeout(240_000)  # a busy machine is slow, not wrong
    page.goto(address)
    page.locator(complete).first.wait_for()
    if "tab=live" in address:
        page.locator("button[aria-label^=Sample]").nth(4).click()  # a flower
        page.wait_for_timeout(2000)
        page.locator("#mm-question textarea").fill("What's this flower called?")
        page.keyboard.press("Enter")
        page.locator(".mm-live .mm-under").wait_for()
    page.wait_for_timeout(3000)
    page.screenshot(path=place)
    page.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
