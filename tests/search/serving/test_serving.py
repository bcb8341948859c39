from __future__ import annotations

import asyncio
import base64
import json
import time
from pathlib import Path

import httpx
import msgspec
import numpy as np
import pytest
from PIL import Image
from small_index import COLOURS, ColourEncoder, WordEncoder, coloured, png

from mmrag.agents.own.kits import SearchPipeline
from mmrag.cache import Cache, share
from mmrag.encoders import image_encoders, text_encoders
from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import Evidence
from mmrag.search.image.image_kg import ImageKG
from mmrag.search.index.chroma import IMAGES, WEB, Batch, open_folder
from mmrag.search.index.exchange import PUBLISHED, import_index, in_full_precision
from mmrag.search.index.open import Index, open_index
from mmrag.search.memory import MemoryImageSearch, MemoryWebSearch
from mmrag.search.serving.http_and_mcp import Limits, http_app, mcp_server
from mmrag.search.serving.public_package import UnifiedSearchPipeline


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


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/search/text", b"{", 400), ("/search/text", {"queries": []}, 400),
        ("/search/text", {"queries": ["x"], "k": 0}, 400),
        ("/search/text", {"queries": ["x"], "url": "http://a"}, 400),
        ("/search/text", {"queries": ["x" * 30_000]}, 400), ("/search/text", b"[" * 100_000, 400),
        ("/search/text", b" " * 3_000_000, 413), ("/search/images", {"images": ["%%%"]}, 422),
        ("/search/images", {"images": ["aGVsbG8="]}, 422)
    ]
)  # fmt: skip
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


def test_mcp_offers_both_searches(index: Index) -> None:
    from mcp import Client

    async def call() -> tuple[list[str], str]:
        async with Client(mcp_server(index)) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search_web", {"query": "Elm Speaker warranty", "k": 1})
            return sorted(tool.name for tool in tools.tools), str(found)

    names, text = asyncio.run(call())
    assert names == ["search_image", "search_web"]
    assert "Elm Speaker" in text


def test_memory_searches() -> None:
    told = (("1", "oat drink", "a"), ("2", "oat drink Tessaly", "a"), ("3", "kettle", "b"))
    pages = [Evidence(source="web", id=i, score=0, text=t, url=f"http://{u}") for i, t, u in told]
    found = MemoryWebSearch(pages).search_text(["oat drink Tessaly", "nothing like it"], 5)
    assert ([hit.id for hit in found[0]], found[1]) == (["2"], ())
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


# -- public call

