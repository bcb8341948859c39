"""Reasoning: what no page states, but follows from what pages state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.world.facts.fact_records import Attribute, Clock, Day, Domain, Number, Year
from simulator.world.facts.wording import say_number
from simulator.world.language.program import UNITS
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Operation,
    Template,
    about,
    changing,
    framed,
    hub_attributes,
    it,
    numeric,
    relations,
    subject_of,
    words_of,
)
from simulator.world.language.questions.direct import past_instant
from simulator.world.language.voices.reading import Voice

_SPOKEN = {
    "oz": "ounces", "lb": "pounds", "in": "inches", "ft": "feet", "mi": "miles",
    "mph": "miles per hour", "hp": "horsepower", "gal": "gallons", "fl oz": "fluid ounces",
    "°F": "degrees Fahrenheit", "kJ": "kilojoules",
}  # fmt: skip


def _quantities(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (k for k in numeric(domain) if isinstance(k[0].value, Number))


def _needed(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """What somebody needs at least or at most of a thing: not fame, not its stars."""
    return (
        k for k in _quantities(domain) if k[0].leans.lstrip("-") != "fame" and k[0].unit != "stars"
    )


def _enough(t: Template, m: Moment) -> Draft:
    """The bound lies at the median of the kind, whatever the answer: it gives nothing away."""
    attribute = subject_of(t, t.keys[0])
    spec = attribute.value
    assert isinstance(spec, Number)
    mine = m.number(m.subject, attribute.key)
    bound = round(m.statistics.median(m.subject.kind, attribute.key), spec.digits)
    step = 10.0**-spec.digits
    if bound == mine:
        bound += step if m.draw.chance(0.5) else -step
    at_least = (mine > bound) == m.polarity
    value: list[Any] = ["get", it(m), attribute.key]
    return Draft(
        program=["above", value, bound] if at_least else ["above", bound, value],
        slots={
            "need": f"at {'least' if at_least else 'most'} "
            + say_number(bound, spec.unit, spec.digits)
        },
        choice=("Yes", "No"),
    )


def _once(_domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((),)


def _initials(_t: Template, m: Moment) -> Draft | None:
    if not m.text_clue or not m.subject.look or not m.subject.look.label:
        return None
    return Draft(program=["initials", it(m)])


def _costs(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (
        (a,)
        for a in domain.attributes
        if a.adds_up and isinstance(a.value, Number) and a.value.unit == "$"
    )


def _budget(t: Template, m: Moment) -> Draft | None:
    price = m.number(m.subject, t.keys[0])
    amount = 1
    target = price * m.draw.uniform(3, 60)
    while amount * 10 <= target:
        amount *= 10
    amount = amount * max(1, round(target / amount))
    if amount / price < 2 or abs(amount / price - round(amount / price)) < 0.02:
        return None
    return Draft(
        program=["fits", amount, ["get", it(m), t.keys[0]]], slots={"amount": f"${amount:,}"}
    )


def _multiples(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """What several of a thing have together: prices, weights, volumes, but no single offers."""
    return (k for k in numeric(domain) if k[0].adds_up)


def _times(t: Template, m: Moment) -> Draft:
    n = m.draw.between(3, 48)
    return Draft(program=["times", ["get", it(m), t.keys[0]], n], slots={"count": str(n)})


def _convertible(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (
        (a,)
        for a in domain.attributes
        if isinstance(a.value, Number) and any(a.value.unit == old for old, _ in UNITS)
    )


def _unit(t: Template) -> str:
    unit = subject_of(t, t.keys[0]).unit
    return next(new for old, new in UNITS if old == unit)


def _convert(t: Template, m: Moment) -> Draft:
    return Draft(program=["in_unit", ["get", it(m), t.keys[0]], _unit(t)])


def _percent(t: Template, m: Moment) -> Draft | None:
    key = t.keys[0]
    found = past_instant(subject_of(t, key), m)
    if found is None or m.number(m.subject, key, found[0]) in (0, m.number(m.subject, key)):
        return None
    program = ["percent", ["get", it(m), key], ["get", it(m), key, found[0]]]
    return Draft(program=program, slots={"when": found[1].split(" ", 1)[1]})


def _age_keys(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """The years between a thing's year and the birth of its person or the start of its firm."""
    for attribute in domain.attributes:
        if isinstance(attribute.value, Year):
            for relation in relations(domain):
                for other in hub_attributes(relation):
                    if other.key in ("born", "founded", "chartered") and (
                        relation.dynamism == "static"
                    ):
                        yield attribute, relation, other


