"""Programs that misbehave: `python misbehaving_program.py MODE` speaks JSON lines, or does not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

RIGHT, WRONG = ("answered", "abstained"), ("agent_error", "timeout")

MODES: dict[str, tuple[str, ...]] = {
    # before anything is asked
    "exits": WRONG, "aborts": WRONG, "deaf": WRONG, "closes": WRONG, "greets": WRONG,
    "floods": WRONG, "stderr": RIGHT, "traps": RIGHT, "spawns": RIGHT,
    # instead of an answer
    "dies": WRONG, "killed": WRONG, "sleeps": WRONG, "spins": WRONG, "halfline": WRONG,
    "endless": WRONG, "junk": WRONG, "binary": WRONG, "empty": WRONG, "null": WRONG,
    "list": WRONG, "number": WRONG, "otherid": WRONG, "deep": WRONG, "nan": WRONG,
    "surrogate": WRONG, "twice": RIGHT + WRONG, "slowly": RIGHT, "huge": RIGHT + WRONG,
    "silent": RIGHT, "confident": RIGHT, "orphans": WRONG,
}  # fmt: skip
"""Mode → what its turns may be."""


def main(mode: str) -> None:
    before(mode)
    for line in sys.stdin:
        turn = json.loads(line)
        if not instead(mode, turn):
            print(json.dumps({"id": turn["id"], "text": "fine"}), flush=True)


def before(mode: str) -> None:
    if mode == "exits":
        sys.exit(3)
    if mode == "aborts":
        os.abort()
    if mode == "deaf":
        time.sleep(3600)
    if mode == "closes":
        os.close(1)
        time.sleep(3600)
    if mode == "greets":
        print("Welcome to my agent!", flush=True)
    if mode == "stderr":
        sys.stderr.write("complaint\n" * 20_000)
    if mode == "traps":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if mode in ("spawns", "orphans"):
        subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL)
    while mode == "floods":
        print("x" * 100_000, flush=True)


def instead(mode: str, turn: dict) -> bool:
    """Whether something was said already."""
    if mode in ("dies", "orphans"):
        os._exit(1)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "sleeps":
        time.sleep(3600)
    while mode == "spins":
        pass
    if mode == "halfline":
        print('{"text": "fi', end="", flush=True)
        time.sleep(3600)
    while mode == "endless":
        print("x" * 100_000, end="", flush=True)
    said = {
        "junk": "no json", "empty": "", "null": "null", "list": "[1]", "number": "7",
        "otherid": '{"id": "x", "text": "fine"}', "deep": "[" * 200_000,
        "nan": '{"text": NaN}', "surrogate": '{"text": 5, "x": "\\ud800"}',
        "twice": '{"text": "fine"}\n{"text": "again"}',
        "huge": json.dumps({"text": "x" * 2_000_000}),
        "silent": '{"text": ""}', "confident": '{"text": "fine", "confidence": 1e308}',
    }.get(mode)  # fmt: skip
    if said is not None:
        print(said, flush=True)
        return True
    if mode == "binary":
        os.write(1, bytes(range(256)) * 4)
        os.write(1, b"\n")
    if mode == "slowly":
        for letter in json.dumps({"id": turn["id"], "text": "fine"}):
            print(letter, end="", flush=True)
            time.sleep(0.002)
        print(flush=True)
        return True
    return False


if __name__ == "__main__":
    main(sys.argv[1])
