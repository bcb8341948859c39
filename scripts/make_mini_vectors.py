"""Encode the mini world once and keep the vectors: assets/mini-vectors.sqlite.

    python scripts/make_mini_vectors.py

MiniLM takes minutes over the mini world's pages on two cores; with these vectors the demo's index
is there in seconds. They are keyed by encoder and content, so after a change of either this file is
merely useless, never wrong; make it again then. What still holds is taken over from the last one.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders.cache import EmbeddingCache
from mmrag.search.index.building import build_index
from mmrag.search.index.sources import open_source

T = TypeVar("T")

ASSETS = Path(__file__).parent.parent / "assets"
TARGET = ASSETS / "mini-vectors.sqlite"


class Renewed(EmbeddingCache):
    """A new cache that looks into an older one before anything is made."""

    def __init__(self, path: Path, older: EmbeddingCache) -> None:
        super().__init__(path)
        self._older = older

    def get_or_make(
        self, encoder_id: str, items: Sequence[T], content: Callable[[T], bytes],
        make: Callable[[Sequence[T]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:  # fmt: skip
        def renew(missing: Sequence[T]) -> NDArray[np.float32]:
            return self._older.get_or_make(encoder_id, missing, content, make)

        return super().get_or_make(encoder_id, items, content, renew)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if TARGET.exists():
            shutil.copy(TARGET, folder / "older.sqlite")
        older = EmbeddingCache(folder / "older.sqlite")
        newer = Renewed(folder / "newer.sqlite", older)
        build_index(
            open_source(str(ASSETS / "mini")),
            folder / "index",
            cache=newer,
            on_progress=lambda stage, done, total: print(f"{stage} {done}/{total}", end="\r"),
        )
        newer.close()
        older.close()
        with sqlite3.connect(folder / "newer.sqlite") as base:
            base.execute("PRAGMA journal_mode=DELETE")  # one file, readable from a read-only place
            base.execute("VACUUM")
        base.close()
        shutil.copy(folder / "newer.sqlite", TARGET)
    print(f"\n{TARGET}: {TARGET.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
