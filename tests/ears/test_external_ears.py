"""Voices and ears from outside, real programs and a real server."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from simulator.ears.tones import ToneVoice
from simulator.ears.voice_and_ear import ears, voices

SOUND = ToneVoice().say("any milk in this jar?")


def program(folder: Path, code: str) -> str:
    path = folder / "program.py"
    path.write_text(f"import sys, time, os\ngiven = sys.stdin.buffer.read()\n{code}\n")
    return f"command:run={sys.executable} {path}"


def test_a_program_hears(tmp_path: Path) -> None:
    bare = ears.create(program(tmp_path, "print(len(given), given[:4].decode())"))
    assert bare.hear(SOUND).text == f"{len(SOUND.wav)} RIFF"
    said = """print('{"text": " any milk ", "confidence": 0.5}')"""
    found = ears.create(program(tmp_path, said)).hear(SOUND)
    assert (found.text, found.confidence) == ("any milk", 0.5)


def test_a_program_says(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(SOUND.wav)
    code = f"sys.stdout.buffer.write(open({str(tmp_path / 'a.wav')!r}, 'rb').read())"
    assert voices.create(program(tmp_path, code)).say("x").wav == SOUND.wav


@pytest.mark.parametrize(
    ("code", "error", "why"),
    [
        ("time.sleep(60)", ServiceTimeout, "within 1 s"),
        ("os.close(1); time.sleep(60)", ServiceTimeout, "within 1 s"),
        ("print('x' * 100_000); time.sleep(60)", ServiceError, "more than"),
        ("sys.exit(3)", ServiceError, "code 3"),
        ("print('{\"words\": 1}')", ServiceError, "an answer is"),
    ],
)
def test_a_program_that_misbehaves_is_stopped(tmp_path: Path, code, error, why) -> None:
    with pytest.raises(error, match=why):
        ears.create(program(tmp_path, code) + ",seconds=1").hear(SOUND)


def test_a_program_that_is_not_there() -> None:
    for run in ("no-such-program-here", "'", "  "):
        for parts in (ears, voices):
            with pytest.raises(SpecError, match="command:run=") as caught:
                parts.create(f"command:run={run}")
            assert "\n" not in str(caught.value)


def test_a_program_that_is_gone_since(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    ear = ears.create(f"command:run={path}")
    path.unlink()
    with pytest.raises(Unavailable, match="cannot be started"):
        ear.hear(SOUND)


class Server(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[str, str, bytes]]] = []
    answer: tuple[int, bytes] = (200, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.asked.append((self.path, self.headers.get("authorization", ""), body))
        self.send_response(self.answer[0])
        self.end_headers()
        self.wfile.write(self.answer[1])

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[str]:
    Server.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"openai:name=w1,base_url=http://127.0.0.1:{server.server_port}/v1,key_env=EARS_KEY"
        server.shutdown()
        thread.join()


def test_an_endpoint_is_asked_in_openais_way(endpoint, monkeypatch) -> None:
    monkeypatch.setenv("EARS_KEY", "k1")
    Server.answer = (200, json.dumps({"text": " any milk? "}).encode())
    ear = ears.create(endpoint)
    assert ear.hear(SOUND).text == "any milk?"
    ((path, key, body),) = Server.asked
    assert (path, key) == ("/v1/audio/transcriptions", "Bearer k1")
    assert SOUND.wav in body
    assert b'name="model"\r\n\r\nw1' in body
    assert "k1" not in ear.id


@pytest.mark.parametrize(
    ("code", "body", "error"),
    [
        (401, b"", Denied),
        (500, b"", ServiceError),
        (200, b"<html>", ServiceError),
        (200, b'{"text": "' + b"x" * 100_000 + b'"}', ServiceError),
    ],
)
def test_an_endpoint_that_fails(endpoint, code, body, error) -> None:
    Server.answer = (code, body)
    with pytest.raises(error):
        ears.create(endpoint).hear(SOUND)


def test_an_endpoint_that_is_not_there() -> None:
    with pytest.raises(ServiceError, match="is it running"):
        ears.create("openai:name=w,base_url=http://127.0.0.1:9/v1").hear(SOUND)
    with pytest.raises(SpecError, match="http"):
        ears.create("openai:name=w,base_url=ftp://x")
