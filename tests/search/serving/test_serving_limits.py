"""What a caller may cost a server: connections, time, pixels, and what it is told when refused."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
import os
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
import uvicorn
from called_command import mmrag
from PIL import Image
from small_index import coloured, png
from test_serving import ask

from mmrag.errors import ConflictError, UsageError
from mmrag.local_server import address, listen
from mmrag.search.index.open import Index
from mmrag.search.serving.http_api import Limits, http_app, serve_http


@contextmanager
def serving(index: Index, limits: Limits, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """The server as the command starts it, on a thread; its address."""
    made: list[uvicorn.Server] = []

    class Kept(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            made.append(self)

    monkeypatch.setattr(uvicorn, "Server", Kept)
    with listen("127.0.0.1", 0) as at:
        thread = threading.Thread(target=serve_http, args=(index, limits, at))
        thread.start()
        try:
            yield address(at, "127.0.0.1")
        finally:
            made[0].should_exit = True
            thread.join(10)
            assert not thread.is_alive()


def connect(url: str) -> socket.socket:
    at = httpx.URL(url)
    return socket.create_connection((at.host, at.port or 0), timeout=5)


def drip(connection: socket.socket, pause: float) -> bytes:
    """Send a byte now and then until the other side answers or closes; what it said."""
    connection.settimeout(pause)
    for _ in range(100):
        try:
            connection.send(b"x")
            return connection.recv(4096)
        except TimeoutError:
            continue
        except ConnectionError:
            return b""
    raise AssertionError("it would have gone on for good")


def test_idle_connections_lock_nobody_out_and_are_closed(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(concurrency=1, seconds=0.3)
    with serving(index, limits, monkeypatch) as url, ExitStack() as stack:
        idle = [stack.enter_context(connect(url)) for _ in range(20)]
        assert httpx.get(f"{url}/health").status_code == 200
        found = httpx.post(f"{url}/search/text", json={"queries": ["Elm Speaker"], "k": 1})
        assert found.status_code == 200
        assert [connection.recv(1) for connection in idle] == [b""] * 20


def test_a_head_that_drips_is_not_waited_for(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(index, Limits(seconds=0.2), monkeypatch) as url:
        with connect(url) as first:
            first.send(b"POST /search/text HTTP/1.1\r\nX-Slow: ")
            assert drip(first, 0.04) == b""
        with connect(url) as second:  # nor is the head of a later request
            second.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b"200 OK" in second.recv(4096)
            second.send(b"GET /health HTTP/1.1\r\nX-Slow: ")
            assert drip(second, 0.04) == b""


def test_a_body_that_drips_is_refused(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(index, Limits(seconds=0.2), monkeypatch) as url, connect(url) as slow:
        slow.send(b"POST /search/text HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
        said = drip(slow, 0.04)
        assert b" 408 " in said
        assert b'"TooSlow"' in said
        assert b"connection: close" in said.lower()


def test_a_search_may_take_longer_than_a_head(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        def search_text(self, queries: list[str], k: int) -> list[tuple[()]]:
            time.sleep(0.2)
            return [() for _ in queries]

    limits = Limits(seconds=0.4)
    slow = msgspec.structs.replace(index, web=Slow())
    with serving(slow, limits, monkeypatch) as url, connect(url) as slowly:
        body = b'{"queries": ["x"]}'
        slowly.send(b"POST /search/text HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        time.sleep(0.2)
        slowly.send(b"Content-Length: %d\r\n\r\n" % len(body))
        time.sleep(0.2)
        slowly.send(body)
        assert b" 200 OK" in slowly.recv(4096)


def test_a_client_that_leaves_is_no_news(
    index: Index, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(index, Limits(), monkeypatch) as url:
        logging.getLogger("uvicorn.error").addHandler(caplog.handler)
        with connect(url) as leaving:
            leaving.send(
                b"POST /search/text HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\nx"
            )
            assert httpx.get(f"{url}/health").status_code == 200
        assert httpx.get(f"{url}/health").status_code == 200
    logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_crowd_is_sent_away_unread(index: Index) -> None:
    async def crowd() -> list[int]:
        never = asyncio.Event()

        async def body() -> AsyncGenerator[bytes]:
            await never.wait()
            yield b""

        transport = httpx.ASGITransport(http_app(index, Limits(concurrency=1, seconds=0.2)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            calls = [client.post("/search/text", content=body()) for _ in range(17)]
            return sorted(answer.status_code for answer in await asyncio.gather(*calls))

    assert asyncio.run(crowd()) == [408] * 16 + [503]


def blank(side: int) -> str:
    buffer = io.BytesIO()
    Image.new("1", (side, side)).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def test_pixels_of_a_request_are_counted_before_any_are_decoded(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[str] = []
    counted: list[str] = []

    def counting(data: object, **options: object) -> Image.Image:
        counted.append(threading.current_thread().name)
        return opened(data, **options)

    opened = Image.open
    monkeypatch.setattr(Image, "open", counting)
    monkeypatch.setattr("mmrag.files.images.decode", lambda data, name: decoded.append(name))
    answer = ask(index, "/search/images", {"images": [blank(5000)] * 9})
    assert answer.status_code == 413
    assert answer.json()["type"] == "TooLarge"
    assert "more than 100,000,000 pixels" in answer.json()["error"]
    assert decoded == []
    # not on the thread that answers everybody, and no further than needed
    assert [name.startswith("search") for name in counted] == [True] * 5


def test_pictures_within_the_limit_are_searched(index: Index) -> None:
    picture = base64.b64encode(png(coloured((200, 30, 30)))).decode()
    one = Image.open(io.BytesIO(base64.b64decode(picture)))
    limits = Limits(pixels=2 * one.width * one.height)
    for number, status in ((2, 200), (3, 413)):
        asked = {"images": [picture] * number, "k": 1}
        assert ask(index, "/search/images", asked, limits).status_code == status


def test_text_that_is_no_utf8_is_refused(index: Index) -> None:
    answer = ask(index, "/search/text", b'{"queries": ["\xff\xfe"]}')
    assert answer.status_code == 400
    assert answer.json()["type"] == "UsageError"


def test_what_is_too_large_is_called_so(index: Index) -> None:
    answer = ask(index, "/search/text", b" " * 3_000_000, Limits(bytes=2 << 20))
    assert (answer.status_code, answer.json()["type"]) == (413, "TooLarge")


def test_as_many_searches_run_at_once_as_there_are_places(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    together = threading.Barrier(12)

    class Together:
        def search_text(self, queries: list[str], k: int) -> list[tuple[()]]:
            together.wait(2)
            return [() for _ in queries]

    async def crowd() -> list[int]:
        app = http_app(msgspec.structs.replace(index, web=Together()), Limits(concurrency=12))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            calls = [client.post("/search/text", json={"queries": ["x"]}) for _ in range(12)]
            return [answer.status_code for answer in await asyncio.gather(*calls)]

    assert asyncio.run(crowd()) == [200] * 12


def test_a_place_is_had_before_it_is_named() -> None:
    with listen("127.0.0.1", 0) as at:
        port = at.getsockname()[1]
        assert address(at, "127.0.0.1") == f"http://127.0.0.1:{port}"
        assert address(at, "::1") == f"http://[::1]:{port}"
        with pytest.raises(ConflictError, match="--port"):
            listen("127.0.0.1", port)
    for host in ("300.1.1.1", "no such host", "a" * 300):
        with pytest.raises(UsageError, match="--host"):
            listen(host, 0)


def test_serve_says_where_it_listens(index_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []
    monkeypatch.setattr(
        "mmrag.search.serving.http_api.serve_http",
        lambda index, limits, at, hosts: ports.append(at.getsockname()[1]),
    )
    command = ["serve", "--index", str(index_folder), "--port"]
    told = mmrag(*command, 0)
    assert f"serving {index_folder} at http://127.0.0.1:{ports[0]};" in told.stderr
    with listen("127.0.0.1", 0) as taken:
        refused = mmrag(*command, taken.getsockname()[1], code=ConflictError.exit_code)
    assert len(ports) == 1
    assert "serving" not in refused.stderr
