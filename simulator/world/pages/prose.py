"""Sentences and table rows that state facts, in the words of one voice."""

from __future__ import annotations

import re

from simulator.world.build.randomness import Draw
from simulator.world.facts.fact_records import Attribute, Number, Year
from simulator.world.facts.wording import say_day
from simulator.world.language.questions.phrases import possessive
from simulator.world.language.voices.reading import Wording

_SLOT = re.compile(r"\{(xs?|v|d)\}")

_PLACE = {"encyclopaedia": 0, "shop": 1, "review": 2, "news": 2, "forum": 3}
"""Which of a voice's sentences about an attribute suits a style."""


def sentence(
    style: str, words: Wording, attribute: Attribute, name: str, value: str, as_of: str
) -> str:
    """One sentence that states a fact, in one voice and the tone of a style."""
    when = say_time(as_of, with_hour=attribute.dynamism == "real-time")
    slots = {"v": value, "d": when, "xs": possessive(name), "x": name}
    return _SLOT.sub(lambda m: slots[m.group(1)], words.page[_PLACE[style]])


def row(words: Wording, attribute: Attribute, value: str, as_of: str) -> tuple[str, str]:
    """The cells of a table row that states a fact. Values that change carry their date."""
    noun = words.noun[0].upper() + words.noun[1:]
    if attribute.dynamism == "static":
        return noun, value
    when = say_time(as_of, with_hour=attribute.dynamism == "real-time")
    return f"{noun} ({when})", value


def say_time(iso: str, *, with_hour: bool = False) -> str:
    """ "2031-06-12T14:05" → "12 June 2031" or "12 June 2031, 14:05"."""
    text = say_day(iso)
    return f"{text}, {iso[11:16]}" if with_hour and len(iso) > 10 else text


def another_value(attribute: Attribute, value: object, draw: Draw) -> object | None:
    """A wrong value that looks right; None where only another entity would do."""
    spec = attribute.value
    if isinstance(spec, Number) and isinstance(value, int | float):
        factor = draw.pick((0.6, 0.75, 1.3, 1.6))
        wrong = round(value * factor, spec.digits)
        wrong = int(wrong) if spec.digits == 0 else wrong
        return wrong if wrong != value else value + max(1, round(10.0**-spec.digits))
    if isinstance(spec, Year) and isinstance(value, int):
        return value + draw.pick((-7, -4, -3, 3, 4, 7))
    return None
