"""What an installed package holds, away from the checkout: the mini world comes with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("mmrag", "simulator", "ui", "assets")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as `pip install .` lays it down, without the packages it needs."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    source = site.parent / "source"
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, tracked):
        wanted = name.split("/")[0] in PACKAGES or "/" not in name
        if wanted and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    subprocess.run([*pip, "--target", str(site), str(source)], check=True)
    return site


def test_the_mini_world_runs_where_only_the_package_is(installed: Path, tmp_path: Path) -> None:
    program = "import sys; from simulator.cli import main; sys.argv[0] = 'mmrag'; main()"
    options = ["run", "--data", "mini", "--agent", "random", "--search", "none", "--limit", "1"]
    done = subprocess.run(
        [sys.executable, "-c", program, *options],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 conversation" in done.stdout
    assert list((tmp_path / "runs").iterdir())


def test_every_file_that_code_reads_is_installed(installed: Path) -> None:
    lacking = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if not (installed / path.relative_to(ROOT)).is_file()
    ]
    assert lacking == []
