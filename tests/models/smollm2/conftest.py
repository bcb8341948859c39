"""The tiny network, written once and read by whoever needs it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tiny_gguf import write_tiny

from mmrag.models.smollm2.model import SmolLM2


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="the package gguf is not installed (extra smollm2)")
    return write_tiny(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def make(tiny: Path):
    """A model with the tiny network: `make(batch=4)`."""
    sha256 = hashlib.sha256(tiny.read_bytes()).hexdigest()
    return lambda **options: SmolLM2(tiny, sha256=sha256, **options)
