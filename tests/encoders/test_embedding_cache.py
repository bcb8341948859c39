from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from mmrag.encoders.vector_cache import EmbeddingCache, vector_key
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
    assert (ask("a", ["yy", "zzz"]), made) == ([2, 3], ["x", "yy", "zzz"])
    assert (ask("b", ["x"]), made[-1]) == ([1], "x")


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


def lengths(items: list[str]) -> np.ndarray:
    return np.array([[len(item), 1.0] for item in items], np.float32)


def test_a_vector_of_which_a_bit_changed_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    EmbeddingCache(path).get_or_make("a", ["x"], str.encode, lengths)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        ((kept,),) = base.execute("SELECT vector FROM vectors").fetchall()
        base.execute("UPDATE vectors SET vector = ?", [bytes([kept[0] ^ 1]) + kept[1:]])
    found = EmbeddingCache(path).get_or_make("a", ["x"], str.encode, lengths)
    assert found.tolist() == [[1.0, 1.0]]


def test_a_cache_that_breaks_while_it_is_used_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    words = [f"word {number}" for number in range(2000)]
    cache = EmbeddingCache(path)
    cache.get_or_make("a", words, str.encode, lengths)
    cache.close()
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="delete it"):
        EmbeddingCache(path).get_or_make("a", words, str.encode, lengths)


def never(_items: list[str]) -> np.ndarray:
    raise AssertionError("made again")


def test_vectors_known_besides_are_neither_made_nor_kept(tmp_path: Path) -> None:
    besides = {vector_key("a", b"x"): np.array([2.0], np.float32)}
    cache = EmbeddingCache(tmp_path / "c.sqlite", besides)
    assert cache.get_or_make("a", ["x"], str.encode, never).tolist() == [[2]]
    cache.close()
    with pytest.raises(AssertionError, match="made again"):
        EmbeddingCache(tmp_path / "c.sqlite").get_or_make("a", ["x"], str.encode, never)


def test_without_a_file_nothing_is_kept() -> None:
    made: list[str] = []

    def make(items: list[str]) -> np.ndarray:
        made.extend(items)
        return np.ones((len(items), 1), np.float32)

    cache = EmbeddingCache(None, {vector_key("a", b"x"): np.array([2.0], np.float32)})
    for _ in range(2):
        assert cache.get_or_make("a", ["x", "y"], str.encode, make).ravel().tolist() == [2, 1]
    cache.close()
    assert made == ["y", "y"]
