"""`scripts/test` with commands that only write down how they were called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "test"

COMMAND = """
echo "$(basename "$0") $* seed=$MMRAG_TEST_SHUFFLE" >>"$CALLS"
case "$*" in
    *--last-failed*) exit 0 ;;
    *"$FAILS"*) mkdir -p .pytest_cache/v/cache; echo '{"a": true}' >.pytest_cache/v/cache/lastfailed
        exit 1 ;;
esac
"""


class Called:
    """What came of a call: its status, what it said, and the commands that it called."""

    def refuses(self, words: str) -> bool:
        """Whether it said so in a line and did nothing."""
        return (
            self.status == 1
            and words in self.said.strip()
            and not self.calls
            and ("\n" not in self.said.strip())
        )

    def __init__(self, folder: Path, *arguments: str, fails: str = "nothing", **more: str) -> None:
        calls = folder / "calls"
        calls.write_text("")
        environment = {**os.environ, "CALLS": str(calls), "FAILS": fails, "CI": "1", **more}
        for name in ("MMRAG_TEST_SHUFFLE", "MMRAG_TEST_SECONDS"):
            environment.pop(name, None)
        done = subprocess.run(
            [str(folder / "scripts" / "test"), *arguments], env=environment, text=True,
            capture_output=True, check=False, timeout=100,
        )  # fmt: skip
        self.status, self.said = done.returncode, done.stderr
        self.calls = calls.read_text().splitlines()
        self.pytest = [line for line in self.calls if line.startswith("pytest")]


def fake(folder: Path, name: str, does: str) -> None:
    command = folder / "bin" / name
    command.write_text(f"#!/bin/sh\n{does}\n")
    command.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("scripts", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts" / "test")
    (tmp_path / "scripts" / "_env").write_text(
        'set -euo pipefail\ncd "$(dirname "${BASH_SOURCE[0]}")/.."\nexport PATH="$PWD/bin:$PATH"\n'
    )
    for name in ("ruff", "pyright", "pytest", "chromium"):
        fake(tmp_path, name, COMMAND)
    return tmp_path


def test_it_is_lint_types_and_the_fast_suite_and_all_is_the_proofs_too(folder: Path) -> None:
    """`nproc` says OMP_NUM_THREADS where it is set, and the script sets it to one."""
    done = Called(folder, OMP_NUM_THREADS="1")
    assert done.status == 0, done.said
    assert {line.split()[0] for line in done.calls} == {"ruff", "pyright", "pytest"}
    (fast,) = done.pytest
    assert "-m not proof --ignore=tests/proofs" in fast
    assert f"-n {min(4, len(os.sched_getaffinity(0)))} " in fast
    done = Called(folder, "--all")
    assert done.status == 0, done.said
    browser, rest = done.pytest
    assert "tests/proofs/browser" in browser
    assert "--ignore=tests/proofs/browser" in rest
    assert "not proof" not in rest


def test_the_hard_way_is_all_in_an_order_that_is_told(folder: Path) -> None:
    done = Called(folder, "--hard")
    assert done.status == 0, done.said
    assert not any("not proof" in line for line in done.pytest)
    assert sum("tests/encoders" in line for line in done.pytest) == 2  # as older processors
    seeds = {line.rpartition("seed=")[2] for line in done.pytest} - {""}
    assert len(seeds) == 1
    assert f"MMRAG_TEST_SHUFFLE={seeds.pop()}" in done.said


@pytest.mark.parametrize("call", [(), ("--all",)])
def test_what_fails_fails_though_it_passes_alone(folder: Path, call: tuple[str, ...]) -> None:
    done = Called(folder, *call, fails="tests")
    assert done.status == 1
    assert any("--last-failed" in line for line in done.pytest)
    assert "diagnosis" in done.said
    paths = Called(folder, "tests/run", "-k", "two", "tests/run", fails="tests/run")
    assert (paths.status, len(paths.pytest)) == (1, 1), "nothing is run again"
    assert "-k two tests/run" in paths.pytest[0]


@pytest.mark.proof("kills")
def test_a_worker_that_dies_ends_the_run(folder: Path) -> None:
    (folder / "bin" / "pytest").unlink()
    (folder / "tests").mkdir()
    dies = "import os\ndef test_fine(): pass\ndef test_dies(): os._exit(3)"
    for name in "ab":  # a worker in its place would wait for ever (pytest-xdist 784, 1323)
        (folder / "tests" / f"test_{name}.py").write_text(dies)
    assert Called(folder, "tests", MMRAG_TEST_WORKERS="1").status != 0


@pytest.mark.parametrize("call", [(), ("tests/run",)])
def test_wrong_types_fail_beside_the_tests(folder: Path, call: tuple[str, ...]) -> None:
    fake(folder, "pyright", "echo a type is wrong; exit 1")
    done = Called(folder, *call)
    assert (done.status, len(done.pytest)) == (1, 1)
    assert done.said.endswith("a type is wrong\n")
    fake(folder, "ruff", "exit 1")  # which comes first
    assert Called(folder).pytest == []


@pytest.mark.parametrize(
    ("free", "temporary", "said"),
    [("1", "/tmp", "1 MB are free in ."), ("9999", "/nowhere", "/nowhere cannot be written to")],
)
def test_no_room_or_no_place_to_write_is_one_line(
    folder: Path, free: str, temporary: str, said: str
) -> None:
    fake(folder, "df", f"echo 'x 1 1 {free}500 99% /'")
    assert Called(folder, TMPDIR=temporary).refuses(f"error: {said}")


def test_without_chromium_all_says_how_to_get_one_and_the_fast_suite_runs(folder: Path) -> None:
    (folder / "bin" / "chromium").unlink()
    for name in ("bash", "dirname", "df", "awk", "find", "nproc", "rm", "mkdir", "env", "sh",
                 "mktemp", "cat"):  # fmt: skip
        found = shutil.which(name)
        assert found is not None
        (folder / "bin" / name).symlink_to(found)
    bare = (folder / "scripts" / "_env").read_text().replace(":$PATH", "")
    (folder / "scripts" / "_env").write_text(bare)
    fake(folder, "id", "echo 1000")
    assert Called(folder, "--all").refuses("error: there is no chromium")
    assert Called(folder).status == 0


def test_an_environment_of_a_python_that_is_gone_is_one_line(folder: Path) -> None:
    root = SCRIPT.parents[1]
    for name in ("pyproject.toml", "constraints.txt", "scripts/_env"):
        shutil.copy(root / name, folder / name)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to("/nowhere/python3.9")
    assert Called(folder).refuses("delete it and call again")
