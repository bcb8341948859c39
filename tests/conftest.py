"""What every room's tests share: the same examples of Hypothesis in CI, and a dozen sessions."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from hypothesis import settings
from small_runs import make_session

from mmrag.records import Session

settings.register_profile("ci", derandomize=True)  # so that a failure there can be repeated
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For workers: files with a slow test first, then those of many, so that none ends alone.

    With `MMRAG_TEST_SHUFFLE=SEED`, files in an order of chance, and so the tests of each.
    """
    if seed := os.environ.get("MMRAG_TEST_SHUFFLE"):
        chance = random.Random(seed)
        chance.shuffle(items)
        rank = {path: chance.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: rank[item.path])
        return
    if not hasattr(config, "workerinput"):
        return
    many = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    place = {path: n for n, path in enumerate(many)}  # keeps the tests of a file together
    items.sort(key=lambda item: (item.path not in slow, -many[item.path], place[item.path]))


@pytest.fixture
def sessions() -> list[Session]:
    """Twelve sessions of two to six turns."""
    return [make_session(i, turns=2 + i % 5) for i in range(12)]
