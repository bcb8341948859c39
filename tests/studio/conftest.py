"""Every test of the studio needs its packages."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def installed(studio: None) -> None: ...
