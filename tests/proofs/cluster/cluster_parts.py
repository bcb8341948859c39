"""A cluster of local nodes, an agent whose every answer rests on all before, and runs of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator.application.stored_run import load_run

AGENT = """
import asyncio, os, zlib
from pathlib import Path

HERE = Path(__file__).parent

class Chain:
    async def answer(self, query):
        name = f"{query.session_id}/{query.turn_index}"
        with (HERE / "asked").open("a") as file:
            file.write(f"{os.getpid()} {name}\\n")
        poison = HERE / "poison"
        if poison.exists() and poison.read_text() == name:
            os._exit(7)
        await asyncio.sleep(float((HERE / "wait").read_text()))
        said = [f"{e.query}{e.reply}" for e in query.history]
        picture = query.image.sha256 if query.image else ""
        return f"It is {zlib.crc32(repr((said, query.text, picture)).encode())} of them."
"""

SETTINGS = {
    "agent": "python:name=chain/Chain", "data": "mini", "judge": "exact", "search": "none",
    "stop": "never",
}  # fmt: skip


MEMORY = 80 << 20
"""Bytes of a node's object store: next to nothing is sent."""


class Workplace:
    """A folder with the agent, and what it was asked."""

    def __init__(self, folder: Path, wait: float = 0.0) -> None:
        self.folder = folder
        (folder / "chain.py").write_text(AGENT)
        (folder / "wait").write_text(str(wait))

    def asked(self) -> list[tuple[int, str]]:
        """(process, turn) of every time that the agent was asked."""
        file = self.folder / "asked"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(int(line.split()[0]), line.split()[1]) for line in lines if " " in line]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "simulator.cli", *arguments]

    def start(self, *arguments: str, out: Any = subprocess.DEVNULL) -> subprocess.Popen[str]:
        with (self.folder / "stderr").open("ab") as stderr:  # a pipe that nobody reads is full once
            return subprocess.Popen(
                self.command(*arguments), cwd=self.folder, text=True, stdout=out, stderr=stderr,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )  # fmt: skip

    def said(self) -> str:
        """What commands said that went wrong."""
        return (self.folder / "stderr").read_text()

    def run(self, *arguments: str) -> str:
        process = self.start(*arguments, out=subprocess.PIPE)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, self.said()
        return out

    def flags(self, out: str, **more: object) -> list[str]:
        given = {**SETTINGS, "out": out, **more}
        return [part for key, value in given.items() for part in (f"--{key}", str(value))]


def until(there: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def keepers(run: Path) -> list[int]:
    """Processes that keep a run's shards."""
    return [int(path.read_text() or 0) for path in sorted(run.glob("shards/*/lock"))]


def records(run: Path) -> list[Any]:
    """Every turn of a run, but for its times."""
    turns = load_run(run).turns().drop(columns=["seconds"])
    return json.loads(turns.to_json(orient="records"))


def aggregate(run: Path) -> str:
    return json.dumps(load_run(run).score(), sort_keys=True, default=str)
