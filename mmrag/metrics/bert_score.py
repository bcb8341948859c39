"""BERTScore: how well the tokens of a text and of a reference match, each with its nearest.

The formulas are those of Zhang et al. 2020 without weights by rarity and without rescaling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class TokenVectors(NamedTuple):
    """A text as an encoder sees it, token by token."""

    rows: NDArray[Any]
    """A unit vector per token."""
    counted: NDArray[np.bool_]
    """False for tokens that the encoder adds: they can be matched, and weigh nothing."""


def bert_score(said: TokenVectors, true: TokenVectors) -> tuple[float, float, float]:
    """Precision, recall and F of a text against a reference; 0 where either says nothing.

    Precision is the mean, over the tokens of the text, of the largest cosine with any token of the
    reference; recall the same the other way round.
    """
    if not said.counted.any() or not true.counted.any():
        return 0.0, 0.0, 0.0
    cosines = said.rows.astype(np.float64) @ true.rows.astype(np.float64).T
    precision = float(cosines.max(axis=1)[said.counted].mean())
    recall = float(cosines.max(axis=0)[true.counted].mean())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 0 else 0.0
