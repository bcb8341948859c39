"""The form of a reply: one clean line, at most 75 tokens, "I don't know" when abstaining."""

from __future__ import annotations

import re
import unicodedata

import msgspec

from mmrag.records import Reply, Step, Usage
from mmrag.tokens import cut_text

ABSTAIN = "I don't know"
MAX_TOKENS = 75
_LONGEST = 20_000

_REFUSAL = re.compile(
    r"^\W*(?:sorry[, ]+)?(?:i\s+(?:really\s+)?"
    r"(?:don.?t|do not|cannot|can.?t|am unable to|am not able to)\s+"
    r"(?:know|tell|say|determine|answer|be sure|identify|find)|i'?m not (?:sure|certain)|unknown\b|"
    r"no (?:idea|answer)\b|not enough information)",
    re.I,
)


def make_reply(
    text: str,
    *,
    trace: tuple[Step, ...] = (),
    usage: Usage = Usage(),
    confidence: float | None = None,
    citations: tuple[str, ...] = (),
) -> Reply:
    """A reply from whatever a reader said. Nothing usable is an abstention, never an empty text."""
    clean = clean_text(text)
    if not clean or is_refusal(clean):
        return Reply(text=ABSTAIN, abstained=True, trace=trace, usage=usage, confidence=confidence)
    return Reply(
        text=cut_text(clean, MAX_TOKENS),
        trace=trace,
        usage=usage,
        confidence=confidence,
        citations=citations,
    )


def clean_text(text: str) -> str:
    """Control characters, markup of thoughts and tools, and surplus space taken away.

    >>> clean_text("<think>hm</think> It is\\x07 blue.")
    'It is blue.'
    """
    text = text[:_LONGEST]
    text = re.sub(r"<think>.*?(?:</think>|\Z)", " ", text, flags=re.S)
    text = re.sub(r"<tool_call>.*?(?:</tool_call>|\Z)", " ", text, flags=re.S)
    text = _from_json(text.strip())
    kept = (
        c if c.isprintable() else " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else ""
        for c in text
    )
    return " ".join("".join(kept).split())


def is_refusal(text: str) -> bool:
    """Whether a reply says that it does not know and nothing else."""
    plain = text.replace("’", "'").replace("‘", "'")
    return bool(_REFUSAL.search(plain)) and len(plain.split()) <= 25


def _from_json(text: str) -> str:
    """The answer inside a JSON reply; the text itself when it is no JSON object."""
    body = re.sub(r"^```(?:json)?\s*|\s*```$", "", text)
    if not body.startswith("{"):
        return text
    try:
        found = msgspec.json.decode(body.encode())
    except msgspec.DecodeError:
        match = re.search(r'"(?:answer|text|response)"\s*:\s*"((?:[^"\\]|\\.)*)', body)
        return match.group(1) if match else text
    for key in ("answer", "text", "response"):
        if isinstance(found.get(key), str):
            return found[key]
    return "" if {"name", "tool", "function", "tool_calls"} & set(found) else text
