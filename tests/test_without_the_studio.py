"""The studio's packages are an extra: runs, reports, the app and worlds of text do without them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof("time")

_BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"mitsuba", "drjit", "pyoidn", "skimage", "matplotlib"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""
_COMMAND = "from simulator.cli import main; main()"
_APP = """
import importlib, pkgutil, ui
for found in pkgutil.walk_packages(ui.__path__, "ui."):
    importlib.import_module(found.name)
"""


def without(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _BLOCKED + code, *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_run_and_its_report(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--agent", "random", "--search", "none", "--limit", "1", "--out", str(run))
    done = without(_COMMAND, "run", "--data", "mini", *options)
    assert done.returncode == 0, done.stderr
    done = without(_COMMAND, "report", str(run), "--out", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr


def test_the_app_is_imported() -> None:
    pytest.importorskip("gradio")
    done = without(_APP)
    assert done.returncode == 0, done.stderr


def test_new_pictures_name_the_extra_in_one_line(tmp_path: Path) -> None:
    done = without(_COMMAND, "world", "new", "--sessions", "1", "--out", str(tmp_path / "w"))
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "pip install 'mmrag[studio]'" in line
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


def test_a_world_of_text_is_written_and_verified(tmp_path: Path) -> None:
    world = str(tmp_path / "w")
    sizes = ("--size", "mini", "--sessions", "1", "--text-only", "--out", world)
    done = without(_COMMAND, "world", "new", *sizes)
    assert done.returncode == 0, done.stderr
    done = without(_COMMAND, "world", "verify", world)
    assert done.returncode == 0, done.stderr
