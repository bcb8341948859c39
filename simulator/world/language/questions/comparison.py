"""Comparison: this thing against a named one, one beside it, or its own past."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.world.facts.fact_records import Attribute, Domain, Entity
from simulator.world.language.questions.asking import (
    Draft,
    Moment,
    Operation,
    Template,
    about,
    changing,
    framed,
    hub_attributes,
    hub_of,
    it,
    numeric,
    relations,
    subject_of,
    words_along,
    words_of,
)
from simulator.world.language.questions.direct import past_instant
from simulator.world.language.voices.reading import Voice


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
        slots={"other": other.name},
        larger=more,
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
        slots={"first": first, "second": second},
        larger=more,
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
            if attribute.is_numeric:
                yield relation, attribute


def _hop(t: Template, m: Moment) -> Draft | None:
    relation, key = t.keys
    hub = hub_of(subject_of(t, relation))
    if hub is None:
        return None
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
                return Draft(
                    program=["above", a, b] if wording_more else ["above", b, a],
                    slots={"other": other.name},
                    larger=wording_more,
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


def _way(d: Draft) -> str:
    return "more" if d.larger else "less"


def _say_against(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
    return (words_of(t, v).than[_way(d)],)


def _say_beside(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
    than = words_of(t, v).than[_way(d)].replace("{other}", "the other one")
    return framed(v, "beside-than", than=than)


def _say_which(operation: str) -> Any:
    return lambda t, d, v: framed(v, operation, comp=words_of(t, v).comp[_way(d)])


def _say_hop(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
    who = words_of(t, v).who
    theirs = who.replace("{xs}", "{other}'s").replace("{x}", "{other}")
    than = words_along(t, v, 1).than[_way(d)].replace("{other}", "\0")
    return framed(v, "hop-than", than=about(than, who).replace("\0", theirs))


def _say_with_noun(operation: str) -> Any:
    return lambda t, _d, v: framed(v, operation, n=words_of(t, v).noun)


OPERATIONS = (
    Operation(
        "against", "comparison", numeric, _say_against,
        lambda t, m: _yes_no(t, m, beside=False), choice=True, weight=2.0,
    ),
    Operation(
        "against-beside", "comparison", numeric, _say_beside,
        lambda t, m: _yes_no(t, m, beside=True), choice=True, pictured=True, weight=1.5,
    ),
    Operation(
        "which", "comparison", numeric, _say_which("which"),
        lambda t, m: _which(t, m, beside=False), choice=True, weight=2.0,
    ),
    Operation(
        "which-beside", "comparison", numeric, _say_which("which-beside"),
        lambda t, m: _which(t, m, beside=True), choice=True, pictured=True, weight=1.5,
    ),
    Operation(
        "difference", "comparison", numeric, _say_with_noun("difference"), _difference,
        weight=1.5,
    ),
    Operation(
        "hop-against", "comparison", _hop_keys, _say_hop, _hop, choice=True, weight=1.0,
    ),
    Operation(
        "against-past", "comparison", _steady, _say_with_noun("past-than"), _past, choice=True,
        weight=1.0,
    ),
)  # fmt: skip
