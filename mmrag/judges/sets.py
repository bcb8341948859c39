"""References that are one list: all of it, in any order, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mmrag.judges.numbers import is_number
from mmrag.judges.reading import Reading, read_short
from mmrag.judges.ruling import Ruling


def whole_list(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A reply that is a list too, against references that are each the same list."""
    lists = [members(reading.text) for reading in known]
    wanted = max(lists, key=len, default=())
    if len(wanted) < 2 or (len(wanted) == 2 and not wants_several(asked)):
        return None
    if any(len(one) != len(wanted) for one in lists) or len(said.words) > 3 * len(wanted) + 6:
        return None
    if _ONE.search(asked.text):
        return None
    told = [Reading(item, is_plain=True) for item in _items(said.text)]
    told = [item for item in told if item.words]
    if any(len(item.words) > 6 for item in told[1:]) or _HEDGE.search(said.text):
        return None
    best = max((_matched(one, told, said) for one in lists), key=lambda m: m[0])
    found, surplus, ordered = best
    if found == 0 or (len(told) < 2 and found < len(wanted)):
        return Ruling(False, "part of the list") if found and len(said.words) <= 6 else None
    if found < len(wanted):
        return Ruling(False, "not the whole list")
    if surplus:
        return Ruling(False, "more than the list")
    if _ORDER.search(asked.text) and not ordered:
        return Ruling(False, "another order")
    return Ruling(True, "the whole list")


