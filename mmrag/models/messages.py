"""Messages as chat-completion endpoints take and give them: texts, pictures, calls of tools."""

from __future__ import annotations

from typing import Any

import msgspec

from mmrag.files.images import LazyImage, data_uri, jpeg
from mmrag.protocols import Message
from mmrag.tools import CallRequest


def sent(message: Message, side: int, detail: str) -> dict[str, Any]:
    """A message for an endpoint; pictures are at most `side` long."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.calls:
        calls = [_sent_call(call) for call in message.calls]
        return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    if not message.images:
        return {"role": message.role, "content": message.text}
    pictures = [
        {"type": "image_url", "image_url": {"url": _data_url(i, side), "detail": detail}}
        for i in message.images
    ]
    return {"role": message.role, "content": [*pictures, {"type": "text", "text": message.text}]}


def _data_url(image: LazyImage, side: int) -> str:
    """As JPEG: any server reads that."""
    return data_uri(jpeg(image.pil(), 90, side=side))


class _Part(msgspec.Struct):
    text: str = ""


class FunctionPart(msgspec.Struct):
    """Of a call: which tool, and with what."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallPart(msgspec.Struct):
    """Of an endpoint's answer: a tool that is to be called."""

    function: FunctionPart
    id: str | None = None
    index: int | None = None
    """Which call this is a piece of, in a stream."""


class EndpointMessage(msgspec.Struct):
    """What the model said in an endpoint's answer."""

    content: str | list[_Part] | None = None
    tool_calls: list[CallPart] | None = None

    def text(self) -> str | None:
        """The words, in one piece."""
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content

    def calls(self) -> tuple[CallRequest, ...]:
        """The tools that it asks for. Some servers give arguments as objects, or calls no id."""
        return tuple(
            CallRequest(
                id=call.id or f"call-{number}",
                name=call.function.name or "",
                arguments=_as_text(call.function.arguments),
            )
            for number, call in enumerate(self.tool_calls or ())
        )


def _as_text(arguments: str | dict[str, Any] | None) -> str:
    if isinstance(arguments, dict):
        return msgspec.json.encode(arguments).decode()
    return arguments or "{}"


def _sent_call(call: CallRequest) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
