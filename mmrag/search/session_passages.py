"""The search that a session brings with it: exactly its own passages, by words.

Agents are made once with one web search, and conversations are held side by side, so what is
searched hangs on who asks: the engine says before every turn which passages its session brings
(`set_searched_passages`), and the search of the run (`SessionSearch`) looks there. Threads and
tasks that an agent starts as asyncio does inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import msgspec

from mmrag.passages import PassageOptions
from mmrag.protocols import Encoder, NearestWebSearch, WebSearch
from mmrag.records import Evidence, Passage
from mmrag.search.search_wrappers import Ask, Found, WrappedWebSearch

_BROUGHT: ContextVar[tuple[Passage, ...]] = ContextVar("passages of the session", default=())
_HANDED: ContextVar[int] = ContextVar("how many of them are handed over", default=0)

KEPT = 64
"""Sessions whose passages stay indexed: as many as are held at once, and some more."""

_FETCHED = 60
"""Passages of each ranking that are fused."""


def set_searched_passages(passages: tuple[Passage, ...], handed: int = 0) -> None:
    """From here on (in this task, and what it starts) the web search finds these alone; where the
    first ones are handed over, `HandedSearch` finds those before what is searched without them."""
    _BROUGHT.set(passages)
    _HANDED.set(handed)


def searched_passages() -> tuple[Passage, ...]:
    """What is searched in place of the web; empty where it is the web."""
    return _BROUGHT.get()


class SessionSearch:
    """A run's web search for data whose sessions may bring passages.

    >>> rain = Passage(id="p1", text="The Alder Kettle boils in 90 s.")
    >>> set_searched_passages((rain,))
    >>> [hit.id for hit in SessionSearch(None).search_text(["how fast is the kettle"])[0]]
    ['p1']
    >>> set_searched_passages(())
    """

    def __init__(
        self,
        web: WebSearch | None,
        cut: PassageOptions | None = None,
        encoder: Encoder | None = None,
        *,
        kept: int = KEPT,
    ) -> None:
        """`cut` divides long passages and says how they are ranked; `encoder` is for their vectors.

        Without one they are whole, and found by words. `kept` sessions stay indexed.
        """
        self._web = web
        """What is searched in sessions that bring nothing."""
        self._cut, self._encoder = cut, encoder
        self._indexed = lru_cache(maxsize=kept)(self._index)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best passages for each query; those that share no word with it are left out."""
        if passages := searched_passages():
            brought = self._indexed(passages)
            return [brought.find(query, k) for query in queries]
        return [()] * len(queries) if self._web is None else self._web.search_text(queries, k)

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> list[tuple[Evidence, ...]]:
        """The same by cosine, where the web's search can; passages are found by words alone."""
        if isinstance(self._web, NearestWebSearch) and not searched_passages():
            return self._web.search_nearest(queries, k)
        return self.search_text(queries, k)

    def _index(self, passages: tuple[Passage, ...]) -> _Brought:
        return _Brought(passages, self._cut, self._encoder)


class HandedSearch(WrappedWebSearch):
    """A web search that finds what is handed over (`Query.handed`) first, and then what it finds.

    It stands outside of caches: what the search behind it finds is the same with and without.

    >>> rain, tea = Passage(id="p1", text="It rains."), Passage(id="p2", text="Tea is at five.")
    >>> set_searched_passages((tea, rain), handed=1)
    >>> [hit.id for hit in HandedSearch(SessionSearch(None)).search_text(["who rains"])[0]]
    ['p2', 'p1']
    >>> set_searched_passages(())
    """

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is handed over, and what is found beside it."""
        del way
        passages, handed = _BROUGHT.get(), _HANDED.get()
        if not handed:
            return ask(items, k)
        set_searched_passages(passages[handed:])
        try:
            found = ask(items, k)
        finally:
            set_searched_passages(passages, handed)
        right = {passage.id for passage in passages[:handed]}
        best = max((hit.score for hits in found for hit in hits), default=1.0)
        first = [evidence_of(passage, best) for passage in passages[:handed]]
        return [
            tuple([*first, *(hit for hit in hits if hit.id not in right)][:k]) for hits in found
        ]


class _Brought:
    """The passages of one session, indexed."""

    def __init__(
        self, passages: tuple[Passage, ...], cut: PassageOptions | None, encoder: Encoder | None
    ) -> None:
        from mmrag.search.web.bm25 import index_texts, prepend_title

        self._mode = cut.mode if cut else "bm25"
        self._parts = [part for p in passages for part in _parts(p, cut)]
        texts = [prepend_title(p.title, p.text) for p in self._parts]
        self._lexical = index_texts(texts)
        self._encoder = encoder if self._mode != "bm25" else None
        self._vectors = self._encoder.encode(texts) if self._encoder and texts else None
        self._reranks = cut is not None and cut.reranks

    def find(self, query: str, k: int) -> tuple[Evidence, ...]:
        words: dict[int, float] = {}
        if self._mode != "dense":
            rows, scores = self._lexical.search(query, max(k, _FETCHED))
            words = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        found = words if self._vectors is None else self._fused(query, words)
        if self._reranks:
            found = self._reranked(query, found)
        best = sorted(found, key=lambda row: (-found[row], row))[:k]
        return tuple(evidence_of(self._parts[row], found[row]) for row in best)

    def _fused(self, query: str, words: dict[int, float]) -> dict[int, float]:
        from mmrag.search.web.fusion import fuse

        assert self._encoder is not None
        assert self._vectors is not None
        (vector,) = _queries(self._encoder, [query])
        cosines = (self._vectors @ vector).tolist()
        near = sorted(range(len(cosines)), key=lambda row: (-cosines[row], row))[:_FETCHED]
        if self._mode == "dense":
            return {row: cosines[row] for row in near}
        fused = fuse([[str(row) for row in near], [str(row) for row in words]])
        return {int(row): score for row, score in fused.items()}

    def _reranked(self, query: str, found: dict[int, float]) -> dict[int, float]:
        from mmrag.search.web.bm25 import prepend_title
        from mmrag.search.web.fusion import fuse
        from mmrag.search.web.rerank import LexicalReranker

        rows = sorted(found, key=lambda row: (-found[row], row))
        parts = [self._parts[row] for row in rows]
        scores = LexicalReranker(self._lexical.rarity).rerank(
            query, [prepend_title(p.title, p.text) for p in parts]
        )
        order = sorted(range(len(rows)), key=lambda i: -scores[i])
        fused = fuse([[str(row) for row in rows], [str(rows[i]) for i in order]])
        return {int(row): score for row, score in fused.items()}


def _parts(passage: Passage, cut: PassageOptions | None) -> Iterator[Passage]:
    """A passage, or what it is cut into: each part has the id of the whole, which is cited."""
    if cut is None:
        yield passage
        return
    for start, end in cut.chunker.cut(passage.text):
        yield msgspec.structs.replace(passage, text=passage.text[start:end])


def _queries(encoder: Encoder, texts: Sequence[str]) -> Any:
    """Queries as vectors, by the encoder's own way where it has one."""
    encode = getattr(encoder, "encode_queries", encoder.encode)
    return encode(texts)


def evidence_of(passage: Passage, score: float = 1.0, *, source: str = "web") -> Evidence:
    """A passage as something that was found."""
    return Evidence(
        source=source,
        id=passage.id,
        score=score,
        text=passage.text,
        title=passage.title,
        url=passage.url,
        date=passage.date,
        attributes={"provider": passage.provider} if passage.provider else {},
    )
