"""Small worlds, built once for all tests that only look at them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_worlds import pictured_request, small_request

from simulator.world.build.folder import build


@pytest.fixture(scope="session")
def text_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world without pictures."""
    out = tmp_path_factory.mktemp("worlds") / "text"
    build(small_request(singles=60), out)
    return out


@pytest.fixture(scope="session")
def picture_world(studio: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with (small) pictures."""
    out = tmp_path_factory.mktemp("worlds") / "pictures"
    build(pictured_request(), out)
    return out
