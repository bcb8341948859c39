"""Encode the mini world once and keep the vectors: assets/mini-vectors.sqlite.

    python scripts/make_mini_vectors.py

MiniLM takes minutes over the mini world's pages on two cores; with these vectors the demo's index
is there in seconds. They are keyed by encoder and content, so after a change of either this file is
merely useless, never wrong; make it again then.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from mmrag.encoders.cache import EmbeddingCache
from mmrag.search.build import build_index
from mmrag.search.sources import open_source

ASSETS = Path(__file__).parent.parent / "assets"


def main() -> None:
    target = ASSETS / "mini-vectors.sqlite"
    target.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(target)
        build_index(
            open_source(str(ASSETS / "mini")),
            Path(folder) / "index",
            cache=cache,
            on_progress=lambda stage, done, total: print(f"{stage} {done}/{total}", end="\r"),
        )
        cache.close()
    with sqlite3.connect(target) as base:
        base.execute("PRAGMA journal_mode=DELETE")  # one file, readable from a read-only place
        base.execute("VACUUM")
    base.close()
    print(f"\n{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
