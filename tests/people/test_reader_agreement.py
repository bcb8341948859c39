"""How far people agree, with each other and with the judge: by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from called_command import mmrag
from small_runs import ByNumber, make_session, run_all

from simulator.application.run_human_verdicts import RunHumanVerdicts


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run_all(tmp_path / "run", [make_session(0, turns=4)], ByNumber(lambda _, t: "ccim"[t]))
    return tmp_path / "run"


def test_by_hand(run: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    for person, said in (("anna", "rrwm"), ("ben", "rww ")):
        for turn, letter in enumerate(said):
            if letter != " ":
                word = {"r": "right", "w": "wrong", "m": "missing"}[letter]
                verdicts.say("s000", turn, word, person=person)
    found = verdicts.agreement()
    assert found.people == {"anna": 4, "ben": 3}
    assert (found.decided, found.twice, found.disputed) == (3, 3, 1)
    assert found.judge is not None
    assert (found.judge.n, found.judge.accuracy) == (3, 1.0)
    verdicts.say("s000", 1, "wrong", person="cy")
    assert verdicts.agreement().disputed == 0
    assert verdicts.agreement().judge.accuracy == 0.75


def test_the_command_line_says_the_same(run: Path) -> None:
    assert "Nobody has said anything" in mmrag("verdicts", "show", str(run)).stdout
    told = mmrag("verdicts", "say", str(run), "s000", "2", "wrong", "--by", "anna")
    assert "anna says wrong of turn 2" in told.stdout
    shown = mmrag("verdicts", "show", str(run)).stdout
    assert "people     anna 1" in shown
    assert "judge      agrees on" in shown
    assert (
        "'maybe' is not a verdict"
        in mmrag("verdicts", "say", str(run), "s000", "1", "maybe", "--by", "anna", code=2).stderr
    )
