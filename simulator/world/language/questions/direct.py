"""Recognition, simple knowledge and multi-hop: one thing, followed through the facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.world.facts.catalogue import attribute_of, domain_of_kind
from simulator.world.facts.fact_records import Attribute, Choice, Domain, Entity, Year
from simulator.world.facts.wording import say_value
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
from simulator.world.language.questions.phrases import plural_of, spoken_day, spoken_time
from simulator.world.language.voices.reading import Voice


def printed_keys(domain: Domain) -> set[str]:
    """Attributes that are printed on things of a domain."""
    return set(domain.sublabel.values())


def past_instant(attribute: Attribute, moment: Moment) -> tuple[str, str] | None:
    """An earlier instant at which an attribute is known, and the words for it."""
    today = moment.at[:10]
    facts = moment.facts.history(moment.subject.id, attribute.key, moment.at)
    earlier = [f for f in facts[:-1] if f.valid_from]
    if not earlier:
        return None
    fact = moment.draw.pick(earlier)
    start = str(fact.valid_from)
    if attribute.dynamism == "slow-changing":
        return f"{start[:4]}-06-15T12:00", f"in June {start[:4]}"
    if attribute.dynamism == "fast-changing":
        return f"{start[:10]}T12:00", f"on {spoken_day(start, today)}"
    if "T" not in start or start[:10] < moment.facts.window[0][:10]:
        return None
    later = start[:11] + f"{int(start[11:13]) + 2:02d}:00"
    return later, f"on {spoken_day(later, today)} at {spoken_time(later)}"


# -- recognition


def _once(_domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((),)


def _name(_t: Template, m: Moment) -> Draft:
    return Draft(program=it(m))


def _label(part: str) -> Any:
    def bind(_t: Template, m: Moment) -> Draft | None:
        look = m.subject.look
        text = look and getattr(look, part)
        return Draft(program=["printed", it(m), part]) if text and m.text_clue else None

    return bind


def _printed(t: Template, m: Moment) -> Draft | None:
    key = domain_of_kind(m.subject.kind).sublabel.get(m.subject.kind)
    return Draft(program=["get", it(m), key]) if m.text_clue and key == t.keys[0] else None


def _printed_attributes(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    return ((a,) for a in domain.attributes if a.key in printed_keys(domain))


def _foil(m: Moment) -> Entity | None:
    """Another thing whose name is as long: a look-alike where one is. Length must tell nothing."""
    family = m.draw.shuffled(m.facts.family(m.subject))
    kin = {e.id for e in family}
    pool = {e.id: e for e in (*family, *m.others())}

    def oddness(entity: Entity) -> tuple[bool, bool, int]:
        apart = abs(len(entity.name) - len(m.subject.name))
        return apart > 1, entity.id not in kin, apart

    return min(pool.values(), key=oddness, default=None)


def _which_name(_t: Template, m: Moment) -> Draft | None:
    foil = _foil(m)
    if foil is None:
        return None
    first, second = (m.subject, foil) if m.polarity else (foil, m.subject)
    same = ["same", it(m), ["it", first.id]]
    return Draft(
        program=["either", same, ["it", first.id], ["it", second.id]],
        slots={"first": first.name, "second": second.name},
        choice=(first.name, second.name),
    )


def _is_name(_t: Template, m: Moment) -> Draft | None:
    claimed = m.subject if m.polarity else _foil(m)
    if claimed is None:
        return None
    return Draft(
        program=["same", it(m), ["it", claimed.id]],
        slots={"other": claimed.name},
        choice=("Yes", "No"),
    )


def _beside(_t: Template, m: Moment) -> Draft | None:
    others = m.beside(1)
    return Draft(program=["it", others[0].id], visible=(others[0],)) if others else None


# -- knowledge


def _plain_keys(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    printed = printed_keys(domain)
    for a in domain.attributes:
        if a.key not in printed or a.is_relation:
            yield (a,)


def _attribute(t: Template, m: Moment) -> Draft:
    return Draft(program=["get", it(m), t.keys[0]])


def _remembered(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """What somebody asks the past of: not how long the queue was at two last night."""
    return (k for k in changing(domain) if k[0].dynamism != "real-time")


def _past(t: Template, m: Moment) -> Draft | None:
    found = past_instant(subject_of(t, t.keys[0]), m)
    if found is None:
        return None
    return Draft(program=["get", it(m), t.keys[0], found[0]], slots={"when": found[1]})


def _premise_keys(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    claims = [
        a
        for a in domain.attributes
        if a.dynamism == "static"
        and (isinstance(a.value, Year | Choice) or hub_of(a))
        and a.key not in printed_keys(domain)
    ]
    for i, (then,) in enumerate(numeric(domain)):
        if then.key not in printed_keys(domain):
            claim = claims[i % len(claims)]
            if claim.key != then.key:
                yield (claim, then)


def _premise(t: Template, m: Moment) -> Draft | None:
    """The same wording with a true or a false claim, in equal numbers: only facts tell."""
    key, then = t.keys
    attribute = attribute_of(m.subject.kind, key)
    actual = m.facts.value(m.subject.id, key, m.at)
    claim = actual
    if not m.polarity:
        foils = [m.facts.value(e.id, key, m.at) for e in m.others()]
        claim = next((v for v in foils if v != actual), None)
        if claim is None:
            return None
    return Draft(
        program=["premise", it(m), key, claim, ["get", it(m), then]],
        slots={"v": say_value(attribute, claim, m.facts)},
        false_premise=not m.polarity,
    )


# -- multi-hop


def _hops(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    for relation in relations(domain):
        for attribute in hub_attributes(relation):
            if not attribute.is_relation or hub_of(attribute):
                yield relation, attribute


def _hops_out(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    for relation in relations(domain):
        for attribute in hub_attributes(relation):
            if attribute.is_relation and not hub_of(attribute):
                yield relation, attribute


def _say_hop(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    """What is asked of the last, said of the one before, and so on: "the firm that makes {x}"."""
    patterns = words_along(t, v, len(t.keys) - 1).ask
    for i in reversed(range(len(t.keys) - 1)):
        patterns = tuple(about(p, words_along(t, v, i).who) for p in patterns)
    return patterns


def _hop(t: Template, m: Moment) -> Draft:
    program = it(m)
    for key in t.keys:
        program = ["get", program, key]
    return Draft(program=program)


def _far_hops(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """Two relations and an attribute: the population of the publisher's home town."""
    wanted = {"company": ("headquarters", "chief", "founder"), "person": ("birthplace",)}
    asked = {"town": ("population", "mayor", "elevation"), "person": ("born", "height")}
    for first in relations(domain):
        for second in hub_attributes(first):
            hub = hub_of(second)
            if second.key in wanted.get(hub_of(first) or "", ()) and hub:
                for last in hub_attributes(second):
                    if last.key in asked.get(hub, ()):
                        yield first, second, last


