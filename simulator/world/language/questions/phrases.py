"""Small English: possessives, plurals, inversion, and the way people talk to glasses."""

from __future__ import annotations

import datetime as dt

from simulator.world.build.randomness import Draw
from simulator.world.facts.catalogue import domain_of_kind
from simulator.world.facts.fact_records import Attribute, Ref
from simulator.world.facts.wording import MONTHS

_BASES = {"lies": "lie", "goes": "go", "had": "have", "cost": "cost", "came": "come", "got": "get"}
_PLURALS = {"person": "people", "fish": "fish"}
_PARTICIPLES = {"sold", "won", "been"}
_NOW = {"real-time": " right now", "fast-changing": " today", "slow-changing": " currently"}


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


def possessive(phrase: str) -> str:
    """ "this book" → "this book's", "it" → "its"."""
    pronouns = {"it": "its", "they": "their", "them": "their"}
    if phrase in pronouns:
        return pronouns[phrase]
    return phrase + ("'" if phrase.endswith("s") else "'s")


def an(noun: str) -> str:
    """With its article: "an entry price", "a used-copy price"."""
    return ("an " if noun[0] in "aeio" else "a ") + noun


def inverted(verb_phrase: str, subject: str) -> str:
    """A finite phrase as the start of a question: "weighs more" → "does it weigh more"."""
    first, _, rest = verb_phrase.partition(" ")
    if first in ("is", "was") or (first == "has" and rest.split(" ")[0] in _PARTICIPLES):
        return f"{first} {subject} {rest}"
    if first in ("had", "cost", "came", "got"):
        return f"did {subject} {_BASES[first]} {rest}"
    base = {"has": "have", **_BASES}.get(first, first.removesuffix("s"))
    return f"does {subject} {base} {rest}"


def now_words(attribute: Attribute) -> str:
    """The time words that a question about the present needs."""
    return _NOW.get(attribute.dynamism, "")


def attribute_patterns(attribute: Attribute) -> tuple[str, ...]:
    """Ways to ask for an attribute now: the catalogue's own and those the noun gives."""
    now = now_words(attribute)
    if isinstance(attribute.value, Ref) and attribute.value.kinds == ("person",):
        return (
            *attribute.ask,
            f"who's {{xs}} {attribute.noun}{now}",
            f"can you tell me who {{xs}} {attribute.noun} is{now}",
            f"do you happen to know who {{xs}} {attribute.noun} is{now}",
        )
    return (
        *attribute.ask,
        f"what's {{xs}} {attribute.noun}{now}",
        f"can you tell me {{xs}} {attribute.noun}{now}",
        f"do you happen to know {{xs}} {attribute.noun}{now}",
    )


def through(patterns: tuple[str, ...], noun: str) -> tuple[str, ...]:
    """Ask the same of something that belongs to the subject: {x} → {xs} noun."""
    owned = possessive(noun)
    return tuple(
        p.replace("{xs}", "\0").replace("{x}", f"{{xs}} {noun}").replace("\0", f"{{xs}} {owned}")
        for p in patterns
    )


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
    """Final touches: a capital and a question mark, or the carelessness of speech."""
    sentence = " ".join(sentence.split())
    style = draw.below(10)
    if style < 6:
        return sentence[0].upper() + sentence[1:] + "?"
    if style < 8 or sentence.startswith(("and ", "how about", "what about")):
        return sentence + "?"
    return draw.pick(("hey, ", "quick question, ", "so ", "ok, ")) + sentence + "?"
