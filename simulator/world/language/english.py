"""Small English: nouns and plurals, days and hours as they are spoken, capitals."""

from __future__ import annotations

import datetime as dt

from simulator.world.build.randomness import Draw
from simulator.world.facts.domain_schema import domain_of_kind, raw_domains
from simulator.world.facts.fact_wording import MONTHS

_PLURALS = {"person": "people", "fish": "fish"}


def noun_of(kind: str) -> str:
    """What a person calls a thing of this kind."""
    return domain_of_kind(kind).nouns[kind]


def plural_of(kind: str) -> str:
    """Several of them."""
    return plural(noun_of(kind))


def plural(noun: str) -> str:
    """ "dog" → "dogs"."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.startswith("pair of "):
        return "pairs of " + noun.removeprefix("pair of ")
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def nouns_for(kind: str) -> tuple[str, ...]:
    """Every noun, singular and plural, that people use for a thing of this kind."""
    said = raw_domains()[domain_of_kind(kind).stem].get("called", {}).get(kind, [])
    nouns = [noun_of(kind).removeprefix("pair of "), *said]
    return tuple(dict.fromkeys(form for noun in nouns for form in (noun, plural(noun))))


def possessive(name: str) -> str:
    """ "this book" → "this book's"."""
    return name + ("'" if name.endswith("s") else "'s")


def spoken_day(iso: str, today: str) -> str:
    """A day as people say it: "3 April", with the year when it is another one."""
    day = dt.date.fromisoformat(iso[:10])
    year = "" if day.year == int(today[:4]) else f" {day.year}"
    return f"{day.day} {MONTHS[day.month - 1]}{year}"


def spoken_time(iso: str) -> str:
    """ "2031-04-03T18:05" → "6:05 pm"."""
    hour, minute = int(iso[11:13]), iso[14:16]
    minutes = "" if minute == "00" else f":{minute}"
    return f"{(hour - 1) % 12 + 1}{minutes} {'am' if hour < 12 else 'pm'}"


def as_transcript(sentence: str, draw: Draw) -> str:
    """Written as speech recognition writes: mostly with a capital and a question mark."""
    sentence = " ".join(sentence.split()).rstrip("?")
    style = draw.below(10)
    if style < 7:
        return sentence[0].upper() + sentence[1:] + "?"
    return sentence + ("?" if style < 9 else "")


def ordinal(n: int) -> str:
    """1 → "1st"."""
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"
