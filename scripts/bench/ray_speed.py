"""Speed of `--backend ray` on this machine: slow agents, busy agents, and stores.

    python scripts/bench/ray_speed.py [--sessions 640] [--repeats 3]

An agent of 200 ms, 64 conversations at once, against the ideal; an agent that keeps a core busy
for 50 ms, one worker against two; an instant agent, one store against four. What is timed is a
run's own work: from the first turn that is asked to the last, so that starting Ray does not count.
Runs of a pair follow each other; the ratio of each pair is told, and the median.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

AGENTS = """
import asyncio, time
from pathlib import Path

HERE = Path(__file__).parent

def asked(began):
    with (HERE / "times").open("a") as file:
        file.write(f"{began} {time.time()}\\n")

class Slow:
    async def answer(self, query):
        began = time.time()
        await asyncio.sleep(0.2)
        asked(began)
        return "I don't know."

class Busy:
    async def answer(self, query):
        began, until = time.time(), time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        asked(began)
        return "I don't know."

class Instant:
    async def answer(self, query):
        now = time.time()
        asked(now)
        return "I don't know."
"""


def write_data(folder: Path, sessions: int) -> None:
    """Conversations of equal length, so that none is left running alone at the end."""
    with (folder / "data.jsonl").open("w") as file:
        for i in range(sessions):
            turns = [{"query": f"What is {j} of {i}?", "references": [str(j)]} for j in range(4)]
            file.write(json.dumps({"session_id": f"s{i}", "turns": turns}) + "\n")


def timed(folder: Path, name: str, sessions: int, **flags: object) -> tuple[int, float]:
    """Turns, and seconds from the first that was asked to the last that was answered."""
    (folder / "times").unlink(missing_ok=True)
    out = folder / "run"
    command = [
        sys.executable, "-m", "simulator.cli", "run", "--data", str(folder / "data.jsonl"),
        "--limit", str(sessions),
        "--agent", f"python:name=clocked/{name}", "--search", "none", "--judge", "exact",
        "--stop", "never", "--backend", "ray", "--out", str(out), "--json",
    ]  # fmt: skip
    for key, value in flags.items():
        command += [f"--{key}", str(value)]
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    assert json.loads(done.stdout)
    times = [[float(at) for at in line.split()] for line in (folder / "times").open()]
    subprocess.run(["rm", "-rf", str(out)], check=True)
    return len(times), max(end for _, end in times) - min(began for began, _ in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=640)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clocked.py").write_text(AGENTS)
        write_data(folder, args.sessions)
        shares: list[float] = []
        for _ in range(args.repeats):
            turns, seconds = timed(folder, "Slow", args.sessions, workers=2, concurrency=64)
            shares.append(turns * 0.2 / 64 / seconds)
            print(f"200 ms, 64 at once: {turns} turns in {seconds:.2f} s", flush=True)
        print(f"  share of the ideal: {statistics.median(shares):.0%}")
        for agent, flag, few, many in (("Busy", "workers", 1, 2), ("Instant", "stores", 1, 4)):
            sessions = args.sessions // 4 if agent == "Busy" else args.sessions
            ratios: list[float] = []
            rates: dict[int, list[float]] = {few: [], many: []}
            for _ in range(args.repeats):
                for count in (few, many):
                    more = {} if flag == "workers" else {"workers": 2}
                    turns, seconds = timed(
                        folder, agent, sessions, concurrency=16, **{flag: count}, **more
                    )
                    rates[count].append(turns / seconds)
                ratios.append(rates[many][-1] / rates[few][-1])
            told = ", ".join(f"{n}: {statistics.median(r):,.0f}/s" for n, r in rates.items())
            print(f"{agent} agent, turns by {flag}: {told}; ratio {statistics.median(ratios):.2f}"
                  f" ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
