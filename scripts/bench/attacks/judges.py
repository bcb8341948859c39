"""Judges that fail (16): whatever lacks a verdict, no headline is better than the truth.

A judge gives its verdicts or fails by a rule that may look at what is right, which is no sample.
The run's truthfulness is then bounds around the true one, or an interval that holds it. Last, one
that greets and then hangs for ten minutes ends the command in a line within a minute.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mmrag.errors import Denied, ServiceError
from mmrag.judges.fallback import FallbackJudge
from mmrag.records import JudgeItem, Outcome, Verdict
from scripts.bench.attacks import Case, _runs, line_of
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

TRIES = 200
HOW = ("raises", "unscored", "junk", "refuses nothing right", "refuses nothing wrong")


class _Failing(_runs.Judges):
    """The honest one, which fails at a share of what is right and at a share of the others."""

    def __init__(self, how: str, right: float, other: float, chance: random.Random) -> None:
        super().__init__()
        self._how, self._shares, self._chance = how, (other, right), chance

    async def judge(self, item: JudgeItem) -> Verdict:
        verdict = await super().judge(item)
        if self._chance.random() >= self._shares[verdict.outcome is Outcome.PERFECT]:
            return verdict
        if self._how == "junk":
            return "PERFECT"  # pyright: ignore[reportReturnType]
        if self._how == "raises":
            raise ServiceError("HTTP 500: oops")
        return Verdict(outcome=Outcome.UNSCORED, judge=self.id, reason="no verdict")


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Runs judged again by judges that fail in ever other ways."""
    chance = random.Random(seed)
    _runs.hold(work / "run")
    true = _headline(work / "run")["truthfulness_score"]
    for number in range(TRIES):
        how = HOW[number % len(HOW)]
        right, other = chance.random(), chance.random()
        if how.startswith("refuses nothing"):
            right, other = (0.0, other) if "right" in how else (right, 0.0)
        with RunStore(work / "run") as store:
            judge = _Failing(how, right, other, chance)
            judge.id = f"failing-{number}"
            try:
                asyncio.run(rejudge_run(store, FallbackJudge(judge), 2))
            except Denied:
                yield Case(f"a judge that {how} is down")
                continue
        found = _headline(work / "run")
        low, high = (found.get("bounds") or found["intervals"])["truthfulness_score"]
        wrong = low is None or not low - 1e-9 <= true <= high + 1e-9
        fault = f"{right:.0%} and {other:.0%} missing: {found} where {true} is true"
        yield Case(f"a judge that {how}", fault[:300] if wrong else None)
    yield Case("a judge that hangs for 600 s", _hangs(work / "run"))


def _hangs(folder: Path) -> str | None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hanging)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    spec = f"model:model=(openai:name=m,base_url=http://127.0.0.1:{server.server_port}/v1)"
    words = [sys.executable, "-m", "simulator.cli", "judge", "run", str(folder), "--judge", spec]
    began = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        return "not ended within 90 s"
    finally:
        server.shutdown()
    late = time.monotonic() - began > 60
    return "took over a minute" if late else line_of(done.stderr, "no answer to anything")


class _Hanging(BaseHTTPRequestHandler):
    """Answers one word to the first question, and nothing to any other."""

    greeted = False

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if type(self).greeted:
            time.sleep(600)
        type(self).greeted = True
        choice = {"message": {"role": "assistant", "content": "ready"}, "finish_reason": "stop"}
        told = json.dumps({"model": "m", "choices": [{"index": 0, **choice}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *args: object) -> None:
        """Nothing."""


def _headline(folder: Path) -> dict[str, Any]:
    with RunReader(folder) as run:
        return score_run(run, ScoreOptions())["all"]
