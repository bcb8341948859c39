"""What is around a command (21): clocks that jump, closed folders, caches that are shared.

Each command runs in a process of its own. It does what it should, or says in one line what helps.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.bench.attacks import Case, _runs, line_of

ROOT = str(Path(__file__).parents[3])
SECONDS = 120.0

START = f"import os, sys; sys.path.insert(0, {ROOT!r})\n"
COMMAND = "from simulator.cli import main; sys.argv = ['mmrag', *sys.argv[1:]]; main()"

JUMPING = """
import itertools, time
real, jumps = time.time, itertools.cycle((0, 4e8, -9e8, 60, -60, 1e9))
time.time = lambda: max(real() + next(jumps), 0.0)
time.time_ns = lambda: int(time.time() * 1e9)
"""
"""Every look at the clock on the wall is years from the last; time limits must not look there."""

UNPRIVILEGED = """
import ctypes
libc = ctypes.CDLL(None)
head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.capget(head, sets)
for place in (0, 1):  # effective and permitted, without overriding of permissions
    sets[place] &= ~0b1110
libc.capset(head, sets)
"""
"""Root may write anywhere: the permissions of files hold for it, too, from here on."""

SLEEPING = """
import time
class Sleeps:
    def answer(self, query):
        if not query.turn_index:
            time.sleep(3600)
        return "fine"
"""
"""An agent that is late in the first turn of each conversation."""

CACHE = """
import hashlib, pathlib
import numpy as np
from mmrag.encoders.vector_cache import CachedTextEncoder, EmbeddingCache
from mmrag.errors import MmragError
class Letters:
    id = "letters"
    def encode(self, items):
        rows = [np.frombuffer(hashlib.sha256(i.encode()).digest(), np.uint8) for i in items]
        return np.stack(rows).astype(np.float32)
words = [f"word {n} " * 40 for n in range(300)]
try:
    texts = CachedTextEncoder(Letters(), EmbeddingCache(pathlib.Path(sys.argv[1])))
    for first in range(0, 300, 20):
        some = words[first : first + 20]
        assert np.array_equal(texts.encode(some), Letters().encode(some)), "other vectors"
except MmragError as error:
    sys.exit(f"error: {error}")
