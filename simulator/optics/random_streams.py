"""Randomness without state: every number depends on (picture, operation, level, version) alone."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

VERSION = 2
"""Raised whenever the same key is to give other bytes than before."""


def philox(
    key: str, operation: str, level: int | None = None, version: int = VERSION
) -> np.random.Philox:
    """The counter-based bit stream of one operation on one picture.

    Without a level the stream is shared by all levels: the side a finger comes from, say, must
    not change along a severity curve.
    """
    name = f"mmrag-optics/{version}/{key}/{operation}/{'any' if level is None else level}"
    digest = hashlib.sha256(name.encode()).digest()
    seed: Any = _Key(np.frombuffer(digest[:16], "<u8"))  # NumPy's stubs know no ISeedSequence
    return np.random.Philox(seed)


def generator(
    key: str, operation: str, level: int | None = None, version: int = VERSION
) -> np.random.Generator:
    """The same stream with NumPy's distributions on top."""
    return np.random.Generator(philox(key, operation, level, version))


class _Key(ISeedSequence):
    """A key for `Philox(key=…)`, which would ask the system for a seed it does not use first."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key itself."""
        assert n_words == 2
        assert dtype is np.uint64
        return self._words
