"""A chat-completions server that misbehaves on request. Loopback only."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

GOOD = {
    "model": "fake-1",
    "choices": [
        {
            "message": {"role": "assistant", "content": "Blue."},
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "Blue", "logprob": -0.1}]},
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2},
}


PROBE = "Reply with one word: ready"


class FaultyServer:
    """Plays a script of faults, then behaves. Remembers bodies and headers of every request."""

    def __init__(self) -> None:
        self.script: list[str] = []
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.running = self.most = self.connections = 0
        self.capacity = 10_000
        self.reply: dict = GOOD
        self.complaint = "no"
        """What a refusal says, besides the key that it echoes."""
        self.greets = True
        """Whether the question before a run's first turn is answered, whatever the script says."""
        self.wants_key = ""
        """The only key that is let in; empty: everybody is."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                with server.lock:
                    server.connections += 1
                super().setup()

            def do_POST(self) -> None:
                server.serve(self)

            def log_message(self, *_args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        if self.greets and PROBE in json.dumps(json.loads(body)["messages"][-1]):
            self._answer(handler, "", GOOD)
            return
        with self.lock:
            self.bodies.append(json.loads(body))
            self.headers.append(dict(handler.headers))
            fault = self.script.pop(0) if self.script else ""
            self.running += 1
            self.most = max(self.most, self.running)
            if not fault and self.running > self.capacity:
                fault = "429"
            if self.wants_key and self._key(handler).decode() != self.wants_key:
                fault = "401"
        try:
            if not fault:
                threading.Event().wait(0.01)
            self._answer(handler, fault)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with self.lock:
                self.running -= 1

    def _answer(
        self, handler: BaseHTTPRequestHandler, fault: str, reply: dict | None = None
    ) -> None:
        code, _, extra = fault.partition(" ")
        if code == "stream":
            self._stream(handler)
            return
        if code.isdigit():
            said = f"{self.complaint}: Bearer {self._key(handler).decode()}"
            data = json.dumps({"error": {"message": said}}).encode()
            handler.send_response(int(code))
            if extra:
                handler.send_header("retry-after", extra)
        else:
            data = b"{not json" if code == "malformed" else json.dumps(reply or self.reply).encode()
            if code == "hang":
                self.over.wait()
            if code == "slow":
                threading.Event().wait(3.0)
            if code == "huge":
                data = b" " * (9 << 20)
            handler.send_response(200)
        handler.send_header("content-length", str(len(data) + (50 if code == "drop" else 0)))
        handler.end_headers()
        handler.wfile.write(data[:20] if code == "drop" else data)
        if code == "drop":
            handler.close_connection = True

    @staticmethod
    def _stream(handler: BaseHTTPRequestHandler) -> None:
        """Chunks, of which the empty one that ends the body comes on its own."""
        piece = {"choices": [{"delta": {"content": "Blue."}, "finish_reason": "stop"}]}
        data = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode()
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for chunk in (data, b""):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    @staticmethod
    def _key(handler: BaseHTTPRequestHandler) -> bytes:
        return handler.headers.get("authorization", "").removeprefix("Bearer ").encode()


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    made = FaultyServer()
    yield made
    made.close()
