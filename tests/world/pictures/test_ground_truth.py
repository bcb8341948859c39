"""Owners and depth go into small pictures and come back."""

from __future__ import annotations

import numpy as np
import pytest

from mmrag.errors import DataError
from simulator.world.pictures.ground_truth import (
    decode_depth,
    decode_owners,
    encode_depth,
    encode_owners,
    owners_of,
)


def test_owners_come_back_to_the_pixel() -> None:
    main, other = np.zeros((2, 40, 30), bool)
    main[3:9, 4:20] = True
    other[20:22, 0:5] = True
    found = decode_owners(encode_owners(owners_of((main, other))))
    assert (found == main.astype(int) + 2 * other).all()


def test_depth_comes_back_within_three_in_a_hundred() -> None:
    depth = np.geomspace(0.1, 200, 64 * 48).reshape(64, 48).astype(np.float32)
    depth[:8] = 0
    found = decode_depth(encode_depth(depth))
    expected = depth[2::4, 2::4]
    assert found.shape == (16, 12)
    assert (found[expected == 0] == 0).all()
    seen = expected > 0
    assert np.abs(found[seen] / expected[seen] - 1).max() < 0.016
    assert decode_depth(encode_depth(np.full((4, 4), 900, np.float32)))[0, 0] == pytest.approx(200)


def test_what_is_no_picture_is_named() -> None:
    with pytest.raises(DataError, match="no picture"):
        decode_depth(b"no png")
