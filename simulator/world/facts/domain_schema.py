"""The schema of all domains, read from `domains/*.yaml`: which kinds have which attributes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from mmrag.files import bounded_yaml
from simulator.world.facts.fact_records import (
    Attribute,
    Choice,
    Clock,
    Day,
    Domain,
    Number,
    Ref,
    Several,
    ValueSpec,
    Year,
)

_FILES = Path(__file__).parent / "domains"
_ORDER = (
    "animal", "book", "food", "general", "local", "math", "plants", "shopping", "sports", "fashion",
    "text", "vehicle", "other", "hub",
)  # fmt: skip
SHAPES = ("number", "times_of", "year", "day", "clock", "one_of", "some_of", "to")
"""What an attribute's row has one of."""

_PACES = {"slow": "slow-changing", "fast": "fast-changing", "live": "real-time"}


@cache
def raw_domains() -> dict[str, dict[str, Any]]:
    """File stem → domain, as the files say it."""
    return {stem: bounded_yaml.read(_FILES / f"{stem}.yaml") for stem in _ORDER}


def _domain(stem: str, raw: dict[str, Any]) -> Domain:
    kinds: dict[str, dict[str, Any]] = raw["kinds"]
    return Domain(
        name=raw["name"],
        stem=stem,
        attributes=tuple(_attribute(key, a) for key, a in raw["attributes"].items()),
        nouns={kind: said["noun"] for kind, said in kinds.items()},
        names={kind: tuple(said["names"]) for kind, said in kinds.items()},
        sublabel={kind: said["print"] for kind, said in kinds.items() if "print" in said},
    )


def _attribute(key: str, said: Mapping[str, Any], kind: str | None = None) -> Attribute:
    return Attribute(
        key=key,
        noun=said["noun"],
        value=_value(said, kind),
        dynamism=_PACES.get(said.get("pace", ""), "static"),
        kinds=tuple(said.get("kinds", ())),
        grows=said.get("grows", False),
        leans=said.get("leans", ""),
        adds_up=said.get("each", False),
        is_compared=said.get("compare", True),
    )


def _value(said: Mapping[str, Any], kind: str | None) -> ValueSpec:
    digits, unit = said.get("digits", 0), said.get("unit", "")
    significant = 4 if digits == 2 else 3
    if "times_of" in said:
        base, low, high = said["times_of"]
        return Number(
            low=low, high=high, digits=digits, unit=unit, significant=significant, times_of=base
        )
    shape = next(s for s in SHAPES if s in said)
    of = said[shape]
    if isinstance(of, dict):
        by_kind = cast("dict[str, list[Any]]", of)
        each = [by_kind[kind]] if kind in by_kind else list(by_kind.values())
        of = _merged(each) if shape in ("one_of", "some_of", "to") else _widest(each)
    if shape == "number":
        return Number(low=of[0], high=of[1], digits=digits, unit=unit, significant=significant)
    if shape == "year":
        return Year(low=of[0], high=of[1], same_as=said.get("same_as", ""))
    if shape == "day":
        return Day(low=of[0], high=of[1], year_of=said.get("year_of", ""))
    if shape == "clock":
        return Clock(low=of[0], high=of[1])
    if shape == "one_of":
        return Choice(words=tuple(of))
    if shape == "some_of":
        return Several(
            words=tuple(of),
            without=said.get("without", {}),
            in_a_row=said.get("in_a_row", False),
        )
    return Ref(kinds=tuple(of))


def _merged(lists: list[list[Any]]) -> list[Any]:
    return list(dict.fromkeys(word for words in lists for word in words))


def _widest(ranges: list[list[Any]]) -> list[Any]:
    return [min(r[0] for r in ranges), max(r[1] for r in ranges)]


_ALL = {raw["name"]: _domain(stem, raw) for stem, raw in raw_domains().items()}
HUB = _ALL.pop("hub")
"""People, companies and towns: never in a picture, they tie the domains together."""

DOMAINS: dict[str, Domain] = _ALL
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
    """Every attribute that entities of a kind have, in a fixed order, with that kind's range."""
    domain = domain_of_kind(kind)
    raw = raw_domains()[domain.stem]["attributes"]
    return tuple(
        _attribute(a.key, raw[a.key], kind)
        for a in domain.attributes
        if not a.kinds or kind in a.kinds
    )


@cache
def attribute_of(kind: str, key: str) -> Attribute:
    """One attribute of a kind."""
    for attribute in attributes_of(kind):
        if attribute.key == key:
            return attribute
    raise KeyError(f"{kind} has no attribute {key}")
