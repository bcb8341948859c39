"""Vectors kept on disk by what they were made of, so that nothing is encoded twice.

The key holds the encoder's id and the content, so a changed picture, text, model, pooling or
instruction is another key. Safe to share between threads and processes (SQLite, WAL).
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import StoreError
from mmrag.protocols import Encoder, TokenEncoder

T = TypeVar("T")

_MANY = 500
"""Keys asked for at once; SQLite takes about a thousand variables."""


class EmbeddingCache:
    """Content hash → vector. `also` are vectors known besides, which stay where they are: those
    that ship. Without a `path` nothing is kept."""

    def __init__(
        self, path: Path | None, also: Mapping[bytes, NDArray[np.float32]] | None = None
    ) -> None:
        self.path = path
        self._also = also or {}
        self._lock = threading.Lock()
        self._base = None if path is None else self._opened(path)

    @staticmethod
    def _opened(path: Path) -> sqlite3.Connection:
        with _named(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(path, timeout=30, check_same_thread=False)
            with contextlib.suppress(sqlite3.OperationalError):
                base.execute("PRAGMA journal_mode=WAL")  # locked: another process does just that
            base.execute("PRAGMA synchronous=NORMAL")
            base.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            )
            base.execute("SELECT key, vector FROM vectors LIMIT 0")
            return base

    def get_or_make(
        self, encoder_id: str, items: Sequence[T], content: Callable[[T], bytes],
        make: Callable[[Sequence[T]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:  # fmt: skip
        """Vectors of `items`; only what is not here yet is made, each content once."""
        keys = [vector_key(encoder_id, content(item)) for item in items]
        known = self._read(list(dict.fromkeys(keys)))
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        if missing:
            made = make(list(missing.values()))
            known.update(zip(missing, made, strict=True))
            self._write({key: known[key] for key in missing})
        return np.stack([known[key] for key in keys]) if keys else make(items)

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(sqlite3.Error):
            if self._base is not None:
                self._base.close()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found = {key: self._also[key] for key in keys if key in self._also}
        keys = [key for key in keys if key not in found]
        if self._base is None:
            return found
        for first in range(0, len(keys), _MANY):
            some = keys[first : first + _MANY]
            marks = ",".join("?" * len(some))
            with self._lock, _named(self.path):
                rows: list[Any] = self._base.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some
                ).fetchall()
            found |= {bytes(k): vector for k, v in rows if (vector := _read_vector(v)) is not None}
        return found

    def _write(self, made: dict[bytes, NDArray[np.float32]]) -> None:
        if self._base is None:
            return
        rows = [(key, _vector_bytes(vector)) for key, vector in made.items()]
        with self._lock, _named(self.path), self._base:
            self._base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


class CachedTextEncoder:
    """A text encoder that encodes no text twice."""

    def __init__(self, encoder: Encoder, cache: EmbeddingCache) -> None:
        self._encoder = encoder
        self._cache = cache

    @property
    def id(self) -> str:
        """The encoder's own: the vectors are the same."""
        return self._encoder.id

    @property
    def by_token(self) -> TokenEncoder | None:
        """The encoder where it also gives vectors of tokens, which are too many to keep."""
        return self._encoder if isinstance(self._encoder, TokenEncoder) else None

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Vectors from the cache, and of what is new."""
        return self._cache.get_or_make(self.id, items, str.encode, self._encoder.encode)


@contextlib.contextmanager
def _named(path: Path | None) -> Generator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{path}: no usable cache ({error}); name another file, or delete it."
        ) from error


def _vector_bytes(vector: NDArray[np.float32]) -> bytes:
    """With a sum behind it: SQLite notices no bit that changed in a row."""
    data = np.ascontiguousarray(vector, "<f4").tobytes()
    return data + zlib.crc32(data).to_bytes(4, "little")


def _read_vector(kept: bytes) -> NDArray[np.float32] | None:
    """None where it is not as it was kept, or was kept without a sum: then it is made again."""
    data, total = kept[:-4], kept[-4:]
    whole = len(data) % 4 == 0 and zlib.crc32(data).to_bytes(4, "little") == total
    return np.frombuffer(data, "<f4") if whole else None


def vector_key(encoder_id: str, content: bytes) -> bytes:
    """What a vector is kept by."""
    return hashlib.sha256(encoder_id.encode() + b"\0" + content).digest()
