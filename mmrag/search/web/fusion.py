"""Reciprocal-rank fusion: one ranking from several that do not share a scale."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

C = 60
"""The constant of Cormack, Clarke and Büttcher (2009): how little the first ranks stand out."""


def fuse(rankings: Sequence[Sequence[K]], weights: Sequence[float] | None = None) -> dict[K, float]:
    """Item → sum of weight / (60 + rank) over the rankings that hold it, in descending order.

    Equal sums are ordered by the item itself, so the result does not depend on the order of the
    rankings.

    >>> list(fuse([["a", "b"], ["b", "c"]]))
    ['b', 'a', 'c']
    """
    scores: dict[K, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + weight / (C + rank)
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], str(pair[0]))))
