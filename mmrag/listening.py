"""A place to listen at, had before anybody is told of it."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

from mmrag.errors import ConflictError, UsageError


def listen(host: str, port: int) -> socket.socket:
    """Listen at a host and port; port 0 takes a free one."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{host!r} is no address of this machine ({error}); give one by --host, "
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
    return f"http://{named(host)}:{at.getsockname()[1]}"


def named(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def serve(app: Any, at: socket.socket, **options: Any) -> None:
    """Answer there by an ASGI application until interrupted; `options` are uvicorn's."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", **options))
    with contextlib.suppress(KeyboardInterrupt):  # raised again after an orderly end
        server.run(sockets=[at])
