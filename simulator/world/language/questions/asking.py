"""The parts of the question grammar: template, operation, the moment of asking, the draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mmrag.records import Record
from simulator.world.build.difficulty import LIFE
from simulator.world.build.randomness import Draw
from simulator.world.facts.catalogue import attribute_of, attributes_of, domain_of_kind
from simulator.world.facts.fact_records import DYNAMISM, HUBS, Attribute, Domain, Entity, Number
from simulator.world.facts.factbase import FactBase
from simulator.world.language.askable import askable
from simulator.world.language.voices.reading import Voice, Wording

Values = list[tuple[float, str]]


class Template(Record, frozen=True, kw_only=True):
    """One kind of question of one domain. Its paraphrases share it."""

    domain: str
    operation: str
    keys: tuple[str, ...] = ()
    query_type: str
    form: str
    dynamism: str
    kinds: tuple[str, ...]
    """Kinds of subject it can be asked about."""
    pictured: bool = False
    """It asks about the picture, or needs more things in it: no question about something absent."""
    visual: bool = False
    """The picture alone answers it."""
    legible: bool = False
    """The print on the things in view has to be readable."""

    @property
    def id(self) -> str:
        """domain/operation/keys."""
        return "/".join((self.domain, self.operation, *self.keys))


@dataclass
class Moment:
    """What is given when a template is put to use."""

    facts: FactBase
    statistics: Statistics
    draw: Draw
    at: str
    subject: Entity
    polarity: bool
    """Which way a yes-or-no or either-or question is to come out."""
    order: bool
    """Which option is to be named first."""
    text_clue: bool
    view: tuple[Entity, ...] = ()
    """What an earlier turn has already put beside the subject in the picture."""

    def beside(self, n: int) -> list[Entity]:
        """n things beside the subject: those in view, if they are as many, or new ones."""
        if self.view:
            return list(self.view) if len(self.view) == n else []
        found = self.others()[:n]
        return found if len(found) == n else []

    def others(self, n: int = 40) -> list[Entity]:
        """Some other things of the subject's kind, in random order."""
        pool = self.facts.of_kind(self.subject.kind)
        picks = [self.draw.pick(pool) for _ in range(n)]
        unique = {e.id: e for e in picks if e.id != self.subject.id}
        return list(unique.values())

    def number(self, entity: Entity, key: str, at: str | None = None) -> float:
        """A numeric value now, or at a time."""
        value = self.facts.value(entity.id, key, at or self.at)
        assert isinstance(value, int | float)
        return value


@dataclass
class Draft:
    """A template filled in."""

    program: list[Any]
    slots: dict[str, str] = field(default_factory=dict[str, str])
    """What stands in the wording as it is: names, bounds, times."""
    larger: bool = True
    """Whether it asks for more or most (and for what lies over a bound), or for less or least."""
    visible: tuple[Entity, ...] = ()
    """Further things that must stand in the picture."""
    choice: tuple[str, ...] = ()
    false_premise: bool = False


@dataclass(frozen=True)
class Operation:
    """A way to ask: which attributes it goes with, its wordings, and how it is filled in."""

    name: str
    query_type: str
    keys: Callable[[Domain], Iterable[tuple[Attribute, ...]]]
    say: Callable[[Template, Draft, Voice], tuple[str, ...]]
    """Wordings of one voice, with {x} or {xs} for the subject and the draft's slots."""
    bind: Callable[[Template, Moment], Draft | None]
    form: str = "plain"
    pictured: bool = False
    static: bool = False
    """The answer never changes, whatever the attributes do (a value on a stated date)."""
    choice: bool = False
    """The question offers its possible answers, so these are kept in balance."""
    weight: float = 1.0
    """How often it is used beside the other operations of its type."""


