"""The list of conversations and what it says of them, without a browser."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest
import small_runs
from ui_parts import result, session, write_run

from mmrag.errors import MmragError
from mmrag.metrics.measure_records import Measurement
from mmrag.records import Outcome, Reference, Turn
from simulator.store import run_reader
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from ui.home.summary import summarise
from ui.opened_runs import Runs, open_runs
from ui.render import render
from ui.replay.conversation_list import ConversationList, Filter
from ui.replay.conversation_view import conversation


def write(folder: Path, stop: str, pattern: str, *, turns: int = 4) -> Path:
    """One conversation; `-` is a turn that was skipped."""
    one = session(0, turns=turns)
    held = [result(one, index, letter) for index, letter in enumerate(pattern)]
    return small_runs.write(folder, (one, held), judge="rules/1", config={"stop": stop, "seed": 3})


@pytest.mark.parametrize(
    ("stop", "pattern", "stopped", "words"),
    [
        (
            "strikes(2)",
            "cii-",
            True,
            ["", "✕ failure 1 of 2 in a row", "✕✕ 2 failures in a row: the wearer gives up here"],
        ),
        ("strikes(3)", "ciic", False, ["", "✕ failure 1 of 3 in a row", "✕ failure 2 of 3", ""]),
        ("strikes(2)", "mcmi", False, ["○ failure 1 of 2", "", "○ failure 1", "○✕ 2 failures"]),
        ("strikes(1)", "ci--", True, ["", "✕ a failure: the wearer gives up here"]),
        ("never", "iiii", False, ["", "", "", ""]),
        ("patience(1)", "iici", False, ["✕ a failure; the wearer stays"] * 2 + ["", "✕ a failure"]),
        ("patience(0)", "i---", True, ["✕ a failure: the wearer gives up here"]),
        # asked all the same after the stop, as the public kits do
        ("strikes(2)", "iici", True, ["✕ failure 1 of 2", "✕✕ 2 failures in a row: the wearer"
                                      " would give up here; the rest was asked", "", ""]),
        ("strikes(2)", "ccii", False, ["", "", "✕ failure 1 of 2", "✕✕ 2 failures in a row"]),
    ],
)  # fmt: skip
def test_strikes_follow_the_runs_stop_policy(
    tmp_path: Path, stop: str, pattern: str, stopped: bool, words: list[str]
) -> None:
    catalogue = ConversationList(RunReader(write(tmp_path / "run", stop, pattern)))
    (row,) = catalogue.find(Filter())
    assert row.stopped is stopped
    view = conversation(catalogue.run, "run", "talk-0000", "clean")
    shown = [turn.strike for turn in view.turns if not turn.skipped]
    assert len(shown) == len(words)
    for said, expected in zip(shown, words, strict=True):
        assert said.startswith(expected)
        assert bool(said) is bool(expected)


def test_a_turn_is_never_told_of_before_its_session(tmp_path: Path) -> None:
    """A session begins, with its first turn, between two questions of one look."""
    with RunStore(write(tmp_path / "run", "never", "cc")) as store:
        reader = RunReader(store.folder)
        late, written = session(1), threading.Event()

        def interrupt(statement: str) -> None:
            if "MAX(rowid)" in statement and not written.is_set():
                written.set()
                store.begin(1, late).result()
                store.commit(result(late, 0, "i")).result()

        reader._db.set_trace_callback(interrupt)
        first = list(reader.changes_since())
        assert written.is_set()
        for page in first:
            assert set(page.marks) <= {(row[1], row[2]) for row in page.sessions}
        second = list(reader.changes_since(first[-1].session_row, first[-1].turn_row))
        told = {key: marks for page in (*first, *second) for key, marks in page.marks.items()}
        assert told[(late.id, "clean")] == ["incorrect"]
        reader.close()


def test_a_list_is_read_in_pages_and_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(catalogue: ConversationList) -> list[tuple[str, tuple[str, ...]]]:
        return [(row.session_id, row.outcomes) for row in catalogue.find_all()]

    with RunStore(write(tmp_path / "run", "never", "cic")) as store:
        early = ConversationList(RunReader(store.folder))
        monkeypatch.setattr(run_reader, "_PAGE", 2)
        for number in range(1, 6):
            one = session(number)
            store.begin(number, one).result()
            store.commit(*(result(one, index, "ic"[index % 2]) for index in range(4))).result()
        store.commit(result(session(0), 3, "i")).result()
        reader = RunReader(store.folder)
        pages = list(reader.changes_since())
        assert max(len(page.sessions) for page in pages) == 2
        reader.close()
        assert early.refresh() is True
        assert early.refresh() is False
        assert rows(early) == rows(ConversationList(RunReader(store.folder)))
        assert [len(outcomes) for _, outcomes in rows(early)] == [4] * 6


def test_turns_that_are_asked_again_are_seen(tmp_path: Path) -> None:
    """Their rows have numbers that were seen before."""
    with RunStore(write(tmp_path / "run", "never", "ciii")) as store:
        catalogue = ConversationList(RunReader(store.folder))
        store.forget_turns("talk-0000", "clean", 1)
        catalogue.refresh()
        for index in range(1, 4):
            store.commit(result(session(0), index, "c")).result()
        catalogue.refresh()
        (row,) = catalogue.find_all()
        assert row.outcomes == ("perfect",) * 4


def test_every_tab_sees_what_is_new(tmp_path: Path) -> None:
    catalogue = ConversationList(RunReader(write_run(tmp_path / "run", 1, finished=False)))
    seen = catalogue.version
    assert catalogue.refresh() is False
    assert catalogue.version == seen
    with RunStore(tmp_path / "run") as store:
        store.begin(5, session(5)).result()
    assert catalogue.refresh() is True
    assert catalogue.refresh() is False  # another tab was first,
    assert catalogue.version > seen  # and this one notices all the same


def test_degradations_are_filtered_by_kind_and_severity(tmp_path: Path) -> None:
    conditions = ["clean", "low-light@3", "blurred:motion@2", "blurred@2+rotated@1"]
    with RunStore(tmp_path / "run") as store:
        for condition in conditions:
            store.begin(0, session(0, condition)).result()
    catalogue = ConversationList(RunReader(tmp_path / "run"))
    assert catalogue.choices()["kind"] == ["clean", "blurred", "low-light", "rotated"]
    assert catalogue.choices()["severity"] == ["1", "2", "3"]

    def found(**wanted: str) -> set[str]:
        return {row.degradation for row in catalogue.find(Filter(**wanted))}

    assert found(kind="clean") == {"clean"}
    assert found(kind="blurred") == set(conditions[2:])
    assert found(severity="2") == set(conditions[2:])
    assert found(kind="rotated", severity="2") == set()
    assert found(kind="rotated", severity="1") == {conditions[3]}


def test_a_run_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "good", "strikes(2)", "cc", turns=2)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.sqlite").write_text("no data base")
    runs = Runs(watched=tmp_path)
    assert sorted(runs) == ["bad", "good"]
    assert len(runs["good"].find_all()) == 1
    assert "bad" in summarise(runs.folder("bad")).trouble
    with pytest.raises(MmragError, match="bad"):
        open_runs([tmp_path / "good", tmp_path / "bad"])


def test_what_was_measured_stands_beside_its_conversation(tmp_path: Path) -> None:
    write_run(tmp_path / "run", 2, finished=True)
    with RunStore(tmp_path / "run") as store:
        for sid, condition in store.session_keys()[:1]:
            first, second = store.turns(sid, condition)[:2]
            for turn, value, weight in ((first, 0.25, 1.0), (second, 0.75, 3.0)):
                row = Measurement(measure="faithfulness", judge="j", value=value, weight=weight)
                none = Measurement(measure="raf", judge="j", value=None, reason="no label")
                store.add_measurements(turn, [row, none]).result()
    catalogue = ConversationList(RunReader(tmp_path / "run"))
    measured, bare = catalogue.find_conversations(Filter())
    assert measured.first.measures == (("faithfulness", 0.625),)
    assert bare.first.measures == ()
    shown = render("sessions.html.j2", rows=[measured, bare], first=0, total=2, of=2, page=40,
                   finished=True, filtered=False, unsaid=frozenset())  # fmt: skip
    assert shown.count("mm-measured") == 1
    assert "faithfulness 0.62" in shown


def test_a_conversation_is_one_row_with_all_its_conditions(tmp_path: Path) -> None:
    catalogue = ConversationList(RunReader(write_run(tmp_path / "run", 3)))
    found = catalogue.find_conversations(Filter())
    assert [(one.session_id, [row.degradation for row in one.rows]) for one in found] == [
        (f"talk-{n:04d}", ["clean", "low-light@3"]) for n in range(3)
    ]
    (one, *_) = catalogue.find_conversations(Filter(outcome="incorrect"))
    assert one.first.degradation == "low-light@3"  # what passes is what is opened
    assert one.found == {"low-light@3"}


def test_right_is_acceptable_too(tmp_path: Path) -> None:
    talks = [session(number, turns=1) for number in range(3)]
    made = zip(talks, (Outcome.PERFECT, Outcome.ACCEPTABLE, Outcome.MISSING), strict=True)
    held = ((one, [small_runs.done(one, 0, outcome)]) for one, outcome in made)
    catalogue = ConversationList(RunReader(small_runs.write(tmp_path / "run", *held)))
    right = catalogue.find(Filter(outcome="perfect"))  # "right" in the app, as in the shares
    assert [row.session_id for row in right] == ["talk-0000", "talk-0001"]
    assert len(catalogue.find(Filter(outcome="acceptable"))) == 1


def test_nothing_is_said_that_the_data_does_not_say(tmp_path: Path) -> None:
    """Of somebody's own photographs every turn has the labels that hold by default."""
    bare = msgspec.structs.replace(
        session(0, turns=1),
        turns=(Turn(index=0, id="q", query="What is it?", reference=Reference(text="a cup")),),
    )
    small_runs.write(tmp_path / "own", (bare, [result(bare, 0, "c")]), judge="rules/1")
    catalogue = ConversationList(RunReader(tmp_path / "own"))
    assert catalogue.unsaid == {"domain", "query_type", "quality", "is_ego"}
    assert not any(catalogue.choices()[name] for name in ("domain", "query_type", "quality"))
    view = conversation(catalogue.run, "own", "talk-0000", "clean", catalogue.unsaid)
    assert view.labels == ()
    assert view.turns[0].labels == ()
    rows = catalogue.find_conversations(Filter())
    shown = render("sessions.html.j2", rows=rows, first=0, total=1, of=1, page=40, finished=True,
                   filtered=False, unsaid=catalogue.unsaid)  # fmt: skip
    assert "other" not in shown.replace("mm-other", "")
