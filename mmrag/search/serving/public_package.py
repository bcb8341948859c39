"""The public package's call: agents written for `cragmm-search-pipeline` run unchanged.

`search(image_or_text, k=…)` finds the same things and returns the same dictionaries: the nearest
pictures and passages by cosine, which is their `score` (of pictures above the encoder's floor),
under the ids of the index. Where the package guesses what a text is, this does not: a string is a
text query, always; a picture comes as `PIL.Image`, `LazyImage`, `pathlib.Path`, bytes, or
`ImageUrl`, and only the last fetches anything.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError, ImageError, UsageError
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError
from mmrag.files.images import MAX_BYTES, LazyImage, upright_rgb
from mmrag.protocols import NearestWebSearch, WholeImageSearch
from mmrag.records import Evidence
from mmrag.search.index.open import Index, open_index
from mmrag.search.serving.deadlines import call_within

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
        opened = index if isinstance(index, Index) else open_index(index)
        self._images, self._web = opened.images, opened.web
        self._regions = regions

    @property
    def web_search(self) -> bool:
        """Whether texts can be searched for; under the challenge's first task they cannot."""
        return self._web is not None

    @property
    def image_search(self) -> bool:
        """Whether pictures can be searched for."""
        return self._images is not None

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
            web = _need(self._web, "web pages")
            ask = web.search_nearest if isinstance(web, NearestWebSearch) else web.search_text
            return [[_as_page(hit) for hit in hits] for hits in ask(queries, k)]
        images = _need(self._images, "pictures")
        if kind == "embedding":
            hits = images.search_vectors(_vectors(queries), k)
        else:
            by_whole = isinstance(images, WholeImageSearch) and not self._regions
            ask = images.search_whole if by_whole else images.search_images
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
    pixels = io.BytesIO()
    upright_rgb(query).save(pixels, "BMP")  # a PNG takes twenty times as long to write and read
    return LazyImage.from_bytes(pixels.getvalue())


def fetch(url: str, *, seconds: float = _SECONDS, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes behind an http(s) URL, bounded in time and size."""
    if not url.startswith(("http://", "https://")):
        raise DataError(f"{url!r}: only http and https URLs are fetched.")
    try:
        # the client's own limit is for each piece that comes, were it a byte
        return call_within(lambda: _fetched(url, seconds, max_bytes), seconds, name="fetch")
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
    held = hit.attributes.get("entities")
    if not isinstance(held, list):  # of a search that has no index behind it
        held = [{"entity_name": hit.text, "entity_attributes": hit.attributes}]
    entities = [
        {"entity_name": e["entity_name"], "entity_attributes": e["entity_attributes"]} for e in held
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
        raise UsageError(
            f"no {what} can be searched here; name an index that has some (--search, or "
            "`mmrag index build` from a source with them)."
        )
    return part
