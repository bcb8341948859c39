"""A search behind an address, spoken to as `mmrag serve` is: `POST {queries, k}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.files.http_bodies import Body, BodyError
from mmrag.records import Evidence
from mmrag.search.external import TOKEN, evidence, fingerprint_of, headers

MOST_BYTES = 16 << 20


class _Hits(msgspec.Struct):
    results: list[list[dict[str, Any]]]


class HttpSearch:
    """Rows with `id`, `score` and `text`, and what else is known of them."""

    def __init__(self, url: str, seconds: float) -> None:
        import httpx

        self._url = url
        self._client = httpx.Client(timeout=seconds, headers=headers())
        self.fingerprint = fingerprint_of("http", url)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """The k best rows for each query, in the order in which they came."""
        import httpx

        try:
            asked = {"queries": list(queries), "k": k}
            with self._client.stream("POST", self._url, json=asked) as answer:
                body = Body(answer.headers, MOST_BYTES)
                for piece in answer.iter_raw():
                    body.add(piece)
            if answer.status_code in (401, 403):
                raise Denied(f"{self._url} lets nobody in with this token; set {TOKEN}.")
            if answer.status_code != 200:
                raise ServiceError(f"{self._url} answered {answer.status_code} to a search.")
            found = msgspec.json.decode(body.data(), type=_Hits).results
        except httpx.TimeoutException as error:
            raise ServiceTimeout(f"{self._url} did not answer in time; raise seconds=.") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"{self._url} cannot be reached ({type(error).__name__}).") from error
        except BodyError as error:
            raise ServiceError(
                f"{self._url} gave an answer that cannot be used: {error}."
            ) from error
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ServiceError(f"{self._url} did not answer {{results: [[…]]}}: {error}") from error
        if len(found) != len(queries):
            raise ServiceError(f"{self._url} gave {len(found)} lists for {len(queries)} queries.")
        return [tuple(map(evidence, hits[:k])) for hits in found]


def make(*, url: str, seconds: str = "30") -> HttpSearch:
    """url=http://HOST/search/text; a token comes from MMRAG_SEARCH_TOKEN."""
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"http: url={url[:80]}: write http://host/path.")
    return HttpSearch(url, float(seconds))
