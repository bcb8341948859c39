"""Rows of data as they lie in files: JSON lines (packed or not), CSV, Arrow. Streamed, and bounded.

A row that cannot be decoded is a `LineProblem` in its place, and the rows after it follow.
"""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import itertools
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import msgspec

from mmrag.errors import DataError
from simulator.datasets.own.columns import has_questions, row_fields
from simulator.datasets.own.line_parser import LineProblem

if TYPE_CHECKING:
    from simulator.datasets.hugging_face_tables import Table

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longest line that is read. Pictures lie beside the file, so a line holds text alone."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Row(NamedTuple):
    """One line of a file, decoded."""

    place: str
    value: Any
    """What was decoded, or the fault for which it could not be."""
    picture: bytes | None = None
    """A picture that the row itself holds."""
    columns: Sequence[str] = ()
    """Of a table with a question per row: their names, to speak of them."""


def json_rows(path: Path, most: int = MAX_LINE_BYTES) -> Iterator[Row]:
    """The lines of a JSONL file (or .gz, .bz2) that are not blank, up to `most` bytes long each. A
    file that breaks off ends in a fault; the lines before it stand."""
    for number, line in enumerate(_lines(path, most), 1):
        place = f"line {number}"
        if line is None:
            yield Row(place, _fault(place, f"is longer than {most >> 20} MiB; split it "
                                    "up, and keep pictures in files beside this one."))  # fmt: skip
        elif isinstance(line, str):
            yield Row(place, _fault(place, line))
        elif line.strip():
            yield Row(place, _decoded(line, place))


def csv_rows(path: Path) -> Iterator[Row]:
    """A question per row: columns image, question, answer; others are dimensions of reports. Rows
    are numbered as a spreadsheet does; the head is the first."""
    with _text(path) as file:
        head = file.readline()
        file.seek(0)
        mark = "\t" if path.suffix == ".tsv" else max(",;\t", key=head.count)
        reader = csv.reader(file, delimiter=mark, strict=True)
        columns = _head(reader, path)
        for number in itertools.count(2):
            place = f"row {number}"
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield Row(place, _fault(place, f"is not CSV ({error}); put quotes about cells that "
                                        "hold quotes, commas or line ends."))  # fmt: skip
                continue
            if cells is None:
                return
            if cells:
                yield _row_of(place, cells, columns)


def _row_of(place: str, cells: list[str], columns: list[str]) -> Row:
    pairs = list(zip(columns, cells, strict=False))
    if len(cells) > len(columns) or any(cell for name, cell in pairs if not name):
        return Row(place, _fault(place, "has more cells than there are columns; put quotes "
                                 "about a cell that holds commas."))  # fmt: skip
    if any("\udc80" <= c <= "\udcff" for cell in cells for c in cell):
        return Row(place, _fault(place, "is not UTF-8; save the file as CSV in UTF-8."))
    return Row(place, row_fields(pairs), columns=columns)


def table_rows(table: Table) -> Iterator[Row]:
    """The rows of a Hugging Face data set of the same form; a picture may be in the row."""
    from simulator.datasets.hugging_face_tables import class_names

    labels = class_names(table.features())
    names = list(table.schema().names)
    columns = names if has_questions(names) else ()
    for number, (where, row) in enumerate(table.rows(), 1):
        place = f"row {number}"
        if isinstance(row, DataError):
            yield Row(place, _fault(place, f"({where}) {row}"))
            continue
        value = cast("dict[str, Any]", _plain(row, labels))
        held = row.get("image")
        data = None
        if isinstance(held, dict):
            cell = cast("dict[str, Any]", held)
            data, value["image"] = cell.get("bytes"), cell.get("path")
            if data:
                value.pop("image")
        if columns and not has_questions(value):
            value["query"] = ""
        yield Row(place, value, data or None, columns)


def _lines(path: Path, most: int) -> Iterator[bytes | str | None]:
    """Every line; None for one that is too long, which is never held in memory; words for the one
    at which a packed file breaks off, which is the last."""
    with _open(path) as file:
        first = True
        try:
            while line := file.readline(most + 1):
                if first and line.startswith(_UTF16_MARKS):
                    raise DataError(f"{path}: is UTF-16; save it as UTF-8.")
                line, first = (line.removeprefix(_UTF8_MARK) if first else line), False
                if len(line) <= most:
                    yield line
                    continue
                while line and not line.endswith(b"\n"):
                    line = file.readline(most)
                yield None
        except (EOFError, OSError, zlib.error) as error:
            yield f"cannot be unpacked ({error}): the file is cut or damaged; fetch it again."


def _open(path: Path) -> BinaryIO:
    packed = {".bz2": bz2.open, ".gz": gzip.open}.get(path.suffix.lower())
    try:
        return path.open("rb") if packed is None else cast("BinaryIO", packed(path, "rb"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _text(path: Path) -> Any:
    with _open(path) as file:
        if file.read(2) in _UTF16_MARKS:
            raise DataError(f"{path}: is UTF-16; save it as CSV in UTF-8.")
    csv.field_size_limit(MAX_LINE_BYTES)
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def _decoded(line: bytes, place: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _fault(place, f"is not JSON ({_why(line, error)}).")


def _why(line: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8: save the file as UTF-8"
    for word in (b"NaN", b"Infinity"):
        if word in line:
            return f"{word.decode()} is not JSON: write null, or leave the field out"
    if line.strip() in (b"[", b"{"):
        return "an object goes over several lines: write each on one line"
    try:  # Python's words say where
        json.loads(line)
    except (ValueError, RecursionError) as better:
        return f"{better}: mend or remove the line"
    return f"{error}: mend or remove the line"


def _fault(place: str, words: str) -> LineProblem:
    return LineProblem(place=place, field="", words=words)


def _head(reader: Iterator[list[str]], path: Path) -> list[str]:
    try:
        columns = next((cells for cells in reader if cells), [])
    except csv.Error as error:
        raise DataError(
            f"{path}: is not CSV ({error}); write a head, then a row a line."
        ) from error
    if not has_questions(columns):
        raise DataError(f"{path}: its first line names no column 'question' (or query); write "
                        "a head such as image,question,answer.")  # fmt: skip
    return columns


def _plain(value: object, labels: dict[str, list[str]], name: str = "") -> object:
    """Arrow's values as JSON's: without what is absent, labels as words, times as texts."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {k: _plain(v, labels, k) for k, v in items if v is not None}
    if isinstance(value, list):
        return [_plain(item, labels, name) for item in cast("list[object]", value)]
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    if isinstance(value, int) and name in labels and 0 <= value < len(labels[name]):
        return labels[name][value]
    return value
