"""Answers that are packed: a kilobyte must not become gigabytes before a limit is looked at."""

from __future__ import annotations

import asyncio
import gzip
import io
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answering import Answering, Asked, answering
from PIL import Image

from mmrag.agents.external.adapters import HttpAgent
from mmrag.errors import AgentError, ImageError, MmragError, ServiceError
from mmrag.files.images import LazyImage
from mmrag.files.retries import retry
from mmrag.models.openai import OpenAIModel
from mmrag.protocols import Message
from mmrag.records import Query
from mmrag.search.serving.public_package import fetch
from simulator.datasets.picture_fetcher import PictureFetcher

UNPACKED = 90 << 20
ALLOWED = 24 << 20


def jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (9, 99, 9)).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[Answering]:
    zeros = bytes(UNPACKED)
    bodies = {
        "gzip": ("gzip", gzip.compress(zeros, 9)), "br": ("br", b"\x5b\xff\xff"),
        "twice": ("gzip, gzip", gzip.compress(gzip.compress(zeros))),
        "cut": ("gzip", gzip.compress(bytes(4000))[:-20]),
        "deflate": ("deflate", zlib.compress(zeros)), "picture": ("gzip", gzip.compress(jpeg())),
    }  # fmt: skip

    def packed(asked: Asked) -> tuple[int, dict[str, str], bytes]:
        encoding, body = bodies[asked.path.split("/")[1]]
        return 200, {"content-encoding": encoding}, body

    with answering(packed) as here:
        yield here


def by_url(url: str, folder: Path) -> object:
    return PictureFetcher(folder, allow_private=True, max_bytes=1 << 20).fetch(url)


def by_search(url: str, _: Path) -> object:
    return fetch(url, max_bytes=1 << 20)


def by_agent(url: str, _: Path) -> object:
    query = Query(text="what?", image=LazyImage.from_bytes(jpeg()))
    return asyncio.run(HttpAgent(url, seconds=20).answer(query))


def by_model(url: str, _: Path) -> object:
    model = OpenAIModel(name="m", base_url=url, retries=0, timeout=20)
    return asyncio.run(model.generate([Message(role="user", text="what?")]))


CALLERS = [(by_url, ImageError), (by_search, ImageError), (by_agent, AgentError),
           (by_model, ServiceError)]  # fmt: skip


@pytest.mark.parametrize(("ask", "kind"), CALLERS)
@pytest.mark.parametrize("body", ["gzip", "deflate", "br", "twice", "cut"])
def test_no_packed_answer_grows_beyond_its_limit(
    tmp_path: Path, server: Answering, body: str, ask: Callable[[str, Path], object],
    kind: type[MmragError],
) -> None:  # fmt: skip
    tracemalloc.start()
    try:
        with pytest.raises(kind, match=r"larger than|packed as|broken"):
            ask(f"{server.url}/{body}", tmp_path)
        assert tracemalloc.get_traced_memory()[1] < ALLOWED
    finally:
        tracemalloc.stop()
    assert server.asked[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("ask", [by_url, by_search])
def test_a_picture_that_comes_packed_is_unpacked(
    tmp_path: Path, server: Answering, ask: Callable[[str, Path], object]
) -> None:
    assert ask(f"{server.url}/picture", tmp_path) == jpeg()


# -- retries


@pytest.mark.parametrize(
    ("good_at", "retries", "found", "waited"),
    [(0, 3, 0, []), (2, 3, 2, [0, 1]), (9, 2, 2, [0, 1]), (9, 0, 0, [])],
)
def test_it_tries_until_something_is_final_and_never_waits_after_the_last(
    good_at: int, retries: int, found: int, waited: list[int]
) -> None:
    asked: list[int] = []

    async def attempt(before: int) -> int:
        asked.append(before)
        return before

    def pause(before: int, _found: int) -> float | None:
        return None if before == good_at else 0.0

    assert asyncio.run(retry(attempt, retries, pause)) == found
    assert asked == [*waited, found]
