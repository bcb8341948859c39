"""`kill -9` at ten random moments; the resumed run ends as an uninterrupted one does."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import small_runs
from killed_programs import killed_when

from simulator.run.results.run_scoring import score_run
from simulator.store.run_reader import RunReader

PROGRAM = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from small_runs import ByNumber, make_session, run_all

sessions = [make_session(i, turns=2 + i % 5) for i in range(60)]
print("begun", flush=True)
run_all(Path({folder!r}), sessions, ByNumber(wait=0.02), concurrency=4)
"""


def program(folder: Path) -> list[str]:
    code = PROGRAM.format(here=str(Path(small_runs.__file__).parent), folder=str(folder))
    return [sys.executable, "-c", code]


def aggregate(folder: Path) -> bytes:
    with RunReader(folder) as run:
        return json.dumps(score_run(run), sort_keys=True).encode()


def count(folder: Path) -> int:
    with RunReader(folder) as run:
        return sum(run.turn_counts().values())


def committed(folder: Path) -> int:
    """Turns that are on the disk while the run goes on."""
    place = f"file:{folder}/run.sqlite?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(place, uri=True)) as db:
            return db.execute("SELECT COUNT(*) FROM turns").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_killed_ten_times_it_ends_with_the_same_aggregate(tmp_path: Path) -> None:
    rng = random.Random(20261121)
    killed, progress = tmp_path / "killed", [0]
    for _ in range(10):
        wanted = progress[-1] + rng.randrange(1, 13)
        killed_when(program(killed), lambda wanted=wanted: committed(killed) >= wanted)
        if (killed / "run.sqlite").exists():
            progress.append(count(killed))
    assert progress == sorted(progress), "a committed turn was lost"
    assert progress[-1] > 20
    for folder in (killed, tmp_path / "whole"):
        subprocess.run(program(folder), check=True, capture_output=True, timeout=120)
    assert progress[-1] < count(killed)
    assert aggregate(killed) == aggregate(tmp_path / "whole")
