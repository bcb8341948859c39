"""What was said to a model and what it said, in every way in which spans write it down.

OpenTelemetry's `gen_ai.input.messages`, its older events and log records, OpenLLMetry's
`gen_ai.prompt.N`, OpenInference's `llm.input_messages.N` and plain values of Langfuse and MLflow.
Nothing but role, text, pictures inside of the message and calls of tools is taken: headers, keys
and other attributes are never looked at.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, NamedTuple, cast

import msgspec

from simulator.exchange.traces.spans import Attributes, Span

_SECRET_NAME = re.compile(r"authorization|cookie|token|secret|passw|api.?key|credential", re.I)
_SECRET = re.compile(r"(?i)\b(?:bearer|basic)\s+\S+|\b(?:sk|pk|rk|ghp|xox[abp])[-_][\w*-]{6,}")

_CALLED = r"(?:tool_calls\.(\d{1,6})|function_call)[._](?:tool_call\.)?(?:function\.)?(.+)"


class RequestedTool(NamedTuple):
    """A tool that a model asked for."""

    id: str
    name: str
    arguments: str


class SpanMessage(NamedTuple):
    """One message."""

    role: str
    text: str
    pictures: tuple[bytes, ...] = ()
    calls: tuple[RequestedTool, ...] = ()
    """The tools that it asks for instead of answering."""
    gives: str = ""
    """The call whose result it is."""


def messages_to(span: Span) -> list[SpanMessage]:
    """The messages that a piece of work was given."""
    names = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "input.value")
    return _from(span, names, "user") or _events(span, choices=False)


def messages_from(span: Span) -> list[SpanMessage]:
    """The messages that it gave."""
    names = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "output.value")
    return _from(span, names, "assistant") or _events(span, choices=True)


def without_secrets(value: Any) -> Any:
    """Arguments and errors without what looks like a key, at any depth.

    >>> without_secrets({"q": "kettle", "headers": {"Authorization": "Bearer abc"}})
    {'q': 'kettle', 'headers': {}}
    """
    if isinstance(value, str):
        parsed = _json(value)
        if isinstance(parsed, dict | list):
            return msgspec.json.encode(without_secrets(parsed)).decode()
        return _SECRET.sub("(left out)", value)
    if isinstance(value, dict):
        items = cast("Attributes", value).items()
        return {k: without_secrets(v) for k, v in items if not _SECRET_NAME.search(str(k))}
    if isinstance(value, list):
        return [without_secrets(one) for one in cast("list[Any]", value)]
    return value


def _from(span: Span, names: tuple[str, ...], role: str) -> list[SpanMessage]:
    for name in names:
        value = span.attributes.get(name)
        if value is None:
            value = _numbered(span.attributes, name)
        if found := _messages(value, role):
            return found
    return []


def _numbered(attributes: Attributes, name: str) -> list[Attributes]:
    """`NAME.0.role`, `NAME.0.content` … as a list of messages, with what is numbered in them."""
    found: dict[int, Attributes] = {}
    for key, value in attributes.items():
        if match := re.fullmatch(re.escape(name) + r"\.(\d{1,6})\.(?:message\.)?(.+)", key):
            message = found.setdefault(int(match[1]), {})
            part = re.fullmatch(r"contents\.(\d{1,6})\.message_content\.(.+)", match[2])
            if part:
                message.setdefault("parts", {}).setdefault(int(part[1]), {})[part[2]] = value
            elif called := re.fullmatch(_CALLED, match[2]):
                calls = message.setdefault("tool_calls", {})
                calls.setdefault(int(called[1] or 0), {})[called[2]] = value
            else:
                message[match[2]] = value
    for message in found.values():
        for name in ("parts", "tool_calls"):
            if parts := message.get(name):
                message[name] = [parts[number] for number in sorted(parts)]
    return [found[number] for number in sorted(found)]


def _events(span: Span, *, choices: bool) -> list[SpanMessage]:
    found: list[SpanMessage] = []
    for name, about in span.events:
        kind = re.fullmatch(r"gen_ai\.(system|user|assistant|tool|choice).*", name)
        if kind is None or (kind[1] == "choice") is not choices:
            continue
        body = about.get("body") or {k.removeprefix("gen_ai.event."): v for k, v in about.items()}
        if isinstance(body, dict) and choices:
            body = cast("Attributes", body).get("message", body)
        found += _messages([body], "assistant" if choices else kind[1])
    return found


def _messages(value: Any, role: str) -> list[SpanMessage]:
    value = _json(value)
    if isinstance(value, dict):
        held = cast("Attributes", value)
        if isinstance(choices := held.get("choices"), list):
            value = [one.get("message") for one in choices if isinstance(one, dict)]
        else:
            value = held.get("messages", [held])
    if isinstance(value, str):
        return [SpanMessage(role, text)] if (text := value.strip()) else []
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    if len(items) == 1 and isinstance(items[0], list):
        items = cast("list[Any]", items[0])
    return [_said(one, role) for one in items if isinstance(one, dict | str)]


def _said(message: Any, role: str) -> SpanMessage:
    if isinstance(message, str):
        return SpanMessage(role, message.strip())
    held = cast("Attributes", message)
    texts, pictures = list[str](), list[bytes]()
    role = str(held.get("role") or role)
    gives = held.get("tool_call_id") or (held.get("id") if role == "tool" else None)
    asked = held.get("tool_calls")
    calls = [_call(one) for one in (cast("list[Any]", asked) if isinstance(asked, list) else [])]
    content = held.get("parts")
    for name in ("content", "text", "answer", "output", "question", "query", "input"):
        content = content or _json(held.get(name))
    for part in cast("list[Any]", content) if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            piece = cast("Attributes", part)
            kind = str(piece.get("type"))
            if kind in ("tool_call", "tool_use"):
                calls.append(_call(piece))
            elif kind == "tool_call_response":
                gives = piece.get("id")
                texts.append(str(piece.get("response") or piece.get("result") or ""))
            elif kind in ("text", "input_text", "output_text", "None"):
                texts.append(str(piece.get("text") or piece.get("content") or ""))
            elif (data := _picture(piece)) is not None:
                pictures.append(data)
    text = "".join(texts).strip()
    return SpanMessage(role, text, tuple(pictures), tuple(calls), str(gives or ""))


def _call(call: Any) -> RequestedTool:
    held = cast("Attributes", call) if isinstance(call, dict) else {}
    inner = held.get("function")
    about = cast("Attributes", inner) if isinstance(inner, dict) else held
    given = about.get("arguments", about.get("input", ""))
    text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return RequestedTool(str(held.get("id") or ""), str(about.get("name") or "?"), text)


def _picture(part: Attributes) -> bytes | None:
    """A picture that lies in the message; what only has an address is not fetched."""
    url = part.get("image_url") or part.get("image.image.url") or part.get("uri")
    source = part.get("source")
    if isinstance(url, dict):
        url = cast("Attributes", url).get("url")
    if isinstance(url, str) and url.startswith("data:image/") and ";base64," in url[:80]:
        text = url.partition(";base64,")[2]
    elif isinstance(source, dict):  # Anthropic's
        text = cast("Attributes", source).get("data")
    elif part.get("modality") == "image" or part.get("type") == "blob":
        text = part.get("content") or part.get("data")
    else:
        return None
    try:
        return base64.b64decode(str(text), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _json(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return value
    return value
