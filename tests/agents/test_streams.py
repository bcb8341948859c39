"""Replies that come in pieces: from async generators, endpoints of one's own and models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from mmrag import turn_clock
from mmrag.agents.external import adapters
from mmrag.agents.external.adapters import HttpAgent, PythonAgent
from mmrag.cache import Cache, CachedModel
from mmrag.errors import MmragError, ServiceError, ServiceTimeout, SpecError
from mmrag.files.http_bodies import Events
from mmrag.models.chat_completions import MOST_CALLS
from mmrag.models.model_thread_queue import ModelThreadQueue, QueuedRequest
from mmrag.models.openai import OpenAIModel
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Query, Reply, Status
from mmrag.tools import CallRequest
from mmrag.turn_clock import CLOCK, FirstWordTimer, TurnClock, forget_first_word
from simulator.run.engine import AskedTurn, Rules, ask_turn

QUERY = Query(text="what is it?", session_id="s")


def asked(answer: Any, **rules: Any) -> AskedTurn:
    agent = answer if hasattr(answer, "answer") else PythonAgent(SimpleNamespace(answer=answer))
    return asyncio.run(ask_turn(agent, QUERY, Rules(**{"max_tokens": 0, **rules})))


# -- async generators


async def kettle(query: Query) -> AsyncIterator[str | Reply]:
    yield " "
    yield "An Alder"
    yield Reply(text=" kettle", citations=("p1",), confidence=0.5)


def test_the_pieces_of_a_generator_are_one_reply_with_the_time_of_its_first_word() -> None:
    got = asked(kettle)
    assert got.reply is not None
    assert got.reply == Reply(text=" An Alder kettle", citations=("p1",), confidence=0.5)
    assert got.first_word is not None
    assert 0 <= got.first_word <= got.seconds
    assert asked(lambda query: "A kettle").first_word is None


def test_a_plain_generator_speaks_as_well() -> None:
    def answer(query: Query) -> Iterator[str | Reply]:
        yield " "
        yield "An Alder"
        yield Reply(text=" kettle", citations=("p1",), confidence=0.5)

    got = asked(answer)
    assert got.reply == Reply(text=" An Alder kettle", citations=("p1",), confidence=0.5)
    assert got.first_word is not None
    assert 0 <= got.first_word <= got.seconds

    def breaks(query: Query) -> Iterator[str]:
        yield "An"
        raise ValueError("no more")

    assert asked(breaks).status is Status.AGENT_ERROR


def test_what_is_no_text_stays_as_it_was_last_given() -> None:
    async def answer(query: Query) -> AsyncIterator[str | Reply]:
        yield Reply(text="Hello", citations=("a",), confidence=0.5, ask="look")
        yield Reply(text=" to", confidence=0.0)
        yield " you"

    kept = Reply(text="Hello to you", citations=("a",), confidence=0.0, ask="look")
    assert asked(answer).reply == kept


def test_a_method_of_a_class_streams_as_well() -> None:
    class Mine:
        async def answer(self, query: Query) -> AsyncIterator[str]:
            yield "A kettle"

    assert asked(PythonAgent(Mine())).reply == Reply(text="A kettle")


def bad(kind: str) -> Any:
    async def answer(query: Query) -> AsyncIterator[Any]:
        while kind != "nothing":
            yield 3 if kind == "a number" else "never " * 50_000 if kind == "endless" else "well"
            if kind == "raises":
                raise ValueError("the wire is cut")
            if kind == "hangs":
                await asyncio.Event().wait()

    return answer


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [
        ("raises", Status.AGENT_ERROR, "the wire is cut"),
        ("a number", Status.AGENT_ERROR, "object of type int"),
        ("endless", Status.AGENT_ERROR, "more than 1,000,000 characters"),
        ("hangs", Status.TIMEOUT, "no reply within"),
    ],
)
def test_a_generator_that_goes_wrong_costs_its_turn(kind: str, status: Status, says: str) -> None:
    got = asked(bad(kind), seconds=0.3 if kind == "hangs" else 10.0)
    assert (got.reply, got.status, got.first_word) == (None, status, None)
    assert says in (got.error or "")
    assert "\n" not in (got.error or "")


def test_who_yields_nothing_has_said_nothing() -> None:
    got = asked(bad("nothing"))
    assert (got.reply, got.first_word) == (Reply(text=""), None)


def test_the_generator_is_put_away_where_it_is_left() -> None:
    closed: list[bool] = []

    async def answer(query: Query) -> AsyncIterator[object]:
        try:
            yield 3
        finally:
            closed.append(True)

    assert (asked(answer).status, closed) == (Status.AGENT_ERROR, [True])


def test_what_a_model_thinks_is_no_word_and_the_last_stream_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(turn_clock, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    clock = TurnClock()
    CLOCK.set(clock)
    for begins, pieces, word in (
        (1.0, ("<th", "ink>5 kg", "</think>\n", "", "5", " kg"), 5.0),
        (10.0, ("5 <think>",), 11.0),
        (20.0, ("<think>for ever",), 11.0),
    ):
        now[0], words = begins, FirstWordTimer()
        for piece in pieces:
            now[0] += 1.0
            words.add(piece)
        assert (words.text, clock.first_word) == ("".join(pieces), word + (begins == 1.0))


# -- endpoints


class Served(httpx.AsyncByteStream):
    """A body in given parts; what is left of it when nobody reads on stays."""

    def __init__(self, parts: list[bytes], *, hangs: bool = False) -> None:
        self.parts, self.hangs = parts, hangs

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.parts:
            yield self.parts.pop(0)
        if self.hangs:
            await asyncio.Event().wait()


def events(*values: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(value, ensure_ascii=False)}\n\n" for value in values]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def cut(data: bytes, size: int = 7) -> list[bytes]:
    """In parts that fall into the middle of characters and of lines."""
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Any:
    client = httpx.AsyncClient

    def serve(parts: list[bytes], *, hangs: bool = False, seconds: float = 5.0) -> HttpAgent:
        def answer(request: httpx.Request) -> httpx.Response:
            headers = {"content-type": f"{Events.TYPE}; charset=utf-8"}
            return httpx.Response(200, headers=headers, stream=Served(parts, hangs=hangs))

        transport = httpx.MockTransport(answer)
        monkeypatch.setattr(
            adapters.httpx, "AsyncClient", lambda **more: client(transport=transport, **more)
        )
        return HttpAgent("http://agent.example/", seconds=seconds)

    return serve


def test_an_endpoint_streams_events(endpoint: Any) -> None:
    data = events({"text": "Ein Kessel"}, {"text": " für Öl", "confidence": 0.5, "ask": "look"})
    got = asked(endpoint([*cut(b": hello\r\n\r\n" + data), b"after it"], hangs=True))
    assert got.reply == Reply(text="Ein Kessel für Öl", confidence=0.5, ask="look")
    assert got.first_word is not None


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_last_event_may_want_its_blank_line(endpoint: Any, end: bytes) -> None:
    data = events({"text": "A kettle"}).replace(b"\n", end).removesuffix(end)
    assert asked(endpoint([data])).reply == Reply(text="A kettle")


def test_a_streamed_confidence_of_nothing_is_one(endpoint: Any) -> None:
    data = events(
        {"text": "A", "confidence": 0.5}, {"text": " kettle", "confidence": 0.0}, {"text": ""}
    )
    assert asked(endpoint([data])).reply == Reply(text="A kettle", confidence=0.0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "broke off after 0 characters"),
        (events({"text": "A kettle"}, done=False), "broke off after 8 characters"),
        (events({"text": "ä"}, done=False)[:-5], "broke off after 0 characters"),
        (b'data: {"text": "\xc3"}\n\n', "An answer is one line"),
        (b"data: nonsense\n\n", "An answer is one line"),
        (events({"text": "x" * 1000}) * 10_000, "larger than 4,194,304 bytes"),
    ],
    ids=["nothing", "no end", "half a character", "no utf-8", "no json", "10 MB"],
)
def test_an_endpoint_whose_stream_goes_wrong_costs_its_turn(
    endpoint: Any, data: bytes, says: str
) -> None:
    data = data.replace(b"data: [DONE]\n\n", b"") if len(data) > 10_000_000 else data
    got = asked(endpoint(cut(data, 1 << 16)))
    assert (got.reply, got.status) == (None, Status.AGENT_ERROR)
    assert says in (got.error or "")
    assert "\n" not in (got.error or "")


def test_an_endpoint_that_never_ends_is_given_up(endpoint: Any) -> None:
    agent = endpoint(cut(events({"text": "well"}, done=False)), hangs=True, seconds=0.1)
    with pytest.raises(ServiceTimeout, match=r"no answer within 0\.1 s"):
        asyncio.run(agent.answer(QUERY))


def test_a_line_that_never_ends_is_not_read_again_and_again() -> None:
    body = Events({}, limit=1 << 20)
    assert [body.take(b"x" * 64) for _ in range(10_000)] == [[]] * 10_000


# -- models


def generated(
    parts: list[bytes], *, hangs: bool = False, kind: str = Events.TYPE, bodies: Any = None, **more
) -> tuple[Any, float | None, list[Any]]:
    bodies = [] if bodies is None else bodies

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        stream = Served(list(parts), hangs=hangs)
        return httpx.Response(200, headers={"content-type": kind}, stream=stream)

    async def run() -> Any:
        clock = TurnClock()
        CLOCK.set(clock)
        model = OpenAIModel(
            name="m", base_url="http://model.example/v1", transport=httpx.MockTransport(answer),
            **{"stream": "on", "retries": 1, "first_wait": 0.001, **more},
        )  # fmt: skip
        done = await model.generate([Message(role="user", text="hi")], GenerateOptions())
        return done, clock.first_word, bodies

    return asyncio.run(run())


def delta(text: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"content": text, **more}
    return {"model": "fake-1", "choices": [{"delta": said, "finish_reason": finish}]}


WHOLE = b'{"choices": [{"message": {"content": "Blue."}, "finish_reason": "stop"}]}'
USAGE = {"choices": None, "usage": {"prompt_tokens": 10, "completion_tokens": 2}}


def test_a_model_streams_and_says_what_it_cost() -> None:
    data = events(delta(role="assistant"), delta("Blä"), delta("u."), delta(None, "stop"), USAGE)
    done, first, bodies = generated(cut(data), hangs=True)
    assert (done.text, done.finish, done.model) == ("Bläu.", "stop", "fake-1")
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.calls) == (10, 2, 1)
    assert first is not None
    assert (bodies[0]["stream"], bodies[0]["stream_options"]) == (True, {"include_usage": True})
    ended = events(delta("Blue."), delta(None, "stop"), done=False)
    for cut_short in (ended, ended.removesuffix(b"\n")):  # some servers say no [DONE]
        assert generated([cut_short])[0].text == "Blue."


def test_calls_of_tools_come_bit_by_bit() -> None:
    def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
        function = {"arguments": arguments, **more}
        return {"index": index, "id": "c7" if more else None, "function": function}

    data = events(
        delta(tool_calls=[call(0, "", name="price")]), delta(tool_calls=[call(0, '{"a":')]),
        delta(tool_calls=[call(0, "1}")]), delta(None, "tool_calls"),
    )  # fmt: skip
    done, first, _ = generated(cut(data))
    assert done.calls == (CallRequest(id="c7", name="price", arguments='{"a":1}'),)
    assert first is None
    with pytest.raises(ServiceError, match="calls tool number 9000000 after 0"):
        generated([events(delta(tool_calls=[call(9_000_000, "", name="price")]))])
    many = [delta(tool_calls=[call(i, "{}", name="price")]) for i in range(MOST_CALLS + 1)]
    assert len(generated([events(*many[:-1])])[0].calls) == MOST_CALLS
    with pytest.raises(ServiceError, match=f"calls tool number {MOST_CALLS} after {MOST_CALLS}"):
        generated([events(*many)])


def test_a_server_that_does_not_stream_is_read_as_ever() -> None:
    done, first, _ = generated([WHOLE], kind="application/json")
    assert (done.text, first) == ("Blue.", None)


LATER = {
    "a server that answers in one piece": lambda streams: OpenAIModel(
        name="m", base_url="http://model.example/v1",
        transport=httpx.MockTransport(lambda _: httpx.Response(200, stream=Served([WHOLE])))
    ),
    "a cache": lambda streams: streams, "a model of this process": lambda streams: local()
}  # fmt: skip


@pytest.mark.parametrize("kind", LATER)
def test_words_of_an_earlier_call_are_not_the_replys(kind: str) -> None:
    data = events(delta("Blue."), delta(None, "stop"))
    headers = {"content-type": Events.TYPE}
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers=headers, stream=Served([data]))
    )
    model = OpenAIModel(
        name="m", base_url="http://model.example/v1", stream="on", transport=transport
    )
    streams = CachedModel(model, "m", Cache(1 << 20))
    hi = [Message(role="user", text="hi")]
    firsts: list[float | None] = []

    async def twice() -> None:
        clock = TurnClock()
        CLOCK.set(clock)
        for one in (streams, LATER[kind](streams)):
            await one.generate(hi)
            firsts.append(clock.first_word)

    asyncio.run(twice())
    assert firsts[0] is not None
    assert firsts[1] is None


def local() -> Any:
    def serve(request: QueuedRequest) -> None:
        request.settle(Completion(text="Blue."))

    waiting = ModelThreadQueue(serve)
    options = GenerateOptions()
    return SimpleNamespace(generate=lambda messages: waiting.completion(messages, options, 0))


def test_words_told_by_a_generator_stay_told_whatever_its_model_does() -> None:
    firsts: list[float | None] = []

    async def answer(query: Query) -> AsyncIterator[str]:
        clock = CLOCK.get()
        assert clock is not None
        yield "It is "
        firsts.append(clock.first_word)
        forget_first_word()
        yield "a kettle"
        firsts.append(clock.first_word)

    asked(answer)
    assert firsts[0] == firsts[1] is not None


@pytest.mark.parametrize(
    ("data", "says", "tries"),
    [
        (b"", "broke off after 0 characters", 2),
        (events(delta("Blue"), done=False), "broke off after 4 characters", 2),
        (events(delta("ä"), done=False)[:-30], "broke off after 0 characters", 2),
        (b'data: {"choices": "\xc3"}\n\n', "not a chat completion", 2),
        (events({"error": {"message": "out of memory"}}), "out of memory", 2),
        (events(delta("x" * 1000), done=False) * 10_000, "larger than 8,388,608 bytes", 1),
    ],
    ids=["nothing", "no end", "half a character", "no utf-8", "says so", "10 MB"],
)
def test_a_stream_that_goes_wrong_is_an_attempt_that_failed(
    data: bytes, says: str, tries: int
) -> None:
    seen: list[Any] = []
    with pytest.raises(MmragError, match=says) as caught:
        generated(cut(data, 1 << 16), bodies=seen)
    assert "\n" not in str(caught.value)
    assert len(seen) == tries


def test_a_model_whose_stream_never_ends_is_given_up() -> None:
    with pytest.raises(ServiceTimeout):
        generated([events(delta("Blue"), done=False)], hangs=True, timeout=0.05)


def test_stream_is_on_or_off() -> None:
    with pytest.raises(SpecError, match="stream=yes: write on or off"):
        OpenAIModel(name="m", stream="yes")
