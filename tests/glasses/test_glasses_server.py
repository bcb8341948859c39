"""The pair of glasses: what apps see and say, and what they may not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import yaml
from small_runs import ByNumber, Equality, make_session, run_all
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from worn_glasses import NO_EAR, Worn, finish, results, words_of

from mmrag.errors import MmragError, Unavailable
from mmrag.records import JudgeItem, Query, Status, TurnResult, Verdict
from simulator import load_run
from simulator.glasses.server import PROTOCOL
from simulator.glasses.simulated_glasses import AppReply, SimulatedGlasses, Stale
from simulator.link.device_profiles import over_links, read_links
from simulator.run.capture_optics import CaptureOptics
from simulator.store.run_reader import RunReader


def test_a_conversation_by_requests(worn: Callable[..., Worn]) -> None:
    held = worn()
    with httpx.Client(base_url=held.address, timeout=30) as app:
        assert app.get("/").json() == {"protocol": 1, "type": "quiet"}
        assert app.get("/frame.jpg").status_code == 404
        words = app.get("/words").json()
        assert (words["text"], words["conversation"], words["turn"]) == (
            "question 0 of 0?",
            "s000",
            0,
        )
        frame = app.get("/frame.jpg")
        assert frame.content == held.sessions[0].capture.image.data  # type: ignore[union-attr]
        assert frame.headers["etag"] == f'"{words["frame"]}"'
        said = {"to": words["to"], "text": "answer 0-0", "confidence": 0.5, "seconds": -9, "at": 1}
        assert app.post("/reply?app=mine", json=said).json() == {"heard": words["to"]}
        then = app.get("/words", params={"after": words["to"]}).json()
        assert then["history"] == [{"words": "question 0 of 0?", "reply": "answer 0-0"}]
        late = app.post("/reply", json=said)
        assert late.status_code == 409
        plain = {"content-type": "text/plain"}
        parts = (part.encode() for part in ("answer ", "0-1"))
        app.post("/reply", params={"to": then["to"]}, content=parts, headers=plain)
        assert app.get("/words", params={"after": then["to"]}).json() == {"type": "over"}
    held.thread.join(10)
    first, second = results(held)
    assert [r.verdict.outcome for r in (first, second)] == ["perfect"] * 2
    assert first.reply.confidence == 0.5
    assert first.reply.trace[0].info == {"app": "mine"}
    assert 0 <= first.seconds < 30


def test_events_are_pushed_and_replies_may_come_in_parts(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    with held.events("?frames=1&app=pushed") as socket:
        events = [socket.recv(10) for _ in range(5)]
        assert json.loads(events.pop(0)) == {"type": "quiet"}
        assert json.loads(events[0]) == {"type": "conversation", "conversation": "s000"}
        assert events[1][:2] == b"\xff\xd8"
        assert json.loads(events[2]) == {"type": "button", "button": "talk"}
        to = json.loads(events[3])["to"]
        socket.send(json.dumps({"type": "part", "to": to, "text": "answer "}))
        socket.send(json.dumps({"type": "part", "to": to, "text": "0-"}))
        socket.send(json.dumps({"type": "reply", "to": to, "text": "0"}))
        kinds = [json.loads(said)["type"] for said in socket]
        assert set(kinds) - {"quiet"} == {"heard", "over"}
    held.thread.join(10)
    (result,) = results(held)
    assert result.reply.text == "answer 0-0"
    assert result.reply.trace[0].seconds > 0
    assert result.first_word is not None
    assert result.first_word <= result.seconds


def test_the_first_of_two_apps_is_heard_and_their_parts_stay_apart(
    worn: Callable[..., Worn],
) -> None:
    held = worn(turns=2)
    with held.events("?app=a") as a, held.events("?app=b") as b:
        to = words_of(a)["to"]
        assert words_of(b)["to"] == to
        for socket, name in ((a, "from a "), (b, "from b ")):
            socket.send(json.dumps({"type": "part", "to": to, "text": name}))
        b.send(json.dumps({"type": "reply", "to": to, "text": "!"}))
        while json.loads(b.recv(10))["type"] != "heard":
            pass
        a.send(json.dumps({"type": "reply", "to": to, "text": "!"}))
        while json.loads(a.recv(10))["type"] != "refused":
            pass
    finish(held)
    result = results(held)[0]
    assert result.reply.text == "from b !"
    assert result.reply.trace[0].info == {"app": "b"}


def test_who_vanishes_comes_back_to_the_same_words(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    with held.events() as socket:
        to = words_of(socket)["to"]
        socket.send(json.dumps({"type": "part", "to": to, "text": "lost "}))
    with held.events() as socket:
        assert words_of(socket)["to"] == to
        socket.send(json.dumps({"type": "reply", "to": to, "text": "answer 0-0"}))
        held.thread.join(10)
    assert results(held)[0].reply.text == "answer 0-0"


def test_nobody_speaks_while_no_app_is_there(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1, seconds=0.3)
    time.sleep(0.6)
    with RunReader(held.folder) as run:
        assert not list(run.results())
    with held.events() as socket:
        assert words_of(socket)["text"] == "question 0 of 0?"
        assert json.loads(socket.recv(10))["type"] == "quiet"  # given up
    held.thread.join(10)
    assert results(held)[0].status is Status.TIMEOUT


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("nonsense", "a message is"), ('{"type":"reply"}', "no reply"),
        ("[" * 5000, "a message is"),
        ('{"type":"reply","to":"TO"}', "a reply has text"),
        ('{"type":"reply","to":"TO","ask":"look"}', "a reply has text"),
        ('{"type":"reply","to":"ffff","text":"x"}', "nobody waits"),
        ('{"type":"reply","to":"TO","text":"x","ask":"money"}', "ask is"),
        ('{"type":"reply","to":"TO","text":"x","confidence":7}', "confidence"),
        ('{"type":"part","to":"TO","text":"' + "x" * 20_001 + '"}', "20,000"),
    ],
)  # fmt: skip
def test_what_is_no_reply_is_refused_and_harms_nothing(
    message: str, why: str, worn: Callable[..., Worn]
) -> None:
    held = worn(turns=1)
    with held.events() as socket:
        to = words_of(socket)["to"]
        socket.send(message.replace("TO", to))
        refused = json.loads(socket.recv(10))
        assert refused["type"] == "refused"
        assert why in refused["why"]
        socket.send(json.dumps({"type": "reply", "to": to, "text": "answer 0-0"}))
        assert json.loads(socket.recv(10))["type"] in ("heard", "quiet")


@pytest.mark.parametrize("valid", [True, False])
def test_who_floods_is_shown_out_and_others_go_on(valid: bool, worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    with held.events() as flooding, held.events() as other:
        to = words_of(other)["to"]
        flood = json.dumps({"type": "part", "to": to if valid else "x", "text": ""})
        with pytest.raises(ConnectionClosed) as closed:  # noqa: PT012
            for _ in range(2000):
                flooding.send(flood)
            list(flooding)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        other.send(json.dumps({"type": "reply", "to": to, "text": "answer 0-0"}))
        held.thread.join(10)
    assert results(held)[0].reply.text == "answer 0-0"


def test_bodies_are_bounded(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    words = httpx.get(f"{held.address}/words", timeout=30).json()
    for text in ("x" * 300_000, "x" * 20_001):
        said = httpx.post(f"{held.address}/reply", json={"to": words["to"], "text": text})
        assert said.status_code == 400
    assert httpx.get(f"{held.address}/words?wait=soon").status_code == 400


def test_frames_are_streamed(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    httpx.get(f"{held.address}/words", timeout=30)
    with httpx.stream("GET", f"{held.address}/frames.mjpg", timeout=10) as stream:
        assert stream.headers["content-type"].startswith("multipart/x-mixed-replace")
        assert held.sessions[0].capture.image.data in _until(stream, 2000)  # type: ignore[union-attr]


def _until(stream: httpx.Response, length: int) -> bytes:
    held = b""
    for piece in stream.iter_bytes():
        held += piece
        if held.count(b"--frame") > 1 or len(held) > length:
            break
    return held


def test_what_is_acknowledged_is_on_the_disk(
    worn: Callable[..., Worn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Glasses that were killed when they had said so asked the turn again."""
    judge = Equality.judge

    async def slow(self: Equality, item: JudgeItem) -> Verdict:
        await asyncio.sleep(0.2)
        return await judge(self, item)

    monkeypatch.setattr(Equality, "judge", slow)
    held = worn(turns=2)
    with held.events() as socket:
        words = words_of(socket)
        said = {"to": words["to"], "text": "by request"}
        assert httpx.post(f"{held.address}/reply", json=said).status_code == 200
        assert [result.reply.text for result in results(held)] == ["by request"]
        said = {"type": "reply", "to": words_of(socket)["to"], "text": "by socket"}
        socket.send(json.dumps(said))
        while json.loads(socket.recv(10))["type"] != "heard":
            pass
        assert [result.reply.text for result in results(held)] == ["by request", "by socket"]


