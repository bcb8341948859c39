"""The form of the grounded agent's replies: one clean line, at most 75 tokens, "I don't know".

Other people's agents are quoted as they speak (`adapters.as_reply`): nothing here touches them.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from mmrag.records import Reply, Step, Usage
from mmrag.text.refusals import is_missing
from mmrag.text.token_limits import cut_text

ABSTAIN = "I don't know"
MAX_TOKENS = 75
_LONGEST = 20_000


def make_reply(
    text: str,
    *,
    trace: tuple[Step, ...] = (),
    usage: Usage = Usage(),
    confidence: float | None = None,
    citations: tuple[str, ...] = (),
) -> Reply:
    """A reply from whatever its reader found. Nothing usable is an abstention, never empty."""
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
    text = without_thoughts(text[:_LONGEST])
    text = re.sub(r"<tool_call>.*?(?:</tool_call>|\Z)", " ", text, flags=re.S)
    text = _from_json(text.strip())
    kept = (
        c if c.isprintable() else " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else ""
        for c in text
    )
    return " ".join("".join(kept).split())


def without_thoughts(text: str) -> str:
    """What a model said aloud: blocks of thought are for itself. Other text stays as it stands."""
    if "<think>" not in text:
        return text
    return re.sub(r"<think>.*?(?:</think>|\Z)", "", text, flags=re.S).strip()


def is_refusal(text: str) -> bool:
    """Whether a reply gives no answer, as a judge would see it: a title such as "Unknown Pleasures"
    and "I don't know, but it is 4" are answers."""
    return is_missing(text)


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
