"""Answers in words: the main wording of a result, and the others that are just as true."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from simulator.world.facts.fact_wording import MONTHS, say_day, say_list, say_number
from simulator.world.facts.factbase import FactBase
from simulator.world.language.answer_program import Answer, AnswerKind
from simulator.world.language.english import ordinal

_SPELLED = {
    "g": ("grams", 0.001, "kg"), "kg": ("kilograms", 1000.0, "g"), "cm": ("centimetres", 0.01, "m"),
    "mm": ("millimetres", 0.1, "cm"), "m": ("metres", 0.001, "km"),
    "km": ("kilometres", 1000.0, "m"), "ml": ("millilitres", 0.001, "litres"),
    "litres": ("l", 1000.0, "ml"), "W": ("watts", 0.001, "kW"), "kW": ("kilowatts", 1000.0, "W"),
    "km/h": ("kilometres per hour", 0.0, ""), "mph": ("miles per hour", 0.0, ""),
    "°C": ("degrees Celsius", 0.0, ""), "°F": ("degrees Fahrenheit", 0.0, ""),
    "oz": ("ounces", 0.0, ""), "lb": ("pounds", 0.0, ""), "in": ("inches", 0.0, ""),
    "ft": ("feet", 0.0, ""), "mi": ("miles", 0.0, ""), "hp": ("horsepower", 0.0, ""),
    "gal": ("gallons", 0.0, ""), "fl oz": ("fluid ounces", 0.0, ""), "kJ": ("kilojoules", 0.0, ""),
    "kcal": ("calories", 0.0, ""), "%": ("percent", 0.0, ""), "hours": ("h", 60.0, "minutes"),
    "minutes": ("min", 0.0, ""), "months": ("mo", 0.0, ""), "mm of rain": ("millimetres", 0.0, ""),
}  # fmt: skip
"""Unit → spelled out, factor to another unit, that unit."""


def say_answer(answer: Answer, facts: FactBase) -> tuple[str, tuple[str, ...]]:
    """The main wording and the other accepted ones, without repetition."""
    texts = _WORDINGS[answer.kind](answer, facts)
    unique = list(dict.fromkeys(t for t in texts if t))
    return unique[0], tuple(unique[1:])


def _number(answer: Answer, _: FactBase) -> list[str]:
    value, unit, digits = answer.value, answer.unit, answer.digits
    plain = f"{value:.{digits}f}"
    trimmed = plain.rstrip("0").rstrip(".") if "." in plain else plain
    texts = [say_number(value, unit, digits)]
    if unit == "$":
        texts += [f"${plain}", f"{plain} dollars", f"${trimmed}", f"{trimmed} dollars"]
    elif unit.endswith(" $"):
        scale = {"million": 1e6, "thousand": 1e3}[unit[:-2]]
        texts += [f"{trimmed} {unit[:-2]} dollars", f"${value * scale:,.0f}"]
    elif unit:
        spelled, factor, other = _SPELLED.get(unit, (unit, 0.0, ""))
        texts += [f"{trimmed} {unit}", f"{trimmed} {spelled}", f"{trimmed}{unit}"]
        if factor:
            texts.append(f"{value * factor:,.6g} {other}")
    else:
        texts.append(trimmed)
    whole = round(value)
    if digits and whole and abs(whole - value) <= 0.01 * abs(value):
        texts.append("about " + say_number(whole, unit, 0))
    return texts


def _day(answer: Answer, _: FactBase) -> list[str]:
    day = dt.date.fromisoformat(answer.value)
    month = MONTHS[day.month - 1]
    return [
        say_day(answer.value),
        f"{month} {day.day}, {day.year}",
        f"the {ordinal(day.day)} of {month} {day.year}",
        answer.value,
    ]


def _clock(answer: Answer, _: FactBase) -> list[str]:
    time = dt.time.fromisoformat(answer.value)
    half = "am" if time.hour < 12 else "pm"
    hour = (time.hour - 1) % 12 + 1
    twelve = f"{hour}:{time.minute:02d} {half}"
    return [answer.value, twelve, f"{hour} {half}" if not time.minute else ""]


def _listed(items: tuple[str, ...] | list[str]) -> list[str]:
    return [say_list(items), ", ".join(items), say_list(items[::-1])]


def _correction(answer: Answer, _: FactBase) -> list[str]:
    noun, wrong, right = answer.value
    return [
        f"No, it's {right}, not {wrong}.",
        f"That's not right: {noun} is {right}, not {wrong}.",
        f"It isn't {wrong}; it's {right}.",
        f"The {noun} is actually {right}.",
    ]


_WORDINGS: dict[AnswerKind, Callable[[Answer, FactBase], Sequence[str]]] = {
    "number": _number,
    "year": lambda a, _: (str(a.value), f"in {a.value}", f"the year {a.value}"),
    "day": _day,
    "clock": _clock,
    "word": lambda a, _: (str(a.value),),
    "words": lambda a, _: _listed(a.value),
    "entity": lambda a, facts: (facts.entity(a.value).name, *facts.entity(a.value).aliases),
    "entities": lambda a, facts: _listed([facts.entity(i).name for i in a.value]),
    "bool": lambda a, _: ("Yes" if a.value else "No",),
    "text": lambda a, _: (str(a.value),),
    "correction": _correction,
}
