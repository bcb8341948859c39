"""What pages elsewhere and strangers can make the servers do: nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from ui_parts import Server, picture

from mmrag.local_server import SameOriginOnly

FOREIGN: list[dict[str, str]] = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://[broken"},
]


def upload(url: str, **headers: str) -> httpx.Response:
    files = {"files": ("a.jpg", picture(0), "image/jpeg")}
    return httpx.post(f"{url}/gradio_api/upload", files=files, headers=headers)


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_elsewhere_cannot_upload(server: Server, headers: dict[str, str]) -> None:
    """A form can be sent to any address; a browser says from where it comes."""
    assert upload(server.url, **headers).status_code == 403
    for path in ("queue/join", "run/predict", "cancel"):
        body = json.dumps({"data": []})
        asked = httpx.post(f"{server.url}/gradio_api/{path}", content=body, headers=headers)
        assert asked.status_code == 403


@pytest.mark.parametrize("headers", [{}, {"Origin": "{url}"}, {"Sec-Fetch-Site": "same-origin"}])
def test_its_own_pages_and_programs_can(server: Server, headers: dict[str, str]) -> None:
    said = {key: value.format(url=server.url) for key, value in headers.items()}
    assert upload(server.url, **said).status_code == 200


@pytest.mark.parametrize("path", ["/openapi.json", "/gradio_api/openapi.json", "/docs", "/redoc"])
def test_nobody_is_told_what_can_be_called(server: Server, path: str) -> None:
    assert httpx.get(server.url + path).status_code == 404


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_elsewhere_cannot_ask_other_servers_of_ours(headers: dict[str, str]) -> None:
    asked: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"found"})

    client = TestClient(SameOriginOnly(app))
    assert client.post("/search/text", headers=headers).status_code == 403
    assert asked == []
    assert client.post("/search/text").status_code == 200
    assert client.get("/health", headers=headers).status_code == 200


SERVER = """
from starlette.applications import Starlette
from mmrag.local_server import listen, serve
from ui.views.lab_view import DownloadCache

packages, at = DownloadCache(), listen("127.0.0.1", 0)
print(packages.folder, at.getsockname()[1], flush=True)
serve(Starlette(), at)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_labs_files_go_when_the_app_is_ended(tmp_path: Path, ending: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        place, port = child.stdout.readline().split()
        folder = Path(place)
        assert folder.is_dir()
        for _ in range(200):  # until it answers
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/")
                break
            time.sleep(0.05)
        assert folder.is_relative_to(tmp_path)
        child.send_signal(ending)
        try:
            child.wait(20)
        finally:
            child.kill()
    assert list(tmp_path.iterdir()) == []
