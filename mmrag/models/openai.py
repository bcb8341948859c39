"""Any OpenAI-compatible endpoint: hosted models, vLLM, llama.cpp, Ollama, `transformers serve`.

Failures are bounded and typed: a `ServiceTimeout` or `ServiceError` after `retries` attempts. The
key is read from the environment when a request is sent; it is kept in no attribute, message or
record.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import math
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import httpx
import msgspec

from mmrag.errors import Denied, ServiceError, ServiceTimeout, SpecError, Unavailable
from mmrag.files.http_bodies import ASK_PLAIN, Body, BodyError, Events
from mmrag.files.images import LazyImage
from mmrag.files.retries import backoff_seconds, retry
from mmrag.models.chat_completions import BrokenStream, ChatCompletion, StreamedAnswer, TokenCounts
from mmrag.models.circuit_breaker import GONE, Circuit, resume_clock
from mmrag.models.endpoint_errors import (
    LONGEST_WAIT,
    cut_answer_message,
    denial_message,
    excerpt,
    is_answer_cut,
    is_denial,
    rejected_field_hint,
    retry_after,
)
from mmrag.models.messages import message_as_json
from mmrag.models.request_limits import AdaptiveLimit
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Usage
from mmrag.registry import Spec
from mmrag.turn_clock import forget_first_word

MAX_BODY = 8 << 20
"""Largest response that is read, in bytes."""

HOSTED = "https://api.openai.com/v1"
"""Where models are when nothing else is said; nobody is answered there without a key."""

_RETRIED = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_TIMEOUT = 60.0
_FOR_EVER = 1e9
_ENDING = 0.2
"""Seconds that a body may take to end after its answer did."""
_ANSWERED = set[tuple[str, str, str]]()
"""Endpoints that a probe of this process was answered by: one that is gone right after it is an
outage to be waited for, and no wrong address."""
_NO_COMPLETION = (
    BrokenStream, msgspec.DecodeError, IndexError, UnicodeDecodeError, RecursionError,
)  # fmt: skip
_GREETING = [Message(role="user", text="Reply with one word: ready")]


class OpenAIModel:
    """A model behind `POST {base_url}/chat/completions`.

    >>> OpenAIModel(name="llava", base_url="http://localhost:8000/v1").id
    'openai:llava'
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str = HOSTED,
        key_env: str = "OPENAI_API_KEY",
        timeout: str | float = _TIMEOUT,
        retries: str | int = 4,
        concurrency: str | float = 4,
        most_concurrency: str | float = 64,
        price_in: str | float = 0.0,
        price_out: str | float = 0.0,
        detail: str = "auto",
        side: str | int = 1280,
        max_tokens: str | int = 0,
        max_tokens_field: str = "max_tokens",
        temperature: str | float = "",
        body: str = "",
        stream: str = "off",
        first_wait: str | float = 0.5,
        patience: str | float = 300.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Prices are US dollars per million tokens; `side` bounds the pictures that are sent.

        `max_tokens` and `temperature` stand for what a caller asks for (`temperature=none` leaves
        it out), `max_tokens_field` is the name that the endpoint knows the former by, and `body`
        holds more fields of a request: `reasoning_effort=low,seed=none`, where none leaves one out.
        `stream=on` has answers streamed, so that turns know when their first word came.
        `patience` is how many seconds an endpoint that answered before may be gone.
        """
        if not name:
            raise SpecError("openai needs a model: openai:name=MODEL,base_url=http://host:8000/v1.")
        self.name = name
        self.id = f"openai:{name}"
        self._base_url = _address(base_url)
        self._key_env = key_env
        self._timeout = _number("timeout", timeout)
        self._retries = int(_number("retries", retries))
        self._concurrency = _number("concurrency", concurrency)
        self._most = _number("most_concurrency", most_concurrency)
        self._prices = (_number("price_in", price_in), _number("price_out", price_out))
        self._detail = detail
        self._side = int(_number("side", side))
        self._max_tokens = int(_number("max_tokens", max_tokens, least=0))
        self._max_tokens_field = _field(max_tokens_field)
        self._fields = _fields(temperature, body)
        if stream not in ("on", "off"):
            raise SpecError(f"openai: stream={stream}: write on or off.")
        self._streams = stream == "on"
        self._let_in = False
        self._first_wait = _number("first_wait", first_wait)
        self._patience = _number("patience", patience, least=0)
        self._transport = transport
        self._open: _Open | None = None
        self._jitter = random.Random(f"{name} {base_url}")

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """One completion, retried within bounds; usage is that of the attempt that was answered."""
        body = self._body(messages, options)
        _, client, limit, circuit = self._connection()

        async def attempt(before: int) -> Completion | _Miss:
            while True:
                await circuit.closed()
                async with limit.slot() as mark:
                    if circuit.is_open:  # since then
                        continue
                    began = time.perf_counter()
                    outcome = await circuit.first_answer(partial(self._attempt, client, body))
                    if isinstance(outcome, Completion):
                        limit.succeeded(time.perf_counter() - began)
                    elif outcome.status == 429:
                        limit.refused(mark)
                    elif outcome.status >= 500 or outcome.status == 0:
                        limit.pause(min(self._backoff(before), 5.0))
                _tell(circuit, outcome)
                if not await circuit.closed():  # it was gone and is back: that was no attempt
                    return outcome

        outcome = await retry(attempt, self._retries, self._pause)
        if isinstance(outcome, _Miss):
            resume_clock()
            raise outcome.error
        return outcome

    async def probe(
        self, seconds: float, options: GenerateOptions = GenerateOptions(), *, picture: bool = False
    ) -> None:
        """Ask for one word, once: what would fail at every turn fails here, with the cure.

        It is asked with these options, and about a grey `picture`, as turns will be. A server that
        is merely busy (429, 5xx) is no failure: a run retries. Who raised `timeout` waits as long.
        """
        if self._base_url == HOSTED and not self._key:
            raise Denied(
                f"{self._where}: asks for a key; set {self._key_env} in the environment, or say "
                "where another server is, as in base_url=http://localhost:8000/v1."
            )
        client = self._connection().client
        seconds = self._timeout if self._timeout > _TIMEOUT else seconds
        shown = (_grey(),) if picture else ()
        greeting = [msgspec.structs.replace(_GREETING[0], images=shown)]
        try:
            async with asyncio.timeout(seconds):
                outcome = await self._attempt(client, self._body(greeting, options))
        except TimeoutError:
            raise ServiceTimeout(
                f"{self._where}: no answer within {seconds:g} s to a question of five words; is it "
                f"still loading? If it is always as slow, say timeout= (above {_TIMEOUT:g})."
            ) from None
        if isinstance(outcome, Completion):
            _ANSWERED.add(self._endpoint)
        elif outcome.status not in _RETRIED:
            raise outcome.error

    def _pause(self, before: int, outcome: Completion | _Miss) -> float | None:
        if isinstance(outcome, Completion) or not outcome.again:
            return None
        return self._backoff(before) if outcome.wait is None else outcome.wait

    async def _attempt(self, client: httpx.AsyncClient, body: dict[str, Any]) -> Completion | _Miss:
        forget_first_word()
        headers = {"content-type": "application/json", **ASK_PLAIN}
        if key := self._key:
            headers["authorization"] = f"Bearer {key}"
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream(
                    "POST",
                    f"{self._base_url}/chat/completions",
                    content=msgspec.json.encode(body),
                    headers=headers,
                ) as response,
            ):
                data = await _read(response)
        except (TimeoutError, httpx.TimeoutException):
            return _Miss(
                ServiceTimeout(
                    f"{self._where}: no answer within {self._timeout:g} s; raise timeout=."
                )
            )
        except httpx.ConnectError:
            error = ServiceError(f"{self._where}: cannot be reached; is the server running?")
            return _Miss(error, gone=True)
        except httpx.HTTPError as broke:
            error = ServiceError(f"{self._where}: the connection broke ({type(broke).__name__}).")
            return _Miss(error, gone=True)
        except _NO_COMPLETION as error:
            return self._unreadable(error)
        except ValueError as error:
            return _Miss(ServiceError(f"{self._where}: {error}"), again=False)
        if isinstance(data, bytes) and response.status_code != 200:
            return self._refusal(response, data, body)
        self._let_in = True
        return self._completion(data, body)

    def _refusal(self, response: httpx.Response, data: bytes, body: dict[str, Any]) -> _Miss:
        code = response.status_code
        said = excerpt(data, self._key)
        if is_denial(code, data, let_in=self._let_in):
            cure = denial_message(code, self._key_env, has_key=bool(self._key))
            return _Miss(
                Denied(f"{self._where}: {cure}. It said: {said}"), status=code, again=False
            )
        more = rejected_field_hint(data, body) if code in (400, 422) else ""
        return _Miss(
            ServiceError(f"{self._where}: HTTP {code}: {said}{more}"),
            status=code,
            again=code in _RETRIED,
            gone=code in GONE,
            wait=retry_after(response.headers),
        )

    def _unreadable(self, error: Exception) -> _Miss:
        said = excerpt(str(error).encode("utf-8", "replace"), self._key)
        return _Miss(ServiceError(f"{self._where}: the answer is not a chat completion ({said})."))

    def _completion(self, data: bytes | StreamedAnswer, body: dict[str, Any]) -> Completion | _Miss:
        try:
            streamed = isinstance(data, StreamedAnswer)
            answer = data.whole() if streamed else msgspec.json.decode(data, type=ChatCompletion)
            choice = answer.choices[0]
        except _NO_COMPLETION as error:
            return self._unreadable(error)
        text, calls = choice.message.text(), choice.message.calls()
        if not calls and is_answer_cut(text, choice.finish_reason):
            return _Miss(
                ServiceError(f"{self._where}: {cut_answer_message(choice.finish_reason)}"),
                status=200,
                again=False,
            )
        counted = answer.usage or TokenCounts()
        tokens_in, tokens_out = counted.prompt_tokens or 0, counted.completion_tokens or 0
        logprobs = choice.logprobs.content if choice.logprobs and choice.logprobs.content else []
        return Completion(
            text=text or "",
            usage=Usage(
                input_tokens=tokens_in,
                output_tokens=tokens_out,
                calls=1,
                cost=(tokens_in * self._prices[0] + tokens_out * self._prices[1]) / 1e6,
            ),
            model=answer.model or str(body["model"]),
            finish=choice.finish_reason or "stop",
            calls=calls,
            logprobs=tuple((t.token, t.logprob) for t in logprobs),
        )

    def _body(self, messages: Sequence[Message], options: GenerateOptions) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [message_as_json(m, self._side, self._detail) for m in messages],
            self._max_tokens_field: self._max_tokens or options.max_tokens,
            "temperature": options.temperature,
            "stream": self._streams,
        }
        if self._streams:
            body["stream_options"] = {"include_usage": True}
        if options.seed is not None:
            body["seed"] = options.seed
        if options.stop:
            body["stop"] = list(options.stop)
        if options.logprobs:
            body["logprobs"] = True
        if options.json_schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": options.json_schema, "strict": True},
            }
        if options.tools:
            body["tools"] = list(options.tools)
        return {k: v for k, v in {**body, **self._fields}.items() if v is not None}

    def _backoff(self, before: int) -> float:
        """Exponential with full jitter, so that conversations do not come back in step."""
        top = backoff_seconds(self._first_wait, before, LONGEST_WAIT)
        return top * (0.5 + 0.5 * self._jitter.random())

    @property
    def _key(self) -> str:
        return os.environ.get(self._key_env, "").strip()  # as from a file, with its last newline

    @property
    def _endpoint(self) -> tuple[str, str, str]:
        return self._base_url, self.name, self._key_env

    @property
    def _where(self) -> str:
        return f"model {self.name!r} at {self._base_url}"

    async def _greet(self) -> bool:
        """Whether anybody answers, whatever is said."""
        client = self._connection().client
        outcome = await self._attempt(client, self._body(_GREETING, GenerateOptions()))
        return isinstance(outcome, Completion) or not (outcome.gone or outcome.status == 0)

    def _connection(self) -> _Open:
        """Client and limit belong to one event loop; a later loop gets its own."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            try:
                client = httpx.AsyncClient(
                    timeout=self._timeout,
                    transport=self._transport,
                    limits=httpx.Limits(max_connections=int(self._most)),
                    follow_redirects=False,
                )
            except (ImportError, ValueError) as error:
                raise Unavailable(
                    f"{self._where}: the environment's proxy cannot be used ({error}); mend or "
                    "unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
                ) from error
            # the loop's clock holds the task as long as it sleeps
            loop.create_task(_close_in_the_end(client))  # noqa: RUF006
            limit = AdaptiveLimit(self._concurrency, self._most)
            silence = self._timeout if self._timeout > _TIMEOUT else None
            circuit = Circuit(self._where, self._greet, self._patience, silence)
            if self._endpoint in _ANSWERED:
                circuit.greeted()
                self._let_in = True
            self._open = _Open(loop, client, limit, circuit)
        return self._open


