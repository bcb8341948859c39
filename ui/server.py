"""The web server: pictures of the opened runs beside the Gradio pages, and nothing else."""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmrag.errors import MmragError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ui.catalogue import Catalogue
    from ui.pages.app import LiveSetup

_STATIC = Path(__file__).parent / "static"
_TYPES = {b"\xff\xd8": "image/jpeg", b"\x89P": "image/png", b"RI": "image/webp", b"GI": "image/gif"}
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}

# Nothing may be loaded from elsewhere; Gradio needs inline scripts and styles of its own.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "font-src 'self' data:; connect-src 'self' ws: wss: data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; frame-ancestors 'self'"
)


def make_server(runs: dict[str, Catalogue], live: LiveSetup) -> FastAPI:
    """The whole app over these runs."""
    from fastapi import FastAPI, Request, Response
    from gradio import mount_gradio_app

    from ui.pages.app import build, head, theme

    server = FastAPI(title="mmrag", docs_url=None, redoc_url=None, openapi_url=None)

    @server.middleware("http")
    async def headers(request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        return response

    @server.get("/picture/{run}/{digest}")
    def picture(run: str, digest: str) -> Response:
        return _answer(lambda: _picture(runs, run, digest))

    @server.get("/thumbnail/{run}")
    def thumbnail(run: str, of: str) -> Response:
        return _answer(lambda: _thumbnail(runs, run, of))

    def _answer(load: Any) -> Response:
        try:
            data = load()
        except (MmragError, OSError, KeyError, ValueError):
            return Response(status_code=404)
        kind = _TYPES.get(data[:2])
        if kind is None:  # whatever it is, it is no picture that a browser should open
            return Response(status_code=404)
        return Response(data, media_type=kind, headers=_FOREVER)

    return mount_gradio_app(
        server,
        build(runs, live),
        path="/",
        theme=theme(),
        css=(_STATIC / "ui.css").read_text(),
        head=head((_STATIC / "ui.js").read_text()),
        show_error=False,
        max_file_size=20 * 1024 * 1024,
        footer_links=[],
        ssr_mode=False,
    )


def free_port(host: str) -> int:
    """A port that nobody uses at the moment."""
    import socket

    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _picture(runs: dict[str, Catalogue], run: str, digest: str) -> bytes:
    return runs[run].run.images.path(digest).read_bytes()


@lru_cache(maxsize=512)
def _small(data: bytes) -> bytes:
    from mmrag.images import decode

    image = decode(data).copy()
    image.thumbnail((192, 192))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def _thumbnail(runs: dict[str, Catalogue], run: str, item: str) -> bytes:
    return _small(runs[run].thumbnail(item))
