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
    changing,
    hub_attributes,
    it,
    numeric,
    relations,
    subject_of,
)
from simulator.world.language.questions.direct import past_instant

_SPOKEN = {
    "oz": "ounces", "lb": "pounds", "in": "inches", "ft": "feet", "mi": "miles",
    "mph": "miles per hour", "hp": "horsepower", "gal": "gallons", "fl oz": "fluid ounces",
    "°F": "degrees Fahrenheit", "kJ": "kilojoules",
}  # fmt: skip

_PER_PIECE = {"$", "g", "kg", "ml", "litres", "minutes"}


def _quantities(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (k for k in numeric(domain) if isinstance(k[0].value, Number))


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
            "bound": say_number(bound, spec.unit, spec.digits),
            "way": "at least" if at_least else "at most",
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
        if isinstance(a.value, Number) and a.value.unit == "$" and "bid" not in a.noun
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
    return (k for k in numeric(domain) if k[0].unit in _PER_PIECE and k[0].dynamism != "real-time")


def _times(t: Template, m: Moment) -> Draft:
    n = m.draw.between(3, 48)
    return Draft(program=["times", ["get", it(m), t.keys[0]], n], slots={"n": str(n)})


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


def _age_patterns(t: Template) -> tuple[str, ...]:
    attribute, relation = (subject_of(t, k) for k in t.keys[:2])
    start = {
        "born": "the birth year",
        "founded": "the founding year",
        "chartered": "the charter year",
    }[t.keys[2]]
    return (
        f"how many years lie between {start} of {{xs}} {relation.noun} and {{xs}} {attribute.noun}",
        f"from {start} of {{xs}} {relation.noun} to {{xs}} {attribute.noun}, how many years is that",
        f"count the years for me: {start} of {{xs}} {relation.noun} up to {{xs}} {attribute.noun}",
    )


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
    return ((a,) for a in domain.attributes if isinstance(a.value, Clock) and "clos" in a.noun)


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


def _noun(t: Template, i: int = 0) -> str:
    return subject_of(t, t.keys[i]).noun


OPERATIONS = (
    Operation(
        "enough", "reasoning", _quantities,
        lambda t: (f"I need {{way}} {{bound}} for {_noun(t)}, would {{x}} do",
                   f"my limit for {_noun(t)} is {{way}} {{bound}}: does {{x}} qualify",
                   f"would {{x}} be all right if {_noun(t)} has to be {{way}} {{bound}}"),
        _enough, choice=True, weight=1.5,
    ),
    Operation(
        "initials", "reasoning", _once,
        lambda _t: ("what initials would I get from the name printed on {x}",
                    "can you give me the initials of the name on {x}",
                    "I'm labelling a box: what are the initials of the name on {x}"),
        _initials, pictured=True, form="post-processing", weight=2.0,
    ),
    Operation(
        "budget", "reasoning", _costs,
        lambda t: (f"how many times would {{amount}} cover {{xs}} {_noun(t)}",
                   f"with {{amount}} in my pocket, how many times could I pay {{xs}} {_noun(t)}",
                   f"how often does {{xs}} {_noun(t)} go into {{amount}}"),
        _budget, form="post-processing", weight=1.5,
    ),
    Operation(
        "times", "reasoning", _multiples,
        lambda t: (f"what would {_noun(t)} come to for {{n}} like {{x}}",
                   f"if I had {{n}} of {{x}}, what would the {_noun(t)} be in total",
                   f"take {{xs}} {_noun(t)} times {{n}}, what do I get"),
        _times, form="post-processing", weight=1.5,
    ),
    Operation(
        "convert", "reasoning", _convertible,
        lambda t: (f"what's {{xs}} {_noun(t)} in {_SPOKEN[_unit(t)]}",
                   f"can you give me {{xs}} {_noun(t)} in {_SPOKEN[_unit(t)]}",
                   f"I think in {_SPOKEN[_unit(t)]}: what's {{xs}} {_noun(t)}"),
        _convert, form="post-processing", weight=1.0,
    ),
    Operation(
        "percent", "reasoning", changing,
        lambda t: (f"by how many percent has {{xs}} {_noun(t)} changed since {{when}}",
                   f"in percent, how much has {{xs}} {_noun(t)} moved compared with {{when}}",
                   f"what's the percentage change in {{xs}} {_noun(t)} from {{when}} to now"),
        _percent, form="post-processing", weight=1.0,
    ),
    Operation("years-between", "reasoning", _age_keys, _age_patterns, _age, weight=1.2),
    Operation(
        "days-apart", "reasoning", _days,
        lambda t: (f"how many days lie between {{xs}} {_noun(t)} and that of {{other}}",
                   f"how many days apart are the {_noun(t)} of {{x}} and the {_noun(t)} of {{other}}",
                   f"counting days, how far is {{xs}} {_noun(t)} from {{other}}'s"),
        _days_apart, form="post-processing", weight=1.2,
    ),
    Operation(
        "in-time", "reasoning", _clocks,
        lambda _t: ("if I get there at {hour} today, will {x} {state}",
                    "say I arrive at {hour}: will {x} {state}",
                    "will {x} {state} when I turn up at {hour} today"),
        _in_time, choice=True, form="condition", weight=1.5,
    ),
    Operation(
        "minutes-left", "reasoning", _clocks,
        lambda _t: ("how many minutes do I have before {x} closes today",
                    "how many minutes are left until {x} shuts today",
                    "counting from now, how many minutes is {x} still open"),
        _minutes_left, form="post-processing", weight=1.0,
    ),
)  # fmt: skip
