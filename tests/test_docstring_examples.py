"""Every example in a docstring gives what it says."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHOWING = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for room in ("mmrag", "simulator", "ui")
    for path in sorted((ROOT / room).rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("module", SHOWING)
def test_the_examples_of(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