@pytest.mark.parametrize(
    ("what", "error"), [("late", Stale), ("asked again", Stale), ("over", Unavailable)]
)
def test_what_is_not_kept_is_not_acknowledged(what: str, error: type[MmragError]) -> None:
    async def replied() -> None:
        pair = SimulatedGlasses(NO_EAR)
        asked = asyncio.create_task(pair.answer(Query(text="what?")))
        await pair.changed.wait()
        told = asyncio.create_task(pair.hear(AppReply(to=pair.words["to"], text="this")))
        assert (await asked).text == "this"
        assert not told.done()
        if what == "late":
            late = TurnResult(session_id="s", turn_index=0, status=Status.TIMEOUT, error="too late")
            pair.kept(late)
        elif what == "asked again":
            again = asyncio.create_task(pair.answer(Query(text="what?")))
            await pair.changed.wait()
            again.cancel()
        else:
            await pair.end()
        with pytest.raises(error):
            await told

    asyncio.run(replied())


def test_a_reply_that_says_nothing_is_refused_and_silence_is_not(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    to = httpx.get(f"{held.address}/words", timeout=30).json()["to"]
    for said in ({"to": to}, {"to": to, "text": None}, {"to": to, "ask": "look"}):
        refused = httpx.post(f"{held.address}/reply", json=said)
        assert refused.status_code == 400
        assert "a reply has text" in refused.json()["error"]
    silence = httpx.post(f"{held.address}/reply", json={"to": to, "text": ""})
    assert silence.status_code == 200
    held.thread.join(10)
    assert results(held)[0].reply.text == ""


def test_a_link_spoils_frames_and_is_recorded_as_in_process(
    tmp_path: Path, worn: Callable[..., Worn]
) -> None:
    links = read_links("radio:downscaled")
    link = {"links": links, "degradations": over_links(("clean",), links)[1:]}
    optics, agent = CaptureOptics(None, links), ByNumber()
    run_all(tmp_path / "own", [make_session(turns=2)], agent, optics=optics, **link)
    held, frames = worn(optics=optics, **link), list[bytes]()
    with held.events() as socket:
        for _ in range(2):
            words = words_of(socket)
            frames.append(httpx.get(f"{held.address}/frame.jpg").content)
            query = agent.seen[len(frames) - 1]
            text = asyncio.run(agent.answer(query)).text
            socket.send(json.dumps({"type": "reply", "to": words["to"], "text": text}))
        held.thread.join(10)
    sent = agent.seen[0].image
    assert sent is not None
    assert frames == [sent.data] * 2
    assert sent.data != held.sessions[0].capture.image.data  # type: ignore[union-attr]
    with RunReader(tmp_path / "own") as own:
        expected = [(r.degradation, r.delay, r.status) for r in own.results()]
    assert expected[0][1] > 0.4, "the seconds that the radio takes to begin"
    assert [(r.degradation, r.delay, r.status) for r in results(held)] == expected


def test_only_who_knows_the_token_is_let_in(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1, token="secret")
    for how in ({}, {"headers": {"authorization": "Bearer no"}}, {"params": {"token": "no"}}):
        assert httpx.get(f"{held.address}/", **how).status_code == 401
    assert httpx.get(f"{held.address}/", params={"token": "secret"}).status_code == 200
    with pytest.raises(InvalidStatus), held.events():
        pass
    with held.events("?token=secret") as socket:
        assert words_of(socket)


def test_pages_elsewhere_and_other_names_are_refused(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1)
    evil = {"origin": "http://evil.example"}
    assert httpx.post(f"{held.address}/reply", json={}, headers=evil).status_code == 403
    assert httpx.get(held.address, headers={"host": "evil.example"}).status_code == 400
    ws = held.address.replace("http", "ws") + "/events"
    with pytest.raises(InvalidStatus), connect(ws, origin="http://evil.example"):  # type: ignore[arg-type]
        pass


def test_the_same_figures_as_the_agent_in_process(
    tmp_path: Path, worn: Callable[..., Worn]
) -> None:
    agent, sessions = ByNumber(), [make_session(i, turns=2 + i % 3) for i in range(6)]
    run_all(tmp_path / "own", sessions, agent)
    held = Worn(tmp_path / "worn", sessions)
    by_words = {(q.session_id, q.turn_index): q for q in agent.seen}
    with held.events() as socket:
        try:
            while True:
                words = words_of(socket)
                query = by_words[words["conversation"], words["turn"]]
                text = asyncio.run(agent.answer(query)).text
                socket.send(json.dumps({"type": "reply", "to": words["to"], "text": text}))
        except ConnectionClosed:
            pass
    held.thread.join(10)
    own, worn_ = (load_run(tmp_path / n).score(resamples=0)["all"] for n in ("own", "worn"))
    assert own["truthfulness_score"] == worn_["truthfulness_score"]
    assert own["total"] == worn_["total"]


def test_the_protocol_names_every_field_and_address() -> None:
    found = yaml.safe_load(PROTOCOL.read_text())
    assert set(found["paths"]) == {
        "/", "/words", "/words.wav", "/frame.jpg", "/frames.mjpg", "/reply",
    }  # fmt: skip
    event = found["components"]["schemas"]["Event"]["properties"]
    assert {
        "to",
        "text",
        "conversation",
        "turn",
        "time",
        "may_ask",
        "history",
        "frame",
        "gaze",
        "sound",
    } <= {*event}
