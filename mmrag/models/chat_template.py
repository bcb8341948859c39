"""Prompts in a local model's own chat template, with tools, and the calls in what it says.

Templates that know tools are given them. For others the tools stand in words before the
conversation, and the model is asked to write a call as most models were taught to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from mmrag.protocols import Message
from mmrag.records import Json
from mmrag.tools import CallRequest

_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.S)
_BARE = re.compile(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)?\s*([\[{].*[\]}])\s*\Z", re.S)
_INTRODUCTION = """You may call these tools:
{tools}
To call one, write <tool_call>{{"name": "...", "arguments": {{...}}}}</tool_call> and no more. \
You will be given the result. Else answer in words."""


def chat_text(processor: Any, messages: Sequence[Message], tools: Sequence[Json] = ()) -> str:
    """The prompt in the model's own chat template; plain roles where it has none."""
    template = str(getattr(processor, "chat_template", None) or "")
    knows_tools = bool(re.search(r"\btools\b", template))
    said = messages if knows_tools else without_tool_roles(messages, tools)
    if template:
        more = {"tools": list(tools)} if tools and knows_tools else {}
        return processor.apply_chat_template(
            [_for_template(m) for m in said], add_generation_prompt=True, tokenize=False, **more
        )
    mark = getattr(processor, "image_token", "<image>")
    lines = [f"{m.role}: {mark * len(m.images)}{m.text}" for m in said]
    return "\n".join([*lines, "assistant:"])


def calls_in(text: str) -> tuple[str, tuple[CallRequest, ...]]:
    """What is said besides calls, and the calls: tagged ones, or an answer that is one as JSON.

    >>> said, calls = calls_in('<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>')
    >>> said, calls[0].name, calls[0].arguments
    ('', 'look', '{"at":1}')
    """
    tagged = _TAGGED.findall(text)
    bare = None if tagged else _BARE.fullmatch(text)
    found = [call for part in tagged or ([bare[1]] if bare else []) for call in _calls(part)]
    calls = tuple(
        CallRequest(id=f"call-{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(found)
    )
    return (_TAGGED.sub("", text).strip() if tagged else "") if calls else text, calls


def _calls(text: str) -> list[tuple[str, str]]:
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return []
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    found: list[tuple[str, str]] = []
    for item in items:
        if not isinstance(item, dict):
            return []
        call = cast("dict[str, Any]", item)
        name = call.get("name")
        arguments = call.get("arguments", call.get("parameters", {}))
        if not isinstance(name, str) or ("arguments" not in call and "parameters" not in call):
            return []
        if not isinstance(arguments, str):
            arguments = msgspec.json.encode(arguments).decode()
        found.append((name, arguments))
    return found


def _for_template(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": message.text}
    content: list[Json] = [{"type": "image"} for _ in message.images]
    content.append({"type": "text", "text": message.text})
    found: dict[str, Any] = {"role": message.role, "content": content}
    if message.calls:
        found["tool_calls"] = [
            {"type": "function", "function": {"name": c.name, "arguments": _object(c.arguments)}}
            for c in message.calls
        ]
    return found


def _object(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def without_tool_roles(messages: Sequence[Message], tools: Sequence[Json]) -> list[Message]:
    """The conversation for a template that knows neither tools nor their role."""
    found: list[Message] = []
    for message in messages:
        if message.role == "tool":
            found.append(Message(role="user", text=f"Result of the call: {message.text}"))
        elif message.calls:
            written = "".join(
                f'<tool_call>{{"name": "{c.name}", "arguments": {c.arguments}}}</tool_call>'
                for c in message.calls
            )
            found.append(Message(role="assistant", text=f"{message.text}{written}"))
        else:
            found.append(message)
    if tools:
        listed = "\n".join(msgspec.json.encode(tool["function"]).decode() for tool in tools)
        words = _INTRODUCTION.format(tools=listed)
        if found and found[0].role == "system":
            found[0] = Message(role="system", text=f"{found[0].text}\n\n{words}")
        else:
            found.insert(0, Message(role="system", text=words))
    return found
