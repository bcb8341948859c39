"""Searches with something before another one: a cache, a fault. Every way of asking meets it.

The search behind may know fewer ways; then the plain one is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.protocols import (
    ImageSearch,
    NearestWebSearch,
    VectorImageSearch,
    WebSearch,
    WholeImageSearch,
)
from mmrag.records import Evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

Found = list[tuple[Evidence, ...]]

Ask = Callable[[Sequence[Any], int], Found]


class WrappedWebSearch:
    """A web search with `around` before it, which is given the way, how to ask, queries and k."""

    def __init__(self, search: WebSearch) -> None:
        self._search = search

    def search_text(self, queries: Sequence[str], k: int = 50) -> Found:
        """The k best passages for each query."""
        return self.around("search_text", self._search.search_text, queries, k)

    def search_nearest(self, queries: Sequence[str], k: int = 5) -> Found:
        """The same by cosine alone, where the search behind it can."""
        search = self._search
        ask = search.search_nearest if isinstance(search, NearestWebSearch) else search.search_text
        return self.around("search_nearest", ask, queries, k)

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is found; who stands between says how."""
        raise NotImplementedError


class WrappedImageSearch:
    """An image search with `around` before it."""

    def __init__(self, search: ImageSearch) -> None:
        self._search = search

    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> Found:
        """The k best items for each picture."""
        return self.around("search_images", self._search.search_images, images, k)

    def search_whole(self, images: Sequence[LazyImage], k: int = 30) -> Found:
        """The same by whole pictures, where the search behind it can."""
        own = self._search
        ask = own.search_whole if isinstance(own, WholeImageSearch) else own.search_images
        return self.around("search_whole", ask, images, k)

    def search_vectors(self, vectors: NDArray[Any], k: int = 30) -> Found:
        """The k best for vectors, where the search behind it can."""
        own = self._search
        if not isinstance(own, VectorImageSearch):
            raise UsageError("this image search takes pictures only, no embeddings.")
        return self.around(
            "search_vectors", lambda _rows, k: own.search_vectors(vectors, k), [*vectors], k
        )

    def around(self, way: str, ask: Ask, items: Sequence[Any], k: int) -> Found:
        """What is found; who stands between says how."""
        raise NotImplementedError
