"""Cost against size: turns, conversations, pages, pictures, runs on the board; one plot per area.

    python scripts/bench/growth.py [--doublings 5] [--out FOLDER]

Processor time of all threads in one process, the least of three tries where one takes less than a
second. The slope is that of the logarithms, over the upper half of the sizes: 1 is linear. `--out`
gets an SVG per area, drawn by matplotlib, which the extra `studio` brings.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2]))  # before this folder, which has a ui.py

import msgspec
from engine import Instant, hold, jpeg, sessions
from planted_runs import plant

from mmrag.judges.simple import FixedJudge
from mmrag.search.index.build import build_index
from mmrag.search.index.open import open_index
from mmrag.search.index.sources import open_source
from mmrag.search.vectors.nearest import GraphVectors, build_graph
from simulator.reports.draw.write import make_report
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_store import RunStore
from ui.home.board import Board
from ui.home.summary import Summaries
from ui.opened_runs import Runs

ROOT = Path(__file__).resolve().parents[2]

Task = Callable[[], Any]


def turns(size: int, folder: Path) -> Task:
    """One conversation of so many turns: asked, judged, kept."""
    _, one = next(iter(sessions(1, [jpeg(0)])))
    many = [msgspec.structs.replace(one.turns[0], index=i, id=str(i)) for i in range(size)]
    session = msgspec.structs.replace(one, turns=tuple(many))

    def task() -> None:
        with RunStore(folder / "run") as store:
            store.set_meta("judge", FixedJudge().id)
            asyncio.run(run_sessions(iter([(0, session)]), Instant(), FixedJudge(), store, Plan()))

    return task


def conversations(size: int, folder: Path) -> Task:
    """So many conversations of 3 to 6 turns: asked, judged, kept."""
    small = [jpeg(0)[:2048]]
    return lambda: hold(folder / "run", size, small)


def reported(size: int, folder: Path) -> Task:
    """The report of a run of so many conversations under three conditions."""
    conditions = ("clean", "low-light@3", "blurred@3")
    run = plant(folder / "run", sessions=size, conditions=conditions, shared_picture=True)
    return lambda: make_report([run], folder / "report")


def pages(size: int, folder: Path) -> Task:
    """The index of so many pages, encoded and searched once."""
    source = open_source(str(ROOT / "assets" / "mini"))
    assert size <= source.page_count, "the mini world has no more pages"
    some = source._replace(picture_count=0, page_count=size)

    def task() -> None:
        build_index(some, folder / "index")
        index = open_index(folder / "index")
        assert index.web is not None
        index.web.search_text(["how long is the warranty and who makes it"], 50)

    return task


def pictures(size: int, folder: Path) -> Task:
    """The graph of so many pictures' vectors, built, and searched a thousand times."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(max(size // 60, 10), 768)).astype(np.float32)
    rows = centres[rng.integers(len(centres), size=size)]
    rows = rows + 0.7 * rng.normal(size=rows.shape).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def task() -> None:
        build_graph(rows, folder / "graph")
        graph = GraphVectors.open(rows, folder / "graph")
        graph.search(rows[rng.integers(size, size=1000)], 30)

    return task


def board(size: int, folder: Path) -> Task:
    """The first look at a board of so many runs, none of them computed before."""
    run = plant(folder / "runs" / "run-0", sessions=6)
    for number in range(1, size):
        shutil.copytree(run, folder / "runs" / f"run-{number}")

    def task() -> None:
        shown = Board(Runs(watched=folder / "runs"), Summaries(), None)
        shown.rows()
        while shown.summaries.working:
            time.sleep(0.01)
        assert len(shown.rows()) == size

    return task


AREAS: dict[str, tuple[Callable[[int, Path], Task], int]] = {
    "turns": (turns, 16),
    "conversations": (conversations, 100),
    "report": (reported, 50),
    "pages": (pages, 50),
    "pictures": (pictures, 2000),
    "board": (board, 8),
}
"""What is measured, and its smallest size."""


def seconds(make: Callable[[int, Path], Task], size: int) -> float:
    """The least processor time of three tries, each in a folder of its own; of one, if that is
    long."""
    spent: list[float] = []
    while len(spent) < 3 and max(spent, default=0) < 1:
        with tempfile.TemporaryDirectory() as name:
            task = make(size, Path(name))
            began = time.process_time()
            task()
            spent.append(time.process_time() - began)
    return min(spent)


def slope(sizes: list[int], costs: list[float]) -> float:
    """The power by which cost grows with size, over the upper half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(costs[half:]), 1)[0])


def draw(path: Path, area: str, sizes: list[int], costs: list[float], power: float) -> None:
    """Cost against size on logarithmic axes, and a line of slope 1 through the last point."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = area  # the same points, the same bytes
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters as text, not as outlines
    figure = Figure((4.2, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.loglog(sizes, costs, "o-", color="#1f5fa8", label=f"slope {power:.2f}")
    line = [costs[-1] * size / sizes[-1] for size in sizes]
    axes.loglog(sizes, line, "--", color="#888888", label="linear")
    axes.set(xlabel=area, ylabel="processor seconds")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--doublings", type=int, default=5, choices=range(2, 9))
    parser.add_argument("--only", choices=list(AREAS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    for area, (make, first) in AREAS.items():
        if given.only not in (None, area):
            continue
        seconds(make, first)  # what is loaded once counts for nobody
        sizes = [first << n for n in range(given.doublings + 1)]
        costs = [seconds(make, size) for size in sizes]
        power = slope(sizes, costs)
        told = ", ".join(f"{n:,}: {s:.3g}" for n, s in zip(sizes, costs, strict=True))
        print(f"{area}: slope {power:.2f}; seconds by size {told}", flush=True)
        if given.out:
            given.out.mkdir(parents=True, exist_ok=True)
            draw(given.out / f"growth-{area}.svg", area, sizes, costs, power)


if __name__ == "__main__":
    main()
