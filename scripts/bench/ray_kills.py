"""Kill workers, keepers, nodes and the driver of runs on a local cluster, at random, many times.

    python scripts/bench/ray_kills.py [--kills 100] [--sessions 200] [--nodes 4] [--seed 1]

Each run is gone on with after every kill until it is through; then its figures must be byte for
byte those of one process, and its records equal but for their times.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from simulator.application.finished_run import load_run
from simulator.store.run_store import RunReader

ROOT = Path(__file__).parents[2]
MEMORY = 80 << 20
KINDS = ("worker", "worker", "keeper", "node", "driver")

AGENT = """
import asyncio, os, zlib
from pathlib import Path

HERE = Path(__file__).parent

class Chain:
    async def answer(self, query):
        with (HERE / "asked").open("a") as file:
            file.write(f"{os.getpid()} {query.session_id}/{query.turn_index}\\n")
        await asyncio.sleep(float((HERE / "wait").read_text()))
        said = [f"{e.query}{e.reply}" for e in query.history]
        return f"It is {zlib.crc32(repr((said, query.text)).encode())} of them."
"""


def settings(folder: Path, out: str) -> list[str]:
    return [
        "run", "--data", str(folder / "data.jsonl"), "--agent", "python:name=chain/Chain",
        "--judge", "exact", "--search", "none", "--stop", "never", "--out", out,
    ]  # fmt: skip


def write_data(path: Path, sessions: int) -> int:
    turns = 0
    with path.open("w") as file:
        for number in range(sessions):
            asked = [
                {"query": f"How many of {number} are there in {turn}?", "references": [str(turn)]}
                for turn in range(3 + number % 4)
            ]
            turns += len(asked)
            file.write(json.dumps({"session_id": f"s{number:04d}", "turns": asked}) + "\n")
    return turns


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / "stderr").open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-m", "simulator.cli", *arguments], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=stderr,
            env={**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"},
        )  # fmt: skip


def asked(folder: Path) -> list[str]:
    file = folder / "asked"
    return file.read_text().splitlines() if file.exists() else []


def committed(run: Path) -> int:
    with contextlib.suppress(Exception), RunReader(run) as reader:
        return sum(reader.turn_counts().values())
    return 0


def records(run: Path) -> str:
    turns = load_run(run).turns().drop(columns=["seconds"])
    return turns.to_json(orient="records")


def aggregate(run: Path) -> str:
    return json.dumps(load_run(run).score(), sort_keys=True, default=str)


def others(run: Path, folder: Path) -> list[Any]:
    """Turns that are not those of one process."""
    both = (json.loads(records(path)) for path in (folder / "one", run))
    pairs = list(zip(*both, strict=False))
    return [
        {key: (a[key], b[key]) for key in a if a[key] != b[key]} | {"id": b["session_id"]}
        for a, b in pairs
        if a != b
    ][:5]


class Attack:
    """One cluster, and what was killed on it."""

    def __init__(self, folder: Path, nodes: int, seed: int) -> None:
        from ray.cluster_utils import Cluster

        self.folder, self.rng = folder, random.Random(seed)
        head = {"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self._node() for _ in range(nodes - 1)]
        self.killed: Counter[str] = Counter()

    def _node(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY)

    def hold(self, run: Path, most: int) -> None:
        """Hold one run to its end, with at most so many kills."""
        on_ray = ["--backend", "ray", "--address", self.cluster.address, "--stores", "3"]
        on_ray += ["--concurrency", "16", "--workers", "4"]
        driver = start(self.folder, *settings(self.folder, run.name), *on_ray)
        left, before = most, 0
        while driver.poll() is None:
            goal = len(asked(self.folder)) + self.rng.randrange(10, 60)
            while driver.poll() is None and len(asked(self.folder)) < goal:
                time.sleep(0.02)
            if driver.poll() is not None or not left:
                continue
            there = committed(run)
            assert there >= before, f"{before - there} committed turns were lost"
            before = there
            kind = self.rng.choice(KINDS)
            if self._kill(kind, run, driver):
                left -= 1
                self.killed[kind] += 1
            if kind == "driver" and driver.poll() is not None:
                driver = start(self.folder, "resume", run.name, *on_ray)
        assert driver.returncode == 0, (self.folder / "stderr").read_text()[-2000:]

    def _kill(self, kind: str, run: Path, driver: subprocess.Popen[bytes]) -> bool:
        with contextlib.suppress(ProcessLookupError, ValueError, IndexError, FileNotFoundError):
            if kind == "worker":
                os.kill(int(asked(self.folder)[-1].split()[0]), signal.SIGKILL)
            elif kind == "keeper":
                locks = sorted(run.glob("shards/*/lock"))
                os.kill(int(self.rng.choice(locks).read_text()), signal.SIGKILL)
            elif kind == "node":
                node = self.nodes.pop(self.rng.randrange(len(self.nodes)))
                self.cluster.remove_node(node, allow_graceful=False)
                self.nodes.append(self._node())
            else:
                driver.kill()
                driver.communicate()
            return True
        return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wait", type=float, default=0.3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "chain.py").write_text(AGENT)
        (folder / "wait").write_text("0")
        turns = write_data(folder / "data.jsonl", args.sessions)
        one = start(folder, *settings(folder, "one"))
        assert one.wait() == 0, (folder / "stderr").read_text()[-2000:]
        assert len(asked(folder)) == turns, "the data were not read as they were meant"
        wanted = aggregate(folder / "one"), records(folder / "one")
        (folder / "wait").write_text(str(args.wait))
        attack, runs, repeats = Attack(folder, args.nodes, args.seed), 0, 0
        began = time.monotonic()
        while (left := args.kills - sum(attack.killed.values())) > 0:
            (folder / "asked").unlink()
            (folder / "asked").touch()
            run = folder / f"run-{runs}"
            attack.hold(run, left)
            found = aggregate(run), records(run)
            assert found == wanted, (
                f"{run.name} is not what one process made: {others(run, folder)}"
            )
            runs, repeats = runs + 1, repeats + len(asked(folder)) - turns
            print(
                f"run {runs}: {turns} turns, {len(asked(folder)) - turns} asked again; "
                f"killed so far {dict(attack.killed)}; figures and records those of one process",
                flush=True,
            )
        attack.cluster.shutdown()
        print(
            f"{runs} runs of {args.sessions} conversations ({turns} turns) on {args.nodes} nodes: "
            f"{sum(attack.killed.values())} kills {dict(attack.killed)}, 0 turns lost, 0 twice, "
            f"{repeats} of {runs * turns} asked again, {time.monotonic() - began:.0f} s"
        )


if __name__ == "__main__":
    main()
