"""A run on a pair of glasses in a thread of its own, and an app's first steps at it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from small_runs import Equality
from websockets.sync.client import connect

from mmrag.agent_hooks import end_agent
from mmrag.errors import Unavailable
from mmrag.local_server import listen
from mmrag.records import Session
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.tones import ToneEar, ToneVoice
from simulator.glasses.server import GlassesServer
from simulator.run.capture_optics import CaptureOptics
from simulator.run.engine import Rules
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

NO_EAR = Unavailable("a heard question needs faster_whisper: pip install 'mmrag[ears]'.")


class Worn:
    """A run on glasses in a thread of its own."""

    def __init__(
        self, folder: Path, sessions: list[Session], *, seconds: float = 30.0, token: str = "",
        ear: SpeechPipeline | Unavailable = NO_EAR, optics: CaptureOptics | None = None,
        **plan: Any,
    ) -> None:  # fmt: skip
        at = listen("127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{at.getsockname()[1]}"
        self.pair = GlassesServer(at, "127.0.0.1", token, ear=ear)
        self.plan = Plan(concurrency=1, rules=Rules(seconds=seconds), **plan)
        self.folder, self.sessions, self.optics = folder, sessions, optics
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        async def hold(store: RunStore) -> None:
            hearing = SpeechPipeline(ToneVoice(), ToneEar())
            hearing.keep = store.keep_sounds
            try:
                work = iter(list(enumerate(self.sessions)))
                await run_sessions(
                    work, self.pair, Equality(), store, self.plan,
                    optics=self.optics, hear=hearing.hear,
                )  # fmt: skip
            finally:
                await end_agent(self.pair)

        with RunStore(self.folder) as store:
            store.set_meta("judge", "equality")
            asyncio.run(hold(store))

    def events(self, query: str = "") -> Any:
        return connect(self.address.replace("http", "ws") + "/events" + query, open_timeout=10)


def finish(worn: Worn) -> None:
    """Silence until it is over."""
    headers = {"authorization": "Bearer secret"}
    after = ""
    with httpx.Client(base_url=worn.address, headers=headers, timeout=30) as app:
        while worn.thread.is_alive():
            try:
                said = app.get("/words", params={"after": after}).json()
                if said["type"] == "over":
                    return
                after = said["to"]
                app.post("/reply", json={"to": after, "text": "I don't know"})
            except (httpx.HTTPError, json.JSONDecodeError):
                time.sleep(0.05)


def results(worn: Worn) -> list[Any]:
    with RunReader(worn.folder) as run:
        return list(run.results())


def words_of(socket: Any) -> dict[str, Any]:
    while True:
        event = json.loads(socket.recv(10))
        if event["type"] == "words":
            return event
