"""The demo: two agents talk about the mini world; the app shows it as it happens; then the scores.

Called by scripts/demo, which makes the environment first. Everything is offline; a second call does
what is missing and nothing twice.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

AGENTS = {"grounded": "grounded", "straightforward": "task3"}
"""Name of the run → agent: the one of parts, and the CRAG-MM paper's own."""

CONDITIONS = "clean,low-light@4,occluded@4"

# Before torch is loaded: the agents keep every core busy as it is, and nothing is downloaded.
for name, value in (("OMP_NUM_THREADS", "1"), ("HF_HUB_OFFLINE", "1")):
    os.environ.setdefault(name, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="make .venv, and nothing else")
    parser.add_argument("--no-ui", action="store_true", help="stop after the scores")
    parser.add_argument("--sessions", type=int, default=14, help="conversations (default 14)")
    parser.add_argument("--port", type=int, default=7860)
    args = parser.parse_args()
    if not 1 <= args.port <= 65535:
        parser.error("--port: give a number from 1 to 65535")
    if args.sessions < 1:
        parser.error("--sessions: give at least 1")
    if args.install:
        print("\n.venv is made: . .venv/bin/activate")
        return
    if not args.no_ui and taken(args.port):
        parser.error(f"port {args.port} is taken: give another with --port, or --no-ui")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the app ends too
    app = None if args.no_ui else open_app(args.port)
    try:
        talk(args.sessions)
        if app is not None:
            ended = app.poll() is not None
            say("the app has ended" if ended else "the app is still open; Ctrl-C ends it")
            sys.exit(app.wait())
    except KeyboardInterrupt as end:
        print(end, file=sys.stderr)
        sys.exit(130)
    finally:
        if app is not None:
            app.terminate()


def taken(port: int) -> bool:
    """Whether another program listens there."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def open_app(port: int) -> subprocess.Popen[bytes]:
    say("the app, which shows conversations as they end; Ctrl-C ends it")
    return subprocess.Popen([sys.executable, "-m", "simulator.cli", "ui", "--port", str(port)])


def talk(sessions: int) -> None:
    """In one process, which loads the models once for both agents."""
    from mmrag.errors import MmragError
    from simulator import evaluate
    from simulator.message_text import counted
    from simulator.terminal.rich_text import show_markdown

    try:
        runs = []
        for name, agent in AGENTS.items():
            folder = Path("runs") / f"demo-{name}-{sessions}"
            say(f"{counted(sessions, 'conversation')} with the {name} agent: {CONDITIONS}")
            run = evaluate(agent, degrade=CONDITIONS, limit=sessions, out=folder)
            print(run.score(), flush=True)
            runs.append(run)
        say("the difference between the two")
        show_markdown(str(runs[0].compare(*runs[1:])), plain=True)
        report = runs[0].folder / "report"
        if not (report / "report.html").exists():
            runs[0].report(report)
    except MmragError as error:
        sys.exit(f"error: {error}")
    folders = [os.path.relpath(run.folder) for run in runs]
    print(f"\nruns:   {'  '.join(folders)}\nreport: {os.path.relpath(report / 'report.html')}")
    print(f"app:    .venv/bin/mmrag ui {' '.join(folders)}", flush=True)


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
