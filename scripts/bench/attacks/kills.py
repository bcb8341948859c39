"""`kill -9` of runs, judging, measuring, imports and sweeps, at random and at each step of SQLite.

Each try holds a small run in a process of its own and kills it: at a random moment, or at the n-th
event of it, where an event is a statement of the run's connection (each part of every commit, of
the creation and of the close) or a file being opened, synced, renamed or removed. Then the run
must be readable or startable, hold every turn that was told to be committed, and, gone on with,
end with the bytes of the aggregate of a run that nobody disturbed, in one file.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))

from mmrag.errors import StoreError
from scripts.bench.attacks import Case, _runs
from simulator.store.store_schema import NothingCommitted

TRIES = 1000
KINDS = ("creation", "a commit", "the close", "a random moment", "twice", "rejudging",
         "the close of rejudging", "a random moment of rejudging", "measuring", "importing",
         "a random moment of importing", "sweeping", "a random moment of sweeping")  # fmt: skip


LATER = ("rejudge", "measure")
"""What is done to a run that is there."""


def cases(seed: int, work: Path) -> Iterator[Case]:
    """1,000 kills, all kinds in turn."""
    rng = random.Random(seed)
    with _Zygote() as zygote:
        whole = work / "whole"
        run = _measure(zygote, whole, "run")
        marks, expected = {"run": run}, {"run": _runs.aggregate(whole)}
        for what in ("rejudge", "measure", "import", "sweep"):
            place = work / what
            if what in LATER:
                shutil.copytree(whole, place)
            marks[what] = _measure(zygote, place, what)
            expected[what] = _figures(what, place)
        for number in range(TRIES):
            kind = KINDS[number % len(KINDS)]
            folder = work / f"try-{number}"
            try:
                fault = _attempt(kind, folder, whole, zygote, rng, marks, expected)
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            shutil.rmtree(folder, ignore_errors=True)
            yield Case(f"killed at {kind}", fault and f"{fault} (try {number})")


def _attempt(
    kind: str,
    folder: Path,
    whole: Path,
    zygote: _Zygote,
    rng: random.Random,
    of: dict[str, dict[str, Any]],
    expected: dict[str, bytes],
) -> str | None:
    words = {"rejudging": "rejudge", "measuring": "measure", "importing": "import",
             "sweeping": "sweep"}  # fmt: skip
    what = words.get(kind.rpartition(" ")[2], "run")
    later = what in LATER
    if later:
        shutil.copytree(whole, folder)
    marks = of[what]
    spans = {
        "creation": (1, marks["turns"]),
        "a commit": (marks["turns"] + 1, marks["close"]),
        **dict.fromkeys(words, (1, marks["close"])),
        "twice": (1, marks["events"]),
    }
    first, last = spans.get(kind, (marks["close"] + 1, marks["events"]))
    for _ in range(2 if kind == "twice" else 1):
        if "random" in kind:
            told = zygote.hold(what, folder, after=rng.uniform(0, marks["seconds"]))
        else:
            told = zygote.hold(what, folder, at=rng.randint(first, last))
        if what == "sweep":
            continue
        if what == "rejudge":
            fault = _mixed(folder, expected)
        else:
            fault = _lost(folder, of["run"]["committed"] if later else told["committed"])
        if fault is not None:
            return fault
    told = zygote.hold(what, folder)
    if told["error"]:
        return f"cannot be resumed: {told['error']}"
    if _figures(what, folder) != expected[what]:
        return "other figures than the undisturbed run"
    known = {"run.sqlite", "images", "lock", "runs", "sweep.json"}
    left = {path.name for path in folder.iterdir()} - known
    return f"left behind: {', '.join(sorted(left))}" if left else None


def _figures(what: str, folder: Path) -> bytes:
    return _runs.swept(folder) if what == "sweep" else _runs.aggregate(folder)


def _lost(folder: Path, committed: int) -> str | None:
    if not (folder / "run.sqlite").exists():
        return "the run is gone" if committed else None
    try:
        there = _runs.turn_count(folder)
    except NothingCommitted:
        there = 0
    except StoreError as error:
        return f"cannot be read: {error}"
    return f"{committed - there} of {committed} turns lost" if there < committed else None


def _mixed(folder: Path, expected: dict[str, bytes]) -> str | None:
    return None if _runs.aggregate(folder) in expected.values() else "half one judge's figures"


def _measure(zygote: _Zygote, folder: Path, what: str) -> dict[str, Any]:
    began = time.monotonic()
    told = zygote.hold(what, folder)
    if told["error"]:
        raise RuntimeError(told["error"])
    return {**told, "seconds": time.monotonic() - began}


class _Zygote:
    """A process that has imported everything once and forks one child per try."""

    def __enter__(self) -> _Zygote:
        roots = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, roots))},
        )
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def hold(
        self, what: str, folder: Path, *, at: int | None = None, after: float | None = None
    ) -> dict[str, Any]:
        """Run or rejudge in a child; what it told before it ended or was killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        ask = {"what": what, "folder": str(folder), "at": at, "after": after}
        self._process.stdin.write(json.dumps(ask) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _serve() -> None:
    import simulator.store.provenance

    made_of = simulator.store.provenance.provenance()
    simulator.store.provenance.provenance = lambda **more: {**made_of, **more}
    for line in sys.stdin:
        print(json.dumps(_in_child(json.loads(line))), flush=True)


def _in_child(ask: dict[str, Any]) -> dict[str, Any]:
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        _child(ask, its)
    os.close(its)
    if ask["after"] is not None:
        time.sleep(ask["after"])
        os.kill(child, signal.SIGKILL)
    told: dict[str, Any] = {"committed": 0, "error": ""}
    with os.fdopen(ours) as pipe:
        for line in pipe:
            name, _, value = line.rstrip("\n").partition(" ")
            told[name] = told[name] + int(value) if name == "committed" else _value(value)
    os.waitpid(child, 0)
    return told


def _value(text: str) -> Any:
    return int(text) if text.isdigit() else text


def _child(ask: dict[str, Any], pipe: int) -> None:
    def tell(name: str, value: object) -> None:
        os.write(pipe, f"{name} {value}\n".encode())

    aim = _Aim(ask["at"])
    aim.watch()
    folder = Path(ask["folder"])
    try:
        if ask["what"] == "run":
            _runs.hold(
                folder,
                told=lambda turns: tell("committed", turns),
                stage=lambda name: tell(name, aim.count),
            )
        else:
            do = {"rejudge": _runs.rejudge, "measure": _runs.measure, "import": _runs.bring,
                  "sweep": _runs.sweep}  # fmt: skip
            do[ask["what"]](folder, stage=lambda name: tell(name, aim.count))
        tell("events", aim.count)
    except BaseException as error:
        tell("error", f"{type(error).__name__}: {error}".replace("\n", " "))
    os._exit(0)


class _Aim:
    """Counts what a process does to its files, and kills it at one of these events."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.count = 0

    def watch(self) -> None:
        """Count from now on: every statement, and every call on a file before and after."""
        connect = sqlite3.connect

        def watched(*args: Any, **named: Any) -> sqlite3.Connection:
            self.hit()
            db = connect(*args, **named)
            db.set_trace_callback(lambda _statement: self.hit())
            return db

        sqlite3.connect = watched
        for name in ("open", "pwrite", "fsync", "ftruncate", "replace", "unlink", "mkdir"):
            setattr(os, name, self._around(getattr(os, name)))

    def hit(self) -> None:
        """One event."""
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            self.hit()
            try:
                return call(*args, **named)
            finally:
                self.hit()

        return counted


if __name__ == "__main__":
    _serve()
