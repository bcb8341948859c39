"""What a wearer calls the thing in view, and how long the agent has been silent."""

from __future__ import annotations

import re

from mmrag.agents.reply_format import is_refusal
from mmrag.records import History, Query


def spoken_kind(query: Query) -> str:
    """What the wearer calls the thing in view: "this kettle", "these two kettles"."""
    for text in (query.text, *(e.query for e in reversed(query.history))):
        for match in _KIND.finditer(text):
            one, several = match.groups()
            noun = one or _singular(several)
            if noun not in _NO_KIND:
                return noun
    return ""


_KIND = re.compile(
    r"\b(?:this\s+(?:pair of )?|the (?:other|second)\s+(?=[a-z]*[a-rt-z]\b))([a-z]+)"
    r"|\b(?:these|all the(?! other)|(?:of|these) (?:the )?(?:two|three|four))\s+"
    r"(?:two |three |four )?(?:pairs of )?([a-z]+s|fish)\b"
)
"""What the wearer calls one thing in view, or several."""

_NO_KIND = {
    "be",
    "season",
    "day",
    "his",
    "its",
    "is",
    "one",
    "year",
    "week",
    "month",
    "morning",
    "here",
    "or",
    "and",
    "at",
    "in",
    "shows",
}


def silent_turns(history: History) -> int:
    """How many turns up to the last one the agent itself said nothing in."""
    replies = [exchange.reply for exchange in reversed(history)]
    return next((n for n, reply in enumerate(replies) if not is_refusal(reply)), len(replies))


def _singular(noun: str) -> str:
    """ "kettles" → "kettle"."""
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if re.search(r"(?:s|x|ch|sh)es$", noun):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") else noun
