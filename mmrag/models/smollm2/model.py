"""`smollm2`: a small language model that needs no server, no download at run time and no GPU."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import MmragError, ServiceError, SpecError, words
from mmrag.models.chat_template import calls_in, without_tool_roles
from mmrag.models.endpoint_errors import nothing_said, unsaid
from mmrag.models.request_queue import QueuedRequest, Waiting
from mmrag.models.smollm2.weights import (
    SHA256,
    Words,
    check_file,
    read_weights,
    weights_file,
)
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Usage
from mmrag.registry import whole

if TYPE_CHECKING:
    from mmrag.models.smollm2.decoding import Decoding
    from mmrag.models.smollm2.network import Network

NAME = "SmolLM2-135M-Instruct.Q4_1"

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""What the model was tuned to hear first where nobody says anything else."""

_GATHER = 0.005
"""Seconds that the first request waits for company."""


def smollm2(*, batch: str | int = 16, dtype: str = "float32", max_tokens: str | int = 0) -> SmolLM2:
    """`smollm2` or `smollm2:batch=16,dtype=bfloat16,max_tokens=200`.

    What is not installed is told now, before anything is asked.
    """
    return SmolLM2(weights_file(), batch=batch, dtype=dtype, max_tokens=max_tokens)


class SmolLM2:
    """Answers texts, greedily unless a temperature is asked for; it leaves pictures out.

    Requests join a batch as they come and leave it as they are done.
    """

    def __init__(
        self,
        file: Path,
        *,
        sha256: str = SHA256,
        batch: str | int = 16,
        dtype: str = "float32",
        max_tokens: str | int = 0,
    ) -> None:
        """`max_tokens` stands for what a caller asks for, where it is not 0."""
        if dtype not in ("float32", "bfloat16"):
            raise SpecError(f"smollm2: dtype={dtype} is not float32 or bfloat16.")
        self._batch = whole("smollm2", "batch", batch)
        self._max_tokens = whole("smollm2", "max_tokens", max_tokens, least=0)
        self._file, self._sha256, self._dtype = file, sha256, dtype
        self._waiting = Waiting(self._serve)

    async def warm(self) -> None:
        """Load the network, so that no turn's time is spent on it."""
        await asyncio.to_thread(_loaded, self._file, self._sha256, self._dtype)

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """One completion, computed beside whatever other requests there are."""
        return await self._waiting.completion(messages, options, self._max_tokens)

    def _serve(self, first: QueuedRequest) -> None:
        """Answer a request and all that come while there is one to answer."""
        import torch

        try:
            desk = _Desk(*_loaded(self._file, self._sha256, self._dtype), rows=self._batch)
        except BaseException as error:  # the file may hold anything
            _fail(first, error)
            return
        waiting: QueuedRequest | None = first
        seconds = _GATHER
        with torch.inference_mode():
            while waiting is not None or desk.busy:
                while waiting is not None and desk.takes(waiting):
                    waiting = self._waiting.more(seconds)
                seconds = 0.0
                desk.go_on()
                waiting = waiting or self._waiting.more(seconds)


class _Desk:
    """From requests to prompts, and from tokens to completions."""

    def __init__(self, words: Words, network: Network, *, rows: int) -> None:
        from mmrag.models.smollm2.decoding import Decoder

        self._words = words
        self._network = network
        self._begin = lambda: Decoder(network, words.ends, rows=rows)
        self._decoder = self._begin()
        self._asked: dict[int, tuple[QueuedRequest, Decoding]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._asked)

    def takes(self, request: QueuedRequest) -> bool:
        """Begin with a request; False if there is no room for it yet."""
        from mmrag.models.smollm2.decoding import Decoding

        try:
            prompt = self._prompt(without_tool_roles(request.messages, request.options.tools))
            room = self._network.shape.context - len(prompt)
            if room < 1:
                raise ServiceError(
                    f"smollm2: the request has {len(prompt):,} tokens and the model was made for "
                    f"{self._network.shape.context:,}; show it less, or ask a larger model."
                )
            options = request.options
            reply = Decoding(
                prompt=prompt,
                most=min(options.max_tokens, room),
                temperature=options.temperature,
                seed=options.seed or 0,
            )
            if not self._decoder.has_room(reply):
                return False
            self._decoder.join(reply)
            self._asked[id(reply)] = (request, reply)
        except BaseException as error:  # such as a panic of the tokenizer; the others go on
            _fail(request, error)
        return True

    def go_on(self) -> None:
        """Give out what is done, and say one more token of all else."""
        try:
            for request, reply in self._asked.values():
                stopped = any(stop in self._text(reply) for stop in request.options.stop)
                if stopped or request.future.cancelled():
                    reply.finish = "stop"
            for reply in self._decoder.take_done():
                request, _ = self._asked.pop(id(reply))
                _settle(request, self._completion(request, reply))
            if self._asked:
                self._decoder.step()
        except BaseException as error:  # such as too little memory
            for request, _ in self._asked.values():
                _fail(request, error)
            self._asked.clear()
            self._decoder = self._begin()

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        """In the form that the model was tuned on; its marks are set here and nowhere else."""
        words, end = self._words, self._words.ends[0]
        said = [(message.role, message.text) for message in messages]
        if not said or said[0][0] != "system":
            said.insert(0, ("system", SYSTEM))
        after = words.tokens("\n")
        prompt: list[int] = []
        for role, text in said:
            prompt += [words.begin, *words.tokens(f"{role}\n{_plain(text)}"), end, *after]
        return [*prompt, words.begin, *words.tokens("assistant\n")]

    def _completion(self, request: QueuedRequest, reply: Decoding) -> Completion:
        text = self._text(reply)
        for stop in request.options.stop:
            text = text.partition(stop)[0]
        text, calls = calls_in(text.strip()) if request.options.tools else (text.strip(), ())
        return Completion(
            text=text,
            calls=calls,
            usage=Usage(input_tokens=len(reply.prompt), output_tokens=len(reply.tokens), calls=1),
            model=NAME,
            finish=reply.finish,
            logprobs=self._logprobs(reply) if request.options.logprobs else (),
        )

    def _text(self, reply: Decoding) -> str:
        return self._words.text(reply.tokens)

    def _logprobs(self, reply: Decoding) -> tuple[tuple[str, float], ...]:
        pairs = zip(reply.tokens, reply.logprobs, strict=True)
        return tuple((self._words.text([token]), logprob) for token, logprob in pairs)


def _plain(text: str) -> str:
    """The tokenizer takes no lone surrogate."""
    return text.encode("utf-8", "replace").decode()


def _settle(request: QueuedRequest, done: Completion) -> None:
    mute = not done.calls and nothing_said(done.text, done.finish)
    request.settle(ServiceError(f"smollm2: {unsaid(done.finish)}") if mute else done)


def _fail(request: QueuedRequest, error: BaseException) -> None:
    known = isinstance(error, MmragError)
    request.settle(error if known else ServiceError(f"smollm2: {words(error)}"))


_loading = threading.Lock()


def _loaded(file: Path, sha256: str, dtype: str) -> tuple[Words, Network]:
    """The network in memory, once for all that ask it; whoever comes meanwhile waits."""
    with _loading:
        return _load(file, sha256, dtype)


@lru_cache(maxsize=1)
def _load(file: Path, sha256: str, dtype: str) -> tuple[Words, Network]:
    import torch

    from mmrag.models.smollm2.network import Network

    check_file(file, sha256)
    weights = read_weights(file)
    return weights.words, Network(weights, getattr(torch, dtype))
