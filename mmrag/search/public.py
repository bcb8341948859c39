"""The public package's call: agents written for `cragmm-search-pipeline` run unchanged.

`search(image_or_text, k=…)` returns the same dictionaries. Where the package guesses what a text
is, this does not: a string is a text query, always; a picture comes as `PIL.Image`, `LazyImage`,
`pathlib.Path`, bytes, or `ImageUrl`, and only the last fetches anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.bodies import ASK_PLAIN, Body, BodyError
from mmrag.errors import DataError, ImageError, UsageError
from mmrag.images import MAX_BYTES, LazyImage, upright_rgb
from mmrag.records import Evidence
from mmrag.search.deadlines import within
from mmrag.search.index import Index, open_index

_SECONDS = 10.0
_REDIRECTS = 3


class ImageUrl(NamedTuple):
    """A picture to fetch. Only this type is fetched; a text that starts with http is a text."""

    url: str


class UnifiedSearchPipeline:
    """Both searches behind one call.

    >>> search = UnifiedSearchPipeline("my-index")  # doctest: +SKIP
    >>> search("who bottles the oat drink?", k=5)[0]["page_name"]  # doctest: +SKIP
    'Marrowfield Oat Drink'
    """

    def __init__(self, index: str | Path | Index, *, regions: bool = False) -> None:
        self.index = index if isinstance(index, Index) else open_index(index)
        self._regions = regions

    def __call__(self, query: Any, k: int = 5, **_: Any) -> Any:
        """Results for a query; for a list of queries, a list of results, found in one batch."""
        if isinstance(query, list | tuple) and not isinstance(query, ImageUrl):
            return self._many(list(query), k)
        return self._many([query], k)[0]

    search = __call__

    def _many(self, queries: list[Any], k: int) -> list[list[dict[str, Any]]]:
        kinds = [_kind(query) for query in queries]
        found: list[list[dict[str, Any]]] = [[] for _ in queries]
        for kind in dict.fromkeys(kinds):
            places = [i for i, other in enumerate(kinds) if other == kind]
            some = [queries[i] for i in places]
            for i, hits in zip(places, self._search(kind, some, k), strict=True):
                found[i] = hits
        return found

    def _search(self, kind: str, queries: list[Any], k: int) -> list[list[dict[str, Any]]]:
        if kind == "text":
            web = _need(self.index.web, "web pages")
            return [[_as_page(hit) for hit in hits] for hits in web.search_text(queries, k)]
        images = _need(self.index.images, "pictures")
        if kind == "embedding":
            hits = images.search_vectors(_vectors(queries), k)
        else:
            ask = images.search_images if self._regions else images.search_whole
            hits = ask([picture_of(query) for query in queries], k)
        return [[_as_picture(hit) for hit in some] for some in hits]


def picture_of(query: Any) -> LazyImage:
    """A picture from any of the types that stand for one."""
    if isinstance(query, LazyImage):
        return query
    if isinstance(query, ImageUrl):
        return LazyImage.from_bytes(fetch(query.url), name=query.url)
    if isinstance(query, bytes | bytearray):
        return LazyImage.from_bytes(bytes(query))
    if isinstance(query, Path):
        return LazyImage.from_path(query)
    if 0 in query.size:
        raise ImageError(f"a picture of {query.size[0]} × {query.size[1]} pixels shows nothing.")
    return LazyImage.from_pil(upright_rgb(query))


def fetch(url: str, *, seconds: float = _SECONDS, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes behind an http(s) URL, bounded in time and size."""
    if not url.startswith(("http://", "https://")):
        raise DataError(f"{url!r}: only http and https URLs are fetched.")
    try:
        # the client's own limit is for each piece that comes, were it a byte
        return within(lambda: _fetched(url, seconds, max_bytes), seconds, name="fetch")
    except TimeoutError as error:
        raise ImageError(f"{url}: not there after {seconds:g} s.") from error


def _fetched(url: str, seconds: float, max_bytes: int) -> bytes:
    import time

    import httpx

    until = time.monotonic() + seconds
    try:
        with (
            httpx.Client(
                timeout=seconds, follow_redirects=True, max_redirects=_REDIRECTS
            ) as client,
            client.stream("GET", url, headers=ASK_PLAIN) as answer,
        ):
            answer.raise_for_status()
            body = Body(answer.headers, max_bytes)
            for piece in answer.iter_raw():
                body.add(piece)
                if time.monotonic() > until:
                    raise TimeoutError  # nobody waits any more
            return body.data()
    except BodyError as error:
        raise ImageError(f"{url}: {error}.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ImageError(f"{url}: cannot be fetched ({type(error).__name__}: {error}).") from error


def _kind(query: Any) -> str:
    if isinstance(query, str):
        return "text"
    if isinstance(query, np.ndarray):
        return "embedding"
    if isinstance(query, LazyImage | ImageUrl | bytes | bytearray | Path) or hasattr(
        query, "convert"
    ):
        return "picture"
    raise UsageError(
        f"a {type(query).__name__} cannot be searched for; give a text, a PIL picture, a Path, "
        "bytes, ImageUrl(url), or an embedding."
    )


def _vectors(queries: list[NDArray[Any]]) -> NDArray[np.float32]:
    try:
        return np.stack([np.asarray(query, np.float32).reshape(-1) for query in queries])
    except (TypeError, ValueError) as error:
        raise DataError("embeddings must be rows of numbers, all of one length.") from error


def _as_picture(hit: Evidence) -> dict[str, Any]:
    entities = [
        {"entity_name": e["entity_name"], "entity_attributes": e["entity_attributes"]}
        for e in hit.attributes["entities"]
    ]
    index = int(hit.id) if hit.id.isdecimal() else hit.id
    return {"index": index, "score": hit.score, "url": hit.url, "entities": entities}


def _as_page(hit: Evidence) -> dict[str, Any]:
    return {
        "index": hit.id,
        "score": hit.score,
        "page_name": hit.title,
        "page_snippet": hit.text,
        "page_url": hit.url,
    }


def _need(part: Any, what: str) -> Any:
    if part is None:
        raise UsageError(f"this index has no {what}; build it from a source that has some.")
    return part