def _age(t: Template, m: Moment) -> Draft:
    key, relation, other = t.keys
    start: list[Any] = ["get", ["get", it(m), relation], other]
    if other == "born":
        start = ["year_of", start]
    return Draft(program=["minus", ["get", it(m), key], start])


def _say_age(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    start = about(v.starts[t.keys[2]], words_of(t, v, 1).who)
    return framed(v, "years-between", start=start, end=v.ends[t.keys[0]])


def _days(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((a,) for a in domain.attributes if isinstance(a.value, Day))


def _days_apart(t: Template, m: Moment) -> Draft | None:
    key = t.keys[0]
    mine = m.facts.value(m.subject.id, key, m.at)
    other = next((o for o in m.others() if m.facts.value(o.id, key, m.at) != mine), None)
    if other is None:
        return None
    program = ["days_apart", ["get", it(m), key], ["get", ["it", other.id], key]]
    return Draft(program=program, slots={"other": other.name})


def _clocks(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((a,) for a in domain.attributes if isinstance(a.value, Clock) and a.key == "closes")


def _in_time(t: Template, m: Moment) -> Draft | None:
    """The hour asked about is early or late whatever the answer: polarity picks the wording."""
    closes = str(m.facts.value(m.subject.id, t.keys[0], m.at))
    hours = [h for h in ("19:30", "19:45", "20:00", "20:15") if h > m.at[11:16] and h != closes]
    if not hours:
        return None
    hour = m.draw.pick(hours)
    still = (hour < closes) == m.polarity
    value: list[Any] = ["get", it(m), t.keys[0]]
    return Draft(
        program=["before", ["clock", hour], value] if still else ["before", value, hour],
        slots={"hour": hour, "state": "still be open" if still else "already be closed"},
        choice=("Yes", "No"),
    )


def _minutes_left(t: Template, m: Moment) -> Draft | None:
    if str(m.facts.value(m.subject.id, t.keys[0], m.at)) <= m.at[11:16]:
        return None
    return Draft(program=["minutes_until", ["get", it(m), t.keys[0]]])


def _say_noun(operation: str) -> Any:
    return lambda t, _d, v: framed(v, operation, n=words_of(t, v).noun)


def _frames(operation: str) -> Any:
    return lambda _t, _d, v: v.operations[operation]


def _say_convert(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    return framed(v, "convert", ask=words_of(t, v).ask, unit=_SPOKEN[_unit(t)])


OPERATIONS = (
    Operation(
        "enough", "reasoning", _needed, _say_noun("enough"), _enough, choice=True, weight=1.5,
    ),
    Operation(
        "initials", "reasoning", _once, _frames("initials"), _initials, pictured=True,
        form="post-processing", weight=1.0,
    ),
    Operation(
        "budget", "reasoning", _costs, lambda t, _d, v: (words_of(t, v).budget,), _budget,
        form="post-processing", weight=1.5,
    ),
    Operation(
        "times", "reasoning", _multiples, lambda t, _d, v: (words_of(t, v).times,), _times,
        form="post-processing", weight=1.5,
    ),
    Operation(
        "convert", "reasoning", _convertible, _say_convert, _convert, form="post-processing",
        weight=1.0,
    ),
    Operation(
        "percent", "reasoning", changing, _say_noun("percent"), _percent, form="post-processing",
        weight=1.0,
    ),
    Operation("years-between", "reasoning", _age_keys, _say_age, _age, weight=1.2),
    Operation(
        "days-apart", "reasoning", _days, _say_noun("days-apart"), _days_apart,
        form="post-processing", weight=1.2,
    ),
    Operation(
        "in-time", "reasoning", _clocks, _frames("in-time"), _in_time, choice=True,
        form="condition", weight=1.5,
    ),
    Operation(
        "minutes-left", "reasoning", _clocks, _frames("minutes-left"), _minutes_left,
        form="post-processing", weight=1.0,
    ),
)  # fmt: skip
