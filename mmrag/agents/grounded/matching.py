"""Which attribute a question asks for: its words against the noun phrases that sources use.

Words in common, meaning (a sentence encoder, where there is one) and the kind of value that a
question word expects. No list of attributes: the candidates are whatever the evidence states.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mmrag.agents.grounded.values import Value
from mmrag.records import Record
from mmrag.search.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Meaning(Protocol):
    """Unit vectors of short texts."""

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        ...


class Match(Record, frozen=True, kw_only=True):
    """A noun phrase and how well it fits what is asked."""

    noun: str
    score: float
    margin: float = 0.0


_PRICE = re.compile(
    r"\b(?:cost|price|pay|going for|set me back|how much (?:is|are)|dear|cheap)", re.I
)
_KINDS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"\b(?:until when|what time|at what hour|when does .* (?:open|close|start|end))", re.I), frozenset({"clock", "date"})),
    (re.compile(r"\b(?:what|which) year\b", re.I), frozenset({"year", "date"})),
    (re.compile(r"\b(?:which|what|exact) (?:exact )?(?:day|date)\b", re.I), frozenset({"date"})),
    (re.compile(r"\bwhen\b", re.I), frozenset({"date", "year", "clock"})),
    (re.compile(r"\bhow (?:many|much|often|tall|long|heavy|fast|big|old|wide|high|deep|large|far|strong|loud|thick|hot|cold|warm|sweet|salty|well|few)\b", re.I), frozenset({"number", "year"})),
    (re.compile(r"\bwho(?:m|se)?\b|\bwhich (?:company|town|person|firm|city|place)\b|\bwhere\b", re.I), frozenset({"name", "text"})),
)  # fmt: skip
_SAME_SENSE = (
    {"tall", "taller", "tallest", "height", "high", "stature", "shorter", "shortest"}, {"heavy", "heavier", "heaviest", "weigh", "weighs", "weight", "light", "lighter", "lightest"},
    {"long", "longer", "longest", "short", "shorter", "length"}, {"fast", "faster", "fastest", "slow", "slower", "speed"},
    {"old", "older", "oldest", "age", "live", "lifespan"}, {"wide", "wider", "widest", "width"}, {"deep", "depth"},
    {"cost", "costs", "dear", "cheap", "cheaper", "cheapest", "price", "pay", "expensive"}, {"big", "large", "size"},
    {"warm", "warmer", "warmest", "cold", "colder", "hot", "temperature"}, {"thick", "thickness"},
    {"hold", "holds", "capacity", "volume", "fit"}, {"loud", "louder", "noise", "loudness"}, {"born", "birth"},
    {"made", "maker", "manufacturer", "make", "makes"}, {"wrote", "write", "written", "author"},
    {"called", "name"}, {"rain", "rainfall"}, {"founded", "founding", "founder", "start", "started"},
    {"people", "population", "inhabitants"}, {"close", "closes", "closing", "shut", "open", "opening"},
    {"sell", "sells", "sold", "sales"}, {"queue", "wait", "waiting"}, {"strong", "strength", "power"},
    {"read", "readers"}, {"publish", "publishes", "published", "publisher", "publication", "brought"},
    {"design", "designed", "designer", "drew"}, {"last", "lasts", "duration", "keep", "keeps"},
    {"lead", "leads", "runs", "boss", "chief", "head"}, {"stock", "left", "available"},
    {"runs", "run", "operator", "operated", "operates"}, {"behind", "maker", "owner", "manufacturer"}, {"drives", "drive", "car"},
    {"come", "came", "launch", "launched", "release", "released", "introduced", "introduction", "presentation"},
    {"finished", "completion", "completed", "built"}, {"far", "range", "distance"}, {"pays", "sponsor", "funds"},
    {"based", "headquarters", "seat"}, {"higher", "elevation", "altitude"}, {"spotted", "seen", "sightings"},
    {"score", "points", "rating"}, {"visit", "visits", "visitors"}, {"registered", "registration"},
)  # fmt: skip
"""Adjectives and verbs that ask for a noun in ordinary English."""

_SENSE: dict[str, list[int]] = {}
for _i, _group in enumerate(_SAME_SENSE):
    for _word in _group:
        _SENSE.setdefault(_word, []).append(_i)


class Matcher:
    """Scores noun phrases against a question's words. `meaning` is optional."""

    def __init__(self, meaning: Meaning | None = None) -> None:
        self._meaning = meaning
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def best(
        self,
        asked: str,
        nouns: dict[str, Value],
        *,
        is_noun: bool,
        bonus: dict[str, float] | None = None,
    ) -> Match | None:
        """The noun phrase that fits best, with its margin over the next."""
        ranked = self.rank(asked, nouns, is_noun=is_noun)
        if bonus and not is_noun:
            ranked = sorted(
                (Match(noun=m.noun, score=m.score + bonus.get(m.noun, 0.0)) for m in ranked),
                key=lambda m: (-m.score, m.noun),
            )
        if not ranked:
            return None
        margin = ranked[0].score - ranked[1].score if len(ranked) > 1 else 0.5
        return Match(noun=ranked[0].noun, score=ranked[0].score, margin=margin)

    def rank(self, asked: str, nouns: dict[str, Value], *, is_noun: bool) -> list[Match]:
        """All noun phrases, best first; ties by name."""
        if not nouns or not asked:
            return []
        keys = sorted(nouns)
        meant = self._similar(asked, [_with_unit(n, nouns[n]) for n in keys])
        scored = [
            Match(
                noun=noun,
                score=round(self._score(asked, noun, nouns[noun], float(near), is_noun), 6),
            )
            for noun, near in zip(keys, meant, strict=True)
        ]
        return sorted(scored, key=lambda m: (-m.score, m.noun))

    def _score(self, asked: str, noun: str, value: Value, near: float, is_noun: bool) -> float:
        overlap = _overlap(asked, noun)
        if is_noun:
            return max(overlap, 0.5 * overlap + 0.5 * near)
        score = overlap if self._meaning is None else 0.55 * near + 0.45 * overlap
        return score + _fits(asked, value)

    def _similar(self, asked: str, texts: list[str]) -> list[float]:
        if self._meaning is None:
            return [0.0] * len(texts)
        new = [t for t in dict.fromkeys([asked, *texts]) if t not in self._vectors]
        if new:
            if len(self._vectors) > 50_000:
                self._vectors.clear()
                new = list(dict.fromkeys([asked, *texts]))
            for text, row in zip(new, self._meaning.encode(new), strict=True):
                self._vectors[text] = row
        rows = np.stack([self._vectors[t] for t in texts])
        return [float(x) for x in rows @ self._vectors[asked]]


