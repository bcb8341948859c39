from __future__ import annotations

import pytest
from spine_parts import make_session

from mmrag.records import Session


@pytest.fixture
def sessions() -> list[Session]:
    return [make_session(i, turns=2 + i % 5) for i in range(12)]
