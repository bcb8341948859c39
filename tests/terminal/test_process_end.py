"""The command ends, whatever an agent leaves behind, and prints nothing but its own output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from called_command import mmrag

from simulator.store.run_reader import RunReader

AGENTS = """
import asyncio, atexit, os, sys, threading, time

class Loud:
    def __init__(self):
        print("made")
        os.system("echo from a child")
        threading.Thread(target=time.sleep, args=(60,)).start()  # no daemon
        atexit.register(time.sleep, 60)
        atexit.register(print, "late words")
    def warm(self):
        print("warm")
    def answer(self, query):
        print("thinking")
        os.write(1, b"in C\\n")
        return "fine"

class Hangs:
    def answer(self, query):
        (os.path.exists("asked") or open("asked", "w").close())
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass

class NeverMade:
    def __init__(self):
        time.sleep(60)
    def answer(self, query):
        return "fine"

class Exits(NeverMade):
    def __init__(self):
        sys.exit(7)

class Stateful:
    def __init__(self, resources):
        self.seed, self.seen = resources.seed, {}
    def answer(self, query):
        before = self.seen.setdefault(query.session_id, [])
        before.append(query.text)
        query.image.pil().thumbnail((2, 2))
        if query.session_id.endswith("1") and query.turn_index == 1:
            raise ValueError("lone \\ud800")
        said = [e.reply for e in query.history]
        return (f"{self.seed} {len(before)} {said} {query.image.sha256[:8]} {query.image.name} "
                f"{query.image.pil().size} {query.query_time} {query.domain}")

class Aborts:
    def answer(self, query):
        if query.turn_index == 0:
            os.abort()
        return "fine"

class KeepsTheLock:
    def answer(self, query):
        import re
        if query.turn_index == 0:
            re.match(r"(a+)+$", "a" * 60 + "b")
        return "fine"

class Eats:
    def answer(self, query):
        if query.turn_index == 0:
            self.food = bytearray(3 << 30)
        return "fine"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "odd_agents.py").write_text(AGENTS)
    here = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here), str(tmp_path)]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd_agents", raising=False)
    return tmp_path


def arguments(folder: Path, name: str, *more: str) -> list[str]:
    return [
        "run", "--data", "mini", "--search", "none", "--limit", "2", "--judge", "exact",
        "--agent", f"python:name=odd_agents/{name}", "--out", str(folder / f"run-{name}"), *more,
    ]  # fmt: skip


def start(folder: Path, name: str, *more: str) -> subprocess.Popen[str]:
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    loads = "from simulator.cli import main; from simulator.terminal import shutdown; "
    code = heeds + loads + "shutdown.GRACE = 0.5; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments(folder, name, *more)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip


def statuses(folder: Path, name: str) -> dict[str, int]:
    with RunReader(folder / f"run-{name}") as run:
        return run.turn_counts()


def test_what_an_agent_prints_or_leaves_behind_is_not_in_the_json(folder: Path) -> None:
    with start(folder, "Loud", "--json") as process:
        said, complaint = process.communicate(timeout=40)
    assert json.loads(said)["all"]["total"] > 0
    assert process.returncode == 0
    for words in ("made", "from a child", "warm", "thinking", "in C"):
        assert words in complaint


STUBBORN = """
import asyncio, signal
from simulator.terminal.shutdown import heeding_ctrl_c

async def stubborn():
    print("begun", flush=True)
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("no", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(heeding_ctrl_c(stubborn()))
"""


def test_the_second_ctrl_c_ends_everything_at_once(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for said in ("begun\n", "no\n"):
            assert process.stdout.readline() == said
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_ctrl_c_ends_a_run_whose_agent_hangs(folder: Path) -> None:
    with start(folder, "Hangs", "--seconds", "0") as process:
        until = time.monotonic() + 30
        while not (folder / "asked").exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)  # the agent would hang for longer
    assert process.returncode == 130
    assert "Continue with: mmrag resume" in complaint


def test_calls_that_never_end_are_counted_and_the_process_ends(folder: Path) -> None:
    with start(folder, "Hangs", "--seconds", "0.2", "--limit", "1") as process:
        _, complaint = process.communicate(timeout=40)
    assert process.returncode == 1  # no turn has a reply
    assert "calls of the agent never ended and were left behind; --isolate" in complaint
    assert set(statuses(folder, "Hangs")) == {"timeout"}


@pytest.mark.parametrize(
    ("name", "why"), [("NeverMade", r"was not made within 0.3 s"), ("Exits", "SystemExit: 7")]
)
@pytest.mark.parametrize("isolate", [False, True])
def test_what_is_never_made_ends_the_run_unasked(
    folder: Path, name: str, why: str, isolate: bool
) -> None:
    more = ("--ready-seconds", "0.3" if name == "NeverMade" else "30")
    if isolate:
        more, why = (*more, "--isolate"), why.replace("made within", "ready within")
    shown = mmrag(*arguments(folder, name, *more), code=1)
    assert why in shown.stderr


def results(folder: Path, name: str) -> list[object]:
    with RunReader(folder / f"run-{name}") as run:
        return [(r.status, r.reply, r.error, r.session_id, r.turn_index) for r in run.results()]


def test_isolated_an_agent_answers_as_it_does_here(folder: Path) -> None:
    given = ("--limit", "2", "--seed", "5", "--after-stop", "generate", "--seconds", "30")
    before = psutil.Process().children()
    mmrag(*arguments(folder, "Stateful", *given))
    here = results(folder, "Stateful")
    assert {status for status, *_ in here} == {"answered", "agent_error"}
    (folder / "run-Stateful").rename(folder / "here")
    mmrag(*arguments(folder, "Stateful", *given, "--isolate", "--isolate-processes", "2"))
    assert results(folder, "Stateful") == here
    assert set(psutil.Process().children()) <= set(before)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("Aborts", "agent_error"),
        pytest.param("KeepsTheLock", "timeout", marks=pytest.mark.proof("kills")),
        ("Eats", "agent_error"),
    ],
)
def test_isolated_an_agent_costs_its_turn_and_no_more(folder: Path, name: str, status: str) -> None:
    more = ("--isolate", "--isolate-memory", "2G", "--seconds", "1.5", "--limit", "1")
    mmrag(*arguments(folder, name, *more))
    found = statuses(folder, name)
    assert found[status] == 1
    assert found["answered"] >= 1
    assert set(found) <= {status, "answered", "skipped_after_stop"}


@pytest.mark.parametrize(
    "flags", [["--isolate-memory", "4G"], ["--isolate", "--isolate-memory", "much"]]
)
def test_flags_that_mean_nothing_are_refused(folder: Path, flags: list[str]) -> None:
    assert "--isolate" in mmrag(*arguments(folder, "Loud", *flags), code=2).stderr
