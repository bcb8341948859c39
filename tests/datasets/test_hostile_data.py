"""Data sets as strangers write them: what is wrong with a row is that session's trouble alone."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_runs import ByNumber, make_session, picture, run_all

from mmrag.errors import DataError, StoreError
from mmrag.records import Status
from simulator.datasets.content_hashes import ContentHashes
from simulator.datasets.papers.crag_mm import CragMM
from simulator.datasets.result_lines import read_rows
from simulator.exchange.read_outcomes import read_turns
from simulator.store.run_reader import RunReader
from simulator.world.sessions import World, mini_folder, read_world


def row_of(sid: str, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "session_id": sid,
        "image": {"bytes": picture(1), "path": None},
        "image_url": None,
        "turns": [
            {"interaction_id": f"{sid}-{i}", "query": f"question {i}?", "domain": "book",
             "query_category": "comparison", "dynamism": "static"}
            for i in range(2)
        ],
        "answers": [{"interaction_id": f"{sid}-{i}", "ans_full": f"yes {i}"} for i in range(2)],
    }  # fmt: skip
    return {**row, **changes}


def written(place: Path, rows: list[dict[str, Any]], **options: Any) -> str:
    place.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), place / "train-0.parquet", **options)
    return str(place)


ODD: dict[str, dict[str, Any]] = {
    "no turns": {"turns": []},
    "null turns": {"turns": None},
    "a null turn": {"turns": [None, *row_of("s001")["turns"]]},
    "a null id": {"turns": [{**row_of("s001")["turns"][0], "interaction_id": None}]},
    "two turns of one id": {"turns": [row_of("s001")["turns"][0]] * 2},
    "a null answer": {"answers": [None]},
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_row_is_that_sessions_data_error(tmp_path: Path, kind: str) -> None:
    rows = [row_of("s000"), row_of("s001", **ODD[kind]), row_of("s002")]
    agent = ByNumber()
    run_all(tmp_path / "run", CragMM(written(tmp_path / "set", rows)), agent)
    assert {query.session_id for query in agent.seen} == {"s000", "s002"}
    with RunReader(tmp_path / "run") as run:
        broken = run.turns("s001")
        assert broken
        assert {turn.status for turn in broken} == {Status.DATA_ERROR}
        assert all("row 1" in (turn.error or "") for turn in broken)


def test_a_field_of_one_rows_lists_is_no_field_of_the_others(tmp_path: Path) -> None:
    """Arrow gives each row the fields of all, null where a row has none."""
    rows = [row_of("s000"), row_of("s001"), row_of("s002")]
    for row in rows:
        row["answers"] = {key: [a[key] for a in row["answers"]] for key in row["answers"][0]}
    rows[1]["answers"] = {"bytes": [1]}
    agent = ByNumber()
    run_all(tmp_path / "run", CragMM(written(tmp_path / "set", rows)), agent)
    assert {query.session_id for query in agent.seen} == {"s000", "s002"}


@pytest.mark.parametrize("sid", ["", None])
def test_a_row_without_an_id_is_called_by_its_place(tmp_path: Path, sid: str | None) -> None:
    rows = [row_of("s000"), row_of("s001", session_id=sid)]
    broken = list(CragMM(written(tmp_path / "set", rows)))[1]
    assert broken.id == "train-0.parquet, row 1"
    with pytest.raises(DataError, match=r"row 1: no session_id; give every row one"):
        _ = broken.capture.image.data


@pytest.mark.parametrize("column", [pa.array([7, 8]), pa.array([b"a", b"b"]), pa.array([[1], [2]])])
def test_urls_that_are_no_texts_are_data_errors(tmp_path: Path, column: pa.Array) -> None:
    table = pa.Table.from_pylist([row_of("s000", image=None), row_of("s001", image=None)])
    table = table.set_column(table.schema.get_field_index("image_url"), "image_url", column)
    pq.write_table(table, tmp_path / "a.parquet")
    for session in CragMM(str(tmp_path / "a.parquet")):
        with pytest.raises(DataError, match="image_url is a"):
            _ = session.capture.image.data


def test_labels_that_are_numbers_without_names_are_told_as_they_are(tmp_path: Path) -> None:
    turns = [
        {**turn, "domain": 3, "query_category": 1, "dynamism": 0, "image_quality": 5}
        for turn in row_of("s000")["turns"]
    ]
    (session,) = CragMM(written(tmp_path / "set", [row_of("s000", turns=turns)]))
    first = session.turns[0]
    assert (first.domain, first.query_type, first.dynamism) == (
        "domain 3", "query-category-1", "dynamism-0",
    )  # fmt: skip
    assert session.capture.quality == "image-quality-5"


def test_a_text_that_is_no_unicode_costs_its_own_row(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([row_of("s000"), row_of("s001"), row_of("s002")])
    bad = pa.array([b"", b"\xff\xfe", b""], pa.binary()).view(pa.string())
    pq.write_table(table.append_column("note", bad), tmp_path / "a.parquet")
    sessions = list(CragMM(str(tmp_path / "a.parquet")))
    assert [s.id for s in sessions] == ["s000", "a.parquet, row 1", "s002"]
    with pytest.raises(DataError, match="row 1"):
        _ = sessions[1].capture.image.data


@pytest.mark.parametrize("said", [b"{", b"[1]", b'{"info": 3}', b"[" * 100_000, b"\xff"])
def test_a_description_that_cannot_be_read_is_told(tmp_path: Path, said: bytes) -> None:
    table = pa.Table.from_pylist([row_of("s000")]).replace_schema_metadata({"huggingface": said})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="description of the columns"):
        CragMM(str(tmp_path / "a.parquet"))


# worlds


def world_with(tmp_path: Path, column: str, cells: list[Any]) -> Path:
    """The mini world whose first conversations have these cells."""
    place = tmp_path / "world"
    place.mkdir()
    shutil.copy(mini_folder() / "world.json", place)
    table = pq.read_table(mini_folder() / "multi-turn.parquet").slice(0, len(cells))
    at = table.schema.get_field_index(column)
    field = table.schema.field(at)
    changed = table.set_column(at, field, pa.array(cells, field.type))
    pq.write_table(changed, place / "multi-turn.parquet")
    return place


@pytest.mark.parametrize(
    ("column", "cell"),
    [("scene", "{"), ("scene", "[" * 5000), ("scene", "[1]"), ("degraded", "{"), ("turns", None),
     ("extra", None), ("answers", None), ("session_id", None), ("session_id", "")],
)  # fmt: skip
def test_an_odd_row_of_a_world_is_that_sessions_data_error(
    tmp_path: Path, column: str, cell: Any
) -> None:
    good = pq.read_table(mini_folder() / "multi-turn.parquet", columns=[column])[column]
    place = world_with(tmp_path, column, [good[0].as_py(), cell, good[2].as_py()])
    first, broken, third = read_world(place)
    assert len(first.capture.image.data) > 1000
    assert len(third.capture.image.data) > 1000
    with pytest.raises(DataError, match="row 1"):
        _ = broken.capture.image.data


# fingerprints


def test_other_answers_of_equal_size_are_other_data(tmp_path: Path) -> None:
    """All that names, sizes and times could tell is alike; what the file says is not."""
    rows = [row_of("s000"), row_of("s001")]
    folder = written(tmp_path / "set", rows, compression="none", use_dictionary=False)
    file = tmp_path / "set" / "train-0.parquet"
    before, about = CragMM(folder).fingerprint, file.stat()
    file.write_bytes(file.read_bytes().replace(b"yes 0", b"noo 0"))
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert file.stat().st_size == about.st_size
    assert {s.turns[0].reference.text for s in CragMM(folder)} == {"noo 0"}
    assert CragMM(folder).fingerprint != before


def test_a_copy_elsewhere_is_the_same_data(tmp_path: Path) -> None:
    folder = written(tmp_path / "set", [row_of("s000")])
    shutil.copytree(folder, tmp_path / "copy")
    assert CragMM(str(tmp_path / "copy")).fingerprint == CragMM(folder).fingerprint


def test_a_world_is_known_by_its_file_not_by_what_is_said_of_it(tmp_path: Path) -> None:
    place = tmp_path / "world"
    shutil.copytree(mini_folder(), place)
    assert World(place).fingerprint == World(mini_folder()).fingerprint
    known = msgspec.json.decode((place / "world.json").read_bytes())["files"]
    assert World(place).fingerprint == f"world-{known['multi-turn.parquet']['sha256'][:16]}"
    data = bytearray((place / "multi-turn.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (place / "multi-turn.parquet").write_bytes(data)
    assert World(place).fingerprint != World(mini_folder()).fingerprint


def test_hashes_are_kept_between_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from simulator.datasets import content_hashes

    read: list[Path] = []

    def reading(path: Path) -> str:
        read.append(path)
        return file_sha256(path)

    file_sha256 = content_hashes.file_sha256
    monkeypatch.setattr(content_hashes, "file_sha256", reading)
    monkeypatch.setattr(content_hashes, "SETTLED", 0.0)
    file = tmp_path / "data.parquet"
    file.write_bytes(b"one")
    place = tmp_path / "cache" / "hashes.sqlite"
    first = ContentHashes(place).sha256(file)
    assert (ContentHashes(place).sha256(file), len(read)) == (first, 1)
    about = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert ContentHashes(place).sha256(file) != first
    assert len(read) == 2


def test_a_file_that_was_written_just_now_is_not_remembered(tmp_path: Path) -> None:
    """It may change once more within the same tick of the disk's clock."""
    file, place = tmp_path / "a", tmp_path / "hashes.sqlite"
    file.write_bytes(b"one")
    ContentHashes(place).sha256(file)
    assert not ContentHashes(place).known()


