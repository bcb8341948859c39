"""The app over a large run: first conversation, next conversation, server memory.

    python scripts/bench/ui.py [--sessions 2000]

Writes a run with a 960 × 1280 JPEG per conversation, serves it in its own process, and looks at
it in headless Chromium. The page is opened once before (a browser's first start compiles scripts).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "ui"))

import httpx
from engine import Instant, Yes, jpeg, sessions
from playwright.sync_api import expect, sync_playwright
from ui_parts import ARGUMENTS, CHROMIUM


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=2000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "large"
        write(run, args.sessions)
        size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
        print(f"{args.sessions} conversations with pictures, {size / 1e6:,.0f} MB on disk")
        server = subprocess.Popen(
            [sys.executable, "-m", "simulator.cli", "ui", str(run), "--port", "7893"],
            stderr=subprocess.DEVNULL,
        )
        try:
            wait("http://127.0.0.1:7893")
            look("http://127.0.0.1:7893")
            status = Path(f"/proc/{server.pid}/status").read_text()
            peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            print(f"server memory, peak: {int(peak.split()[1]) / 1024:.0f} MiB")
        finally:
            server.terminate()
            server.wait()


def write(run: Path, count: int) -> None:
    import asyncio

    from simulator.run.runner import Plan, run_sessions
    from simulator.store.run_store import RunStore

    pictures = [jpeg(i) for i in range(8)]
    with RunStore(run) as store:
        store.set_meta("judge", "fixed")
        asyncio.run(
            run_sessions(sessions(count, pictures), Instant(), Yes(), store, Plan(concurrency=64))
        )
        store.set_meta("finished", True)


def wait(url: str) -> None:
    for _ in range(120):
        try:
            httpx.get(url)
        except httpx.HTTPError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit("the server did not start")


def look(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        firsts: list[float] = []
        for _ in range(6):
            page = context.new_page()
            began = time.perf_counter()
            page.goto(url)
            page.locator(".mm-turn").first.wait_for()
            firsts.append(time.perf_counter() - began)
            page.close()
        page = context.new_page()
        page.goto(url)
        page.locator(".mm-turn").first.wait_for()
        nexts: list[float] = []
        for number in range(1, 31):
            began = time.perf_counter()
            page.click("#mm-next-session")
            expect(page.locator(".mm-head h2")).to_have_text(f"session-{number:06d}")
            nexts.append(time.perf_counter() - began)
        browser.close()
    warm = firsts[1:]
    print(f"first conversation visible: median {statistics.median(warm):.2f} s "
          f"(min {min(warm):.2f}, max {max(warm):.2f}; cold browser {firsts[0]:.2f})")  # fmt: skip
    print(f"next conversation: median {statistics.median(nexts) * 1000:.0f} ms "
          f"(max {max(nexts) * 1000:.0f} of {len(nexts)})")  # fmt: skip


if __name__ == "__main__":
    main()
