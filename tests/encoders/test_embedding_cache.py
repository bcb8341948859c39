from __future__ import annotations

import contextlib
import sqlite3
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


def test_a_place_that_can_hold_no_cache_is_named(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "other.sqlite")) as base:
        base.execute("CREATE TABLE vectors (name TEXT, numbers BLOB)")
    for path in (tmp_path / "other.sqlite", tmp_path / "other.sqlite/below/c.sqlite", tmp_path):
        with pytest.raises(StoreError, match="another file"):
            EmbeddingCache(path)


def test_what_another_cache_knows_is_taken_over(tmp_path: Path) -> None:
    def fill(name: str, items: list[str], value: float) -> EmbeddingCache:
        cache = EmbeddingCache(tmp_path / name)
        cache.get_or_make("a", items, str.encode, lambda some: np.full((len(some), 1), value))
        return cache

    own, other = fill("own.sqlite", ["x"], 1), fill("other.sqlite", ["x", "y"], 2)
    other.close()
    before = (tmp_path / "other.sqlite").read_bytes()
    for _ in range(2):
        own.take_over(tmp_path / "other.sqlite")

    def never(_items: list[str]) -> np.ndarray:
        raise AssertionError("made again")

    assert own.get_or_make("a", ["x", "y"], str.encode, never).ravel().tolist() == [1, 2]
    assert (tmp_path / "other.sqlite").read_bytes() == before
    (tmp_path / "broken.sqlite").write_bytes(b"no database" * 100)
    for name in ("broken.sqlite", "missing.sqlite"):
        with pytest.raises(StoreError, match=rf"{name}: .*own\.sqlite"):
            own.take_over(tmp_path / name)
    assert own.get_or_make("a", ["y"], str.encode, never).tolist() == [[2]]
