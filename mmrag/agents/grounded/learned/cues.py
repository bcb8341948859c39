"""What a question's own words say of its answer: kinds of value, and what should stand near it.

Ordinary English, nothing of any attribute; it helps where the trained fit has seen nothing alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmrag.agents.grounded.learned.spans import KINDS, Span
from mmrag.search.web.words import words

NUMBERS = frozenset(KINDS) - {"text", "name", "list"}
NAMES = frozenset({"name"})
_TIMES = frozenset(["date", "year", "month", "clock"])
_SIZES = NUMBERS - _TIMES
_ANSWERS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"what time\b|at what hour", frozenset({"clock"})),
    (r"what month|which month", frozenset({"month", "date"})),
    (r"(?:what|which) (?:year|day|date)\b", _TIMES),
    (r"how many (?:years|months|weeks|days|hours|minutes)\b", frozenset({"duration", "count"})),
    (r"\bhow (?:long|often)\b", _SIZES | {"text", "year"}),
    (r"\bwhen\b(?! (?:i|you|it|they|we|he|she)\b)", _TIMES),
    (
        r"\bcosts?\b|\bpay for|\bprice|going for|money|set (?:me|you) back",
        frozenset({"money", "count"}),
    ),
    (r"how (?:tall|high|wide|deep|thick|far)\b", frozenset({"length", "count", "area"})),
    (r"how heavy|\bweigh", frozenset({"mass"})),
    (r"how (?:much|many)\b|what (?:number|percentage)\b|\bper ?cent\b", _SIZES),
    (r"\bwho(?:se|m|'s)?\b", NAMES | {"text"}),
    (
        r"\bwhere\b|(?:which|what) (?:town|city|country|company|firm|person|place"
        r"|building|president|bank)\b",
        NAMES,
    ),
)
"""How a question asks → kinds of value that answer it at all; the first that is said counts."""

_ASKS = tuple((re.compile(rf"(?:\b|^){pattern}", re.I), kinds) for pattern, kinds in _ANSWERS)
_WHO = re.compile(r"\bwho(?:se|m|'s)?\b|\bperson\b", re.I)
_WHERE = re.compile(r"\bwhere\b|\b(?:town|city|country|place)\b", re.I)
_BEFORE_PLACES = re.compile(r"\b(?:in|at|from|near|to|of)(?: the)?\W*$", re.I)
_BEFORE_PEOPLE = re.compile(
    r"\b(?:by|king|queen|sir|president|architect|engineer|designer|doctor)\W*$", re.I
)
_NEAR = 45
"""Characters on either side of a span in which words of the question count."""


def answering(question: str) -> frozenset[str]:
    """Kinds of value that may answer a question; empty where it does not say.

    >>> sorted(answering("Which year was it built?"))
    ['clock', 'date', 'month', 'year']
    """
    return next((kinds for asks, kinds in _ASKS if asks.search(question)), frozenset())


def nearness(question: str, text: str, spans: Sequence[Span]) -> list[float]:
    """What a question's words next to each span, and the words before it, add to its fit."""
    asked = set(words(question))
    who, where = bool(_WHO.search(question)), bool(_WHERE.search(question))
    found: list[float] = []
    for span in spans:
        low = max(text.rfind(";", 0, span.start), span.start - _NEAR, 0)
        about = set(words(text[low : span.start])) | set(words(text[span.end : span.end + _NEAR]))
        score = 0.7 * min(3, len(asked & about))
        before = text[max(0, span.start - 24) : span.start]
        if span.kind == "name":
            own = asked & set(words(span.text))
            score += 1.0 if own and len(own) < len(words(span.text)) else -1.0 if own else 0.0
            is_place = bool(_BEFORE_PLACES.search(before))
            if who:
                score += (
                    1.0 * (len(span.text.split()) > 1)
                    + 0.7 * bool(_BEFORE_PEOPLE.search(before))
                    - is_place
                )
            elif where:
                score += 1.0 * is_place
        elif who and span.kind == "text":
            score -= 2.0
        found.append(score)
    return found
