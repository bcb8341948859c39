"""WikiEval: questions about Wikipedia pages with a good and a worse answer and context each.

Parquet as on the hub (`explodinggradients/WikiEval`), or JSON lines with the same columns. People
preferred the first of each pair: `answer` to `ungrounded_answer` for faithfulness and to
`poor_answer` for relevance, `context_v1` to `context_v2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mmrag.errors import DataError
from mmrag.metrics.cases import Case
from mmrag.records import Passage, Record


class Pair(Record, frozen=True, kw_only=True):
    """Two cases of which people preferred the first."""

    id: str
    quality: str
    """faithfulness, answer_relevance or context_relevance."""
    preferred: Case
    other: Case


def read_wikieval(source: str) -> Iterator[Pair]:
    """Three pairs for each row."""
    number = 0
    for where, row in _rows(source):
        yield from _pairs(row, where, str(number))
        number += 1
    if not number:
        raise DataError(f"{source} holds no row of WikiEval.")


def _rows(source: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if source.endswith((".jsonl", ".json")):
        from simulator.datasets.answers import read_lines

        yield from ((where, row) for where, _, row in read_lines(Path(source)))
        return
    from simulator.datasets.tables import Table

    for where, row in Table(source).rows():
        if isinstance(row, DataError):
            raise row
        yield where, row


def _pairs(row: dict[str, Any], where: str, number: str) -> Iterator[Pair]:
    question = _text(row, "question", where)
    good = _text(row, "answer", where)
    narrow, wide = _passages(row, "context_v1", where), _passages(row, "context_v2", where)
    base = Case(question=question, answer=good, passages=narrow)
    for quality, other in (
        ("faithfulness", Case(
            question=question, answer=_text(row, "ungrounded_answer", where), passages=narrow
        )),
        ("answer_relevance", Case(
            question=question, answer=_text(row, "poor_answer", where), passages=narrow
        )),
        ("context_relevance", Case(question=question, answer=good, passages=wide)),
    ):  # fmt: skip
        yield Pair(id=f"{number}/{quality}", quality=quality, preferred=base, other=other)


def _passages(row: dict[str, Any], column: str, where: str) -> tuple[Passage, ...]:
    value = row.get(column)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: {column} is no list of texts. Is this WikiEval?")
    return tuple(Passage(id=str(i), text=text) for i, text in enumerate(texts, start=1))


def _text(row: dict[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str):
        raise DataError(f"{where}: {column} is no text. Is this WikiEval?")
    # Some copies hold the question before the answer: "Question: …\nAnswer: …".
    return value.split("\nAnswer:", 1)[-1].strip() if value.startswith("Question:") else value
