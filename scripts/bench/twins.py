"""Do pixels predict physics? The same conversations under the optics and under physical twins.

    mmrag world twins WORLD --out TWINS --workers 2
    python scripts/bench/twins.py TWINS --search INDEX

First the search alone: in how many pictures the thing asked about is found, which says more about
the pictures than what an agent makes of it. Then each agent holds the conversations with the clean
pictures, with the optics on top of them, and with the physical twins of the same kinds and
severities. Printed are the losses in points against the clean pictures, paired by conversation,
with 95 % intervals, side by side, and the rank correlation of the two columns of losses.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from mmrag.metrics.statistics import bootstrap_replicates
from mmrag.search.index.open import open_index
from simulator import evaluate
from simulator.experiments.search_eval import image_cases
from simulator.world.sessions import TwinTable

OPTICS = {
    "low-light": "low-light", "blurred": "blurred:motion", "out-of-focus": "blurred:defocus",
    "occluded": "occluded:finger", "truncated": "truncated", "rotated": "rotated",
}  # fmt: skip
"""Kind of a twin → what the optics call it."""
FOUND = (("whole", 30), ("regions", 30), ("regions, of the kind", 1))
"""Way of searching, and among how many the thing must be."""
POINTS = {"perfect": 1.0, "acceptable": 0.5, "incorrect": -1.0}
"""Outcome of a turn → what it counts; all else is 0."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("twins", type=Path, help="folder that `mmrag world twins` wrote")
    parser.add_argument("--search", required=True, help="index of the world")
    parser.add_argument("--world", type=Path, default=Path("assets/mini"))
    parser.add_argument(
        "--agents",
        default="search,grounded,task3",
        help="`search` is the image search alone",
    )
    parser.add_argument("--out", type=Path, help="keep the runs there, and go on with them")
    given = parser.parse_args()
    tables = sorted(p for p in given.twins.glob("*@*.parquet"))
    with tempfile.TemporaryDirectory() as folder:
        for agent in given.agents.split(","):
            if agent == "search":
                searched(given.twins, tables, given.world, given.search)
            else:
                held(agent, given.twins, tables, given.search, given.out or Path(folder))


def searched(twins: Path, tables: list[Path], world: Path, search: str) -> None:
    """Losses of the image search, for each way of `FOUND`."""
    index = open_index(search)

    def hits(table: Path, condition: str) -> dict[str, pd.DataFrame]:
        cases = image_cases(world, list(TwinTable(table)), index, condition, seed=0)
        return {
            f"{way}@{k}": pd.DataFrame(
                [(c.session, float(any(r <= k for r in c.ranks)), 1) for c in cases[way]],
                columns=["session_id", "sum", "size"],
            ).set_index("session_id")
            for way, k in FOUND
        }

    clean = hits(twins / "clean.parquet", "clean")
    optics = {t: hits(twins / "clean.parquet", named(t)) for t in tables}
    physical = {t: hits(t, "clean") for t in tables}
    for way, before in clean.items():
        compared(f"search, {way}", before, {t: (optics[t][way], physical[t][way]) for t in tables})


def held(agent: str, twins: Path, tables: list[Path], search: str, folder: Path) -> None:
    """Losses of an agent's truthfulness."""

    def scores(data: Path, degrade: str) -> dict[str, pd.DataFrame]:
        run = evaluate(
            agent, f"twins:{data}", degrade=degrade, search=search, progress=False,
            out=folder / f"{agent}-{data.stem}".replace(":", "_").replace("/", "_"),
        )  # fmt: skip
        turns = run.turns()
        turns["points"] = turns["outcome"].map(POINTS).fillna(0.0)
        return {
            str(condition): some.groupby("session_id")["points"].agg(["sum", "size"])
            for condition, some in turns.groupby("degradation")
        }

    optics = scores(twins / "clean.parquet", ",".join(["clean", *map(named, tables)]))
    physical: dict[Path, pd.DataFrame] = {}
    for table in tables:  # named by what happened, not "clean"
        (physical[table],) = scores(table, "clean").values()
    compared(agent, optics["clean"], {t: (optics[named(t)], physical[t]) for t in tables})


def named(table: Path) -> str:
    """What the optics call a table's condition."""
    kind, severity = table.stem.split("@")
    return f"{OPTICS[kind]}@{severity}"


def compared(
    name: str, clean: pd.DataFrame, after: dict[Path, tuple[pd.DataFrame, pd.DataFrame]]
) -> None:
    """Print what was lost under the optics and under the twins, and whether the orders agree."""
    whole = clean["sum"].sum() / clean["size"].sum()
    print(f"\n{name}: clean {100 * whole:+.1f} over {len(clean)} conversations\n")
    print("| condition | optics | physical | optics less physical |\n|---|---|---|---|")
    losses: list[tuple[float, float]] = []
    size = clean["size"].to_numpy(float)
    for table, both in after.items():
        lost = [(one["sum"] - clean["sum"]).to_numpy(float) for one in both]
        cells: list[str] = []
        for points in (*lost, lost[0] - lost[1]):
            low, high = np.nanpercentile(bootstrap_replicates(points, size), (2.5, 97.5))
            mean = points.sum() / size.sum()
            cells.append(f"{100 * mean:+.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        losses.append((lost[0].sum(), lost[1].sum()))
        print(f"| {table.stem} | {' | '.join(cells)} |", flush=True)
    if len(losses) > 2:
        rho = spearmanr(*zip(*losses, strict=True)).statistic
        print(f"\nrank correlation of the losses: {rho:.2f} over {len(losses)} conditions")


if __name__ == "__main__":
    main()