PASSAGES = {
    "https://a.example/x_chunk_0": "kettle copper spout",
    "https://a.example/x_chunk_1": "kettle copper spout lid",
    "https://b.example/y_chunk_0": "kettle lamp",
    "https://c.example/z_chunk_7": "clock tower bell",
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A folder as the public package's builder writes it, imported."""
    place = tmp_path_factory.mktemp("published")
    with open_folder(place / "chroma", WEB, create=True) as database:
        about = [
            {"page_name": f"Page {i[8]}", "page_snippet": f"Snippet of {i[8]}.",
             "page_url": i.split("_chunk_")[0]} for i in PASSAGES
        ]  # fmt: skip
        database.add(
            Batch(list(PASSAGES), WordEncoder().encode(list(PASSAGES.values())), about, [None] * 4)
        )
    with open_folder(place / "chroma", IMAGES, create=True) as database:
        vectors = ColourEncoder().encode_crops([coloured(c) for c in COLOURS.values()])
        rows = [
            {
                "image_url": f"u{i}",
                "entities": json.dumps([name]),
                "info": json.dumps({name: {"n": i}}),
            }
            for i, name in enumerate(COLOURS)
        ]
        database.add(Batch([str(i) for i in range(len(rows))], vectors, rows, [None] * len(rows)))
    import_index(place / "chroma", place / "ix", image_encoder="test-colours",
                 text_encoder="test-words")  # fmt: skip
    return open_index(place / "ix")


@pytest.fixture(params=["index", "resources", "cached"])
def search(request: pytest.FixtureRequest, published: Index) -> UnifiedSearchPipeline:
    """The same call however it is come by."""
    if request.param == "index":
        return UnifiedSearchPipeline(published)
    resources = Resources(image_search=published.images, web_search=published.web)
    if request.param == "cached":
        resources = share(resources, Cache(), id="x")
    return SearchPipeline(resources)


def cosine(query: str, passage: str) -> float:
    one, other = WordEncoder().encode([query, passage])
    return float(one @ other)


def test_pages_come_by_cosine_with_the_ids_and_snippets_of_the_index(
    search: UnifiedSearchPipeline,
) -> None:
    found = search("kettle copper", k=4)
    wanted = ["https://a.example/x_chunk_0", "https://b.example/y_chunk_0",
              "https://c.example/z_chunk_7"]  # fmt: skip
    assert [page["index"] for page in found] == wanted
    for page in found:
        wanted_score = cosine("kettle copper", PASSAGES[page["index"]])
        assert page["score"] == pytest.approx(wanted_score, abs=1e-6)
    assert found[0]["score"] > 0.75
    assert found[0] | {"score": 0} == {
        "index": "https://a.example/x_chunk_0", "score": 0, "page_name": "Page a",
        "page_snippet": "Snippet of a.", "page_url": "https://a.example/x",
    }  # fmt: skip


def test_k_counts_passages_before_they_are_collapsed_to_pages(
    search: UnifiedSearchPipeline,
) -> None:
    assert len(search("kettle copper", k=2)) == 1  # both nearest passages are of one page


def test_five_results_unless_told(search: UnifiedSearchPipeline) -> None:
    assert len(search(coloured((200, 30, 30)))) == 5
    assert [page["page_url"][8] for page in search("kettle copper")] == ["a", "b", "c"]


def test_lists_and_embeddings(search: UnifiedSearchPipeline) -> None:
    picture = coloured((30, 180, 40))
    vector = ColourEncoder().encode_crops([picture])
    by_picture = search(picture, k=2)
    assert (by_picture[0]["index"], by_picture[0]["score"]) == (1, pytest.approx(1, abs=1e-5))
    assert search(vector[0] * 7, k=2) == search(vector, k=2) == by_picture
    assert search([picture, "kettle copper", vector], k=2) == [
        by_picture, search("kettle copper", k=2), by_picture,
    ]  # fmt: skip
    assert search([]) == []


def test_whether_the_web_can_be_searched(published: Index) -> None:
    both = Resources(image_search=published.images, web_search=published.web)
    assert SearchPipeline(both).web_search is True
    task1 = SearchPipeline(Resources(image_search=published.images))
    assert task1.web_search is False
    with pytest.raises(UsageError, match="web pages"):
        task1("kettle")
    assert len(task1(coloured((1, 2, 3)), k=3)) == 3
    with pytest.raises(UsageError, match="pictures"):
        SearchPipeline(Resources())(coloured((1, 2, 3)))


def test_a_whole_picture_is_encoded_as_it_is(published: Index) -> None:
    """The public package hands it to its encoder so; a smaller copy moves the cosine."""
    seen: list[tuple[int, int]] = []

    class Watched(ColourEncoder):
        def encode_crops(self, crops):
            seen.extend(crop.size for crop in crops)
            return super().encode_crops(crops)

    images = ImageKG(published.images.vectors, published.images.rows, Watched())
    pipeline = SearchPipeline(Resources(image_search=images))
    assert pipeline(Image.new("RGB", (960, 1280), (40, 60, 210)), k=1)[0]["url"] == "u2"
    assert seen == [(960, 1280)]


def test_the_default_encoders_of_imports_keep_32_bits() -> None:
    assert in_full_precision(image_encoders, PUBLISHED["images"]) == (
        "open-clip:model=ViT-L-14-336,precision=full,weights=openai"
    )
    assert in_full_precision(text_encoders, PUBLISHED["web"]) == (
        "transformers:model=BAAI/bge-large-en-v1.5,pooling=official,precision=full"
    )
    assert in_full_precision(text_encoders, "minilm:precision=auto") == "minilm:precision=auto"
    assert in_full_precision(text_encoders, "test-words") == "test-words"


def test_a_named_encoder_of_an_import_keeps_32_bits(tmp_path: Path) -> None:
    with open_folder(tmp_path / "chroma", WEB, create=True) as database:
        rows = np.eye(2, 384, dtype=np.float32)
        about = [{"page_name": "p", "page_snippet": "s", "page_url": f"u{i}"} for i in range(2)]
        database.add(Batch(["u0_chunk_0", "u1_chunk_0"], rows, about, [None, None]))
    made = import_index(tmp_path / "chroma", tmp_path / "ix", text_encoder="minilm")
    assert made[0].encoder_spec == "minilm:precision=full"
