"""A box around the thing that was tapped on in a picture, so that nobody need draw one.

The tapped spot is taken for the thing and what lies far from it for the rest; OpenCV's GrabCut
settles what lies between. Tried with windows of growing size until the thing no longer reaches the
window's rim. On the 24 pictures of a mini-world run, tapped in the middle of the data's own box,
half of the boxes found share more than four fifths with it (tests/ui/test_finding.py); it is a
proposal, and drawing a box overrules it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box

_WINDOWS = (0.16, 0.26, 0.4)
"""Half sides of the windows, in parts of the picture's shorter side."""
_SIDE = 256
"""Pixels of a window when it is looked at."""
_AROUND = 1.6
"""How much more than the window is looked at, to learn what is not the thing."""


class _Found(NamedTuple):
    box: Box
    inside: bool
    """It ends before the window does."""


def box_at(picture: Any, x: float, y: float) -> Box | None:
    """The box of the thing at a point of a PIL picture, in pixels; None where nothing is found."""
    pixels = np.asarray(picture.convert("RGB"))
    found: _Found | None = None
    for found in _tries(pixels, x, y):
        if found.inside:
            break
    return found.box if found else None


def _tries(pixels: NDArray[np.uint8], x: float, y: float) -> Iterator[_Found]:
    import cv2

    height, width = pixels.shape[:2]
    for window in _WINDOWS:
        half = window * min(width, height)
        left, top = max(0, int(x - _AROUND * half)), max(0, int(y - _AROUND * half))
        right, bottom = min(width, int(x + _AROUND * half)), min(height, int(y + _AROUND * half))
        part = pixels[top:bottom, left:right]
        if min(part.shape[:2]) < 8:
            continue
        scale = _SIDE / max(part.shape[:2])
        small = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        at = np.array([(y - top) * scale, (x - left) * scale])
        thing = _grown(small, at, half * scale)
        if thing is None:
            continue
        rows, columns = np.nonzero(thing)
        reach = max(*np.abs(rows - at[0]), *np.abs(columns - at[1]))
        yield _Found(
            (
                left + columns.min() / scale, top + rows.min() / scale,
                left + (columns.max() + 1) / scale, top + (rows.max() + 1) / scale,
            ),
            bool(reach < half * scale - 1),
        )  # fmt: skip


def _grown(small: NDArray[np.uint8], at: NDArray[Any], half: float) -> NDArray[np.bool_] | None:
    """Which pixels belong to the thing at a point; None where that point does not."""
    import cv2

    rows, columns = np.mgrid[: small.shape[0], : small.shape[1]]
    far = np.maximum(abs(rows - at[0]), abs(columns - at[1]))
    near = np.hypot(rows - at[0], columns - at[1])
    mask = np.full(small.shape[:2], cv2.GC_BGD, np.uint8)
    mask[far < half] = cv2.GC_PR_BGD
    mask[near < 0.6 * half] = cv2.GC_PR_FGD
    mask[near < 0.12 * half] = cv2.GC_FGD
    if not (mask == cv2.GC_BGD).any() or not (mask == cv2.GC_FGD).any():
        return None
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(np.ascontiguousarray(small), mask, None, *models, 3, cv2.GC_INIT_WITH_MASK)
    inside = (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)
    _, labels = cv2.connectedComponents(inside.astype(np.uint8))
    row, column = (min(int(v), n - 1) for v, n in zip(at, small.shape, strict=False))
    thing = labels == labels[row, column]
    # no more than the spot itself: all around it looks the same, so the thing fills the window
    grew = thing.sum() > 1.5 * (near < 0.12 * half).sum()
    return thing if labels[row, column] and grew else None
