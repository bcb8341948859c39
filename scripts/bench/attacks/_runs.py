"""A small run for attacks on runs: eight short conversations, a reply and a verdict at once."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.metrics.measure_records import Case, Measurement
from mmrag.records import (
    Capture,
    JudgeItem,
    Outcome,
    Query,
    Reference,
    Reply,
    Session,
    Turn,
    TurnResult,
    Verdict,
    encode,
)
from simulator.application.measure_replies import measure_run
from simulator.exchange.imports import import_file
from simulator.experiments.sweep import run_sweep
from simulator.parts.run_folder import bind_run_config
from simulator.parts.run_parts import Parts
from simulator.run.rejudge import rejudge_run
from simulator.run.results.run_scoring import ScoreOptions, score_run
from simulator.run.run_config import RunConfig, make_config
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore


def sessions(seed: int = 0, count: int = 8) -> list[Session]:
    return [_session(seed * 1000 + number) for number in range(count)]


def _session(number: int) -> Session:
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (number * 37 % 256, number * 91 % 256, 80)).save(buffer, "JPEG")
    turns = tuple(
        Turn(
            index=i,
            id=f"{number}-{i}",
            query=f"question {i} of {number}?",
            reference=Reference(text=f"answer {number}-{i}"),
        )
        for i in range(2 + number % 3)
    )
    capture = Capture(image=LazyImage.from_bytes(buffer.getvalue()))
    return Session(id=f"s{number:05d}", capture=capture, turns=turns)


class Replies:
    """Right, wrong or silent, by a fixed function of the session and the turn."""

    async def answer(self, query: Query) -> Reply:
        number = int(query.session_id[1:])
        kind = (number * 3 + query.turn_index * 2) % 5
        if kind == 3:
            return Reply(text="I don't know", abstained=True)
        said = "something else" if kind == 2 else f"answer {number}-{query.turn_index}"
        return Reply(text=said)


class Judges:
    """Right when equal; the generous one also when something was said."""

    def __init__(self, *, generous: bool = False) -> None:
        self.id = "generous" if generous else "equality"
        self.generous = generous

    async def judge(self, item: JudgeItem) -> Verdict:
        exact = item.prediction in item.references
        silent = item.prediction == "I don't know"
        wrong = Outcome.ACCEPTABLE if self.generous else Outcome.INCORRECT
        outcome = Outcome.PERFECT if exact else Outcome.MISSING if silent else wrong
        return Verdict(outcome=outcome, judge=self.id, exact=exact)


def hold(
    folder: Path,
    *,
    seed: int = 0,
    told: Callable[[int], None] = lambda _turns: None,
    stage: Callable[[str], None] = lambda _name: None,
) -> None:
    """Begin or resume the run, as `mmrag run` does; tell of turns once they are on disk."""
    with _Telling(folder, told) as store:
        bind_run_config(store, RunConfig(), data="data", index=None, judge="equality")
        store.set_meta("plan", {"sessions": 8, "degradations": ["clean"]})
        stage("turns")
        work = iter(list(enumerate(sessions(seed))))
        asyncio.run(run_sessions(work, Replies(), Judges(), store, Plan(concurrency=2)))
        store.set_meta("finished", True)
        stage("close")


def rejudge(
    folder: Path, *, generous: bool = True, stage: Callable[[str], None] = lambda _name: None
) -> None:
    """Judge the run again, as `mmrag judge run` does."""
    with RunStore(folder) as store:
        stage("turns")
        asyncio.run(rejudge_run(store, Judges(generous=generous), 2))
        stage("close")


class _Lengths:
    """Measures how long a reply is."""

    measures = ("length",)

    def id(self, measure: str) -> str:
        return measure

    async def measure(self, case: Case, measures: Sequence[str]) -> list[Measurement]:
        return [Measurement(measure=m, judge=m, value=float(len(case.answer))) for m in measures]


def measure(folder: Path, *, stage: Callable[[str], None] = lambda _name: None) -> None:
    """Measure every reply, as `mmrag measure` does."""
    with RunStore(folder) as store:
        stage("turns")
        asyncio.run(measure_run(store, [_Lengths()], ["length"], 2))
        stage("close")


def bring(folder: Path, *, stage: Callable[[str], None] = lambda _name: None) -> None:
    """Import answers, as `mmrag import` does."""
    file = folder.parent / "answers.jsonl"
    if not file.exists():
        rows = ({"question": f"{n}?", "answer": str(n), "reference": "1"} for n in range(20))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stage("turns")
    import_file(file, folder)
    stage("close")


def sweep(folder: Path, *, stage: Callable[[str], None] = lambda _name: None) -> None:
    """Run an agent in three settings, as `mmrag lab sweep` does."""
    file = folder.parent / "own.jsonl"
    if not file.exists():
        rows = ({"session_id": f"s{n}", "turns": [{"query": f"{n}?", "references": ["1"]}]}
                for n in range(4))  # fmt: skip
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"data": str(file), "agent": "random", "judge": "exact", "search": "none"}
    stage("turns")
    run_sweep(Parts(make_config(settings), progress=False), {"seed": ["2", "3"]}, folder)
    stage("close")


def swept(folder: Path) -> bytes:
    """What a sweep found, and the figures of its runs."""
    runs = sorted((folder / "runs").iterdir())
    found = json.loads((folder / "sweep.json").read_bytes())
    for setting in found["settings"]:
        setting.pop("costs", None)  # seconds among them
    return json.dumps(found).encode() + b"".join(map(aggregate, runs))


def aggregate(folder: Path) -> bytes:
    """The run's figures, and a digest of its turns without their times."""
    with RunReader(folder) as run:
        figures = score_run(run, ScoreOptions(resamples=0))
        digest = hashlib.sha256()
        for result in run.results():
            digest.update(encode(msgspec.structs.replace(result, seconds=0.0)))
        for session in run.sessions():
            digest.update(encode(session))
            digest.update(encode(sorted(run.measurements(session.id, session.degradation).items())))
    return json.dumps([figures, digest.hexdigest()], sort_keys=True).encode()


def turn_count(folder: Path) -> int:
    with RunReader(folder) as run:
        return sum(run.turn_counts().values())


class _Telling(RunStore):
    def __init__(self, folder: Path, told: Callable[[int], None]) -> None:
        self._told = told
        super().__init__(folder)

    def commit(self, *results: TurnResult, session: Session | None = None):
        done = super().commit(*results, session=session)
        done.add_done_callback(
            lambda future: None if future.exception() else self._told(len(results))
        )
        return done
