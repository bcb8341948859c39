"""Attack the readers of data: 500 variants of Parquet, Arrow and JSON lines.

A variant has one odd cell, column, type, label list, byte or line among good ones. Reading it gives
sessions, of which the odd one says what is wrong when it is begun, or one typed error for the file.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.bench.attacks import Case

VARIANTS = 500

ODD: tuple[Any, ...] = (
    None, "", "\x00", "x" * 100_000, "\u202e\u0000", -1, 0, 2**62, 1.5, float("nan"), True, b"",
    b"\xff\xfe", [], [None], [[]], {}, {"bytes": None}, {"a": {"b": [1]}}, "file:///etc/passwd",
    "http://[::1", "http://\x00/", "//", "[" * 5000, '{"a":' * 3000, "\U0010ffff",
)  # fmt: skip
CELLS = ("session_id", "image", "image_url", "turns", "answers", "image_quality")
TURN = ("interaction_id", "query", "domain", "query_category", "dynamism", "image_quality")


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Every kind of variant in turn, until there were 500."""
    chance = random.Random(seed)
    kinds: tuple[Callable[[random.Random, Path], tuple[str, str | None]], ...] = (
        _odd_cell, _odd_turn, _odd_column, _odd_description, _odd_bytes, _odd_arrow, _odd_world,
        _odd_import, _odd_yaml,
    )  # fmt: skip
    for number, kind in zip(range(VARIANTS), itertools.cycle(kinds), strict=False):
        place = work / f"data-{number}"
        place.mkdir()
        try:
            yield Case(*kind(chance, place))
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                raise
            yield Case(kind.__name__, f"{type(error).__name__}: {error}"[:300])


def _row(number: int, *, lists: bool = False) -> dict[str, Any]:
    turns = [
        {"interaction_id": f"s{number}-{i}", "query": f"question {i}?", "domain": "book",
         "query_category": "comparison", "dynamism": "static", "image_quality": "normal"}
        for i in range(2)
    ]  # fmt: skip
    answers = [{"interaction_id": f"s{number}-{i}", "ans_full": f"yes {i}"} for i in range(2)]
    return {
        "session_id": f"s{number}",
        "image": {"bytes": _PICTURE, "path": None},
        "image_url": None,
        "image_quality": "normal",
        "turns": _columns(turns) if lists else turns,
        "answers": _columns(answers) if lists else answers,
    }


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]}


def _odd_cell(chance: random.Random, place: Path) -> tuple[str, str | None]:
    cell, value = chance.choice(CELLS), chance.choice(ODD)
    rows = [_row(i, lists=chance.random() < 0.5) for i in range(3)]
    return f"odd cell {cell}", _as_rows(place, rows, lambda row: row.update({cell: value}))


def _odd_turn(chance: random.Random, place: Path) -> tuple[str, str | None]:
    cell, value = chance.choice(TURN), chance.choice(ODD)
    lists = chance.random() < 0.5
    rows = [_row(i, lists=lists) for i in range(3)]

    def spoil(row: dict[str, Any]) -> None:
        if lists:
            row["turns"][cell] = chance.choice((value, [value, None], [value]))
        else:
            row["turns"] = chance.choice(
                ([None, *row["turns"]], [{**row["turns"][0], cell: value}], [value], [{}])
            )

    least = 0 if isinstance(value, bytes) else 2  # Arrow makes bytes of the whole column then
    return f"odd turn {cell}", _as_rows(place, rows, spoil, least)


def _as_rows(
    place: Path, rows: list[dict[str, Any]], spoil: Callable[[dict[str, Any]], None], least: int = 2
) -> str | None:
    """One odd row among good ones where the types allow it, else all rows odd alike."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    alike = False
    odd = copy.deepcopy(rows)
    spoil(odd[1])
    try:
        table = pa.Table.from_pylist(odd)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
        alike = True
        for row in (odd[0], odd[2]):
            spoil(row)
        try:
            table = pa.Table.from_pylist(odd)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            return None  # no table can hold that
    try:
        pq.write_table(table, place / "train-0.parquet")
    except (pa.ArrowException, ValueError):
        return None  # and no file that
    return _read(place, least=0 if alike else least)


def _odd_column(chance: random.Random, place: Path) -> tuple[str, str | None]:
    """A column that is gone, doubled, renamed, or all of another type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([_row(i) for i in range(3)])
    name = chance.choice(table.column_names)
    at = table.column_names.index(name)
    how = chance.choice(("gone", "renamed", "numbers", "bytes", "nulls", "times", "texts", "empty"))
    if how == "gone":
        table = table.drop_columns([name])
    elif how == "renamed":
        table = table.rename_columns([f"{c}\x00" if c == name else c for c in table.column_names])
    elif how == "empty":
        table = table.slice(0, 0)
    else:
        column = {
            "numbers": pa.array([1, 2, 3]),
            "bytes": pa.array([b"a", b"\xff", b""]),
            "nulls": pa.nulls(3),
            "times": pa.array([2**62, 0, -(2**62)], pa.timestamp("us")),
            "texts": pa.array([b"ok", b"\xff\xfe", b"ok"], pa.binary()).view(pa.string()),
        }[how]
        table = table.set_column(at, name, column)
    pq.write_table(table, place / "train-0.parquet")
    return f"column {how}", _read(place)