def joined(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A short reply "A and B" where B alone is asked for: a second answer spoils the first."""
    if len(said.words) > 9 or said.sentence[-1] > 0 or not _AND.search(said.text):
        return None
    if wants_several(asked) or any(_AND.search(r.text) or "," in r.text for r in known):
        return None
    row = _BETWEEN.sub("", said.text.strip(" .!"))
    items = [Reading(part, is_plain=True) for part in _JOINED.split(row)]
    items = [item for item in items if item.places]
    if len(items) < 2 or any(
        len(item.words) > 4 or item.vocabulary & asked.vocabulary for item in items
    ):
        return None
    good = [any(r.compact and r.compact in item.compact for r in known) for item in items]
    stems = {root for r in known for root in r.roots}
    fresh = [
        [i for i in item.places if item.roots[i] not in stems and item.roots[i] not in asked.stems]
        for item in items
    ]
    kind = next((r.capital[-1], r.words[-1][0].isdecimal()) for r in known)
    peers = [
        bool(new) and (item.capital[new[-1]], item.words[new[-1]][0].isdecimal()) == kind
        for item, new in zip(items, fresh, strict=True)
    ]
    if sum(good) == 1 and all(ok or peer for ok, peer in zip(good, peers, strict=True)):
        return Ruling(False, "more than one answer")
    return None


def wants_several(asked: Reading) -> bool:
    """Whether a question asks for several things: "which colours", "name the", "who were"."""
    return bool(_ALL.search(asked.text) or _MANY.search(asked.text))


def options(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A reply that lists many options for a question with one answer has not answered it.

    What opens the list ("Breeds like this include") is no option, and an option may leave out what
    the question or the last option says ("Acetic, citric, malic" for acetic acid).
    """
    text = said.text.strip(" .!?\"'[](){}")
    if (
        len(said.words) <= 25
        and _DEPENDS.search(text)
        and not any("if" in r.vocabulary for r in (asked, *known))
    ):
        return Ruling(False, "one answer or the other, as the case may be")
    if said.sentence[-1] > 0 or len(said.words) > 80 or not _LISTING.search(text):
        return None
    if wants_several(asked) or any(len(OPTION.split(r.text)) > 2 for r in known):
        return None
    items = [item for item in OPTION.split(_LEAD.sub("", text)) if item.strip()]
    alternatives = bool(_ALTERNATIVE.search(text))
    if len(items) < (4 if alternatives or not _PROSE.search(text) else 5):
        return None
    if sum(item.count(" ") <= 3 for item in items[1:]) < 0.75 * len(items[1:]):
        return None
    short = [item for item in map(Reading, items) if item.words]
    kind = _kind(known[0])
    alike = [_kind(item) == kind and len(item.words) <= 3 for item in short[1:]]
    if len(short[0].words) > 4 or sum(alike) < 0.75 * len(alike):
        return None
    spare = set(asked.stems) | set(short[-1].stems)
    told = [any(_is_option(item, r, spare) for r in known) for item in short]
    wanted = {root for r in known for root in r.roots}
    others = [
        item
        for item, true in zip(short, told, strict=True)
        if not true and set(item.roots) - wanted - set(asked.roots)
    ]
    if any(told) and len(others) >= 3 and len(others) >= 0.6 * len(items):
        return Ruling(False, f"lists {len(items)} options")
    return None


def _kind(reading: Reading) -> str:
    if any(is_number(word) for word in reading.words):
        return "number"
    return "name" if reading.capital[0] else "word"


def _is_option(item: Reading, reading: Reading, spare: set[str]) -> bool:
    if len(item.words) > len(reading.words) + 1:
        return False
    if reading.compact in item.compact:
        return True
    own = {item.roots[i] for i in item.places}
    whole = {reading.roots[i] for i in reading.places}
    return bool(own) and own <= whole <= own | spare


@lru_cache(maxsize=5_000)
def members(text: str) -> tuple[Reading, ...]:
    """The members of a list; nothing for a text that is none."""
    parts = tuple(
        read_short(part) for part in _SPLIT.split(_BRACKETS.sub(" ", text)) if part.strip()
    )
    if len(parts) < 2 or any(not 1 <= len(part.words) <= 4 for part in parts):
        return ()
    if any(part.dates for part in parts) or len({part.capital[0] for part in parts}) > 1:
        return ()  # "Laius, King of Thebes, and his queen" and dates with commas are no lists
    return parts


def _items(text: str) -> list[str]:
    return [item for item in _SPLIT.split(_BRACKETS.sub(" ", text)) if item.strip(" .!?")]


def _matched(
    wanted: Sequence[Reading], told: Sequence[Reading], said: Reading
) -> tuple[int, int, bool]:
    """Members found, items that are none of them, and whether the found ones are in order."""
    used: set[int] = set()
    places: list[int] = []
    for member in wanted:
        place = next((i for i, item in enumerate(told) if i not in used and _is(member, item)), -1)
        if place >= 0:
            used.add(place)
            places.append(place)
        elif member.compact in said.compact and len(member.compact) > 3:
            places.append(-1)
    surplus = sum(
        i not in used
        and 0 < len(item.content) <= 3
        and bool(item.places)
        and item.capital[item.places[0]] == wanted[0].capital[0]
        and (not any(_is(member, item) for member in wanted) or _namesake(wanted, item))
        for i, item in enumerate(told)
    )
    if surplus >= len(places):  # "Vienna, Austria; Bratislava, Slovakia"
        surplus = 0
    return len(places), surplus, places == sorted(places)


def _is(member: Reading, item: Reading) -> bool:
    if member.compact in item.compact:
        return True
    stems = item.stems
    roots = [member.roots[i] for i in member.places] or member.roots
    if 2 <= len(item.words) <= 3 and all(item.capital) and item.roots[-1] not in roots:
        return False  # Girls Aloud are no Spice Girls
    return roots[-1] in stems or (
        len(item.content) == 1 and item.roots[item.places[0] if item.places else 0] in roots
    )


def _namesake(wanted: Sequence[Reading], item: Reading) -> bool:
    """Whether an item shares no more than a family name with the members: Andy Gibb, a brother."""
    stems = {root for member in wanted for root in member.roots}
    return len(item.words) == 2 and all(item.capital) and item.roots[0] not in stems


_SPLIT = re.compile(
    r"(?i)\s*[,;|\n&]\s*(?:(?:and|or)\s+)?|\s+(?:and|plus|(?:together |along )?with"
    r"|as well as)\s+|\s+[-•*]\s+"
)
_BRACKETS = re.compile(r"\([^()]*\)")
_ALL = re.compile(
    r"(?i)\b(?:are|were|some|examples?|two|three|four|five|six|both|all|list|names|countries"
    r"|cities|colou?rs|ingredients|members|founders|nephews|brothers"
    r"|sisters|moons|suits|lovers|allergens|flavou?rs|bones|instruments|things)\b|^\s*name\b"
)
_MANY = re.compile(
    r"(?i)\b(?:which|what)\s+(?!(?:is|was|does|has|its|his|this|causes|happens|makes)\b)"
    r"(?:(?:two|three|four|five|six|seven|other|of\s+these)\s+)?\w{2,}[^suia\W]s\b(?!')"
    r"|\b(?:stars?|starred|between)\b"
)
_AND = re.compile(r"(?i)\s(?:and|plus|as well as|together with|along with)\s|\w\s*[&+]\s*\w")
_BETWEEN = re.compile(r"(?i)^.{0,30}\bbetween\s+")
_JOINED = re.compile(
    r"(?i),\s*(?:and\s+)?|\s+(?:and|plus|as well as|together with|along with)\s+|\s*[&+]\s*"
)
_ONE = re.compile(r"(?i)\b(?:one of|any of|an example|where)\b")
_ORDER = re.compile(r"(?i)\b(?:order|sequence|ranked|ranking|from \w+ to \w+)\b")
_HEDGE = re.compile(r"(?i)\b(?:or|perhaps|maybe|might|not|never)\b")
_DEPENDS = re.compile(
    r"(?i)\b(?:if|unless)\b[^;.]{3,60}[;,.].{0,60}[;,.]\s*(?:if|otherwise|else)\b"
)
_LISTING = re.compile(
    r"(?:[,;|\n/•*]|\s-\s|\b(?:or|and)\b)(?s:.*?)(?:[,;|\n/•*]|\s-\s|\b(?:or|and)\b)"
)
_LEAD = re.compile(
    r"(?i)^[^,;|\n]{2,80}?(?:\b(?:includes?|such as|like|among|either|be|is|are|was|were|one of"
    r"|made of)"
    r"\s+(?!(?:of|this|these|that)\b)|:\s*)"
)
_PROSE = re.compile(r"(?i)\b(?:in|on|by|with|from|to|which|who|that|it|he|she|they|has|have|had)\b")
_ALTERNATIVE = re.compile(r"(?i)\bor\b|\||\s/\s")
OPTION = re.compile(r"(?i)\s*[,;|\n/]\s*(?:(?:and|or)\s+)?|\s+or\s+|\s+and\s+|\s+[-•*]\s+")
"""What sets the members of a list, or several options, apart."""
