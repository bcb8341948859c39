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
    framed,
    it,
    numeric,
    relations,
    subject_of,
    words_of,
)
from simulator.world.language.questions.phrases import plural_of
from simulator.world.language.voices.reading import Voice


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
        larger=most,
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
        slots={"bound": bound[1]},
        larger=above,
        visible=tuple(others),
    )


def _sum(operation: str) -> Any:
    def bind(t: Template, m: Moment) -> Draft | None:
        others = _group(m, m.draw.between(2, 3))
        if len(others) < 2:
            return None
        return Draft(program=[operation, _these(m, others), t.keys[0]], visible=tuple(others))

    return bind


def _additive(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return (k for k in numeric(domain) if k[0].adds_up)


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


def _say_rank(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
    return framed(v, "extreme", rank=words_of(t, v).rank["most" if d.larger else "least"])


def _say_where(operation: str) -> Any:
    def say(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
        words = words_of(t, v)
        return framed(v, operation, phrase=words.over if d.larger else words.under)

    return say


def _say_noun(operation: str) -> Any:
    return lambda t, _d, v: framed(v, operation, n=words_of(t, v).noun)


def _say_same(operation: str) -> Any:
    return lambda t, _d, v: framed(v, operation, same=words_of(t, v).same)


def _say_total(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    return framed(v, "total-sharing", same=words_of(t, v).same, n=words_of(t, v, 1).noun)


OPERATIONS = (
    Operation(
        "extreme-in-view", "aggregation", numeric, _say_rank, _extreme, pictured=True, weight=2.0,
    ),
    Operation(
        "count-in-view", "aggregation", _quantities, _say_where("count-where"),
        lambda t, m: _where(t, m, count=True), pictured=True, weight=1.0,
    ),
    Operation(
        "set-in-view", "aggregation", _quantities, _say_where("set-where"),
        lambda t, m: _where(t, m, count=False), pictured=True, form="set", weight=1.5,
    ),
    Operation(
        "total-in-view", "aggregation", _additive, _say_noun("total"), _sum("total"),
        pictured=True, weight=1.5,
    ),
    Operation(
        "average-in-view", "aggregation", _quantities, _say_noun("average"), _sum("average"),
        pictured=True, weight=0.7,
    ),
    Operation(
        "list-sharing", "aggregation", _shared, _say_same("list-sharing"), _list, form="set",
        weight=1.5,
    ),
    Operation(
        "count-sharing", "aggregation", _shared, _say_same("count-sharing"), _tally, weight=0.7,
    ),
    Operation(
        "total-sharing", "aggregation", _shared_totals, _say_total, _shared_total, weight=1.0,
    ),
    Operation("peak", "aggregation", _fast, _say_noun("peak"), _week("peak"), weight=1.0),
    Operation("trough", "aggregation", _fast, _say_noun("trough"), _week("trough"), weight=1.0),
    Operation("swing", "aggregation", _fast, _say_noun("swing"), _week("swing"), weight=0.7),
)  # fmt: skip
