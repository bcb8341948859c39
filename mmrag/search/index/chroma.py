"""Chroma, the database behind an index: a local folder, or a server by URL.

Known traps, each handled here and nowhere else: batches above 5,461 rows are refused; `get` above
32,766 rows fails, so reading goes by pages; a second process writing to the same folder is not
noticed, so a folder has one owner; a server can be down, slow, or gone in the middle, and Chroma's
client waits for it without any limit of its own.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError, ServiceError, ServiceTimeout, StoreError, Unavailable
from mmrag.files.http_bodies import ASK_PLAIN, Body
from mmrag.files.retries import backoff_seconds
from mmrag.search.serving.deadlines import call_within

T = TypeVar("T")

IMAGES = "image_embeddings"
WEB = "web_search_embeddings"
"""The public package's names of collections."""

BATCH = 5000
_PAGE = 5000
_TRIES = 3
_PAUSE = 0.5
_HEARTBEAT = 1 << 16
_GRACE = 0.5
"""Seconds for the client to end a silent call by itself; what drips is left to its thread."""


class Batch(NamedTuple):
    """Rows as Chroma has them."""

    ids: list[str]
    vectors: NDArray[np.float32]
    metadatas: list[dict[str, Any]]
    documents: list[str | None]


class IndexCollection:
    """One Chroma collection."""

    def __init__(self, collection: Any, where: str, *, seconds: float | None = None) -> None:
        self._collection = collection
        self.where = where
        self._seconds = seconds  # of a server: limit of one call

    def count(self) -> int:
        """Number of rows."""
        return self._call(lambda: int(self._collection.count()))

    def add(self, batch: Batch) -> None:
        """Put rows in; a row that is there already is replaced, so a retry does no harm."""
        for first in range(0, len(batch.ids), BATCH):
            part = slice(first, first + BATCH)
            documents = batch.documents[part]
            self._call(
                lambda part=part, documents=documents: self._collection.upsert(
                    ids=batch.ids[part],
                    embeddings=batch.vectors[part],
                    metadatas=batch.metadatas[part],
                    documents=documents if any(documents) else None,
                )
            )

    def read(self, *, vectors: bool = True) -> Iterator[Batch]:
        """All rows, by pages, in the order in which they were put in."""
        include = ["metadatas", "documents", *(["embeddings"] if vectors else [])]
        total = self.count()
        for offset in range(0, total, _PAGE):
            batch = self._call(lambda offset=offset: self._page(offset, include))
            if len(batch.ids) != min(_PAGE, total - offset):
                raise ServiceError(
                    f"Chroma at {self.where} gave {len(batch.ids)} rows from row {offset} on, "
                    f"of {total} that it counted. Was it changed meanwhile? Try again."
                )
            yield batch

    def nearest(
        self, vectors: NDArray[np.float32], k: int, where: Mapping[str, str] = {}
    ) -> list[list[tuple[str, float, str | None, dict[str, Any]]]]:
        """(id, distance, document, metadata) of the k nearest rows to each vector."""
        only = [{name: {"$eq": value}} for name, value in where.items()]
        found = self._call(
            lambda: self._collection.query(
                query_embeddings=vectors,
                n_results=k,
                where=only[0] if len(only) == 1 else {"$and": only} if only else None,
                include=["distances", "documents", "metadatas"],
            )
        )
        parts = (found[name] for name in ("ids", "distances", "documents", "metadatas"))
        return [
            [(row, float(far), text, dict(about or {}))
             for row, far, text, about in zip(*hits, strict=True)]
            for hits in zip(*parts, strict=True)
        ]  # fmt: skip

    def _page(self, offset: int, include: list[str]) -> Batch:
        found: Any = self._collection.get(limit=_PAGE, offset=offset, include=include)
        vectors = "embeddings" in include
        rows = found["embeddings"] if vectors else np.zeros((len(found["ids"]), 0))
        return Batch(
            list(found["ids"]),
            np.asarray(rows, np.float32).reshape(len(found["ids"]), -1),
            [dict(row or {}) for row in found["metadatas"]],
            list(found["documents"] or [None] * len(found["ids"])),
        )

    def _call(self, action: Callable[[], T]) -> T:
        return call_chroma(action, self.where, seconds=self._seconds)


@contextlib.contextmanager
def open_folder(folder: Path, name: str, *, create: bool = False) -> Generator[IndexCollection]:
    """A collection of a local Chroma folder, which must have no other user meanwhile."""
    if not create and not (folder / "chroma.sqlite3").is_file():
        raise StoreError(f"{folder}: no Chroma database here (chroma.sqlite3 is missing).")
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True)
    client: Any = call_chroma(
        lambda: chromadb.PersistentClient(path=str(folder), settings=settings), str(folder)
    )
    try:
        yield IndexCollection(_collection(client, name, str(folder), create), str(folder))
    finally:
        _close(client)


@contextlib.contextmanager
def open_server(
    url: str, name: str, *, create: bool = False, seconds: float = 30.0
) -> Generator[IndexCollection]:
    """A collection of a Chroma server. Every call is bounded by `seconds` and tried three times."""
    import chromadb
    import httpx
    from chromadb.config import Settings

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DataError(f"{url!r} is not a Chroma URL; write http://host:port.")
    port = parts.port or (443 if parts.scheme == "https" else 8000)
    settings = Settings(anonymized_telemetry=False)

    knock = httpx.URL(scheme=parts.scheme, host=parts.hostname, port=port, path="/api/v2/heartbeat")

    def connect() -> Any:
        # a client that cannot be made leaves its connection open, so it is made of a server only
        with httpx.stream("GET", knock, timeout=seconds, headers=ASK_PLAIN) as answer:
            body = Body(answer.headers, _HEARTBEAT)
            for piece in answer.iter_raw():
                body.add(piece)
        if answer.status_code != 200 or b"heartbeat" not in body.data():
            raise ValueError(f"HTTP {answer.status_code} and no heartbeat")
        client: Any = chromadb.HttpClient(
            host=parts.hostname or "", port=port, ssl=parts.scheme == "https", settings=settings
        )
        for session in _sessions(client):
            session.timeout = seconds
        return client

    client = call_chroma(connect, url, seconds=seconds)
    try:
        yield IndexCollection(_collection(client, name, url, create, seconds), url, seconds=seconds)
    finally:
        _close(client)


