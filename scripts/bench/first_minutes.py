"""What the first minutes cost on a fresh clone, stage by stage, in processor and clock seconds.

    python scripts/bench/first_minutes.py [REPOSITORY] [--sessions N] [--venv FOLDER]

It clones REPOSITORY (this checkout) with --depth 1 and goes through what a newcomer goes through:
the environment, the first conversation (with whatever has to be built before it), the demo's
conversations, the report, the app's first page, the start of a command. The processor time of every
process that a stage starts is counted, so what else the machine does matters little; the clock
only means something where nothing else runs. `--venv` takes an environment that is there, and
leaves its stage out. Each stage begins with an empty cache folder of our own; pip's is used.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Stages:
    """Runs stages and keeps what they took."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        before, began = _spent(), time.perf_counter()
        yield
        row = (name, _spent() - before, time.perf_counter() - began)
        self.rows.append(row)
        print(f"| {row[0]} | {row[1]:.1f} | {row[2]:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", nargs="?", default=f"file://{ROOT}")
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--conditions", default="clean,low-light@4,occluded@4")
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--keep", type=Path, help="Use and keep this folder.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure((args.keep or Path(name)).absolute(), args)


def measure(place: Path, args: argparse.Namespace) -> None:
    stages, clone = Stages(), place / "clone"
    env = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    env |= {"XDG_CACHE_HOME": str(place / "cache"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false"}  # fmt: skip
    pip_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pip"
    (place / "cache").mkdir(parents=True, exist_ok=True)
    env["PIP_CACHE_DIR"] = os.environ.get("PIP_CACHE_DIR", str(pip_cache))

    def call(*command: str) -> None:
        subprocess.run(command, cwd=clone, env=env, check=True, stdout=subprocess.DEVNULL)

    print("| stage | processor s | clock s |\n|---|---|---|")
    with stages.stage("git clone --depth 1"):
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", args.repository, str(clone)],
                       check=True)  # fmt: skip
    history, everything = _size(clone / ".git"), _size(clone)
    python = str(clone / ".venv" / "bin" / "python")
    if args.venv is None:
        with stages.stage("environment (scripts/demo --install)"):
            call("./scripts/demo", "--install")
    else:
        python = str(args.venv / "bin" / "python")
        env["PYTHONPATH"] = str(clone)
    mmrag = (python, "-m", "simulator.cli")
    call(*mmrag, "--help")  # byte code
    with stages.stage("import simulator"):
        call(python, "-c", "import simulator")
    with stages.stage("mmrag --help"):
        call(*mmrag, "--help")
    run = (*mmrag, "run", "--data", "mini", "--json", "--seconds", "600")
    with stages.stage("first conversation, with what is built before it"):
        call(*run, "--agent", "grounded", "--limit", "1", "--out", "runs/first")
    with stages.stage("the same with all there"):
        call(*run, "--agent", "grounded", "--limit", "1", "--out", "runs/second")
    conditions = ("--limit", str(args.sessions), "--degrade", args.conditions)
    for agent in ("grounded", "task3"):
        with stages.stage(f"{args.sessions} conversations, three conditions: {agent}"):
            call(*run, *conditions, "--agent", agent, "--out", f"runs/{agent}")
    with stages.stage("report"):
        call(*mmrag, "report", "runs/grounded", "--out", "runs/report")
    with stages.stage("the app's first page"):
        answers((*mmrag, "ui", "runs/grounded", "runs/task3"), clone, env)
    with stages.stage("the demo without the app: both agents, scores, comparison, report"):
        call(python, "scripts/demo.py", "--no-ui")
    print(
        f"\ncloned: {history / 1e6:.0f} MB of history, {(everything - history) / 1e6:.0f} of files"
    )
    print(json.dumps({name: [round(cpu, 1), round(clock)] for name, cpu, clock in stages.rows}))


def answers(command: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> None:
    """Start the app, wait for its page, end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = subprocess.Popen([*command, "--port", str(port)], cwd=cwd, env=env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        _until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read())
    finally:
        app.terminate()
        app.wait()


def _until(ask: Callable[[], object], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            ask()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


def _spent() -> float:
    """Of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(folder: Path) -> int:
    return sum(p.lstat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


if __name__ == "__main__":
    main()
