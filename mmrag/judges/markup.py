"""What a reader does not see: struck-out text, thoughts, wrapping in JSON or code; and emoji."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any


def unwrapped(text: str) -> str:
    """A reply without what a reader does not take for its answer.

    >>> unwrapped('{"answer": "Ghent", "verdict": "perfect"}')
    'Ghent'
    >>> unwrapped("<del>1923</del> 1924")
    ' 1924'
    """
    if "{" in text:
        text = _from_json(text)
    if "<" in text or "~~" in text:
        text = _STRUCK.sub(" ", text)
        text = _THOUGHT.sub(" ", text)
    if "[" in text:
        text = _FOOTNOTE.sub("", text)
        if _TICKED.search(text):
            text = "; ".join(m.group(1) for m in _TICKED.finditer(text))
    if "return" in text and (found := _RETURNED.search(text)):
        text = found.group(2)
    if not text.isascii():
        text = _EMOJI.sub(_named, text)
    if _SPACED.search(text):
        text = _SPACED.sub(lambda m: re.sub(r"\s", "", m.group()), text)
    return text


def _from_json(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    if end < start or _WORD.search(text[:start].replace("json", "")) or end - start > 20_000:
        return text
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict):
        return text
    after = text[end + 1 :].strip("` \n")
    said = _answers(found)
    return "; ".join([*said, after] if after else said) or text


def _answers(found: dict[str, Any]) -> list[str]:
    """The field that is called an answer; else every field that is no verdict on itself."""
    fields = {str(k).lower(): _told(v) for k, v in found.items()}
    for name in _ANSWER_FIELDS:
        if name in fields:
            return [fields[name]]
    return [v for k, v in fields.items() if v and not _OWN_VERDICT.search(k)]


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(_answers(value))
    if isinstance(value, list):
        return ", ".join(_told(one) for one in value[:50])
    return "" if value is None else str(value)


def _named(match: re.Match[str]) -> str:
    name = unicodedata.name(match.group(), "").lower()
    return name[-1] if name.startswith("regional") else f" {name} "


_WORD = re.compile(r"[^\W_]")
_ANSWER_FIELDS = (
    "final_answer",
    "final answer",
    "answer",
    "result",
    "response",
    "reply",
    "prediction",
    "value",
    "text",
    "output",
)
_OWN_VERDICT = re.compile(
    r"verdict|outcome|score|grade|correct|accura|confiden|judge|rating|reason|key|status|thought|note|type|question|reference|alternative|rejected|candidate"
)
_STRUCK = re.compile(
    r"(?is)~~.{0,500}?~~|<(del|s|strike)\b[^<>]{0,200}>.{0,2000}?</\1\s*>|<!--.{0,2000}?-->"
)
_THOUGHT = re.compile(r"(?is)<(think|thinking|scratchpad|reasoning)>.{0,20000}?</\1\s*>")
_FOOTNOTE = re.compile(r"(?m)^\s*\[\^?\d{1,3}\]:?\s*<?https?://\S+\s*$")
_TICKED = re.compile(r"(?mi)^\s*[-*]?\s*\[x\]\s*(.{1,200})$")
_RETURNED = re.compile(r"(?m)^\s+return\s+(['\"])(.{1,200}?)\1\s*$")
_EMOJI = re.compile("[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u2600-\u27bf]")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\s{1,3}){3,}[^\W\d_](?![^\W_])")
