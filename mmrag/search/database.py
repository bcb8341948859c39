"""Chroma, the database behind an index: a local folder, or a server by URL.

Known traps, each handled here and nowhere else: batches above 5,461 rows are refused; `get` above
32,766 rows fails, so reading goes by pages; a second process writing to the same folder is not
noticed, so a folder has one owner; a server can be down, slow, or gone in the middle.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError, ServiceError, ServiceTimeout, StoreError, Unavailable

T = TypeVar("T")

IMAGES = "image_embeddings"
WEB = "web_search_embeddings"
"""The public package's names of collections."""

BATCH = 5000
_PAGE = 5000
_TRIES = 3
_PAUSE = 0.5


class Batch(NamedTuple):
    """Rows as Chroma has them."""

    ids: list[str]
    vectors: NDArray[np.float32]
    metadatas: list[dict[str, Any]]
    documents: list[str | None]


class Database:
    """One Chroma collection."""

    def __init__(self, collection: Any, where: str, *, remote: bool) -> None:
        self._collection = collection
        self.where = where
        self._remote = remote

    def count(self) -> int:
        """Number of rows."""
        return int(self._call(self._collection.count))

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
            found: Any = self._call(
                lambda offset=offset: self._collection.get(
                    limit=_PAGE, offset=offset, include=include
                )
            )
            rows = found["embeddings"] if vectors else np.zeros((len(found["ids"]), 0))
            yield Batch(
                list(found["ids"]),
                np.asarray(rows, np.float32).reshape(len(found["ids"]), -1),
                [dict(row or {}) for row in found["metadatas"]],
                list(found["documents"] or [None] * len(found["ids"])),
            )

    def _call(self, action: Callable[[], T]) -> T:
        return guarded(action, self.where, tries=_TRIES if self._remote else 1)


@contextlib.contextmanager
def open_folder(folder: Path, name: str, *, create: bool = False) -> Generator[Database]:
    """A collection of a local Chroma folder, which must have no other user meanwhile."""
    if not create and not (folder / "chroma.sqlite3").is_file():
        raise StoreError(f"{folder}: no Chroma database here (chroma.sqlite3 is missing).")
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True)
    client: Any = guarded(
        lambda: chromadb.PersistentClient(path=str(folder), settings=settings), str(folder)
    )
    try:
        yield Database(_collection(client, name, str(folder), create), str(folder), remote=False)
    finally:
        _close(client)


@contextlib.contextmanager
def open_server(
    url: str, name: str, *, create: bool = False, seconds: float = 30.0
) -> Generator[Database]:
    """A collection of a Chroma server. Every call is bounded by `seconds` and tried three times."""
    import chromadb
    from chromadb.config import Settings

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DataError(f"{url!r} is no Chroma URL; write http://host:port.")
    port = parts.port or (443 if parts.scheme == "https" else 8000)
    settings = Settings(
        anonymized_telemetry=False, chroma_query_request_timeout_seconds=int(seconds)
    )

    def connect() -> Any:
        client: Any = chromadb.HttpClient(
            host=parts.hostname or "", port=port, ssl=parts.scheme == "https", settings=settings
        )
        session: Any = getattr(client._server, "_session", None)
        if session is not None:
            session.timeout = seconds
        return client

    client = guarded(connect, url, tries=_TRIES)
    try:
        yield Database(_collection(client, name, url, create), url, remote=True)
    finally:
        _close(client)


def guarded(action: Callable[[], T], where: str, *, tries: int = 1) -> T:
    """Run a call of Chroma; what it raises becomes one of the project's errors."""
    import httpx
    from chromadb.errors import ChromaError, NotFoundError

    for attempt in range(1, tries + 1):
        try:
            return action()
        except NotFoundError as error:
            raise StoreError(f"{where}: {error}; is this the right database?") from error
        except httpx.TimeoutException as error:
            if attempt == tries:
                raise ServiceTimeout(
                    f"Chroma at {where} did not answer in time ({tries} tries). See whether it is "
                    "overloaded, or use a local folder."
                ) from error
        except (httpx.HTTPError, ConnectionError) as error:
            if attempt == tries:
                raise Unavailable(
                    f"Chroma at {where} cannot be reached ({type(error).__name__}, {tries} tries). "
                    "Start it with `chroma run`, correct --chroma-url, or use a local folder."
                ) from error
        except (ChromaError, ValueError) as error:
            if "Could not connect" in str(error):
                if attempt == tries:
                    raise Unavailable(
                        f"Chroma at {where} cannot be reached ({tries} tries). Start it with "
                        "`chroma run`, correct --chroma-url, or use a local folder."
                    ) from error
            else:
                raise ServiceError(f"Chroma at {where} refused a request: {error}") from error
        except Exception as error:  # its Rust core raises bare exceptions on broken files
            if type(error).__module__.startswith(("chromadb", "builtins")) and type(error) in (
                TypeError, AttributeError, NameError, AssertionError,
            ):  # fmt: skip
                raise
            raise StoreError(
                f"Chroma at {where} cannot read its files ({error}); build the index again."
            ) from error
        time.sleep(_PAUSE * 2 ** (attempt - 1))
    raise AssertionError("unreachable")


def collections(folder: Path) -> Sequence[str]:
    """Names of the collections in a local folder."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True)
    client: Any = guarded(
        lambda: chromadb.PersistentClient(path=str(folder), settings=settings), str(folder)
    )
    try:
        return sorted(c.name for c in client.list_collections())
    finally:
        _close(client)


def _collection(client: Any, name: str, where: str, create: bool) -> Any:
    if create:
        return guarded(
            lambda: client.get_or_create_collection(
                name, metadata={"hnsw:space": "cosine"}, embedding_function=None
            ),
            where,
        )
    return guarded(lambda: client.get_collection(name, embedding_function=None), where)


def _close(client: Any) -> None:
    """Let go of the folder: Chroma keeps systems alive in a table of its own otherwise."""
    with contextlib.suppress(Exception):
        client.close()
