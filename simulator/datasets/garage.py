"""GaRAGe's rows: questions with labelled passages and a person's answer that cites them.

The published file is JSON lines. It differs from row to row in small things (tags in lists or in
one text, markers before the passages), so tags are read by what they say. The data is CC-BY-NC:
none of it is in this project.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from mmrag.errors import DataError
from mmrag.metrics.cases import Annotations, Case
from mmrag.records import Passage
from mmrag.text.normalise import is_missing
from simulator.datasets.answered import Answered, cited_in


def is_garage(row: dict[str, Any]) -> bool:
    """Whether a row has GaRAGe's fields."""
    return {"grounding", "question", "evidence_relevant", "answer_generate"} <= row.keys()


def from_garage(row: dict[str, Any], where: str, number: int) -> Answered:
    """One row. The answer that is measured is its `answer`, else the person's own."""
    passages = _passages(row, where)
    written = _text(row, "answer_generate", where)
    given = row.get("answer")
    answer = given if isinstance(given, str) else written
    marks = _tags(row.get("evidence_cited"), len(passages), "evidence_cited", where)
    cited = tuple(p.id for p, mark in zip(passages, marks, strict=True) if _yes(mark))
    return Answered(
        id=str(row.get("sample_id") or number),
        case=Case(
            question=_text(row, "question", where),
            answer=answer,
            passages=passages,
            references=(written,),
            citations=cited if answer is written else cited_in(answer, passages),
            expected=cited,
            annotations=Annotations(should_deflect=_declines(written, passages)),
        ),
        query_time=_word(row.get("question_date")) or None,
        domain=_slug(row.get("question_category")) or "other",
        query_type=_slug(row.get("question_complexity")) or "simple",
        dynamism=_dynamism(row),
        popularity=_slug(row.get("question_popularity")) or None,
        meta={
            name: _slug(row[name]) for name in ("question_tag", "topic_tag") if _slug(row.get(name))
        },
    )


def _passages(row: dict[str, Any], where: str) -> tuple[Passage, ...]:
    given = row["grounding"]
    if not isinstance(given, list):
        raise DataError(f"{where}: grounding is no list of passages. Fetch the file again.")
    many = len(given)
    relevant = _tags(row.get("evidence_relevant"), many, "evidence_relevant", where)
    correct = _tags(row.get("evidence_correct"), many, "evidence_correct", where)
    found: list[Passage] = []
    for place, one in enumerate(given, start=1):
        cells = one if isinstance(one, dict) else {"text": one}
        text = next((cells[k] for k in _TEXT if isinstance(cells.get(k), str)), None)
        if text is None:
            raise DataError(f"{where}: passage {place} has no text. Fetch the file again.")
        mark = _MARK.match(text)
        found.append(
            Passage(
                id=mark.group(1) if mark else str(place),
                text=text[mark.end() :] if mark else text,
                date=_word(cells.get("date")) or None,
                provider={"ent": "private"}.get(_slug(cells.get("provider")))
                or _slug(cells.get("provider")),
                label=_label(relevant[place - 1], correct[place - 1]),
            )
        )
    if len({passage.id for passage in found}) < many:
        found = [_renamed(passage, place) for place, passage in enumerate(found, start=1)]
    return tuple(found)


def _renamed(passage: Passage, place: int) -> Passage:
    return msgspec.structs.replace(passage, id=str(place))


def _label(relevant: str, correct: str) -> str:
    """Our word for GaRAGe's two tags."""
    said = correct.lower()
    if relevant and not _yes(relevant):
        return "irrelevant"
    for word, label in _LABELS.items():
        if word in said:
            return label
    return "related" if relevant else "unknown"


def _tags(value: Any, many: int, field: str, where: str) -> list[str]:
    """One tag per passage, from a list or from one text; blanks where there are none at all."""
    if value in (None, "", []):
        return [""] * many
    tags = value if isinstance(value, list) else re.split(r"\s*[,;|\n]\s*", str(value).strip("[] "))
    if len(tags) != many:
        raise DataError(
            f"{where}: {len(tags)} tags in {field} for {many} passages. Mend or remove the line."
        )
    return [_word(tag).strip("'\" ") for tag in tags]


def _declines(written: str, passages: tuple[Passage, ...]) -> bool:
    """A deflection was asked for: the person wrote one, or no passage is of use."""
    if is_missing(written) or _NOTHING.search(written):
        return True
    labels = {passage.label for passage in passages}
    return labels == {"irrelevant"}


def _dynamism(row: dict[str, Any]) -> str:
    if not _yes(_word(row.get("question_sensitive"))):
        return "static"
    return "fast-changing" if "fast" in _slug(row.get("question_type")) else "slow-changing"


def _text(row: dict[str, Any], field: str, where: str) -> str:
    value = row.get(field)
    if not isinstance(value, str):
        raise DataError(f"{where}: needs {field!r} as a text.")
    return value


def _word(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _slug(value: Any) -> str:
    return re.sub(r"[^a-z0-9&]+", "-", _word(value).lower()).strip("-")


def _yes(tag: str) -> bool:
    return tag.strip().lower() in ("yes", "y", "true", "1", "cited", "relevant")


_TEXT = ("text", "content", "passage", "snippet", "chunk")
_LABELS = {
    "answer": "answers",
    "related": "related",
    "outdated": "outdated",
    "irrelevant": "irrelevant",
    "unknown": "unknown",
}
_MARK = re.compile(r"\s*[\[(<]?(?:cite[_ -]?|(?<=[\[(<]))(\d{1,3})[\])>]?\s*:?\s*", re.I)
_NOTHING = re.compile(
    r"(?i)\b(?:not\s+enough|insufficient|no\s+(?:sufficient|relevant))\s+"
    r"(?:grounding|information|evidence|context)"
)
