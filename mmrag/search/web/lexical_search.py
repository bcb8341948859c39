"""Pages searched by words alone, in memory: no vector is made and nothing is written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from mmrag.passages import Chunker
from mmrag.records import Evidence
from mmrag.search.index.page_text import Page
from mmrag.search.web.bm25 import Bm25Index, index_texts, prepend_title


class _Part(NamedTuple):
    page: Page
    start: int
    end: int


class LexicalPageSearch:
    """BM25 over the passages of pages; a page is shown once, by its best passage.

    The pages are read when something is first searched for, so that who cuts them another way
    does not wait for these.
    """

    def __init__(self, pages: Callable[[], Iterable[Page]], chunker: Chunker) -> None:
        self._pages, self._chunker = pages, chunker
        self._lock = threading.Lock()

    @cached_property
    def _parts(self) -> list[_Part]:
        pages, cut = self._pages(), self._chunker.cut
        return [_Part(page, start, end) for page in pages for start, end in cut(page.text)]

    @cached_property
    def _words(self) -> Bm25Index:
        return index_texts(
            prepend_title(p.page.title, p.page.text[p.start : p.end]) for p in self._parts
        )

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best pages for each query; those that share no word with it are left out."""
        with self._lock:  # read once, whoever asks first
            _ = self._words
        return [self._one(query, k) for query in queries]

    def _one(self, query: str, k: int) -> tuple[Evidence, ...]:
        fetched = max(6 * k, 60)
        while True:
            rows, scores = self._words.search(query, fetched)
            best: dict[str, tuple[int, float]] = {}
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
                best.setdefault(self._parts[row].page.url, (row, score))
            if len(best) >= k or len(rows) < fetched:
                return tuple(self._evidence(*found) for found in list(best.values())[:k])
            fetched *= 4

    def _evidence(self, row: int, score: float) -> Evidence:
        page, start, end = self._parts[row]
        return Evidence(
            source="web",
            id=f"{page.url}#{start}",
            score=round(score, 6),
            text=page.text[start:end],
            title=page.title,
            url=page.url,
            date=page.date or None,
            attributes={"start": start, "end": end, "bm25": round(score, 4)},
        )
