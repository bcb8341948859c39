"""The search that a session brings with it: exactly its own passages, by words.

Agents are made once with one web search, and conversations are held side by side, so what is
searched hangs on who asks: the engine says before every turn which passages its session brings
(`search_in`), and the search of the run (`SessionSearch`) looks there. Threads and tasks that an
agent starts as asyncio does inherit it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache

from mmrag.protocols import NearestWebSearch, WebSearch
from mmrag.records import Evidence, Passage

_BROUGHT: ContextVar[tuple[Passage, ...]] = ContextVar("passages of the session", default=())

_KEPT = 64
"""Sessions whose passages stay indexed: as many as are held at once, and some more."""


def search_in(passages: tuple[Passage, ...]) -> None:
    """From here on (in this task, and what it starts) the web search finds these alone."""
    _BROUGHT.set(passages)


def searched_passages() -> tuple[Passage, ...]:
    """What is searched in place of the web; empty where it is the web."""
    return _BROUGHT.get()


class SessionSearch:
    """A run's web search for data whose sessions may bring passages.

    >>> rain = Passage(id="p1", text="The Alder Kettle boils in 90 s.")
    >>> search_in((rain,))
    >>> [hit.id for hit in SessionSearch(None).search_text(["how fast is the kettle"])[0]]
    ['p1']
    >>> search_in(())
    """

    def __init__(self, web: WebSearch | None) -> None:
        self._web = web
        """What is searched in sessions that bring nothing."""

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best passages for each query; those that share no word with it are left out."""
        if passages := searched_passages():
            brought = _indexed(passages)
            return [brought.find(query, k) for query in queries]
        return [()] * len(queries) if self._web is None else self._web.search_text(queries, k)

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> list[tuple[Evidence, ...]]:
        """The same by cosine, where the web's search can; passages are found by words alone."""
        if isinstance(self._web, NearestWebSearch) and not searched_passages():
            return self._web.search_nearest(queries, k)
        return self.search_text(queries, k)


class _Brought:
    """The passages of one session, indexed."""

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        from mmrag.search.web.bm25 import index_texts, titled

        self._passages = passages
        self._lexical = index_texts(titled(p.title, p.text) for p in passages)

    def find(self, query: str, k: int) -> tuple[Evidence, ...]:
        rows, scores = self._lexical.search(query, k)
        return tuple(
            _evidence(self._passages[row], score)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        )


@lru_cache(maxsize=_KEPT)
def _indexed(passages: tuple[Passage, ...]) -> _Brought:
    return _Brought(passages)


def _evidence(passage: Passage, score: float) -> Evidence:
    return Evidence(
        source="web",
        id=passage.id,
        score=score,
        text=passage.text,
        title=passage.title,
        url=passage.url,
        date=passage.date,
        attributes={"provider": passage.provider} if passage.provider else {},
    )