def _odd_description(chance: random.Random, place: Path) -> tuple[str, str | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = {"_type": "ClassLabel", "names": chance.choice((None, 3, [], [1, None], {"a": 1}))}
    said = chance.choice(
        (b"{", b"[]", b"3", b"[" * 100_000, b"\xff", json.dumps({"info": 3}).encode(),
         json.dumps({"info": {"features": [label]}}).encode(),
         json.dumps({"info": {"features": {"turns": {"domain": [label]}}}}).encode())
    )  # fmt: skip
    rows = [_row(i) for i in range(3)]
    for row in rows:
        for turn in row["turns"]:
            turn["domain"] = chance.randrange(-2, 20)
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"huggingface": said})
    pq.write_table(table, place / "train-0.parquet")
    return "description", _read(place)


def _odd_bytes(chance: random.Random, place: Path) -> tuple[str, str | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    packing = chance.choice(("snappy", "zstd", "none", "gzip"))
    pq.write_table(
        pa.Table.from_pylist([_row(i) for i in range(3)]), place / "a.parquet", compression=packing
    )
    _spoil_file(place / "a.parquet", chance)
    return f"bytes of Parquet, {packing}", _read(place)


def _odd_arrow(chance: random.Random, place: Path) -> tuple[str, str | None]:
    import pyarrow as pa

    table = pa.Table.from_pylist([_row(i) for i in range(3)])
    with pa.ipc.new_stream(str(place / "data-0.arrow"), table.schema) as writer:
        writer.write_table(table)
    _spoil_file(place / "data-0.arrow", chance)
    return "bytes of Arrow", _read(place)


def _spoil_file(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    how = chance.choice(("cut", "flip", "flip", "extreme"))
    if how == "cut":
        del data[chance.randrange(len(data)) :]
    for _ in range(chance.randrange(1, 5) if how == "flip" and data else 0):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    if how == "extreme":
        at = chance.randrange(len(data))
        data[at : at + 4] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)


def _read(place: Path, *, least: int = 0) -> str | None:
    from simulator.datasets.papers.crag_mm import CragMM

    def read() -> Iterator[Any]:
        source = CragMM(str(place))
        _ = source.fingerprint, len(source)
        yield from source

    return _judged(read, least)


def _judged(read: Callable[[], Iterator[Any]], least: int) -> str | None:
    """Sessions, whose pictures are there or a typed error; `least` of them are good."""
    from mmrag.errors import MmragError

    good = 0
    try:
        for session in read():
            with contextlib.suppress(MmragError):
                good += bool(session.capture.image.data)
            if not session.turns or not session.id:
                return "a session without turns or id"
    except MmragError as error:
        return None if least == 0 else f"the whole file was refused: {error}"[:300]
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:300]
    return None if good >= least else f"{good} good sessions, not {least}"


