"""Tools of real MCP servers as searches: our own, another's, and those that misbehave."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from answering import answering

from mmrag.errors import Denied, MmragError, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.local_server import address, listen
from mmrag.search.external import searches

pytest.importorskip("mcp")
KETTLE = {"text": "The kettle is made by Veldt.", "page_name": "Kettle", "page_url": "u/1"}


@contextmanager
def serving(server: Any) -> Generator[str]:
    at = listen("127.0.0.1", 0)
    app = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical"))
    thread = threading.Thread(target=app.run, kwargs={"sockets": [at]})
    thread.start()
    try:
        yield address(at, "127.0.0.1") + "/mcp"
    finally:
        app.should_exit = app.force_exit = True
        thread.join()
        at.close()


@pytest.fixture(scope="module")
def theirs() -> Iterator[str]:
    from mcp.server import MCPServer

    server = MCPServer("theirs", log_level="CRITICAL")

    @server.tool()
    def find(question: str, limit: int = 5, lang: str = "en") -> list[dict[str, Any]]:
        return [{**KETTLE, "id": i, "score": 1 / (i + 1), "date": f"{question} {lang}"}
                for i in range(limit)]  # fmt: skip

    @server.tool()
    def wrapped(question: str) -> dict[str, Any]:
        return {"took": 3, "results": [KETTLE, {"id": "lamp", "content": "The lamp."}]}

    @server.tool(structured_output=False)
    def texts(question: str) -> list[str]:
        return ["[1] One passage.", "Another."]

    @server.tool()
    def written(question: str) -> str:
        return json.dumps([KETTLE])

    @server.tool()
    def nothing(question: str) -> None: ...

    @server.tool()
    def raises(question: str) -> str:
        raise ValueError("no such collection\nat line 3")

    @server.tool()
    async def hangs(question: str) -> str:
        await asyncio.sleep(600)
        return ""

    @server.tool()
    def endless(question: str) -> str:
        return "x" * 10_000_000

    @server.tool()
    def deep(question: str) -> str:
        return "[" * 100_000

    with serving(server) as url:
        yield url


def test_arguments_are_called_as_the_tool_calls_them(theirs: str) -> None:
    spec = f"mcp:url={theirs},tool=find,argument=question,count=limit"
    search = searches.create(f"{spec},where=(lang=fr)")
    first, second = search.search_text(["a", "b"], k=2)
    assert [(a.id, a.score, a.date) for a in first] == [("0", 1, "a fr"), ("1", 0.5, "a fr")]
    assert (first[0].text, first[0].title, first[0].url) == (KETTLE["text"], "Kettle", "u/1")
    assert second[0].date == "b fr"
    assert search.fingerprint != searches.create(spec).fingerprint


@pytest.mark.parametrize(
    ("tool", "texts"),
    [
        ("wrapped", [KETTLE["text"], "The lamp."]), ("texts", ["[1] One passage.", "Another."]),
        ("written", [KETTLE["text"]]), ("nothing", []),
    ],
)  # fmt: skip
def test_passages_are_found_in_what_a_tool_gives(theirs: str, tool: str, texts: list[str]) -> None:
    search = searches.create(f"mcp:url={theirs},tool={tool},argument=question")
    hits = search.search_text(["kettle"])[0]
    assert ([hit.text for hit in hits], len({hit.id for hit in hits})) == (texts, len(hits))
    assert search.search_text(["kettle"], 1)[0] == hits[:1]

    async def in_a_loop() -> Any:
        return search.search_text(["kettle"])

    assert asyncio.run(in_a_loop()) == [hits]


def refusal(spec: str) -> MmragError:
    with pytest.raises(MmragError) as raised:
        searches.create(spec).search_text(["kettle"])
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400
    return raised.value


@pytest.mark.parametrize(
    ("tool", "kind", "says"),
    [
        ("missing", SpecError, "has no tool missing; it has find, wrapped"),
        ("find,count=many", SpecError, "find takes question, limit, lang, and no many"),
        ("find,where=(kind=x)", SpecError, "and no kind"), ("raises", ServiceError, "raises"),
        ("hangs,seconds=1", ServiceTimeout, "within 1 s; raise seconds="),
        ("endless", ServiceError, "over 4,194,304 bytes"), ("deep", ServiceError, "RecursionError")
    ]
)  # fmt: skip
def test_a_tool_that_misbehaves_is_one_line(
    theirs: str, tool: str, kind: type[MmragError], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    error = refusal(f"mcp:url={theirs},argument=question,tool={tool}")
    assert type(error) is kind
    assert says in str(error)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (401, {}, b"", Denied),
        (500, {}, b"", ServiceError),
        (200, {"content-type": "application/json"}, b"[]", ServiceError),
        (200, {"content-type": "application/json", "content-encoding": "gzip"}, b"", ServiceError),
        (200, {"content-type": "text/html"}, b"<html>", ServiceError),
        (307, {"location": "OTHER"}, b"", ServiceError),
    ],
)
def test_an_address_that_is_no_mcp_server_is_one_line(
    theirs: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    status: int, headers: dict[str, str], body: bytes, kind: type[MmragError],
) -> None:  # fmt: skip
    monkeypatch.setenv("MMRAG_SEARCH_TOKEN", "secret")
    there = {name: value.replace("OTHER", theirs) for name, value in headers.items()}
    with answering((status, there, body)) as server:
        error = refusal(f"mcp:url={server.url}/mcp,tool=find")
    assert type(error) is kind
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer secret"}
    assert "secret" not in str(error)
    assert capfd.readouterr() == ("", "")


def test_nobody_and_no_address_are_one_line() -> None:
    assert type(refusal("mcp:url=http://127.0.0.1:9/mcp,tool=find")) is Unavailable
    assert type(refusal("mcp:url=ftp://a/mcp,tool=find")) is SpecError
    assert type(refusal("mcp:url=http://a/mcp,tool=find,seconds=soon")) is SpecError
