"""Small worlds, built once for all tests that only look at them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from simulator.world.build.folder import build
from simulator.world.build.request import Request, make_request


def small_request(seed: int = 5, *, pictures: bool = False, **changes: object) -> Request:
    """A world of seconds: all parts of a big one, a few of each."""
    request = replace(
        make_request(seed, 8, "mini", pictures=pictures),
        singles=20,
        entities=400,
        kg_pictures=24,
        ego=(180, 240),
        catalogue=160,
        kg_side=96,
    )
    return replace(request, **changes)


@pytest.fixture(scope="session")
def text_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world without pictures."""
    out = tmp_path_factory.mktemp("worlds") / "text"
    build(small_request(singles=60), out)
    return out


@pytest.fixture(scope="session")
def picture_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with (small) pictures."""
    out = tmp_path_factory.mktemp("worlds") / "pictures"
    build(small_request(pictures=True), out)
    return out
