"""Questions of CRAG's open domain: every attribute of every thing of the world."""

from __future__ import annotations

from collections.abc import Callable

from simulator.world.crag.questions.kg_proof import INVALID, Call, Proof
from simulator.world.crag.questions.templates import Drawn, Occasion, PageNeed, QuestionTemplate
from simulator.world.facts.domain_schema import Attribute, Entity, Number, Several, attributes_of
from simulator.world.facts.fact_wording import say_list, say_value


def _thing(s: Occasion, dynamism: str = "") -> tuple[Entity, Attribute]:
    """A thing and an attribute of it that changes so fast."""
    entity = s.draw.pick(list(s.facts.entities.values()))
    known = [a for a in s.facts.attributes(entity.id) if dynamism in ("", a.dynamism)]
    known = [a for a in known if not isinstance(a.value, Several)]
    return entity, s.draw.pick(known)


def _having(s: Occasion, fits: Callable[[Attribute], bool]) -> tuple[Entity, Attribute]:
    """A thing of a kind that has such an attribute, and one of these."""
    found = s.draw.pick(
        [e for e in s.facts.entities.values() if any(map(fits, attributes_of(e.kind)))]
    )
    return found, s.draw.pick([a for a in attributes_of(found.kind) if fits(a)])


def _call(name: str | dict[str, int], noun: str) -> Call:
    return ("open_get_entity", {"entity": name}, ("summary_structured", noun))


def _said(s: Occasion, entity: Entity, attribute: Attribute) -> str:
    value = s.facts.value(entity.id, attribute.key, s.at)
    return say_value(attribute, value, s.facts)


def _simple(dynamism: str, words: str) -> QuestionTemplate:
    def make(s: Occasion) -> Drawn:
        entity, attribute = _thing(s, dynamism)
        text = _said(s, entity, attribute)
        return Drawn(
            query=f"What is the {attribute.noun} of {entity.name}{words}?", answer=text, value=text,
            popularity=entity.popularity,
            proof=Proof(calls=(_call(entity.name, attribute.noun),)),
            needs=(PageNeed(entity.name, attribute.noun),),
        )  # fmt: skip

    return QuestionTemplate("open", "simple", dynamism, make)


def _mayor(s: Occasion) -> Drawn:
    company = s.draw.pick(s.facts.of_kind("company"))
    town = s.facts.target(company.id, "headquarters", s.at)
    mayor = s.facts.target(town.id, "mayor", s.at).name
    return Drawn(
        query=f"Who is the mayor of the headquarters of {company.name} this year?",
        answer=mayor, value=mayor, popularity=company.popularity,
        proof=Proof(calls=(_call(company.name, "headquarters"), _call({"$": 0}, "mayor"))),
        needs=(PageNeed(company.name, "headquarters"), PageNeed(town.name, "mayor")),
    )  # fmt: skip


def _several(s: Occasion) -> tuple[Entity, Attribute, tuple[str, ...]]:
    entity, attribute = _having(s, lambda a: isinstance(a.value, Several))
    value = s.facts.value(entity.id, attribute.key, s.at)
    return entity, attribute, value if isinstance(value, tuple) else (str(value),)


def _set(s: Occasion) -> Drawn:
    entity, attribute, items = _several(s)
    text = say_list(items)
    return Drawn(
        query=f"What are the {attribute.noun} of {entity.name}?", answer=text, value=text,
        others=(", ".join(items), say_list(items[::-1])), popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, attribute.noun),)),
        needs=(PageNeed(entity.name, attribute.noun),),
    )  # fmt: skip


