"""Start runs from the app: each in a process of its own, as `mmrag run` would be by hand.

A visitor chooses from what the operator offers (agents, data) and a number; nothing of what is
typed reaches a shell or names a program.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from mmrag.errors import ConflictError, UsageError

MOST_AT_ONCE = 2
LARGEST = 10_000
PICTURES = {"clean": "none", "the five kinds, severity 3": "sweep", "a natural mixture": "mix"}
"""What a visitor may choose, and what `--degrade` calls it."""

OFFERED = {
    "grounded": "looks, reads the fictional world and cites it",
    "task1": "image search alone",
    "task2": "image search and the web",
    "task3": "both, over several turns",
    "random": "answers by luck",
}
"""The agents that come with the app, in words."""


class Started(msgspec.Struct, frozen=True):
    """One run that was started here."""

    name: str
    running: bool
    words: str
    """The last line that it printed."""
    code: int | None


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self.process, self.log = process, log


class Launcher:
    """Starts and stops runs in one folder."""

    def __init__(
        self, folder: Path, agents: Sequence[str], data: Sequence[str], search: str = "auto"
    ) -> None:
        self.folder = folder
        self.agents = list(agents)
        self.data = list(dict.fromkeys(data))
        self.search = search
        self._started: dict[str, _Process] = {}
        self._lock = threading.Lock()

    def start(self, agent: str, data: str, pictures: str, limit: int, name: str = "") -> str:
        """Begin a run; returns the name of its folder."""
        if agent not in self.agents:
            raise UsageError(f"{agent[:80]!r} is not offered; start with `mmrag ui --agent SPEC`.")
        if data not in self.data:
            raise UsageError(f"{data[:80]!r} is not offered; start with `mmrag ui --data DATA`.")
        if pictures not in PICTURES:
            raise UsageError(f"pictures are {', '.join(PICTURES)}; not {pictures[:80]!r}.")
        if not 1 <= limit <= LARGEST:
            raise UsageError(f"conversations: from 1 to {LARGEST:,}.")
        with self._lock:
            if sum(one.process.poll() is None for one in self._started.values()) >= MOST_AT_ONCE:
                raise ConflictError(
                    f"{MOST_AT_ONCE} runs are going on already; wait for one, or stop it."
                )
            chosen = self._free(name or f"{Path(data).stem}-{agent.partition(':')[0]}-{limit}")
            command = self._command(agent, data, pictures, limit, self.folder / chosen)
            log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
            self._started[chosen] = _Process(process, log)
        return chosen

    def stop(self, name: str) -> None:
        """Interrupt a run that was started here; what is committed is kept."""
        one = self._started.get(name)
        if one is None or one.process.poll() is not None:
            raise UsageError(f"{name[:80]!r} was not started here, or has ended.")
        one.process.send_signal(signal.SIGINT)

    def started(self) -> list[Started]:
        """Every run that was started here, with the last thing it said."""
        found: list[Started] = []
        for name, one in list(self._started.items()):
            code = one.process.poll()
            found.append(Started(name, code is None, _last_line(one.log), code))
        return found

    def close(self) -> None:
        """Let go of what they printed; the runs themselves go on."""
        for one in self._started.values():
            if one.process.poll() is None:
                one.process.returncode = 0  # nobody waits for it any more, and that is meant
            one.log.close()
        self._started.clear()

    def _command(self, agent: str, data: str, pictures: str, limit: int, folder: Path) -> list[str]:
        degrade = PICTURES[pictures]
        return [
            sys.executable, "-m", "simulator.cli", "run", "--data", data, "--agent", agent,
            "--search", self.search, "--degrade", degrade, "--limit", str(limit),
            *(["--severities", "3"] if degrade == "sweep" else []), "--out", str(folder),
        ]  # fmt: skip

    def _free(self, wanted: str) -> str:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip(".-")[:60] or "run"
        name, number = stem, 2
        while name in self._started or (self.folder / name).exists():
            name, number = f"{stem}-{number}", number + 1
        return name


def _last_line(log: IO[bytes]) -> str:
    end = log.seek(0, 2)
    log.seek(max(0, end - 4000))
    text = log.read().decode(errors="replace")
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    shown = next((line for line in reversed(lines) if "Error" in line or line.isprintable()), "")
    return shown[:300]
