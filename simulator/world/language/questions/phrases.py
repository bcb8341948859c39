"""Small English: plurals, days and hours as they are spoken, capitals and question marks."""

from __future__ import annotations

import datetime as dt

from simulator.world.build.randomness import Draw
from simulator.world.facts.catalogue import domain_of_kind
from simulator.world.facts.wording import MONTHS

_PLURALS = {"person": "people", "fish": "fish"}


def noun_of(kind: str) -> str:
    """What a person calls a thing of this kind."""
    return domain_of_kind(kind).nouns[kind]


def plural_of(kind: str) -> str:
    """Several of them."""
    noun = noun_of(kind)
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.startswith("pair of "):
        return "pairs of " + noun.removeprefix("pair of ")
    if noun.endswith("y"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def spoken_day(iso: str, today: str) -> str:
    """A day as people say it: "3 April", with the year when it is another one."""
    day = dt.date.fromisoformat(iso[:10])
    year = "" if day.year == int(today[:4]) else f" {day.year}"
    return f"{day.day} {MONTHS[day.month - 1]}{year}"


def spoken_time(iso: str) -> str:
    """ "2031-04-03T18:00" → "6 pm"."""
    hour = int(iso[11:13])
    return f"{(hour - 1) % 12 + 1} {'am' if hour < 12 else 'pm'}"


def utter(sentence: str, draw: Draw) -> str:
    """Written as speech recognition writes: mostly with a capital and a question mark."""
    sentence = " ".join(sentence.split()).rstrip("?")
    style = draw.below(10)
    if style < 7:
        return sentence[0].upper() + sentence[1:] + "?"
    return sentence + ("?" if style < 9 else "")
