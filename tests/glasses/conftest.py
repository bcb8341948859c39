"""Glasses that are worn to the end of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_runs import make_session
from worn_glasses import Worn, finish


@pytest.fixture
def worn(tmp_path: Path) -> Iterator[Callable[..., Worn]]:
    made: list[Worn] = []

    def make(sessions: int = 1, turns: int = 2, **how: Any) -> Worn:
        held = [make_session(i, turns=turns) for i in range(sessions)]
        made.append(Worn(tmp_path / "run", held, **how))
        return made[-1]

    yield make
    for one in made:
        finish(one)
        one.thread.join(20)
        assert not one.thread.is_alive()
