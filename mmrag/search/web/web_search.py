"""Search of web pages: dense and lexical, fused, reranked, one matched passage per page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mmrag.protocols import Reranker
from mmrag.records import Evidence
from mmrag.search.image.image_kg import check_k
from mmrag.search.index.row_table import RowTable
from mmrag.search.vectors.batcher import Batcher
from mmrag.search.vectors.nearest import VectorIndex
from mmrag.search.web.bm25 import Bm25Index, prepend_title
from mmrag.search.web.fusion import fuse
from mmrag.search.web.rerank import LexicalReranker

if TYPE_CHECKING:
    from mmrag.encoders.text import TextEncoder

Mode = Literal["hybrid", "dense", "bm25"]

MAX_QUERY = 4000
"""Characters of a query that are used; an encoder reads fewer."""

FETCH = 6
"""Passages fetched from each source per result wanted: several may belong to one page."""

MORE = 4
"""So many times as many are fetched where they belong to fewer pages than are wanted."""

RERANKED, SPARE = 40, 1.6
"""Pages whose passages are scored against the query: so many at least, and so many for each result
wanted, since what is left out before reranking cannot come back."""

WORDS, MEANING, RERANKER = 1.0, 0.25, 1.0
"""What the three rankings weigh in the end. Dense search widens what is found; for names that no
model has seen it orders badly."""


class _Found(NamedTuple):
    """The best passage of a page in one source."""

    row: int
    score: float
    url: str


class HybridWebSearch:
    """Pages, searched by text. Safe to call from several threads."""

    def __init__(
        self,
        vectors: VectorIndex,
        rows: RowTable,
        lexical: Bm25Index,
        encoder: TextEncoder,
        *,
        mode: Mode = "hybrid",
        reranker: Reranker | Literal["builtin"] | None = "builtin",
    ) -> None:
        self.vectors = vectors
        self.rows = rows
        self.lexical = lexical
        self.encoder = encoder
        self.mode: Mode = mode
        self.reranker = LexicalReranker(lexical.rarity) if reranker == "builtin" else reranker
        self._encode = Batcher(encoder.encode_queries, max_items=256)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best pages for each query, each by its matched passage. An empty query finds none.

        Passages are collapsed to pages before the list is cut to k, so k pages come back whenever
        the index has as many that match at all.
        """
        check_k(k)
        texts = [_cleaned(query) for query in queries]
        asked = [i for i, text in enumerate(texts) if text]
        dense = self._dense([texts[i] for i in asked], k)
        found: list[tuple[Evidence, ...]] = [()] * len(texts)
        for i, nearest in zip(asked, dense, strict=True):
            found[i] = self._one(texts[i], nearest, k)
        return found

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> list[tuple[Evidence, ...]]:
        """As the published package searches: by meaning alone, with the cosine as score.

        k counts passages; each page is shown once, by its nearest, so fewer pages may come back.
        """
        check_k(k)
        texts = [_cleaned(query) for query in queries]
        asked = [i for i, text in enumerate(texts) if text]
        found: list[tuple[Evidence, ...]] = [()] * len(texts)
        if not asked:
            return found
        vectors = np.stack(self._encode([texts[i] for i in asked]))
        rows, scores = self.vectors.search(vectors, k)
        for i, near, alike in zip(asked, rows.tolist(), scores.tolist(), strict=True):
            pages = self._pages(near, alike)
            cells = self.rows.get([page.row for page in pages])
            found[i] = tuple(
                _evidence(cell, page.score, page.score, None)
                for cell, page in zip(cells, pages, strict=True)
            )
        return found

    def _dense(self, queries: Sequence[str], k: int) -> list[list[_Found]]:
        if self.mode == "bm25" or not queries:
            return [[] for _ in queries]
        vectors = np.stack(self._encode(list(queries)))
        found: list[list[_Found]] = [[] for _ in queries]
        few, fetched = np.arange(len(queries)), max(k * FETCH, 60)
        while len(few):
            rows, scores = self.vectors.search(vectors[few], fetched)
            for i, near, alike in zip(few.tolist(), rows.tolist(), scores.tolist(), strict=True):
                found[i] = self._pages(near, alike)
            if rows.shape[1] < fetched:
                break
            few = np.array([i for i in few.tolist() if len(found[i]) < k], np.int64)
            fetched *= MORE
        return found

    def _by_words(self, query: str, k: int) -> list[_Found]:
        fetched = max(k * FETCH, 60)
        while True:
            rows, scores = self.lexical.search(query, fetched)
            found = self._pages(rows.tolist(), scores.tolist())
            if len(found) >= k or len(rows) < fetched:
                return found
            fetched *= MORE

    def _pages(self, rows: list[int], scores: list[float]) -> list[_Found]:
        """The best passage of each page, in the order of the pages' best passages."""
        urls = self.rows.values("page_url", rows)
        found: dict[str, _Found] = {}
        for url, row, score in zip(urls, rows, scores, strict=True):
            found.setdefault(url, _Found(row, score, url))
        return list(found.values())

    def _one(self, query: str, dense: list[_Found], k: int) -> tuple[Evidence, ...]:
        lexical: list[_Found] = []
        if self.mode != "dense":
            lexical = self._by_words(query, k)
        fused = fuse([[hit.url for hit in dense], [hit.url for hit in lexical]])
        # the passage of a page: the lexical one where both have one, for it holds the words
        chosen = {hit.url: hit.row for hit in (*dense, *lexical)}
        cosine = {hit.url: hit.score for hit in dense}
        words = {hit.url: hit.score for hit in lexical}
        order = list(fused)
        final = dict(fused)
        head = order[: max(RERANKED, round(SPARE * k))]
        cells = dict(zip(head, self.rows.get([chosen[page] for page in head]), strict=True))
        if self.reranker is not None and self.mode == "hybrid":
            by_model = self._reranked(query, cells)
            kept = [[h.url for h in hits if h.url in by_model] for hits in (lexical, dense)]
            final = fuse([*kept, list(by_model)], weights=[WORDS, MEANING, RERANKER])
            order = list(final)
        score_of = {"dense": cosine, "bm25": words}.get(self.mode, final)
        return tuple(
            _evidence(cells[page], score_of[page], cosine.get(page), words.get(page))
            for page in order[:k]
        )

    def _reranked(self, query: str, cells: dict[str, dict[str, Any]]) -> dict[str, float]:
        """Pages with the reranker's scores, best first."""
        assert self.reranker is not None
        passages = [prepend_title(cell["page_name"], cell["text"]) for cell in cells.values()]
        scores = dict(zip(cells, self.reranker.rerank(query, passages), strict=True))
        return {p: scores[p] for p in sorted(cells, key=lambda p: -scores[p])}


def _cleaned(query: str) -> str:
    """A query as the models can take it; a shell may hand over bytes that are no text."""
    return query.strip()[:MAX_QUERY].strip().encode("utf-8", "replace").decode()


def _evidence(
    cell: dict[str, Any], score: float, cosine: float | None, words: float | None
) -> Evidence:
    about: dict[str, Any] = {"start": cell["start"], "end": cell["end"]}
    if cell.get("page_snippet"):
        about["page_snippet"] = cell["page_snippet"]
    if cosine is not None:
        about["cosine"] = round(cosine, 6)
    if words is not None:
        about["bm25"] = round(words, 4)
    return Evidence(
        source="web",
        id=cell["id"],
        score=round(score, 6),
        text=cell["text"],
        title=cell["page_name"],
        url=cell["page_url"],
        date=cell["date"] or None,
        attributes=about,
    )
