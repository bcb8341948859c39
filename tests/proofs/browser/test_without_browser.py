"""What happens where there is no browser: a loud skip, and in CI a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def browser_tests(**environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
         "tests/proofs/browser/test_replay.py", "-k", "at_once"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**kept, "MMRAG_CHROMIUM": "/no/such/browser", **environment},
    )  # fmt: skip


def test_they_are_skipped_loudly() -> None:
    done = browser_tests()
    assert done.returncode == 0, done.stdout
    assert "1 skipped" in done.stdout
    assert "BROWSER TESTS SKIPPED: there is no chromium" in done.stdout


def test_in_ci_they_fail() -> None:
    done = browser_tests(CI="true")
    assert done.returncode == 1, done.stdout
    assert "in CI the browser tests must run" in done.stdout
