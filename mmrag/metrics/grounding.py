"""Whether answers rest on their evidence: GaRAGe's and Ragas' measures as pure functions.

Who decides that a sentence is supported is not said here: see `judges.papers.support`. Definitions
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
    should_deflect: bool | None
    """No passage answers the question; None when nobody labelled the passages."""
    eligible: bool | None = None
    """No major issue; None when nobody judged it."""
    support: tuple[Support, ...] = ()
    """Each sentence against all passages."""
    relevant_support: tuple[Support, ...] | None = ()
    """Each sentence against the relevant passages only; None when nobody labelled them."""
    cited: frozenset[str] = frozenset()
    expected: frozenset[str] = frozenset()
    """The annotated citations."""


Part = tuple[float, float]
"""What an answer adds to the part and to the whole of a share."""


def garage_figures(answers: Sequence[GroundedAnswer]) -> dict[str, float | None]:
    """GaRAGe's figures by the names in `MEASURES`.

    Factuality and eligibility are taken over the questions that can be answered, deflection over
    its own halves, attribution pooled over the answers that have annotated citations.
    """
    sums = {name: [0.0, 0.0] for name in GARAGE}
    for answer in answers:
        for name, (part, whole) in garage_parts(answer).items():
            sums[name][0] += part
            sums[name][1] += whole
    return {name: share(part, whole) for name, (part, whole) in sums.items()}


def garage_parts(answer: GroundedAnswer) -> dict[str, Part]:
    """What one answer adds to each of GaRAGe's figures; a whole of 0: it is not asked about it."""
    asked = answer.should_deflect is False
    judged = asked and answer.eligible is not None
    known = answer.relevant_support is not None
    fine, deflects = bool(answer.eligible), float(answer.deflects)
    factual = grounded(answer.support)
    relevant = grounded(answer.relevant_support or ())
    common = len(answer.cited & answer.expected)
    cited = len(answer.cited) if answer.expected else 0
    expected = len(answer.expected)
    return {
        "eligibility": _if(judged, fine),
        "unadjusted_factuality": _if(asked, factual),
        "factuality": _if(judged, fine and factual),
        "unadjusted_raf": _if(asked and known, relevant),
        "raf": _if(judged and known, fine and relevant),
        "deflection_true_positive": _if(answer.should_deflect is True, deflects),
        "deflection_false_positive": _if(asked, deflects),
        "attribution_precision": (common, cited),
        "attribution_recall": (common, expected),
        # 2PR / (P + R) of pooled shares is 2 · common / (cited + expected).
        "attribution_f1": (2 * common, cited + expected),
    }


GARAGE = (
    "eligibility", "unadjusted_factuality", "factuality", "unadjusted_raf", "raf",
    "deflection_true_positive", "deflection_false_positive",
    "attribution_precision", "attribution_recall", "attribution_f1",
)  # fmt: skip
"""GaRAGe's measures in the order of its tables."""


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


def context_precision(useful: Sequence[bool]) -> float:
    """Ragas: average precision of the contexts in their order; 0 where none is useful."""
    hits = [sum(useful[: rank + 1]) / (rank + 1) for rank, one in enumerate(useful) if one]
    return math.fsum(hits) / len(hits) if hits else 0.0


def answer_correctness(said: Sequence[bool], wanted: Sequence[bool], similarity: float) -> float:
    """Ragas: ¾ the F1 of the statements and ¼ the likeness of answer and reference.

    `said` tells of each statement of the answer whether the reference states it, `wanted` of each
    of the reference whether the answer does. Where either says nothing, their F1 is 1.
    """
    right = sum(said)
    precision = right / len(said) if said else 1.0
    missed = len(wanted) - sum(wanted)
    recall = right / (right + missed) if right + missed else float(right == len(said))
    both = precision + recall
    f1 = 1.0 if not said or not wanted else 2 * precision * recall / both if both else 0.0
    return 0.75 * f1 + 0.25 * similarity


def noise_sensitivity(
    relevant: Sequence[bool],
    holds: Sequence[Sequence[bool]],
    right: Sequence[bool],
    *,
    irrelevant: bool = False,
) -> float | None:
    """Ragas: the share of the answer's statements that are wrong and rest on relevant contexts.

    `relevant` tells of each context whether it holds a statement of the reference, `holds` of each
    statement of the answer which contexts hold it, `right` whether the reference does. With
    `irrelevant` those count that rest on other contexts alone. Lower is better.
    """
    wrong = 0
    for contexts, fine in zip(holds, right, strict=True):
        by_relevant = any(h and r for h, r in zip(contexts, relevant, strict=True))
        by_other = any(h and not r for h, r in zip(contexts, relevant, strict=True))
        wrong += not fine and (by_other and not by_relevant if irrelevant else by_relevant)
    return share(wrong, len(right))


def _if(counts: bool, part: float) -> Part:
    return (float(part), 1.0) if counts else (0.0, 0.0)


def share(part: float, whole: float) -> float | None:
    """Part over whole, None of nothing."""
    return part / whole if whole else None
