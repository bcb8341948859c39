"""Searches that live in memory: no encoder, no files. Tests, examples and small agents use them.

They keep the contracts of the real ones: batch first, at most k results, best first, ties broken
by id, no page twice, safe to call from several threads (they never change after construction).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from mmrag.files.images import LazyImage
from mmrag.records import Evidence
from mmrag.search.web.words import words


class MemoryImageSearch:
    """An image KG given as a table from picture to hits, or as a function.

    >>> hit = Evidence(source="image-kg", id="7", score=0.9, text="Alder Kettle")
    >>> picture = LazyImage.from_bytes(b"...")
    >>> search = MemoryImageSearch({picture.sha256: [hit]})
    >>> search.search_images([picture])[0][0].text
    'Alder Kettle'
    """

    def __init__(
        self,
        hits: Mapping[str, Sequence[Evidence]] | Callable[[LazyImage], Sequence[Evidence]],
        *,
        default: Sequence[Evidence] = (),
    ) -> None:
        self._hits = hits
        self._default = tuple(default)

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        """The k best items for each picture; `default` for a picture that is not in the table."""
        return [_best(self._look_up(image), k) for image in images]

    def _look_up(self, image: LazyImage) -> Sequence[Evidence]:
        if callable(self._hits):
            return self._hits(image)
        return self._hits.get(image.sha256, self._default)


class MemoryWebSearch:
    """Passages ranked by the share of the query's rarer words that they hold.

    >>> page = Evidence(source="web", id="a", score=0, text="The Alder Kettle boils in 90 s.")
    >>> found = MemoryWebSearch([page]).search_text(["how fast does the alder kettle boil"])
    >>> found[0][0].id
    'a'
    """

    def __init__(self, passages: Iterable[Evidence]) -> None:
        self._passages = tuple(passages)
        self._words = [frozenset(words(f"{p.title} {p.text}")) for p in self._passages]
        self._counts = Counter(word for held in self._words for word in held)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best passages for each query; passages that share no word with it are left out."""
        return [_best(self._matches(query), k) for query in queries]

    def _matches(self, query: str) -> list[Evidence]:
        wanted = {word: 1.0 / self._counts.get(word, 1) for word in set(words(query))}
        total = sum(wanted.values())
        found: dict[str, Evidence] = {}
        for passage, held in zip(self._passages, self._words, strict=True):
            score = sum(wanted[word] for word in wanted.keys() & held) / total if total else 0.0
            page = re.sub(r"[?#].*", "", passage.url) or passage.id
            if score > 0 and (page not in found or score > found[page].score):
                found[page] = _with_score(passage, score)
        return list(found.values())


def _with_score(passage: Evidence, score: float) -> Evidence:
    import msgspec

    return msgspec.structs.replace(passage, score=score)


def _best(hits: Sequence[Evidence], k: int) -> tuple[Evidence, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[: max(k, 0)])
