"""People's verdicts: kept whole, read back, and never in the way of the judge's."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from called_command import mmrag
from small_runs import ByNumber, make_session, run_all

from mmrag.errors import ConflictError, StoreError, UsageError
from simulator.application.run_human_verdicts import RunHumanVerdicts
from simulator.application.stored_run import load_run
from simulator.people.human_verdicts import (
    FILE,
    MAX_NOTE,
    HumanOutcome,
    append,
    make_verdict,
    read_log,
)
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

HOSTILE = "<script>alert(1)</script>\n{{x}} \u2028 \x00 \ud800"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run_all(tmp_path / "run", [make_session(n) for n in range(6)], ByNumber())
    return tmp_path / "run"


def words(folder: Path) -> list[tuple[str, str]]:
    return [(one.person, str(one.said)) for one in RunHumanVerdicts(folder).log().verdicts]


def test_a_verdict_is_kept_beside_the_judges(run: Path) -> None:
    before = (run / "run.sqlite").read_bytes()
    verdicts = load_run(run).verdicts
    given = verdicts.say("s001", 1, "wrong", person=" Anna  K. ", note=HOSTILE)
    assert given.person == "Anna K."
    assert given.note == HOSTILE.replace("\ud800", "?")
    assert verdicts.log().verdicts == (given,)
    assert (run / "run.sqlite").read_bytes() == before
    with RunReader(run) as reader:
        assert set(reader.verdicts("s001", "clean", 1)) == {"equality"}


def test_the_latest_word_of_each_person_stands_and_all_are_kept(run: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    for person, said in (("anna", "right"), ("ben", "wrong"), ("anna", "unsure"), ("ben", "wrong")):
        verdicts.say("s000", 0, said, person=person)
    [people] = verdicts.standing().values()
    assert {who: str(v.said) for who, v in people.items()} == {"anna": "unsure", "ben": "wrong"}
    assert len(verdicts.log().verdicts) == 4
    verdicts.say("s000", 0, HumanOutcome.WITHDRAWN, person="ben")
    verdicts.say("s000", 0, HumanOutcome.WITHDRAWN, person="anna")
    assert verdicts.standing() == {}
    assert len(verdicts.log().verdicts) == 6


def test_what_cannot_be_judged_is_refused(run: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    with pytest.raises(UsageError, match="say right, wrong"):
        verdicts.say("s000", 0, "maybe", person="anna")
    with pytest.raises(UsageError, match="whose"):
        verdicts.say("s000", 0, "right", person=" \n ")
    with pytest.raises(StoreError, match="no session 'nobody'"):
        verdicts.say("nobody", 0, "right", person="anna")
    with pytest.raises(UsageError, match="no turn 10"):
        verdicts.say("s000", 9, "right", person="anna")
    assert not (run / FILE).exists()
    assert len(verdicts.say("s000", 0, "right", person="anna", note="x" * 9_999).note) == MAX_NOTE


def test_a_turn_without_a_reply_is_refused(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(0)], ByNumber(lambda _, turn: "cxiic"[turn]))
    verdicts = RunHumanVerdicts(tmp_path / "run")
    with pytest.raises(UsageError, match="turn 2 of 's000' has no reply"):
        verdicts.say("s000", 1, "right", person="anna")


def test_a_reply_given_anew_was_read_by_nobody(run: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    verdicts.say("s000", 0, "wrong", person="anna")
    verdicts.say("s000", 1, "wrong", person="anna")
    with RunReader(run) as reader:
        turn = reader.turns("s000")[0]
    import msgspec

    other = msgspec.structs.replace(turn.reply, text="another reply")
    with RunStore(run) as store:
        store.commit(msgspec.structs.replace(turn, reply=other)).result()
    assert [key[2] for key in verdicts.standing()] == [1]
    assert len(verdicts.log().verdicts) == 2


def test_a_line_cut_by_a_crash_costs_only_itself(run: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    verdicts.say("s000", 0, "right", person="anna")
    with (run / FILE).open("ab") as file:
        file.write(b'{"schema":1,"session_id":"s0')
    assert verdicts.log().unreadable == 0  # somebody may be writing it at this moment
    verdicts.say("s000", 1, "right", person="ben")
    with (run / FILE).open("ab") as file:
        file.write(b'{"schema":2,"of":"the future"}\n[]\n' + b"[" * 5000 + b"\n")
    verdicts.say("s000", 1, "wrong", person="anna")
    assert words(run) == [("anna", "right"), ("ben", "right"), ("anna", "wrong")]
    assert verdicts.log().unreadable == 4


def _say_many(folder: Path, person: str) -> None:
    for number in range(60):
        RunHumanVerdicts(folder).say(
            "s000", 0, "right", person=person, note=f"{number} " + "é" * 900
        )


@pytest.mark.proof("time")
def test_people_who_speak_at_once_lose_nothing(run: Path) -> None:
    context = multiprocessing.get_context("spawn")
    people = [context.Process(target=_say_many, args=(run, who)) for who in ("anna", "ben", "cy")]
    for one in people:
        one.start()
    for one in people:
        one.join(120)
    log = RunHumanVerdicts(run).log()
    assert log.unreadable == 0
    for who in ("anna", "ben", "cy"):
        mine = [one.note.split()[0] for one in log.verdicts if one.person == who]
        assert mine == [str(number) for number in range(60)]


def test_what_cannot_be_written_says_so_in_a_line(run: Path, tmp_path: Path) -> None:
    verdict = make_verdict(("s000", "clean", 0), "right", person="anna", reply="x")
    (run / FILE).mkdir()
    with pytest.raises(StoreError, match=r"the verdict was not kept\. Make the run's folder"):
        append(run, verdict)
    (run / FILE).rmdir()
    for path in sorted(run.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(StoreError, match="no longer there, so the verdict was not kept"):
        append(run, verdict)
    assert not (run / FILE).exists()
    assert read_log(run).verdicts == ()


def test_a_run_that_is_still_written_takes_verdicts(tmp_path: Path) -> None:
    run_all(tmp_path / "run", [make_session(0)], ByNumber())
    with RunStore(tmp_path / "run") as store:  # the writer holds its lock meanwhile
        RunHumanVerdicts(tmp_path / "run").say("s000", 0, "right", person="anna")
        store.set_meta("finished", True)
    assert words(tmp_path / "run") == [("anna", "right")]


def test_export_is_what_calibrate_reads(run: Path, tmp_path: Path) -> None:
    verdicts = RunHumanVerdicts(run)
    with pytest.raises(UsageError, match="decided nothing"):
        verdicts.export(tmp_path / "none.jsonl")
    for turn, said in enumerate(("right", "wrong", "missing", "unsure")):
        verdicts.say("s000", turn, said, person="anna", note="because" if turn == 1 else "")
    verdicts.say("s001", 0, "right", person="anna")
    verdicts.say("s001", 0, "wrong", person="ben")  # disputed: nobody knows
    out = tmp_path / "human.jsonl"
    assert verdicts.export(out) == 3
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["human_outcome"] for one in lines] == ["perfect", "incorrect", "missing"]
    assert lines[1]["notes"] == {"anna": "because"}
    assert lines[0]["question"] == "question 0 of 0?"
    assert lines[0]["references"] == ["answer 0-0"]
    with pytest.raises(ConflictError, match="exists already"):
        verdicts.export(out)
    assert "replies   3" in mmrag("judge", "calibrate", str(out), "--judge", "exact").stdout