def call_chroma(action: Callable[[], T], where: str, *, seconds: float | None = None) -> T:
    """Run a call of Chroma; what it raises becomes one of the project's errors. `seconds` is for a
    server: the limit of a try, of which there are three."""
    if seconds is None:
        return _local(action, where)
    for before in range(_TRIES - 1):
        try:
            return _remote(action, where, seconds)
        except (ServiceTimeout, Unavailable):
            time.sleep(backoff_seconds(_PAUSE, before, 5.0))
    return _remote(action, where, seconds)


def _local(action: Callable[[], T], where: str) -> T:
    from chromadb.errors import ChromaError, NotFoundError

    try:
        return action()
    except NotFoundError as error:
        raise StoreError(f"{where}: {error}; is this the right database?") from error
    except (ChromaError, ValueError) as error:
        raise ServiceError(f"Chroma at {where} refused a request: {error}") from error
    except (TypeError, AttributeError, NameError, AssertionError):
        raise  # a bug
    except Exception as error:  # its Rust core raises bare exceptions on broken files
        raise StoreError(
            f"Chroma at {where} cannot read its files ({error}); delete the index and build it "
            "again."
        ) from error


def _remote(action: Callable[[], T], where: str, seconds: float) -> T:
    import httpx
    from chromadb.errors import ChromaError, NotFoundError

    try:
        return call_within(action, seconds + _GRACE, name="chroma")
    except NotFoundError as error:
        raise StoreError(f"{where}: {error}; is this the right database?") from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ServiceTimeout(
            f"Chroma at {where} did not answer within {seconds:g} s ({_TRIES} tries). See whether "
            "it is overloaded, or use a local folder."
        ) from error
    except Exception as error:  # whatever the server said, its client may raise anything
        down = isinstance(error, httpx.HTTPError | ConnectionError)
        if down or "Could not connect" in str(error):
            raise Unavailable(
                f"Chroma at {where} cannot be reached ({type(error).__name__}, {_TRIES} tries). "
                "Start it with `chroma run`, correct --chroma-url, or use a local folder."
            ) from error
        if isinstance(error, ChromaError) and error.code() < 500:
            raise ServiceError(f"Chroma at {where} refused a request: {error}") from error
        said = f"{type(error).__name__}: {str(error)[:300]}"
        raise Unavailable(
            f"Chroma at {where} failed ({said}; {_TRIES} tries). See its log; is it Chroma at all?"
        ) from error


def collections(folder: Path) -> Sequence[str]:
    """Names of the collections in a local folder."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True)
    client: Any = call_chroma(
        lambda: chromadb.PersistentClient(path=str(folder), settings=settings), str(folder)
    )
    try:
        return sorted(c.name for c in client.list_collections())
    finally:
        _close(client)


def _collection(
    client: Any, name: str, where: str, create: bool, seconds: float | None = None
) -> Any:
    if create:
        return call_chroma(
            lambda: client.get_or_create_collection(
                name, metadata={"hnsw:space": "cosine"}, embedding_function=None
            ),
            where,
            seconds=seconds,
        )
    return call_chroma(
        lambda: client.get_collection(name, embedding_function=None), where, seconds=seconds
    )


def _close(client: Any) -> None:
    """Let go of the folder: Chroma keeps systems alive in a table of its own otherwise."""
    sessions = _sessions(client)
    with contextlib.suppress(Exception):
        client.close()
    for session in sessions:  # a server's; Chroma leaves its connections open
        session.close()


def _sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client of a server: its own, and that of its part for databases."""
    parts = (client, getattr(client, "_admin_client", None))
    found = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in found if session is not None]


def rows_of(batch: Batch, part: str) -> list[dict[str, Any]]:
    """Rows of a part from Chroma's metadata, ours or the published one."""
    found: list[dict[str, Any]] = []
    for row_id, data, document in zip(batch.ids, batch.metadatas, batch.documents, strict=True):
        if part == "images":
            found.append(
                {"id": row_id, "image_url": str(data.get("image_url") or ""),
                 "entities": _as_json(data.get("entities"), []),
                 "info": _as_json(data.get("info"), {})}
            )  # fmt: skip
        else:
            snippet = str(data.get("page_snippet") or "")
            text = document or snippet
            found.append(
                {"id": row_id, "page_url": str(data.get("page_url") or row_id.split("_chunk_")[0]),
                 "page_name": str(data.get("page_name") or ""), "page_snippet": snippet,
                 "date": str(data.get("date") or ""), "start": _number(data.get("start"), 0),
                 "end": _number(data.get("end"), len(text)), "text": text}
            )  # fmt: skip
    return found


def _number(value: Any, otherwise: int) -> int:
    """A whole number, or what to take for one that is missing or none."""
    try:
        return int(value or otherwise)
    except (TypeError, ValueError, OverflowError):
        return otherwise


def _as_json(value: Any, empty: Any) -> str:
    """Published metadata hold JSON strings, sometimes a bare name, sometimes nothing."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return json.dumps([value] if isinstance(empty, list) else empty)
        return value
    return json.dumps(value if value is not None else empty)
