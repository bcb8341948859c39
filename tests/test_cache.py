"""The shared cache: what it keeps, what it must not keep, and overlapping requests."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from mmrag.cache import Cache, CachedImageSearch, CachedModel, CachedWebSearch, cache_resources
from mmrag.errors import ServiceError
from mmrag.files.images import LazyImage
from mmrag.protocols import Completion, GenerateOptions, Message, Resources
from mmrag.records import Evidence, Usage


class CountingModel:
    def __init__(self, text: str = "yes", fail: int = 0, wait: float = 0.0) -> None:
        self.text, self.fail, self.wait, self.calls = text, fail, wait, 0

    async def generate(self, messages, options=GenerateOptions()):
        self.calls += 1
        failing = self.calls <= self.fail
        await asyncio.sleep(self.wait)
        if failing:
            raise ServiceError("down")
        return Completion(text=self.text, usage=Usage(input_tokens=7, cost=0.5))


class CountingSearch:
    def __init__(self, wait: float = 0.0, fail: int = 0) -> None:
        self.batches, self.wait, self.fail = [], wait, fail
        self.lock = threading.Lock()

    def search_text(self, queries, k=50):
        with self.lock:
            self.batches.append(list(queries))
            failing = len(self.batches) <= self.fail
        time.sleep(self.wait)
        if failing:
            raise ServiceError("down")
        return [
            () if q == "nothing" else (Evidence(source="web", id=q, score=1.0, text=q),)
            for q in queries
        ]

    def search_images(self, images, k=30):
        return self.search_text([image.sha256 for image in images], k)


class SharingSearch:
    """Hands out the same objects again and again, as searches in memory do."""

    def __init__(self) -> None:
        about = {"entities": [{"entity_name": "Kettle", "sizes": [1, 2]}], "box": [0, 0, 1, 1]}
        self.found = (Evidence(source="image-kg", id="1", score=1.0, attributes=about),)

    def search_text(self, queries, k=50):
        return [self.found for _ in queries]

    search_images = search_text


def ask(text: str, picture: bytes | None = None) -> list[Message]:
    images = () if picture is None else (LazyImage.from_bytes(picture),)
    return [Message(role="user", text=text, images=images)]


def test_the_same_request_is_generated_once_and_keeps_its_usage() -> None:
    inner, cache = CountingModel(), Cache()
    model = CachedModel(inner, "m", cache)
    first = asyncio.run(model.generate(ask("a")))
    second = asyncio.run(model.generate(ask("a")))
    assert ((inner.calls, first), cache.stats.hits) == ((1, second), 1)
    assert cache.stats.saved == Usage(input_tokens=7, cost=0.5)


@pytest.mark.parametrize(
    ("messages", "options", "name"),
    [
        (ask("b"), GenerateOptions(), "m"), (ask("a", b"pixels"), GenerateOptions(), "m"),
        (ask("a"), GenerateOptions(max_tokens=5), "m"), (ask("a"), GenerateOptions(seed=1), "m"),
        (ask("a"), GenerateOptions(), "other")
    ]
)  # fmt: skip
def test_whatever_matters_is_in_the_key(messages, options, name) -> None:
    inner, cache = CountingModel(), Cache()
    asyncio.run(CachedModel(inner, "m", cache).generate(ask("a")))
    asyncio.run(CachedModel(inner, name, cache).generate(messages, options))
    assert inner.calls == 2


@pytest.mark.parametrize(
    ("text", "options", "calls"),
    [
        ("yes", GenerateOptions(), 2),  # degraded pixels have a key of their own
        ("", GenerateOptions(), 3), ("  \n", GenerateOptions(), 3),  # nothing said is not kept
        ("yes", GenerateOptions(temperature=0.7), 3),  # nor what was drawn without a seed
    ],
)  # fmt: skip
def test_what_is_kept(text: str, options: GenerateOptions, calls: int) -> None:
    inner, cache = CountingModel(text), Cache()
    model = CachedModel(inner, "m", cache)
    for picture in (b"clean", b"dark", b"clean"):
        asyncio.run(model.generate(ask("a", picture), options))
    assert inner.calls == calls


def test_errors_are_not_kept() -> None:
    inner, cache = CountingModel(fail=1), Cache()
    model = CachedModel(inner, "m", cache)
    with pytest.raises(ServiceError):
        asyncio.run(model.generate(ask("a")))
    assert asyncio.run(model.generate(ask("a"))).text == "yes"


def test_overlapping_requests_wait_for_the_first() -> None:
    inner, cache = CountingModel(wait=0.05), Cache()
    model = CachedModel(inner, "m", cache)

    async def many() -> list[Completion]:
        return await asyncio.gather(*(model.generate(ask("a")) for _ in range(20)))

    assert (len(asyncio.run(many())), inner.calls) == (20, 1)


def test_those_who_wait_go_on_when_the_first_fails_or_is_cancelled() -> None:
    inner, cache = CountingModel(wait=0.05, fail=1), Cache()
    model = CachedModel(inner, "m", cache)

    async def many() -> list[object]:
        first = asyncio.create_task(model.generate(ask("b")))
        rest = [asyncio.create_task(model.generate(ask("a"))) for _ in range(5)]
        await asyncio.sleep(0.01)
        rest[0].cancel()
        return await asyncio.gather(first, *rest, return_exceptions=True)

    found = asyncio.run(many())
    assert isinstance(found[0], ServiceError)
    assert isinstance(found[1], asyncio.CancelledError)
    assert ([c.text for c in found[2:]], inner.calls) == (["yes"] * 4, 3)


def test_only_missing_queries_are_searched_and_none_twice() -> None:
    inner, cache = CountingSearch(), Cache()
    search = CachedWebSearch(inner, "i", cache)
    found = search.search_text(["a", "b", "a"])
    assert [hits[0].id for hits in found] == ["a", "b", "a"]
    found = search.search_text(["b", "c"])
    assert ([hits[0].id for hits in found], inner.batches) == (["b", "c"], [["a", "b"], ["c"]])


def test_empty_results_are_searched_again() -> None:
    inner, cache = CountingSearch(), Cache()
    search = CachedWebSearch(inner, "i", cache)
    assert search.search_text(["nothing"]) == [()]
    assert search.search_text(["nothing", "a"])[0] == ()
    assert inner.batches == [["nothing"], ["nothing", "a"]]


def test_threads_share_one_search() -> None:
    inner, cache = CountingSearch(wait=0.05), Cache()
    search = CachedWebSearch(inner, "i", cache)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: search.search_text(["a", "b"]), range(8)))
    assert all([hits[0].id for hits in one] == ["a", "b"] for one in found)
    assert sum(len(batch) for batch in inner.batches) == 2


def test_a_failing_search_hands_over_to_those_who_wait() -> None:
    inner, cache = CountingSearch(wait=0.05, fail=1), Cache()
    search = CachedWebSearch(inner, "i", cache)

    def one(_: int) -> str:
        try:
            return search.search_text(["a"])[0][0].id
        except ServiceError:
            return "failed"

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(one, range(4)))
    assert (found, len(inner.batches)) == (["a", "a", "a", "failed"], 2)


def test_pictures_are_known_by_their_pixels() -> None:
    inner, cache = CountingSearch(), Cache()
    search = CachedImageSearch(inner, "i", cache)
    clean, dark = LazyImage.from_bytes(b"clean"), LazyImage.from_bytes(b"dark")
    search.search_images([clean])
    search.search_images([dark, LazyImage.from_bytes(b"clean")])
    assert [len(batch) for batch in inner.batches] == [1, 1]


def test_each_way_of_searching_pictures_is_asked_and_kept_apart() -> None:
    class Ways:
        def search_images(self, images, k=30):
            return [(Evidence(source="image-kg", id="all", score=1.0),) for _ in images]

        def search_whole(self, images, k=30):
            return [(Evidence(source="image-kg", id="whole", score=1.0),) for _ in images]

    search = CachedImageSearch(Ways(), "i", Cache())
    picture = [LazyImage.from_pil(Image.new("RGB", (8, 8)))]
    for _ in range(2):
        assert search.search_images(picture)[0][0].id == "all"
        assert search.search_whole(picture)[0][0].id == "whole"


def test_the_least_recently_used_goes_first() -> None:
    inner, cache = CountingSearch(), Cache(max_bytes=700)
    search = CachedWebSearch(inner, "i", cache)
    for query in ("a", "b", "a", "c", "a", "b"):
        search.search_text([query])
    assert inner.batches == [["a"], ["b"], ["c"], ["b"]]


def test_resources_are_wrapped_and_absent_parts_stay_absent() -> None:
    shared = cache_resources(Resources(model=lambda _: CountingModel(), seed=3), Cache())
    assert (shared.image_search, shared.web_search, shared.seed) == (None, None, 3)
    assert shared.model is not None
    assert asyncio.run(shared.model("m").generate(ask("a"))).text == "yes"


def test_what_an_agent_does_to_its_evidence_is_seen_by_nobody_else() -> None:
    """The first who asks, too, may do as it likes: what is kept is not what it was given."""
    inner, cache = SharingSearch(), Cache()
    pages = CachedWebSearch(inner, "i", cache)
    shown = CachedImageSearch(inner, "i", cache)
    kettle = LazyImage.from_pil(Image.new("RGB", (8, 8)))
    for search in (lambda: pages.search_text(["a", "a"]), lambda: shown.search_images([kettle])):
        for _ in range(3):
            for (item,) in search():
                (entity,) = item.attributes["entities"]
                assert entity == {"entity_name": "Kettle", "sizes": [1, 2]}
                assert item.attributes["box"] == [0, 0, 1, 1]
                entity["entity_name"] = "Mallet"
                entity["sizes"].append(3)
                item.attributes["box"].clear()
