"""Both searches for other programs: a small HTTP API, with limits.

A caller gives no URL and no path: pictures arrive as bytes. A search that outlives its limit is
answered with an error at once; its place becomes free when it really ends, so a flood of slow ones
cannot pile up. A request is bounded before it is worked on: its bytes, the time they take to
arrive, and the pixels that its pictures will have.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from mmrag.errors import DataError, MmragError, ServiceError, ServiceTimeout, UsageError
from mmrag.files.images import LazyImage, size_of
from mmrag.local_server import AllowedHostsOnly, SameOriginOnly
from mmrag.records import Evidence, Record
from mmrag.search.image.image_kg import check_k
from mmrag.search.index.open import Index

if TYPE_CHECKING:
    import socket

T = TypeVar("T")

MAX_QUERIES = 64
MAX_TEXT = 20_000
CROWD = 16
"""Requests at once for each search at once; who comes beyond that is sent away unread."""


class Limits(Record, frozen=True, kw_only=True):
    """What one caller may ask for."""

    concurrency: int = 8
    seconds: float = 30.0
    bytes: int = 16 << 20
    pixels: int = 100_000_000
    """All pictures of a request together: they are decoded at the same time."""


class Busy(ServiceError):
    """All places are taken and stayed so for the whole limit, or too many wait for one."""


class TooLarge(UsageError):
    """A request has more bytes or pixels than one may have."""


class TooSlow(UsageError):
    """A request did not arrive within the limit."""


class Service:
    """The searches, bounded in number and time."""

    def __init__(self, index: Index, limits: Limits) -> None:
        self.index = index
        self.limits = limits
        self._places = asyncio.Semaphore(limits.concurrency)
        # asyncio's own has fewer threads than places where there are few cores
        self._threads = ThreadPoolExecutor(limits.concurrency, thread_name_prefix="search")
        self._asking = 0

    @contextlib.contextmanager
    def asking(self) -> Generator[None]:
        """Around a request from its first byte on, so that a crowd's bodies are bounded too."""
        if self._asking >= self.limits.concurrency * CROWD:
            raise Busy(f"{self._asking} requests are waiting; try again.")
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    async def texts(self, queries: list[str], k: int) -> list[tuple[Evidence, ...]]:
        """Pages for texts."""
        check_k(k)
        if not 1 <= len(queries) <= MAX_QUERIES:
            raise UsageError(f"{len(queries)} queries: between 1 and {MAX_QUERIES} at once.")
        if any(len(query) > MAX_TEXT for query in queries):
            raise UsageError(f"a query is longer than {MAX_TEXT} characters; shorten it.")
        web = self.index.web
        if web is None:
            raise UsageError("this index has no web pages.")
        return await self._bounded(lambda: web.search_text(queries, k))

    async def pictures(
        self, pictures: list[str], k: int, *, regions: bool = True
    ) -> list[tuple[Evidence, ...]]:
        """KG entries for pictures in base64."""
        check_k(k)
        if not 1 <= len(pictures) <= MAX_QUERIES:
            raise UsageError(f"{len(pictures)} pictures: between 1 and {MAX_QUERIES} at once.")
        images = [LazyImage.from_bytes(_bytes(text), name=f"picture {i}")
                  for i, text in enumerate(pictures)]  # fmt: skip
        kg = self.index.images
        if kg is None:
            raise UsageError("this index has no pictures.")
        ask = kg.search_images if regions else kg.search_whole

        def work() -> list[tuple[Evidence, ...]]:
            _check_pixels(images, self.limits.pixels)
            return ask(images, k)

        return await self._bounded(work)

    async def _bounded(self, work: Callable[[], T]) -> T:
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.seconds)
        except TimeoutError as error:
            raise Busy(f"{self.limits.concurrency} searches are running; try again.") from error
        task = asyncio.get_running_loop().run_in_executor(self._threads, work)
        task.add_done_callback(self._release)
        try:
            return await asyncio.wait_for(asyncio.shield(task), self.limits.seconds)
        except TimeoutError as error:
            raise ServiceTimeout(
                f"the search took longer than {self.limits.seconds:g} s; ask for less at once."
            ) from error

    def _release(self, task: asyncio.Future[Any]) -> None:
        self._places.release()
        if not task.cancelled():
            task.exception()  # its caller may have left: an error nobody reads is no news


