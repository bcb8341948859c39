"""Texts of data, models and judges steer no terminal, and end no line of a table."""

from __future__ import annotations

from pathlib import Path

from called_command import mmrag
from msgspec.structs import replace
from small_runs import done, make_session, write

from mmrag.records import Outcome, Reply, Verdict

STEERS = "\x1b]0;owned\x07 \x9b31m \u202e \x00 \r"
JUDGE = "j" + STEERS.replace("\x00", "")  # a run refuses a judge with a NUL in its name


def steering(folder: Path) -> Path:
    session = replace(make_session(0), id="[/bold]")
    asked = f"what is {STEERS}this [red]?"
    session = replace(session, turns=tuple(replace(t, query=asked) for t in session.turns))
    said = {
        "reply": Reply(text=f"no{STEERS}"),
        "verdict": Verdict(outcome=Outcome.INCORRECT, judge=JUDGE, reason=STEERS),
    }
    turns = [done(session, turn.index, "i", **said) for turn in session.turns]
    settings = {"data": "small", "agent": f"a{STEERS}{folder.name}", "stop": "never"}
    return write(folder, (session, turns), judge=JUDGE, config=settings, finished=True)


def test_nothing_that_a_run_holds_steers_the_terminal(tmp_path: Path) -> None:
    one, other = steering(tmp_path / "one"), steering(tmp_path / "other")
    for words in (
        ("show", str(one)), ("show", str(one), "[/bold]"), ("score", str(one)),
        ("compare", str(one), str(other)),
    ):  # fmt: skip
        shown = mmrag(*words)
        odd = {c for c in shown.stdout + shown.stderr if not c.isprintable()} - {"\n"}
        assert not odd, words
    assert "[/bold]" in mmrag("show", str(one)).stdout
    assert "this [red]?" in mmrag("show", str(one), "[/bold]").stdout
