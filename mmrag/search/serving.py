"""Both searches for other programs: a small HTTP API and an MCP server, with the same limits.

Neither takes a URL or a path from a caller: pictures arrive as bytes. HTTP listens on loopback
unless told otherwise. A search that outlives its limit is answered with an error at once; its place
becomes free when it really ends, so a flood of slow ones cannot pile up.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from mmrag.errors import DataError, MmragError, ServiceError, ServiceTimeout, UsageError
from mmrag.images import LazyImage
from mmrag.records import Evidence, Record
from mmrag.search.images import check_k, entities_of
from mmrag.search.index import Index

T = TypeVar("T")

MAX_QUERIES = 64
MAX_TEXT = 20_000


class Limits(Record, frozen=True, kw_only=True):
    """What one caller may ask for."""

    concurrency: int = 8
    seconds: float = 30.0
    bytes: int = 16 << 20


class Busy(ServiceError):
    """All places are taken and stayed so for the whole limit."""


class Service:
    """The searches, bounded in number and time."""

    def __init__(self, index: Index, limits: Limits) -> None:
        self.index = index
        self.limits = limits
        self._places = asyncio.Semaphore(limits.concurrency)

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
        return await self._bounded(lambda: ask(images, k))

    async def _bounded(self, work: Callable[[], T]) -> T:
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.seconds)
        except TimeoutError as error:
            raise Busy(f"{self.limits.concurrency} searches are running; try again.") from error
        task = asyncio.ensure_future(asyncio.to_thread(work))
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


def http_app(index: Index, limits: Limits = Limits()) -> Any:
    """The HTTP API as an ASGI application: `/health`, `/search/text`, `/search/images`."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    service = Service(index, limits)

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok", "index": index.fingerprint})

    async def text(request: Request) -> JSONResponse:
        asked = await _body(request, _TextRequest, limits.bytes)
        return _answer(await service.texts(asked.queries, asked.k))

    async def images(request: Request) -> JSONResponse:
        asked = await _body(request, _ImageRequest, limits.bytes)
        return _answer(await service.pictures(asked.images, asked.k, regions=asked.regions))

    def failed(_: Request, error: Exception) -> JSONResponse:
        status = {UsageError: 400, DataError: 422, Busy: 503, ServiceTimeout: 504, _TooLarge: 413}
        code = next((s for kind, s in reversed(status.items()) if isinstance(error, kind)), 500)
        return JSONResponse({"error": str(error), "type": type(error).__name__}, code)

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/search/text", text, methods=["POST"]),
            Route("/search/images", images, methods=["POST"]),
        ],
        exception_handlers={MmragError: failed},
    )


def serve_http(index: Index, limits: Limits, *, host: str, port: int) -> None:
    """Listen until interrupted."""
    import uvicorn

    uvicorn.run(http_app(index, limits), host=host, port=port, log_level="warning",
                timeout_keep_alive=5, limit_concurrency=limits.concurrency * 16)  # fmt: skip


def mcp_server(index: Index, limits: Limits = Limits()) -> Any:
    """The tools `search_web` and `search_image` as an MCP server."""
    from mcp.server import MCPServer

    service = Service(index, limits)
    server = MCPServer("mmrag-search")

    async def search_web(query: str, k: int = 5) -> list[dict[str, Any]]:
        """Search the web pages: the best passages with their page's title, url and date."""
        return _plain((await service.texts([query], k))[0])

    async def search_image(image_base64: str, k: int = 5) -> dict[str, Any]:
        """Find what a picture shows: entities with attributes, and the pictures that match."""
        if len(image_base64) > limits.bytes * 4 // 3:
            raise UsageError(f"the picture is larger than {limits.bytes >> 20} MiB.")
        hits = (await service.pictures([image_base64], k))[0]
        entities = [msgspec.to_builtins(entity) for entity in entities_of(hits)]
        return {"entities": entities, "pictures": _plain(hits)}

    if index.web is not None:
        server.tool()(search_web)
    if index.images is not None:
        server.tool()(search_image)
    return server


def serve_mcp(index: Index, limits: Limits) -> None:
    """Speak MCP over standard input and output until the client leaves."""
    mcp_server(index, limits).run("stdio")


class _TextRequest(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queries: list[str]
    k: int = 5


class _ImageRequest(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    images: list[str]
    k: int = 5
    regions: bool = True


class _TooLarge(UsageError):
    pass


R = TypeVar("R", bound=Record)


async def _body(request: Any, kind: type[R], limit: int) -> R:
    held = bytearray()
    async for piece in request.stream():
        held += piece
        if len(held) > limit:
            raise _TooLarge(f"the request is larger than {limit >> 20} MiB; send less.")
    try:
        return msgspec.json.decode(bytes(held), type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"the request is not what this address takes: {error}") from error


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"a picture is no base64 ({error}).") from error


def _plain(hits: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(hit) for hit in hits]


def _answer(found: list[tuple[Evidence, ...]]) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"results": [_plain(hits) for hits in found]})
