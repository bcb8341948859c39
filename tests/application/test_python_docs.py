"""docs/python.md: every example runs as it stands, and every public name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simulator
from simulator.run.run_config import RunConfig

DOCS = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
README = (Path(__file__).parents[2] / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCS, re.S)


def test_every_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "notebook"}
    for number, example in enumerate(EXAMPLES):
        exec(compile(example, f"example {number}", "exec"), names)
    assert Path("report/report.html").is_file()
    said = capsys.readouterr().out
    assert "mini-my_agent-1" in said
    assert "'no-such-folder' is not a data set" in said
    assert "| truthfulness |" in said


def test_the_readme_s_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(example, "README", "exec"), {"__name__": "notebook"})
    assert Path("report/report.html").is_file()


NAMED = {"agent", "data", "degrade", "limit", "judge", "search"}
"""Settings that `evaluate` has as parameters of their own."""


def test_every_public_name_and_setting_is_told() -> None:
    listed = DOCS.partition("no others are public:")[2].partition(". The import")[0]
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(simulator.__all__)
    for name in simulator.__all__:
        assert any(re.search(rf"\b{name}\b", example) for example in EXAMPLES) or name in (
            "Run", "Scores", "Comparison", "Measured",
        ), name  # fmt: skip
    told = DOCS.partition("The other settings:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", told)) >= set(RunConfig.__struct_fields__) - NAMED
