"""Misbehaving agents: Python classes, programs, servers over HTTP and behind a model's client.

Each try is a whole `mmrag run` in a process of its own: it has to end by itself in time, print its
scores and nothing else, leave no process behind, and give every turn the status it should have.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent / "fakes"
ROOT = HERE.parents[3]
sys.path[:0] = [path for path in (str(ROOT), str(HERE)) if path not in sys.path]

import misbehaving  # noqa: E402
import misbehaving_program as program  # noqa: E402
import misbehaving_server as server  # noqa: E402

from scripts.bench.attacks import Case  # noqa: E402

LIMIT = 30.0
"""Seconds that a run may take, its start and end included."""

HOST = """
import json, os, signal, sys
import simulator.parts.agent_process, simulator.run.runner, simulator.run.results.turn_results
import simulator.world.sessions, simulator.run.captures, mmrag.models.openai
import mmrag.judges.simple, mmrag.text.tokens, rich.table
from simulator.cli import main
mmrag.text.tokens.count_tokens("all is loaded once, and then forked for every try")
for line in sys.stdin:
    job = json.loads(line)
    pid = os.fork()
    if pid:
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
        continue
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, job["out"]), (2, job["err"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = ["mmrag", *job["arguments"]]
    os.environ["MMRAG_ATTACK"] = job["mark"]
    from simulator.terminal import shutdown
    shutdown.GRACE = 1.0
    break
main()
"""


class Try(NamedTuple):
    """One agent, and what its run should come to."""

    kind: str
    name: str
    agent: str
    first: tuple[str, ...]
    later: tuple[str, ...]
    more: tuple[str, ...] = ()
    code: int = 0


def tries(url: str) -> list[Try]:
    """All of them."""
    found: list[Try] = []
    for name, expected in misbehaving.AGENTS.items():
        more = ("--isolate", "--isolate-memory", "4G") if expected.isolate else ()
        ready = ("--ready-seconds", "0.5") if expected.code else ()
        spec = f"python:name=misbehaving/{name}"
        flags, later = (*more, *ready), ("answered",)
        found.append(Try("python", name, spec, expected.statuses, later, flags, expected.code))
    for mode, may_be in program.MODES.items():
        run = f"{sys.executable} -S {HERE / 'misbehaving_program.py'} {mode}"
        found.append(Try("program", mode, f"command:run={run}", may_be, may_be))
    for mode, may_be in server.MODES.items():
        found.append(Try("http", mode, f"http:url={url}/{mode}", may_be, may_be))
    for mode, may_be in server.MODES.items():
        model = f"llm-only:model=(openai:name=m,base_url={url}/{mode}/v1,timeout=2,retries=1)"
        found.append(Try("model", mode, model, may_be, may_be))
    return found


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Every agent once; kinds take turns."""
    rng = random.Random(seed)
    with server.served() as url, _hosted() as host:
        by_kind = [list(group) for _, group in itertools.groupby(tries(url), lambda t: t.kind)]
        for group in by_kind:
            rng.shuffle(group)
        mixed = itertools.chain.from_iterable(itertools.zip_longest(*by_kind))
        for this in filter(None, mixed):
            folder = work / f"{this.kind}-{this.name}"
            try:
                fault = _fault(this, host, folder)
            except Exception as error:  # a surprise is a fault too
                fault = f"{type(error).__name__}: {error}"
            shutil.rmtree(folder, ignore_errors=True)
            yield Case(f"{this.kind} {this.name}", fault)


@contextlib.contextmanager
def _hosted() -> Iterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")])
    host = subprocess.Popen(
        [sys.executable, "-c", HOST],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    try:
        yield host
    finally:
        host.kill()
        for pipe in (host.stdin, host.stdout):
            if pipe is not None:
                pipe.close()
        host.wait()


def _fault(this: Try, host: subprocess.Popen[str], folder: Path) -> str | None:
    folder.mkdir(parents=True)
    run, out, err = folder / "run", folder / "out", folder / "err"
    seconds = "0.6" if "timeout" in this.first else "8"  # who may not be late has time
    arguments = [
        "run", "--data", "mini", "--search", "none", "--limit", "2", "--judge", "exact",
        "--after-stop", "generate", "--seconds", seconds, "--concurrency", "2", "--json",
        "--agent", this.agent, "--out", str(run), *this.more,
    ]  # fmt: skip
    mark = f"attack-{os.getpid()}-{this.kind}-{this.name}"
    job = {"arguments": arguments, "out": str(out), "err": str(err), "mark": mark}
    assert host.stdin is not None
    assert host.stdout is not None
    host.stdin.write(json.dumps(job) + "\n")
    host.stdin.flush()
    pid = int(host.stdout.readline())
    ended = _ends(pid)
    if not ended:
        os.kill(pid, 9)
    code = int(host.stdout.readline())
    left = _left_of(mark)
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, 9)
    said = err.read_text(errors="replace")
    if not ended:
        return f"the run did not end within {LIMIT:g} s"
    refused = this.kind == "model" and said.startswith("error: model ")  # before the first turn
    if code == 1 and "Most turns failed" in said:
        code = 0  # the run is whole, and says what it holds
    if code != this.code and not (refused and code == 1):
        return f"exit code {code}, not {this.code}: {said[-300:]}"
    if left:
        return f"{len(left)} processes were left behind"
    if code:
        return None if "error: " in said and "Traceback" not in said else f"said {said[-300:]}"
    return _wrong_output(out) or _wrong_status(this, run)


def _ends(pid: int) -> bool:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX":
                time.sleep(0.01)
                continue
        return True
    return False


def _left_of(mark: str) -> list[int]:
    """Processes of a try that still live; those that are just being put away get a moment."""
    for _ in range(20):
        found: list[int] = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        if not found:
            break
        time.sleep(0.05)
    return found


def _wrong_output(out: Path) -> str | None:
    try:
        json.loads(out.read_text())
    except ValueError as error:
        return f"standard output is no JSON: {error}"
    return None


def _wrong_status(this: Try, run: Path) -> str | None:
    from simulator.store.run_reader import RunReader

    with RunReader(run) as reader:
        for session in reader.sessions():
            results = reader.turns(session.id, session.capture.degradation)
            if len(results) != len(session.turns):
                return f"{len(results)} of {len(session.turns)} turns have a status"
            for result in results:
                allowed = this.later if result.turn_index else this.first
                if str(result.status) not in allowed:
                    why = (result.error or "")[:200]
                    return f"turn {result.turn_index} is {result.status}, not {allowed} ({why})"
    return None
