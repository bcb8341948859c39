from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmrag.encoders.cache import EmbeddingCache
from mmrag.errors import StoreError


def test_nothing_is_encoded_twice(tmp_path: Path) -> None:
    made: list[str] = []

    def make(items: list[str]) -> np.ndarray:
        made.extend(items)
        return np.array([[len(item), 1.0] for item in items], np.float32)

    def ask(encoder_id: str, items: list[str]) -> list[float]:
        cache = EmbeddingCache(tmp_path / "c.sqlite")
        found = cache.get_or_make(encoder_id, items, str.encode, make)
        cache.close()
        return found[:, 0].tolist()

    assert ask("a", ["x", "yy", "x"]) == [1, 2, 1]
    assert ask("a", ["yy", "zzz"]) == [2, 3]
    assert made == ["x", "yy", "zzz"]
    assert ask("b", ["x"]) == [1]
    assert made[-1] == "x"


def test_a_broken_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="delete it"):
        EmbeddingCache(tmp_path / "c.sqlite")
