"""What the tests of the grounded agent share: the encoder and the trained heads, loaded once."""

from __future__ import annotations

import pytest

from mmrag.agents.grounded.contextual_vectors import BuiltinSentenceEncoder
from mmrag.agents.grounded.planner import Planner
from mmrag.agents.grounded.program_runner import BuiltinReader


@pytest.fixture(scope="session")
def meaning():
    encoder = BuiltinSentenceEncoder()
    encoder.encode(["a"])
    return encoder


@pytest.fixture(scope="session")
def planner(meaning):
    return Planner(meaning)


@pytest.fixture(scope="session")
def reader(meaning):
    return BuiltinReader(meaning)
