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

from mmrag.agents.grounded.values import SPOKEN_UNITS, Value
from mmrag.records import Record
from mmrag.search.web.words import words

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
    (re.compile(r"\bwho(?:m|se)?\b|\bwhich (?:company|town|person|firm|city|place|house)\b|\bwhere\b", re.I), frozenset({"name", "text"})),
)  # fmt: skip
_NEVER: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"\bwho(?:m|se)?\b", re.I), frozenset({"number", "year", "date", "clock"})),
    (re.compile(r"\bhow (?:many|tall|heavy|fast|wide|high|deep|thick)\b", re.I), frozenset({"name", "date", "clock"})),
    (re.compile(r"\b(?:which|what|exact) (?:exact )?(?:day|date)\b|^when\b", re.I), frozenset({"number", "name", "list"})),
)  # fmt: skip
"""Kinds of value that are no answer at all to a question word: nothing is said rather than these."""

_MONEY = ("$", "€", "£")
_MANY = re.compile(r"\bhow many\b(?! (?:dollars|euros|pounds))", re.I)

_WHO = re.compile(r"\bwho(?:m|se)?\b", re.I)
_PLACE = re.compile(r"\b(?:place|town|city|location|country|birthplace|headquarters)\b", re.I)
"""What is no answer to "who"."""

_OTHER_PRICE = re.compile(
    r"\b(?:launch|issue|original|resale|used|second-hand|auction|rent|entry)\b", re.I
)
"""A price that nobody means who asks what a thing costs and does not say so."""

_IDIOMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:set (?:me|you|us) back|going for)\b", re.I), "cost"),
    (re.compile(r"\bc[ao]me up with\b", re.I), "discovered"),
    (re.compile(r"\b(?:brought|brings?) out\b", re.I), "published"),
    (re.compile(r"\bstock trading at\b", re.I), "price of its shares"),
    (re.compile(r"\bgo(?:es)? back (?:(?:less|more|the) )*(?:far|further|furthest)\b", re.I), "begun in which year"),
    (re.compile(r"\blives? (?:(?:less|the) )*long(?:er|est)?\b", re.I), "lifespan"),
    (re.compile(r"\bkeeps? (?:(?:less|the) )*long(?:er|est)?\b", re.I), "shelf life"),
    (re.compile(r"\b(?:in the|does the) (?:pack|packet|jar|box|bottle|carton)\b", re.I), "contents"),
)  # fmt: skip
"""Idioms whose words mean something else one by one, put plainly."""

_SAME_SENSE = (
    {"tall", "taller", "tallest", "height", "high", "stature", "shorter", "shortest"}, {"heavy", "heavier", "heaviest", "weigh", "weighs", "weight", "light", "lighter", "lightest"},
    {"long", "longer", "longest", "short", "shorter", "length"}, {"fast", "faster", "fastest", "slow", "slower", "speed"},
    {"old", "older", "oldest", "age", "live", "lives", "lifespan"}, {"wide", "wider", "widest", "width"}, {"deep", "depth"},
    {"cost", "costs", "dear", "cheap", "cheaper", "cheapest", "price", "pay", "expensive"}, {"big", "large", "size"},
    {"warm", "warmer", "warmest", "cold", "colder", "hot", "temperature"}, {"thick", "thickness"},
    {"hold", "holds", "capacity", "volume", "fit"}, {"loud", "louder", "noise", "loudness"}, {"born", "birth"},
    {"made", "maker", "manufacturer", "make", "makes"}, {"wrote", "write", "written", "author"}, {"makes", "make", "house", "workshop", "brand"}, {"shares", "share"},
    {"called", "name"}, {"rain", "rainfall"}, {"founded", "founding", "founder", "start", "started"},
    {"people", "population", "inhabitants"}, {"close", "closes", "closing", "shut", "open", "opening"},
    {"sell", "sells", "sold", "sales"}, {"queue", "wait", "waiting"}, {"strong", "strength", "power"},
    {"read", "readers"}, {"publish", "publishes", "published", "publisher", "publication", "brought"},
    {"design", "designed", "designer", "drew"}, {"last", "lasts", "duration", "keep", "keeps"},
    {"lead", "leads", "runs", "boss", "chief", "head"}, {"stock", "left", "available"},
    {"runs", "run", "operator", "operated", "operates"}, {"behind", "maker", "owner", "manufacturer"}, {"drives", "drive", "car"},
    {"begun", "since", "founded", "founding", "established", "opening"},
    {"contents", "content", "net"}, {"say", "says", "printed", "print", "reads"}, {"discovered", "discoverer", "discovery"},
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
        plain = plainly(asked)
        is_noun, asked = is_noun and plain == asked, plain
        keys = sorted(noun for noun, value in nouns.items() if _can_be(asked, value))
        if not keys:
            return []
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
            return 0.0 if _is_sister(asked, noun) else max(overlap, 0.5 * overlap + 0.5 * near)
        score = overlap if self._meaning is None else 0.55 * near + 0.45 * overlap
        return score + _fits(asked, noun, value)

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


def _can_be(asked: str, value: Value) -> bool:
    """Whether a value is of a kind that answers the question word at all."""
    if any(pattern.search(asked) and value.kind in kinds for pattern, kinds in _NEVER):
        return False
    return not (value.unit and value.unit[0] in _MONEY and _MANY.search(asked))


def plainly(asked: str) -> str:
    """A question's words without idioms.

    >>> plainly("what would set me back")
    'what would cost'
    """
    for pattern, plain in _IDIOMS:
        asked = pattern.sub(plain, asked)
    return asked


def _is_sister(asked: str, noun: str) -> bool:
    """Another thing of the same sort: "opening time" is no "waiting time"."""
    a, b = asked.casefold().split(), noun.casefold().split()
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-1]:
        return False
    x, y = _senses(" ".join(a[:-1])), _senses(" ".join(b[:-1]))
    return bool(x) and bool(y) and not x & y


def _fits(asked: str, noun: str, value: Value) -> float:
    bonus = 0.0
    expected = expected_kinds(asked)
    if expected:
        bonus += 0.06 if value.kind in expected else -0.25
    if value.unit and _says_unit(asked.lower(), value.unit):
        bonus += 0.1
    if _WHO.search(asked) and _PLACE.search(noun) and not _PLACE.search(asked):
        bonus -= 0.25
    if _PRICE.search(asked):
        bonus += 0.25 if value.unit and value.unit[0] in _MONEY else -0.1
        other = _OTHER_PRICE.search(noun)
        bonus -= 0.1 if other and not _OTHER_PRICE.search(asked) else 0.0
    return bonus


def _says_unit(asked: str, unit: str) -> bool:
    if len(unit) > 2 and unit.split()[0].rstrip("s") in asked:
        return True
    return any(short == unit and word in asked.split() for word, short in SPOKEN_UNITS.items())


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