def _siblings(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    for relation in relations(domain):
        if relation.dynamism == "static":
            for (attribute,) in numeric(domain):
                if attribute.dynamism in ("static", "slow-changing"):
                    yield relation, attribute


def _say_sibling(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    same, rank = words_of(t, v).same, words_of(t, v, 1).rank["most"]
    return framed(v, "sibling", same=same, rank=rank)


def _sibling(t: Template, m: Moment) -> Draft | None:
    relation, key = t.keys
    owner = m.facts.target(m.subject.id, relation, m.at)
    kin = m.facts.sources(owner.id, relation, m.at, m.subject.kind)
    if not 3 <= len(kin) <= 8:
        return None
    things = ["sources", ["get", it(m), relation], relation, m.subject.kind]
    return Draft(
        program=["most", ["without", things, it(m)], key],
        slots={"plural": plural_of(m.subject.kind)},
    )


def _pairs(domain: Domain) -> Iterable[tuple[Attribute, ...]]:
    """Each quantity to pick one of two things by, with a few other attributes to ask of it."""
    printed = printed_keys(domain)
    ranked = [a for (a,) in numeric(domain) if a.dynamism in ("static", "slow-changing")]
    asked = [a for a in domain.attributes if a.key not in printed and not hub_of(a)]
    for i, by in enumerate(ranked):
        for step in range(3):
            what = asked[(3 * i + step) % len(asked)]
            if what.key != by.key:
                yield by, what


def _the_one_that(t: Template, m: Moment) -> Draft | None:
    by = subject_of(t, t.keys[0])
    others = m.beside(1)
    if not others or m.number(m.subject, by.key) == m.number(others[0], by.key):
        return None
    if m.facts.value(m.subject.id, t.keys[1], m.at) == m.facts.value(others[0].id, t.keys[1], m.at):
        return None
    most = m.draw.chance(0.5)
    things = ["these", m.subject.id, others[0].id]
    return Draft(
        program=["get", ["most" if most else "least", things, by.key], t.keys[1]],
        larger=most,
        visible=(others[0],),
    )


def _say_the_one_that(t: Template, d: Draft, v: Voice) -> tuple[str, ...]:
    comp = words_of(t, v).comp["more" if d.larger else "less"]
    return framed(v, "the-one-that", comp=comp, n=words_of(t, v, 1).noun)


def _say_premise(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    who = "that person" if "person" in t.kinds else "it"
    asked = tuple(about(p, who) for p in words_of(t, v, 1).ask)
    return framed(v, "premise", claim=words_of(t, v).claim, ask=asked)


def _frames(operation: str) -> Any:
    return lambda _t, _d, v: v.operations[operation]


def _say_attribute(t: Template, _d: Draft, v: Voice) -> tuple[str, ...]:
    return words_of(t, v).ask


OPERATIONS = (
    Operation(
        "name", "simple-recognition", _once, _frames("name"), _name, pictured=True,
    ),
    Operation(
        "label", "simple-recognition", _once, _frames("label"), _label("label"), pictured=True,
    ),
    Operation(
        "sublabel", "simple-recognition", _printed_attributes, _frames("sublabel"),
        _label("sublabel"), pictured=True,
    ),
    Operation(
        "printed", "simple-recognition", _printed_attributes, _say_attribute, _printed,
        pictured=True,
    ),
    Operation(
        "which-name", "simple-recognition", _once, _frames("which-name"), _which_name,
        pictured=True, choice=True,
    ),
    Operation(
        "is-name", "simple-recognition", _once, _frames("is-name"), _is_name, pictured=True,
        choice=True,
    ),
    Operation(
        "beside", "simple-recognition", _once, _frames("beside"), _beside, pictured=True,
    ),
    Operation(
        "attribute", "simple-knowledge", _plain_keys, _say_attribute, _attribute, weight=5.0,
    ),
    Operation(
        "past", "simple-knowledge", _remembered, lambda t, _d, v: words_of(t, v).past, _past,
        form="condition", static=True, weight=1.0,
    ),
    Operation(
        "premise", "simple-knowledge", _premise_keys, _say_premise, _premise, form="condition",
        weight=1.2,
    ),
    Operation("hop", "multi-hop", _hops, _say_hop, _hop, weight=3.0),
    Operation("hop-out", "multi-hop", _hops_out, _say_hop, _hop, weight=0.5),
    Operation("far-hop", "multi-hop", _far_hops, _say_hop, _hop, weight=1.0),
    Operation("sibling", "multi-hop", _siblings, _say_sibling, _sibling, weight=1.0),
    Operation(
        "the-one-that", "multi-hop", _pairs, _say_the_one_that, _the_one_that, pictured=True,
        weight=0.8,
    ),
)  # fmt: skip
