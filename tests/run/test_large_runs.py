"""What a run of millions of turns would take in memory, measured on thousands."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from mmrag.records import (
    Outcome,
    Reference,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
)
from simulator.reports.read.turn_frame import load_turn_frame
from simulator.run.results.run_scoring import (
    ScoreOptions,
    run_state,
    score_run,
    scores_by_condition,
)
from simulator.run.stop_policies import StopPolicy
from simulator.store import run_reader
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

CONDITIONS = ("clean", "web-empty@3", "web-empty@5")
TURNS = 5 * len(CONDITIONS)


def write(folder: Path, sessions: int) -> None:
    with RunStore(folder) as store:
        store.set_meta("judge", "exact/1")
        for number in range(sessions):
            for condition in CONDITIONS:
                one = session(number, condition)
                store.begin_kept(number, one)
                last = store.commit(*(result(one, index) for index in range(5)))
            last.result()


def session(number: int, condition: str) -> Session:
    return Session(
        id=f"session-{number:06d}",
        fault="" if condition == "clean" else condition,
        turns=tuple(
            Turn(
                index=index,
                id=f"{number}-{index}",
                query=f"What is the {index}th thing to say of number {number}?",
                reference=Reference(text=str(index)),
            )
            for index in range(5)
        ),
    )


def result(one: Session, index: int) -> TurnResult:
    outcome = Outcome.PERFECT if len(one.id + one.fault) * index % 3 else Outcome.INCORRECT
    reply = Reply(
        text=f"{index}", usage=Usage(calls=1), trace=(Step(name="answer", seconds=0.5 + index),)
    )
    return TurnResult(
        session_id=one.id, turn_index=index, degradation=one.degradation, seconds=1.0 + index,
        status=Status.ANSWERED, reply=reply, verdict=Verdict(outcome=outcome, judge="exact/1"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Runs of a few sessions and of many."""
    folders = {many: tmp_path_factory.mktemp("runs") / f"{many}" for many in (200, 400)}
    for many, folder in folders.items():
        write(folder, many)
    return folders


def score(run: RunReader) -> None:
    scores_by_condition(run, ScoreOptions(resamples=50))


def score_official(run: RunReader) -> None:
    score_run(run, ScoreOptions(protocol="kddcup25", resamples=0))


def report(run: RunReader) -> None:
    load_turn_frame(run, stop=StopPolicy())


def listing(run: RunReader) -> None:
    for _ in run.changes_since():
        pass


@pytest.mark.proof("time")
@pytest.mark.parametrize(
    ("read", "allowed"), [(score, 120), (score_official, 60), (report, 400), (listing, 20)]
)
def test_memory_per_turn(
    runs: dict[int, Path],
    read: Callable[[RunReader], None],
    allowed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lists of all turns took 360 and 220 bytes for each, of all cells 625, all sessions 440."""
    monkeypatch.setattr(run_reader, "_PAGE", 50)
    few, many = (peak(runs[count], read) for count in runs)
    assert (many - few) / (200 * TURNS) < allowed


def peak(folder: Path, read: Callable[[RunReader], None]) -> int:
    with RunReader(folder) as run:
        read(run)  # what is loaded once
        tracemalloc.start()
        try:
            read(run)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_conversations_are_counted_without_listing_them(runs: dict[int, Path]) -> None:
    with RunReader(runs[400]) as run:
        state = run_state(run)
    assert (state.conversations, state.turns, state.missing_turns) == (1200, 400 * TURNS, 0)
