"""One run of very many turns: how long it takes to open, show, filter, score, report and resume.

    python scripts/bench/big_store.py make FOLDER --sessions 2000
    python scripts/bench/big_store.py measure FOLDER

`make` writes data of that many conversations and a finished run of them under 26 conditions (a
sweep), as an agent would have left it that reads no picture: no agent is asked, no picture is
degraded. Beyond 2,000 conversations they are copies of these under other names, made by SQLite.
`measure` does with it what a user does, each in a process of its own: seconds, processor seconds
and peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
import zlib
from pathlib import Path

import msgspec

from mmrag.files.images import LazyImage
from mmrag.records import (
    Evidence,
    Outcome,
    Reply,
    Session,
    Status,
    Step,
    TurnResult,
    Usage,
    Verdict,
)
from simulator.parts.run_folder import claim
from simulator.parts.run_parts import Parts
from simulator.run.config import RunConfig
from simulator.store import tally
from simulator.store.run_store import RunStore, without_picture

CONDITIONS = 26
WRITTEN = 2000
"""Conversations that the store itself writes; the others are copies."""
JUDGE = "exact/1"


def settings(folder: Path) -> RunConfig:
    return RunConfig(
        data=str(folder / "data.jsonl"), agent="random", judge="exact", search="none",
        degrade="sweep", severities=(1, 2, 3, 4, 5), after_stop="generate",
    )  # fmt: skip


def write_data(folder: Path, sessions: int) -> None:
    from PIL import Image

    Image.new("RGB", (320, 320), (90, 120, 60)).save(folder / "one.jpg")
    with (folder / "data.jsonl").open("w") as file:
        for i in range(sessions):
            number = i % WRITTEN
            turns = [
                {"query": f"What is the {j}th thing to say of number {number}?",
                 "references": [str(j)],
                 "domain": ("food", "shops", "plants", "vehicles")[i % 4],
                 "query_type": ("simple", "comparison", "multi-hop")[j % 3]}
                for j in range((6, 3, 4, 5, 6)[i % 5])
            ]  # fmt: skip
            line = {"session_id": f"session-{i:06d}", "image": "one.jpg",
                    "focus": [60, 60, 260, 260], "turns": turns}  # fmt: skip
            file.write(json.dumps(line) + "\n")


def result(session: Session, condition: str, index: int) -> TurnResult:
    drawn = zlib.crc32(f"{session.id}/{condition}/{index}".encode())
    hard = 0 if condition == "clean" else int(condition[-1])
    right, silent = drawn % 100 < 60 - 6 * hard, drawn % 7 == 0
    outcome = Outcome.MISSING if silent else Outcome.PERFECT if right else Outcome.INCORRECT
    text = "I don't know." if silent else str(index if right else -1)
    reply = Reply(
        text=text, abstained=silent, usage=Usage(input_tokens=900, output_tokens=20, calls=1),
        trace=(
            Step(name="search", seconds=0.2, evidence=tuple(
                Evidence(source="web", id=f"p{drawn % 9999}-{n}", score=1 / (n + 1), text="A page.")
                for n in range(3))),
            Step(name="answer", seconds=0.9),
        ),
    )  # fmt: skip
    return TurnResult(
        session_id=session.id, turn_index=index, degradation=condition, reply=reply,
        status=Status.ABSTAINED if silent else Status.ANSWERED, query=session.turns[index].query,
        verdict=Verdict(outcome=outcome, judge=JUDGE), seconds=1.0 + drawn % 1000 / 1000,
    )  # fmt: skip


def make(folder: Path, sessions: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder, sessions)
    config = settings(folder)
    parts = Parts(config)
    conditions = parts.plan(1).conditions(picture=True)
    assert len(conditions) == CONDITIONS
    began, turns = time.perf_counter(), 0
    with RunStore(folder / "run") as store:
        claim(store, config, data=parts.source.fingerprint, index=None, judge=JUDGE)
        count = sessions * CONDITIONS
        plan_made = {"sessions": sessions, "degradations": conditions, "conversations": count}
        store.set_meta("plan", {**plan_made, "capacity": None})
        for position, session in parts.sessions():
            if position == WRITTEN:
                break
            assert session.capture is not None
            for condition in conditions:
                capture = msgspec.structs.replace(
                    session.capture, degradation=condition, image=LazyImage(bytes, sha256="")
                )
                held = without_picture(msgspec.structs.replace(session, capture=capture))
                last = store.begin_broken(position, held)
                last = store.commit(*(result(held, condition, n) for n in range(len(held.turns))))
                turns += len(held.turns)
            last.result()  # so that the queue stays short
        store.set_meta("finished", True)
    if sessions > WRITTEN:
        turns = copy_sessions(folder / "run" / "run.sqlite", sessions)
    size = (folder / "run" / "run.sqlite").stat().st_size
    print(f"{sessions:,} sessions, {turns:,} turns, {size / 2**20:,.0f} MiB "
          f"in {time.perf_counter() - began:.0f} s")  # fmt: skip


def copy_sessions(path: Path, sessions: int) -> int:
    """Fill a finished run up with copies of its conversations. Returns how many turns it has."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous=OFF")
    db.execute("BEGIN")
    for first in range(WRITTEN, sessions, WRITTEN):
        last = f"session-{sessions - first - 1:06d}"
        name = f"'session-' || printf('%06d', {first} + CAST(substr(session_id, 9) AS INTEGER))"
        own = f"FROM %s WHERE session_id <= '{last}' AND session_id < 'session-{WRITTEN:06d}'"
        for table, columns in (
            ("sessions", "degradation, CAST(replace(record, session_id, {}) AS BLOB)"),
            ("turns", "degradation, turn_index, status, "
                      "CAST(replace(result, session_id, {}) AS BLOB)"),
            ("verdicts", "degradation, turn_index, judge, verdict"),
        ):  # fmt: skip
            place = f"position + {first}, " * (table == "sessions")
            db.execute(f"INSERT INTO {table} SELECT {place}{name}, {columns.format(name)} "
                       f"{own % table} ORDER BY rowid")  # fmt: skip
    kept = tally.read(db)
    assert kept is not None
    kept.total = f"{tally.add_up(db):016x}"
    db.execute("UPDATE meta SET value = ? WHERE key = ?", (msgspec.json.encode(kept), tally.KEY))
    db.execute("COMMIT")
    (count,) = db.execute("SELECT COUNT(*) FROM turns").fetchone()
    db.close()
    return count


