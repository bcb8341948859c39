"""The command line, called in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from simulator.cli import build


@pytest.fixture
def mmrag() -> Callable[..., Result]:
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(build(), [str(a) for a in arguments])

    return call
