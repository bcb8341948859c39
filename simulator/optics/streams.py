"""Randomness without state: every number depends on (picture, operation, level, version) alone."""

from __future__ import annotations

import hashlib

import numpy as np

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
    return np.random.Philox(key=int.from_bytes(digest[:16], "little"))


def generator(
    key: str, operation: str, level: int | None = None, version: int = VERSION
) -> np.random.Generator:
    """The same stream with NumPy's distributions on top."""
    return np.random.Generator(philox(key, operation, level, version))