APP = """
import sys
from ui.replay.catalogue import Catalogue, Filter
from simulator.store.run_store import RunReader
run = Catalogue(RunReader(sys.argv[1]))
print(len(run))
"""

FILTER = (
    APP
    + """
import time
began = time.perf_counter()
print(len(run.find(Filter(kind="low-light", severity="3"))))
print(f"filter alone: {time.perf_counter() - began:.2f} s")
"""
)


def measure(folder: Path, only: list[str]) -> None:
    run, cli = str(folder / "run"), [sys.executable, "-m", "simulator.cli"]
    code = "import sys; from simulator.store.run_store import RunReader; RunReader(sys.argv[1])"
    python = [sys.executable, "-c"]
    report = ["report", run, "--out", str(folder / "report"), "--resamples", "200"]
    commands = {
        "open": [*python, code, run],
        "show": [*cli, "show", run, "--json"],
        "one": [*cli, "show", run, "session-000007"],
        "score": [*cli, "score", run, "--json", "--resamples", "200"],
        "resume": [*cli, "resume", run, "--json"],
        "app": [*python, APP, run],
        "filter": [*python, FILTER, run],
        "report": [*cli, *report],
    }
    for name, command in commands.items():
        if only and name not in only:
            continue
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        said = process.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        wall, cpu = time.perf_counter() - began, used.ru_utime + used.ru_stime
        last = said.strip().splitlines()[-1][:100] if name == "filter" or status else ""
        print(f"{name:8} {wall:8.1f} s {cpu:8.1f} s cpu {used.ru_maxrss / 1024:8,.0f} MiB"
              f"{'' if not status else ' FAILED'} {last}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("make", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if args.what == "make":
        make(args.folder.absolute(), args.sessions)
    else:
        measure(args.folder.absolute(), args.only)


if __name__ == "__main__":
    main()