class _Open(NamedTuple):
    loop: asyncio.AbstractEventLoop
    client: httpx.AsyncClient
    limit: AdaptiveLimit
    circuit: Circuit


async def _close_in_the_end(client: httpx.AsyncClient) -> None:
    """Sleeps until the event loop ends, which cancels whatever still runs, and closes then.

    So nobody between a command and a model has to pass on that all is over.
    """
    try:
        await asyncio.sleep(_FOR_EVER)
    finally:
        await client.aclose()


class _Miss(msgspec.Struct):
    """One attempt that failed."""

    error: ServiceError
    status: int = 0
    again: bool = True
    gone: bool = False
    """Nobody was there to answer."""
    wait: float | None = None


def _tell(circuit: Circuit, outcome: Completion | _Miss) -> None:
    if isinstance(outcome, _Miss) and outcome.gone:
        circuit.refused()
    elif isinstance(outcome, Completion) or outcome.status:
        circuit.answered()  # of a time-out nobody knows


async def _read(response: httpx.Response) -> bytes | StreamedAnswer:
    """The body, or the answer that it streamed, to its end."""
    try:
        if response.status_code != 200 or not Events.are_in(response.headers):
            body = Body(response.headers, MAX_BODY)
            async for part in response.aiter_raw():
                body.add(part)
            return body.data()
        events, streamed = Events(response.headers, MAX_BODY), StreamedAnswer()
        rest = events.each(response.aiter_raw())
        async for event in rest:
            if event == Events.DONE:
                streamed.is_done = True
                await _read_off(rest)
                return streamed
            streamed.add(event)
        return streamed
    except BodyError as error:
        raise ValueError(f"the answer cannot be used: {error}.") from error


