"""The schema of all domains, read from `domains/*.yaml`, and the records of the fact base.

Other modules may rely on everything in this docstring.

* `Entity.id` is stable: the same seed and size give the same ids. Visible entities (those that can
  stand in a picture) have a `look`; hubs (people, companies, towns) have none.
* A `Fact` says that an attribute of an entity had a value from `valid_from` (inclusive) until
  `valid_to` (exclusive); None means "always". For one entity and attribute the validities never
  overlap and leave no gap up to the end of the world, so exactly one value holds at any query time.
* Times are ISO strings (`2031-06-12T14:00` or `2031-06-12`) and compare as strings.
* The value of a relation is the id of another entity (`Attribute.value` is a `Ref`); everything
  else is a number, a string (choice, ISO date, HH:MM) or a tuple of strings.
* `Attribute.noun` puts a fact into words: "The {noun} of {name} is {value}."
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from mmrag.files import bounded_yaml
from mmrag.records import Record
from simulator.world.facts.look import Look

HUBS = ("person", "company", "town")
"""Kinds of entities that connect the domains and are never in a picture."""

DYNAMISM = ("real-time", "fast-changing", "slow-changing", "static")
"""How fast a value changes, fastest first (CRAG's four classes)."""

FactValue = str | float | int | tuple[str, ...]


class Entity(Record, frozen=True, kw_only=True):
    """Something that exists."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    domain: str
    """CRAG-MM's domain name; hubs belong to `hub`."""
    kind: str
    popularity: str
    family: int = 0
    look: Look | None = None


class Fact(Record, frozen=True, kw_only=True):
    """One attribute of one entity during one time."""

    entity_id: str
    attribute: str
    value: FactValue
    unit: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class Number(Record, frozen=True, kw_only=True, tag="number"):
    """A quantity. Drawn log-uniformly when the range spans more than a factor of eight."""

    low: float
    high: float
    digits: int = 0
    """Decimals kept."""
    unit: str = ""
    significant: int = 3
    """Significant digits kept, so that values look measured."""
    times_of: str = ""
    """`low` and `high` are then factors of this attribute of the same entity: an online price."""


class Year(Record, frozen=True, kw_only=True, tag="year"):
    """A year."""

    low: int
    high: int
    same_as: str = ""
    """It is the year that this attribute of the same entity says."""


class Day(Record, frozen=True, kw_only=True, tag="day"):
    """A calendar date between two years (both inclusive)."""

    low: int
    high: int
    year_of: str = ""
    """The day lies in the year that this attribute of the same entity says."""


class Clock(Record, frozen=True, kw_only=True, tag="clock"):
    """A time of day in steps of five minutes, as HH:MM."""

    low: str
    high: str


class Choice(Record, frozen=True, kw_only=True, tag="choice"):
    """One of some words."""

    words: tuple[str, ...]


class Several(Record, frozen=True, kw_only=True, tag="several"):
    """A few of some words, in order."""

    words: tuple[str, ...]
    low: int = 2
    high: int = 4
    without: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Attribute of the same entity → its value → words that cannot stand beside it."""
    in_a_row: bool = False
    """They follow one another, as months do."""


class Ref(Record, frozen=True, kw_only=True, tag="ref"):
    """Another entity of one of these kinds."""

    kinds: tuple[str, ...]


ValueSpec = Number | Year | Day | Clock | Choice | Several | Ref


class Attribute(Record, frozen=True, kw_only=True):
    """What can be true of the entities of some kinds, and the words for it."""

    key: str
    noun: str
    """Noun phrase without article: "retail price"."""
    value: ValueSpec
    dynamism: str = "static"
    kinds: tuple[str, ...] = ()
    """Kinds that have it; empty means all kinds of the domain."""
    grows: bool = False
    """Never falls: a running total."""
    leans: str = ""
    """What of the thing it goes with: size, grade, fame or age; with a minus where it falls."""
    adds_up: bool = False
    """Several things have it together: a weight, a price."""
    is_compared: bool = True
    """Whether larger means something: not with street numbers."""

    @property
    def is_relation(self) -> bool:
        """Whether the value is another entity."""
        return isinstance(self.value, Ref)

    @property
    def unit(self) -> str | None:
        """The unit of a quantity."""
        return self.value.unit or None if isinstance(self.value, Number) else None

    @property
    def is_numeric(self) -> bool:
        """Whether values can be ordered and subtracted as numbers."""
        return self.is_compared and isinstance(self.value, Number | Year)


class Domain(Record, frozen=True, kw_only=True):
    """The schema of one domain (or of the hubs)."""

    name: str
    stem: str
    """The name of its files."""
    attributes: tuple[Attribute, ...]
    nouns: dict[str, str]
    """Kind → what a person calls it: "this {noun}"."""
    names: dict[str, tuple[str, ...]]
    """Kind → name patterns; {a} and {b} are invented words."""
    sublabel: Mapping[str, str] = {}
    """Kind → attribute printed small on the thing (it is then readable in the picture)."""


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
            words=tuple(of), without=said.get("without", {}), in_a_row=said.get("in_a_row", False)
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
