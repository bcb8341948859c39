"""References that are one list: all of it, in any order, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mmrag.judges.reading import Reading, read_short
from mmrag.judges.ruling import Ruling


def whole_list(asked: Reading, known: Sequence[Reading], said: Reading) -> Ruling | None:
    """A reply that is a list too, against references that are each the same list."""
    lists = [members(reading.text) for reading in known]
    wanted = max(lists, key=len, default=())
    if len(wanted) < 2 or (len(wanted) == 2 and not _ALL.search(asked.text)):
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
    if found == 0 or len(told) < 2:
        return Ruling(False, "part of the list") if found and len(said.words) <= 6 else None
    if found < len(wanted):
        return Ruling(False, "not the whole list")
    if surplus:
        return Ruling(False, "more than the list")
    if _ORDER.search(asked.text) and not ordered:
        return Ruling(False, "another order")
    return Ruling(True, "the whole list")


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
        and not any(_is(member, item) for member in wanted)
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
    return roots[-1] in stems or (
        len(item.content) == 1 and item.roots[item.places[0] if item.places else 0] in roots
    )


_SPLIT = re.compile(r"(?i)\s*[,;|\n&]\s*(?:(?:and|or)\s+)?|\s+(?:and|plus)\s+|\s+[-•*]\s+")
_BRACKETS = re.compile(r"\([^()]*\)")
_ALL = re.compile(
    r"(?i)\b(?:are|were|two|three|four|five|six|both|all|list|names|countries|cities|colou?rs|ingredients|members|founders|nephews|brothers"
    r"|sisters|moons|suits|lovers|allergens|flavou?rs|bones|instruments|things)\b|^\s*name\b"
)
_ONE = re.compile(r"(?i)\b(?:one of|any of|an example|where)\b")
_ORDER = re.compile(r"(?i)\b(?:order|sequence|ranked|ranking|from \w+ to \w+)\b")
_HEDGE = re.compile(r"(?i)\b(?:or|perhaps|maybe|might|not|never)\b")
