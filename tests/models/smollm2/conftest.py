"""The tiny network, written once and read by whoever needs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_gguf import write_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="the package gguf is not installed (extra smollm2)")
    return write_tiny(tmp_path_factory.mktemp("gguf") / "tiny.gguf")
