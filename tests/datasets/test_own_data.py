"""Everybody's own data: lines, rows and pictures, and what is said of those that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from own_parts import TURNS, photo, write

from mmrag.errors import DataError, SpecError
from mmrag.records import Session
from simulator.datasets import open_data
from simulator.datasets.file_rows import MAX_LINE_BYTES
from simulator.datasets.own.line_schema import SessionLine, json_schema
from simulator.datasets.own.own_data import CheckedLine, OwnData


def opened(path: Path, **options: Any) -> OwnData:
    source = open_data(str(path), **options)
    assert isinstance(source, OwnData)
    return source


def examined(folder: Path, *lines: object) -> list[CheckedLine]:
    return list(opened(write(folder, *lines)).examined_with_pictures())


def faults(one: CheckedLine) -> list[tuple[str, str]]:
    return [(fault.field, fault.weight) for fault in one.faults]


def words(one: CheckedLine) -> str:
    return " ".join(fault.words for fault in one.faults)


def problem_of(session: Session) -> str:
    assert session.capture is not None
    with pytest.raises(DataError) as told:
        _ = session.capture.image.data
    return str(told.value)


def test_a_line_is_a_session(tmp_path: Path) -> None:
    photo(tmp_path / "photos" / "a.jpg")
    (one,) = opened(write(tmp_path, {
        "session_id": "a", "image": "photos/a.jpg", "focus": [1, 2, 30, 20],
        "query_time": "2026-03-01", "entity": "Alder Kettle",
        "meta": {"room": "kitchen", "domain": "home", "floor": 2},
        "turns": [
            {"query": "What is this?", "references": ["a kettle", "kettle"]},
            {"query": "Whose?", "references": ["Ann's"], "meta": {"room": "hall"},
             "query_type": "multi-hop", "gaze": [0.25, 1]},
        ],
    }))  # fmt: skip
    assert (one.id, [turn.gaze for turn in one.turns]) == ("a", [None, (0.25, 1)])
    assert one.query_time == "2026-03-01"
    assert one.capture is not None
    assert one.capture.focus == (1, 2, 30, 20)
    assert one.capture.image.pil().size == (40, 30)
    first, second = one.turns
    assert first.reference.all_texts == ("a kettle", "kettle")
    assert (first.meta, first.domain) == ({"room": "kitchen", "floor": "2"}, "home")
    assert (second.meta, second.query_type) == ({"room": "hall", "floor": "2"}, "multi-hop")
    assert first.extra == {"entity_name": "Alder Kettle"}


def test_names_that_people_use_are_understood_and_told(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    (one,) = examined(
        tmp_path, {"id": 7, "picture": "a.jpg", "question": "What?", "answer": "a kettle"}
    )
    assert not one.is_lost
    assert one.session.id == "7"
    assert one.session.capture is not None
    (turn,) = one.session.turns
    assert (turn.query, turn.reference.text) == ("What?", "a kettle")
    assert ("id", "note") in faults(one)
    assert not any("answer" in field or "question" in field for field, _ in faults(one))


def test_a_line_without_a_picture_is_a_text_conversation(tmp_path: Path) -> None:
    (one,) = opened(write(tmp_path, {"turns": TURNS}))
    assert (one.capture, one.id) == (None, "line-1")


def test_every_bad_line_is_told_with_its_cure_and_the_others_are_read(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    photo(tmp_path.parent / "secret.jpg")
    long = json.dumps({"session_id": "l", "turns": [{"query": "x" * MAX_LINE_BYTES}]})
    bad: list[tuple[object, str, str]] = [
        ({"session_id": "b", "image": "b.jpg", "turns": TURNS}, "image", "Did you mean 'a.jpg'"),
        ({"session_id": "c", "image": "../secret.jpg", "turns": TURNS}, "image", "--pictures"),
        ({"session_id": "c1", "image": "a" * 5000, "turns": TURNS}, "image", "is not a path"),
        ({"session_id": "c2", "image": "a\0.jpg", "turns": TURNS}, "image", "is empty"),
        ({"session_id": "c3", "image": ".", "turns": TURNS}, "image", "no such file"),
        ({"session_id": "d", "turns": []}, "turns", "is empty"),
        ({"session_id": "e"}, "turns", "is empty"),
        ({"question": "\u200b", "answer": "x"}, "turns[0].query", "is empty"),
        ({"session_id": "f", "turns": 3}, "turns", "a number; write a list"),
        ({"session_id": "g/h", "turns": TURNS}, "session_id", "holds '/'"),
        ({"session_id": "g\nh", "turns": TURNS}, "session_id", "holds '\\n'"),
        ({"session_id": "a", "turns": TURNS}, "session_id", "'a' stands in line 1 already"),
        ({"session_id": "i", "image": 3, "turns": TURNS}, "image", "a text"),
        ({"session_id": "j", "turns": [{"query": None}]}, "turns[0].query", "is missing"),
        ({"session_id": "k", "turns": [{"query": 3}]}, "turns[0].query", "a text"),
        ({"session_id": "m", "focus": [3, 2, 1, 0], "turns": TURNS}, "focus", "left < right"),
        ({"session_id": "m1", "turns": [{"query": "?", "gaze": [0.5, 1.2]}]}, "turns[0].gaze",
         "write x and y as shares of the picture"),
        ({"session_id": "m2", "turns": [{"query": "?", "gaze": [320, 200]}]}, "turns[0].gaze",
         "write x and y as shares of the picture"),
        ({"session_id": "m3", "turns": [{"query": "?", "gaze": 0.5}]}, "turns[0].gaze",
         '"gaze": [0.4, 0.55]'),
        ({"session_id": "n", "query_time": "noon", "turns": TURNS}, "query_time", "2026-03-01"),
        ({"session_id": "o", "passages": [{"id": "p"}], "turns": TURNS}, "passages[0].text",
         "is missing"),
        ({"session_id": "p", "passages": [{"text": "x", "label": "good"}], "turns": TURNS},
         "passages[0].label", "answers, related"),
        ({"session_id": "q1", "meta": {"a\nb": "x"}, "turns": TURNS}, "meta", "short name"),
        ({"session_id": "q2", "meta": {"a": "x" * 400}, "turns": TURNS}, "meta", "short text"),
        ({"session_id": "q", "meta": {"room": ["a"]}, "turns": TURNS}, "meta", "meta"),
        ('{"session_id": "r", "focus": [NaN, 1, 2, 3], "turns": []}', "", "write null"),
        ('{"session_id": "s", "turns": [', "", "is not JSON"),
        ('["a"]', "", "write one object per line"),
        (long, "", "longer than 16 MiB"),
        ({"session_id": "t", "turns": [{"query": "?", "references": [["x"]]}]},
         "turns[0].references", "a text"),
        ({"session_id": "u", "turns": TURNS * 1001}, "turns", "(1,000); split it up"),
    ]  # fmt: skip
    good = {"session_id": "a", "image": "a.jpg", "turns": TURNS}
    last = {"session_id": "z", "turns": TURNS}
    found = examined(tmp_path, good, *(line for line, _, _ in bad), last)
    assert len(found) == len(bad) + 2
    assert not found[0].is_lost
    assert not found[-1].is_lost
    for number, ((_, field, cure), one) in enumerate(zip(bad, found[1:-1], strict=True), 2):
        assert one.is_lost, (field, cure)
        told = [f for f in one.faults if f.weight == "session"]
        assert any(f.field == field and cure in f.words for f in told), (field, cure, told)
        assert {fault.place for fault in told} == {f"line {number}"}
        assert f"my.jsonl, line {number}: " in problem_of(one.session)
    ids = [one.session.id for one in found]
    assert len(set(ids)) == len(ids)
    assert not [i for i in ids if "/" in i or "\n" in i]


def test_a_turn_without_references_is_asked_and_told(tmp_path: Path) -> None:
    (one,) = examined(tmp_path, {"turns": [{"query": "What?", "references": [" "]}]})
    assert not one.is_lost
    assert one.session.turns[0].reference.text == ""
    assert ("turns[0].references", "turn") in faults(one)


def test_fifty_turns_are_one_conversation_and_told_of(tmp_path: Path) -> None:
    (one,) = examined(tmp_path, {"turns": TURNS * 50})
    assert not one.is_lost
    assert len(one.session.turns) == 50
    assert ("turns", "note") in faults(one)
    assert "50 turns" in words(one)


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "my.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"turns": TURNS}).encode())
    assert [one.is_lost for one in opened(path).examined()] == [False]
    path.write_bytes(json.dumps({"turns": TURNS}).encode("utf-16"))
    with pytest.raises(DataError, match="save it as UTF-8"):
        list(opened(path))


def test_what_nobody_knows_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    (one,) = examined(tmp_path, {"turns": TURNS, "qeury_time": "2026-03-01", "weather": "rain"})
    assert not one.is_lost
    assert one.session.query_time is None
    assert "Did you mean 'query_time'?" in words(one)
    assert ("weather", "note") in faults(one)


def test_broken_pictures_and_boxes_beyond_them_are_seen(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    (tmp_path / "b.jpg").write_bytes(b"no picture")
    lines = [
        {"image": "a.jpg", "focus": [0, 0, 400, 300], "turns": TURNS},
        {"image": "a.jpg", "focus": [0, 0, 0.5, 0.5], "turns": TURNS},
        {"image": "b.jpg", "turns": TURNS},
    ]
    beyond, shares, broken = examined(tmp_path, *lines)
    assert "40 × 30" in words(beyond)
    assert not beyond.is_lost
    assert "pixels" in words(shares)
    assert ("image", "session") in faults(broken)
    assert "not a picture" in words(broken)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = photo(tmp_path / "elsewhere" / "a.jpg")
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.jpg").symlink_to(secret)
    line = {"image": "a.jpg", "turns": TURNS}
    (one,) = opened(write(data, line)).examined()
    assert one.is_lost
    assert "lies outside of" in words(one)
    (said,) = opened(data / "my.jsonl", pictures=str(secret.parent))
    assert said.capture is not None
    assert said.capture.image.pil().size == (40, 30)


def test_the_fingerprint_knows_lines_and_pictures(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    path = write(tmp_path, {"image": "a.jpg", "turns": TURNS})
    before = opened(path).fingerprint
    assert opened(path).fingerprint == before
    photo(tmp_path / "a.jpg", (41, 30))
    pictured = opened(path).fingerprint
    write(tmp_path, {"image": "a.jpg", "turns": [{"query": "Other?", "references": ["a"]}]})
    assert len({before, pictured, opened(path).fingerprint}) == 3


def test_a_csv_holds_a_question_per_row(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    path = tmp_path / "my.csv"
    path.write_text(
        "image,question,answer,room,focus,gaze\n"
        'a.jpg,"What, then?",kettle,kitchen,"1,2,30,20","0.4, 0.55"\n'
        ",Who wrote it?,Ann,,,\n"
        "a.jpg,,kettle,,,\n"
        "a.jpg,What?,kettle,hall,,,too many\n",
        encoding="utf-8-sig",
    )
    first, text, empty, wide = opened(path).examined()
    (turn,) = first.session.turns
    assert (turn.query, turn.reference.text) == ("What, then?", "kettle")
    assert (turn.meta, turn.gaze) == ({"room": "kitchen"}, (0.4, 0.55))
    assert first.session.capture is not None
    assert (first.session.capture.focus, first.session.id) == ((1, 2, 30, 20), "row-2")
    assert text.session.capture is None
    assert empty.is_lost
    assert [(f.field, f.words) for f in empty.faults] == [
        ("column `question`", "is empty; write the question.")
    ]
    assert wide.is_lost
    assert "more cells" in words(wide)


def test_a_csv_may_accept_several_answers(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text(
        "question,answer,Answer 2,answer_3,answer\n"
        "Who?,Ann,,Bob,Cy\n"
        'How many?,"[""7"", ""seven""]",sept,,\n'
        "Which list?,[1 to 3],,,\n"
        "Which number?,[7],,,\n"
    )
    read = [examined.session.turns[0].reference.all_texts for examined in opened(path).examined()]
    assert read == [("Ann", "Bob", "Cy"), ("7", "seven", "sept"), ("[1 to 3]",), ("[7]",)]


def test_two_rows_of_a_session_are_told_how_to_write_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("session_id,question,answer\na,Who?,Ann\na,When?,1900\n")
    first, second = opened(path).examined()
    assert not first.faults
    assert [f.field for f in second.faults] == ["column `session_id`"]
    assert "'a' stands in row 2 already" in words(second)
    assert "JSON lines (.jsonl), see docs/data.md" in words(second)
    lines = write(
        tmp_path, {"session_id": "a", "turns": TURNS}, {"session_id": "a", "turns": TURNS}
    )
    assert "JSON lines" not in words(list(opened(lines).examined())[1])


def test_rows_of_parquet_are_told_of_by_their_columns(tmp_path: Path) -> None:
    import datasets

    rows = [{"question": "What?", "reply": "x"}, {"question": None, "reply": "y"}]
    datasets.Dataset.from_list(rows).save_to_disk(str(tmp_path / "set"))
    first, second = opened(tmp_path / "set").examined()
    assert "the head: column `answer` is missing" in "".join(
        f"{f.place}: {f.field} {f.words}" for f in first.faults
    )
    assert second.is_lost
    assert ("column `question`", "is empty; write the question.") in [
        (f.field, f.words) for f in second.faults
    ]


def test_a_csv_of_another_code_loses_only_the_rows_that_are_no_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_bytes("question;answer\nWas?;Käse\nWas?;Brot\n".encode("cp1252"))
    first, second = opened(path).examined()
    assert first.is_lost
    assert "UTF-8" in words(first)
    assert second.session.turns[0].reference.text == "Brot"


def test_a_hugging_face_folder_of_the_same_form(tmp_path: Path) -> None:
    import datasets

    data = photo(tmp_path / "a.png").read_bytes()
    rows = [
        {"session_id": "a", "image": {"bytes": data, "path": None}, "meta": {"room": "kitchen"},
         "turns": [{"query": "What?", "references": ["a kettle"]}]},
        {"session_id": "b", "image": None, "meta": {"room": None},
         "turns": [{"query": "Who?", "references": []}]},
    ]  # fmt: skip
    features = datasets.Features({
        "session_id": datasets.Value("string"), "image": datasets.Image(),
        "meta": {"room": datasets.Value("string")},
        "turns": [{"query": datasets.Value("string"),
                   "references": [datasets.Value("string")]}],
    })  # fmt: skip
    datasets.Dataset.from_list(rows, features=features).save_to_disk(str(tmp_path / "set"))
    source = opened(tmp_path / "set")
    first, second = source
    assert (len(source), first.turns[0].meta) == (2, {"room": "kitchen"})
    assert first.capture is not None
    assert (first.capture.image.pil().size, second.capture) == ((40, 30), None)
    assert second.turns[0].reference.text == ""


def test_a_folder_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    write(tmp_path / "set", {"turns": TURNS})
    assert len(opened(tmp_path / "set")) == 1
    assert len(opened(Path(f"jsonl:{tmp_path / 'set'}"))) == 1
    write(tmp_path / "set", {"turns": TURNS}, name="other.jsonl")
    with pytest.raises(DataError, match=r"my\.jsonl, other\.jsonl"):
        opened(tmp_path / "set")
    photo(tmp_path / "album" / "a.jpg")
    (only,) = open_data(str(tmp_path / "album"))
    assert (only.id, only.turns) == ("a.jpg", ())
    with pytest.raises(SpecError, match="Did you mean"):
        open_data(str(tmp_path / "albun"))


def test_other_packages_add_readers(tmp_path: Path) -> None:
    from simulator.datasets import readers

    name = "planned-for-a-test"
    if name not in readers.names():
        readers.register(name, lambda place, _reading: open_data(place))
    assert len(list(open_data(f"{name}:{write(tmp_path, {'turns': TURNS})}"))) == 1


def test_the_schema_is_made_of_the_records_that_lines_are_checked_with() -> None:
    schema = json_schema()
    assert set(schema["properties"]) == set(SessionLine.__struct_fields__)
    assert (schema["required"], set(schema["$defs"])) == (["turns"], {"TurnLine", "PassageLine"})
