"""Comparison: this thing against a named one, one beside it, or its own past."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.world.facts.catalogue import attribute_of
from simulator.world.facts.fact_records import Attribute, Domain, Entity
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Operation,
    Template,
    changing,
    hub_attributes,
    hub_of,
    it,
    numeric,
    relations,
    subject_of,
)
from simulator.world.language.questions.direct import past_instant
from simulator.world.language.questions.phrases import inverted


def _pair(m: Moment, key: str, *, larger: bool, beside: bool) -> Entity | None:
    """Another thing such that the subject is the larger (or the smaller) of the two."""
    mine = m.number(m.subject, key)
    pool = list(m.view) if beside and m.view else m.others()
    if beside and len(m.view) > 1:
        return None
    for other in pool:
        theirs = m.number(other, key)
        if mine != theirs and (mine > theirs) == larger:
            return other
    return None


def _opponent(t: Template, m: Moment, *, beside: bool) -> tuple[Attribute, bool, Entity] | None:
    """Wording is chosen first (whether it asks for more), then one that gives the wanted answer."""
    attribute = subject_of(t, t.keys[0])
    more = m.draw.chance(0.5)
    for wording_more in (more, not more):
        other = _pair(m, attribute.key, larger=wording_more == m.polarity, beside=beside)
        if other is not None:
            return attribute, wording_more, other
    return None


def _yes_no(t: Template, m: Moment, *, beside: bool) -> Draft | None:
    found = _opponent(t, m, beside=beside)
    if found is None:
        return None
    attribute, more, other = found
    mine: list[Any] = ["get", it(m), attribute.key]
    theirs: list[Any] = ["get", ["it", other.id], attribute.key]
    return Draft(
        program=["above", mine, theirs] if more else ["above", theirs, mine],
        slots={
            "other": other.name,
            "asked": inverted(attribute.more if more else attribute.less, "{x}"),
        },
        visible=(other,) if beside else (),
        choice=("Yes", "No"),
    )


def _which(t: Template, m: Moment, *, beside: bool) -> Draft | None:
    found = _opponent(t, m, beside=beside)
    if found is None:
        return None
    attribute, more, other = found
    first, second = ("{x}", other.name) if m.order else (other.name, "{x}")
    return Draft(
        program=["most" if more else "least", ["these", m.subject.id, other.id], attribute.key],
        slots={
            "verb": attribute.more if more else attribute.less,
            "first": first,
            "second": second,
        },
        visible=(other,) if beside else (),
        choice=("{x}", other.name),
    )


def _difference(t: Template, m: Moment) -> Draft | None:
    others = m.others()
    mine = m.number(m.subject, t.keys[0])
    other = next((o for o in others if m.number(o, t.keys[0]) != mine), None)
    if other is None:
        return None
    key = t.keys[0]
    program = ["minus", ["get", it(m), key], ["get", ["it", other.id], key]]
    return Draft(program=program, slots={"other": other.name})


def _hop_keys(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    for relation in relations(domain):
        for attribute in hub_attributes(relation):
            if attribute.is_numeric and attribute.more:
                yield relation, attribute


def _hop(t: Template, m: Moment) -> Draft | None:
    relation, key = t.keys
    hub = hub_of(subject_of(t, relation))
    if hub is None:
        return None
    attribute = attribute_of(hub, key)
    owner = m.facts.target(m.subject.id, relation, m.at)
    mine = m.number(owner, key)
    more = m.draw.chance(0.5)
    for wording_more in (more, not more):
        for other in m.others():
            rival = m.facts.target(other.id, relation, m.at)
            theirs = m.number(rival, key)
            if rival.id != owner.id and mine != theirs:
                if (mine > theirs) != (wording_more == m.polarity):
                    continue
                a: list[Any] = ["get", ["get", it(m), relation], key]
                b: list[Any] = ["get", ["get", ["it", other.id], relation], key]
                verb = attribute.more if wording_more else attribute.less
                noun = subject_of(t, relation).noun
                return Draft(
                    program=["above", a, b] if wording_more else ["above", b, a],
                    slots={"other": other.name, "asked": inverted(verb, f"{{xs}} {noun}")},
                    choice=("Yes", "No"),
                )
    return None


def _past(t: Template, m: Moment) -> Draft | None:
    attribute = subject_of(t, t.keys[0])
    now = m.number(m.subject, attribute.key)
    for _ in range(8):
        found = past_instant(attribute, m)
        if found is None:
            continue
        then = m.number(m.subject, attribute.key, found[0])
        if then == now:
            continue
        higher = (now > then) == m.polarity
        a: list[Any] = ["get", it(m), attribute.key]
        b: list[Any] = ["get", it(m), attribute.key, found[0]]
        return Draft(
            program=["above", a, b] if higher else ["above", b, a],
            slots={"when": found[1], "way": "higher" if higher else "lower"},
            choice=("Yes", "No"),
        )
    return None


def _steady(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """Quantities that go up and down: a running total gives the answer away."""
    return (keys for keys in changing(domain) if not keys[0].grows)


def _noun(t: Template) -> str:
    return subject_of(t, t.keys[0]).noun


OPERATIONS = (
    Operation(
        "against", "comparison", numeric,
        lambda _t: ("{asked} than {other}", "what do you think, {asked} than {other}",
                    "compared with {other}, {asked}"),
        lambda t, m: _yes_no(t, m, beside=False), choice=True, weight=2.0,
    ),
    Operation(
        "against-beside", "comparison", numeric,
        lambda _t: ("{asked} than the other {noun} here", "{asked} than the one beside it",
                    "of the two {plural} in view, {asked} than the other"),
        lambda t, m: _yes_no(t, m, beside=True), choice=True, pictured=True, weight=1.5,
    ),
    Operation(
        "which", "comparison", numeric,
        lambda _t: ("which one {verb}, {first} or {second}", "{first} or {second}: which {verb}",
                    "between {first} and {second}, which one {verb}"),
        lambda t, m: _which(t, m, beside=False), choice=True, weight=2.0,
    ),
    Operation(
        "which-beside", "comparison", numeric,
        lambda _t: ("which of these two {plural} {verb}",
                    "of the two {plural} here, which one {verb}",
                    "this {noun} or the other one: which {verb}"),
        lambda t, m: _which(t, m, beside=True), choice=True, pictured=True, weight=1.5,
    ),
    Operation(
        "difference", "comparison", numeric,
        lambda t: (f"what's the difference in {_noun(t)} between {{x}} and {{other}}",
                   f"how far apart are {{x}} and {{other}} in {_noun(t)}",
                   f"by how much do {{x}} and {{other}} differ in {_noun(t)}"),
        _difference, weight=1.5,
    ),
    Operation(
        "hop-against", "comparison", _hop_keys,
        lambda t: (f"{{asked}} than the {_noun(t)} of {{other}}",
                   f"compared with the {_noun(t)} of {{other}}, {{asked}}",
                   f"let's compare with {{other}}: {{asked}} than that one's {_noun(t)}"),
        _hop, choice=True, weight=1.0,
    ),
    Operation(
        "against-past", "comparison", _steady,
        lambda t: (f"is {{xs}} {_noun(t)} {{way}} now than {{when}}",
                   f"compared with what it was {{when}}, is {{xs}} {_noun(t)} {{way}} now",
                   f"is the {_noun(t)} of {{x}} {{way}} at the moment than it was {{when}}"),
        _past, choice=True, weight=1.0,
    ),
)  # fmt: skip
