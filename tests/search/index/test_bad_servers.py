"""A Chroma server that hangs, drips, breaks off, fails, talks nonsense, dies: never a wrong answer.

The real server runs behind a wire that can be told to misbehave in the middle.
"""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_chroma import Chroma

from mmrag.errors import ServiceError, ServiceTimeout, StoreError, Unavailable
from mmrag.passages import Chunker
from mmrag.search.index import chroma as databases
from mmrag.search.index.build import build_index
from mmrag.search.index.chroma import IMAGES, Batch, IndexCollection, open_server
from mmrag.search.index.open import open_index, verify_index
from mmrag.search.index.sources import open_source

ROWS = 7
PATIENT = 60.0
"""Seconds for calls that are to succeed, on a machine however busy."""

ANSWERS = {
    "fails": b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\noops",
    "fails in its own words": b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 43\r\n\r\n"
    b'{"error":"InternalError","message":"oops!"}',
    "talks nonsense": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n<htm>",
    "says null": b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull",
    "breaks off in a reply": b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n{",
}


class Wire:
    """Passes everything on to a port until `mode` says otherwise."""

    def __init__(self, port: int = 0) -> None:
        self.target, self.mode, self.requests = port, "passes", 0
        self._over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Let go of whoever waits. Chroma's client leaves its sockets to the collector."""
        self._over.set()
        self._listening.close()
        for thread in threading.enumerate():
            if thread.name == "chroma":
                thread.join(10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            server: socket.socket | None = None
            while data := client.recv(1 << 20):
                self.requests += 1
                if self.mode == "passes":
                    if server is None:
                        server = socket.create_connection(("127.0.0.1", self.target))
                        threading.Thread(
                            target=self._back, args=(server, client), daemon=True
                        ).start()
                    server.sendall(data)
                elif self.mode == "hangs":
                    self._over.wait(60)
                    return
                elif self.mode == "drips":
                    client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n")
                    while not self._over.wait(0.1):
                        client.sendall(b" ")
                    return
                elif self.mode in ANSWERS:
                    client.sendall(ANSWERS[self.mode])
                    if self.mode == "breaks off in a reply":
                        return
                else:  # closes
                    return

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with server, contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                client.sendall(data)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_PAUSE", 0.01)


@pytest.fixture
def wire() -> Iterator[Wire]:
    made = Wire()
    yield made
    made.close()


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chroma]:
    running = Chroma(tmp_path_factory.mktemp("chroma"))
    with open_server(f"http://127.0.0.1:{running.port}", IMAGES, create=True, seconds=60) as db:
        fill(db)
    yield running
    running.kill()


def fill(database: IndexCollection) -> None:
    about = [{"image_url": f"u{i}"} for i in range(ROWS)]
    vectors = np.eye(ROWS, dtype=np.float32)
    database.add(Batch([str(i) for i in range(ROWS)], vectors, about, [None] * ROWS))


def limit(database: IndexCollection, seconds: float) -> None:
    database._seconds = database._collection._client._session.timeout = seconds


def ids(database: IndexCollection) -> list[str]:
    return [i for batch in database.read() for i in batch.ids]


@pytest.mark.parametrize("mode", ["hangs", "drips", "closes", *ANSWERS])
def test_a_bad_server_is_a_typed_error_when_it_is_opened(wire: Wire, mode: str) -> None:
    import chromadb  # takes a while of its own

    assert chromadb
    wire.mode = mode
    late = mode in ("hangs", "drips")
    with (
        pytest.raises(ServiceTimeout if late else (Unavailable, StoreError, ServiceError)) as found,
        open_server(wire.url, IMAGES, seconds=0.5 if late else PATIENT),
    ):
        pass
    assert wire.url in str(found.value)
    del found  # it holds on to what the fixture collects
    if not late:  # who is late is waited for for ever, or given up
        assert wire.requests >= 3  # it was tried again


@pytest.mark.parametrize("mode", ["hangs", "drips", "closes", *ANSWERS])
def test_a_server_that_turns_bad_in_the_middle(chroma: Chroma, wire: Wire, mode: str) -> None:
    wire.target = chroma.port
    with open_server(wire.url, IMAGES, seconds=PATIENT) as database:
        assert ids(database) == [str(i) for i in range(ROWS)]
        wire.mode = mode
        limit(database, 0.5 if mode in ("hangs", "drips") else PATIENT)
        for work in (database.count, lambda: ids(database), lambda: fill(database)):
            before = wire.requests
            with pytest.raises(ServiceError) as found:
                work()
            assert wire.url in str(found.value)
            if wire.mode not in ("hangs", "drips"):
                assert wire.requests - before >= 3
        wire.mode = "passes"
        limit(database, PATIENT)
        assert ids(database) == [str(i) for i in range(ROWS)]  # and it goes on when it is well


def test_a_passing_fault_is_retried(chroma: Chroma, wire: Wire) -> None:
    wire.target = chroma.port
    with open_server(wire.url, IMAGES, seconds=PATIENT) as database:
        wire.mode = "fails"
        well = threading.Timer(0.1, lambda: setattr(wire, "mode", "passes"))
        databases._PAUSE = 0.5  # as it is; the fixture puts it back
        well.start()
        assert database.count() == ROWS


def test_rows_that_go_missing_are_no_answer() -> None:
    class Shrinks:
        def count(self) -> int:
            return ROWS

        def get(self, **_: object) -> dict[str, list[object]]:
            return {"ids": ["0"], "embeddings": [[1.0]], "metadatas": [None], "documents": [None]}

    with pytest.raises(ServiceError, match="gave 1 rows"):
        list(IndexCollection(Shrinks(), "there").read())


@pytest.mark.proof("kills")
def test_a_real_server_killed_between_two_queries(tmp_path: Path) -> None:
    server = Chroma(tmp_path / "its")
    try:
        url = f"http://127.0.0.1:{server.port}"
        with open_server(url, IMAGES, create=True, seconds=PATIENT) as database:
            fill(database)
            pages = database.read()
            assert len(next(pages).ids) == ROWS
            server.kill()
            with pytest.raises(Unavailable, match="cannot be reached"):
                database.count()
            server = Chroma(tmp_path / "its", server.port)  # again, with what it had
            assert ids(database) == [str(i) for i in range(ROWS)]
            server.kill()
            server = Chroma(tmp_path / "another", server.port)  # with nothing
            with pytest.raises(StoreError, match="right database"):
                database.count()
    finally:
        server.kill()


@pytest.mark.proof("time")
def test_a_build_whose_server_goes_in_the_middle_goes_on(
    chroma: Chroma, wire: Wire, source_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.target = chroma.port
    add = IndexCollection.add

    def goes(self: IndexCollection, batch: Batch) -> None:
        add(self, batch)
        wire.mode = "closes"

    def build(out: Path, url: str | None) -> str:
        made = build_index(
            open_source(str(source_folder))._replace(picture_count=0), out,
            text_encoder="test-words", chunker=Chunker(tokens=64, overlap=8), chroma_url=url,
        )  # fmt: skip
        return made[0].fingerprint

    with monkeypatch.context() as patch:
        patch.setattr(IndexCollection, "add", goes)
        with pytest.raises(Unavailable, match=r"cannot be reached|failed"):
            build(tmp_path / "ix", wire.url)
    with pytest.raises(StoreError, match="not finished"):
        open_index(tmp_path / "ix")
    wire.mode = "passes"
    assert build(tmp_path / "ix", wire.url) == build(tmp_path / "local", None)
    assert verify_index(tmp_path / "ix") == []
    wire.mode = "closes"  # searching needs no server
    found = open_index(tmp_path / "ix").web.search_text(["Elm Speaker warranty"], 1)[0]
    assert found[0].title == "Elm Speaker"


@pytest.mark.proof("time")
def test_a_server_behind_an_index_changes_neither_its_name_nor_what_is_found(
    source_folder: Path, tmp_path: Path
) -> None:
    """A run that was begun with one can be resumed with the other."""
    chroma = Chroma(tmp_path / "its")
    found: list[list[Any]] = []
    for name, url in (("own", None), ("served", f"http://127.0.0.1:{chroma.port}")):
        build_index(
            open_source(str(source_folder))._replace(picture_count=0), tmp_path / name,
            text_encoder="test-words", chunker=Chunker(tokens=48, overlap=8), chroma_url=url,
        )  # fmt: skip
        assert verify_index(tmp_path / name) == []
        index = open_index(tmp_path / name)
        asked = ["Elm Speaker warranty", "made in Tessaly Bridge", "nothing at all"]
        found.append([index.fingerprint, index.web.search_text(asked, 6)])
    chroma.kill()
    assert found[0] == found[1]


@pytest.mark.proof("time")
def test_two_indexes_on_one_server_leave_each_other_alone(
    source_folder: Path, tmp_path: Path
) -> None:
    chroma = Chroma(tmp_path / "its")
    try:
        for name, tokens in (("first", 48), ("second", 24)):
            build_index(
                open_source(str(source_folder))._replace(picture_count=0), tmp_path / name,
                text_encoder="test-words", chunker=Chunker(tokens=tokens, overlap=8),
                chroma_url=f"http://127.0.0.1:{chroma.port}",
            )  # fmt: skip
        assert [verify_index(tmp_path / name) for name in ("first", "second")] == [[], []]
    finally:
        chroma.kill()
