"""200 conversations at five stages under six conditions, killed five times, and no difference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from killed_programs import killed_when
from test_kill import committed

from simulator.run.captures import KINDS

CONDITIONS = ("clean", *(f"{kind}@3" for kind in KINDS))

PROGRAM = """
import sys
sys.path[:0] = {places!r}
from pathlib import Path
from mmrag.agents.fakes import Oracle
from staged_runs import dues_of, hold_staged, some

sessions = some(200, turns=2)
print("begun", flush=True)
agent = Oracle(dues_of(sessions), "named", share=0.5, noise=0.1)
hold_staged(Path({folder!r}), sessions, agent, degradations={conditions!r}, concurrency=8)
"""


def program(folder: Path) -> list[str]:
    tests = Path(__file__).parents[2]
    places = [str(tests), str(tests / "stages")]
    code = PROGRAM.format(places=places, folder=str(folder), conditions=CONDITIONS)
    return [sys.executable, "-c", code]


def test_killed_five_times_it_ends_with_the_same_rows(tmp_path: Path) -> None:
    killed, whole, turns = tmp_path / "killed", tmp_path / "whole", 200 * 2 * (2 * 6 + 3)
    for time_ in range(1, 6):
        wanted = turns * time_ // 6
        killed_when(program(killed), lambda wanted=wanted: committed(killed) >= wanted)
    for folder in (killed, whole):
        subprocess.run(program(folder), check=True, capture_output=True, timeout=600)
    assert committed(whole) == turns
    assert rows_of(killed) == rows_of(whole)


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    """Everything but times, in a fixed order."""
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as run:
        return [
            (condition, session, t.turn_index, t.query, str(t.status), t.reply, t.verdict)
            for session, condition in run.session_keys()
            for t in run.turns(session, condition)
        ]
