"""The same 38 functions asked of a server of one's own: the public mock API with its full KG.

A server that hangs, drips, or answers nonsense costs a call and no more; what was wrong with it is
a `ServiceError` that the tool loop tells the model.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from mmrag.errors import ServiceError, ServiceTimeout, SpecError
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError
from mmrag.tools import Tool
from simulator.world.crag.kg.endpoints import ENDPOINTS, Endpoint
from simulator.world.crag.kg.server import TIME_HEADER

MAX_ANSWER = 8 << 20
"""Bytes of an answer that are read: the films of a year are some tens of KB."""

MOST_SECONDS = 600
"""A call may take; nobody waits longer for an answer."""


def server_tools(url: str, seconds: float = 5.0) -> tuple[Tool, ...]:
    """The functions of the server at a URL; `seconds` bounds each call."""
    base = url.rstrip("/")
    if not _is_address(base):
        raise SpecError(
            f"url={url[:200]}: write the server's address, as in http://127.0.0.1:8000."
        )
    if not 0 < seconds <= MOST_SECONDS:
        raise SpecError(
            f"seconds={seconds:g}: write how long a call may take, at most {MOST_SECONDS:,}."
        )

    def tool(endpoint: Endpoint) -> Tool:
        def call(arguments: dict[str, Any], at: str | None) -> Any:
            body = {endpoint.wire[name]: value for name, value in arguments.items()}
            with ThreadPoolExecutor(1, thread_name_prefix="kg") as thread:  # may be in a loop
                asked = _ask(f"{base}{endpoint.path}", body, at, seconds)
                return thread.submit(asyncio.run, asked).result()

        return Tool(name=endpoint.name, description=endpoint.description,
                    parameters=endpoint.parameters, call=call)  # fmt: skip

    return tuple(tool(endpoint) for endpoint in ENDPOINTS.values())


def _is_address(url: str) -> bool:
    import httpx

    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        return False
    named = parts.scheme in ("http", "https") and bool(parts.host)
    return named and (parts.port is None or 0 < parts.port < 1 << 16)


async def _ask(url: str, body: dict[str, Any], at: str | None, seconds: float) -> Any:
    import httpx

    headers = {**ASK_PLAIN, **({TIME_HEADER: at} if at else {})}
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=seconds) as client,
            client.stream("POST", url, json=body, headers=headers) as response,
        ):
            held = Body(response.headers, MAX_ANSWER)
            async for piece in response.aiter_raw():
                held.add(piece)
            return _result(url, response.status_code, held.data())
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ServiceTimeout(f"the KG server did not answer within {seconds:g} s.") from error
    except BodyError as error:
        raise ServiceError(f"the KG server's answer cannot be used: {error}.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServiceError(
            f"the KG server at {url} cannot be reached ({type(error).__name__}); is it running?"
        ) from error


def _result(url: str, status: int, data: bytes) -> Any:
    if status != 200:
        said = "".join(c for c in data[:2000].decode("utf-8", "replace") if c.isprintable())
        raise ServiceError(f"the KG server refused ({url}: HTTP {status}): {said[:300]}")
    try:
        found: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ServiceError(f"the KG server's answer is not JSON ({error}).") from error
    if not isinstance(found, dict) or "result" not in found:
        raise ServiceError("the KG server's answer has no 'result': is it CRAG's mock API?")
    return found["result"]
