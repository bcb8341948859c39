"""Texts of data, models and judges steer no terminal, and end no line of a table."""

from __future__ import annotations

from pathlib import Path

from called_command import mmrag
from small_runs import make_session

from mmrag.records import Outcome, Reply, Status, TurnResult, Verdict
from simulator.store.run_store import RunStore

STEERS = "\x1b]0;owned\x07 \x9b31m \u202e \x00 \r"
JUDGE = "j" + STEERS.replace("\x00", "")  # a run refuses a judge with a NUL in its name


def write(folder: Path) -> Path:
    with RunStore(folder) as store:
        store.set_meta("judge", JUDGE)
        store.set_meta(
            "config", {"data": "small", "agent": f"a{STEERS}{folder.name}", "stop": "never"}
        )
        session = make_session(0)
        store.begin(0, session)
        for turn in session.turns:
            store.commit(
                TurnResult(
                    session_id=session.id, turn_index=turn.index, status=Status.ANSWERED,
                    query=turn.query, reply=Reply(text=f"no{STEERS}"),
                    verdict=Verdict(outcome=Outcome.INCORRECT, judge=JUDGE, reason=STEERS),
                )
            )  # fmt: skip
        store.set_meta("finished", True)
    return folder


def test_nothing_that_a_run_holds_steers_the_terminal(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write(tmp_path / "other")
    for words in (
        ("show", str(one)), ("show", str(one), "s000"), ("score", str(one)),
        ("compare", str(one), str(other)),
    ):  # fmt: skip
        done = mmrag(*words)
        odd = {c for c in done.stdout + done.stderr if not c.isprintable()} - {"\n"}
        assert not odd, words