@pytest.mark.parametrize("trouble", ["no folder", "no database"])
def test_without_a_place_to_keep_them_hashes_are_made_anew(tmp_path: Path, trouble: str) -> None:
    (tmp_path / "file").write_bytes(b"no database at all" * 100)
    place = tmp_path / "file" / "x" if trouble == "no folder" else tmp_path / "file"
    assert len(ContentHashes(place).sha256(tmp_path / "file")) == 64


# what a run keeps


@pytest.mark.parametrize("bad", [b"{", b"[1]", b"[" * 100_000, b"\xff", b'{"id": 3}'])
@pytest.mark.parametrize("where", ["sessions.record", "turns.result", "verdicts.verdict",
                                   "meta.value", "turns.status"])  # fmt: skip
def test_cells_that_are_no_records_are_typed_errors(tmp_path: Path, where: str, bad: bytes) -> None:
    if where == "meta.value" and bad in (b"[1]", b'{"id": 3}'):
        pytest.skip("a value may be anything that is JSON")
    run_all(tmp_path / "run", [make_session(0)], ByNumber())
    table, column = where.split(".")
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        db.execute(f"UPDATE {table} SET {column} = ?", (bad,))
    db.close()

    def read() -> None:
        with RunReader(tmp_path / "run") as run:
            run.meta("judge")
            list(run.sessions())
            run.session("s000")
            list(run.results())
            run.verdicts("s000", "clean", 0)

    with pytest.raises(StoreError, match="run"):
        read()


def test_an_outcome_nested_beyond_measure_is_no_outcome(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a":' * 20_000)
    with pytest.raises(DataError, match="line 1: not JSON"):
        read_turns(tmp_path / "a.jsonl")


def test_a_cell_of_thousands_of_digits_stays_a_text(tmp_path: Path) -> None:
    table = tmp_path / "replies.csv"
    table.write_text("session_id,turn_index\na," + "9" * 5000 + "\n")
    assert [row.given["turn_index"] for row in read_rows(table)] == ["9" * 5000]
