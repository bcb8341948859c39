"""Facts in words: how values are written, and sentences that state a fact."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from simulator.world.facts.domain_schema import (
    Attribute,
    Day,
    Fact,
    FactValue,
    Number,
    Ref,
    attribute_of,
)

if TYPE_CHECKING:
    from simulator.world.facts.factbase import FactBase

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_SINGULAR = {
    "years": "year", "days": "day", "months": "month", "hours": "hour", "minutes": "minute",
    "copies": "copy", "readers": "reader", "packs": "pack", "pieces": "piece", "units": "unit",
    "people": "person", "points": "point", "reviews": "review", "collectors": "collector",
    "players": "player", "litres": "litre",
}  # fmt: skip


def say_value(attribute: Attribute, value: FactValue, facts: FactBase) -> str:
    """A value as a person writes it: "$14.20", "1,240 pages", "3 May 2027", a name."""
    spec = attribute.value
    if isinstance(spec, Ref):
        return facts.entity(str(value)).name
    if isinstance(spec, Number) and isinstance(value, int | float):
        return say_number(value, spec.unit, spec.digits)
    if isinstance(spec, Day):
        return say_day(str(value))
    if isinstance(value, tuple):
        return say_list(value)
    return str(value)


def say_fact(fact: Fact, facts: FactBase) -> str:
    """One plain sentence: "The shop price of Letters from Orlan is $14.20." """
    entity = facts.entity(fact.entity_id)
    attribute = attribute_of(entity.kind, fact.attribute)
    return f"The {attribute.noun} of {entity.name} is {say_value(attribute, fact.value, facts)}."


def say_number(value: float, unit: str, digits: int) -> str:
    """A quantity with its unit. Money puts the sign first."""
    text = f"{value:,.{digits}f}"
    if value == 1:
        unit = _SINGULAR.get(unit, unit)
    if unit == "$":
        return f"${text}"
    if unit.endswith(" $"):
        return f"${text} {unit[:-2]}"
    return f"{text} {unit}" if unit else text


def say_day(iso: str) -> str:
    """ "2027-05-03" → "3 May 2027"."""
    day = dt.date.fromisoformat(iso[:10])
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def say_list(items: tuple[str, ...] | list[str]) -> str:
    """ "a, b and c"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
