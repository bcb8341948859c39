"""The demo: hold conversations about the mini world, print the scores, open the app.

Called by scripts/demo, which makes the environment first. Everything is offline; a second call does
what is missing and nothing twice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CONDITIONS = "clean,low-light@3,blurred@3,occluded@3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="make .venv, and nothing else")
    parser.add_argument("--no-ui", action="store_true", help="stop after the scores")
    parser.add_argument("--sessions", type=int, default=24, help="conversations (default 24)")
    parser.add_argument("--port", type=int, default=7860)
    args = parser.parse_args()
    if args.sessions < 1:
        parser.error("--sessions: give at least 1")
    if args.install:
        print("\n.venv is made: . .venv/bin/activate")
        return
    grounded = Path("runs") / f"demo-grounded-{args.sessions}"
    plain = Path("runs") / f"demo-straightforward-{args.sessions}"
    # four at once and a minute per turn: on a small or busy machine nothing is cut off by the clock
    limit = ["--data", "mini", "--limit", str(args.sessions), "--seconds", "60"]
    limit += ["--concurrency", "4"]
    say(f"the grounded agent, {args.sessions} conversations, pictures {CONDITIONS}")
    mmrag("run", *limit, "--agent", "grounded", "--degrade", CONDITIONS, "--out", str(grounded))
    say("the straightforward agent of the CRAG-MM paper, clean pictures")
    mmrag("run", *limit, "--agent", "task3", "--out", str(plain))
    say("the report")
    report = grounded / "report"
    if not (report / "report.html").exists():
        mmrag("report", str(grounded), "--out", str(report))
    print(f"\nruns:   {grounded}\n        {plain}\nreport: {report / 'report.html'}")
    if args.no_ui:
        print(f"app:    .venv/bin/mmrag ui {grounded} {plain}")
        return
    say("the app; Ctrl-C ends it")
    mmrag("ui", str(grounded), str(plain), "--port", str(args.port))


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def mmrag(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "simulator.cli", *arguments], check=False)
    if done.returncode == 130:
        sys.exit(130)
    if done.returncode:
        sys.exit(f"error: mmrag {' '.join(arguments)} failed (exit code {done.returncode}).")


if __name__ == "__main__":
    main()
