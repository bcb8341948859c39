from __future__ import annotations

import asyncio
import base64
import time

import httpx
import msgspec
import pytest
from small_index import coloured, png

from mmrag.files.images import LazyImage
from mmrag.records import Evidence
from mmrag.search.in_memory_search import MemoryImageSearch, MemoryWebSearch
from mmrag.search.index.open import Index
from mmrag.search.serving.http_api import Limits, http_app
from mmrag.search.vectors.batcher import Batcher


def ask(index: Index, path: str, body: object, limits: Limits = Limits()) -> httpx.Response:
    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(http_app(index, limits))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            if body is None:
                return await client.get(path)
            data = body if isinstance(body, bytes) else msgspec.json.encode(body)
            return await client.post(path, content=data)

    return asyncio.run(call())


def test_http_gives_what_the_search_gives(index: Index) -> None:
    assert ask(index, "/health", None).json()["index"] == index.fingerprint
    found = ask(index, "/search/text", {"queries": ["Elm Speaker warranty"], "k": 2}).json()
    direct = index.web.search_text(["Elm Speaker warranty"], 2)
    assert found["results"][0][0]["id"] == direct[0][0].id
    picture = base64.b64encode(png(coloured((200, 30, 30)))).decode()
    seen = ask(index, "/search/images", {"images": [picture], "k": 1}).json()
    assert seen["results"][0][0]["text"] == "Alder Kettle"


def test_parts_of_a_picture_are_searched_unless_the_whole_is_asked_for(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for way in ("search_images", "search_whole"):
        answer = lambda _kg, _pictures, _k, way=way: asked.append(way) or [()]  # noqa: E731
        monkeypatch.setattr(type(index.images), way, answer)
    body = {"images": [base64.b64encode(png(coloured((200, 30, 30)))).decode()]}
    for more in ({}, {"regions": False}):
        assert ask(index, "/search/images", body | more).status_code == 200
    assert asked == ["search_images", "search_whole"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/search/text", b"{", 400),
        ("/search/text", {"queries": []}, 400),
        ("/search/text", {"queries": ["x"], "k": 0}, 400),
        ("/search/text", {"queries": ["x"], "url": "http://a"}, 400),
        ("/search/text", {"queries": ["x" * 30_000]}, 400),
        ("/search/text", b"[" * 100_000, 400),
        ("/search/text", b" " * 3_000_000, 413),
        ("/search/images", {"images": ["%%%"]}, 422),
        ("/search/images", {"images": ["aGVsbG8="]}, 422),
    ],
)
def test_http_refuses(index: Index, path: str, body: object, status: int) -> None:
    answer = ask(index, path, body, Limits(bytes=2 << 20))
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]


class Slow:
    def search_text(self, queries: list[str], k: int) -> list[tuple[()]]:
        time.sleep(0.5)
        return [() for _ in queries]


def test_http_limits_time_and_number(index: Index) -> None:
    slow = msgspec.structs.replace(index, web=Slow())
    body = {"queries": ["x"]}
    assert ask(slow, "/search/text", body, Limits(seconds=0.1)).status_code == 504

    async def crowd() -> list[int]:
        transport = httpx.ASGITransport(http_app(slow, Limits(seconds=0.2, concurrency=1)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            calls = [client.post("/search/text", json=body) for _ in range(3)]
            return sorted(answer.status_code for answer in await asyncio.gather(*calls))

    assert asyncio.run(crowd()) == [503, 503, 504]


def test_batcher_keeps_one_bad_call_from_the_others() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(items: list[int]) -> list[int]:
        time.sleep(0.01)
        if 13 in items:
            raise ValueError("13")
        return [item * 2 for item in items]

    batcher = Batcher[int, int](work)

    def one(item: int) -> int:
        try:
            return batcher([item])[0]
        except ValueError:
            return -1

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(30))) == [i * 2 if i != 13 else -1 for i in range(30)]


def test_memory_searches() -> None:
    told = (("1", "oat drink", "a"), ("2", "oat drink Tessaly", "a"), ("3", "kettle", "b"))
    pages = [Evidence(source="web", id=i, score=0, text=t, url=f"http://{u}") for i, t, u in told]
    found = MemoryWebSearch(pages).search_text(["oat drink Tessaly", "nothing like it"], 5)
    assert [hit.id for hit in found[0]] == ["2"]
    assert found[1] == ()
    picture = LazyImage.from_bytes(b"x")
    hits = [
        Evidence(source="image-kg", id=i, score=s) for i, s in (("b", 0.5), ("a", 0.5), ("c", 0.9))
    ]
    search = MemoryImageSearch({picture.sha256: hits})
    assert [hit.id for hit in search.search_images([picture], 2)[0]] == ["c", "a"]
    assert search.search_images([LazyImage.from_bytes(b"y")]) == [()]


def test_a_name_that_is_not_its_own_is_refused(index: Index) -> None:
    """Else a page elsewhere could have its name resolve to this machine and read the index."""

    async def asked(host: str) -> int:
        transport = httpx.ASGITransport(http_app(index, hosts=["lab.example"]))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return (await client.get("/health")).status_code

    hosts = ("localhost", "127.0.0.1:8731", "[::1]:8731", "lab.example", "evil.example")
    assert [asyncio.run(asked(host)) for host in hosts] == [200, 200, 200, 200, 400]
