"""A server on loopback that answers as a test says, and keeps what it was asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Answering:
    """`answer` is a body, or a status and a body, or a status, headers and a body; or a function
    of what was asked that gives one of them."""

    url = ""

    def __init__(self, answer: Any = b"") -> None:
        self.answer = answer
        self.asked: list[Asked] = []

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        self.asked.append(Asked(handler.path, handler.headers, body))
        answer = self.answer
        said: Any = answer(self.asked[-1]) if isinstance(answer, Callable) else answer
        status, *headers, data = (200, said) if isinstance(said, bytes) else said
        handler.send_response(status)
        for name, value in {"content-length": str(len(data)), **dict(*headers)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)


@contextlib.contextmanager
def answering(answer: Any = b"") -> Iterator[Answering]:
    """Serve until the block ends; nobody who hangs is waited for."""
    made = Answering(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(OSError):
                made.respond(self)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        made.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield made
        finally:
            server.shutdown()
