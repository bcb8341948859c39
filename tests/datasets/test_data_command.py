"""`mmrag data`: check, schema, show, start; and runs of own data."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from called_command import mmrag
from own_parts import TURNS, photo, write


def test_check_says_what_each_turn_will_be(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    path = write(tmp_path, {"session_id": "a", "image": "a.jpg", "turns": TURNS,
                            "meta": {"room": "kitchen"}})  # fmt: skip
    done = mmrag("data", "check", path)
    assert done.stdout.splitlines() == [
        "line 1: session 'a', a.jpg: 1. What is this? → a kettle",
        "1 session, 1 turn; reports are sliced by room; all good.",
    ]


def test_check_fails_and_names_line_field_and_cure(tmp_path: Path) -> None:
    path = write(tmp_path, {"turns": TURNS}, {"image": "b.jpg", "turns": TURNS},
                 {"turns": [{"query": "\x1b[31mWho?"}]})  # fmt: skip
    done = mmrag("data", "check", path, code=1)
    assert "line 2: image 'b.jpg': there is no such file" in done.stdout
    assert "line 3: turns[0].references is empty" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("1 line cannot be used; 1 turn cannot be scored.")
    said = json.loads(mmrag("data", "check", path, "--json", code=1).stdout)
    assert [line["ok"] for line in said] == [True, False, False]
    assert said[1]["faults"][0]["field"] == "image"


def test_an_empty_file_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "my.jsonl").write_text("\n\n")
    done = mmrag("data", "check", tmp_path / "my.jsonl", code=1)
    assert "no session" in done.stdout


def test_schema_is_json() -> None:
    assert json.loads(mmrag("data", "schema").stdout)["properties"]["turns"]


def test_a_newcomer_starts_with_pictures_alone(tmp_path: Path) -> None:
    for number in range(3):
        photo(tmp_path / "photos" / f"IMG_{number}.jpg")
    album = tmp_path / "photos"
    out = tmp_path / "run"
    common = ("--agent", "random", "--judge", "exact", "--out", out)
    refused = mmrag("run", "--data", album, *common, code=2)
    assert "mmrag data start" in refused.stderr
    assert not out.exists()
    (album / "x.jpg").write_text("hello")
    told = mmrag("data", "start", album)
    assert "3 pictures in" in told.stdout
    assert "x.jpg: not a picture" in told.stderr
    table = album / "questions.csv"
    rows = table.read_text().splitlines()
    assert rows == ["image,question,answer", "IMG_0.jpg,,", "IMG_1.jpg,,", "IMG_2.jpg,,"]
    unfilled = mmrag("data", "check", table, code=1)
    said = [line for line in unfilled.stdout.splitlines() if line.startswith("row 2:")]
    assert said == ["row 2: column `question` is empty; write the question."]
    table.write_text("\n".join([rows[0], *(r.replace(",,", ",What?,a kettle") for r in rows[1:])]))
    good = mmrag("data", "check", table)
    assert "is read as" not in good.stdout
    assert "Notes:" not in good.stdout
    mmrag("run", "--data", table, *common, "--json")


def test_a_link_out_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "kettle.jpg").symlink_to(photo(tmp_path / "elsewhere.jpg"))
    refused = mmrag("data", "start", tmp_path / "photos", code=1)
    assert "kettle.jpg: is a link, and lies outside of" in refused.stderr
    assert not (tmp_path / "photos" / "questions.csv").exists()


def test_a_folder_that_is_not_there_is_told_with_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    told = mmrag("data", "start", tmp_path / "photo", code=2).stderr
    assert "there is no such folder. Did you mean" in told


@pytest.mark.parametrize("text", ["", "\n\n", "image,question,answer\n"])
def test_a_run_of_no_conversation_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / ("none.csv" if "," in text else "none.jsonl")
    file.write_text(text)
    told = mmrag("run", "--data", file, "--agent", "random", "--search", "none",
                 "--out", tmp_path / "run", code=1)  # fmt: skip
    assert (
        told.stderr == f"error: {file} holds no conversation: write one, as docs/data.md shows.\n"
    )
    assert told.stdout == ""
    assert not (tmp_path / "run").exists()


def test_conversations_are_started_as_json_lines(tmp_path: Path) -> None:
    album = tmp_path / "photos"
    for name in ("a", "é"):
        photo(album / f"{name}.jpg")
    done = mmrag("data", "start", album, "--turns", "2")
    file = album / "questions.jsonl"
    assert "delete turns that you do not need" in done.stdout
    empty = [{"query": "", "references": [""]}] * 2
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines == [{"image": "a.jpg", "turns": empty}, {"image": "é.jpg", "turns": empty}]
    unfilled = mmrag("data", "check", file, code=1)
    assert "line 1: turns[1].query is empty" in unfilled.stdout
    filled = file.read_text("utf-8").replace('"query": ""', '"query": "What?"')
    file.write_text(filled.replace('[""]', '["a kettle"]'), "utf-8")
    checked = mmrag("data", "check", file)
    assert checked.stdout.splitlines()[-1] == "2 sessions, 4 turns; all good."
    for wrong in ("questions.csv", "questions.xlsx"):
        refused = mmrag("data", "start", album, "--turns", "2", "--out", album / wrong, code=2)
        assert ".jsonl" in refused.stderr
    mmrag("data", "start", album, "--out", album / "one.jsonl")
    assert json.loads((album / "one.jsonl").read_text("utf-8").splitlines()[0]) == {
        "image": "a.jpg", "turns": empty[:1],
    }  # fmt: skip


def test_bad_lines_are_data_errors_and_the_others_run(tmp_path: Path) -> None:
    from simulator.store.run_reader import RunReader

    photo(tmp_path / "a.jpg")
    path = write(tmp_path, {"session_id": "a", "image": "a.jpg", "turns": TURNS},
                 {"session_id": "b", "image": "b.jpg", "turns": TURNS * 2},
                 "no json", {"session_id": "d", "turns": TURNS})  # fmt: skip
    out = tmp_path / "run"
    run = ("run", "--data", path, "--agent", "random", "--judge", "exact", "--out", out, "--json",
           "--degrade", "clean,rotated@2")  # fmt: skip
    first = mmrag(*run)
    assert "1 session without a picture: held once" in first.stderr
    with RunReader(out) as reader:
        assert reader.degradations_of("d") == ["clean"]
        assert reader.degradations_of("a") == ["clean", "rotated@2"]
        (broken, _) = reader.turns("b")
        assert broken.status == "data_error"
        assert "line 2: image 'b.jpg'" in str(broken.error)
        assert "line 3" in str(reader.turns("line-3")[0].error)
        counts = reader.turn_counts()
    mmrag(*run)
    with RunReader(out) as reader:
        assert reader.turn_counts() == counts


def test_a_bad_line_among_texts_is_no_picture_to_score_apart(tmp_path: Path) -> None:
    image = photo(tmp_path / "a.jpg").name
    path = write(tmp_path, {"turns": TURNS}, {"turns": TURNS, "image": image}, "no json")
    run = ("run", "--data", path, "--agent", "random", "--judge", "exact")
    done = mmrag(*run, "--out", tmp_path / "run")
    assert "truthfulness" in done.stdout
    assert "egocentric" not in done.stdout


def test_a_folder_of_pictures_is_asked_about(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    photo(tmp_path / "b.jpg")
    replies = tmp_path / "replies.txt"
    replies.write_text(json.dumps({"query": "What is this?", "reply": "a kettle"}))
    agent = f"scripted:file={replies}"
    ask = ("ask", tmp_path, "What is this?", "--agent", agent, "--search", "none")
    done = mmrag(*ask)
    assert done.stdout.splitlines() == ["a.jpg: a kettle", "b.jpg: a kettle"]
    lines = [json.loads(line) for line in mmrag(*ask, "--json").stdout.splitlines()]
    assert [(line["picture"], line["reply"]["text"]) for line in lines] == [
        ("a.jpg", "a kettle"), ("b.jpg", "a kettle"),
    ]  # fmt: skip


def test_a_fault_of_the_file_is_cured_in_the_file(tmp_path: Path) -> None:
    """Asking again cannot help: with the line corrected it is another file."""
    path = write(tmp_path, {"image": "none.jpg", "turns": TURNS}, {"turns": TURNS})
    run = ("run", "--data", path, "--search", "none", "--judge", "exact")
    lost = mmrag(*run, "--agent", "random", "--out", tmp_path / "lost").stderr
    assert "Correct the file, then run again with a new --out." in lost
    assert "resume" not in lost
    both = mmrag(*run, "--agent", "command:run=/no/such/program", "--out", tmp_path / "both").stderr
    assert "1 of them lies in the data: correct the file" in both
    assert f"mmrag resume {tmp_path / 'both'} --errors" in both
    write(tmp_path, {"image_url": "http://127.0.0.1:9/a.jpg", "turns": TURNS})
    url = mmrag(*run, "--agent", "random", "--out", tmp_path / "url", code=1).stderr
    assert "1 data_error" in url
    assert "Ask them again with: mmrag resume" in url


def test_check_keeps_notes_and_faults_apart(tmp_path: Path) -> None:
    """A note once for the file, none for what everybody calls question; faults at the end."""
    table = tmp_path / "my.csv"
    table.write_text(
        "question,expected,needs_image,focus\n"
        'Who?,Ann,maybe,"1,2,3"\n'
        ",Bob,,\n"
        "When?,1900,,\n"
        "Where?,,,\n"
    )
    done = mmrag("data", "check", table, code=1)
    assert done.stdout.splitlines() == [
        "row 4: session 'row-4', no picture: 1. When? → 1900",
        "row 5: session 'row-5', no picture: 1. Where? → not scored",
        "",
        "Notes:",
        "row 2: column `expected` is read as 'references'. (2 more like it)",
        "",
        "To correct:",
        "row 2: column `needs_image` is neither yes nor no; write one of them.",
        "row 2: column `focus` is not a box; write left,top,right,bottom in pixels, as in "
        "120,80,640,560.",
        "row 3: column `question` is empty; write the question.",
        "row 5: column `expected` is empty: the turn is asked and not scored; write the right "
        "answer.",
        "",
        "2 sessions, 2 of them without a picture, 2 turns; 2 rows cannot be used; 1 turn cannot "
        "be scored.",
    ]


def test_check_tells_of_published_data_what_cannot_be_used(tmp_path: Path) -> None:
    crud = tmp_path / "split_merged.json"
    row = {"event": "青石镇图书馆启用", "summary": "启用"}
    crud.write_text(json.dumps({"event_summary": [row, {"event": "x"}]}), encoding="utf-8")
    done = mmrag("data", "check", f"crud:{crud}", code=1)
    assert done.stdout.splitlines() == [
        "split_merged.json, row 2 of event_summary: 'summary' is missing or no text; mend or "
        "remove the row (it needs event, summary).",
        "1 session, 1 turn; 1 session cannot be used.",
    ]
    said = json.loads(mmrag("data", "check", f"crud:{crud}", "--json", code=1).stdout)
    assert (said["sessions"], list(said["faults"])) == (1, ["event_summary-2"])
    crag = tmp_path / "crag.jsonl"
    rows = [{"interaction_id": "a", "query": "Who?", "answer": "nan", "search_results": []}]
    crag.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = mmrag("data", "check", f"crag:{crag}")
    assert done.stdout == "1 session, 1 turn; 1 turn cannot be scored.\n"


def test_check_of_pictures_alone_says_how_to_begin(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    assert f"`mmrag data start {tmp_path}` first" in mmrag("data", "check", tmp_path, code=2).stderr


def test_a_table_to_fill_in_holds_no_formula_and_reads_back(tmp_path: Path) -> None:
    album = tmp_path / "photos"
    photo(album / "=1+1.jpg")
    photo(album / "-1.5.jpg")
    mmrag("data", "start", album)
    table = album / "questions.csv"
    rows = table.read_text().splitlines()
    assert rows[1:] == ["./-1.5.jpg,,", "./=1+1.jpg,,"]
    table.write_text("\n".join([rows[0], *(r.replace(",,", ",What?,a kettle") for r in rows[1:])]))
    mmrag("data", "check", table)


def test_a_name_that_is_no_utf8_leaves_no_empty_table(tmp_path: Path) -> None:
    album = tmp_path / "photos"
    photo(album / "a.jpg")
    (album / "a.jpg").rename(os.fsdecode(bytes(album) + b"/\xff.jpg"))
    for file in ("questions.csv", "questions.jsonl"):
        refused = mmrag("data", "start", album, "--out", album / file, code=1)
        assert "rename it" in refused.stderr
        assert not (album / file).exists()


def test_a_link_is_not_told_to_be_itself(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "dang.jpg").symlink_to("nothing.jpg")
    (tmp_path / "own" / "out.jpg").symlink_to(tmp_path / "elsewhere.jpg")
    file = tmp_path / "own" / "q.jsonl"
    rows = [{"image": name, "turns": TURNS} for name in ("dang.jpg", "out.jpg")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = mmrag("data", "check", file, code=1).stdout
    assert "Did you mean" not in said
    assert "is a link to nothing" in said
    assert "is a link, and lies outside of" in said


def test_a_column_that_is_nearly_a_known_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text("question,answer,answr2,shelf\nWho?,Ann,Anne,3\n")
    told = mmrag("data", "check", file).stdout
    assert "`answr2`" in told
    assert "Did you mean `answer2`?" in told
    assert "`shelf`" not in told
    run = mmrag("run", "--data", file, "--agent", "random", "--judge", "exact",
                "--out", tmp_path / "run")  # fmt: skip
    assert "`answr2`" in run.stderr


@pytest.mark.parametrize(("good", "code"), [(1, 0), (0, 1)])
def test_a_run_says_how_many_rows_were_of_no_use(good: int, code: int, tmp_path: Path) -> None:
    rows = [{"turns": TURNS}] * good + [{"image": "none.jpg", "turns": TURNS}] * 2
    file = tmp_path / "q.jsonl"
    file.write_text(
        "".join(json.dumps({**row, "session_id": str(n)}) + "\n" for n, row in enumerate(rows))
    )
    done = mmrag("run", "--data", file, "--agent", "random", "--judge", "exact",
                 "--out", tmp_path / "run", code=code)  # fmt: skip
    assert f"2 of {good + 2} rows could not be used" in done.stderr.splitlines()[-1]
