"""Places in a sentence that may be a value: quantities, dates, times, names, by how they look.

What a value is *of* is not decided here, but by how its surroundings fit a question (`fitting.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mmrag.agents.grounded.values import DATE, MONTHS
from mmrag.records import Record

KINDS = (
    "text",
    "name",
    "list",
    "date",
    "year",
    "clock",
    "month",
    "count",
    "money",
    "mass",
    "length",
    "area",
    "volume",
    "duration",
    "speed",
    "temperature",
    "power",
    "share",
    "degree",
)
"""What a span looks like; quantities by what their unit measures."""

_UNITS = {
    "mass": "g kg mg grams gram kilograms kilos kilo tonnes tonne tons ton oz ounces lb lbs pounds",
    "length": "m cm mm km metres metre meters centimetres millimetres kilometres feet foot ft "
    "inches inch in miles mile mi yards",
    "area": "m² km² ha hectares acres cm²",
    "volume": "ml l cl litres litre liters millilitres gallons gal pints cups m³ cc fl",
    "duration": "hours hour minutes minute min seconds second s days day weeks week "
    "months month years "
    "year centuries h",
    "speed": "km/h mph knots m/s",
    "temperature": "°C °F degrees K kelvin",
    "power": "W kW hp horsepower watts kcal kJ calories volts V lumens mAh Nm bar bars dB",
    "share": "% percent per",
    "money": "dollars dollar euros euro pounds-sterling pence cents guilders francs",
    "degree": "stars star points point",
}
_UNIT_KIND = {unit: kind for kind, units in _UNITS.items() for unit in units.split()}
_NUMERALS = (
    "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundred|thousand|million|billion|dozen|half)\b"
)
_COUNT = rf"(?:(?:a|{_NUMERALS})(?:-| and a | and | ))*{_NUMERALS}"
_FIGURE = r"[-−]?(?:[$€£]\s?)?\d(?:[\d,]*\d)?(?:\.\d+)?"
_SCALE = r"(?:\s(?:thousand|million|billion|hundred))?"
_UNIT = (
    r"(?:\s?(?:%|°[CF]|km/h|m/s|[a-z]{0,3}[²³]|per cent\b|(?:square|cubic|nautical) [a-z]+"
    r"|[A-Z][a-z]+(?:ian|an|ish|ese|ch|ss) (?:dollars?|pounds?|francs?|pesos?|lire)"
    r"|[^\W\d_]+(?: per [a-z]+)?))?"
)
_RANGE = rf"(?:\s?(?:to|–|-|and)\s?{_FIGURE})?"
_QUANTITY = re.compile(
    rf"(?<![\w.])(?:{_FIGURE}{_RANGE}"
    rf"|\b(?:{_COUNT})(?: (?:to|and) (?:{_COUNT}))?\b){_SCALE}{_UNIT}",
    re.I,
)
_YEAR = re.compile(
    r"(?<![\d$€£,.\w])(?:1\d{3}|20\d{2})(?![\d,.]*\d|\s?(?:%|°))(?: BC)?\b|\b\d{1,3} (?:BC|AD)\b"
)
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?", re.I)
_MONTH = re.compile(rf"\b(?:{'|'.join(m.capitalize() for m in MONTHS)})(?: \d{{4}})?\b")
_CAPITAL = r"[A-ZÀ-Þ][^\W_]*(?:[-'’.&](?!s\b)[^\W_]+)*\.?"
_JOINT = r"(?:of|the|at|&|under|by|upon|on|in|de|la|del|von|van|der|d['’])"
_NAME = re.compile(
    rf"\b{_CAPITAL}(?:\s+(?:{_JOINT}\s+)*(?:{_CAPITAL}|&\s+{_CAPITAL}|\d{{1,3}}\b))*"
    rf"(?:\s+and\s+{_CAPITAL}\s+(?:Limited|Ltd|Sons|Company|Co|Brothers|Group|Partners)\b\.?)?"
)
_STARTS = re.compile(
    r"^(?:The|A|An|It|Its|In|On|At|By|For|From|With|As|This|That|These|Those|There|Their|They|He|She|His"
    r"|Her|When|While|If|Though|Although|Since|After|Before|During|Of|To|But|And|Or|Not|No|One|Some|Such"
    r"|Each|Every|Both|Most|Many|More|About|Because|According|Here|What|You|I|We|My|Our|Your|Who|Where|How"
    r"|Popularly|Today|First|Once|Under|Only|Until|Despite|Like|Unlike|Another|Made|Built|Born|Designed"
    r"|Produced|Sold|Owned|Shipped|Ships|Based|Written|Published|Founded|Named|Grown|Bred|Found)\b"
    r"[\s,]*(?:(?:in|by|from|at|of) )?"
)


_FUNCTION_WORDS = """
    a about above across after again against all almost along already also although always am
    among an and any anyone are around as at away be because been before behind being below
    beneath besides between beyond both but by came can come comes could did do does done down
    during each either else enough even ever every everything few for from further gave get
    gets give given gives go goes got had has have having he hence her here him his how
    however i if in indeed inside instead into is it its itself just kept know known largely
    last later less let like made mainly make makes many may me mean means might mine more
    most mostly much must my near nearly neither never no nobody none nor not nothing now of
    off often on once one only onto or other others our out outside over own per perhaps put
    quite rather really s said same say says see seem seen set several shall she should since
    so some somebody someone something sometimes soon still such take taken takes than that
    the their them then there these they thing things this those though through throughout
    thus till to together told too took toward towards under unless until up upon us use used
    uses using usually very via was we well went were what whatever when where whether which
    while who whoever whole whom whose why will with within without would yes yet you your
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_LOWER = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LONGEST = 4
"""Words of a phrase that may be a value."""


