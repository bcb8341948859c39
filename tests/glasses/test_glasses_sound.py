"""Words and replies aloud at the pair of glasses: what is heard, and what costs nobody anything."""

from __future__ import annotations

import asyncio
import hashlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from worn_glasses import NO_EAR, Worn, finish, results, words_of

from mmrag import optional_packages
from mmrag.errors import DataError, Denied, SpecError, Unavailable
from mmrag.records import Heard, Query, Status
from simulator.ears.sounds import RATE, Sound, read
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.tones import ToneEar, ToneVoice
from simulator.glasses import server
from simulator.glasses.simulated_glasses import AppReply, SimulatedGlasses
from simulator.parts.run_parts import ear_for_apps
from simulator.run.engine import ask_turn
from simulator.run.results.run_scoring import deaf_notes
from simulator.run.run_config import RunConfig
from simulator.store.run_reader import RunReader

AUDIO = {"content-type": "audio/wav"}
APP = httpx.Client(timeout=30, limits=httpx.Limits(max_keepalive_connections=0))
RIGHT = ToneVoice().say("answer 0-0").wav


class Waits(ToneEar):
    """An ear that hears when it is let."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begun, self.go, self.failure = threading.Event(), threading.Event(), failure

    def hear(self, sound: Sound) -> Heard:
        self.begun.set()
        assert self.go.wait(30)
        if self.failure is not None:
            raise self.failure
        return super().hear(sound)


def tones(ear: Any = None, **more: Any) -> SpeechPipeline:
    return SpeechPipeline(None, ear or ToneEar(), **more)


def reply(worn: Worn, to: str, sound: Any, **query: str) -> httpx.Response:
    return APP.post(f"{worn.address}/reply", params={"to": to, **query}, content=sound,
                      headers=AUDIO)  # fmt: skip


def asked(worn: Worn, after: str = "") -> Any:
    return APP.get(f"{worn.address}/words", params={"after": after}).json()


def test_the_wearers_words_come_as_sound_too(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1, ear=tones(), spoken=("quiet",))
    found, after = list[Any](), ""
    while (words := asked(held, after))["type"] == "words":
        after = words["to"]
        sound = APP.get(f"{held.address}/words.wav")
        found.append((words["text"], words["sound"], sound))
        APP.post(f"{held.address}/reply", json={"to": after, "text": "answer 0-0"})
    (_, none, typed), (text, digest, spoken) = found
    assert (none, typed.status_code) == (None, 404)
    assert "nothing is being said aloud" in typed.json()["error"]
    assert spoken.headers["content-type"] == "audio/wav"
    assert (
        spoken.headers["etag"] == f'"{digest}"' == f'"{hashlib.sha256(spoken.content).hexdigest()}"'
    )
    assert ToneEar().hear(read(spoken.content)).text == text == "question 0 of 0?"
    held.thread.join(10)
    assert results(held)[1].heard.arrived == digest


def test_a_reply_in_sound_is_what_the_ear_writes_down(worn: Callable[..., Worn]) -> None:
    held = worn(ear=tones())
    words = asked(held)
    pieces = (RIGHT[at : at + 1000] for at in range(0, len(RIGHT), 1000))
    heard = reply(held, words["to"], pieces, app="aloud")
    assert heard.json() == {"heard": words["to"], "text": "answer 0-0"}
    history = asked(held, words["to"])["history"]
    assert history == [{"words": "question 0 of 0?", "reply": "answer 0-0"}]
    assert reply(held, words["to"], RIGHT).status_code == 409
    finish(held)
    first = results(held)[0]
    assert (first.reply.text, first.verdict.outcome) == ("answer 0-0", "perfect")
    (step,) = first.reply.trace
    assert step.info == {"app": "aloud", "ear": "tones:1", "confidence": 1.0}
    assert 0 <= first.first_word <= first.seconds
    assert first.reply.confidence is None  # what the ear is sure of is not what the app is


def test_the_ears_time_is_not_the_apps_and_who_ends_later_waits(worn: Callable[..., Worn]) -> None:
    began, ear = time.perf_counter(), Waits()
    held, found = worn(turns=1, ear=tones(ear)), dict[str, int]()
    to = asked(held)["to"]

    def sound() -> None:
        found["sound"] = reply(held, to, RIGHT).status_code

    def text() -> None:
        said = {"to": to, "text": "too late"}
        found["text"] = APP.post(f"{held.address}/reply", json=said).status_code

    with held.events() as socket:
        words_of(socket)
        threads = [threading.Thread(target=sound)]
        threads[0].start()
        assert ear.begun.wait(20)
        socket.send(json.dumps({"type": "reply", "to": to, "text": "too late as well"}))
        threads.append(threading.Thread(target=text))
        threads[1].start()
        threads[1].join(0.3)
        assert threads[1].is_alive(), "who replies later waits for the one that ended first"
        ear.go.set()
        kinds = [json.loads(told)["type"] for told in socket]
        for thread in threads:
            thread.join(20)
    assert "refused" in kinds
    assert "heard" not in kinds
    assert found == {"sound": 200, "text": 409}
    held.thread.join(10)
    (result,) = results(held)
    assert result.reply.text == "answer 0-0"
    assert result.seconds <= time.perf_counter() - began - 0.3


def lying(seconds: int) -> bytes:
    """A second of sound whose header says that there are more."""
    data = bytearray(ToneVoice().say("x" * 50).wav)
    data[40:44] = (seconds * RATE * 2).to_bytes(4, "little")
    return bytes(data)


BAD = {
    "nothing": b"", "no sound": b"RIFF and then some", "text": b'{"to": "x", "text": "y"}',
    "silence": Sound(ToneVoice().say("x").samples * 0).wav, "a lie": lying(30),
    "too long": Sound(ToneVoice().say("x" * 3100).samples).wav,
    "too large": bytes(server.MOST_SOUND + 1), "zeros": bytes(100_000),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_sound_is_one_line_and_costs_nothing(
    name: str, worn: Callable[..., Worn]
) -> None:
    held = worn(turns=1, ear=tones())
    to = asked(held)["to"]
    for _ in range(3):  # a client that goes on so holds nobody up
        refused = reply(held, to, BAD[name])
        assert refused.status_code == 400
        why = refused.json()["error"]
        assert "\n" not in why
        assert 20 < len(why) < 250
    assert reply(held, "ffff", RIGHT).status_code == 409
    assert reply(held, to, RIGHT).status_code == 200
    held.thread.join(10)
    assert results(held)[0].reply.text == "answer 0-0"


def test_without_the_extra_one_line_names_it_and_words_are_heard(worn: Callable[..., Worn]) -> None:
    held = worn(turns=1, ear=NO_EAR)
    to = asked(held)["to"]
    refused = reply(held, to, RIGHT)
    assert refused.status_code == 503
    assert refused.json()["error"].endswith("pip install 'mmrag[ears]'.")
    assert APP.post(f"{held.address}/reply", json={"to": to, "text": "x"}).status_code == 200


def test_an_ear_is_needed_only_by_those_who_reply_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional_packages, "find_spec", lambda _: None)
    assert isinstance(ear_for_apps(RunConfig()), Unavailable)
    assert isinstance(ear_for_apps(RunConfig(ear="tones")), SpeechPipeline)
    with pytest.raises(SpecError, match="no ear"):
        ear_for_apps(RunConfig(ear="nonsense"))


@pytest.mark.parametrize(
    ("failure", "seconds", "why"),
    [(RuntimeError("no device"), 60, "no device"), (DataError("no device"), 60, "no device"),
     (None, 0.05, "not heard within")],
)  # fmt: skip
def test_an_ear_that_fails_or_hangs_is_never_the_apps_failure(
    failure: Exception | None, seconds: float, why: str, worn: Callable[..., Worn]
) -> None:
    ear = Waits(failure)
    if failure is not None:
        ear.go.set()
    held = worn(ear=tones(ear, seconds=seconds))
    to = asked(held)["to"]
    lost = reply(held, to, RIGHT)
    assert lost.status_code == 503
    assert why in lost.json()["error"]
    then = asked(held, to)
    assert then["turn"] == 1
    said = {"to": then["to"], "text": "answer 0-1"}
    assert APP.post(f"{held.address}/reply", json=said).status_code == 200
    ear.go.set()
    held.thread.join(10)
    first, second = results(held)
    assert first.status is Status.EAR_ERROR
    assert why in first.error
    assert first.reply is None
    assert second.verdict.outcome == "perfect"
    with RunReader(held.folder) as run:
        assert deaf_notes(run) == [], "no question was said aloud"


def test_an_ear_that_lets_nobody_in_ends_the_run() -> None:
    ear = Waits(Denied("HTTP 401; set OPENAI_API_KEY."))
    ear.go.set()

    async def refused() -> None:
        pair = SimulatedGlasses(tones(ear))
        changed, turn = pair.changed, asyncio.create_task(ask_turn(pair, Query(text="what?")))
        await changed.wait()
        with pytest.raises(Denied):
            await pair.hear(AppReply(to=pair.words["to"]), sound=RIGHT)
        with pytest.raises(Denied):
            await turn

    asyncio.run(refused())


@pytest.fixture
def half(worn: Callable[..., Worn]) -> Iterator[Callable[[Worn, str], socket.socket]]:
    """Makes clients that have sent half of a sound."""
    made: list[socket.socket] = []

    def send(held: Worn, to: str) -> socket.socket:
        host, port = held.address.removeprefix("http://").split(":")
        one = socket.create_connection((host, int(port)), timeout=20)
        made.append(one)
        head = (f"POST /reply?to={to} HTTP/1.1\r\nHost: {host}:{port}\r\n"
                f"Content-Type: audio/wav\r\nContent-Length: {len(RIGHT)}\r\n\r\n")  # fmt: skip
        one.sendall(head.encode() + RIGHT[: len(RIGHT) // 2])
        return one

    yield send
    for one in made:
        one.close()


Half = Callable[[Worn, str], socket.socket]


def test_who_vanishes_in_the_middle_of_a_sound_leaves_nothing(
    worn: Callable[..., Worn], half: Half, capfd: pytest.CaptureFixture[str]
) -> None:
    held = worn(turns=1, ear=tones())
    to = asked(held)["to"]
    for _ in range(5):
        half(held, to).close()
    assert reply(held, to, RIGHT).status_code == 200
    held.thread.join(10)
    assert results(held)[0].reply.text == "answer 0-0"
    assert "Traceback" not in capfd.readouterr().err


def test_who_never_ends_a_sound_is_shown_out(
    worn: Callable[..., Worn], half: Half, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = worn(turns=1, ear=tones())
    to = asked(held)["to"]
    monkeypatch.setattr(server, "LONGEST_WAIT", 0.2)
    one, answer = half(held, to), b""
    while not answer.endswith(b"}"):
        answer += one.recv(2000)
    assert b" 400 " in answer
    assert b"takes longer than" in answer
    assert reply(held, to, RIGHT).status_code == 200


def test_a_flood_of_sounds_is_bounded_and_leaves_the_words_as_they_were(
    worn: Callable[..., Worn], half: Half
) -> None:
    held = worn(turns=1, ear=tones())
    to = asked(held)["to"]
    flood = [half(held, to) for _ in range(server.MOST_CONNECTIONS + 5)]
    refused, _, _ = select.select(flood, [], [], 20)
    assert b" 503 " in refused[0].recv(2000)
    for one in flood:
        one.close()
    while (heard := _tried(held, to)) is None or heard == 503:
        time.sleep(0.01)
    assert heard == 200
    held.thread.join(10)
    assert results(held)[0].reply.text == "answer 0-0"


def _tried(held: Worn, to: str) -> int | None:
    try:
        return reply(held, to, RIGHT).status_code
    except httpx.HTTPError:
        return None
