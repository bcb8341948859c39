"""The app over a large run and over many: what is seen first, next, behind a cell; server memory.

    python scripts/bench/ui.py [--sessions 2000] [--conditions 6] [--runs 200]

Writes a run with a 960 × 1280 JPEG per conversation and condition, and a folder of small runs;
serves each in its own process, and looks at it in headless Chromium. The page is opened once before
(a browser's first start compiles scripts). Beside each time stands the processor time that server
and browser took for it together, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import httpx
import msgspec
from engine import jpeg
from playwright.sync_api import Page, expect, sync_playwright
from ui_parts import ARGUMENTS, CHROMIUM, press, result, session, write_run

from mmrag.files.images import LazyImage
from simulator.store.run_store import RunStore

PORT = 7893
# asked at every frame: Playwright's own waiting looks after 100 ms, 350 ms, 850 ms
SHOWN = "name => document.querySelector('.mm-head h2')?.textContent === name"
FOUND = "name => document.querySelector('#mm-examples h3')?.textContent === name"
NARROWED = "on => (document.querySelectorAll('#mm-sessions .mm-row').length === 1) === on"
URL = f"http://127.0.0.1:{PORT}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--conditions", type=int, default=6)
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "large", args.sessions, args.conditions)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{args.sessions} conversations × {args.conditions}, {size / 1e6:,.0f} MB on disk")
        (folder / "runs").mkdir()
        first = write_run(folder / "runs" / "run-000", 12)
        for number in range(1, args.runs):
            shutil.copytree(first, folder / "runs" / f"run-{number:03d}")
        expect.set_options(timeout=120_000)  # a busy machine is slow, not wrong
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            with served([str(folder / "large")], folder):
                large(browser, args.sessions)
            for what in ("computed for the first time", "computed before"):
                with served([], folder):
                    board(browser, args.runs, what)
            browser.close()


def write(run: Path, count: int, conditions: int) -> None:
    pictures, draw = [jpeg(i) for i in range(8)], Random(0)
    with RunStore(run) as store:
        store.set_meta("judge", "rules/1")
        for number in range(count):
            for severity in range(conditions):
                one = session(number, f"low-light@{severity}" if severity else "clean")
                assert one.capture is not None
                # its own picture: a few bytes after the end marker change the hash
                data = pictures[number % 8] + f"{number} {severity}".encode()
                seen = msgspec.structs.replace(one.capture, image=LazyImage.from_bytes(data))
                store.begin(number, msgspec.structs.replace(one, capture=seen))
                letters = draw.choices("cim", (9 - severity, 1, 1 + severity), k=4)
                done = [store.commit(result(one, i, letter)) for i, letter in enumerate(letters)]
            done[-1].result()  # no more waits to be written than a conversation
        store.set_meta("finished", True)


@contextlib.contextmanager
def served(runs: list[str], folder: Path) -> Iterator[None]:
    server = subprocess.Popen(
        [sys.executable, "-m", "simulator.cli", "ui", *runs, "--port", str(PORT)],
        stderr=subprocess.DEVNULL, cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    try:
        wait(URL)
        yield
        status = Path(f"/proc/{server.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        print(f"server memory, peak: {int(peak.split()[1]) / 1024:.0f} MiB")
    finally:
        server.terminate()
        server.wait()


def wait(url: str) -> None:
    for _ in range(240):
        try:
            httpx.get(url)
        except httpx.HTTPError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit("the server did not start")


class Cost(NamedTuple):
    """What one thing took, in seconds."""

    wall: float
    processor: float


def clocked(act: Callable[[], Any]) -> Cost:
    began, spent = time.perf_counter(), processor()
    act()
    return Cost(time.perf_counter() - began, processor() - spent)


def processor() -> float:
    """Seconds that all our descendants have worked: the server and the browser."""
    parents: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # gone since
            fields = stat.read_text().rpartition(")")[2].split()
            pid = int(stat.parent.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            ticks[pid] = sum(map(int, fields[11:15]))  # with those of children that have ended
    left, whole = list(parents.get(os.getpid(), [])), 0
    while left:
        pid = left.pop()
        whole += ticks[pid]
        left += parents.get(pid, [])
    return whole / os.sysconf("SC_CLK_TCK")


def told(what: str, costs: list[Cost]) -> None:
    least, middle, most = (1000 * f(c.wall for c in costs) for f in (min, statistics.median, max))
    work = statistics.median(cost.processor for cost in costs)
    load = os.getloadavg()[0]
    print(
        f"{what}: median {middle:.0f} ms ({least:.0f} to {most:.0f} of {len(costs)}), "
        f"processor {1000 * work:.0f} ms; load {load:.1f}",
        flush=True,
    )


def large(browser: Any, count: int) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    paints: list[float] = []
    opened: list[Page] = []

    def open_one() -> Page:
        page = context.new_page()
        page.goto(f"{URL}/?tab=replay")
        page.locator("#mm-view .mm-turn").first.wait_for()
        return page

    firsts: list[Cost] = []
    for _ in range(6):
        firsts.append(clocked(lambda: opened.append(open_one())))
        page = opened.pop()
        paints.append(page.evaluate("performance.getEntriesByName('first-paint')[0].startTime"))
        page.close()
    print(f"first paint: median {statistics.median(paints[1:]):.0f} ms")
    told(f"first conversation visible (cold browser {firsts[0].wall:.2f} s)", firsts[1:])
    page = open_one()
    page.wait_for_timeout(5000)  # what is computed once for all is
    nexts: list[Cost] = []
    for number in range(1, 31):

        def go(number: int = number) -> None:
            page.keyboard.press("j")
            page.wait_for_function(SHOWN, arg=f"talk-{number:04d}")

        nexts.append(clocked(go))
    told("next conversation", nexts)
    keys: list[Cost] = []
    for number in range(42, 102, 12):  # each counts, or the name waited for never comes

        def twelve(number: int = number) -> None:
            press(page, "j" * 12)
            page.wait_for_function(SHOWN, arg=f"talk-{number:04d}")

        keys.append(clocked(twelve))
    told("twelve keys in one instant, twelve conversations on", keys)
    filters: list[Cost] = []
    for number in range(count - 20, count):

        def narrow(number: int = number) -> None:
            page.fill("#mm-text", f"picture {number}?")
            page.wait_for_function(NARROWED, arg=True)

        filters.append(clocked(narrow))
        page.fill("#mm-text", "")
        page.wait_for_function(NARROWED, arg=False)
    told("filter as typed", filters)
    page.goto(f"{URL}/?tab=robustness")
    page.locator("#mm-examples h3").wait_for(timeout=600_000)
    cells = page.locator(".mm-cell[data-of]")
    names = [one.get_attribute("data-condition") for one in cells.all()]
    found: list[Cost] = []
    for place in [*range(1, len(names)), *range(len(names))]:

        def choose(place: int = place) -> None:
            cells.nth(place).click()
            page.wait_for_function(FOUND, arg=names[place])

        found.append(clocked(choose))
    told("photographs behind a cell of the map", found)

    def compare() -> None:
        page.goto(f"{URL}/?tab=compare")
        page.locator("#mm-pairs img").first.wait_for()

    told("two conditions compared", [clocked(compare) for _ in range(5)])
    context.close()


def board(browser: Any, runs: int, what: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()

    def rows() -> None:
        page.goto(f"{URL}/?tab=home")
        expect(page.locator("#mm-board tbody tr")).to_have_count(runs, timeout=120_000)

    scored = page.locator("#mm-board tbody tr:not([data-v-score=''])")
    whole = clocked(lambda: (rows(), expect(scored).to_have_count(runs, timeout=600_000)))
    print(f"board of {runs} runs, {what}: all scores after {whole.wall:.2f} s")
    told(f"board of {runs} runs, {what}, opened again", [clocked(rows) for _ in range(5)])
    context.close()


if __name__ == "__main__":
    main()
