"""`mmrag serve --crag-kg`: the 38 endpoints over HTTP, as the public mock API has them.

A request is `POST /movie/get_movie_info {"query": "…"}`, an answer `{"result": …}`. The header
`query-time` (ISO) says as of when; without it the answers are those of the world's last moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import UsageError
from mmrag.tools import problem_with
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.kg.endpoints import ENDPOINTS, Endpoint, ask

if TYPE_CHECKING:
    import socket

MAX_BODY = 1 << 20
SECONDS = 10.0
TIME_HEADER = "query-time"


def kg_app(world: CragWorld, hosts: Sequence[str] = ()) -> Any:
    """The API as an ASGI application, answering to loopback names and `hosts`."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from mmrag.local_server import AllowedHostsOnly, SameOriginOnly

    async def root(_: Request) -> JSONResponse:
        return JSONResponse({"message": "CRAG's mock API over a fictional world"})

    def route(endpoint: Endpoint) -> Route:
        async def answer(request: Request) -> JSONResponse:
            try:
                arguments = _arguments(endpoint, await _body(request))
            except UsageError as error:
                return JSONResponse({"detail": str(error)}, 422)
            try:
                at = request.headers.get(TIME_HEADER)
                found = await asyncio.to_thread(ask, world, endpoint, arguments, at)
            except UsageError as error:
                return JSONResponse({"detail": str(error)}, 400)
            return JSONResponse({"result": found})

        return Route(endpoint.path, answer, methods=["POST"])

    return Starlette(
        routes=[Route("/", root), *(route(endpoint) for endpoint in ENDPOINTS.values())],
        middleware=[Middleware(SameOriginOnly), Middleware(AllowedHostsOnly, hosts=hosts)],
    )


def serve_kg(world: CragWorld, at: socket.socket, hosts: Sequence[str] = ()) -> None:
    """Answer at a listening socket until interrupted."""
    from mmrag.local_server import serve

    serve(kg_app(world, hosts), at, ws="none", timeout_keep_alive=5)


async def _body(request: Any) -> dict[str, Any]:
    held = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            async for piece in request.stream():
                held += piece
                if len(held) > MAX_BODY:
                    raise UsageError(f"the request is larger than {MAX_BODY >> 20} MiB.")
    except TimeoutError as error:
        raise UsageError(f"the request did not arrive within {SECONDS:g} s.") from error
    try:
        return msgspec.json.decode(bytes(held) or b"{}", type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the request is not a JSON object ({error}).") from error


def _arguments(endpoint: Endpoint, body: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; fields that the endpoint does not know are passed over, as there."""
    given = {name: body[field] for name, field in endpoint.wire.items() if field in body}
    kinds = endpoint.parameters["properties"]
    for name, value in given.items():  # the public server takes "100" for 100
        if kinds[name]["type"] == "integer" and isinstance(value, str) and value.isdecimal():
            given[name] = int(value[:18])
    given = {name: value for name, value in given.items() if value is not None}
    if problem := problem_with(given, endpoint.parameters):
        raise UsageError(problem)
    return given
