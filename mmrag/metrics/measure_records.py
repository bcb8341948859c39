"""What a measure is given and what it says: a case (one answer with its passages), a measurement.

A case comes from a turn of a run or from a line of a file; a measure cannot tell which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, get_args

from mmrag.metrics.grounding import Support
from mmrag.records import Label, Passage, Record

LABELS: tuple[Label, ...] = get_args(Label)
"""What a passage is to a question (GaRAGe). `unknown`: nobody can tell how old it is."""

RELEVANT = frozenset({"answers", "related"})
"""The labels whose passages an answer may rest on. Outdated and undated ones are not among them."""


class Eligibility(StrEnum):
    """How well a reply addresses the request, next to what a person wrote (GaRAGe, FACTS)."""

    NO_ISSUES = "no_issues"
    MINOR_ISSUES = "minor_issues"
    MAJOR_ISSUES = "major_issues"


class Annotations(Record, frozen=True, kw_only=True):
    """What people (or the fictional world) say of an answer; None where they say nothing."""

    eligibility: Eligibility | None = None
    deflects: bool | None = None
    should_deflect: bool | None = None
    support: tuple[Support, ...] | None = None
    """Each sentence of the answer against all passages."""
    relevant_support: tuple[Support, ...] | None = None
    """Each sentence against the relevant passages."""
    needed: tuple[str, ...] | None = None
    """The sentences of the passages that the question needs."""


class Case(Record, frozen=True, kw_only=True):
    """One answer and everything that a measure may look at."""

    question: str
    answer: str
    passages: tuple[Passage, ...] = ()
    references: tuple[str, ...] = ()
    """What a person wrote as the answer, and other wordings of it."""
    citations: tuple[str, ...] = ()
    """Ids of the passages that the answer cites."""
    expected: tuple[str, ...] = ()
    """Ids of the passages that the person cited."""
    found: tuple[str, ...] | None = None
    """Ids of what was found, in its order; None where the reply does not tell."""
    annotations: Annotations = Annotations()

    @property
    def relevant(self) -> tuple[Passage, ...] | None:
        """The passages that an answer may rest on; None where nobody labelled any."""
        if not self._labelled:
            return None
        return tuple(passage for passage in self.passages if passage.label in RELEVANT)

    @property
    def should_deflect(self) -> bool | None:
        """Whether declining is right: as annotated, else when no passage answers."""
        if self.annotations.should_deflect is not None:
            return self.annotations.should_deflect
        if not self._labelled:
            return None
        return all(passage.label != "answers" for passage in self.passages)

    @property
    def _labelled(self) -> bool:
        return any(passage.label != "unknown" for passage in self.passages)

    @property
    def grounding_quality(self) -> str | None:
        """How much of what was given is relevant: low (up to a third), medium, high (over two)."""
        if self.relevant is None:
            return None
        share = len(self.relevant) / len(self.passages)
        return "low" if share <= 1 / 3 else "high" if share > 2 / 3 else "medium"

    @property
    def provider(self) -> str | None:
        """Where the passages come from: `web`, `private`, `private+web`."""
        return "+".join(sorted({p.provider for p in self.passages if p.provider})) or None


class Measurement(Record, frozen=True, kw_only=True):
    """What one judge says about one answer under one measure. A figure over many answers is Σ value
    · weight / Σ weight, so that pooled shares (attribution) and plain means are one computation."""

    measure: str
    judge: str
    """Who decided: name, version and a hash of whatever steers it."""
    value: float | None
    """None where the measure does not apply, with the `reason`."""
    weight: float = 1.0
    approximate: bool = False
    """Decided by a stand-in that cannot see all that the measure asks for."""
    reason: str = ""
    failed: bool = False
    """The judge gave no usable answer; measuring again asks it again."""
    details: Mapping[str, Any] = {}
    """What the value was counted from: statements, labels, questions, sentences."""


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
