"""Sentences that state facts, in the voice of each style, and sentences that state nothing."""

from __future__ import annotations

import re

from simulator.world.build.randomness import Draw
from simulator.world.facts.fact_records import Attribute, Number, Year
from simulator.world.facts.wording import say_day

_STATIC: dict[str, tuple[str, ...]] = {
    "encyclopaedia": (
        "The {n} of {x} {is} {v}.",
        "Its {n} {is} given as {v}.",
        "Most sources agree that the {n} {is} {v}.",
        "The {n} {is} recorded as {v}.",
        "In the reference works the {n} {is} {v}.",
    ),
    "shop": (
        "{N}: {v}.",
        "The manufacturer states the {n} as {v}.",
        "Good to know: the {n} {is} {v}.",
        "With {x}, the {n} {is} {v}.",
    ),
    "review": (
        "The {n}, for the record, {is} {v}.",
        "I looked up the {n}: {v}.",
        "On paper the {n} {is} {v}, and nothing I saw says otherwise.",
        "Ask about the {n} and the answer is {v}.",
    ),
    "forum": (
        "the {n} {is} {v}, I have it here in front of me.",
        "For {x} the {n} {is} {v}.",
        "pretty sure the {n} {is} {v}, just checked.",
        "You asked about the {n}: {v}.",
    ),
    "news": (
        "The {n} of {x} {is} {v}, according to the papers seen by this desk.",
        "The {n} {is} {v}, a spokesperson confirmed.",
        "Records list {v} as the {n}.",
    ),
}

_CHANGING: dict[str, tuple[str, ...]] = {
    "encyclopaedia": (
        "As of {d}, the {n} of {x} {is} {v}.",
        "The {n} stood at {v} on {d}.",
        "The last known {n} ({d}) {is} {v}.",
        "The {n} {is} given as {v} ({d}).",
    ),
    "shop": (
        "{N} ({d}): {v}.",
        "Checked {d}: the {n} {is} {v}.",
        "The {n} {is} {v} as of {d}.",
    ),
    "review": (
        "When I wrote this on {d}, the {n} {was} {v}.",
        "On {d} I noted {v} for the {n}.",
    ),
    "forum": (
        "checked it on {d}: the {n} {is} {v}.",
        "As of {d} the {n} {is} {v}, might have moved since.",
    ),
    "news": (
        "On {d} the {n} of {x} stood at {v}.",
        "The {n} {was} {v} on {d}, figures show.",
    ),
}

_CHATTER: dict[str, tuple[str, ...]] = {
    "encyclopaedia": (
        "The subject has been described in several regional surveys, which differ in detail.",
        "Early accounts are fragmentary and were collected only later.",
        "A fuller treatment can be found in the literature listed below.",
        "Editors have asked for further citations in this section.",
        "Popular descriptions tend to repeat one another without naming a source.",
        "The name appears in a handful of archives, not always with the same spelling.",
        "Its reception has been mixed, and opinions continue to diverge.",
        "This article uses the conventions of the style manual for dates and units.",
    ),
    "shop": (
        "Order before noon and we pack it the same working day.",
        "Free returns within thirty days, no questions asked.",
        "Customers who looked at this also looked at the items below.",
        "Colours may look different depending on your screen.",
        "Our advice team answers from Monday to Saturday.",
        "Gift wrapping can be added at the checkout.",
        "All pictures are examples; decoration is not included.",
        "Sign in to collect points with every purchase.",
    ),
    "review": (
        "I had been curious about this one for a while before I finally gave in.",
        "Your mileage may vary, as always.",
        "My sister borrowed it for a week and did not want to give it back.",
        "The first impression was better than the second, the third was the best.",
        "I was not paid for these lines and bought everything myself.",
        "There are nicer ones and there are worse ones.",
        "Read the comments below before you decide, they are worth it.",
        "I will update this post if something changes.",
    ),
    "forum": (
        "lol same here.",
        "Please use the search before you open a new thread.",
        "Thanks, that helped a lot!",
        "bump, anybody?",
        "I asked the same last year and nobody knew.",
        "Not sure that belongs in this sub-forum, moving it if the mods agree.",
        "My neighbour swears by it, make of that what you will.",
        "Edited for spelling.",
    ),
    "news": (
        "Residents who spoke to this newspaper were divided.",
        "A meeting planned for the coming week was postponed.",
        "The authorities declined to comment further.",
        "Traffic in the area was slow throughout the morning.",
        "Further details are expected in the course of the month.",
        "Archive material from our earlier coverage is linked in the margin.",
        "The announcement had been awaited since the spring.",
        "Readers can send their own observations to the editors.",
    ),
}

_AFTER_HEAD = {"sold", "online", "used", "left"}
_VERBS = {"survives"}
_STOP = re.compile(r" (?:of|on|in|at|per|for|with|by|to|that|these|the|from) ")


def sentence(
    style: str, attribute: Attribute, name: str, value: str, as_of: str, draw: Draw
) -> str:
    """One sentence that states a fact in the voice of a style."""
    changing = attribute.dynamism != "static"
    frames = (_CHANGING if changing else _STATIC)[style]
    if not attribute.is_numeric:
        frames = tuple(f for f in frames if "stood at" not in f)
    frame = draw.pick(frames)
    noun, plural = attribute.noun, _is_plural(attribute)
    return frame.format(
        n=noun,
        N=noun[0].upper() + noun[1:],
        x=name,
        v=value,
        d=say_time(as_of, with_hour=attribute.dynamism == "real-time"),
        **{"is": "are" if plural else "is", "was": "were" if plural else "was"},
    )


def row(attribute: Attribute, value: str, as_of: str) -> tuple[str, str]:
    """The cells of a table row that states a fact. Values that change carry their date."""
    noun = attribute.noun[0].upper() + attribute.noun[1:]
    if attribute.dynamism == "static":
        return noun, value
    when = say_time(as_of, with_hour=attribute.dynamism == "real-time")
    return f"{noun} ({when})", value


def chatter(style: str, draw: Draw, n: int) -> list[str]:
    """Sentences that say nothing about anybody."""
    return draw.sample(_CHATTER[style], n)


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


def _is_plural(attribute: Attribute) -> bool:
    words = _STOP.split(attribute.noun, maxsplit=1)[0].split()
    head = words[0] if words[-1] in _AFTER_HEAD else words[-1]
    return head.endswith("s") and not head.endswith(("ss", "us", "is")) and head not in _VERBS
