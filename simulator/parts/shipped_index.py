"""The search index that ships with the mini world: opened where it lies, so nothing is built.

It is known by content: a copy of the world, or the same world made again, is searched with it too,
and any index of the same pages and pictures takes its vectors. `scripts/make_mini_index.py` makes
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = Path(__file__).parents[2] / "assets" / "mini_index"

SOURCE = "source.json"
"""Table of the world → its content hash."""

KEYS = "keys.npy"
"""Of a part: what each row's vector is kept by (`mmrag.encoders.vector_cache`)."""


def is_index_of(world: Path) -> bool:
    """Whether it is the index of this world, made as one would be made now."""
    from mmrag.files.atomic import file_sha256

    if not (FOLDER / SOURCE).is_file():
        return False
    tables = msgspec.json.decode((FOLDER / SOURCE).read_bytes(), type=dict[str, str])
    same = all(
        (world / name).is_file() and file_sha256(world / name) == digest
        for name, digest in tables.items()
    )
    return same and _is_current()


@lru_cache(maxsize=1)
def vectors() -> Mapping[bytes, NDArray[np.float32]]:
    """Every vector of it, by its key."""
    import numpy as np

    found: dict[bytes, NDArray[np.float32]] = {}
    for keys in sorted(FOLDER.glob(f"*/{KEYS}")):
        rows = np.load(keys.with_name("vectors.npy"), mmap_mode="r")
        found |= zip(map(bytes, np.load(keys)), rows, strict=True)
    return found


def _is_current() -> bool:
    """Whether today's encoders made it; if not, an index is built as for any world."""
    from mmrag.encoders import image_encoders, text_encoders
    from mmrag.search.image.views import KIND as VIEWS
    from mmrag.search.index.index_manifest import read_manifest

    images, web = read_manifest(FOLDER / "images"), read_manifest(FOLDER / "web")
    return (images.encoder, images.views, web.encoder) == (
        image_encoders.create("builtin").id,
        VIEWS,
        text_encoders.create("minilm").id,
    )
