"""Rows of a table: which column is which field, and what is wrong with a row in a table's words.

Lines are understood as JSON is (`line_parser.py`). Who fills in a table has never seen
the fields of a line, so a fault names the column and the cure for a cell.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from simulator.datasets.own.line_parser import FORMS, LineProblem
from simulator.datasets.own.line_schema import OTHER_NAMES, SessionLine, TurnLine

ANSWERS = ("references", *OTHER_NAMES["turn"]["references"])
"""Names of a column of right answers. Several may be there, and a number may follow."""

_KNOWN = {
    *SessionLine.__struct_fields__,
    *TurnLine.__struct_fields__,
    *(n for kind in ("session", "turn") for names in OTHER_NAMES[kind].values() for n in names),
} - {"turns", "passages", "meta", *OTHER_NAMES["session"]["turns"]}
"""What a column can be; every other is a dimension to slice by."""

_QUESTIONS = ("query", *OTHER_NAMES["turn"]["query"])
_FLAGS = ("text_clue", "needs_image", "needs_history", "is_ego")
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_BOX = "is not a box; write left,top,right,bottom in pixels, as in 120,80,640,560."
_CURES = {
    "query": "write the question",
    "references": "write the right answer",
    "image": "write its path, as in photos/a.jpg",
    "audio": "write its path, as in clips/a.wav",
    "session_id": "write a short name",
}


def has_questions(columns: Iterable[str]) -> bool:
    """Whether a column holds the questions."""
    return any(_bare(name) in _QUESTIONS for name in columns)


def row_fields(cells: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A session's fields by their names; columns of other names go to meta."""
    found: dict[str, Any] = {}
    meta: dict[str, object] = {}
    for column, cell in cells:
        name, text = _bare(column), cell.strip()
        if not text:
            continue
        if name in ANSWERS:
            found[name] = [*found.get(name, []), *_answers(text)]
        elif name in _KNOWN:
            found.setdefault(name, _cell(name, text))
        else:
            meta[column.strip()] = _cell(name, text)
    if not has_questions(found):
        found["query"] = ""
    return {**found, "meta": meta} if meta else found


def misspelt_columns(columns: Sequence[str], place: str) -> list[LineProblem]:
    """Notes on columns that become dimensions, and look like a known column misspelt."""
    found: list[LineProblem] = []
    for column in columns:
        name = column.strip().lower().replace(" ", "_")
        if not name or _bare(column) in _KNOWN:
            continue
        words = name.rstrip("_0123456789")
        if near := difflib.get_close_matches(words, sorted(_KNOWN), n=1, cutoff=0.8):
            like = f"{near[0]}{name.removeprefix(words).strip('_')}"
            found.append(
                LineProblem(
                    place=place,
                    field=f"column `{column.strip()}`",
                    words=f"is not a known column, and becomes a slice. Did you mean `{like}`?",
                    weight="note",
                )
            )
    return found


def reword_for_columns(faults: Iterable[LineProblem], columns: Sequence[str]) -> list[LineProblem]:
    """The same faults, of columns and cells."""
    names: dict[str, str] = {}
    for column in columns:
        names.setdefault(_bare(column), column.strip())
    for column in columns:
        names.setdefault(_field(_bare(column)), column.strip())
    return [_of_column(fault, names) for fault in faults]


def _of_column(fault: LineProblem, names: dict[str, str]) -> LineProblem:
    field = re.sub(r"\[\d+\]$", "", fault.field).rpartition(".")[2]
    if not field or field.startswith("column "):
        return fault
    if field not in names and field == "references":
        words = (
            "is missing: the questions are asked and not scored; add it, with the right answers."
        )
        return msgspec.structs.replace(
            fault, place="the head", field="column `answer`", words=words
        )
    words = fault.words
    if words.startswith("wants") and (field == "focus" or field in _FLAGS):
        words = _BOX if field == "focus" else "is neither yes nor no; write one of them."
    elif field in FORMS:
        words = words.replace(f"write {FORMS[field]}", _CURES.get(field, "correct the cell"))
    column = names.get(field)
    return msgspec.structs.replace(
        fault, field=f"column `{column}`" if column else fault.field, words=words
    )


def _bare(column: str) -> str:
    """A column's name as fields are written; of `answer 2` it is `answer`."""
    name = column.strip().lower().replace(" ", "_")
    unnumbered = re.sub(r"_?\d+$", "", name)
    return unnumbered if unnumbered in ANSWERS else name


def _field(name: str) -> str:
    for kind in ("session", "turn"):
        for field, others in OTHER_NAMES[kind].items():
            if name in others:
                return field
    return name


def _answers(text: str) -> list[object]:
    """The accepted answers of a cell: one, or a JSON list of texts."""
    if text.startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        if all(isinstance(item, str) for item in items):
            return cast("list[object]", items)
    return [text]


def _cell(name: str, text: str) -> object:
    """What a cell holds: of a box or a point numbers, of yes or no a truth value, else a text."""
    if name in ("focus", "gaze", *OTHER_NAMES["session"]["focus"]):
        try:
            return [float(part) for part in text.strip("[]() ").split(",")]
        except ValueError:
            return text
    if name in _FLAGS:
        return _TRUTHS.get(text.lower(), text)
    return text
