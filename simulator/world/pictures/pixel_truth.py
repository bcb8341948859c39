"""What a picture's pixels show, kept beside it as two small pictures.

Owners: 0 where nothing of the world is, 1 the thing asked about, 2 and on its neighbours, 255 the
wearer's hand; as large as the picture. Depth: a quarter as large; grey levels count equal ratios of
distance, 0 is the sky.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError

_NEAREST, _FARTHEST = 0.1, 200.0
"""Metres of the levels 1 and 255: a step is 3 %."""
_STEPS = 254 / math.log(_FARTHEST / _NEAREST)
HAND = 255
"""What owns the pixels of the wearer's hand."""
SHRUNK = 4
"""Pixels of the picture to one of the depth, across and down."""


def owners_of(
    masks: tuple[NDArray[np.bool_], ...], hand: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Masks of things, and of the wearer's hand, as one."""
    owners = np.zeros(masks[0].shape, np.uint8)
    for number, mask in enumerate(masks, 1):
        owners[mask] = number
    if hand is not None:
        owners[hand] = HAND
    return owners


def encode_owners(owners: NDArray[np.uint8]) -> bytes:
    """Owners as a PNG file."""
    return _png(owners)


def encode_depth(depth: NDArray[np.float32]) -> bytes:
    """Metres as a PNG file."""
    near = depth[SHRUNK // 2 :: SHRUNK, SHRUNK // 2 :: SHRUNK]
    levels = 1 + _STEPS * np.log(np.maximum(near, _NEAREST) / _NEAREST)
    return _png(np.where(near > 0, np.rint(np.minimum(levels, 255)), 0).astype(np.uint8))


def decode_owners(data: bytes) -> NDArray[np.uint8]:
    """Which thing each pixel shows, counted from 1, or `HAND`; 0 is none of the world's."""
    return _grey(data)


def decode_depth(data: bytes) -> NDArray[np.float32]:
    """Metres from the eye; 0 is the sky.

    >>> decode_depth(encode_depth(np.full((8, 8), 2.0, np.float32))).shape
    (2, 2)
    """
    levels = _grey(data).astype(np.float32)
    return np.where(levels > 0, _NEAREST * np.exp((levels - 1) / np.float32(_STEPS)), 0)


def _png(grey: NDArray[np.uint8]) -> bytes:
    done, data = cv2.imencode(".png", grey, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    assert done
    return data.tobytes()


def _grey(data: bytes) -> NDArray[np.uint8]:
    found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
    if found is None:
        raise DataError("these bytes are not a picture of owners or depth; write the world again.")
    return np.asarray(found, np.uint8)
