"""Build the search index of the mini world that ships: assets/mini_index.

    python scripts/make_mini_index.py

With it the first question is answered at once, and nothing is written outside a run's folder. It
is known by the content of the world's tables and by the encoders, so after a change of either it is
merely useless, never wrong; make it again then. What still holds is taken over from the last one.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mmrag.encoders.vector_cache import EmbeddingCache, vector_key
from mmrag.files.atomic import file_sha256, write_json
from mmrag.search.index.build import build_index
from mmrag.search.index.index_manifest import read_manifest
from mmrag.search.index.row_table import RowTable
from mmrag.search.index.sources import open_source
from mmrag.search.web.bm25 import prepend_title
from simulator.parts.shipped_index import FOLDER, KEYS, SOURCE, vectors
from simulator.world.sessions import mini_folder

TABLES = ("kg.parquet", "pages.parquet")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        source = open_source(str(mini_folder()))
        build_index(
            source._replace(fingerprint=digest_of(TABLES)),
            place,
            cache=EmbeddingCache(place / "vectors.sqlite", vectors()),
            on_progress=lambda stage, done, total: print(f"{stage} {done}/{total}", end="\r"),
        )
        pack(place, FOLDER)
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    print(f"\n{FOLDER}: {size / 1e6:.1f} MB")


def digest_of(tables: Sequence[str]) -> str:
    """Of the world's content; a source's own fingerprint has the time of its files in it."""
    digests = [file_sha256(mini_folder() / name) for name in tables]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def pack(index: Path, out: Path) -> None:
    """Copy what is searched, with the key of each vector; the database is for exchange only."""
    shutil.rmtree(out, ignore_errors=True)
    for part, keys in (("images", picture_keys), ("web", passage_keys)):
        wanted = ["manifest.json", *read_manifest(index / part).files]
        for name in wanted:
            target = out / part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(index / part / name, target)
        found = [np.frombuffer(key, np.uint8) for key in keys(index / part)]
        np.save(out / part / KEYS, np.stack(found))
    write_json(out / SOURCE, {name: file_sha256(mini_folder() / name) for name in TABLES})


def picture_keys(part: Path) -> Iterator[bytes]:
    manifest = read_manifest(part)
    for picture in open_source(str(mini_folder())).pictures():
        image = picture.image.pil()
        content = repr(image.size).encode() + image.tobytes()
        yield vector_key(f"{manifest.encoder}/{manifest.views}", content)


def passage_keys(part: Path) -> Iterator[bytes]:
    manifest, rows = read_manifest(part), RowTable.open(part / "rows.arrow")
    for cell in rows.get(range(len(rows))):
        text = prepend_title(cell["page_name"], cell["text"])
        yield vector_key(manifest.encoder, text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