class Statistics:
    """What is worth keeping from question to question of one world."""

    def __init__(self, facts: FactBase, legible: float = LIFE.legible) -> None:
        self._facts = facts
        self.legible = legible
        """Share of pictures of labelled things in which the print is meant to be legible."""
        self._medians: dict[tuple[str, str], float] = {}
        self.askable = {i for of in askable(facts).values() for i in of}
        """What may be the main thing of a picture."""
        self.pools: dict[tuple[str, str, bool], list[Entity]] = {}
        """Candidates for the main thing of a picture; kept by whoever draws from them."""

    def median(self, kind: str, key: str) -> float:
        """The median of an attribute over (at most 400) things of a kind.

        Thresholds are set there, so that they give nothing away.
        """
        if (kind, key) not in self._medians:
            pool = self._facts.of_kind(kind)
            step = max(1, len(pool) // 400)
            at = self._facts.window[0]
            values = sorted(float(str(self._facts.value(e.id, key, at))) for e in pool[::step])
            self._medians[kind, key] = values[len(values) // 2]
        return self._medians[kind, key]


def subject_of(template: Template, key: str) -> Attribute:
    """The schema of one of the template's attributes, seen from its subject."""
    return attribute_of(template.kinds[0], key)


def words_of(template: Template, voice: Voice, i: int = 0) -> Wording:
    """How a voice words one of the template's attributes, all of them of the subject."""
    return voice.wording(domain_of_kind(template.kinds[0]).name, template.keys[i])


def words_along(template: Template, voice: Voice, i: int) -> Wording:
    """How a voice words a step of the template's path: each attribute is of the one before."""
    kind = template.kinds[0]
    for key in template.keys[:i]:
        kind = hub_of(attribute_of(kind, key)) or kind
    return voice.wording(domain_of_kind(kind).name, template.keys[i])


def framed(voice: Voice, operation: str, **slots: str | tuple[str, ...]) -> tuple[str, ...]:
    """The frames of an operation, filled: a slot with several texts gives each frame another."""
    found: list[str] = []
    for i, frame in enumerate(voice.operations[operation]):
        for name, text in slots.items():
            one = text if isinstance(text, str) else text[i % len(text)]
            frame = frame.replace(f"{{{name}}}", one)
        found.append(frame)
    return tuple(found)


def about(pattern: str, noun_phrase: str) -> str:
    """A wording about somebody else: {x} becomes a phrase that itself holds {x} or {xs}."""
    slots = {"{xs}": possessive(noun_phrase), "{x}": noun_phrase}
    return re.sub(r"\{xs?\}", lambda found: slots[found.group()], pattern)


def possessive(phrase: str) -> str:
    """ "this book" → "this book's", "it" → "its"; of a slot, what its filling will make of it."""
    pronouns = {"it": "its", "they": "their", "them": "their"}
    if phrase in pronouns:
        return pronouns[phrase]
    return phrase + ("'" if phrase.endswith("s") else "'s")


def kinds_with(domain: Domain, attributes: tuple[Attribute, ...]) -> tuple[str, ...]:
    """The kinds of a domain that have all of these attributes."""
    return tuple(
        kind for kind in domain.nouns if all(not a.kinds or kind in a.kinds for a in attributes)
    )


def fastest(attributes: Iterable[Attribute]) -> str:
    """The dynamism of an answer that rests on several attributes."""
    return min((a.dynamism for a in attributes), key=DYNAMISM.index, default="static")


def numeric(domain: Domain) -> Iterable[tuple[Attribute]]:
    """Attributes that can be compared."""
    return ((a,) for a in domain.attributes if a.is_numeric)


def changing(domain: Domain) -> Iterable[tuple[Attribute]]:
    """Quantities that change."""
    return (
        (a,) for a in domain.attributes if isinstance(a.value, Number) and a.dynamism != "static"
    )


def relations(domain: Domain) -> list[Attribute]:
    """Relations to hubs."""
    return [a for a in domain.attributes if a.is_relation and hub_of(a)]


def hub_of(attribute: Attribute) -> str | None:
    """The kind of hub that a relation leads to, if it does."""
    kinds = getattr(attribute.value, "kinds", ())
    return kinds[0] if kinds and kinds[0] in HUBS else None


def hub_attributes(relation: Attribute) -> tuple[Attribute, ...]:
    """What can be asked of the hub that a relation leads to."""
    hub = hub_of(relation)
    return attributes_of(hub) if hub else ()


def it(moment: Moment) -> list[Any]:
    """The subject, as an expression."""
    return ["it", moment.subject.id]
