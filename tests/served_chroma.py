"""A real server of Chroma for tests."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from mmrag.search.index.chroma import Batch, open_client


class Chroma:
    """`chroma run` in a process of its own."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = port or free.getsockname()[1]
        program = Path(sys.executable).with_name("chroma")
        self.process = subprocess.Popen(
            [str(program), "run", "--path", str(folder), "--host", "127.0.0.1",
             "--port", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            assert self.process.poll() is None, "chroma run ended at once"
            assert time.monotonic() < deadline, "chroma run did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def write_folder(folder: Path, name: str, batch: Batch) -> None:
    """A collection in a folder of Chroma's, as others write it."""
    _write(chromadb.PersistentClient(path=str(folder), settings=_settings()), name, batch)


def write_server(port: int, name: str, batch: Batch) -> None:
    """A collection of a server."""
    _write(chromadb.HttpClient("127.0.0.1", port, settings=_settings()), name, batch)


def _settings() -> Settings:
    return Settings(anonymized_telemetry=False)


def _write(client: Any, name: str, batch: Batch) -> None:
    with open_client(client):
        collection = client.get_or_create_collection(
            name, metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        collection.upsert(
            ids=batch.ids, embeddings=batch.vectors, metadatas=batch.metadatas,
            documents=batch.documents if any(batch.documents) else None,
        )  # fmt: skip
