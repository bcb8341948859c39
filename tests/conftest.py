"""What every room's tests share: the same examples of Hypothesis in CI, and a dozen sessions."""

from __future__ import annotations

import os
from functools import cache

import pytest
import typer.testing
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from small_runs import make_session

from mmrag.errors import Unavailable
from mmrag.records import Session
from simulator.studio import check_packages

pytest_plugins = ["suite_rules"]

# Typer makes all commands anew for each call of a test, which takes longer than most of the calls.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]

# Hypothesis would also try whatever constants stand in the modules that are loaded: what is tested
# would depend on the order of the tests, and to look through drjit's modules can take it out of the
# stack. There is no setting for it.
providers._get_local_constants = lambda: providers._local_constants

settings.register_profile("ci", derandomize=True)  # so that a failure there can be repeated
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def studio() -> None:
    """What a test asks for that takes new pictures: it is skipped where the studio is missing."""
    try:
        check_packages()
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def sessions() -> list[Session]:
    """Twelve sessions of two to six turns."""
    return [make_session(i, turns=2 + i % 5) for i in range(12)]
