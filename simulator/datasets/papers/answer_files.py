"""Answers in a file: a line per answer with the passages it was made from, as `measure` takes them.

    {"question": "How long is it?", "answer": "40 m [1].", "contexts": ["It is 40 m long."]}

`passages` (objects with id, text, title, url, date, provider, label) may stand for `contexts`, and
common other names of the fields are understood. Two published files are recognised by their fields:
GaRAGe's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from mmrag.errors import DataError, UsageError
from mmrag.metrics.cases import LABELS, Annotations, Case, cited_in
from mmrag.records import Label, Passage
from simulator.datasets.papers.answered_record import Answered, Unusable
from simulator.datasets.papers.garage import is_garage, read_garage
from simulator.datasets.result_lines import read_rows
from simulator.datasets.rows import json_rows

MAX_LINE_BYTES = 16_000_000


def read_answers(path: str | Path) -> Iterator[Answered | Unusable]:
    """Stream a JSONL file, or a CSV of texts. A bad line is an error that names it and the cure.
    GaRAGe's published file is nobody's to mend: there a row that cannot be used is `Unusable`."""
    path = Path(path)
    if _is_garages(path):
        yield from read_garage(path)
        return
    seen: set[str] = set()
    for where, number, row in _rows(path):
        found = _from_line(row, where, number)
        if found.id in seen:
            raise DataError(f"{where}: the id {found.id!r} stands twice. Give each line its own.")
        seen.add(found.id)
        yield found
    if not seen:
        raise DataError(f"{path} holds no line. Write one JSON object, or row of a CSV, each.")


def _is_garages(path: Path) -> bool:
    """By its first rows, as one of them may be broken."""
    try:
        return any(is_garage(row.value) for row in itertools.islice(json_rows(path), 20))
    except DataError:  # nothing that could be read; the reader says why
        return False


def _rows(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """(place for messages, line number, JSON object) of every line that is not blank."""
    if not path.exists():
        raise UsageError(f"cannot read {path}: there is no such file. Give a JSONL file.")
    table = path.suffix.lower() == ".csv"  # an empty cell says nothing
    for row in read_rows(path, MAX_LINE_BYTES, _no_number):
        yield row.where, row.number, {k: v for k, v in row.given.items() if v != "" or not table}


def _from_line(row: dict[str, Any], where: str, number: int) -> Answered:
    names = {other: name for name, others in _NAMES.items() for other in others}
    fields: dict[str, Any] = {}
    for key, value in row.items():
        name = names.get(key, key)
        if fields.setdefault(name, value) != value:
            raise DataError(f"{where}: {key!r} is another name of {name!r}; keep one of them.")
    if isinstance(fields.get("references"), str):
        fields["references"] = [fields["references"]]
    if "passages" not in fields and isinstance(fields.get("contexts"), str):
        fields["contexts"] = [fields["contexts"]]
    for name in ("citations", "expected"):
        if isinstance(fields.get(name), list):
            fields[name] = [str(mark) for mark in fields[name]]
    try:
        line = msgspec.convert(fields, _Line)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # half a character
        raise DataError(
            f"{where}: {error}. It needs question and answer, with contexts (texts) or passages "
            "(objects with a text); see docs/measures.md."
        ) from error
    passages = _passages(line, where)
    return Answered(
        id=line.id or str(number),
        case=Case(
            question=line.question,
            answer=line.answer,
            passages=passages,
            references=line.references,
            citations=line.citations or cited_in(line.answer, passages),
            expected=line.expected,
            annotations=line.annotations,
        ),
        query_time=line.query_time,
        domain=line.domain,
        query_type=line.query_type,
        dynamism=line.dynamism,
        popularity=line.popularity,
        meta=line.meta,
    )


def _passages(line: _Line, where: str) -> tuple[Passage, ...]:
    given = line.passages or tuple(_Passage(text=text) for text in line.contexts)
    found = tuple(
        Passage(
            id=one.id or str(place),
            text=one.text,
            title=one.title,
            url=one.url,
            date=one.date,
            provider=one.provider,
            label=cast("Label", one.label),
        )
        for place, one in enumerate(given, start=1)
    )
    wrong = [passage.label for passage in found if passage.label not in LABELS]
    if wrong:
        raise DataError(f"{where}: {wrong[0]!r} is not a label. Known: {', '.join(LABELS)}.")
    if len({passage.id for passage in found}) < len(found):
        raise DataError(f"{where}: two passages have the same id. Give each its own.")
    return found


class _Passage(msgspec.Struct):
    text: str
    id: str = ""
    title: str = ""
    url: str = ""
    date: str | None = None
    provider: str = ""
    label: str = "unknown"


class _Line(msgspec.Struct):
    question: str
    answer: str
    id: str = ""
    contexts: tuple[str, ...] = ()
    passages: tuple[_Passage, ...] = ()
    references: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    annotations: Annotations = Annotations()
    query_time: str | None = None
    domain: str = "other"
    query_type: str = "simple-knowledge"
    dynamism: str = "static"
    popularity: str | None = None
    meta: dict[str, Any] = {}


_NAMES = {
    "question": ("query", "user_input"),
    "answer": ("reply", "response", "prediction"),
    "contexts": ("context", "retrieved_contexts"),
    "references": ("reference", "ground_truth", "ground_truths"),
    "expected": ("evidence", "expected_citations"),
    "id": ("session_id", "sample_id"),
    "query_time": ("question_date", "date"),
}


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