"""


def cases(seed: int, work: Path) -> Iterator[Case]:
    """All of them, kinds in turn."""
    chance = random.Random(seed)
    kinds = [list(_clocks(work)), list(_folders(work)), list(_caches(work, chance))]
    for what, fault in filter(None, itertools.chain(*itertools.zip_longest(*kinds))):
        yield Case(what, fault())


def _run(program: str, *words: object, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START + program, *map(str, words)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )  # fmt: skip


def _done(process: subprocess.Popen[str], *codes: int, names: str = "") -> str | None:
    """What is wrong with how it ended; `names` is what a refusal has to name."""
    try:
        said = process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"not done within {SECONDS:g} s"
    if process.returncode not in codes:
        return f"exit code {process.returncode}: {said[-400:]}"
    return line_of(said, names) if process.returncode else None


def _clocks(work: Path) -> Iterator[tuple[str, object]]:
    common = ("--data", "mini", "--search", "none", "--limit", "2", "--judge", "exact")

    def jumping(agent: str, *more: str):
        def fault() -> str | None:
            place = work / f"clock-{len(agent)}"
            words = ("run", *common, "--agent", agent, "--out", place, *more)
            wrong = _done(_run(JUMPING + COMMAND, *words), 0)
            wrong = wrong or _done(_run(JUMPING + COMMAND, "score", place), 0)
            return wrong or _done(_run(JUMPING + COMMAND, "report", place, "--out", place / "r"), 0)

        return fault

    yield "a clock that jumps, answers", jumping("random")
    late = "python:name=sleeping/Sleeps"
    (work / "sleeping.py").write_text(SLEEPING)
    os.environ["PYTHONPATH"] = os.pathsep.join((str(work), os.environ.get("PYTHONPATH", "")))
    yield "a clock that jumps, time-outs", jumping(late, "--seconds", "0.5", "--limit", "1")


def _folders(work: Path) -> Iterator[tuple[str, object]]:
    """Commands whose run, output, home or cache nobody may write to."""
    run, closed = work / "run", work / "closed"
    _runs.hold(run)
    closed.mkdir()
    mini = ("--data", "mini", "--limit", "1", "--search", "none", "--judge", "exact")
    picture = work / "picture.png"
    shutil.copy(next(p for p in (run / "images").rglob("*") if p.is_file()), picture)
    out, answers = closed / "out", work / "answers.jsonl"
    answers.write_text('{"question": "q?", "answer": "a"}')
    writing = {
        "run": ("run", *mini, "--agent", "random", "--out", out),
        "judge run": ("judge", "run", closed / "run", "--judge", "builtin"),
        "measure": ("measure", closed / "run", "--measures", "token_f1"),
        "resume": ("resume", closed / "run"),
        "report": ("report", run, "--out", out),
        "compare": ("compare", run, run, "--out", out),
        "export": ("export", run, closed / "out.jsonl"),
        "bundle": ("bundle", run, closed / "out.html"),
        "import": ("import", answers, "--out", out),
        "degrade": ("lab", "degrade", picture, out, "--spec", "low-light@3"),
        "sweep": ("lab", "sweep", *mini, "--agent", "random:seed=1", "--vary", "seed=2",
                  "--out", out),
        "world": ("world", "new", "--out", out, "--size", "mini", "--sessions", "1"),
        "crag": ("world", "crag", "mini", "--out", closed / "q.jsonl", "--questions", "2"),
        "index": ("index", "build", work, "--out", out),
        "data": ("data", "start", work, "--out", out / "t.csv"),
    }  # fmt: skip
    shutil.copytree(run, closed / "run")
    for path in (closed, *closed.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)

    def into(words: tuple[object, ...], env: dict[str, str], *codes: int):
        return lambda: _done(
            _run(UNPRIVILEGED + COMMAND, *words, env=env), *codes, names=str(closed)
        )

    for name, words in writing.items():
        yield f"a closed folder, {name}", into(words, {}, 1, 2)
    reading = (("score", closed / "run"), ("show", closed / "run"), ("verify", closed / "run"))
    for words in reading[:2]:
        yield f"a closed folder, {words[0]}", into(words, {}, 0)
    for name in ("HOME", "XDG_CACHE_HOME"):
        env = {name: str(closed)} | ({"XDG_CACHE_HOME": ""} if name == "HOME" else {})
        for agent in ("random", "rag:reader=builtin,retriever=dense"):
            words = ("run", *mini[:4], "--judge", "exact", "--agent", agent,
                     "--out", work / f"{name}-{len(agent)}")  # fmt: skip
            yield f"a closed {name}, {agent.partition(':')[0]}", into(words, env, 0, 1, 2)


def _caches(work: Path, chance: random.Random) -> Iterator[tuple[str, object]]:
    """Vectors of one cache, by several processes at once, and of one that was harmed."""

    def together() -> str | None:
        shutil.rmtree(work / "caches", ignore_errors=True)
        many = [_run(CACHE, work / "caches" / "vectors.sqlite") for _ in range(3)]
        return next(filter(None, [_done(one, 0) for one in many]), None)

    def harmed() -> str | None:
        place = work / f"harmed-{chance.random()}.sqlite"
        wrong = _done(_run(CACHE, place), 0)
        data = bytearray(place.read_bytes())
        if chance.random() < 0.4:
            del data[chance.randrange(len(data)) :]
        else:
            for _ in range(chance.choice((1, 64))):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        place.write_bytes(data)
        return wrong or _done(_run(CACHE, place), 0, 1, names=str(place))

    for number in range(10):
        yield ("a cache that three fill", together) if number % 2 else ("a harmed cache", harmed)