class Span(Record, frozen=True):
    """A piece of a sentence that may be a value."""

    start: int
    end: int
    kind: str
    text: str


@lru_cache(maxsize=16_384)
def propose(text: str) -> tuple[Span, ...]:
    """Every piece that is written like a value, from left to right; dates are not taken apart.

    >>> [(s.text, s.kind) for s in propose("It weighs 760 kg and was found in 1799.")]
    [('760 kg', 'mass'), ('1799', 'year')]
    """
    taken = [False] * len(text)
    found: list[Span] = []

    def take(start: int, end: int, kind: str) -> None:
        if end > start and not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            found.append(Span(start, end, kind, text[start:end]))

    for match in DATE.finditer(text):
        take(*match.span(), "date")
    for match in _CLOCK.finditer(text):
        take(*match.span(), "clock")
    for match in _YEAR.finditer(text):
        if not match.group().isdigit():
            take(*match.span(), "year")
    for match in _MONTH.finditer(text):
        take(*match.span(), "month")
    for match in _QUANTITY.finditer(text):
        start, end, kind = _quantity(text, match)
        if kind == "count" and _YEAR.match(text[start:end]) and text[start:end][:4].isdigit():
            continue
        take(start, end, kind)
    for match in _YEAR.finditer(text):
        take(*match.span(), "year")
    for match in _NAME.finditer(text):
        start, end = match.span()
        opening = _STARTS.match(match.group())
        if opening:
            start += opening.end()
        while start < end and text[start:end] and not text[start].isupper():
            start += 1
        said = text[start:end].rstrip(".") if text[start:end].count(".") == 1 else text[start:end]
        if len(said) > 1:
            take(start, start + len(said), "name")
    for start, end in _phrases(text):
        take(start, end, "text")
    return tuple(sorted(found, key=lambda s: s.start))


_JOIN = re.compile(r" (?:of (?:the |a |an )?|and (?:the )?|or (?:the )?)?|, (?:the )?")
_MOST_JOINED = 4


def joined(spans: Sequence[Span], text: str) -> list[Span]:
    """Neighbouring names and phrases as one: "brown Bakelite", "the moulds of cannonballs".

    >>> text = "It grows in southern Europe."
    >>> [s.text for s in joined(propose(text), text)]
    ['southern Europe']
    """
    words = [s for s in spans if s.kind in ("name", "text")]
    found: list[Span] = []
    for i, first in enumerate(words):
        for j in range(i + 1, min(i + _MOST_JOINED, len(words))):
            if not _JOIN.fullmatch(text[words[j - 1].end : words[j].start]):
                break
            kind = (
                "list" if re.search(r",| and | or ", text[first.end : words[j].start]) else "text"
            )
            found.append(Span(first.start, words[j].end, kind, text[first.start : words[j].end]))
    return found


def _phrases(text: str) -> list[tuple[int, int]]:
    """Runs of words that say something by themselves: "wrought-iron lattice tower"."""
    runs: list[list[re.Match[str]]] = [[]]
    last = 0
    for match in _LOWER.finditer(text):
        if text[last : match.start()].strip(" ") or match.group().lower() in _FUNCTION:
            runs.append([])
        if match.group().lower() not in _FUNCTION and not match.group()[:1].isupper():
            runs[-1].append(match)
        elif match.group()[:1].isupper():
            runs.append([])
        last = match.end()
    return [(r[0].start(), r[-1].end()) for r in runs if 0 < len(r) <= _LONGEST]


def _quantity(text: str, match: re.Match[str]) -> tuple[int, int, str]:
    """Where a quantity ends: a word after the number belongs to it where it is a unit."""
    said = match.group()
    bare = re.match(rf"(?:{_FIGURE}{_RANGE}|{_COUNT}(?: (?:to|and) {_COUNT})?){_SCALE}", said, re.I)
    number = bare.group() if bare else said
    unit = said[len(number) :].strip()
    if unit.endswith("per hour"):
        return match.start(), match.end(), "speed"
    first, _, last = unit.partition(" ")
    kind = {"square": "area", "cubic": "volume", "nautical": "length"}.get(first)
    kind = kind or _UNIT_KIND.get(unit) or _UNIT_KIND.get(first)
    if last and first[:1].isupper():
        kind = "money"
    if number.lstrip("-− ")[:1] in "$€£":
        return match.start(), match.start() + len(number), "money"
    if kind:
        return match.start(), match.end(), kind
    counted = re.match(r"\s(?:[a-z]+s|people)\b", text[match.start() + len(number) :])
    more = counted.group() if counted and counted.group().strip() not in _FUNCTION else ""
    return match.start(), match.start() + len(number) + len(more), "count"
