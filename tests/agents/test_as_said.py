"""What other people's agents say is recorded as they said it; what it is worth is a judge's word."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PIL import Image

from mmrag.agents import agents
from mmrag.agents.own.adapters import CommandAgent
from mmrag.agents.own.kits import KitAgent
from mmrag.agents.reply_format import make_reply
from mmrag.files.images import LazyImage
from mmrag.judges import make_judge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Resources
from mmrag.readiness import warm
from mmrag.records import Capture, Query, Reference, Reply, Session, Status, Turn, TurnResult
from simulator.run.engine import hold_conversation

PICTURE = LazyImage.from_pil(Image.new("RGB", (8, 8)))
SAID = [
    "I don't know, but it is Paris",
    "I'm not sure. It looks like a Toyota.",
    "I can't tell the exact year; about 1920.",
    "Unknown Pleasures",
    "  two\nlines,  as they\tstand ",
    '{"answer": "900 g"}',
    "I don't know",
    "",
]
RIGHT = ["Paris", "a Toyota", "1920", "Unknown Pleasures"]


def ask(agent, text: str) -> Reply:
    return asyncio.run(agent.answer(Query(text=text, image=PICTURE)))


class Echo:
    """Says what it is asked, as a class, and as an agent of the kits."""

    def answer(self, query: Query) -> str:
        return query.text

    def batch_generate_response(self, queries, images, message_histories):
        return list(queries)


@pytest.mark.parametrize("text", SAID)
def test_classes_and_kit_agents_are_quoted(text: str, monkeypatch) -> None:
    module = types.ModuleType("echoes")
    module.Echo = Echo  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "echoes", module)
    for agent in (
        agents.create("python:name=echoes/Echo", resources=Resources()),
        KitAgent(Echo()),
    ):
        reply = ask(agent, text)
        assert (reply.text, reply.abstained) == (text, False)


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("name", ["llm-only", "task3"])
def test_model_agents_are_quoted(name: str, text: str) -> None:
    rewriting = ["a rewritten query"] if name == "task3" else []
    model = ScriptedModel([*rewriting, text])
    agent = agents.create(f"{name}:model=m", resources=Resources(model=lambda _spec: model))
    reply = ask(agent, "What is it?")
    assert (reply.text, reply.abstained) == (text, False)


def test_what_a_model_only_thinks_is_not_said() -> None:
    model = ScriptedModel("<think>Paris? No.</think>\nUnknown Pleasures")
    agent = agents.create("llm-only:model=m", resources=Resources(model=lambda _spec: model))
    assert ask(agent, "Which album?").text == "Unknown Pleasures"


PROGRAM = """
import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    print(json.dumps({"id": turn["id"], "text": turn["query"], "confidence": 0.5}), flush=True)
"""


def test_programs_are_quoted() -> None:
    agent = CommandAgent([sys.executable, "-c", PROGRAM])

    async def talk() -> list[Reply]:
        return [await agent.answer(Query(text=text, image=PICTURE)) for text in SAID]

    replies = asyncio.run(talk())
    assert [reply.text for reply in replies] == SAID
    assert {reply.confidence for reply in replies} == {0.5}
    assert not any(reply.abstained for reply in replies)


def test_endpoints_are_quoted() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            turn = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps({"text": turn["query"], "citations": ["7"]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        agent = agents.create(
            f"http:url=http://127.0.0.1:{server.server_port}/", resources=Resources()
        )
        for text in SAID:
            reply = ask(agent, text)
            assert (reply.text, reply.citations) == (text, ("7",))
    finally:
        server.shutdown()
        server.server_close()


class Says:
    def __init__(self, replies: list[str]) -> None:
        self.replies = replies

    def answer(self, query: Query) -> str:
        return self.replies[query.turn_index]


def held(replies: list[str], references: list[str], monkeypatch) -> list[TurnResult]:
    """A conversation with an agent of somebody else's, judged by the built-in judge."""
    module = types.ModuleType("sayers")

    class Bound(Says):
        def __init__(self) -> None:
            super().__init__(replies)

    module.Says = Bound  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sayers", module)
    agent = agents.create("python:name=sayers/Says", resources=Resources())
    session = Session(
        id="s",
        capture=Capture(image=PICTURE),
        turns=tuple(
            Turn(index=i, id=f"t{i}", query=f"Question {i}?", reference=Reference(text=text))
            for i, text in enumerate(references)
        ),
    )

    async def forget(*_: TurnResult) -> None:
        pass

    async def run() -> list[TurnResult]:
        await warm(agent)
        return await hold_conversation(
            session, agent, make_judge("builtin"), forget, stop=two_strikes
        )

    return asyncio.run(run())


def test_right_answers_that_sound_like_refusals_are_right(monkeypatch) -> None:
    results = held(SAID[:4], RIGHT, monkeypatch)
    assert [result.status for result in results] == [Status.ANSWERED] * 4
    assert all(r.verdict is not None and r.verdict.outcome.is_correct for r in results)


def test_an_empty_reply_is_recorded_as_empty_and_judged_missing(monkeypatch) -> None:
    first, second = held(["", "Paris"], ["Rome", "Paris"], monkeypatch)
    assert first.reply is not None
    assert first.verdict is not None
    assert first.reply.text == ""
    assert (first.status, first.verdict.outcome) == (Status.ABSTAINED, "missing")
    assert second.status is Status.ANSWERED


def test_a_reply_is_cut_by_the_engine_only(monkeypatch) -> None:
    (result,) = held(["word " * 500], ["word"], monkeypatch)
    assert result.reply is not None
    assert len(result.reply.text) == len("word " * 75) - 1


def test_what_anybodys_agent_thinks_is_no_part_of_what_is_recorded(monkeypatch) -> None:
    said = "<think>" + "Rome? " * 500 + "No.</think>\nParis"
    (result,) = held([said], ["Paris"], monkeypatch)
    assert result.reply is not None
    assert result.reply.text == "Paris"


def test_a_title_is_no_abstention_of_the_grounded_agent_either() -> None:
    for title in ("Unknown Pleasures", "Unknown Mortal Orchestra", SAID[0], SAID[1], SAID[2]):
        reply = make_reply(title)
        assert (reply.text, reply.abstained) == (title, False)
    for text in ("Unknown", "Unknown.", "Sorry, I cannot tell.", "No idea"):
        assert make_reply(text).abstained, text
