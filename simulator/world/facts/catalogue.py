"""The schema of all domains in one place: which kinds have which attributes."""

from __future__ import annotations

from functools import cache

from simulator.world.facts.fact_records import Attribute, Domain
from simulator.world.facts.goods import FASHION, FOOD, GENERAL, SHOPPING
from simulator.world.facts.hubs import HUB
from simulator.world.facts.media import BOOK, MATH, SPORTS, TEXT
from simulator.world.facts.nature import ANIMAL, PLANTS
from simulator.world.facts.outdoors import LOCAL, OTHER, VEHICLE

DOMAINS: dict[str, Domain] = {
    d.name: d
    for d in (
        ANIMAL, BOOK, FOOD, GENERAL, LOCAL, MATH, PLANTS, SHOPPING, SPORTS, FASHION, TEXT, VEHICLE,
        OTHER,
    )
}  # fmt: skip
"""CRAG-MM's thirteen domains."""


@cache
def domain_of_kind(kind: str) -> Domain:
    """The schema that a kind belongs to (`hub` for people, companies and towns)."""
    for domain in (*DOMAINS.values(), HUB):
        if kind in domain.nouns:
            return domain
    raise KeyError(kind)


@cache
def attributes_of(kind: str) -> tuple[Attribute, ...]:
    """Every attribute that entities of a kind have, in a fixed order."""
    return tuple(a for a in domain_of_kind(kind).attributes if not a.kinds or kind in a.kinds)


@cache
def attribute_of(kind: str, key: str) -> Attribute:
    """One attribute of a kind."""
    for attribute in attributes_of(kind):
        if attribute.key == key:
            return attribute
    raise KeyError(f"{kind} has no attribute {key}")
