"""What a chat-completion endpoint answers, in one piece or streamed."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mmrag.models.messages import CallPart, EndpointMessage
from mmrag.records import MOST_TOKENS
from mmrag.turn_clock import FirstWordTimer

MOST_CALLS = 128
"""Of tools, in one answer; a stream names each by its number."""


class Token(msgspec.Struct):
    """A token and its log-probability."""

    token: str
    logprob: float


class Logprobs(msgspec.Struct):
    """Of an answer's tokens."""

    content: list[Token] | None = None


class Choice(msgspec.Struct):
    """One of the answers; nobody asks for more than one."""

    message: EndpointMessage
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


_Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]


class TokenCounts(msgspec.Struct):
    """Of tokens."""

    prompt_tokens: _Count | None = 0
    completion_tokens: _Count | None = 0


class ChatCompletion(msgspec.Struct):
    """A whole chat completion."""

    choices: list[Choice]
    model: str | None = None
    usage: TokenCounts | None = None


class _ChoicePiece(msgspec.Struct):
    delta: EndpointMessage | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


class _Piece(msgspec.Struct):
    choices: list[_ChoicePiece] | None = None
    model: str | None = None
    usage: TokenCounts | None = None
    error: Any = None


class BrokenStream(Exception):
    """A stream that did not come to its end, or says that something failed."""


class StreamedAnswer:
    """An answer in the making: `add` its chunks, as `stream: true` brings them."""

    is_done = False
    """Whether the stream said that it is over."""

    def __init__(self) -> None:
        self._words, self._calls = FirstWordTimer(), list[CallPart]()
        self._finish: str | None = None
        self._tokens: list[Token] = []
        self._answer = ChatCompletion(choices=[])

    def add(self, chunk: bytes) -> None:
        """Take a chunk; raises `BrokenStream` or what msgspec raises where it is none."""
        piece = msgspec.json.decode(chunk, type=_Piece)
        if piece.error is not None:
            raise BrokenStream(f"it broke off and says {piece.error}")
        self._answer.model = piece.model or self._answer.model
        self._answer.usage = piece.usage or self._answer.usage
        for choice in (piece.choices or ())[:1]:
            delta = choice.delta or EndpointMessage()
            self._words.add(delta.text() or "")
            for call in delta.tool_calls or ():
                self._call(call)
            self._finish = choice.finish_reason or self._finish
            self._tokens += (choice.logprobs and choice.logprobs.content) or ()

    def whole(self) -> ChatCompletion:
        """The answer; raises `BrokenStream` where the stream ended before it did."""
        if not self.is_done and self._finish is None:
            raise BrokenStream(f"it broke off after {self._words.length:,} characters")
        message = EndpointMessage(content=self._words.text, tool_calls=self._calls or None)
        self._answer.choices = [Choice(message, self._finish, Logprobs(self._tokens))]
        return self._answer

    def _call(self, piece: CallPart) -> None:
        """A call's name comes first, its arguments bit by bit."""
        place = len(self._calls) if piece.index is None else piece.index
        if not 0 <= place <= min(len(self._calls), MOST_CALLS - 1):
            raise BrokenStream(f"it calls tool number {place} after {len(self._calls)}")
        if place == len(self._calls):
            self._calls.append(piece)
            return
        call, more = self._calls[place].function, piece.function
        call.name = (call.name or "") + (more.name or "")
        if isinstance(call.arguments, str) and isinstance(more.arguments, str):
            call.arguments += more.arguments
        else:
            call.arguments = more.arguments or call.arguments
