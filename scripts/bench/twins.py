"""Do pixels predict physics? The same conversations under the optics and under physical twins.

    mmrag world twins WORLD --out TWINS --workers 2
    python scripts/bench/twins.py TWINS --search INDEX --agents grounded,task3

Each agent holds the conversations with the clean pictures, with the optics on top of them, and
with the physical twins of the same kinds and severities. Printed are the losses of truthfulness in
points against the clean pictures, paired by conversation, with 95 % intervals, side by side, and
the rank correlation of the two columns of losses.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from mmrag.metrics.statistics import bootstrap_replicates
from simulator import evaluate

OPTICS = {
    "low-light": "low-light", "blurred": "blurred:motion", "out-of-focus": "blurred:defocus",
    "occluded": "occluded:finger", "truncated": "truncated", "rotated": "rotated",
}  # fmt: skip
"""Kind of a twin → what the optics call it."""
POINTS = {"perfect": 1.0, "acceptable": 0.5, "incorrect": -1.0}
"""Outcome of a turn → what it counts; all else is 0."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("twins", type=Path, help="folder that `mmrag world twins` wrote")
    parser.add_argument("--search", default="auto", help="index of the world")
    parser.add_argument("--agents", default="grounded,task3:model=extractive")
    given = parser.parse_args()
    tables = sorted(p for p in given.twins.glob("*@*.parquet"))
    with tempfile.TemporaryDirectory() as folder:
        for agent in given.agents.split(","):
            told(agent, given.twins, tables, given.search, Path(folder))


def told(agent: str, twins: Path, tables: list[Path], search: str, folder: Path) -> None:
    def scores(data: Path, degrade: str, name: str) -> pd.DataFrame:
        run = evaluate(
            agent, f"twins:{data}", degrade=degrade, search=search, progress=False,
            out=folder / f"{agent}-{name}".replace(":", "_").replace("/", "_"),
        )  # fmt: skip
        turns = run.turns()
        turns["points"] = turns["outcome"].map(POINTS).fillna(0.0)
        return turns.groupby("session_id")["points"].agg(["sum", "size"])

    clean = scores(twins / "clean.parquet", "none", "clean")
    whole = clean["sum"].sum() / clean["size"].sum()
    print(f"\n{agent}: clean {100 * whole:+.1f} over {len(clean)} conversations\n")
    print("| condition | optics | physical |\n|---|---|---|")
    losses: list[tuple[float, float]] = []
    for table in tables:
        kind, severity = table.stem.split("@")
        optics = scores(twins / "clean.parquet", f"{OPTICS[kind]}@{severity}", f"o-{table.stem}")
        physical = scores(table, "none", f"p-{table.stem}")
        cells: list[str] = []
        pair: list[float] = []
        for after in (optics, physical):
            lost = (after["sum"] - clean["sum"]).to_numpy(float)
            size = clean["size"].to_numpy(float)
            low, high = np.nanpercentile(bootstrap_replicates(lost, size), (2.5, 97.5))
            pair.append(100 * lost.sum() / size.sum())
            cells.append(f"{pair[-1]:+.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        losses.append((pair[0], pair[1]))
        print(f"| {table.stem} | {cells[0]} | {cells[1]} |", flush=True)
    if len(losses) > 2:
        rho = spearmanr(*zip(*losses, strict=True)).statistic
        print(f"\nrank correlation of the losses: {rho:.2f} over {len(losses)} conditions")


if __name__ == "__main__":
    main()
