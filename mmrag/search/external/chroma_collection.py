"""A collection of a Chroma server, or of Chroma's folder, asked where it lives."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.encoders import text_encoders
from mmrag.errors import SpecError
from mmrag.records import Evidence
from mmrag.search.external import fingerprint_of, parse_where, row_evidence
from mmrag.search.index.chroma import IndexCollection, open_folder, open_server

if TYPE_CHECKING:
    from mmrag.encoders.text import TextEncoder


class ChromaCollection:
    """`collection.query` by vectors of the encoder that the collection was filled with."""

    def __init__(
        self,
        opened: contextlib.AbstractContextManager[IndexCollection],
        encoder: TextEncoder,
        where: dict[str, str],
    ) -> None:
        database = opened.__enter__()
        weakref.finalize(self, opened.__exit__, None, None, None)
        self._database, self._encoder, self._where = database, encoder, where
        self.fingerprint = fingerprint_of("chroma", database.where, where, database.count())

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k nearest rows for each query; the score is 1 − Chroma's distance."""
        vectors = self._encoder.encode_queries(list(queries))
        return [
            tuple(row_evidence(row, 1 - far, text, about) for row, far, text, about in hits)
            for hits in self._database.nearest(vectors, k, self._where)
        ]


def make(
    *, collection: str, host: str = "", port: str = "8000", folder: str = "",
    encoder: str = "minilm", where: str = "", seconds: str = "30",
) -> ChromaCollection:  # fmt: skip
    """collection=NAME of host=NAME (port=8000) or folder=PATH; encoder=, where=(column=value)."""
    if bool(host) == bool(folder):
        raise SpecError("chroma: give host=NAME (and port=) of a server, or folder=PATH.")
    filled, limits = text_encoders.create(encoder), parse_where(where)
    url = host if "://" in host else f"http://{host}:{port}"
    opened = (
        open_folder(Path(folder), collection)
        if folder
        else open_server(url, collection, seconds=float(seconds))
    )
    return ChromaCollection(opened, filled, limits)
