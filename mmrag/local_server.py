"""Reserve a free port before its URL is printed, and say who is answered there."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Any
from urllib.parse import urlsplit

from mmrag.errors import ConflictError, UsageError


def listen(host: str, port: int) -> socket.socket:
    """Listen at a host and port; port 0 takes a free one."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{host!r} is not an address of this machine ({error}); give one by --host, "
            "127.0.0.1 for this machine alone."
        ) from error
    # of a name with both kinds, the one that every client tries
    family, _, _, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    try:
        return socket.create_server(place, family=family, backlog=2048)  # type: ignore[arg-type]
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise ConflictError(
            f"cannot listen at {host}, port {port} ({why}); "
            "choose another --port (0 takes a free one) or --host."
        ) from error


def address(at: socket.socket, host: str) -> str:
    """Where browsers find what listens there under that name of its host."""
    return f"http://{host_in_address(host)}:{at.getsockname()[1]}"


def host_in_address(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def serve(app: Any, at: socket.socket, **options: Any) -> None:
    """Answer there by an ASGI application until interrupted; `options` are uvicorn's."""
    import uvicorn

    # open pages keep a stream each, which would be waited for
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3, **options)
    with _ending_in_order(), contextlib.suppress(KeyboardInterrupt):  # raised again at the end
        uvicorn.Server(config).run(sockets=[at])


LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names by which this machine calls itself."""


class AllowedHostsOnly:
    """Around an ASGI application: it answers to loopback names and `hosts`, and to no other.

    A page elsewhere could otherwise have its own name resolve to this machine and read what the
    visitor's browser may (DNS rebinding): to the browser the answers are that page's own.
    """

    def __init__(self, app: Any, hosts: Sequence[str] = ()) -> None:
        from starlette.middleware.trustedhost import TrustedHostMiddleware

        allowed = [*LOOPBACK, *(host_in_address(host).lower() for host in hosts)]
        self._app = TrustedHostMiddleware(app, allowed_hosts=allowed, www_redirect=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse with 400."""
        await self._app(scope, receive, send)


class SameOriginOnly:
    """Around an ASGI application: what changes or costs something is not done for pages elsewhere.

    Any page can make a browser send a form to any address, this machine's included. It cannot read
    the answer, but an upload would lie here. Browsers say where a request comes from; programs
    say nothing, and are answered.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse before anything of the body is read."""
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD", "OPTIONS")
        if scope["type"] in ("http", "websocket") and not reads:
            said = {key: value.decode("latin-1") for key, value in scope["headers"]}
            if _is_foreign(said) and scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            if _is_foreign(said):
                await send({"type": "http.response.start", "status": 403, "headers": []})
                await send({"type": "http.response.body", "body": b"asked by a page elsewhere"})
                return
        await self._app(scope, receive, send)


def _is_foreign(headers: dict[bytes, str]) -> bool:
    if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get(b"origin")
    try:
        return origin is not None and urlsplit(origin).netloc != headers.get(b"host")
    except ValueError:
        return True


@contextlib.contextmanager
def _ending_in_order() -> Generator[None]:
    """Let a process that is told to end do so as if by itself: temporary files go."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    def hang_up(_number: int, _frame: object) -> None:
        signal.raise_signal(signal.SIGTERM)  # which the server takes for its orderly end

    handlers = {signal.SIGTERM: leave, signal.SIGHUP: hang_up}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
