"""The OpenAI-compatible client against a real server on loopback that injects faults."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest
from PIL import Image

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.files.images import LazyImage
from mmrag.models import models
from mmrag.models.openai import OpenAIModel
from mmrag.models.request_limits import AdaptiveLimit
from mmrag.protocols import GenerateOptions, Message
from mmrag.tools import CallRequest, Tool
from mmrag.turn_clock import CLOCK, TurnClock

HI = [Message(role="user", text="hi")]
SECRET = "sk-never-to-be-seen-123"


def ask(server, options=GenerateOptions(), images=(), **settings):
    async def run():
        model = OpenAIModel(name="m", base_url=server.url, first_wait=0.01, **settings)
        return await model.generate([Message(role="user", text="hi", images=images)], options)

    return asyncio.run(run())


def test_a_completion_with_usage_price_and_logprobs(server):
    done = ask(
        server, GenerateOptions(logprobs=True, seed=3, stop=("x",)), price_in=2, price_out=10
    )
    assert (done.text, done.model) == ("Blue.", "fake-1")
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.calls) == (10, 2, 1)
    assert done.usage.cost == pytest.approx((10 * 2 + 2 * 10) / 1e6)
    assert done.logprobs == (("Blue", -0.1),)
    body = server.bodies[0]
    assert (body["seed"], body["stop"], body["logprobs"]) == (3, ["x"], True)


def test_pictures_and_schema_are_sent(server):
    picture = LazyImage.from_pil(Image.new("RGB", (3000, 20), "red"))
    ask(server, GenerateOptions(json_schema={"type": "object"}), images=(picture,))
    content = server.bodies[0]["messages"][0]["content"]
    assert content[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert content[1] == {"type": "text", "text": "hi"}
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}


TOOL = Tool(name="price", description="A price.", parameters={"type": "object"},
            call=lambda arguments, at: 1)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "id_", "expected"),
    [
        ('{"name": "a"}', "c7", CallRequest(id="c7", name="price", arguments='{"name": "a"}')),
        ({"name": "a"}, None, CallRequest(id="call-0", name="price", arguments='{"name":"a"}')),
        (None, "c7", CallRequest(id="c7", name="price", arguments="{}")),
    ],
)
def test_tools_are_offered_and_calls_come_back(server, arguments, id_, expected):
    call = {"id": id_, "type": "function", "function": {"name": "price", "arguments": arguments}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    server.reply = {**server.reply, "choices": [{"message": said, "finish_reason": "tool_calls"}]}
    done = ask(server, GenerateOptions(tools=(TOOL.schema(),)))
    assert (done.text, done.calls, done.finish) == ("", (expected,), "tool_calls")
    assert server.bodies[0]["tools"] == [TOOL.schema()]
    assert "tools" not in ({} if ask(server) is None else server.bodies[1])


def test_what_a_call_gave_is_sent_as_endpoints_want_it(server):
    call = CallRequest(id="c7", name="price", arguments='{"name": "a"}')
    messages = [
        Message(role="user", text="how much?"),
        Message(role="assistant", text="", calls=(call,)),
        Message(role="tool", text="14.2", call_id="c7"),
    ]
    model = OpenAIModel(name="m", base_url=server.url)
    asyncio.run(model.generate(messages))
    assert server.bodies[0]["messages"][1:] == [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c7", "type": "function",
             "function": {"name": "price", "arguments": '{"name": "a"}'}}]},
        {"role": "tool", "tool_call_id": "c7", "content": "14.2"},
    ]  # fmt: skip


@pytest.mark.parametrize("fault", ["429", "500", "503", "drop", "malformed"])
def test_passing_faults_are_retried(server, fault):
    server.script = [fault, fault]
    assert (ask(server).text, len(server.bodies)) == ("Blue.", 3)


@pytest.mark.parametrize(
    ("fault", "kind", "settings", "asked"),
    [
        *((fault, ServiceError, {"retries": 2}, 3) for fault in ("500", "drop", "malformed", "429")),
        ("slow", ServiceTimeout, {"timeout": 0.7, "retries": 1}, 2),
        ("400", ServiceError, {}, 1), ("401", Unavailable, {}, 1), ("huge", ServiceError, {}, 1),
    ],
)  # fmt: skip
def test_retries_are_bounded_and_failures_typed(server, fault, kind, settings, asked):
    """Faults that stay are not asked for again."""
    server.script = [fault] * 50
    with pytest.raises(kind):
        ask(server, **settings)
    assert len(server.bodies) == asked


def test_a_server_that_is_down(server):
    server.close()
    with pytest.raises(ServiceError, match="cannot be reached"):
        ask(server, retries=1)


def test_streamed_answers_come_over_one_connection(server):
    server.script = ["stream"] * 5

    async def run():
        model = OpenAIModel(name="m", base_url=server.url, stream="on")
        return [(await model.generate(HI)).text for _ in range(5)]

    assert (asyncio.run(run()), server.connections) == (["Blue."] * 5, 1)


def test_retry_after_is_honoured(server):
    server.script = ["429 0.4"]
    began = time.perf_counter()
    ask(server)
    assert time.perf_counter() - began >= 0.4


@pytest.mark.parametrize("content", [None, "", "\x00\x07", "令和", '{"a":', "word " * 10_000])
def test_any_content_comes_back_as_text(server, content):
    server.reply = {"choices": [{"message": {"content": content}}]}
    assert ask(server).text == (content or "")


def test_the_key_comes_from_the_environment_and_is_in_no_message(server, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ask(server)
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    server.script = ["400"]  # the server echoes the key in its complaint
    with pytest.raises(ServiceError) as caught:
        ask(server)
    assert SECRET not in str(caught.value)
    assert SECRET not in caplog.text
    model = OpenAIModel(name="m", base_url=server.url)
    assert SECRET not in repr(vars(model))


def test_concurrency_adapts_to_what_the_server_bears(server):
    server.capacity = 3

    async def run():
        model = OpenAIModel(
            name="m", base_url=server.url, first_wait=0.01, retries=30, concurrency=16
        )
        return await asyncio.gather(*(model.generate(HI) for _ in range(60)))

    assert {c.text for c in asyncio.run(run())} == {"Blue."}
    # after the first refusals the load stays near the capacity: few requests are wasted
    assert len(server.bodies) < 60 + 60


def test_the_limit_grows_by_one_a_round_and_halves_once_per_burst():
    async def run():
        limit = AdaptiveLimit(8, 64)
        for _ in range(8):
            limit.succeeded(1.0)
        assert 8.9 < limit.limit < 9.1
        async with limit.slot() as mark, limit.slot() as twin:
            limit.refused(mark)
            limit.refused(twin)
        assert 4.4 < limit.limit < 4.6

    asyncio.run(run())


def test_where_answers_get_slow_fewer_are_asked_for():
    async def run():
        limit = AdaptiveLimit(8, 64)
        for _ in range(80):
            limit.succeeded(1.0)
        grown = limit.limit
        assert grown > 14
        for _ in range(60):
            limit.succeeded(3.0)  # slower, and still worth it: no more and no fewer
        held = limit.limit
        assert grown <= held < grown + 1
        for _ in range(60):
            limit.succeeded(9.0)
        assert limit.limit < held - 2
        for _ in range(3000):
            limit.succeeded(9.0)  # as long as that for good: that is what is usual now
        assert limit.limit > held

    asyncio.run(run())


def test_several_processes_share_what_a_server_bears(server):
    """Each has a limit of its own; refusals alone tell them of each other."""
    server.capacity = 4

    async def run():
        models = [
            OpenAIModel(name="m", base_url=server.url, first_wait=0.01, retries=40, concurrency=8)
            for _ in range(3)
        ]
        asked = (model.generate(HI) for model in models for _ in range(40))
        return await asyncio.gather(*asked)

    assert {c.text for c in asyncio.run(run())} == {"Blue."}
    assert len(server.bodies) < 120 * 2.5  # else each would be refused five times of six


def outage(server, *, calls=12, lasts=6, **settings):
    """A server that answers, is gone for a while, and answers again."""
    server.greets = False
    server.script = ["", *["503"] * lasts]

    async def run():
        model = OpenAIModel(
            name="m", base_url=server.url, first_wait=0.01, retries=2, concurrency=4, **settings
        )
        await model.generate(HI)
        found = await asyncio.gather(*(model.generate(HI) for _ in range(calls)))
        return [one.text for one in found]

    return asyncio.run(run())


def test_everybody_waits_for_a_server_that_is_gone(server):
    # with two retries all of the first would have failed
    assert outage(server, lasts=8) == ["Blue."] * 12
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    # none was sent in vain but the three that open the circuit and three in flight beside the last
    assert asked.count("hi") <= 1 + 3 + 3 + 12


def test_a_server_that_stays_away_ends_the_run(server):
    with pytest.raises(Denied, match=r"it answered before.*gone for 0.3 s.*mmrag resume"):
        outage(server, lasts=1000, patience=0.3)


def test_one_question_that_a_gateway_gives_up_on_is_no_outage(server):
    server.script = ["", *["503"] * 1000]  # while the short question is answered

    async def run():
        model = OpenAIModel(name="m", base_url=server.url, first_wait=0.01, retries=2)
        await model.generate(HI)
        with pytest.raises(ServiceError, match="HTTP 503"):
            await model.generate(HI)

    asyncio.run(run())
    assert len(server.bodies) < 12


def test_a_turns_clock_stands_until_a_server_that_is_gone_is_asked_again(server):
    answers = [200, 503, 200, *[503] * 9]
    clock, counted = TurnClock(), []

    def answer(request):
        counted.append(clock.seconds)
        body = httpx.ByteStream(json.dumps(server.reply).encode())
        return httpx.Response(answers.pop(0), stream=body)

    async def run():
        model = OpenAIModel(name="m", base_url="http://gone/v1", retries=1, first_wait=1,
                            transport=httpx.MockTransport(answer))  # fmt: skip
        await model.generate(HI)
        CLOCK.set(clock)
        await model.generate(HI)
        assert counted[-1] < 0.5  # what is waited for another attempt, at least
        with pytest.raises(ServiceError, match="HTTP 503"):
            await model.generate(HI)
        given_up = clock.seconds
        await asyncio.sleep(0.01)
        assert clock.seconds > given_up, "what an agent does next is its own time"

    asyncio.run(run())


def test_specs_make_models_and_bad_ones_say_why():
    made = models.create("openai:name=m,base_url=http://127.0.0.1:1/v1,timeout=3")
    assert isinstance(made, OpenAIModel)
    with pytest.raises(SpecError, match="not a number"):
        models.create("openai:name=m,timeout=soon")
    with pytest.raises(SpecError, match="needs a model"):
        models.create("openai:name=")


def test_connections_are_closed_with_the_event_loop(server):
    model = OpenAIModel(name="m", base_url=server.url)
    seen = []

    async def run():
        await asyncio.gather(*(model.generate(HI) for _ in range(3)))
        seen.append(model._open.client)

    for _ in range(2):
        asyncio.run(run())
    assert seen[0] is not seen[1]
    assert all(client.is_closed for client in seen)


def test_an_answer_whose_tokens_nobody_counted_is_one(server):
    server.reply = {
        **server.reply,
        "usage": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
    }
    usage = ask(server).usage
    assert (usage.input_tokens, usage.output_tokens, usage.calls) == (0, 0, 1)


@pytest.mark.parametrize("tokens", [-1, 2**31, 10**400])
def test_tokens_that_cannot_be_are_one_line(server, tokens):
    server.reply = {**server.reply, "usage": {"prompt_tokens": tokens}}
    with pytest.raises(ServiceError, match="not a chat completion"):
        ask(server)


@pytest.mark.parametrize("content", [None, "", " \n", "<think>Let me see", "<think>It is a"])
@pytest.mark.parametrize(
    ("finish", "why"),
    [
        ("length", r"before it said anything.*max_tokens="),
        ("content_filter", r"its filter.*content_filter"),
    ],
)
def test_a_completion_without_an_answer_is_a_failure(server, content, finish, why):
    server.reply = {"choices": [{"message": {"content": content}, "finish_reason": finish}]}
    with pytest.raises(ServiceError, match=why):
        ask(server)
    assert len(server.bodies) == 1  # asking again would be cut again, and billed again


@pytest.mark.parametrize("finish", ["length", "content_filter"])
@pytest.mark.parametrize("content", ["Blue", "<think>hm</think> Blue"])
def test_a_completion_that_was_cut_after_it_said_something_is_one(server, content, finish):
    server.reply = {"choices": [{"message": {"content": content}, "finish_reason": finish}]}
    done = ask(server)
    assert (done.text, done.finish) == (content, finish)


def sent(server, spec, options=GenerateOptions()):
    async def run():
        model = models.create(f"openai:name=m,base_url={server.url},{spec}")
        await model.generate(HI, options)

    asyncio.run(run())
    return {k: v for k, v in server.bodies[-1].items() if k not in ("model", "messages")}


@pytest.mark.parametrize(
    ("spec", "body"),
    [
        ("", {"max_tokens": 75, "temperature": 0.0, "stream": False, "seed": 3}),
        (
            "max_tokens_field=max_completion_tokens,temperature=none",
            {"max_completion_tokens": 75, "stream": False, "seed": 3},
        ),
        (
            "max_tokens=2000,temperature=1",
            {"max_tokens": 2000, "temperature": 1, "stream": False, "seed": 3},
        ),
        (
            "body=(seed=none,stream=none,reasoning_effort=low,top_k=5,opt=({\"a\":[1,2]}))",
            {"max_tokens": 75, "temperature": 0.0, "reasoning_effort": "low", "top_k": 5,
             "opt": {"a": [1, 2]}},
        ),
    ],
)  # fmt: skip
def test_what_a_request_holds_is_an_option_of_the_spec(server, spec, body):
    assert sent(server, spec, GenerateOptions(seed=3, max_tokens=75)) == body


@pytest.mark.parametrize(
    "option",
    ["temperature=warm", "max_tokens_field=tokens", "max_tokens=-1", "max_tokens=x", "body=(a)",
     "body=(model=other)", "body=(messages=none)", "body=(stream=true)"],
)  # fmt: skip
def test_options_of_a_request_that_make_no_sense_are_refused(option):
    with pytest.raises(SpecError, match=option.partition("=")[0]):
        models.create(f"openai:name=m,{option}")


@pytest.mark.parametrize(
    ("complaint", "spec", "hint"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            {}, "max_tokens_field=max_completion_tokens",
        ),
        (
            "max_completion_tokens: Extra inputs are not permitted",
            {"max_tokens_field": "max_completion_tokens"}, "max_tokens_field=max_tokens",
        ),
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            {}, "temperature=none",
        ),
        ("seed: unknown field", {}, "body=(seed=none)"),
        ("response_format is not supported", {}, "body=(response_format=none)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("code", ["400", "422"])
def test_a_refused_parameter_is_told_with_the_option_that_mends_it(
    server, complaint, spec, hint, code
):
    server.script, server.complaint = [code], complaint
    with pytest.raises(ServiceError) as caught:
        ask(server, GenerateOptions(seed=1, json_schema={"type": "object"}), **spec)
    assert complaint in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "complaint",
    [
        "the picture cannot be read",
        "This model's maximum context length is 4096 tokens. Reduce the messages or max_tokens.",
    ],
)
def test_a_refusal_about_something_else_brings_no_hint(server, complaint):
    server.script, server.complaint = ["400"], complaint
    with pytest.raises(ServiceError) as caught:
        ask(server)
    assert "to the model's spec" not in str(caught.value)


def test_a_refused_parameter_is_found_in_a_long_complaint(server):
    server.script, server.complaint = ["422"], f"{'x' * 1000} 'temperature': unknown field"
    with pytest.raises(ServiceError, match="temperature=none") as caught:
        ask(server)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("code", "complaint", "cure"),
    [
        ("401", "who?", "OPENAI_API_KEY"),
        ("403", "not for you", "OPENAI_API_KEY"),
        ("402", "Payment required", "credit"),
        ("429", "You exceeded your current quota (insufficient_quota)", "credit"),
    ],
)
def test_who_is_refused_is_told_so_once(server, code, complaint, cure, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server.script, server.complaint = [code] * 3, complaint
    with pytest.raises(Denied, match=cure) as caught:
        ask(server)
    assert complaint in str(caught.value)
    assert SECRET not in str(caught.value)
    assert len(server.bodies) == 1


def test_a_403_after_answers_is_about_the_request_and_not_the_key(server):
    async def run():
        model = OpenAIModel(name="m", base_url=server.url, first_wait=0.01)
        await model.generate(HI)
        server.script, server.complaint = ["403"], "flagged by moderation"
        with pytest.raises(ServiceError, match="flagged by moderation") as caught:
            await model.generate(HI)
        assert not isinstance(caught.value, Denied)
        server.script = ["401"]
        with pytest.raises(Denied):
            await model.generate(HI)

    asyncio.run(run())