def _compared(s: Occasion) -> Drawn | None:
    entity, attribute = _having(
        s, lambda a: isinstance(a.value, Number) and a.dynamism == "static" and a.is_compared
    )
    other = s.draw.pick([e for e in s.facts.of_kind(entity.kind) if e.id != entity.id])
    values = [s.facts.value(e.id, attribute.key, s.at) for e in (entity, other)]
    if values[0] == values[1]:
        return None
    best = entity if float(str(values[0])) > float(str(values[1])) else other
    return Drawn(
        query=f"Which has the larger {attribute.noun}, {entity.name} or {other.name}?",
        answer=best.name, others=best.aliases, value=best.name, popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, attribute.noun), _call(other.name, attribute.noun)),
                    operation="larger", names=(entity.name, other.name)),
        needs=(PageNeed(entity.name, attribute.noun), PageNeed(other.name, attribute.noun)),
    )  # fmt: skip


def _counted(s: Occasion) -> Drawn:
    entity, attribute, items = _several(s)
    return Drawn(
        query=f"How many {attribute.noun} does {entity.name} have?", answer=str(len(items)),
        value=len(items), popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, attribute.noun),), operation="count"),
        needs=(PageNeed(entity.name, attribute.noun),),
    )  # fmt: skip


def _hop(s: Occasion) -> Drawn | None:
    entity = s.draw.pick(list(s.facts.entities.values()))
    relations = [a for a in s.facts.attributes(entity.id) if a.is_relation]
    relation = s.draw.pick(relations)
    target = s.facts.target(entity.id, relation.key, s.at)
    known = [a for a in s.facts.attributes(target.id)
             if a.dynamism == "static" and not isinstance(a.value, Several)]  # fmt: skip
    attribute = s.draw.pick(known)
    text = _said(s, target, attribute)
    return Drawn(
        query=f"What is the {attribute.noun} of the {relation.noun} of {entity.name}?",
        answer=text, value=text, popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, relation.noun), _call({"$": 0}, attribute.noun))),
        needs=(PageNeed(entity.name, relation.noun), PageNeed(target.name, attribute.noun)),
    )  # fmt: skip


def _bill(s: Occasion) -> Drawn | None:
    entity, attribute = _having(s, lambda a: a.key == "price")
    each, many = float(str(s.facts.value(entity.id, "price", s.at))), s.draw.between(3, 9)
    total = round(each * many, 2)
    return Drawn(
        query=f"How much would {many} times the {attribute.noun} of {entity.name} be today?",
        answer=f"${total:,.2f}", others=(f"{total:.2f} dollars",), value=total,
        popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, attribute.noun),), operation="times", amount=many),
        needs=(PageNeed(entity.name, attribute.noun),),
    )  # fmt: skip


def _wrong(s: Occasion) -> Drawn | None:
    entity, attribute = _thing(s, "static")
    other = s.draw.pick([e for e in s.facts.of_kind(entity.kind) if e.id != entity.id])
    if attribute.key not in {a.key for a in s.facts.attributes(other.id)}:
        return None
    right, wrong = _said(s, entity, attribute), _said(s, other, attribute)
    if right == wrong:
        return None
    return Drawn(
        query=f"Why is the {attribute.noun} of {entity.name} {wrong}?", answer=INVALID,
        others=(f"The {attribute.noun} of {entity.name} is {right}, not {wrong}.",), value=right,
        popularity=entity.popularity,
        proof=Proof(calls=(_call(entity.name, attribute.noun),), operation="refuted", claim=wrong),
        needs=(PageNeed(entity.name, attribute.noun),),
    )  # fmt: skip


OPEN: tuple[QuestionTemplate, ...] = (
    _simple("static", ""),
    _simple("slow-changing", " these days"),
    _simple("fast-changing", " today"),
    _simple("real-time", " right now"),
    QuestionTemplate("open", "simple_w_condition", "slow-changing", _mayor),
    QuestionTemplate("open", "set", "static", _set),
    QuestionTemplate("open", "comparison", "static", _compared),
    QuestionTemplate("open", "aggregation", "static", _counted),
    QuestionTemplate("open", "multi-hop", "static", _hop),
    QuestionTemplate("open", "post-processing", "fast-changing", _bill),
    QuestionTemplate("open", "false_premise", "static", _wrong),
)
"""The templates of the open domain."""
