"""What a wearer calls the thing in view or says that it is, and how long the agent was silent."""

from __future__ import annotations

import re

import msgspec

from mmrag.agents.reply_format import is_refusal
from mmrag.records import History, Query


def thing_noun(query: Query) -> str:
    """What the wearer calls the thing in view: "this kettle", "these two kettles"."""
    for text in (query.text, *(e.query for e in reversed(query.history))):
        for match in _KIND.finditer(text):
            one, several, asked = match.groups()
            noun = one or asked or _singular(several)
            if noun not in _NO_KIND:
                return noun
    return ""


def split_introductions(query: Query) -> tuple[Query, tuple[str, ...]]:
    """The question without what the wearer says that the thing is, and the names said.

    Both are the better for it: the planner sees a question as anybody asks it, and nothing has to
    be recognised.
    """
    text, names = _introduced(query.text)
    if not names:
        return query, ()
    asked = (msgspec.structs.replace(e, query=_introduced(e.query)[0]) for e in query.history)
    return msgspec.structs.replace(query, text=text, history=tuple(asked)), names


def _introduced(text: str) -> tuple[str, tuple[str, ...]]:
    match = _INTRODUCES.fullmatch(text)
    if match is None:
        return text, ()
    one, several = match["one"], match["several"]
    parts = re.split(r",(?: and)? " if ", " in (several or "") else " and ", several or "")
    return match["question"], (one,) if one else tuple(parts)


_INTRODUCES = re.compile(
    r"(?P<question>.+?)\s*"
    r"\((?:(?:This|It) is (?P<one>[^()]+?)|These are (?P<several>[^()]+?))\.?\)",
    re.DOTALL,
)
"""A question that says in brackets what it is about: "How heavy is it? (This is Alder Kettle.)"."""

_KIND = re.compile(
    r"\b(?:this\s+(?:pair of )?|the (?:other|second)\s+(?=[a-z]*[a-rt-z]\b))([a-z]+)"
    r"|\b(?:these|all the(?! other)|(?:of|these) (?:the )?(?:two|three|four))\s+"
    r"(?:two |three |four )?(?:pairs of )?([a-z]+s|fish)\b"
    r"|\b[Ww](?:hich|hat) ([a-z]+) (?:is|are) (?:this|that|these|those)(?=\s*(?:[?.!,]|$))"
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
    *("brand", "colour", "kind", "make", "model", "size", "sort", "type"),
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
