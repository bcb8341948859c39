"""Servers that misbehave, each under a path of its own: as an agent over HTTP and as a model."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Generator

RIGHT, WRONG = ("answered", "abstained"), ("agent_error", "timeout")

MODES: dict[str, tuple[str, ...]] = {
    "right": RIGHT, "hangs": WRONG, "closes": WRONG, "resets": WRONG, "halfhead": WRONG,
    "halfbody": WRONG, "drips": WRONG, "floods": WRONG, "noise": WRONG, "http9": WRONG,
    "manyheads": WRONG, "longhead": WRONG, "e404": WRONG, "e500": WRONG, "e503": WRONG,
    "e429": WRONG, "e401": WRONG, "round": WRONG, "elsewhere": WRONG, "html": WRONG,
    "empty": WRONG, "null": WRONG, "list": WRONG, "number": WRONG, "deep": WRONG,
    "badgzip": WRONG, "bomb": WRONG, "badchunk": WRONG, "lying": WRONG, "binary": WRONG,
    "surrogate": WRONG,
}  # fmt: skip
"""Mode → what its turns may be."""


@contextlib.contextmanager
def served() -> Generator[str]:
    """Serve all modes; yields the URL before `/MODE`."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            self.request.settimeout(20)
            path = self._read()
            _ACT.get(path.split("/")[1], _body)(self.request, path)

    def _read(self) -> str:
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.request.recv(1 << 16)
            if not part:
                raise OSError
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            part = self.request.recv(1 << 16)
            if not part:
                raise OSError
            body += part
        return head.split()[1].decode()


def _respond(peer: socket.socket, body: bytes, *more: str, status: str = "200 OK") -> None:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *more]
    peer.sendall("\r\n".join([*lines, "", ""]).encode() + body)


def _body(peer: socket.socket, path: str) -> None:
    mode = path.split("/")[1]
    as_model = path.endswith("/chat/completions")
    right = {"choices": [{"message": {"content": "fine"}}]} if as_model else {"text": "fine"}
    bodies = {
        "right": json.dumps(right).encode(), "html": b"<html>It works</html>", "empty": b"",
        "null": b"null", "list": b"[]", "number": b"7", "deep": b"[" * 500_000,
        "binary": bytes(range(256)), "surrogate": b'{"text": 5, "x": "\\ud800"}',
    }  # fmt: skip
    if mode[1:].isdigit():
        return _respond(peer, b"{}", "retry-after: 100000", status=f"{mode[1:]} No")
    return _respond(peer, bodies[mode])


def _forever(peer: socket.socket, part: bytes, pause: float) -> None:
    until = time.monotonic() + 15
    while time.monotonic() < until:
        peer.sendall(part)
        time.sleep(pause)


_OK = b"HTTP/1.1 200 OK\r\n"

_ACT = {
    "hangs": lambda peer, _: time.sleep(15),
    "closes": lambda peer, _: None,
    "resets": lambda peer, _: peer.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    ),
    "halfhead": lambda peer, _: peer.sendall(b"HTTP/1.1 20"),
    "halfbody": lambda peer, _: peer.sendall(_OK + b'content-length: 99\r\n\r\n{"text": "fi'),
    "drips": lambda peer, _: (peer.sendall(_OK + b"\r\n"), _forever(peer, b" ", 0.05)),
    "floods": lambda peer, _: (peer.sendall(_OK + b"\r\n"), _forever(peer, b"x" * 65536, 0)),
    "noise": lambda peer, _: peer.sendall(bytes(range(256)) * 10),
    "http9": lambda peer, _: peer.sendall(b"HTTP/9.9 999 Odd\r\n\r\n"),
    "manyheads": lambda peer, _: peer.sendall(_OK + b"a: b\r\n" * 100_000 + b"\r\n"),
    "longhead": lambda peer, _: peer.sendall(_OK + b"a: " + b"b" * 5_000_000 + b"\r\n\r\n"),
    "round": lambda peer, path: _respond(peer, b"", f"location: {path}", status="307 Again"),
    "elsewhere": lambda peer, _: _respond(
        peer, b"", "location: file:///etc/passwd", status="302 There"
    ),
    "badgzip": lambda peer, _: _respond(peer, b"no gzip", "content-encoding: gzip"),
    "bomb": lambda peer, _: _respond(
        peer, gzip.compress(bytes(200_000_000), 1), "content-encoding: gzip"
    ),
    "badchunk": lambda peer, _: peer.sendall(
        _OK + b"transfer-encoding: chunked\r\n\r\nzz\r\nfine\r\n"
    ),
    "lying": lambda peer, _: peer.sendall(_OK + b"content-length: -5\r\n\r\n{}"),
}
