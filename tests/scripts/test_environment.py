"""`scripts/_env`: installs what is wanted and lacking, and says in one line what it cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PIP = """#!/bin/sh
case "$*" in
    *pip*) echo "$*" >>calls; {};;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/_env", "pyproject.toml", "constraints.txt"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    return tmp_path


def python(checkout: Path, script: str) -> None:
    """What stands for the environment's Python."""
    place = checkout / ".venv" / "bin" / "python"
    place.write_text(script)
    place.chmod(0o755)


def source(checkout: Path, extras: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "MMRAG_EXTRAS"}
    env["PYTHON"] = sys.executable  # nothing is looked for: that may take a shim a second
    if extras is not None:
        env["MMRAG_EXTRAS"] = extras
    return subprocess.run(
        ["bash", "-c", "source scripts/_env"],
        cwd=checkout, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def installed(checkout: Path) -> list[str]:
    calls = checkout / "calls"
    lines = calls.read_text().splitlines() if calls.exists() else []
    calls.unlink(missing_ok=True)
    return [line.rpartition(" ")[2] for line in lines if "--editable" in line]


def test_only_what_is_wanted_and_lacking_is_installed(checkout: Path) -> None:
    python(checkout, PIP.format("true"))
    for extras, expected in (
        ("app,ocr", [".[app,ocr]"]),
        ("app", []),
        (None, [".[all,app,dev,ocr]"]),
        ("app,ocr", []),
        ("rerank", []),
    ):
        done = source(checkout, extras)
        assert done.returncode == 0, done.stderr
        assert installed(checkout) == expected
    (checkout / "constraints.txt").write_text("")
    source(checkout, "app")
    assert installed(checkout) == [".[app]"]


def test_what_pip_says_is_shown_only_where_it_fails(checkout: Path) -> None:
    python(checkout, PIP.format("echo WARNING: noise"))
    assert "noise" not in source(checkout, "app").stderr
    python(checkout, PIP.format("echo ERROR: No space left on device; exit 1"))
    done = source(checkout, "ocr")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert ".venv/pip.log" in done.stderr.splitlines()[-1]


def test_an_environment_of_another_python_is_named(checkout: Path) -> None:
    python(checkout, "#!/bin/sh\nexit 1\n")
    done = source(checkout, "app")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "rm -rf .venv" in line
