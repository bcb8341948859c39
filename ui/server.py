"""The web server: pictures and sounds of the opened runs beside the Gradio pages, and no more."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmrag.errors import MmragError
from mmrag.files.images import media_type
from mmrag.local_server import AllowedHostsOnly, SameOriginOnly
from ui.replay.kg_thumbnails import LIVE, KgThumbnails

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ui.pages.app import LiveSetup
    from ui.replay.conversation_list import ConversationList

_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
_AN_HOUR = {"Cache-Control": "private, max-age=3600"}
"""For what is asked for by a name: another world may have another picture under it."""

# Nothing may be loaded from elsewhere; Gradio needs inline scripts and styles of its own. It talks
# to its server by requests and event streams, so no web socket is allowed.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; frame-ancestors 'self'"
)


# A run's folder may come from anybody, so its report is shown without scripts and as a page of no
# origin: it can be read and its links followed, and it can ask this server for nothing.
_READ = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def make_server(
    runs: MutableMapping[str, ConversationList], live: LiveSetup, hosts: Sequence[str] = ()
) -> FastAPI:
    """The whole app over these runs, answering to loopback names and `hosts` only."""
    from fastapi import FastAPI, Request, Response
    from gradio import mount_gradio_app

    from ui.page_frame import page_frame
    from ui.pages.app import build

    server = FastAPI(title="mmrag", docs_url=None, redoc_url=None, openapi_url=None)

    @server.middleware("http")
    async def headers(request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        if request.url.path == "/" and "text/html" in response.headers.get("content-type", ""):
            response = await _framed(response)
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        return response

    server.add_middleware(AllowedHostsOnly, hosts=hosts)
    server.add_middleware(SameOriginOnly)
    thumbnails, world = Thumbnails(), KgThumbnails({"data": live.data})

    @server.get("/openapi.json")
    @server.get("/gradio_api/openapi.json")
    def schema() -> Response:
        return Response(status_code=404)  # Gradio's, which tells everybody what can be called

    @server.get("/picture/{run}/{digest}")
    def picture(run: str, digest: str) -> Response:
        return _answer(lambda: _picture(runs, run, digest), _FOREVER)

    @server.get("/thumbnail/{run}")
    def thumbnail(run: str, of: str) -> Response:
        return _answer(
            lambda: thumbnails.of(world.picture(of) if run == LIVE else runs[run].thumbnail(of)),
            _AN_HOUR,
        )

    @server.get("/report/{run}")
    def report(run: str) -> Response:
        try:
            page = report_page(runs[run].run.folder)
        except (MmragError, OSError, KeyError):
            return Response(status_code=404)
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": _READ})

    async def _framed(response: Any) -> Response:
        """Gradio's page with ours around it."""
        page = b"".join([part async for part in response.body_iterator])
        kept = {k: v for k, v in response.headers.items() if k.lower() != "content-length"}
        framed = page.replace(b"<gradio-app", page_frame().encode() + b"<gradio-app", 1)
        return Response(framed, response.status_code, kept)

    def _answer(load: Any, keep: dict[str, str]) -> Response:
        try:
            data = load()
        except (MmragError, OSError, KeyError, ValueError):
            return Response(status_code=404)
        kind = "audio/wav" if data[8:12] == b"WAVE" else media_type(data)
        if not kind:  # whatever it is, it is no picture that a browser should open
            return Response(status_code=404)
        return Response(data, media_type=kind, headers=keep)

    return mount_gradio_app(
        server,
        build(runs, live),
        path="/",
        show_error=False,
        max_file_size=20 * 1024 * 1024,
        footer_links=[],
        ssr_mode=False,
    )


class Thumbnails:
    """Pictures made small, the latest of them kept. Known by a hash, so no original is held."""

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, data: bytes) -> bytes:
        """The small picture of these encoded bytes."""
        key = hashlib.sha256(data).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        small = _small(data)
        with self._lock:
            self._kept[key] = small
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return small


def report_page(folder: Path) -> str:
    """A run's report as a page of the app: its links to replays lead to here, wherever this is."""
    from simulator.reports.draw.write import APP

    page = (folder / "report" / "report.html").read_text("utf-8", errors="replace")
    return page.replace(f'href="{APP}/?', 'href="/?')


def _picture(runs: MutableMapping[str, ConversationList], run: str, digest: str) -> bytes:
    return runs[run].run.images.path(digest).read_bytes()


def _small(data: bytes) -> bytes:
    from mmrag.files.images import decode, jpeg

    return jpeg(decode(data), 85, side=192)
