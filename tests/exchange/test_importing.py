"""Others' answers as a run: whole or not at all, by the words that `mmrag score` reads too."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag
from exchange_parts import write_run
from small_runs import make_session

from mmrag.errors import ConflictError, DataError
from mmrag.records import Outcome, Session, Status
from simulator.exchange.imports import import_file
from simulator.exchange.read_outcomes import read_turns
from simulator.run.results.run_scoring import score_run
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

KIT = {
    "is_ego": True, "image_quality": "low-light", "query_category": "reasoning", "domain": "food",
    "dynamism": "static", "total_turn_count": 2, "interaction_id_history": [],
}  # fmt: skip


def row(index: int, said: str, session: str = "s000", **more: Any) -> dict[str, Any]:
    """A turn as the 2026 kit saves it."""
    return {
        "session_id": session, "interaction_id": f"i{index}", "turn_idx": index,
        "query": f"question {index} of 0?", "ground_truth": f"answer 0-{index}",
        "agent_response": said, **KIT, **more,
    }  # fmt: skip


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def sessions() -> list[Session]:
    return [make_session(0, turns=3), make_session(1)]


def test_a_kits_responses_are_conversations_to_judge(tmp_path: Path) -> None:
    file = lines(tmp_path / "response.jsonl", row(1, "no"), row(0, "answer 0-0"))
    done = mmrag("import", str(file), "--out", str(tmp_path / "run"))
    assert "2 turns brought in" in done.stderr
    assert f"mmrag judge run {tmp_path / 'run'}" in done.stderr
    with RunReader(tmp_path / "run") as run:
        session = run.session("s000")
        assert [t.query for t in session.turns] == ["question 0 of 0?", "question 1 of 0?"]
        assert [t.id for t in session.turns] == ["i0", "i1"]
        assert session.turns[0].query_type == "reasoning"
        assert session.turns[0].meta == {"image quality": "low-light"}
        replies = [r.reply.text for r in run.turns("s000") if r.reply]
        assert replies == ["answer 0-0", "no"]
    mmrag("judge", "run", str(tmp_path / "run"), "--judge", "exact")
    with RunReader(tmp_path / "run") as run:
        assert [r.verdict is not None for r in run.turns("s000")] == [True, True]


def test_a_kits_table_keeps_its_judges_word(tmp_path: Path) -> None:
    table = tmp_path / "turn_evaluation_results_all.csv"
    table.write_text(
        "session_id,interaction_id,turn_idx,query,ground_truth,agent_response,is_ego,is_correct,"
        "is_miss,is_exact_match\n"
        's,a,0,"Who, then?",Ann,Ann,True,True,False,True\n'
        "s,b,1,And when?,1990,I don't know,True,False,True,False\n"
    )
    assert import_file(table, tmp_path / "run") == 2
    with RunReader(tmp_path / "run") as run:
        verdicts = [r.verdict for r in run.turns("s")]
        assert [v and v.outcome for v in verdicts] == [Outcome.PERFECT, Outcome.MISSING]
        assert run.turns("s")[1].status is Status.ABSTAINED
        assert run.meta("judge") == "the file"
    shown = json.loads(mmrag("score", str(tmp_path / "run"), "--json").stdout)
    kept = json.loads(mmrag("score", str(table), "--json").stdout)
    assert shown["all"] == kept["all"]


def test_the_data_brings_pictures_references_and_what_was_not_answered(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", row(0, "answer 0-0"), row(1, "no"))
    assert import_file(file, tmp_path / "run", lambda: iter(sessions())) == 2
    with RunReader(tmp_path / "run") as run:
        session = run.session("s000")
        assert session.capture is not None
        assert session.capture.image.data == sessions()[0].capture.image.data
        assert len(session.turns) == 3
        assert len(run.turns("s000")) == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(0, "x", session="other")], "not in the data"),
        ([row(0, "x", query="Another?")], "Give the --data that was asked"),
        ([row(0, "x", degradation="blur@3")], "leave --data out"),
    ],
)
def test_data_that_was_not_asked_is_refused(
    rows: list[dict[str, Any]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=words):
        import_file(lines(tmp_path / "r.jsonl", *rows), tmp_path / "run", lambda: iter(sessions()))
    assert not (tmp_path / "run").exists()


def test_a_plain_table_of_questions_and_answers(tmp_path: Path) -> None:
    table = tmp_path / "plain.csv"
    table.write_text('question,answer,reference\n"Who, then?","<b>Ann</b>",Ann\nWhen?,,1990\n')
    with pytest.raises(DataError, match=r"plain\.csv, line 3"):
        import_file(table, tmp_path / "run")  # an empty answer is none
    table.write_text('question,answer,reference\n"Who, then?","<b>Ann</b>",Ann\n')
    assert import_file(table, tmp_path / "run") == 1
    with RunReader(tmp_path / "run") as run:
        (session,) = run.sessions()
        assert session.turns[0].reference.text == "Ann"
        (result,) = run.turns(session.id)
        assert result.reply is not None
        assert result.reply.text == "<b>Ann</b>"


def test_outcomes_alone_are_for_score(tmp_path: Path) -> None:
    file = lines(tmp_path / "o.jsonl", {"session_id": "s", "turn_index": 0, "outcome": "perfect"})
    with pytest.raises(DataError, match="mmrag score"):
        import_file(file, tmp_path / "run")


def test_an_export_of_several_conditions_comes_back(tmp_path: Path) -> None:
    names = ("clean", "blur@3")
    asked = [row(i, "answer 0-0", degradation=name) for name in names for i in range(2)]
    file = lines(tmp_path / "r.jsonl", *asked)
    assert import_file(file, tmp_path / "run") == 4
    mmrag("export", str(tmp_path / "run"), str(tmp_path / "own.jsonl"))
    assert import_file(tmp_path / "own.jsonl", tmp_path / "back") == 4
    with RunReader(tmp_path / "back") as run:
        assert [len(run.turns("s000", name)) for name in names] == [2, 2]
        assert [session.degradation for session in run.sessions()] == list(names)
    with pytest.raises(DataError, match=r"holds 2 conditions .*mmrag import"):
        read_turns(file)  # one score over both would count a conversation twice


def test_an_export_with_failed_turns_comes_back(tmp_path: Path) -> None:
    write_run(tmp_path / "run")  # in each conversation the agent failed once
    mmrag("export", str(tmp_path / "run"), str(tmp_path / "own.jsonl"))
    assert import_file(tmp_path / "own.jsonl", tmp_path / "back") == 12
    with RunReader(tmp_path / "run") as before, RunReader(tmp_path / "back") as after:
        assert score_run(before) == score_run(after)
        for run in (before, after):
            failed = run.turns("s000")[2]
            assert (failed.status, failed.error) == (Status.AGENT_ERROR, "boom <b>")
            assert failed.query


def test_a_bad_last_line_brings_nothing_in(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", row(0, "x"), row(1, "y"))
    file.write_text(file.read_text() + "{broken\n")
    with pytest.raises(DataError, match="line 3"):
        import_file(file, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_again_is_no_harm_and_another_run_is_not_touched(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", row(0, "x"))
    import_file(file, tmp_path / "run")
    assert import_file(file, tmp_path / "run") == 1
    other = lines(tmp_path / "other.jsonl", row(0, "y"))
    with pytest.raises(ConflictError, match="holds other answers"):
        import_file(other, tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        (result,) = run.turns("s000")
        assert result.reply is not None
        assert result.reply.text == "x"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({**row(0, "x"), "agent_response": "\ud800"}, "cannot be kept"),
        ({**row(0, "x"), "degradation": "x" * 300}, "300 characters"),
        ({**row(0, "x"), "session_id": ""}, "no name"),
        ({"question": "q?", "answer": "a", "meta": {"a": "\ud800"}}, "cannot be kept"),
        ({"question": "q?", "answer": "a", "annotations": {"deflects": "\ud800"}}, "surrogates"),
        ({"question": "q?", "answer": "a", "reply": "b"}, "'reply' is another name of 'answer'"),
    ],
)
def test_a_line_that_no_run_can_keep_is_refused(
    line: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=words):
        import_file(lines(tmp_path / "a.jsonl", line), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "plain.csv"
    table.write_text("question,answer,reference,answer\nWho?,Ann,Ann,Bob\n")
    with pytest.raises(DataError, match="two columns are called 'answer'"):
        import_file(table, tmp_path / "run")


def test_a_file_whose_name_is_no_utf8_is_taken_in(tmp_path: Path) -> None:
    file = lines(tmp_path / os.fsdecode(b"a\xff.jsonl"), row(0, "x"))
    assert import_file(file, tmp_path / "run") == 1
    with RunReader(tmp_path / "run") as run:
        assert run.meta("imported") == "a\\xff.jsonl"


def test_a_killed_import_says_that_it_is_to_be_imported_again(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:  # as a kill leaves it
        store.set_meta("answers", "0123456789abcdef")
        store.begin(0, make_session(0))
    done = mmrag("resume", str(tmp_path / "run"), code=1)
    assert "mmrag import" in done.stderr
    assert "never started" not in done.stderr


def test_a_whole_import_has_nothing_to_resume(tmp_path: Path) -> None:
    import_file(lines(tmp_path / "r.jsonl", row(0, "x")), tmp_path / "run")
    done = mmrag("resume", str(tmp_path / "run"), code=1)
    assert "r.jsonl" in done.stderr
    assert "never started" not in done.stderr
