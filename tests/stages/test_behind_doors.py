"""The same truth reaches an agent behind every door: here, apart, a kit's, a program, a server."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from called_command import mmrag

from simulator.parts.run_parts import Parts
from simulator.run.run_config import RunConfig
from simulator.store.run_store import RunReader

STAGES = ("clean", "pointed", "named", "paged", "told")
MANY = 2
"""Conversations of a question each."""

AGENTS = '''
"""Agents that say which stage of the truth reached them."""

import base64, io, json, sys
from pathlib import Path

KNOWN = json.loads(Path(__file__).with_name("known.json").read_text())


def seen(text, size, found=""):
    """By the question, the picture's size, and what a search found."""
    if size is not None:
        return "clean" if list(size) in KNOWN["sizes"] else "pointed"
    turn = next(turn for turn in KNOWN["turns"] if text.startswith(turn["named"]))
    told = text + found
    if not all(passage in told for passage in turn["passages"]):
        return "named"
    return "told" if all(fact in told for fact in turn["facts"]) else "paged"


class Searches:
    def __init__(self, resources):
        self.web = resources.web_search

    def answer(self, query):
        found = "".join(hit.text for hit in self.web.search_text([query.text], k=30)[0])
        assert query.image or "This is known" not in query.text
        return seen(query.text, query.image and query.image.pil().size, found)


def function(query):
    return seen(query.text, query.image and query.image.pil().size)


class Kit:
    """As the 2025 kit makes its agents."""

    def __init__(self, search_pipeline):
        self.search = search_pipeline

    def get_batch_size(self):
        return 4

    def batch_generate_response(self, queries, images, message_histories):
        found = ["".join(hit["page_snippet"] for hit in self.search(q, k=30)) for q in queries]
        assert not any("This is known" in query for query in queries)
        return [seen(*one) for one in zip(queries, map(size_of, images), found)]


class LaterKit:
    """As the 2026 kit makes its agents: they search nothing, and may be given a text."""

    def __init__(self, model_name="m", **kwargs):
        pass

    def batch_generate_response(self, queries, images, message_histories, rag_context_list):
        return [seen(*one) for one in zip(queries, map(size_of, images), rag_context_list)]


def size_of(image):
    """Of the grey square in the place of no picture nothing."""
    return None if image.size == (336, 336) else image.size


def answered(turn):
    from PIL import Image

    image = turn["image"]
    size = image and Image.open(io.BytesIO(base64.b64decode(image["base64"]))).size
    return {"id": turn["id"], "text": seen(turn["query"], size)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answered(json.loads(line))), flush=True)
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the agents, and what the mini world knows of its first questions."""
    folder = tmp_path_factory.mktemp("doors")
    parts = Parts(RunConfig(data="mini", split="single-turn", agent="random", limit=MANY))
    turns, sizes = [], []
    for _, session in parts.sessions():
        (known,) = parts.truth.of(session)
        assert known.passages  # a question that needs none is told by the name already
        assert known.facts
        passages, facts = ([one.text for one in some] for some in (known.passages, known.facts))
        turns.append({"named": known.named, "passages": passages, "facts": facts})
        sizes.append(session.capture.image.pil().size)
    (folder / "known.json").write_text(json.dumps({"sizes": sizes, "turns": turns}))
    (folder / "door_agents.py").write_text(AGENTS)
    return folder


@pytest.fixture
def server(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.syspath_prepend(str(place))
    from door_agents import answered  # type: ignore[import-not-found]

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            turn = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(answered(turn)).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.proof("time")
@pytest.mark.parametrize(
    ("door", "more"),
    [
        ("python:name=door_agents/function", ()),
        ("python:name=door_agents/Searches", ()),
        ("python:name=door_agents/Searches", ("--isolate",)),
        ("kit:name=door_agents/Kit", ()),
        ("kit:name=door_agents/Kit", ("--isolate", "--isolate-processes", "1")),
        ("kit:name=door_agents/LaterKit", ()),
        ("kit:name=door_agents/LaterKit,rag_context=on", ()),
        ("command:run=PYTHON AGENTS", ()),
        ("http:url=SERVER", ()),
    ],
)
def test_every_door_hands_the_same_over(
    door: str, more: tuple[str, ...], place: Path, server: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(place), *filter(None, sys.path)]))
    door = door.replace("SERVER", server).replace("PYTHON", sys.executable)
    door = door.replace("AGENTS", str(place / "door_agents.py"))
    mmrag("run", "--data", "mini", "--split", "single-turn", "--limit", MANY, "--search", "none",
          "--stages", "all", "--judge", "exact", "--agent", door, "--out", tmp_path, *more,
    )  # fmt: skip
    with RunReader(tmp_path) as run:
        said = {c: [t.reply and t.reply.text for t in run.results() if t.degradation == c]
                for c in run.conditions()}  # fmt: skip
    assert said == {stage: [stage] * MANY for stage in STAGES}
