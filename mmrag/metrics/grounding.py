"""Whether answers rest on their evidence: GaRAGe's and Ragas' measures as pure functions.

Who decides that a sentence is supported is not said here: see `mmrag.judges.support`. Definitions
are values in `mmrag.metrics.measures`. A share of nothing is None, never 0 and never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from mmrag.errors import UsageError
from mmrag.records import Record


class Support(StrEnum):
    """What a passage set does for one sentence of an answer."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_NEEDED = "not_needed"
    """Small talk or a deflection: nothing in it can be true or false."""


class GroundedAnswer(Record, frozen=True, kw_only=True):
    """All that GaRAGe's measures need to know of one answer."""

    deflects: bool
    """The answer says that it cannot answer."""
    should_deflect: bool
    """No passage answers the question."""
    eligible: bool | None = None
    """No major issue; None when nobody judged it."""
    support: tuple[Support, ...] = ()
    """Each sentence against all passages."""
    relevant_support: tuple[Support, ...] = ()
    """Each sentence against the relevant passages only."""
    cited: frozenset[str] = frozenset()
    expected: frozenset[str] = frozenset()
    """The annotated citations."""


def garage(answers: Sequence[GroundedAnswer]) -> dict[str, float | None]:
    """GaRAGe's figures by the names in `MEASURES`.

    Factuality and eligibility are taken over the questions that can be answered, deflection over
    its own halves, attribution pooled over the answers that have annotated citations.
    """
    asked = [a for a in answers if not a.should_deflect]
    judged = [a for a in asked if a.eligible is not None]
    cited = [a for a in answers if a.expected]
    common = sum(len(a.cited & a.expected) for a in cited)
    precision = share(common, sum(len(a.cited) for a in cited))
    recall = share(common, sum(len(a.expected) for a in cited))
    return {
        "eligibility": share(sum(bool(a.eligible) for a in judged), len(judged)),
        "unadjusted_factuality": share(sum(grounded(a.support) for a in asked), len(asked)),
        "factuality": share(
            sum(bool(a.eligible) and grounded(a.support) for a in judged), len(judged)
        ),
        "unadjusted_raf": share(sum(grounded(a.relevant_support) for a in asked), len(asked)),
        "raf": share(
            sum(bool(a.eligible) and grounded(a.relevant_support) for a in judged), len(judged)
        ),
        "deflection_true_positive": share(
            sum(a.deflects for a in answers if a.should_deflect),
            sum(a.should_deflect for a in answers),
        ),
        "deflection_false_positive": share(sum(a.deflects for a in asked), len(asked)),
        "attribution_precision": precision,
        "attribution_recall": recall,
        "attribution_f1": f1(precision, recall),
    }


def grounded(support: Sequence[Support]) -> bool:
    """Every sentence is supported or needs no support; an answer without sentences is not."""
    return bool(support) and all(s in (Support.SUPPORTED, Support.NOT_NEEDED) for s in support)


def faithfulness(support: Sequence[Support]) -> float | None:
    """Ragas: supported statements over all that claim something."""
    claims = [s for s in support if s is not Support.NOT_NEEDED]
    return share(sum(s is Support.SUPPORTED for s in claims), len(claims))


def answer_relevance(similarities: Sequence[float]) -> float | None:
    """Ragas: mean cosine between the question and those regenerated from the answer."""
    if any(not math.isfinite(s) or abs(s) > 1 + 1e-6 for s in similarities):
        raise UsageError("a cosine lies between -1 and 1.")
    return math.fsum(similarities) / len(similarities) if similarities else None


def context_relevance(kept: int, total: int) -> float | None:
    """Ragas: sentences that the answer needs over sentences of the context."""
    if not 0 <= kept <= total:
        raise UsageError(f"{kept} sentences of {total} is impossible.")
    return share(kept, total)


def f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean; 0 when both are 0, None when either is unknown."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def share(part: float, whole: float) -> float | None:
    """Part over whole, None of nothing."""
    return part / whole if whole else None
