"""Asked once beforehand: what is learnt from it, and what is not taken for an answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.models import circuit_breaker, openai
from mmrag.models.openai import OpenAIModel
from mmrag.protocols import Completion, GenerateOptions, Message
from simulator.parts import preflight

GOOD = b'{"choices": [{"message": {"content": "ready"}}]}'
ASKED = [Message(role="user", text="Well?")]


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_ANSWERED", set())


def said(code: int = 200, body: bytes = GOOD) -> httpx.Response:
    return httpx.Response(code, stream=httpx.ByteStream(body))


def model(answer: Callable[[httpx.Request], Any], **options: Any) -> OpenAIModel:
    known = {"base_url": "http://there/v1", "first_wait": 0.01, "retries": 1, **options}
    return OpenAIModel(name="m", transport=httpx.MockTransport(answer), **known)


def test_a_server_that_drops_after_it_answered_is_waited_for() -> None:
    asked = 0

    def restarting(_: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        if 1 < asked < 6:
            raise httpx.ConnectError("nobody there")
        return said()

    async def both() -> list[Completion]:
        await model(restarting).probe(5)
        run = model(restarting, patience=20)  # another one, as the run's own is
        return await asyncio.gather(*(run.generate(ASKED) for _ in range(4)))

    assert [done.text for done in asyncio.run(both())] == ["ready"] * 4


class Greeting:
    """Answers the probe, and to a question only when it may."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if b"one word: ready" not in request.content:
            await self.may_answer.wait()
        return said()


@pytest.mark.parametrize("seconds", [60.0, 0.05])
def test_a_server_that_greets_and_then_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Also where each turn's own limit cuts the question off before."""
    monkeypatch.setattr(circuit_breaker, "SILENCE", 0.2)

    async def ask() -> None:
        await model(Greeting()).probe(5)
        run = model(Greeting())
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(run.generate(ASKED), seconds)

    with pytest.raises(Denied, match=r"in 0\.2 s.*timeout="):
        asyncio.run(asyncio.wait_for(ask(), 20))


def test_a_slow_question_is_not_cut_off_once_another_was_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(circuit_breaker, "SILENCE", 0.2)

    async def both() -> list[Completion]:
        slow, asked = Greeting(), 0

        async def answer(request: httpx.Request) -> httpx.Response:
            nonlocal asked
            asked += 1
            return said() if asked == 1 else await slow(request)

        run = model(answer)
        first = await run.generate(ASKED)
        asyncio.get_running_loop().call_later(0.4, slow.may_answer.set)
        return [first, await run.generate(ASKED)]

    assert [done.text for done in asyncio.run(both())] == ["ready"] * 2


def test_who_raised_the_time_out_waits_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "SILENCE", 0.05)

    async def ask() -> Completion:
        slow = Greeting()
        asyncio.get_running_loop().call_later(0.2, slow.may_answer.set)
        return await model(slow, timeout=90).generate(ASKED)

    assert asyncio.run(ask()).text == "ready"


def test_one_refused_picture_ends_no_run_whose_key_was_let_in() -> None:
    codes = [200, 403]

    def moderating(_: httpx.Request) -> httpx.Response:
        return said(codes.pop(0))

    async def both() -> None:
        await model(moderating).probe(5)
        await model(moderating).generate(ASKED)

    with pytest.raises(ServiceError) as caught:
        asyncio.run(both())
    assert not isinstance(caught.value, Denied)


def test_what_was_given_up_is_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "LONGEST", 0.1)
    there = True

    def coming_and_going(_: httpx.Request) -> httpx.Response:
        if not there:
            raise httpx.ConnectError("nobody there")
        return said()

    async def talk() -> str:
        nonlocal there
        live = model(coming_and_going, patience=0.2, retries=4)
        await live.generate(ASKED)
        there = False
        for _ in range(2):
            with pytest.raises(Denied):
                await live.generate(ASKED)
        there = True
        await asyncio.sleep(0.15)
        return (await live.generate(ASKED)).text

    assert asyncio.run(talk()) == "ready"


def test_it_is_asked_as_the_run_will_ask() -> None:
    bodies: list[dict[str, Any]] = []

    def noting(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return said()

    asyncio.run(model(noting).probe(5, GenerateOptions(seed=0), picture=True))
    asyncio.run(model(noting).probe(5))
    assert bodies[0]["seed"] == 0
    assert "image_url" in json.dumps(bodies[0]["messages"])
    assert "seed" not in bodies[1]
    assert "image_url" not in json.dumps(bodies[1]["messages"])


def test_who_says_that_it_is_slow_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_TIMEOUT", 0.1)

    async def slow(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.3)
        return said()

    asyncio.run(model(slow, timeout=5).probe(0.05))
    with pytest.raises(ServiceTimeout, match="say timeout="):
        asyncio.run(model(slow, timeout=0.1).probe(0.05))


def test_a_name_with_a_plus_is_one_name() -> None:
    spec = "openai:name=command-r+,base_url=http://there/v1"
    assert preflight._endpoints(f"llm-only:model=({spec})") == [spec]
    panel = "panel:judges=builtin+model:model=(openai:name=a)"
    assert preflight._endpoints(panel) == ["openai:name=a"]


@pytest.mark.parametrize(
    "address",
    ["http://localhost:80a0/v1", "localhost:8000", "file:///etc/passwd", "http://", "//x"],
)
def test_what_is_no_address_is_refused_by_name(address: str) -> None:
    with pytest.raises(SpecError, match="base_url"):
        OpenAIModel(name="m", base_url=address)


@pytest.mark.parametrize("option", ["retries", "side", "max_tokens", "most_concurrency", "timeout"])
@pytest.mark.parametrize("value", ["inf", "nan", "-inf"])
def test_what_is_no_number_is_refused_by_name(option: str, value: str) -> None:
    with pytest.raises(SpecError, match=option):
        OpenAIModel(name="m", **{option: value})


def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_proxy(**_: object) -> None:
        raise ImportError("Using SOCKS proxy, but the 'socksio' package is not installed.")

    monkeypatch.setattr(httpx, "AsyncClient", no_proxy)
    with pytest.raises(Unavailable, match="ALL_PROXY"):
        asyncio.run(OpenAIModel(name="m", base_url="http://there/v1").generate(ASKED))


def test_an_answer_that_is_too_deep_is_an_error() -> None:
    deep = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    def answering(_: httpx.Request) -> httpx.Response:
        return said(200, deep)

    with pytest.raises(ServiceError, match="not a chat completion"):
        asyncio.run(model(answering, retries=0).generate(ASKED))


def test_a_key_may_end_in_a_newline(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def noting(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["authorization"])
        return said()

    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-a-file\n")
    asyncio.run(model(noting).generate(ASKED))
    assert sent == ["Bearer sk-from-a-file"]
