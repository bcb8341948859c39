"""Geometric check: do corners of a KG picture lie in a searched picture as they do in their own?

Each corner of a candidate is matched with the two most alike of the searched picture. A match alone
says how the thing would have been moved, turned and scaled; how many other matches say the same is
counted for the strongest of them. No sampling: the same pictures give the same counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.search.image.corners import KEPT_SIDE, Bytes, Corners, unpacked

CHECKED = 100
"""Rows that are checked, the best by likeness."""

_ALIKE = 80
"""Bits of 256 in which two corners that match may differ."""
_PER_CORNER = 2
_TRIED = 32
"""Matches that are tried as an explanation of the others."""
_APART = 0.12 * KEPT_SIDE
"""How far, in the KG picture's pixels, a corner may lie from where it should."""
_TURNED = 45 / 360
"""Largest turn of a thing against its KG picture; wearers hold their heads upright."""
_TURN_SPREAD = 25 / 360
_SCALE_SPREAD = 2.2
"""In steps of the pyramid."""
_COLOUR = 20.0
"""Difference of colours at which a match counts for 1/e."""


class Correspondence(NamedTuple):
    """What the check found for each candidate."""

    inliers: NDArray[np.int64]
    """Corners that lie where one movement of the whole thing would put them."""
    weights: NDArray[np.float32]
    """Their number, each counted by how alike its bits and colours are."""


def check(seen: Corners, candidates: Bytes) -> Correspondence:
    """Compare a picture's corners with stored ones: `candidates[row, corner, byte]`."""
    import cv2

    rows, corners = candidates.shape[:2]
    none = Correspondence(np.zeros(rows, np.int64), np.zeros(rows, np.float32))
    per = min(_PER_CORNER, len(seen.levels))
    if not rows or not per:
        return none
    known = unpacked(candidates)
    distances, nearest = cv2.batchDistance(
        known.bits.reshape(-1, known.bits.shape[-1]), seen.bits, cv2.CV_32S,
        normType=cv2.NORM_HAMMING, K=per,
    )  # fmt: skip
    near = np.asarray(nearest, np.int64).reshape(rows, corners, per)
    unlike = np.asarray(distances, np.float32).reshape(rows, corners, per)
    steps = (seen.levels[near] - known.levels[:, :, None]).astype(np.float32)
    turns = _turn(seen.angles[near] - known.angles[:, :, None])
    fits = (unlike < _ALIKE) & (known.levels >= 0)[:, :, None] & (np.abs(turns) < _TURNED)
    colour = np.abs(
        seen.colours[near].astype(np.int16) - known.colours[:, :, None].astype(np.int16)
    ).mean(axis=3, dtype=np.float32)
    weights = np.where(fits, (1 - unlike / _ALIKE) * np.exp(-colour / _COLOUR), 0)
    weights = weights.astype(np.float32).reshape(rows, -1)
    return _best(
        weights,
        np.repeat(known.places, per, axis=1),
        seen.places[near].reshape(rows, -1, 2),
        steps.reshape(rows, -1),
        turns.reshape(rows, -1),
        per,
    )


def _best(
    weights: NDArray[np.float32],
    there: NDArray[np.float32],
    here: NDArray[np.float32],
    steps: NDArray[np.float32],
    turns: NDArray[np.float32],
    per: int,
) -> Correspondence:
    """For each row the match that most weight agrees with."""
    rows, matches = weights.shape
    tried = np.argsort(-weights, axis=1, kind="stable")[:, :_TRIED]

    def of(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.take_along_axis(values, tried, axis=1)[:, :, None]

    scale = np.float32(1.2) ** of(steps)
    angle = np.float32(2 * np.pi) * of(turns)
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    x, y = (there[:, None, :, i] - of(there[:, :, i]) for i in (0, 1))
    u, v = (here[:, None, :, i] - of(here[:, :, i]) for i in (0, 1))
    apart = (cos * x - sin * y - u) ** 2 + (sin * x + cos * y - v) ** 2
    agree = apart < (_APART * scale) ** 2
    agree &= np.abs(steps[:, None] - of(steps)) < _SCALE_SPREAD
    agree &= np.abs(_turn(turns[:, None] - of(turns))) < _TURN_SPREAD
    # a corner counts once, by the better of its matches
    counted = np.where(agree, weights[:, None], 0).reshape(
        rows, tried.shape[1], matches // per, per
    )
    each = counted.max(axis=3)
    total = each.sum(axis=2)
    winner = total.argmax(axis=1)
    every = np.arange(rows)
    inliers = (each[every, winner] > 0).sum(axis=1)
    alone = inliers < 2  # a match always agrees with itself
    return Correspondence(
        np.where(alone, 0, inliers), np.where(alone, 0, total[every, winner]).astype(np.float32)
    )


def _turn(turns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Differences of directions, the short way round."""
    return (turns + np.float32(0.5)) % np.float32(1) - np.float32(0.5)
