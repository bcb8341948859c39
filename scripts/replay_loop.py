"""The loop at the top of README: ten seconds of a conversation being replayed in the real app.

scripts/demo --no-ui
mmrag ui runs/demo-* --port 7860 &
python scripts/replay_loop.py http://127.0.0.1:7860 docs/images/replay-loop.webp

`--session ID` and `--condition SPEC` choose the conversation; else it is the first one. The file is
an animated WebP (or GIF, by its name) of at most 3 MB.
"""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, sync_playwright

SECONDS = 10.0
MOST_BYTES = 3_000_000
MOVE = "(it, to) => { it.value = to; it.dispatchEvent(new Event('input', {bubbles: true})) }"
WIDTH = 960
"""Pixels of a frame; the app is looked at in 1280 × 800."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="where `mmrag ui` listens")
    parser.add_argument("out", type=Path, help="NAME.webp or NAME.gif")
    parser.add_argument("--run", default="")
    parser.add_argument("--session", default="")
    parser.add_argument("--condition", default="")
    parser.add_argument("--theme", default="light", choices=["light", "dark"])
    asked = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        size: Any = {"width": 1280, "height": 800}
        page = browser.new_page(viewport=size, color_scheme=asked.theme)
        page.set_default_timeout(60_000)
        wanted = {
            "run": asked.run, "session": asked.session, "degradation": asked.condition,
            "condition": asked.condition,
        }  # fmt: skip
        page.goto(f"{asked.url.rstrip('/')}/?{urlencode({k: v for k, v in wanted.items() if v})}")
        frames = replayed(page)
        browser.close()
    size_kb, quality = save(frames, asked.out)
    print(f"{asked.out}: {len(frames)} frames, {size_kb:.0f} kB, quality {quality}")


def replayed(page: Page) -> list[Image.Image]:
    """A frame of each moment: the picture, how it was before, every turn, one turn's evidence."""
    page.locator(".mm-turn").first.wait_for()
    page.wait_for_timeout(2500)
    page.add_style_tag(content=":focus, :focus-visible { outline: none !important }")
    page.locator(".mm-conversation").first.focus()
    page.keyboard.press("Home")
    frames = [shot(page)]
    slider = page.locator(".mm-slider").first
    if slider.count():
        for value in (30, 10, 40, 75, 100, 50):
            slider.evaluate(MOVE, value)
            frames.append(shot(page, wait=150))
    page.locator(".mm-conversation").first.focus()
    for _ in range(page.locator(".mm-turn").count() - 1):
        page.keyboard.press("ArrowRight")
        frames += [shot(page)]
    for _ in range(4):
        page.mouse.move(900, 500)
        page.mouse.wheel(0, 160)
        frames.append(shot(page, wait=150))
    return frames


def shot(page: Page, *, wait: int = 500) -> Image.Image:
    page.wait_for_timeout(wait)
    frame = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return frame.resize((WIDTH, frame.height * WIDTH // frame.width), Image.Resampling.LANCZOS)


def save(frames: list[Image.Image], out: Path) -> tuple[float, int]:
    """The best quality that fits; returns kilobytes and quality."""
    each = round(1000 * SECONDS / len(frames))
    for quality in (85, 75, 65, 50, 35):
        buffer = io.BytesIO()
        kind = "GIF" if out.suffix.lower() == ".gif" else "WEBP"
        how: dict[str, Any] = {"quality": quality, "method": 6} if kind == "WEBP" else {}
        shown = frames
        if kind == "GIF":
            shown = [f.quantize(max(32, 3 * quality), dither=Image.Dither.NONE) for f in frames]
        shown[0].save(
            buffer, kind, save_all=True, append_images=shown[1:], duration=each, loop=0, **how
        )
        if buffer.tell() <= MOST_BYTES:
            out.write_bytes(buffer.getvalue())
            return buffer.tell() / 1000, quality
    raise SystemExit(f"{out}: larger than {MOST_BYTES:,} bytes at any quality; show fewer frames")


if __name__ == "__main__":
    main()
