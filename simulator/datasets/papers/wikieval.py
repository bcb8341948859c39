"""WikiEval: questions about Wikipedia pages with a good and a worse answer and context each.

Parquet as on the hub (`explodinggradients/WikiEval`), or JSON lines with the same columns. People
preferred the first of each pair: `answer` to `ungrounded_answer` for faithfulness and to
`poor_answer` for relevance, `context_v1` to `context_v2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mmrag.errors import DataError
from mmrag.metrics.measure_records import Case
from mmrag.records import Passage, Record
from simulator.datasets.file_rows import json_rows
from simulator.datasets.own.line_parser import LineProblem
from simulator.datasets.papers.answer_records import UnusableRow


class AnswerPair(Record, frozen=True, kw_only=True):
    """Two cases of which people preferred the first."""

    id: str
    quality: str
    """faithfulness, answer_relevance or context_relevance."""
    preferred: Case
    other: Case


def read_wikieval(source: str) -> Iterator[AnswerPair | UnusableRow]:
    """Three pairs for each row; a row that cannot be used says why, and the others follow."""
    usable, problem = False, f"{source} holds no row of WikiEval."
    for number, (where, row) in enumerate(_rows(source)):
        try:
            if not isinstance(row, dict):
                raise DataError(
                    f"{where}: {row.words if isinstance(row, LineProblem) else _NO_ROW}"
                )
            yield from _pairs(row, where, str(number))
            usable = True
        except DataError as error:
            problem = str(error)
            yield UnusableRow(id=str(number), problem=problem)
    if not usable:
        raise DataError(problem)


def _rows(source: str) -> Iterator[tuple[str, Any]]:
    if source.endswith((".jsonl", ".json")):
        name = Path(source).name
        yield from ((f"{name}, {row.place}", row.value) for row in json_rows(Path(source)))
        return
    from simulator.datasets.hugging_face_tables import Table

    for where, row in Table(source).rows():
        words = str(row) if isinstance(row, DataError) else ""
        yield where, LineProblem(place=where, field="", words=words) if words else row


def _pairs(row: dict[str, Any], where: str, number: str) -> list[AnswerPair]:
    question = _text(row, "question", where)
    good = _answer(row, "answer", where)
    narrow, wide = _passages(row, "context_v1", where), _passages(row, "context_v2", where)

    def case(answer: str, passages: tuple[Passage, ...] = narrow) -> Case:
        return Case(question=question, answer=answer, passages=passages)

    others = {
        "faithfulness": case(_answer(row, "ungrounded_answer", where)),
        "answer_relevance": case(_answer(row, "poor_answer", where)),
        "context_relevance": case(good, wide),
    }
    return [
        AnswerPair(id=f"{number}/{quality}", quality=quality, preferred=case(good), other=other)
        for quality, other in others.items()
    ]


def _passages(row: dict[str, Any], column: str, where: str) -> tuple[Passage, ...]:
    value = row.get(column)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: {column} is not a list of texts. Is this WikiEval?")
    return tuple(Passage(id=str(i), text=text) for i, text in enumerate(texts, start=1))


def _answer(row: dict[str, Any], column: str, where: str) -> str:
    """An answer without what stands before it: in some rows, mostly of the preferred answer, the
    question and "Answer:", by which anybody could tell the winner."""
    return _HEAD.sub("", _text(row, column, where)).strip()


def _text(row: dict[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str):
        raise DataError(f"{where}: {column} is not text. Is this WikiEval?")
    return value


_HEAD = re.compile(r"(?is)\A\s*(?:question\s*:.*?\n)?\s*answer\s*:")
_NO_ROW = "is not a JSON object. Is this WikiEval?"
