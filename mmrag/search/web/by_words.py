"""Pages searched by words alone, in memory: no vector is made and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mmrag.records import Evidence
from mmrag.search.index.chunks import Chunker
from mmrag.search.index.html import Page
from mmrag.search.web.bm25 import index_texts, titled


class _Part(NamedTuple):
    page: Page
    start: int
    end: int


class PagesByWords:
    """BM25 over the passages of pages; a page is shown once, by its best passage."""

    def __init__(self, pages: Iterable[Page], chunker: Chunker) -> None:
        self._parts = [
            _Part(page, start, end) for page in pages for start, end in chunker.cut(page.text)
        ]
        self._words = index_texts(
            titled(p.page.title, p.page.text[p.start : p.end]) for p in self._parts
        )

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best pages for each query; those that share no word with it are left out."""
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
