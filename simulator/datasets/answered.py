"""An answer that somebody gave, with what its question is like: what readers of answers yield."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mmrag.metrics.cases import Case
from mmrag.records import Passage, Record, Reference, Session, Turn
from simulator.datasets.lines import own_dimensions


class Answered(Record, frozen=True, kw_only=True):
    """One answer of a file and what the file says of its question."""

    id: str
    case: Case
    query_time: str | None = None
    domain: str = "other"
    query_type: str = "simple-knowledge"
    dynamism: str = "static"
    popularity: str | None = None
    meta: Mapping[str, Any] = {}


def session_of(answered: Answered) -> Session:
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
                meta=own_dimensions(answered.meta),
            ),
        ),
    )


def cited_in(answer: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Ids of the passages that an answer cites as [1] or [2, 3]: by their id, else their place."""
    ids = [passage.id for passage in passages]
    found: list[str] = []
    for marks in _CITED.findall(answer):
        for mark in re.split(r"\s*[,;]\s*", marks):
            name = mark.removeprefix("cite_").removeprefix("^")
            if mark in ids or name in ids:
                found.append(mark if mark in ids else name)
            elif name.isdigit() and 1 <= int(name) <= len(ids):
                found.append(ids[int(name) - 1])
    return tuple(dict.fromkeys(found))


_CITED = re.compile(r"\[((?:\^|cite_)?\w{1,40}(?:\s*[,;]\s*(?:\^|cite_)?\w{1,40})*)\]")
