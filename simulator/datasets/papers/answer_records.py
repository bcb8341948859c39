"""An answer that somebody gave, with what its question is like: what readers of answers yield."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mmrag.metrics.measure_records import Case
from mmrag.records import Record, Reference, Session, Turn
from simulator.datasets.own.line_parser import own_slice_labels


class AnsweredQuestion(Record, frozen=True, kw_only=True):
    """One answer of a file and what the file says of its question."""

    id: str
    case: Case
    query_time: str | None = None
    domain: str = "other"
    query_type: str = "simple-knowledge"
    dynamism: str = "static"
    popularity: str | None = None
    meta: Mapping[str, Any] = {}


class UnusableRow(Record, frozen=True, kw_only=True):
    """A row of a published file that cannot be used."""

    id: str
    problem: str
    """What is wrong, with its place and the cure."""


def session_of(answered: AnsweredQuestion) -> Session:
    """The conversation that a line stands for."""
    case = answered.case
    return Session(
        id=answered.id,
        query_time=answered.query_time,
        passages=case.passages,
        turns=(
            Turn(
                index=0,
                id=f"{answered.id}-0",
                query=case.question,
                reference=Reference(
                    text=case.references[0] if case.references else "",
                    accept=case.references[1:],
                    evidence=case.expected,
                    grounding={p.id: p.label for p in case.passages if p.label != "unknown"},
                ),
                domain=answered.domain,
                query_type=answered.query_type,
                dynamism=answered.dynamism,
                popularity=answered.popularity,
                extra={"annotations": msgspec.to_builtins(case.annotations)},
                meta=own_slice_labels(answered.meta),
            ),
        ),
    )