async def _read_off(rest: AsyncIterator[bytes]) -> None:
    """Read what a body has after its answer: a connection is used again only where it ended.

    Whatever happens there costs the connection and never the answer.
    """
    with contextlib.suppress(TimeoutError, httpx.HTTPError, BodyError):
        async with asyncio.timeout(_ENDING):
            async for _ in rest:
                pass


def _grey() -> LazyImage:
    """A picture of nothing, as large as any model asks for."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), (128, 128, 128)).save(buffer, "PNG")
    return LazyImage.from_bytes(buffer.getvalue(), name="a grey picture")


def _address(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise SpecError(f"openai: base_url={text}: {error}.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise SpecError(
            f"openai: base_url={text} is not an address; write it as in http://localhost:8000/v1."
        )
    return text.rstrip("/")


def _field(name: str) -> str:
    if name not in ("max_tokens", "max_completion_tokens"):
        raise SpecError(
            f"openai: max_tokens_field={name}: endpoints know max_tokens or max_completion_tokens."
        )
    return name


def _fields(temperature: str | float, text: str) -> dict[str, Any]:
    """What stands in a request for what a caller asks; None: the field is left out."""
    found: dict[str, Any] = {}
    if temperature == "none":
        found["temperature"] = None
    elif temperature != "":
        found["temperature"] = _number("temperature", temperature, least=0)
    for name, value in (Spec.parse(f"body:{text}").options if text else {}).items():
        if name in ("model", "messages") or (name == "stream" and value != "none"):
            raise SpecError(f"openai: body=({name}={value}): {name} cannot be set there.")
        found[name] = None if value == "none" else _json(value)
    return found


def _json(text: str) -> Any:
    """A value of a request: JSON where it is some, else a text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _number(name: str, value: str | float, *, least: float = -math.inf) -> float:
    try:
        number = float(value)
    except ValueError:
        raise SpecError(f"openai: {name}={value} is not a number.") from None
    if not math.isfinite(number):
        raise SpecError(f"openai: {name}={value} is not a number that can be used.")
    if number < least:
        raise SpecError(f"openai: {name}={value} is below {least:g}.")
    return number
