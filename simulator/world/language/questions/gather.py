"""Aggregation: several things in view, everything that shares a relation, or a week of values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.world.facts.fact_records import Attribute, Domain, Entity, Number
from simulator.world.facts.wording import say_number
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Operation,
    Template,
    it,
    numeric,
    relations,
    subject_of,
)
from simulator.world.language.questions.phrases import an, plural_of

ADDITIVE = {
    "g", "kg", "$", "ml", "litres", "copies", "packs", "pieces", "units", "people", "readers",
    "minutes", "hours", "reviews", "collectors",
}  # fmt: skip
"""Units whose sum over different things means something."""


def _group(m: Moment, n: int) -> list[Entity]:
    """n things beside the subject, or as many as are in view already if that is a group."""
    return m.beside(len(m.view) if len(m.view) > 1 else n)


def _these(m: Moment, others: list[Entity]) -> list[Any]:
    ids = m.draw.shuffled([m.subject.id, *(o.id for o in others)])
    return ["these", *ids]


def _extreme(t: Template, m: Moment) -> Draft | None:
    attribute = subject_of(t, t.keys[0])
    others = _group(m, m.draw.between(2, 3))
    values = sorted(m.number(e, attribute.key) for e in (m.subject, *others))
    most = m.draw.chance(0.5)
    if len(others) < 2 or values[-1 if most else 0] == values[-2 if most else 1]:
        return None
    return Draft(
        program=["most" if most else "least", _these(m, others), attribute.key],
        slots={"verb": attribute.most if most else attribute.least},
        visible=tuple(others),
    )


def _bound(t: Template, m: Moment, others: list[Entity]) -> tuple[float, str] | None:
    """A round bound that separates the things in view."""
    attribute = subject_of(t, t.keys[0])
    values = sorted({m.number(e, attribute.key) for e in (m.subject, *others)})
    if len(values) < 3:
        return None
    i = m.draw.below(len(values) - 1)
    bound = (values[i] + values[i + 1]) / 2
    spec = attribute.value
    digits = spec.digits if isinstance(spec, Number) else 0
    bound = round(bound, digits)
    if bound in values:
        return None
    unit = spec.unit if isinstance(spec, Number) else ""
    text = str(int(bound)) if not isinstance(spec, Number) else say_number(bound, unit, digits)
    return (bound if digits else int(bound)), text


def _where(t: Template, m: Moment, *, count: bool) -> Draft | None:
    others = _group(m, 3)
    bound = _bound(t, m, others) if len(others) > 1 else None
    if bound is None:
        return None
    above = m.draw.chance(0.5)
    chosen = ["where", _these(m, others), t.keys[0], ">" if above else "<", bound[0]]
    return Draft(
        program=["count", chosen] if count else chosen,
        slots={"bound": bound[1], "side": "above" if above else "below"},
        visible=tuple(others),
    )


def _first_name(_t: Template, m: Moment) -> Draft | None:
    others = [o for o in _group(m, 3) if o.look and o.look.label]
    if not m.text_clue or len(others) < max(2, len(m.view)):
        return None
    return Draft(program=["first_by_name", _these(m, others)], visible=tuple(others))


def _once(_domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((),)


def _sum(operation: str) -> Any:
    def bind(t: Template, m: Moment) -> Draft | None:
        others = _group(m, m.draw.between(2, 3))
        if len(others) < 2:
            return None
        return Draft(program=[operation, _these(m, others), t.keys[0]], visible=tuple(others))

    return bind


def _additive(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (k for k in numeric(domain) if k[0].unit in ADDITIVE)


def _quantities(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (k for k in numeric(domain) if isinstance(k[0].value, Number))


def _shared(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((r,) for r in relations(domain))


def _shared_totals(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    for relation in relations(domain):
        for (attribute,) in _additive(domain):
            if attribute.key not in domain.sublabel.values():
                yield relation, attribute


def _same(m: Moment, relation: str, low: int, high: int) -> list[Any] | None:
    """All things of the subject's kind with the same relation, if they are few enough."""
    owner = m.facts.target(m.subject.id, relation, m.at)
    n = len(m.facts.sources(owner.id, relation, m.at, m.subject.kind))
    if not low <= n <= high:
        return None
    return ["sources", ["get", it(m), relation], relation, m.subject.kind]


def _list(t: Template, m: Moment) -> Draft | None:
    things = _same(m, t.keys[0], 2, 6)
    if things is None:
        return None
    return Draft(program=["without", things, it(m)], slots={"plural": plural_of(m.subject.kind)})


def _tally(t: Template, m: Moment) -> Draft | None:
    things = _same(m, t.keys[0], 1, 12)
    if things is None:
        return None
    return Draft(program=["count", things], slots={"plural": plural_of(m.subject.kind)})


def _shared_total(t: Template, m: Moment) -> Draft | None:
    things = _same(m, t.keys[0], 2, 6)
    if things is None:
        return None
    program = ["total", things, t.keys[1]]
    return Draft(program=program, slots={"plural": plural_of(m.subject.kind)})