def _odd_world(chance: random.Random, place: Path) -> tuple[str, str | None]:
    """The first rows of the mini world with one odd cell of text, or odd bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from simulator.world.sessions import World, mini_folder

    (place / "world.json").write_bytes((mini_folder() / "world.json").read_bytes())
    with pq.ParquetFile(mini_folder() / "multi-turn.parquet") as file:
        table = file.read_row_group(0).slice(0, 3)
    name = chance.choice(("scene", "degraded", "session_id", "turns", "answers", "extra"))
    at = table.schema.get_field_index(name)
    field, cells = table.schema.field(at), table.column(at).to_pylist()
    texts = ("{", "[", "3", "null", "[" * 5000, "", "\x00")
    cells[1] = chance.choice(texts) if pa.types.is_string(field.type) else None
    pq.write_table(table.set_column(at, field, pa.array(cells, field.type)),
                   place / "multi-turn.parquet")  # fmt: skip
    if spoilt := chance.random() < 0.3:
        _spoil_file(place / "multi-turn.parquet", chance)
    return f"world {'bytes' if spoilt else name}", _judged(
        lambda: iter(World(place)), 0 if spoilt else 2
    )


_TURN = {
    "session_id": "s", "turn_index": 0, "query": "q?", "ground_truth": "a", "agent_response": "b",
    "is_correct": True, "is_miss": False, "is_ego": True, "domain": "food", "degradation": "clean",
    "image_quality": "low-light", "interaction_id": "i", "status": "answered", "votes": [],
}  # fmt: skip
_ANSWER = {
    "question": "q?", "answer": "b [1]", "contexts": ["b"], "references": ["a"], "id": "7",
    "passages": [{"text": "b", "id": "1", "label": "answers"}], "citations": ["1"],
    "meta": {"a": 1}, "annotations": {"deflects": True}, "popularity": "head",
}  # fmt: skip
_SAMPLE = {
    "id": 7, "epoch": 1, "target": ["a"], "total_time": 1.5,
    "messages": [
        {"role": "user", "content": "q?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "function": "look", "arguments": {"at": 1}}]},
        {"role": "tool", "content": "x", "tool_call_id": "c", "function": "look"},
        {"role": "assistant", "content": [{"type": "text", "text": "b"}]},
    ],
    "scores": {"turn 1": {"value": 1.0, "explanation": "e", "metadata": {"outcome": "perfect"}}},
    "metadata": {"session_id": "s", "condition": "clean", "quality": "normal", "turns": [
        {"query": "q?", "reference": "a", "accepted": ["b"], "domain": "food"}, {"query": "r?"}]},
    "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2, "total_cost": 0.5}},
    "attachments": {"a": "b"}, "error": {"message": "down"},
}  # fmt: skip
_WORSE = (
    *ODD, "nan", "inf", float("inf"), 2**63, 10**400, 1e308, "\ud800", "=1+1", [{}], [3], "5",
)  # fmt: skip


def _odd_import(chance: random.Random, place: Path) -> tuple[str, str | None]:
    """What is taken in can be scored, shown and reported; all else is one line."""
    from mmrag.errors import MmragError
    from simulator.exchange.imports import import_file

    ending, row = chance.choice(((".jsonl", _TURN), (".jsonl", _ANSWER), (".json", _SAMPLE)))
    row = copy.deepcopy(row)
    node: Any = row
    while True:  # somewhere in the tree, the deeper the rarer
        at = chance.choice([*node] if isinstance(node, dict) else range(len(node)))
        if not isinstance(node[at], dict | list) or not node[at] or chance.random() < 0.3:
            break
        node = node[at]
    node[at] = chance.choice(_WORSE)
    text = json.dumps({"eval": {}, "samples": [row]} if ending == ".json" else row, default=repr)
    (place / f"a{ending}").write_text(text.replace("\\\\ud8", "\\ud8"))
    try:
        import_file(place / f"a{ending}", place / "run")
    except MmragError:
        left = (place / "run").exists()
        return f"import of {ending}", "a refused import left its folder" if left else None
    return f"import of {ending}", _usable(place / "run", text, reported=chance.random() < 0.2)


def _usable(folder: Path, text: str, *, reported: bool) -> str | None:
    from simulator.exchange.exports import export_run
    from simulator.reports.draw.write import ReportOptions, make_report
    from simulator.run.results.run_scoring import score_run
    from simulator.store.run_reader import RunReader

    try:
        with RunReader(folder) as run:
            score_run(run)
            [run.turns(session.id, session.degradation) for session in run.sessions()]
            if reported:
                make_report([folder], folder / "report", ReportOptions(resamples=0))
            export_run(run, folder / "out.jsonl")
    except BaseException as error:
        return f"{type(error).__name__}: {error} after {text[:1500]}"
    return None


def _odd_yaml(chance: random.Random, place: Path) -> tuple[str, str | None]:
    """Pieces of YAML put together: a value or one line, within a second."""
    import time

    from mmrag.errors import MmragError
    from simulator.run.run_config import load_config

    pieces = ("&a ", "*a ", "<<", "1:1", "\n  ", "---", "!!int ", "!!binary ", "2031-02-31",
              "9" * 5000, "agent: ", *"[]{}:-?|%x!\n\x07")  # fmt: skip
    text = "".join(chance.choice(pieces) * chance.choice((1, 1, 1, 2, 3000)) for _ in range(12))
    (place / "run.yaml").write_text(text)
    began = time.process_time()
    with contextlib.suppress(MmragError):
        load_config(place / "run.yaml")
    slow = time.process_time() - began > 2
    return "YAML", f"took too long: {text[:300]!r}" if slow else None


def _picture() -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (9, 99, 9)).save(buffer, "JPEG")
    return buffer.getvalue()


_PICTURE = _picture()
