"""A sweep against the same settings run one by one: what sharing saves.

    python scripts/bench/sweep.py [--data mini] [--limit 6] [--agent SPEC] [--vary OPTION=V,V …]

Both sides hold the same conversations in the same settings: `mmrag sweep` in one process, and
`mmrag run` (then `mmrag measure`) once per setting, as one would by hand, with the same cache
folder. Printed are processor time, which other work on the machine hardly changes, and wall time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from simulator.experiments.sweep import folder_of, parse_vary, settings_of
from simulator.store.run_store import RunReader


class Took(NamedTuple):
    """What commands took together."""

    processor: float
    wall: float


def took(*commands: list[str]) -> Took:
    """Run commands of `mmrag` one after the other."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    for command in commands:
        subprocess.run(
            [sys.executable, "-m", "simulator.cli", *command], check=True, capture_output=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(used, time.perf_counter() - began)


def replies(folder: Path) -> list[str]:
    """What was said, to see that both sides said the same."""
    with RunReader(folder) as run:
        return [result.reply.text if result.reply else "" for result in run.results()]


def main() -> None:
    """Run both sides and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="mini")
    parser.add_argument("--limit", type=int, default=6)
    parser.add_argument("--agent", default="rag:reader=builtin,retriever=bm25,chunk=128,top_k=5")
    parser.add_argument("--vary", action="append", default=[])
    parser.add_argument("--measures", default="token_f1")
    given = parser.parse_args()
    varied = given.vary or ["chunk=256,512", "top_k=1,2,8"]
    settings = settings_of(given.agent, parse_vary(varied), grid=False)
    same = ["--data", given.data, "--limit", str(given.limit), "--seconds", "0"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        runs, alone = [place / str(number) for number in range(len(settings))], list[list[str]]()
        for setting, folder in zip(settings, runs, strict=True):
            alone.append(["run", *same, "--agent", setting.agent, "--out", str(folder)])
            if given.measures:
                alone.append(["measure", str(folder), "--measures", given.measures])
        sweep = ["sweep", *same, "--agent", given.agent, "--measures", given.measures]
        sweep += [word for one in varied for word in ("--vary", one)]
        together = took([*sweep, "--out", str(place / "sweep")])
        apart = took(*alone)
        for setting, folder in zip(settings, runs, strict=True):
            if replies(folder) != replies(folder_of(place / "sweep", setting)):
                raise SystemExit(f"{setting.name}: the two sides said different things.")
    print(f"{len(settings)} settings, {given.limit} conversations of {given.data}")
    print(f"one by one  {apart.processor:7.1f} s of processor, {apart.wall:7.1f} s")
    print(f"sweep       {together.processor:7.1f} s of processor, {together.wall:7.1f} s")
    print(f"faster      {apart.processor / together.processor:7.1f} ×,           "
          f"{apart.wall / together.wall:7.1f} ×")  # fmt: skip


if __name__ == "__main__":
    main()