def expected_kinds(asked: str) -> frozenset[str]:
    """Kinds of value that a question word asks for; empty when it does not say."""
    return next((kinds for pattern, kinds in _KINDS if pattern.search(asked)), frozenset())


def _fits(asked: str, value: Value) -> float:
    bonus = 0.0
    expected = expected_kinds(asked)
    if expected:
        bonus += 0.06 if value.kind in expected else -0.25
    if value.unit and value.unit.split()[0].rstrip("s") in asked.lower() and len(value.unit) > 2:
        bonus += 0.1
    if _PRICE.search(asked):
        bonus += 0.25 if value.unit[:1] in ("$", "€", "£") else -0.1
    return bonus


def _with_unit(noun: str, value: Value) -> str:
    return f"{noun} in {value.unit}" if value.unit and value.unit not in noun else noun


@lru_cache(maxsize=65_536)
def _senses(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in re.findall(r"[^\W\d_]+", text.lower()):
        if word in _SENSE:
            found |= {f"sense-{sense}" for sense in _SENSE[word]}
    return frozenset(found | {w for w in words(text) if w not in _EMPTY})


def _overlap(a: str, b: str) -> float:
    """Share of the noun's words that the question has, and of the question's that it has."""
    x, y = _senses(a), _senses(b)
    both = len(x & y)
    if not both:
        return 0.0
    return 2 * both / (len(x) + len(y)) if len(x) + len(y) else 0.0


_EMPTY = {"tell", "happen", "know", "what", "get", "number", "many", "much", "one", "give", "look"}
