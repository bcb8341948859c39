"""An answer that somebody gave, with what its question is like: what readers of answers yield."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mmrag.metrics.cases import Case
from mmrag.records import Passage, Record


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