def http_app(index: Index, limits: Limits = Limits(), hosts: Sequence[str] = ()) -> Any:
    """The HTTP API as an ASGI application: `/health`, `/search/text`, `/search/images`."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    service = Service(index, limits)

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok", "index": index.fingerprint})

    async def text(request: Request) -> JSONResponse:
        with service.asking():
            asked = await _body(request, _TextRequest, limits)
            return _answer(await service.texts(asked.queries, asked.k))

    async def images(request: Request) -> JSONResponse:
        with service.asking():
            asked = await _body(request, _ImageRequest, limits)
            return _answer(await service.pictures(asked.images, asked.k, regions=asked.regions))

    def failed(_: Request, error: Exception) -> JSONResponse:
        status = {UsageError: 400, DataError: 422, Busy: 503, ServiceTimeout: 504,
                  TooLarge: 413, TooSlow: 408}  # fmt: skip
        code = next((s for kind, s in reversed(status.items()) if isinstance(error, kind)), 500)
        close = {"Connection": "close"} if code == 408 else None  # the rest is not waited for
        return JSONResponse({"error": str(error), "type": type(error).__name__}, code, close)

    def left(_: Request, __: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/search/text", text, methods=["POST"]),
            Route("/search/images", images, methods=["POST"]),
        ],
        exception_handlers={MmragError: failed, ClientDisconnect: left},
        middleware=[Middleware(SameOriginOnly), Middleware(AllowedHostsOnly, hosts=hosts)],
    )


def serve_http(index: Index, limits: Limits, at: socket.socket, hosts: Sequence[str] = ()) -> None:
    """Answer at a listening socket until interrupted."""
    from mmrag.local_server import serve

    serve(http_app(index, limits, hosts), at, http=_prompt_protocol(limits.seconds), ws="none",
          timeout_keep_alive=5)  # fmt: skip


def _prompt_protocol(seconds: float) -> Any:
    """HTTP for which a connection is over when the head of a request is not there in time.

    uvicorn has a limit between requests only: whoever connects and says nothing, or says it one
    byte at a time, would stay for good.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol  # it bounds the size of a head

    class Prompt(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop()

        def _watch(self) -> None:
            cycle = cast("Any", self.cycle)  # None before the first request
            if cycle is not None and not cycle.response_complete:
                self._stop()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Prompt


class _TextRequest(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queries: list[str]
    k: int = 5


class _ImageRequest(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    images: list[str]
    k: int = 5
    regions: bool = True


R = TypeVar("R", bound=Record)


async def _body(request: Any, kind: type[R], limits: Limits) -> R:
    held = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for piece in request.stream():
                held += piece
                if len(held) > limits.bytes:
                    raise TooLarge(
                        f"the request is larger than {limits.bytes >> 20} MiB; send less."
                    )
    except TimeoutError as error:
        raise TooSlow(
            f"the request did not arrive within {limits.seconds:g} s; send less at once."
        ) from error
    try:
        return msgspec.json.decode(bytes(held), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the request is not what this address takes: {error}") from error


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"a picture is not base64 ({error}).") from error


def _check_pixels(images: Sequence[LazyImage], limit: int) -> None:
    """By their headers; a picture without a good one is refused where it is decoded."""
    total = 0
    for image in images:
        with contextlib.suppress(DataError):
            width, height = size_of(image.data, name=image.name)
            total += width * height
        if total > limit:
            raise TooLarge(
                f"the pictures have more than {limit:,} pixels in all; "
                "send fewer at once, or scale them down."
            )


def _plain(hits: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(hit) for hit in hits]


def _answer(found: list[tuple[Evidence, ...]]) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"results": [_plain(hits) for hits in found]})
