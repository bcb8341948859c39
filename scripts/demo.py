"""The demo: two agents talk about the mini world; the app shows it as it happens; then the scores.

Called by scripts/demo, which makes the environment first. Everything is offline; a second call does
what is missing and nothing twice.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

AGENTS = {"grounded": "grounded", "straightforward": "task3"}
"""Name of the run → agent: the one of parts, and the CRAG-MM paper's own."""

CONDITIONS = "clean,low-light@4,occluded@4"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="make .venv, and nothing else")
    parser.add_argument("--no-ui", action="store_true", help="stop after the scores")
    parser.add_argument("--sessions", type=int, default=8, help="conversations (default 8)")
    parser.add_argument("--port", type=int, default=7860)
    args = parser.parse_args()
    if args.sessions < 1:
        parser.error("--sessions: give at least 1")
    if args.install:
        print("\n.venv is made: . .venv/bin/activate")
        return
    runs = {spec: Path("runs") / f"demo-{name}-{args.sessions}" for name, spec in AGENTS.items()}
    folders = [str(folder) for folder in runs.values()]
    say(f"{args.sessions} conversations with each of {' and '.join(AGENTS)}: {CONDITIONS}")
    asking = [start_run(spec, folder, args.sessions) for spec, folder in runs.items()]
    app = None
    try:
        if not args.no_ui:
            say("the app, which shows conversations as they end; Ctrl-C ends it")
            app = start("ui", "--port", str(args.port))
        for process, folder in zip(asking, folders, strict=True):
            finish(process, Path(f"{folder}.log"))
        for folder in folders:
            say(f"what {folder} comes to")
            finish(start("score", folder))
        say("the difference between the two")
        finish(start("compare", *folders))
        report = runs[AGENTS["grounded"]] / "report"
        if not (report / "report.html").exists():
            finish(start("report", folders[0], "--out", str(report)))
        print(f"\nruns:   {'  '.join(folders)}\nreport: {report / 'report.html'}", flush=True)
        if app is None:
            print(f"app:    .venv/bin/mmrag ui {' '.join(folders)}")
        else:
            finish(app)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for process in (*asking, *([app] if app else [])):
            process.terminate()


def start_run(spec: str, folder: Path, sessions: int) -> subprocess.Popen[bytes]:
    """Two runs at once keep two cores busy, as one thread of each would not."""
    return start(
        "run", "--data", "mini", "--limit", str(sessions), "--agent", spec,
        "--degrade", CONDITIONS, "--out", str(folder), "--json", log=Path(f"{folder}.log"),
    )  # fmt: skip


def start(*arguments: str, log: Path | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "simulator.cli", *arguments]
    quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if log is None:
        return subprocess.Popen(command, env={**quiet, **os.environ})
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
        return subprocess.Popen(
            command, env={**quiet, **os.environ}, stdout=file, stderr=subprocess.STDOUT
        )


def finish(process: subprocess.Popen[bytes], log: Path | None = None) -> None:
    code = process.wait()
    if code == 130:
        sys.exit(130)
    if code:
        words = " ".join(str(word) for word in list(process.args)[3:])  # type: ignore[arg-type]
        last = log.read_text(errors="replace").strip().splitlines()[-1:] if log else []
        sys.exit(f"error: mmrag {words} failed (exit code {code}). {' '.join(last)}")


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
