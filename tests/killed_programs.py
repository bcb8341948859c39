"""Programs that are killed in the middle of their work, as a power cut would end them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable


def killed_when(program: list[str], reached: Callable[[], bool]) -> None:
    """Start a program, which prints a line when it begins, and `kill -9` it as soon as this holds.
    One that ends before is an error: it was never interrupted."""
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        deadline = time.monotonic() + 120
        while not reached():
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline, "it does not get on"
            time.sleep(0.002)
        process.kill()