def _fast(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (
        (a,)
        for a in domain.attributes
        if isinstance(a.value, Number) and a.dynamism == "fast-changing"
    )


def _week(operation: str) -> Any:
    def bind(t: Template, m: Moment) -> Draft:
        return Draft(program=[operation, it(m), t.keys[0], 5])

    return bind


def _noun(t: Template, i: int = 0) -> str:
    return subject_of(t, t.keys[i]).noun


OPERATIONS = (
    Operation(
        "extreme-in-view", "aggregation", numeric,
        lambda _t: ("which of these {plural} {verb}", "out of all the {plural} here, which one {verb}",
                    "looking at these {plural}, which {verb}"),
        _extreme, pictured=True, weight=2.0,
    ),
    Operation(
        "count-in-view", "aggregation", _quantities,
        lambda t: (f"how many of these {{plural}} have {an(_noun(t))} {{side}} {{bound}}",
                   f"of the {{plural}} in front of me, how many have {an(_noun(t))} {{side}} {{bound}}",
                   f"how many of the {{plural}} here are {{side}} {{bound}} in {_noun(t)}"),
        lambda t, m: _where(t, m, count=True), pictured=True, weight=1.0,
    ),
    Operation(
        "set-in-view", "aggregation", _quantities,
        lambda t: (f"which of these {{plural}} have {an(_noun(t))} {{side}} {{bound}}",
                   f"name the {{plural}} here with {an(_noun(t))} {{side}} {{bound}}, please",
                   f"of these {{plural}}, which are {{side}} {{bound}} in {_noun(t)}"),
        lambda t, m: _where(t, m, count=False), pictured=True, form="set", weight=1.5,
    ),
    Operation(
        "total-in-view", "aggregation", _additive,
        lambda t: (f"what's the total {_noun(t)} of these {{plural}} together",
                   f"if I add up the {_noun(t)} of all the {{plural}} here, what do I get",
                   f"all these {{plural}} taken together, what's their {_noun(t)}"),
        _sum("total"), pictured=True, weight=1.5,
    ),
    Operation(
        "average-in-view", "aggregation", _quantities,
        lambda t: (f"what's the average {_noun(t)} of these {{plural}}",
                   f"on average, what's the {_noun(t)} of the {{plural}} here",
                   f"could you average the {_noun(t)} over these {{plural}}"),
        _sum("average"), pictured=True, weight=0.7,
    ),
    Operation(
        "first-name-in-view", "aggregation", _once,
        lambda _t: ("if I sorted these {plural} by the name on them, which would come first",
                    "going by the alphabet, which of these {plural} has the first name",
                    "of the {plural} here, whose printed name comes first in the alphabet"),
        _first_name, pictured=True, weight=2.5,
    ),
    Operation(
        "list-sharing", "aggregation", _shared,
        lambda t: (f"which other {{plural}} have the same {_noun(t)} as {{x}}",
                   f"name all the other {{plural}} that share {{xs}} {_noun(t)}",
                   f"what other {{plural}} are there with the same {_noun(t)} as {{x}}"),
        _list, form="set", weight=1.5,
    ),
    Operation(
        "count-sharing", "aggregation", _shared,
        lambda t: (f"how many {{plural}} have the same {_noun(t)} as {{x}}, counting it too",
                   f"with {{x}} included, how many {{plural}} share its {_noun(t)}",
                   f"how many {{plural}} are there in all with {{xs}} {_noun(t)}"),
        _tally, weight=0.7,
    ),
    Operation(
        "total-sharing", "aggregation", _shared_totals,
        lambda t: (f"what's the total {_noun(t, 1)} of all {{plural}} with the same {_noun(t)} as {{x}}",
                   f"taking every one of the {{plural}} with {{xs}} {_noun(t)}, what's their {_noun(t, 1)} together",
                   f"add up the {_noun(t, 1)} over all {{plural}} that share {{xs}} {_noun(t)}, what's the sum"),
        _shared_total, weight=1.0,
    ),
    Operation(
        "peak", "aggregation", _fast,
        lambda t: (f"what was the highest {_noun(t)} of {{x}} over the last five days, today included",
                   f"from five days ago until now, how high did {{xs}} {_noun(t)} get",
                   f"what's the peak of {{xs}} {_noun(t)} since five days ago"),
        _week("peak"), weight=1.0,
    ),
    Operation(
        "trough", "aggregation", _fast,
        lambda t: (f"what was the lowest {_noun(t)} of {{x}} over the last five days, today included",
                   f"from five days ago until now, how low did {{xs}} {_noun(t)} fall",
                   f"what's the lowest {{xs}} {_noun(t)} has been since five days ago"),
        _week("trough"), weight=1.0,
    ),
    Operation(
        "swing", "aggregation", _fast,
        lambda t: (f"how far apart are the highest and the lowest {_noun(t)} of {{x}} since five days ago",
                   f"from five days ago until now, by how much did {{xs}} {_noun(t)} swing",
                   f"what's the spread of {{xs}} {_noun(t)} over the last five days, today included"),
        _week("swing"), weight=0.7,
    ),
)  # fmt: skip
