"""Measures of a ranking against known relevance: recall@k, precision@k, hit@k, MRR, nDCG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from mmrag.errors import UsageError
from mmrag.metrics.measures import RANKED, Measure
from mmrag.records import Evidence, Record, Step


class Ranking(Record, frozen=True, kw_only=True):
    """What was found for one query, best first, and what each item is worth."""

    found: tuple[str, ...]
    gains: Mapping[str, float]
    """Item → gain. Items of `relevant_from` or more are relevant; unlisted ones are worth 0."""
    relevant_from: float = 2.0


def ranking_measure(what: Measure, ranking: Ranking) -> float | None:
    """One measure of one ranking; a repeated item counts at its first place only.

    >>> ranking = Ranking(found=("a", "b"), gains={"b": 2.0, "c": 2.0})
    >>> from mmrag.metrics.measures import measure
    >>> [ranking_measure(measure(name), ranking) for name in ("recall@2", "mrr@2")]
    [0.5, 0.5]
    """
    if what.name not in RANKED or what.k is None:
        raise UsageError(f"{what} is not a measure of a ranking.")
    relevant = {item for item, gain in ranking.gains.items() if gain >= ranking.relevant_from}
    if not relevant:
        return None
    top = list(dict.fromkeys(ranking.found))[: what.k]
    hits = [item in relevant for item in top]
    if what.name == "recall":
        return sum(hits) / len(relevant)
    if what.name == "precision":
        return sum(hits) / what.k
    if what.name == "hit":
        return float(any(hits))
    if what.name == "mrr":
        return 1 / (hits.index(True) + 1) if any(hits) else 0.0
    best = sorted((gain for gain in ranking.gains.values() if gain > 0), reverse=True)[: what.k]
    return _dcg([ranking.gains.get(item, 0.0) for item in top]) / _dcg(best)


def mrr_of_all(ranking: Ranking) -> float | None:
    """CRUD-RAG's MRR: the mean of 1 / rank over all relevant items, 0 for one that was not found.

    >>> round(mrr_of_all(Ranking(found=("a", "x", "b"), gains={"a": 2.0, "b": 2.0})), 3)
    0.667
    """
    relevant = [item for item, gain in ranking.gains.items() if gain >= ranking.relevant_from]
    if not relevant:
        return None
    ranks = {item: rank for rank, item in enumerate(dict.fromkeys(ranking.found), start=1)}
    return math.fsum(1 / ranks[item] for item in relevant if item in ranks) / len(relevant)


def evidence(step: Step) -> Iterable[Evidence]:
    """All evidence of a step and of the steps within it."""
    yield from step.evidence
    for inner in step.steps:
        yield from evidence(inner)


def _dcg(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
