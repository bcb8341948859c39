"""GaRAGe's rows: questions with labelled passages and a person's answer that cites them.

The published file is JSON lines. The text of a passage stands under its citation marker, `cite_1`
for the first, beside `age`, `date` and `provider`; tags are lists, one for each passage. A person
who cites nothing wrote that nothing suffices: a deflection is asked for. The data is CC-BY-NC: none
of it is in this project.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mmrag.errors import DataError
from mmrag.metrics.measure_records import Annotations, Case, cited_in
from mmrag.records import Label, Passage
from simulator.datasets.file_rows import json_rows
from simulator.datasets.own.line_parser import LineProblem
from simulator.datasets.papers.answer_records import AnsweredQuestion, UnusableRow
from simulator.datasets.unreadable_row import unreadable_reason


def is_garage(row: object) -> bool:
    """Whether a row has GaRAGe's fields."""
    return isinstance(row, dict) and {"grounding", "question", "evidence_relevant"} <= row.keys()


def read_garage(path: Path) -> Iterator[AnsweredQuestion | UnusableRow]:
    """Every row; one that cannot be used says why, and the others follow."""
    places: dict[str, str] = {}
    for number, row in enumerate(json_rows(path), start=1):
        where = f"{path.name}, {row.place}"
        try:
            if isinstance(row.value, LineProblem):
                raise DataError(f"{where}: {row.value.words}")
            if not isinstance(row.value, dict):
                raise DataError(f"{where}: is not a JSON object; fetch the file again.")
            found: AnsweredQuestion | UnusableRow = _answered(row.value, where, number)
        except Exception as error:  # a row may hold anything
            found = UnusableRow(
                id=row.place.replace(" ", "-"), problem=unreadable_reason(where, error)
            )
        if found.id in places:
            words = f"{where}: sample_id {found.id!r} stands in {places[found.id]} too"
            found = UnusableRow(id=f"{found.id} ({row.place})", problem=f"{words}; keep one.")
        places[found.id] = row.place
        yield found
    if not places:
        raise DataError(f"{path} holds no row. Fetch GaRAGe_benchmark.jsonl again.")


def _answered(row: dict[str, Any], where: str, number: int) -> AnsweredQuestion:
    """One row. The answer that is measured is its `answer`, else the person's own."""
    passages = _passages(row, where)
    written = _text(row, "answer_generate", where)
    given = row.get("answer")
    answer = given if isinstance(given, str) else written
    marks = _tags(row, "evidence_cited", len(passages), where)
    cited = tuple(p.id for p, mark in zip(passages, marks, strict=True) if mark == "YES")
    return AnsweredQuestion(
        id=str(row.get("sample_id") or number),
        case=Case(
            question=_text(row, "question", where),
            answer=answer,
            passages=passages,
            references=(written,) if written.strip() else (),
            citations=cited if answer is written else cited_in(answer, passages),
            expected=cited,
            annotations=Annotations(should_deflect=not cited),
        ),
        query_time=_iso(_word(row.get("question_date"))),
        domain=_slug(row.get("question_category")) or "other",
        query_type=_slug(row.get("question_complexity")) or "simple",
        dynamism=_dynamism(row),
        popularity=_slug(row.get("question_popularity")) or None,
        meta={
            name: _slug(row[name]) for name in ("question_tag", "topic_tag") if _slug(row.get(name))
        },
    )


def _passages(row: dict[str, Any], where: str) -> tuple[Passage, ...]:
    given = row.get("grounding")
    if not isinstance(given, list) or not given:
        raise DataError(f"{where}: grounding is not a list of passages; fetch the file again.")
    relevant = _tags(row, "evidence_relevant", len(given), where)
    correct = _tags(row, "evidence_correct", len(given), where)
    return tuple(
        _passage(cells, number, _LABELS[correct[number - 1]] if relevant[number - 1] != "NO"
                 else "irrelevant", where)
        for number, cells in enumerate(given, start=1)
    )  # fmt: skip


def _passage(cells: Any, number: int, label: Label, where: str) -> Passage:
    marker = f"cite_{number}"
    text = cells.get(marker) if isinstance(cells, dict) else None
    if not isinstance(text, str):
        raise DataError(f"{where}: passage {number} has no text {marker!r}; fetch the file again.")
    return Passage(
        id=marker,
        text=text,
        date=_word(cells.get("date")) or None,
        provider=_PROVIDERS.get(_word(cells.get("provider")), _word(cells.get("provider"))),
        label=label,
    )


def _tags(row: dict[str, Any], field: str, many: int, where: str) -> list[str]:
    """One tag per passage."""
    tags = row.get(field)
    if not isinstance(tags, list) or len(tags) != many:
        held = f"{len(tags)} tags" if isinstance(tags, list) else "no list of tags"
        raise DataError(f"{where}: {held} in {field} for {many} passages; mend or remove the row.")
    words = [_word(tag).upper() for tag in tags]
    wrong = [word for word in words if word not in _TAGS[field]]
    if wrong:
        raise DataError(f"{where}: {wrong[0]!r} in {field} is not a tag of GaRAGe's; mend the row.")
    return words


def _dynamism(row: dict[str, Any]) -> str:
    if _word(row.get("question_sensitive")).upper() != "YES":
        return "static"
    return "fast-changing" if "fast" in _slug(row.get("question_type")) else "slow-changing"


def _iso(date: str) -> str | None:
    """The day of asking as the rest of the project has days; None where it is none."""
    for form in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y"):
        try:
            return dt.datetime.strptime(date.partition("T")[0], form).strftime("%Y-%m-%d")  # noqa: DTZ007
        except ValueError:
            continue
    return None


def _text(row: dict[str, Any], field: str, where: str) -> str:
    value = row.get(field)
    if not isinstance(value, str):
        raise DataError(f"{where}: needs {field!r} as a text; mend or remove the row.")
    return value


def _word(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _slug(value: Any) -> str:
    return re.sub(r"[^a-z0-9&]+", "-", _word(value).lower()).strip("-")


_PROVIDERS = {"ent": "private"}
_LABELS: dict[str, Label] = {
    "ANSWER-THE-QUESTION": "answers",
    "RELATED-INFORMATION": "related",
    "OUTDATED": "outdated",
    "UNKNOWN": "unknown",
    "": "unknown",
}
"""Our word for what an annotator said of a relevant passage."""
_TAGS = {
    "evidence_relevant": {"YES", "NO", ""},
    "evidence_correct": set(_LABELS),
    "evidence_cited": {"YES", "NO", ""},
}
