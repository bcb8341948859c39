"""A tool of an MCP server (streamable HTTP) that takes a text and gives passages."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import msgspec

from mmrag.errors import Denied, MmragError, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.optional_packages import require_package
from mmrag.records import Evidence
from mmrag.registry import parse_whole_number
from mmrag.search.external import TOKEN, evidence, fingerprint_of, headers, parse_where

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")

MOST_BYTES = 4 << 20
"""Of one answer: many times what fifty passages take."""

_AROUND = ("result", "results", "hits", "documents")
_SILENT = logging.NullHandler()  # the SDK logs what it raises as well


class McpSearch:
    """Each call connects anew, so that a server may be started again during a run."""

    def __init__(
        self, url: str, tool: str, argument: str, count: str, where: str, seconds: int
    ) -> None:
        import httpx2

        logging.getLogger("mcp").addHandler(_SILENT)
        self._url, self._tool, self._argument, self._seconds = url, tool, argument, seconds
        self._more = parse_where(where)
        self._tls = httpx2.create_ssl_context()  # takes longer than a search
        takes = self._connected(self._arguments, seconds)
        unknown = sorted({argument, count, *self._more} - {"k", *takes})
        if unknown:
            raise SpecError(f"mcp: {tool} takes {_line(', '.join(takes)) or 'nothing'}, and no "
                            f"{', '.join(unknown)}; see argument=, count= and where=.")  # fmt: skip
        self._count = count if count in takes else ""
        self.fingerprint = fingerprint_of("mcp", url, tool, argument, where)

    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        """What the tool gives for each query, in its order."""

        async def ask(client: Client) -> list[tuple[Evidence, ...]]:
            return [await self._hits(client, query, k) for query in queries]

        return self._connected(ask, self._seconds * len(queries)) if queries else []

    async def _hits(self, client: Client, query: str, k: int) -> tuple[Evidence, ...]:
        number = {self._count: k} if self._count else {}
        said = await client.call_tool(self._tool, {**self._more, **number, self._argument: query})
        texts = [block.text for block in said.content if block.type == "text"]
        if said.is_error:
            raise ServiceError(f"{self._url}: {_line(' '.join(texts)) or 'the tool failed.'}")
        for found in (said.structured_content, texts):
            hits = [hit for hit in map(evidence, _rows(found)) if hit.text or hit.title or hit.url]
            if hits:
                return tuple(hits[:k])
        return ()

    async def _arguments(self, client: Client) -> list[str]:
        listed = await client.list_tools()
        tools = listed.tools
        while listed.next_cursor:
            listed = await client.list_tools(cursor=listed.next_cursor)
            tools += listed.tools
        for tool in tools:
            if tool.name == self._tool:
                return list(tool.input_schema.get("properties", {}))
        names = _line(", ".join(tool.name for tool in tools)) or "none"
        raise SpecError(f"mcp: {self._url} has no tool {self._tool}; it has {names}.")

    def _connected(self, ask: Callable[[Client], Awaitable[T]], seconds: int) -> T:
        import anyio
        import httpx2

        try:
            with ThreadPoolExecutor(1, thread_name_prefix="mcp") as thread:  # may be in a loop
                return thread.submit(anyio.run, self._ask, ask, seconds).result()
        except Exception as error:
            cause: BaseException = error
            while isinstance(cause, BaseExceptionGroup):
                cause = cause.exceptions[0]
            if isinstance(cause, MmragError):
                raise cause from None
            kind, said = type(cause).__name__, _line(str(cause))
            if isinstance(cause, httpx2.HTTPError | httpx2.InvalidURL):
                raise Unavailable(f"{self._url} cannot be reached ({kind}).") from error
            raise ServiceError(f"{self._url} did not answer by MCP ({kind}: {said}).") from error

    async def _ask(self, ask: Callable[[Client], Awaitable[T]], seconds: int) -> T:
        import anyio
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        url, refused = self._url, list[ServiceError]()

        def refuse(error: ServiceError) -> NoReturn:
            refused.append(error)
            scope.cancel()  # the SDK might ask again
            raise error

        class Counted(httpx2.AsyncByteStream):
            def __init__(self, stream: Any) -> None:
                self._stream = stream

            async def __aiter__(self) -> AsyncIterator[bytes]:
                left = MOST_BYTES
                async for piece in self._stream:
                    left -= len(piece)
                    if left < 0:
                        refuse(ServiceError(f"{url} answered over {MOST_BYTES:,} bytes."))
                    yield piece

            async def aclose(self) -> None:
                await self._stream.aclose()

        async def check(answer: httpx2.Response) -> None:
            if answer.status_code in (401, 403):
                refuse(Denied(f"{url} lets nobody in with this token; set {TOKEN}."))
            if answer.headers.get("content-encoding", "identity") != "identity":
                refuse(ServiceError(f"{url} packs its answer though asked for a plain one."))
            answer.stream = Counted(answer.stream)

        with anyio.move_on_after(seconds) as scope:
            async with (
                httpx2.AsyncClient(headers=headers(), timeout=None, verify=self._tls,
                                   event_hooks={"response": [check]}) as http,
                Client(streamable_http_client(url, http_client=http,
                                              max_sse_event_size=None)) as client,
            ):  # fmt: skip
                return await ask(client)
        if refused:
            raise refused[0]
        raise ServiceTimeout(f"{url} did not answer within {seconds} s; raise seconds=.")


def _rows(found: Any) -> list[dict[str, Any]]:
    """Passages in lists, in objects around lists, and in the JSON of texts; else a text is one."""
    if isinstance(found, list):
        return [row for one in cast("list[Any]", found) for row in _rows(one)]
    if isinstance(found, dict):
        held = cast("dict[str, Any]", found)
        inner = next((name for name in _AROUND if name in held), None)
        return _rows(held[inner]) if inner else [held]
    if isinstance(found, str) and found.startswith(("[", "{")):
        with contextlib.suppress(msgspec.DecodeError):
            return _rows(msgspec.json.decode(found))
    return [] if found is None else [{"text": found}]


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def make(
    *, url: str, tool: str, argument: str = "query", count: str = "k", where: str = "",
    seconds: str = "30",
) -> McpSearch:  # fmt: skip
    """url=http://HOST/mcp, tool=NAME; the names of its arguments for the text, argument=, and for
    the number, count=; further ones by where=(name=value). A token is MMRAG_SEARCH_TOKEN."""
    require_package("mcp", "mcp", "a search by MCP")
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"mcp: url={url[:80]}: write http://host/mcp.")
    return McpSearch(
        url, tool, argument, count, where, parse_whole_number("mcp", "seconds", seconds)
    )
