"""The loop at the top of README: ten seconds of a conversation being replayed in the real app.

    python scripts/replay_loop.py      # everything: a run of the mini world, the app, the picture

The run is made in runs/loop unless it is there already; `--run FOLDER` takes another one, and
`--session ID` another conversation than the one that shows most. The file is an animated WebP (or
GIF, by its name) of at most 3 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from simulator.store.run_reader import RunReader
from ui.replay.conversation_list import ConversationList, Filter, ListedConversation

OUT = Path(__file__).parent.parent / "docs" / "images" / "replay-loop.webp"
RUN = Path("runs") / "loop"
CONDITIONS = "clean,low-light@4,blurred@4,occluded@4"
SIZE: Any = {"width": 1280, "height": 800}
WIDTH = 1120
"""Pixels of a frame."""
MOST_BYTES = 3_000_000
SECONDS = 10.0
MOVE = "(it, to) => { it.value = to; it.dispatchEvent(new Event('input', {bubbles: true})) }"

Frame = tuple[Image.Image, float]
"""A picture and how long it is seen, in parts of the whole."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=RUN, help=f"folder of a run (default {RUN})")
    parser.add_argument("--session", default="", help="id of the conversation")
    parser.add_argument("--out", type=Path, default=OUT, help="NAME.webp or NAME.gif")
    parser.add_argument("--theme", default="light", choices=["light", "dark"])
    asked = parser.parse_args()
    if asked.run == RUN:  # goes on where it stopped, and does nothing twice
        call = ["run", "--data", "mini", "--agent", "grounded", "--degrade", CONDITIONS]
        mmrag(*call, "--limit", "12", "--seconds", "120", "--concurrency", "2", "--out", str(RUN))
    with RunReader(asked.run) as run:
        found = ConversationList(run)
        best = max(found.find_conversations(Filter()), key=telling)
        session = asked.session or best.session_id
        there = found.conversation(session)
        worse = max((row.degradation for row in there.rows[1:]), key=lambda c: lost(there, c))
    with served(asked.run) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme=asked.theme)
        page.set_default_timeout(120_000)
        page.goto(f"{url}/?tab=replay&session={quote(session)}")
        frames = replayed(page, worse)
        browser.close()
    size_kb, quality = save(frames, asked.out)
    print(f"{asked.out}: {session}, {worse}, {len(frames)} frames, {size_kb:.0f} kB at {quality}")


def telling(one: ListedConversation) -> tuple[int, bool, int]:
    """How much there is to see in a conversation: right answers, and what pictures cost it."""
    clean = right(one.rows[0].outcomes)
    worst = max((lost(one, row.degradation) for row in one.rows[1:]), default=0)
    return (min(sum(clean), 3) + min(worst, 3), clean[:1] == [True], -abs(len(clean) - 4))


def right(outcomes: tuple[str, ...]) -> list[bool]:
    return [outcome in ("perfect", "acceptable") for outcome in outcomes]


def lost(one: ListedConversation, condition: str) -> int:
    """Turns that were right on the clean picture and are not on this one."""
    (row,) = (row for row in one.rows if row.degradation == condition)
    pairs = zip(right(one.rows[0].outcomes), right(row.outcomes), strict=False)
    return sum(before and not after for before, after in pairs)


def mmrag(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "simulator.cli", *arguments], check=True)


@contextlib.contextmanager
def served(run: Path) -> Iterator[str]:
    """The app over a run, at a port of its own."""
    command = [sys.executable, "-m", "simulator.cli", "ui", str(run), "--port", "0"]
    app = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert app.stderr is not None
        said = next((line for line in app.stderr if "http://" in line), "")
        yield re.findall(r"http://[^\s]+", said)[0].rstrip("/")
    finally:
        app.terminate()
        app.wait()


def replayed(page: Page, worse: str) -> list[Frame]:
    """The conversation turn by turn, the evidence of one of them, and the same in the dark."""
    turns = page.locator(".mm-conversation .mm-turn")
    turns.first.wait_for()
    page.wait_for_timeout(3000)
    page.add_style_tag(content=":focus, :focus-visible { outline: none !important }")
    page.locator(".mm-conversation").focus()
    frames: list[Frame] = []
    for number in range(1, turns.count() + 1):
        page.keyboard.press(" ")
        page.wait_for_function(
            "n => document.querySelectorAll('.mm-turn:not(.mm-later)').length >= n", arg=number
        )
        page.keyboard.press(" ")  # stands still for its picture
        frames.append(shot(page, 1.0))
    page.keyboard.press("Home")
    page.keyboard.press("e")
    if page.locator(".mm-now .mm-hits").count():
        page.locator(".mm-now .mm-hits").evaluate("hits => hits.scrollIntoView({block: 'center'})")
    frames.append(shot(page, 1.8, wait=1500))  # what was found, with its pictures
    page.keyboard.press("e")
    page.locator(f".mm-conditions [data-condition='{worse}']").click()
    page.locator(f".mm-conversation[data-condition='{worse}'] .mm-slider").wait_for()
    slider = page.locator(".mm-slider").first
    slider.evaluate(MOVE, 100)
    frames.append(shot(page, 0.5, wait=1500))
    for split in (90, 75, 60, 45, 30, 15, 5, 0):
        slider.evaluate(MOVE, split)
        frames.append(shot(page, 0.13, wait=100))
    page.locator(".mm-conversation").focus()
    for _ in range(turns.count() - 1):
        page.keyboard.press("ArrowRight")
        frames.append(shot(page, 0.9))
    return [*frames[:-1], (frames[-1][0], 1.6)]


def shot(page: Page, seconds: float, *, wait: int = 400) -> Frame:
    page.wait_for_timeout(wait)
    frame = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    size = WIDTH, frame.height * WIDTH // frame.width
    return frame.resize(size, Image.Resampling.LANCZOS), seconds


def save(frames: list[Frame], out: Path) -> tuple[float, int]:
    """The best quality that fits; returns kilobytes and quality."""
    whole = sum(seconds for _, seconds in frames)
    times = [round(1000 * SECONDS * seconds / whole) for _, seconds in frames]
    pictures = [picture for picture, _ in frames]
    for quality in (90, 80, 70, 60, 45):
        buffer = io.BytesIO()
        shown, more = pictures, {}
        if out.suffix.lower() == ".gif":
            shown = [p.quantize(max(32, 2 * quality), dither=Image.Dither.NONE) for p in pictures]
        else:
            more = {"quality": quality, "method": 6, "minimize_size": True}
        kind = "GIF" if out.suffix.lower() == ".gif" else "WEBP"
        shown[0].save(
            buffer, kind, save_all=True, append_images=shown[1:], duration=times, loop=0, **more
        )
        if buffer.tell() <= MOST_BYTES:
            out.write_bytes(buffer.getvalue())
            return buffer.tell() / 1000, quality
    raise SystemExit(f"{out}: larger than {MOST_BYTES:,} bytes at any quality; show fewer frames")


if __name__ == "__main__":
    main()
